"""What formulae mean, written down once more: slowly, and with nothing in common with the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain, combinations

from flint import fmpq
from hypothesis import strategies as st

from bisimdist.logic.engine.formula import (
    ANYTHING,
    TOP,
    Anything,
    Conjunction,
    Diamond,
    Mixture,
    Negation,
    StateFormula,
    Top,
    conjunction,
    diamond,
    mixture,
    negation,
)
from bisimdist.models.lmc import Row
from bisimdist.models.pa import PA
from tests.strategies import weights

Distance = Callable[[int, int], fmpq]


def row_splits(row: Row, parts: list[tuple[fmpq, set[int]]]) -> bool:
    """Hall's condition for every set of parts: they find enough mass where they may lie."""
    if sum((w for w, _ in parts), fmpq(0)) != sum((p for _, p in row), fmpq(0)):
        return False
    indices = range(len(parts))
    for chosen in chain.from_iterable(combinations(indices, k) for k in range(1, len(parts) + 1)):
        allowed = set().union(*(parts[i][1] for i in chosen))
        if sum((parts[i][0] for i in chosen), fmpq(0)) > sum((p for s, p in row if s in allowed), fmpq(0)):
            return False
    return True


def holds(automaton: PA, state: int, formula: StateFormula) -> bool:
    """The definition of satisfaction, on the tree of the formula."""
    match formula:
        case Top():
            return True
        case Negation(operand=operand):
            return not holds(automaton, state, operand)
        case Conjunction(operands=operands):
            return all(holds(automaton, state, operand) for operand in operands)
        case Diamond(action=action, target=target):
            rows = [
                step.row for step in automaton.transitions if step.source == state and step.action == action
            ]
            if isinstance(target, Anything):
                return bool(rows)
            assert isinstance(target, Mixture)
            parts = [
                (weight, {s for s in range(len(automaton)) if holds(automaton, s, part)})
                for weight, part in target.parts
            ]
            return any(row_splits(row, parts) for row in rows)
    raise AssertionError(formula)


def k_step_classes(automaton: PA, depth: int) -> list[int]:
    """The classes of states that so many steps do not tell apart, from the definition."""
    classes = [0] * len(automaton)
    for _ in range(depth):
        shown = []
        for state in range(len(automaton)):
            moves = set()
            for step in automaton.transitions:
                if step.source == state:
                    masses: dict[int, fmpq] = {}
                    for target, p in step.row:
                        masses[classes[target]] = masses.get(classes[target], fmpq(0)) + p
                    moves.add((step.action, frozenset(masses.items())))
            shown.append(frozenset(moves))
        number = {key: n for n, key in enumerate(dict.fromkeys(shown))}
        classes = [number[key] for key in shown]
    return classes


@st.composite
def formulae(draw: st.DrawFn, depth: int = 3) -> StateFormula:
    """Draw a formula over the actions a and b, of at most this depth."""
    kind = draw(st.integers(0, 5)) if depth else draw(st.integers(0, 1))
    if kind == 0:
        return TOP
    if kind == 1:
        return diamond(draw(st.sampled_from("ab")), ANYTHING)
    if kind == 2:
        return negation(draw(formulae(depth)) if draw(st.booleans()) else draw(formulae(depth - 1)))
    if kind == 3:
        return conjunction(draw(st.lists(formulae(depth - 1), max_size=3)))
    count = draw(st.integers(0, 3))
    parts = [draw(formulae(depth - 1)) for _ in range(count)]
    shares = draw(weights(count)) if count else []
    scale = draw(st.sampled_from((fmpq(1), fmpq(1), fmpq(1), fmpq(1, 2))))
    return diamond(
        draw(st.sampled_from("ab")), mixture([(w * scale, p) for w, p in zip(shares, parts, strict=True)])
    )


def simulated(automaton: PA, depth: int | None) -> Mapping[tuple[int, int], bool]:
    """Whether t does in so many steps (None: for ever) all that s does, with the same actions enabled.

    Ready simulation, from its definition: every transition of s is answered by one of t whose row splits
    along the relation.
    """
    size = len(automaton)
    enabled = [{step.action for step in automaton.transitions if step.source == s} for s in range(size)]
    relation = {(s, t): True for s in range(size) for t in range(size)}
    rounds = depth if depth is not None else size * size + 1
    for _ in range(rounds):
        refined = {}
        for s, t in relation:
            above = {u: {v for v in range(size) if relation[u, v]} for u in range(size)}
            refined[s, t] = enabled[s] == enabled[t] and all(
                any(
                    row_splits(answer.row, [(p, above[u]) for u, p in step.row])
                    for answer in automaton.transitions
                    if answer.source == t and answer.action == step.action
                )
                for step in automaton.transitions
                if step.source == s
            )
        if refined == relation:
            break
        relation = refined
    return relation
