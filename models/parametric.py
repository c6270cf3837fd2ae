"""Chains with parameters: labelled Markov chains whose probabilities are expressions over unknown numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from flint import fmpq

from bisimdist.errors import ModelError
from bisimdist.exact.bernstein import Box, bernstein_coefficients
from bisimdist.exact.rational import ExactNumber, shorten_rational
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
from bisimdist.models.interactive import Interactive
from bisimdist.models.intervals import IntervalChain, rough_or_exact
from bisimdist.models.labelled import Labelled, Row, check_labels, check_pairs, check_states, sparse_row
from bisimdist.models.lmc import LMC
from bisimdist.models.polynomial import (
    Entry,
    cleared,
    common_denominator,
    format_entry,
    monomials_of,
    parameter_ring,
    range_of,
    substituted,
)


@dataclass(frozen=True, slots=True, repr=False)
class ParametricChain(Labelled, Parametrised):
    """A labelled Markov chain whose probabilities are expressions over parameters.

    Parameters
    ----------
    states, labels
        The names of the states, and their labels.
    rows
        For each state its successors with their probabilities; they sum to one identically.
    parameters
        What the entries may be expressions over, in the order of their names; each in an open interval.
    pairs
        Pairs of indices: the neighbouring states; may be empty.

    Raises
    ------
    ModelError
        Naming the state or transition that is at fault: no denominator vanishes inside the box of the
        parameters, and no entry is negative there (see `bisimdist.models.hmm.HMM`).

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.parse_model(
    ...     "{kind: lmc, parameters: {p: [0, 1]}, states: {s: a, t: b}, "
    ...     "transitions: {s: {s: 1-p, t: p}, t: {t: 1}}}")
    >>> chain.parameter_names, chain.at({"p": "1/4"}).rows[0]
    (('p',), ((0, 3/4), (1, 1/4)))
    """

    states: tuple[str, ...]
    labels: tuple[str, ...]
    rows: tuple[SparseRow, ...]
    parameters: tuple[Parameter, ...]
    pairs: tuple[tuple[int, int], ...] = ()
    _position: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_position", check_states("chain", self.states))
        check_labels(self.states, self.labels, self.rows)
        checker = RowChecker(self.parameters)
        for name, row in zip(self.states, self.rows, strict=True):
            checker.check(row, self.states, f"state {name!r}", "state", "")
        check_pairs(self.pairs, len(self.states))

    @classmethod
    def from_mappings(
        cls,
        states: Mapping[str, str],
        transitions: Mapping[str, Mapping[str, EntryText]],
        parameters: Mapping[str, tuple[ExactNumber, ExactNumber]],
        pairs: Iterable[tuple[str, str]] = (),
    ) -> ParametricChain:
        """Make a model from names: ``{state: label}``, ``{state: {state: expression}}``, and intervals.

        Examples
        --------
        >>> chain = ParametricChain.from_mappings(
        ...     {"s": "a", "t": "b"}, {"s": {"s": "1-p", "t": "p"}, "t": {"t": 1}}, {"p": (0, 1)})
        >>> chain.at({"p": "1/3"}).rows[0]
        ((0, 2/3), (1, 1/3))
        """
        box = tuple(read_parameter(name, ends) for name, ends in sorted(parameters.items()))
        names = [parameter.name for parameter in box]

        def read(name: str, row: Mapping[str, EntryText], position: Mapping[str, int]) -> SparseRow:
            return sparse_row(row, position, f"transition {name}", partial(entry_at, names=names))

        return cls._from_rows(states, transitions, pairs, read, parameters=box)

    def at(self, values: Mapping[str, ExactNumber]) -> LMC | ParametricChain:
        """Return the chain for values of parameters; where some are left open, it is one with parameters.

        Raises
        ------
        ModelError
            If a name is no parameter, or a value is not strictly inside its interval.
        """
        chosen = chosen_values(self.parameters, values)
        rows = tuple(
            tuple((t, found) for t, entry in row if (found := substituted(entry, chosen)))
            for row in self.rows
        )
        left = tuple(parameter for parameter in self.parameters if parameter.name not in chosen)
        if left:
            return ParametricChain(self.states, self.labels, rows, left, self.pairs)
        return LMC(self.states, self.labels, rows, self.pairs)

    def within(self, ends: Mapping[str, tuple[fmpq, fmpq]]) -> IntervalChain | LMC:
        """Return the chain in intervals that has those of all values in a box; a chain, if it is a point.

        Raises
        ------
        ModelError
            If a parameter has no interval, or one that is not within its own.
        UsageError
            If the box is too large to say how large an entry may be.

        Examples
        --------
        >>> chain = ParametricChain.from_mappings(
        ...     {"s": "a", "t": "b"}, {"s": {"s": "1-p^2", "t": "p^2"}, "t": {"t": 1}}, {"p": (0, 1)})
        >>> chain.within({"p": (fmpq(1, 2), fmpq(3, 4))}).rows[0]
        ((0, 7/16, 3/4), (1, 1/4, 9/16))
        """
        for name in ends:
            if name not in self.parameter_names:
                raise ModelError("the model has no such parameter", place=f"parameter {name!r}")
        for parameter in self.parameters:
            low, high = ends.get(parameter.name, (fmpq(1), fmpq(0)))
            if not parameter.low <= low <= high <= parameter.high:
                raise ModelError(
                    f"expected an interval from {shorten_rational(parameter.low)} to "
                    f"{shorten_rational(parameter.high)}, such as --set "
                    f"{parameter.name}=[{shorten_rational(parameter.low)},{shorten_rational(parameter.high)}]",
                    place=f"parameter {parameter.name!r}",
                )
        box = tuple(ends[name] for name in self.parameter_names)
        found: dict[Entry, tuple[fmpq, fmpq]] = {}
        rows = []
        for row in self.rows:
            for _, entry in row:
                if entry not in found:
                    found[entry] = range_of(entry, box)
            rows.append(tuple((t, *found[entry]) for t, entry in row))
        return rough_or_exact(IntervalChain(self.states, self.labels, tuple(rows), self.pairs))

    def canonical(self) -> dict[str, object]:
        """Return the model as plain data in canonical form, without its pairs: what `digest` hashes."""
        rows = ({self.states[target]: format_entry(entry) for target, entry in row} for row in self.rows)
        return {**self._canonical_form(rows), "parameters": self._canonical_box()}

    def unset(self) -> ModelError:
        """Return the error where the values of the parameters are needed."""
        one, several = self.parameter_names[0], ", ".join(self.parameter_names)
        return ModelError(
            f"the model has the parameters {several}; expected values for them, such as --set {one}=1/3"
        )


def bounding(model: ParametricChain, box: Box) -> Interactive | None:
    """Return an interactive model whose deltas and distances are at least those of every chain of a box.

    The rows of all states are, for all values of the parameters, the same mixtures of rows of numbers: their
    Bernstein coefficients. An analyst who may choose one of these at every step gains at least as much.

    ``box``: an interval for each of them.
    returns: None where a coefficient is negative: smaller boxes have coefficients that are not.

    >>> chain = ParametricChain.from_mappings(
    ...     {"s": "a", "t": "b"}, {"s": {"s": "1-p", "t": "p"}, "t": {"t": 1}}, {"p": (0, 1)})
    >>> from flint import fmpq
    >>> bounding(chain, ((fmpq(1, 4), fmpq(1, 2)),)).moves[0]
    (('0', ((0, 3/4), (1, 1/4))), ('1', ((0, 1/2), (1, 1/2))))
    """
    ring = parameter_ring(model.parameter_names)
    middle = [(low + high) / 2 for low, high in model.box]
    denominator = common_denominator(ring, (entry for row in model.rows for _, entry in row), middle)
    rows = [[(t, monomials_of(cleared(entry, denominator))) for t, entry in row] for row in model.rows]
    every = [monomials_of(denominator), *(entry for row in rows for _, entry in row)]
    degrees = [max((e[k] for part in every for e in part), default=0) for k in range(len(box))]
    below = bernstein_coefficients(every[0], box, degrees)
    if any(entry <= 0 for entry in below):
        return None
    moves: list[list[Row]] = []
    for row in rows:
        columns = [(t, bernstein_coefficients(entry, box, degrees)) for t, entry in row]
        if any(entry < 0 for _, column in columns for entry in column):
            return None
        moves.append(
            [tuple((t, column[k] / b) for t, column in columns if column[k]) for k, b in enumerate(below)]
        )
    moving = {label for label, found in zip(model.labels, moves, strict=True) if len(set(found)) > 1}
    return Interactive(
        model.states,
        model.labels,
        tuple(
            tuple((str(k), row) for k, row in enumerate(found if label in moving else found[:1]))
            for label, found in zip(model.labels, moves, strict=True)
        ),
        model.pairs,
    )
