"""Labelled Markov chains: states with labels and exact, sparse rows of probabilities."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq

from bisimdist.errors import ModelError, NumberError, NumberTypeError
from bisimdist.exact.rational import ExactNumber, format_rational, shorten_rational, to_fmpq

__all__ = ["LMC", "Row", "check_names", "indexed_pairs", "row_from_names", "row_total"]

Row = tuple[tuple[int, fmpq], ...]
"""The successors of a state: (index of a state, positive probability), by ascending index."""

MAX_ROW_BITS = 200_000
"""How long the common denominator of a row may be, so that adding up a row takes bounded time."""


def check_names(names: Iterable[str], what: str) -> None:
    """Refuse names that are no text, or that hold half a character and so fit in no file.

    Raises
    ------
    ModelError
        Naming the first that is at fault.
    """
    for name in names:
        if not isinstance(name, str):
            raise ModelError(f"the {what} {name!r} is a {type(name).__name__}; expected a text")
        try:
            name.encode("utf-8")
        except UnicodeEncodeError:
            raise ModelError(
                f"the {what} holds a lone surrogate; expected Unicode text", place=f"{what} {name!r}"
            ) from None


def row_total(row: Row, states: tuple[str, ...], place: str, transition: str) -> fmpq:
    """Return the sum of a row once its entries are known to be in order.

    Parameters
    ----------
    row
        Successors and probabilities.
    states
        The names of all states.
    place
        What an error about the row as a whole names.
    transition
        What an error about one entry names, before the target.

    Raises
    ------
    ModelError
        If a successor is no state, the order is not ascending or a probability is not positive.
    """
    previous = -1
    total = fmpq(0)
    for target, probability in row:
        if not 0 <= target < len(states):
            raise ModelError(f"a transition leads to index {target}, which is no state", place=place)
        if target <= previous:
            raise ModelError("the successors are not in ascending order, each once", place=place)
        if probability <= 0:
            raise ModelError(
                f"the probability is {shorten_rational(probability)}; expected a positive number",
                place=f"{transition} -> {states[target]}",
            )
        previous = target
        total += probability
        if total.q.bit_length() > MAX_ROW_BITS:
            raise ModelError(
                f"the common denominator of the probabilities is longer than the {MAX_ROW_BITS} bits allowed",
                place=place,
            )
    return total


def row_from_names(row: Mapping[str, ExactNumber], position: Mapping[str, int], transition: str) -> Row:
    """Return a row of names as one of indices, without entries of probability zero.

    Raises
    ------
    ModelError
        If a name is unknown, or a number is not exact or no probability.
    """
    entries = []
    for target, value in row.items():
        place = f"{transition} -> {target}"
        if target not in position:
            raise ModelError(f"the target {target!r} is not a declared state", place=place)
        try:
            probability = to_fmpq(value)
        except (NumberError, NumberTypeError) as error:
            raise ModelError(str(error), place=place) from error
        if not 0 <= probability <= 1:
            raise ModelError(
                f"the probability is {shorten_rational(probability)}; expected a number in [0, 1]",
                place=place,
            )
        if probability != 0:
            entries.append((position[target], probability))
    return tuple(sorted(entries, key=lambda entry: entry[0]))


def indexed_pairs(
    pairs: Iterable[tuple[str, str]], position: Mapping[str, int]
) -> tuple[tuple[int, int], ...]:
    """Return pairs of names as pairs of indices.

    Raises
    ------
    ModelError
        If a name is unknown.
    """
    indexed = []
    for first, second in pairs:
        for name in (first, second):
            if name not in position:
                raise ModelError(
                    "the pair names a state that is not declared", place=f"pair [{first}, {second}]"
                )
        indexed.append((position[first], position[second]))
    return tuple(indexed)


@dataclass(frozen=True, slots=True)
class LMC:
    """A labelled Markov chain (S, Sigma, mu, l), validated when it is made.

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

    References
    ----------
    .. [1] Chistikov, Murawski, Purser, "Bisimilarity Distances for Approximate Differential Privacy",
       ATVA 2018, Definition 1.
    """

    states: tuple[str, ...]
    labels: tuple[str, ...]
    rows: tuple[Row, ...]
    pairs: tuple[tuple[int, int], ...] = ()
    _position: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_names(self.states, "state")
        check_names(self.labels, "label")
        position = {name: index for index, name in enumerate(self.states)}
        if not self.states:
            raise ModelError("the chain has no state; expected at least one")
        if len(position) != len(self.states):
            twice = next(name for i, name in enumerate(self.states) if position[name] != i)
            raise ModelError("the state is declared twice", place=f"state {twice!r}")
        if not len(self.labels) == len(self.rows) == len(self.states):
            raise ModelError(
                f"{len(self.states)} states, {len(self.labels)} labels and {len(self.rows)} rows; "
                "expected as many of each"
            )
        for name, row in zip(self.states, self.rows, strict=True):
            self._check_row(name, row)
        for pair in self.pairs:
            if len(pair) != 2:
                raise ModelError(f"the pair {pair} has {len(pair)} entries; expected two indices")
            if not all(0 <= index < len(self.states) for index in pair):
                raise ModelError(f"the pair {pair} names an index outside 0..{len(self.states) - 1}")
        object.__setattr__(self, "_position", position)

    def _check_row(self, name: str, row: Row) -> None:
        place = f"state {name!r}"
        if not row:
            raise ModelError(
                "the state has no transitions; expected probabilities that sum to 1 "
                f"(a state that ends the run carries {{{name}: 1}})",
                place=place,
            )
        total = row_total(row, self.states, place, f"transition {name}")
        if total != 1:
            raise ModelError(f"the probabilities sum to {shorten_rational(total)}; expected 1", place=place)

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
        names = tuple(states)
        position = {name: index for index, name in enumerate(names)}
        for source in transitions:
            if source not in position:
                raise ModelError(
                    "transitions are given for a state that is not declared", place=f"state {source!r}"
                )
        rows = tuple(
            row_from_names(transitions.get(name, {}), position, f"transition {name}") for name in names
        )
        return cls(names, tuple(states[name] for name in names), rows, indexed_pairs(pairs, position))

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

    def index(self, name: str) -> int:
        """Return the index of a state.

        Raises
        ------
        ModelError
            If there is no state of that name.
        """
        try:
            return self._position[name]
        except KeyError:
            raise ModelError(
                f"there is no such state; expected one of {len(self.states)}, such as {self.states[0]!r}",
                place=f"state {name!r}",
            ) from None

    def canonical(self) -> dict[str, object]:
        """Return the chain as plain data in canonical form, without its pairs: what `digest` hashes."""
        return {
            "kind": "lmc",
            "states": dict(zip(self.states, self.labels, strict=True)),
            "transitions": {
                name: {self.states[target]: format_rational(p) for target, p in row}
                for name, row in zip(self.states, self.rows, strict=True)
            },
        }

    def provenance(self) -> dict[str, object]:
        """Return what a model file says of where the chain comes from, as plain data; empty if nothing."""
        return {}

    def whole(self) -> LMC:
        """Return the chain, which stands for all of its runs.

        Raises
        ------
        UsageError
            Where runs are cut off, as in the chain of a program that was not explored to its end.
        """
        return self

    def digest(self) -> str:
        """Return the SHA-256 of the canonical form, ``"sha256:…"``; the order of states does not matter."""
        text = json.dumps(self.canonical(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()

    def __len__(self) -> int:
        return len(self.states)
