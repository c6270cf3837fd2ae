"""Writes the proof of a trace metric as plain data (docs/certificates/trace-metric.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flint import fmpq

from bisimdist.faces.written.frame import Document, document
from bisimdist.faces.written.numbers import rational_text, value_text
from bisimdist.models.ends import Completed
from bisimdist.models.reach import all_reached
from bisimdist.traces.engine.difference import TraceDifference
from bisimdist.traces.engine.paths import LoopTrace
from bisimdist.traces.engine.ratio import RatioProof, TraceRatio
from bisimdist.traces.engine.system import WordSystem
from bisimdist.traces.engine.table import Coupling

Pair = tuple[int, int]


def trace_metric_certificate(
    completed: Completed,
    system: WordSystem,
    pairs: Sequence[Pair],
    found: Sequence[TraceRatio | TraceDifference],
    length: int | None,
) -> Document:
    """Return the certificate of bounds for some pairs of states."""
    automaton = system.automaton
    ratios = [entry for entry in found if isinstance(entry, TraceRatio)]
    result = document(
        "trace-metric",
        completed.original,
        ends=completed.shown.value,
        metric="multiplicative" if ratios else "additive",
        length="all" if length is None else str(length),
    )
    result["claims"] = [
        {
            "from": automaton.states[s],
            "to": automaton.states[t],
            "lower": value_text(entry.lower),
            "upper": value_text(entry.upper),
        }
        for (s, t), entry in zip(pairs, found, strict=True)
    ]
    result["lower"] = [_lower(system, entry) for entry in found]
    if system.combination is not None:
        result["combination"] = _combination(system)
    if ratios:
        result["upper"] = [_graph(system, entry) for entry in ratios]
    else:
        result["upper"] = [_tree(entry) for entry in found if isinstance(entry, TraceDifference)]
    return result


def _lower(system: WordSystem, entry: TraceRatio | TraceDifference) -> Document:
    infinite = entry.infinite if isinstance(entry, TraceRatio) else None
    if isinstance(infinite, LoopTrace):
        return {"type": "loop", "prefix": list(infinite.prefix), "cycle": list(infinite.cycle)}
    if infinite is None:
        return {"type": "trace", "word": list(entry.word)}
    return {
        "type": "drift",
        "prefix": list(infinite.prefix),
        "cycle": list(infinite.cycle),
        "suffix": list(infinite.suffix),
        "swapped": infinite.swapped,
        "factor": rational_text(infinite.factor),
        "below": [_masses(system, vector) for vector in infinite.below],
        "above": [[rational_text(rate), _masses(system, vector)] for rate, vector in infinite.above],
    }


def _masses(system: WordSystem, masses: Mapping[int, fmpq]) -> Document:
    return {system.name(state): rational_text(mass) for state, mass in sorted(masses.items())}


def _combination(system: WordSystem) -> Document:
    combination = system.combination
    if combination is None:
        return {}
    return {
        system.name(state): {
            system.name(other): rational_text(fmpq(weight, combination.factor)) for other, weight in row
        }
        for state, row in sorted(combination.rows.items())
    }


def _moves(system: WordSystem, coupling: Coupling) -> list[list[str]]:
    return [[system.name(k), system.name(m), rational_text(amount)] for k, m, amount in coupling]


def _table(system: WordSystem, proof: RatioProof) -> list[Document]:
    """Return the entries that open nodes rest on, and those that these rest on."""
    if proof.table is None:
        return []
    entries = proof.table.entries
    lifts = (move for number in _open(proof) for coupling in _lifts(proof, number) for move in coupling)

    def after(pair: Pair) -> list[Pair]:
        return [(k, m) for k, m, _ in entries[pair].moves if k != m]

    needed = all_reached(((k, m) for k, m, _ in lifts if k != m), after)
    return [
        {
            "pair": [system.name(k), system.name(m)],
            "bound": rational_text(entries[k, m].bound),
            "moves": _moves(system, entries[k, m].moves),
        }
        for k, m in sorted(needed)
    ]


def _open(proof: RatioProof) -> list[int]:
    """Return the nodes that rest on the table."""
    graph = proof.graph
    return [
        number
        for number, node in enumerate(graph.nodes)
        if not node.expanded and not node.equal and (graph.length is None or node.depth < graph.length)
    ]


def _lifts(proof: RatioProof, number: int) -> tuple[Coupling, Coupling]:
    node = proof.graph.nodes[number]
    if proof.table is None:
        return (), ()
    return (
        proof.table.lift(node.first, node.second).coupling,
        proof.table.lift(node.second, node.first).coupling,
    )


def _graph(system: WordSystem, entry: TraceRatio) -> Document | None:
    """Return the graph of beliefs with what is left to each of them; None where the bound is infinite."""
    proof = entry.proof
    if proof is None or entry.upper is None:
        return None
    largest, least = proof.reach.values
    opened = set(_open(proof))
    result: list[Document] = []
    for number, node in enumerate(proof.graph.nodes):
        described: Document = {"parent": node.parent, "action": node.action} if number else {}
        described["grow"] = rational_text(entry.upper / largest[number])
        described["shrink"] = rational_text(entry.upper * least[number])
        if number in opened:
            forward, backward = _lifts(proof, number)
            described["moves"] = [_moves(system, forward), _moves(system, backward)]
        result.append(described)
    return {"nodes": result, "table": _table(system, proof)}


def _tree(entry: TraceDifference) -> list[list[object]]:
    """Return the traces that were looked beyond: the number of the one before, and the last action."""
    numbers = {word: number for number, word in enumerate(entry.expanded)}
    return [[numbers[word[:-1]], word[-1]] if word else [] for word in entry.expanded]
