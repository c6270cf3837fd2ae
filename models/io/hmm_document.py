"""Hidden Markov models from documents (`kind: hmm`), and back to documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from flint import fmpq

from bisimdist.errors import ModelError, NumberError
from bisimdist.exact.rational import parse_rational
from bisimdist.models.conversions import RoughHMM
from bisimdist.models.entries import Parameter, SparseRow, read_entry
from bisimdist.models.hmm import HMM
from bisimdist.models.intervals import IntervalChain, rough_or_exact
from bisimdist.models.io.document import MapNode, Node, Scalar, ScalarKind
from bisimdist.models.io.expect import (
    ProbabilityReader,
    check_keys,
    expect_list,
    expect_map,
    expect_name_pairs,
    expect_text,
    only_chains,
    with_line,
)
from bisimdist.models.io.interval_document import any_interval, interval_row
from bisimdist.models.lmc import LMC
from bisimdist.models.polynomial import Entry, format_entry

__all__ = ["EntryReader", "hmm_from_document", "hmm_text", "read_parameters"]

_LONGEST_KEY = 1000

MAX_ENTRY_BITS = 1 << 28
"""How many bits the numbers of one file may take together."""


class EntryReader:
    """Reads the entries of one file, each text once, and keeps their joint size within bounds."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self._known: dict[str, Entry] = {}
        self._bits = 0

    def entry(self, node: Node, place: str) -> Entry:
        """Return the number or function of the parameters that a scalar writes."""
        if not isinstance(node, Scalar) or node.kind in {ScalarKind.WORD, ScalarKind.NOTHING}:
            raise ModelError(
                f"found {node.describe()}; expected an exact number such as 3/5 or 0.6, or an expression "
                f"over the parameters{only_chains(node)}",
                place=place,
                line=node.line,
            )
        known = self._known.get(node.text)
        if known is not None:
            return known
        try:
            value = read_entry(node.text, self.names)
        except NumberError as error:
            raise ModelError(str(error), place=place, line=node.line) from None
        if isinstance(value, fmpq):
            self._bits += value.p.bit_length() + value.q.bit_length()
        if self._bits > MAX_ENTRY_BITS:
            raise ModelError(
                f"the numbers of the file take more than the {MAX_ENTRY_BITS} bits allowed",
                place=place,
                line=node.line,
            )
        self._known[node.text] = value
        return value

    def row(self, node: Node, index: Mapping[str, int], place: str, kind: str) -> SparseRow:
        """Return the sparse row that a mapping lists; entries of zero are dropped."""
        found = expect_map(
            node, place, f"a mapping from {kind}s to probabilities, such as {{x: 1/2, y: 1/2}}"
        )
        entries = []
        for name, value in found.entries.items():
            where = f"{place} -> {name}"
            if name not in index:
                raise ModelError(f"{name!r} is not a declared {kind}", place=where, line=value.line)
            entry = self.entry(value, where)
            if entry:
                entries.append((index[name], entry))
        entries.sort(key=lambda item: item[0])
        return tuple(entries)


def hmm_from_document(root: MapNode) -> HMM | IntervalChain | LMC:
    """Return the hidden Markov model that a document describes; with intervals the chain of what is observed.

    Raises
    ------
    ModelError
        With place and line, where the document describes none.
    """
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
            raise ModelError(
                "transitions are given for a state that is not declared",
                place=f"state {name!r}",
                line=node.line,
            )
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
            raise ModelError(
                "the row is empty or zero; leave the row out where the sequence ends",
                place=place,
                line=node.line,
            )
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
    """Return the parameters that a file declares, by name.

    Raises
    ------
    ModelError
        With place and line, where they are none.
    """
    parameters = []
    for name, ends in sorted(_mapping(node, "parameters", "{p: [0, 1]}").items()):
        place = f"parameter {name!r}"
        expected = "the two ends of an open interval, such as [0, 1]"
        found = expect_list(ends, place, expected).items
        if len(found) != 2:
            raise ModelError(
                f"found a list of {len(found)}; expected {expected}", place=place, line=ends.line
            )
        values = []
        for end in found:
            if not isinstance(end, Scalar) or end.kind not in {ScalarKind.TEXT, ScalarKind.NUMBER}:
                raise ModelError(
                    f"found {end.describe()}; expected an exact number", place=place, line=end.line
                )
            try:
                values.append(parse_rational(end.text))
            except NumberError as error:
                raise ModelError(str(error), place=place, line=end.line) from None
        try:
            parameters.append(Parameter(name, *values))
        except ModelError as error:
            raise ModelError(error.message, place=error.place, line=ends.line) from None
    return tuple(parameters)


def hmm_text(model: HMM, format: str, yaml_name: Callable[[str], str]) -> str:
    """Write a model as JSON or YAML so that it reads back as the same model.

    Parameters
    ----------
    model
        The model.
    format
        ``"json"`` or ``"yaml"``.
    yaml_name
        Writes a name in YAML, in quotes where it needs them.
    """
    as_yaml = format == "yaml"
    name = yaml_name if as_yaml else json.dumps

    def number(value: Entry) -> str:
        written = format_entry(value)
        return written if as_yaml and isinstance(value, fmpq) else json.dumps(written)

    def announced(key: str) -> str:
        # YAML wants a key of more than 1024 characters to be announced.
        return f"? {name(key)}" if as_yaml and len(name(key)) > _LONGEST_KEY else name(key)

    def row(found: SparseRow, names: tuple[str, ...]) -> str:
        return "{" + ", ".join(f"{announced(names[i])}: {number(value)}" for i, value in found) + "}"

    def block(key: str, entries: list[tuple[str, str]]) -> str:
        if not as_yaml:
            lines = ",".join(f"\n    {name(k)}: {value}" for k, value in entries)
            return f'"{key}": {{{lines}' + ("\n  }" if entries else "}")
        written = []
        for k, value in entries:
            first = announced(k)
            written.append(f"\n  {first}\n  : {value}" if first.startswith("? ") else f"\n  {first}: {value}")
        return f"{key}:" + ("".join(written) or " {}")

    def listed(values: Iterable[str]) -> str:
        return "[" + ", ".join(values) + "]"

    parts = ["kind: hmm" if as_yaml else '"kind": "hmm"']
    parts.append(_line("observations", listed(map(name, model.observations)), as_yaml))
    if model.parameters:
        ends = ((p.name, (p.low, p.high)) for p in model.parameters)
        parts.append(block("parameters", [(key, listed(map(number, pair))) for key, pair in ends]))
    makes = zip(model.states, model.emissions, strict=True)
    parts.append(block("states", [(state, row(found, model.observations)) for state, found in makes]))
    leads = zip(model.states, model.rows, strict=True)
    parts.append(block("transitions", [(state, row(found, model.states)) for state, found in leads if found]))
    parts.append(
        block("distributions", [(key, row(found, model.states)) for key, found in model.distributions])
    )
    if model.pairs:
        parts.append(_line("pairs", listed(listed(map(name, pair)) for pair in model.pairs), as_yaml))
    return "\n".join(parts) + "\n" if as_yaml else "{\n" + ",\n".join(f"  {p}" for p in parts) + "\n}\n"


def _line(key: str, value: str, as_yaml: bool) -> str:
    """Return one line of a file: a key of the format with its value."""
    return f"{key}: {value}" if as_yaml else f'"{key}": {value}'
