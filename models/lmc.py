"""Labelled Markov chains: states with labels and exact, sparse rows of probabilities.

Source: CMP18 Definition 1, CMP18 Remark 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from json.encoder import encode_basestring_ascii
from typing import Any

from bisimdist.errors import ModelError
from bisimdist.exact.rational import ExactNumber, format_rational
from bisimdist.models.labelled import (
    Labelled,
    Row,
    check_labels,
    check_names,
    check_pairs,
    check_states,
    full_row,
    hashed,
    indexed_pairs,
    joined,
    quoted,
    row_from_names,
    row_total,
    rows_to_check,
)

__all__ = ["LMC", "Row", "check_names", "indexed_pairs", "row_from_names", "row_total"]


@dataclass(frozen=True, slots=True, repr=False)
class LMC(Labelled):
    """A labelled Markov chain (S, Sigma, mu, l), validated when it is made.

    Source: CMP18, Definition 1.

    Parameters
    ----------
    states
        The names of the states, all different; a state's position is its index.
    labels
        The label of each state, in the order of `states`.
    rows
        For each state its successors with their probabilities, which sum to one exactly.
    pairs
        Pairs of indices: the neighbouring states (the relation R); may be empty.

    Raises
    ------
    ModelError
        Naming the state or transition that is at fault.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.LMC.from_mappings({"s": "a", "t": "b"}, {"s": {"t": 1}, "t": {"t": 1}})
    >>> chain.states, chain.labels
    (('s', 't'), ('a', 'b'))
    """

    states: tuple[str, ...]
    labels: tuple[str, ...]
    rows: tuple[Row, ...]
    pairs: tuple[tuple[int, int], ...] = ()
    _position: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        position = check_states("chain", self.states)
        check_labels(self.states, self.labels, self.rows)
        for state in rows_to_check(self.rows, len(self.states)):
            self._check_row(self.states[state], self.rows[state])
        check_pairs(self.pairs, len(self.states))
        object.__setattr__(self, "_position", position)

    def _check_row(self, name: str, row: Row) -> None:
        place = f"state {name!r}"
        if not row:
            raise ModelError(
                "the state has no transitions; expected probabilities that sum to 1 "
                f"(a state that ends the run carries {{{name}: 1}})",
                place=place,
            )
        full_row(row, self.states, place, f"transition {name}")

    @classmethod
    def from_mappings(
        cls,
        states: Mapping[str, str],
        transitions: Mapping[str, Mapping[str, ExactNumber]],
        pairs: Iterable[tuple[str, str]] = (),
    ) -> LMC:
        """Make a chain from names: ``{state: label}``, ``{state: {state: probability}}`` and pairs.

        Entries of probability zero are dropped.

        Raises
        ------
        ModelError
            If a name is unknown, a number is not exact or negative, or a row does not sum to one.

        Examples
        --------
        >>> chain = LMC.from_mappings({"s": "a", "t": "b"}, {"s": {"s": "1/2", "t": "0.5"}, "t": {"t": 1}})
        >>> chain.labels
        ('a', 'b')
        """
        return cls._from_rows(
            states, transitions, pairs, lambda name, row, at: row_from_names(row, at, f"transition {name}")
        )

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        labels: Sequence[str],
        *,
        states: Sequence[str] | None = None,
        pairs: Iterable[tuple[str | int, str | int]] = (),
        rationalise: bool = False,
    ) -> LMC:
        """Make a chain of a square matrix: entry (i, j) is the probability of going from state i to state j.

        Parameters
        ----------
        matrix
            A NumPy array, a sparse matrix of SciPy, or a list of lists. Its entries are exact: integers,
            fractions, ``fmpq`` or texts such as ``"1/3"``.
        labels
            The label of each state.
        states
            Their names; by default their numbers from 0.
        pairs
            Pairs of states, by name or number.
        rationalise
            Take doubles, too: in place of each the simplest rational within one unit in the last place.

        Raises
        ------
        ModelError
            If the shape is another, an entry is a double without `rationalise`, or a row does not sum to one
            exactly.

        Examples
        --------
        >>> LMC.from_matrix([["1/3", "2/3"], [0, 1]], ["a", "b"]).rows[0]
        ((0, 1/3), (1, 2/3))
        """
        from bisimdist.models.matrix import chain_from_matrix  # noqa: PLC0415 - it imports this module

        return chain_from_matrix(matrix, labels, states=states, pairs=pairs, rationalise=rationalise)

    def canonical(self) -> dict[str, object]:
        """Return the chain as plain data in canonical form, without its pairs: what `digest` hashes."""
        return self._canonical_form(
            {self.states[target]: format_rational(p) for target, p in row} for row in self.rows
        )

    @property
    def actions(self) -> tuple[str, ...]:
        """What may be asked: nothing but to go on. See `bisimdist.models.interactive`."""
        return ("",)

    @property
    def arms(self) -> tuple[tuple[Row, ...], ...]:
        """By action the rows of all states."""
        return (self.rows,)

    def facing(self, s: int, t: int) -> tuple[tuple[int, int], ...]:  # noqa: ARG002
        """Return for everything that may be asked in two states the numbers of the arms of both."""
        return ((0, 0),)

    def rows_by(self, action: str | None) -> Sequence[Row]:  # noqa: ARG002
        """Return the rows by state."""
        return self.rows

    def digest(self) -> str:
        """Return the SHA-256 of the canonical form, ``"sha256:…"``; the order of states does not matter."""
        name, label = list(map(encode_basestring_ascii, self.states)), quoted(self.labels)
        # many entries are one object, which the rows keep alive
        different = {id(p): p for row in self.rows for _, p in row}
        mass = {key: format_rational(p) for key, p in different.items()}

        def row(entries: Row) -> str:
            if len(entries) == 1:
                ((target, p),) = entries
                return f'{name[target]}:"{mass[id(p)]}"'
            by_name = sorted(entries, key=lambda entry: self.states[entry[0]])
            return ",".join([f'{name[target]}:"{mass[id(p)]}"' for target, p in by_name])

        order = sorted(range(len(self.states)), key=self.states.__getitem__)
        states = (f"{name[state]}:{label[self.labels[state]]}" for state in order)
        rows = (f"{name[state]}:{{{row(self.rows[state])}}}" for state in order)
        parts = ['{"kind":"lmc","states":{'], joined(states), ['},"transitions":{'], joined(rows), ["}}"]
        return hashed(chain.from_iterable(parts))
