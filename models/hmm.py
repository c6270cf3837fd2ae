"""Hidden Markov models: exact or parametric emissions, transitions and information states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from bisimdist.errors import ModelError
from bisimdist.exact.rational import ExactNumber
from bisimdist.models.entries import (
    EntryText,
    Parameter,
    Parametrised,
    RowChecker,
    SparseRow,
    chosen_values,
    entry_at,
    read_parameter,
)
from bisimdist.models.labelled import check_names, digest_of, sparse_row
from bisimdist.models.model import Model
from bisimdist.models.polynomial import RationalFunction, evaluate_entry, format_entry

MAX_PARAMETERS = 32


@dataclass(frozen=True, slots=True, repr=False)
class HMM(Model, Parametrised):
    """A hidden Markov model ((S, p), Omega, o) with named information states, validated when it is made.

    Source: LWZ22, Section 2.

    Parameters
    ----------
    states, observations
        Their names, each once; positions are indices.
    emissions
        For each state the distribution of the observation that it makes, as a sparse row.
    rows
        For each state the distribution of its successor; an empty row ends the observation sequence.
    distributions
        Information states by name, each a distribution over the states.
    pairs
        Pairs of names of distributions: the ones to be compared.
    parameters
        What the entries may be expressions over, in the order of the names; each in an open interval.

    Raises
    ------
    ModelError
        Naming the row that is at fault: every row sums to one (identically in the parameters), no
        denominator vanishes inside the box of the parameters, and no entry is negative there. An entry for
        which a bounded effort (squares taken out, Bernstein coefficients on at most 256 boxes) proves
        neither is refused too, and the error says so.

    Examples
    --------
    >>> import bisimdist
    >>> model = bisimdist.HMM.from_mappings(
    ...     {"s": {"x": "2/3", "y": "1/3"}}, {"s": {"s": 1}}, {"pi": {"s": 1}}
    ... )
    >>> model.states, model.observations
    (('s',), ('x', 'y'))
    """

    states: tuple[str, ...]
    observations: tuple[str, ...]
    emissions: tuple[SparseRow, ...]
    rows: tuple[SparseRow, ...]
    distributions: tuple[tuple[str, SparseRow], ...]
    pairs: tuple[tuple[str, str], ...] = ()
    parameters: tuple[Parameter, ...] = ()
    _named: Mapping[str, SparseRow] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_different(self.states, "state")
        _check_different(self.observations, "observation")
        _check_different([name for name, _ in self.distributions], "distribution")
        names = [parameter.name for parameter in self.parameters]
        _check_different(names, "parameter", needed=False)
        if names != sorted(names):
            raise ModelError("the parameters are not in the order of their names")
        if len(names) > MAX_PARAMETERS:
            raise ModelError(f"there are {len(names)} parameters; expected at most {MAX_PARAMETERS}")
        if not len(self.emissions) == len(self.rows) == len(self.states):
            raise ModelError(
                f"{len(self.states)} states, {len(self.emissions)} observation distributions and "
                f"{len(self.rows)} rows; expected as many of each"
            )
        checker = RowChecker(self.parameters)
        for name, emission, row in zip(self.states, self.emissions, self.rows, strict=True):
            checker.check(emission, self.observations, f"state {name!r}", "observation", "")
            if row:
                checker.check(
                    row,
                    self.states,
                    f"transitions of {name!r}",
                    "state",
                    "; a state without a row ends the sequence",
                )
        for name, distribution in self.distributions:
            checker.check(distribution, self.states, f"distribution {name!r}", "state", "")
        object.__setattr__(self, "_named", dict(self.distributions))
        for pair in self.pairs:
            for name in pair:
                if name not in self._named:
                    raise ModelError(
                        f"the pair names {name!r}, which is not a declared distribution",
                        place=f"pair [{', '.join(pair)}]",
                    )

    @classmethod
    def from_mappings(  # noqa: PLR0913
        cls,
        states: Mapping[str, Mapping[str, EntryText]],
        transitions: Mapping[str, Mapping[str, EntryText]],
        distributions: Mapping[str, Mapping[str, EntryText]],
        *,
        observations: Iterable[str] | None = None,
        pairs: Iterable[tuple[str, str]] = (),
        parameters: Mapping[str, tuple[ExactNumber, ExactNumber]] | None = None,
    ) -> HMM:
        """Make a model from names.

        Parameters
        ----------
        states
            For each state its observation distribution.
        transitions
            For each state that has successors their distribution.
        distributions
            Information states by name.
        observations
            The observations; by default those of the states, in the order in which they occur.
        pairs
            Names of distributions to be compared.
        parameters
            For each parameter the ends of its open interval.

        Raises
        ------
        ModelError
            If a name is unknown, a number is not exact, or the result is no model.

        Examples
        --------
        >>> model = HMM.from_mappings(
        ...     {"s": {"x": "2/3", "y": "1/3"}, "t": {"x": "1/3", "y": "2/3"}},
        ...     {"s": {"s": "1/2", "t": "1/2"}},
        ...     {"pi": {"s": "(1-p)^2", "t": "1-(1-p)^2"}, "tau": {"t": 1}},
        ...     pairs=[("pi", "tau")],
        ...     parameters={"p": (0, 1)},
        ... )
        >>> model.at({"p": "1/2"}).distribution("pi")
        ((0, 1/4), (1, 3/4))
        """
        box = tuple(
            read_parameter(name, ends)
            for name, ends in sorted((parameters or {}).items(), key=lambda x: str(x[0]))
        )
        names = [parameter.name for parameter in box]
        seen = (
            tuple(dict.fromkeys(x for row in states.values() for x in row))
            if observations is None
            else tuple(observations)
        )
        symbol = {name: index for index, name in enumerate(seen)}
        position = {name: index for index, name in enumerate(states)}
        for name in transitions:
            if name not in position:
                raise ModelError(
                    "transitions are given for a state that is not declared", place=f"state {name!r}"
                )
            if not transitions[name]:
                raise ModelError(
                    "the row is empty; leave the row out where the sequence ends",
                    place=f"transitions of {name!r}",
                )

        def read(row: Mapping[str, EntryText], index: Mapping[str, int], place: str, kind: str) -> SparseRow:
            read_one = partial(entry_at, names=names)
            return sparse_row(row, index, place, read_one, f"{{}} is not a declared {kind}")

        return cls(
            tuple(states),
            seen,
            tuple(read(row, symbol, f"state {name!r}", "observation") for name, row in states.items()),
            tuple(read(transitions.get(s, {}), position, f"transitions of {s!r}", "state") for s in states),
            tuple(
                (name, read(row, position, f"distribution {name!r}", "state"))
                for name, row in distributions.items()
            ),
            tuple((first, second) for first, second in pairs),
            box,
        )

    def __len__(self) -> int:
        return len(self.states)

    @property
    def parametric(self) -> bool:
        """Whether some entry depends on a parameter."""
        everything = (*self.emissions, *self.rows, *(row for _, row in self.distributions))
        return any(isinstance(entry, RationalFunction) for row in everything for _, entry in row)

    def distribution(self, name: str) -> SparseRow:
        """Return an information state.

        Raises
        ------
        ModelError
            If there is none of that name.
        """
        try:
            return self._named[name]
        except KeyError:
            known = ", ".join(repr(x) for x, _ in self.distributions[:3])
            raise ModelError(
                f"there is no such distribution; expected one of {len(self.distributions)}, such as {known}",
                place=f"distribution {name!r}",
            ) from None

    def observation(self, name: str) -> int:
        """Return the index of an observation.

        Raises
        ------
        ModelError
            If there is none of that name.
        """
        try:
            return self.observations.index(name)
        except ValueError:
            raise ModelError(
                f"there is no such observation; expected one of {len(self.observations)}, "
                f"such as {self.observations[0]!r}",
                place=f"observation {name!r}",
            ) from None

    def at(self, values: Mapping[str, ExactNumber]) -> HMM:
        """Return the model without parameters that the given values make.

        Parameters
        ----------
        values
            A number for each parameter, strictly inside its interval.

        Raises
        ------
        ModelError
            If a parameter has no value, a value is outside, or a name is no parameter.
        """
        chosen = chosen_values(self.parameters, values)
        for name in self.parameter_names:
            if name not in chosen:
                raise ModelError("no value is given for it", place=f"parameter {name!r}")

        def fixed(row: SparseRow) -> SparseRow:
            entries = ((index, evaluate_entry(entry, chosen)) for index, entry in row)
            return tuple((index, value) for index, value in entries if value)

        return HMM(
            self.states,
            self.observations,
            tuple(fixed(row) for row in self.emissions),
            tuple(fixed(row) for row in self.rows),
            tuple((name, fixed(row)) for name, row in self.distributions),
            self.pairs,
        )

    def canonical(self) -> dict[str, object]:
        """Return the model as plain data in canonical form, without its pairs: what `digest` hashes."""

        def plain(row: SparseRow, names: tuple[str, ...]) -> dict[str, str]:
            return {names[index]: format_entry(entry) for index, entry in row}

        data: dict[str, object] = {
            "kind": "hmm",
            "observations": sorted(self.observations),
            "states": {
                s: plain(row, self.observations) for s, row in zip(self.states, self.emissions, strict=True)
            },
            "transitions": {
                s: plain(row, self.states) for s, row in zip(self.states, self.rows, strict=True) if row
            },
            "distributions": {name: plain(row, self.states) for name, row in self.distributions},
        }
        if self.parameters:
            data["parameters"] = self._canonical_box()
        return data

    def digest(self) -> str:
        """Return the SHA-256 of the canonical form, ``"sha256:…"``; the order of names does not matter."""
        return digest_of(self.canonical())


def _check_different(names: Sequence[str], what: str, *, needed: bool = True) -> None:
    check_names(names, what)
    if needed and not names:
        raise ModelError(f"the model has no {what}; expected at least one")
    if len(set(names)) != len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ModelError(f"the {what} is declared twice", place=f"{what} {twice!r}")
