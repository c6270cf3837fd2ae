"""Pufferfish scenarios from documents (`kind: scenario`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flint import fmpq

from bisimdist.errors import ModelError, UsageError
from bisimdist.models.hmm import HMM
from bisimdist.models.io.document import MapNode, Node
from bisimdist.models.io.expect import (
    ProbabilityReader,
    check_keys,
    expect_list,
    expect_map,
    expect_name_pairs,
    expect_text,
    with_line,
)
from bisimdist.models.io.hmm_document import EntryReader, read_parameters
from bisimdist.models.mechanisms.mechanism import Mechanism
from bisimdist.models.polynomial import Entry
from bisimdist.models.pufferfish.scenario import DataSet, Scenario


def scenario_from_document(root: MapNode) -> HMM:
    """Return the hidden Markov model of the Pufferfish scenario that a document describes."""
    check_keys(
        root,
        "",
        required=("kind", "priors", "secrets", "pairs", "mechanism"),
        optional=("parameters", "query"),
    )
    parts = root.entries
    parameters = read_parameters(parts.get("parameters"))
    reader = EntryReader([parameter.name for parameter in parameters])
    priors = {
        name: _prior(node, f"prior {name!r}", reader)
        for name, node in _entries(parts["priors"], "priors", "{attacker: {d1: 1/2, d2: 1/2}}").items()
    }
    known = {data for prior in priors.values() for data in prior}
    secrets = {
        name: _data_sets(node, f"secret {name!r}", known)
        for name, node in _entries(parts["secrets"], "secrets", "{sick: [d1], healthy: [d2]}").items()
    }
    results = {data: data for data in known}
    if "query" in parts:
        answers = _entries(parts["query"], "query", "{d1: 0, d2: 1}")
        results = {data: _result(answers, data, parts["query"]) for data in sorted(known)}
    rows = _mechanism(parts["mechanism"], set(results.values()))
    scenario = Scenario(
        priors={name: {(data,): entry for data, entry in prior.items()} for name, prior in priors.items()},
        secrets={name: _holds(data_sets) for name, data_sets in secrets.items()},
        pairs=expect_name_pairs(parts["pairs"], secrets, "secret", "[sick, healthy]"),
        query=lambda data: results[str(data[0])],
        mechanism=Mechanism(
            "table",
            tuple(dict.fromkeys(answer for row in rows.values() for answer in row)),
            lambda result: rows[str(result)],
        ),
        parameters={parameter.name: (parameter.low, parameter.high) for parameter in parameters},
    )
    try:
        return scenario.model()
    except UsageError as error:
        raise parts["pairs"].error(str(error), "pairs") from None
    except ModelError as error:
        raise with_line(error, [("", root.line)]) from None


def _entries(node: Node, place: str, example: str) -> Mapping[str, Node]:
    return expect_map(node, place, f"a mapping, such as {example}").entries


def _holds(data_sets: frozenset[str]) -> Callable[[DataSet], bool]:
    return lambda data: data[0] in data_sets


def _prior(node: Node, place: str, reader: EntryReader) -> dict[str, Entry]:
    entries = _entries(node, place, "{d1: 1/2, d2: 1/2}")
    return {data: reader.entry(entry, f"{place} -> {data}") for data, entry in entries.items()}


def _data_sets(node: Node, place: str, known: set[str]) -> frozenset[str]:
    found = []
    for item in expect_list(node, place, "a list of data sets, such as [d1, d2]").items:
        data = expect_text(item, place, "the name of a data set")
        if data not in known:
            raise item.error(f"{data!r} is a data set of no prior", place)
        found.append(data)
    return frozenset(found)


def _result(answers: Mapping[str, Node], data: str, node: Node) -> str:
    if data not in answers:
        raise node.error(f"there is no result for the data set {data!r}", "query")
    return expect_text(answers[data], f"query -> {data}", "the name of a result")


def _mechanism(node: Node, results: set[str]) -> dict[str, dict[str, fmpq]]:
    entries = _entries(node, "mechanism", "{0: {0: 2/3, 1: 1/3}, 1: {0: 1/3, 1: 2/3}}")
    missing = sorted(results - set(entries))
    if missing:
        raise node.error(f"there is no row for the result {missing[0]!r}", "mechanism")
    numbers = ProbabilityReader()
    rows = {}
    for name, row in entries.items():
        place = f"mechanism -> {name}"
        cells = _entries(row, place, "{0: 2/3, 1: 1/3}")
        rows[name] = {y: numbers.from_node(cell, f"{place} -> {y}") for y, cell in cells.items()}
        if (total := sum(rows[name].values(), fmpq(0))) != 1:
            raise row.error(f"the row sums to {total}; expected 1", place)
    return rows
