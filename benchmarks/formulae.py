"""Mimicking formulae, satisfaction, distinguishing formulae, and where the cross-check spends its time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from benchmarks.generalised import random_automaton
from benchmarks.metric import twins
from benchmarks.tables import Size, Table, fine_seconds, ratio
from benchmarks.timing import Clock, peak_memory, run_apart, timed
from bisimdist.checker import check_certificate
from bisimdist.faces.shown.standing import Measure
from bisimdist.logic.engine.formula import Node, StateFormula, children, formula_size
from bisimdist.logic.engine.levels import Levels
from bisimdist.logic.engine.mimicking import mimicking_formulae
from bisimdist.logic.engine.satisfaction import ModelChecker
from bisimdist.logic.explanation.ask import explain
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.library.registry import build_any_example, list_examples
from bisimdist.models.pa import PA, chain_as_automaton, outgoing
from bisimdist.privacy.crosscheck.ask import crosscheck
from bisimdist.privacy.crosscheck.measures import SOURCES, Source, Task

__all__ = ["crosscheck_tables", "formula_tables", "splitter_rounds", "tree_nodes"]


NAMES = {"chain": "random chain", "twins": "cyclic twins", "automaton": "random automaton"}


def tree_nodes(*formulae: StateFormula) -> list[int]:
    """Return for each formula how many nodes it has as a tree, without sharing."""
    sizes: dict[Node, int] = {}
    stack: list[Node] = list(formulae)
    while stack:
        node = stack[-1]
        missing = [child for child in children(node) if child not in sizes]
        if node in sizes or not missing:
            stack.pop()
            sizes[node] = 1 + sum(sizes[child] for child in children(node))
        else:
            stack += missing
    return [sizes[formula] for formula in formulae]


def splitter_rounds(automaton: PA, depth: int) -> list[int]:
    """Return classes of states after so many rounds of plain signature refinement, from one class.

    The alternative to formulae: it tells which states differ within a depth, and gives no reason.
    """
    steps = outgoing(automaton)
    block = [0] * len(automaton)
    for _ in range(depth):
        numbers: dict[object, int] = {}
        fresh = []
        for s in range(len(automaton)):
            signature = set()
            for step in steps[s]:
                mass: Counter[int] = Counter()
                for target, p in step.row:
                    mass[block[target]] += p
                signature.add((step.action, tuple(sorted((b, str(p)) for b, p in mass.items()))))
            fresh.append(numbers.setdefault((block[s], frozenset(signature)), len(numbers)))
        if fresh == block:
            break
        block = fresh
    return block


def _system(kind: str, size: int) -> PA:
    if kind == "chain":
        return chain_as_automaton(random_lmc(size, 3, 3, 1))
    if kind == "twins":
        return twins(size // 2, seed=1, changed=0.1, cyclic=True)
    return random_automaton(size)


def _formulae(kind: str, size: int, depth: int) -> Iterator[list[str]]:
    """Measure formulae of all states in a process of its own."""
    automaton = _system(kind, size)
    before = peak_memory()
    made, making = timed(lambda: mimicking_formulae(automaton, depth))
    memory = peak_memory() - before
    nodes = formula_size(*made.values())
    largest = max(tree_nodes(*made.values()))
    checker = ModelChecker(automaton)
    _, checking = timed(lambda: [checker.states(formula) for formula in made.values()])
    own = all(checker.satisfies(state, formula) for state, formula in made.items())
    blocks, plain = timed(lambda: splitter_rounds(automaton, depth))
    if len(set(blocks)) != len(set(made.values())):
        raise AssertionError("formulae and refinement do not tell the same states apart")
    yield [
        NAMES[kind],
        str(size),
        str(depth),
        str(len(set(blocks))),
        fine_seconds(making),
        str(nodes),
        f"{memory:.1f}",
        f"{len(str(largest))} digits" if largest >= 10**6 else str(largest),
        fine_seconds(checking) if own else "WRONG",
        fine_seconds(plain),
        ratio(plain, making),
    ]


def formula_tables(how: Size) -> Iterator[Table]:
    """Mimicking and distinguishing formulae beside plain refinement."""
    table = Table(
        "Mimicking formulae of all states: CPU seconds",
        (
            "system",
            "states",
            "k",
            "classes",
            "making s",
            "nodes, shared",
            "MB",
            "nodes of the largest as a tree",
            "which states satisfy them, s",
            "refinement alone s",
            "refinement / making",
        ),
        (
            "Which states satisfy them: all formulae on all states, and each state its own. Refinement "
            "alone: k "
            "rounds of plain signature refinement, which finds the same classes and gives no formula. MB: "
            "growth "
            "of the largest resident size of a process of its own. A tree is counted exactly, in integers; "
            "its "
            "digits are shown.",
        ),
    )
    for kind, name in NAMES.items():
        for size in how.pick((50,), (100,), (100, 300, 1000)):
            for depth in how.pick((10,), (10, 100), (10, 100)):
                row = run_apart(_formulae, kind, size, depth, limit=600.0)
                table.add(*(row or [name, str(size), str(depth), *["over 600 s"] * 8]))
    yield table
    yield _explanations(how)


def _explanations(how: Size) -> Table:
    table = Table(
        "Distinguishing formulae of 20 pairs: CPU seconds",
        (
            "system",
            "states",
            "apart",
            "deepest",
            "largest",
            "explain s",
            "of which formulae s",
            "writing s",
            "checking s",
            "refinement alone s",
            "refinement / explain",
        ),
        (
            "Explain: with the shortest traces, where the system is fully probabilistic, and the words. Of "
            "which "
            "formulae: made again without these. Largest: nodes of a formula, shared ones once. Refinement "
            "alone: "
            "plain signature refinement until nothing changes, which gives no reason.",
        ),
    )
    for kind in NAMES:
        for size in how.pick((100,), (100, 300), (100, 300, 1000)):
            _explain_row(table, kind, size)
    return table


def _explain_row(table: Table, kind: str, size: int) -> None:
    from bisimdist.logic.engine.distinguishing import Distinguisher  # noqa: PLC0415

    automaton = _system(kind, size)
    levels = Levels(automaton)
    half = size // 2
    pairs = [
        (s, half + s)
        for s in range(half)
        if levels.block(s, levels.last) != levels.block(half + s, levels.last)
    ]
    near = [pair for pair in pairs if levels.block(pair[0], 1) == levels.block(pair[1], 1)]
    chosen = (near or pairs)[:20]
    names = [(automaton.states[s], automaton.states[t]) for s, t in chosen]
    answer, spent = timed(lambda: explain(automaton, names))

    def formulae() -> None:
        maker = Distinguisher(automaton)
        for s, t in chosen:
            maker.distinguish(s, t)

    _, alone = timed(formulae)
    text, writing = timed(lambda: json.dumps(answer.certificate()))
    valid, checking = timed(lambda: check_certificate(text).valid)
    _, plain = timed(lambda: splitter_rounds(automaton, len(automaton)))
    found = [pair.formula for pair in answer.pairs if pair.formula is not None]
    table.add(
        NAMES[kind],
        str(size),
        f"{len(found)} of {len(chosen)}",
        str(max((pair.depth or 0 for pair in answer.pairs), default=0)),
        str(max(map(formula_size, found), default=0)),
        fine_seconds(spent),
        fine_seconds(alone),
        fine_seconds(writing),
        fine_seconds(checking) if valid else "REJECTED",
        fine_seconds(plain),
        ratio(plain, spent),
    )


# -- the cross-check --------------------------------------------------------------------------------------


def _watched(source: Source, spent: dict[str, float]) -> Source:
    """Return a source that says how long it took."""

    def run(task: Task) -> Iterator[Measure]:
        clock = Clock.start()
        try:
            yield from source.run(task)
        finally:
            spent[source.names[0]] = spent.get(source.names[0], 0.0) + clock.spent().cpu

    return replace(source, run=run)


def crosscheck_tables(how: Size) -> Iterator[Table]:
    """All measures of the built-in examples, Z3 beside our search for hidden Markov models."""
    seconds = how.pick(0.3, 6.0, 60.0)
    table = Table(
        "Cross-check of the built-in examples, their first pair: CPU seconds",
        ("example", "orders", "violated", "measures", "left out", "total s", "where", "smt / epsilon"),
        (
            f"Each pair has {seconds:g} s wall, shared by the measures. Where: the three measures that "
            f"took "
            "the longest. smt / epsilon: the time of the measure that asks Z3 for what `epsilon` "
            "computes, over that of `epsilon`.",
        ),
    )
    for info in list_examples()[: how.pick(4, None, None)]:
        model = build_any_example(info.name)
        if getattr(model, "parametric", False) or not model.pairs:
            continue
        first = model.pairs[0]
        pair = first if isinstance(first[0], str) else (model.states[first[0]], model.states[first[1]])
        spent: dict[str, float] = {}
        sources = [_watched(source, spent) for source in SOURCES]
        answer, total = timed(partial(crosscheck, model, pairs=[pair], seconds=seconds, sources=sources))
        checked = answer.pairs[0]
        longest = sorted(spent, key=spent.__getitem__, reverse=True)[:3]
        table.add(
            info.name,
            str(len(checked.standings())),
            str(len(checked.errors)),
            str(len(checked.measures)),
            str(len(checked.left_out)),
            fine_seconds(total),
            ", ".join(f"{name} {fine_seconds(spent[name])}" for name in longest),
            ratio(spent["smt"], spent["epsilon"]) if "smt" in spent and spent.get("epsilon") else "-",
        )
    yield table
