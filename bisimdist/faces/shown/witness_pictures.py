"""Pictures of what stands behind an answer: plays, formulae, traces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flint import fmpq

from bisimdist.automata.engine.play import Play
from bisimdist.drawing import Edge, Node, abridged, depths, drawing
from bisimdist.faces.shown.numbers import short_rational
from bisimdist.logic.engine.formula import (
    Conjunction,
    Diamond,
    Mixture,
    Negation,
    StateFormula,
    Top,
    Variable,
)
from bisimdist.models.pa import PA

Measured = tuple[str, str, Sequence[str] | None, tuple[fmpq, fmpq] | None]
"""Two names, a trace, and its probabilities, where there are any."""


def play_svg(model: PA, play: Play) -> str:
    """Draw a play: pairs of states, and by which actions and factors they follow each other.

    >>> from bisimdist import build_any_example, metric
    >>> answer = metric(build_any_example("pin-checking"), "amortised")
    >>> play_svg(answer.model, answer.pairs[0].play).count("<rect")
    4
    """
    name = model.states
    places = [play.steps[0].before, *(step.after for step in play.steps)] if play.steps else []
    nodes = [Node(f"n{k}", name[s], name[t], marked=k == 0) for k, (s, t) in enumerate(places)]
    factors = ["" if step.factor == 1 else f" · {short_rational(step.factor)}" for step in play.steps]
    edges = [Edge(f"n{k}", f"n{k + 1}", step.action + factors[k]) for k, step in enumerate(play.steps)]
    if play.cycle is not None:
        nodes.pop()
        edges[-1] = Edge(edges[-1].source, f"n{play.cycle}", edges[-1].text)
    elif play.obstacle or not nodes:
        nodes.append(Node("end", "no answer", play.obstacle, marked=True))
        edges += [Edge(f"n{len(play.steps)}", "end")] if play.steps else []
    nodes, edges = abridged(nodes, edges)
    return drawing(nodes, edges, label="a play of the challenger", layers=depths(nodes, edges))


def formula_svg(formula: StateFormula) -> str:
    """Draw a formula: what a state can do, and with which probabilities what is true then.

    >>> from bisimdist.logic import parse_formula
    >>> formula_svg(parse_formula("<a>(1/2 <b>T + 1/2 T)")).count("<rect")
    3
    """
    nodes: dict[int, Node] = {}
    edges: list[Edge] = []
    waiting = [formula]
    while waiting:
        here = waiting.pop()
        if id(here) in nodes:
            continue
        name = f"n{id(here)}"
        title, note, following = _parts(here)
        nodes[id(here)] = Node(name, title, note, marked=here is formula)
        edges += [Edge(name, f"n{id(part)}", text) for text, part in following]
        waiting += [part for _, part in following]
    kept, between = abridged(list(nodes.values()), edges)
    return drawing(kept, between, label="a formula that tells states apart")


def _parts(formula: StateFormula) -> tuple[str, str, list[tuple[str, StateFormula]]]:
    """Return what stands in the box of a formula, and what follows."""
    if isinstance(formula, Diamond):
        target = formula.target
        parts = target.parts if isinstance(target, Mixture) else ()
        return f"can do {formula.action}", "then" * bool(parts), [(str(p), part) for p, part in parts]
    if isinstance(formula, Conjunction):
        return "all of", "", [("", part) for part in formula.operands]
    if isinstance(formula, Negation):
        return "not", "", [("", formula.operand)]
    if isinstance(formula, Variable):
        return formula.name, "", []
    return ("anything" if isinstance(formula, Top) else str(formula)), "", []


def trace_svg(names: tuple[str, str], trace: Sequence[str], probabilities: Sequence[fmpq]) -> str:
    """Draw a trace with its probabilities from two states.

    >>> trace_svg(("s", "t"), ["a", "b"], (fmpq(1, 2), fmpq(1, 3))).count("<rect")
    3
    """
    nodes = [Node("n0", " or ".join(names), "where did it begin?", marked=True)]
    nodes += [Node(f"n{k}", f"({k})") for k in range(1, len(trace))]
    here, there = (f"{p} from {name}" for name, p in zip(names, probabilities, strict=True))
    if trace:
        nodes.append(Node(f"n{len(trace)}", here, there, marked=True))
    edges = [Edge(f"n{k}", f"n{k + 1}", action) for k, action in enumerate(trace)]
    kept, between = abridged(nodes, edges)
    return drawing(kept, between, label=f"the trace {' '.join(trace)}: {here}, {there}")


def first_trace(pairs: Iterable[Measured]) -> str:
    """Draw the trace of the first pair that has one; empty where none has.

    >>> first_trace([("s", "t", None, None)])
    ''
    """
    known = ((s, t, trace, chances) for s, t, trace, chances in pairs if trace and chances)
    return next((trace_svg((s, t), trace, chances) for s, t, trace, chances in known), "")
