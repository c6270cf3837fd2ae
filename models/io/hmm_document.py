"""Hidden Markov models from documents (`kind: hmm`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flint import fmpq

from bisimdist.errors import ModelError, NumberError
from bisimdist.models.conversions import RoughHMM
from bisimdist.models.entries import Parameter, SparseRow, read_entry
from bisimdist.models.intervals import rough_or_exact
from bisimdist.models.io.document import MapNode, Node, Scalar, ScalarKind
from bisimdist.models.io.expect import (
    ProbabilityReader,
    check_keys,
    error_at,
    expect_list,
    expect_map,
    expect_name_pairs,
    expect_number,
    expect_text,
    only_chains,
    with_line,
)
from bisimdist.models.io.interval_document import any_interval, interval_row
from bisimdist.models.kinds import HMM, LMC, IntervalChain
from bisimdist.models.labelled import sparse_row
from bisimdist.models.polynomial import Entry

MAX_ENTRY_BITS = 1 << 28  # how many bits the numbers of one file may take together


class EntryReader:
    """Reads the entries of one file, each text once, and keeps their joint size within bounds."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self._known: dict[str, Entry] = {}
        self._bits = 0

    def entry(self, node: Node, place: str) -> Entry:
        """Return the number or function of the parameters that a scalar writes."""
        if not isinstance(node, Scalar) or node.kind in {ScalarKind.WORD, ScalarKind.NOTHING}:
            raise node.unexpected(
                f"an exact number such as 3/5 or 0.6, or an expression "
                f"over the parameters{only_chains(node)}",
                place,
            )
        known = self._known.get(node.text)
        if known is not None:
            return known
        try:
            value = read_entry(node.text, self.names)
        except NumberError as error:
            raise node.error(str(error), place) from None
        if isinstance(value, fmpq):
            self._bits += value.p.bit_length() + value.q.bit_length()
        if self._bits > MAX_ENTRY_BITS:
            raise node.error(
                f"the numbers of the file take more than the {MAX_ENTRY_BITS} bits allowed", place
            )
        self._known[node.text] = value
        return value

    def row(self, node: Node, index: Mapping[str, int], place: str, kind: str) -> SparseRow:
        """Return the sparse row that a mapping lists; entries of zero are dropped."""
        found = expect_map(
            node, place, f"a mapping from {kind}s to probabilities, such as {{x: 1/2, y: 1/2}}"
        )
        unknown = f"{{}} is not a declared {kind}"
        return sparse_row(found.entries, index, place, self.entry, unknown, error_at)


def hmm_from_document(root: MapNode) -> HMM | IntervalChain | LMC:
    """Return the hidden Markov model that a document describes; with intervals the observed chain."""
    check_keys(
        root,
        "",
        required=("kind", "observations", "states", "distributions"),
        optional=("transitions", "parameters", "pairs"),
    )
    parts = root.entries
    parameters = read_parameters(parts.get("parameters"))
    symbols = tuple(
        expect_text(node, f"observation number {number}", "the name of an observation")
        for number, node in enumerate(
            expect_list(
                parts["observations"], "observations", "a list of observations, such as [x, y]"
            ).items,
            start=1,
        )
    )
    states = expect_map(
        parts["states"],
        "states",
        "a mapping from states to observation distributions, such as {s: {x: 1/2, y: 1/2}}",
    )
    rows = _mapping(parts.get("transitions"), "transitions", "{s: {s: 1/2, t: 1/2}}")
    distributions = _mapping(parts["distributions"], "distributions", "{pi: {s: 1}}")
    position = {name: index for index, name in enumerate(states.entries)}
    symbol = {name: index for index, name in enumerate(symbols)}
    for name, node in rows.items():
        if name not in position:
            raise node.error("transitions are given for a state that is not declared", f"state {name!r}")
    if not parameters and any_interval([*states.entries.values(), *rows.values(), *distributions.values()]):
        return _rough(parts, (symbols, symbol, position), states.entries, rows, distributions)
    reader = EntryReader([parameter.name for parameter in parameters])
    emissions = tuple(
        reader.row(node, symbol, f"state {name!r}", "observation") for name, node in states.entries.items()
    )
    indexed: list[SparseRow] = [()] * len(position)
    for name, node in rows.items():
        place = f"transitions of {name!r}"
        indexed[position[name]] = reader.row(node, position, place, "state")
        if not indexed[position[name]]:
            raise node.error("the row is empty or zero; leave the row out where the sequence ends", place)
    try:
        return HMM(
            tuple(position),
            symbols,
            emissions,
            tuple(indexed),
            tuple(
                (name, reader.row(node, position, f"distribution {name!r}", "state"))
                for name, node in distributions.items()
            ),
            expect_name_pairs(parts.get("pairs"), distributions, "distribution", "[pi, tau]"),
            parameters,
        )
    except ModelError as error:
        if error.line is not None:
            raise
        raise with_line(error, _lines(root, states.entries, rows, distributions)) from None


def _rough(
    parts: Mapping[str, Node],
    known: tuple[tuple[str, ...], Mapping[str, int], Mapping[str, int]],
    states: Mapping[str, Node],
    rows: Mapping[str, Node],
    distributions: Mapping[str, Node],
) -> IntervalChain | LMC:
    """Return the chain in intervals of a hidden Markov model with some."""
    symbols, symbol, position = known
    numbers = ProbabilityReader()

    def read(
        node: Node, index: Mapping[str, int], place: str, kind: str
    ) -> list[tuple[int, tuple[fmpq, fmpq]]]:
        row = expect_map(node, place, f"a mapping from {kind}s to probabilities, such as {{x: [0.4, 0.6]}}")
        return [(k, (low, high)) for k, low, high in interval_row(row, index, place, numbers, kind) if high]

    chain = RoughHMM(
        tuple(position),
        symbols,
        tuple(read(node, symbol, f"state {name!r}", "observation") for name, node in states.items()),
        tuple(
            read(rows[name], position, f"transitions of {name!r}", "state") if name in rows else ()
            for name in position
        ),
        tuple(
            (name, read(node, position, f"distribution {name!r}", "state"))
            for name, node in distributions.items()
        ),
        expect_name_pairs(parts.get("pairs"), distributions, "distribution", "[pi, tau]"),
    ).chain()
    return rough_or_exact(chain)


def _lines(
    root: MapNode, states: Mapping[str, Node], rows: Mapping[str, Node], distributions: Mapping[str, Node]
) -> list[tuple[str, int]]:
    groups = (("state", states), ("transitions of", rows), ("distribution", distributions))
    found = [(f"{word} {name!r}", node.line) for word, nodes in groups for name, node in nodes.items()]
    for word, nodes in groups:
        for name, node in nodes.items():
            if isinstance(node, MapNode):
                found += [
                    (f"{word} {name!r} -> {target}", entry.line) for target, entry in node.entries.items()
                ]
    found.append(("", root.line))
    return found


def _mapping(node: Node | None, place: str, example: str) -> dict[str, Node]:
    if node is None:
        return {}
    return expect_map(node, place, f"a mapping, such as {example}").entries


def read_parameters(node: Node | None) -> tuple[Parameter, ...]:
    """Return the parameters that a file declares, by name."""
    parameters = []
    for name, ends in sorted(_mapping(node, "parameters", "{p: [0, 1]}").items()):
        place = f"parameter {name!r}"
        expected = "the two ends of an open interval, such as [0, 1]"
        found = expect_list(ends, place, expected).items
        if len(found) != 2:
            raise ends.error(f"found a list of {len(found)}; expected {expected}", place)
        values = [expect_number(end, place) for end in found]
        try:
            parameters.append(Parameter(name, *values))
        except ModelError as error:
            raise ends.error(error.message, error.place) from None
    return tuple(parameters)
