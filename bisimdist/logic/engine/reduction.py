"""Leaving out of a formula what it does not need to tell two states apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bisimdist.errors import LimitError
from bisimdist.logic.engine.formula import (
    ANYTHING,
    TOP,
    Conjunction,
    Diamond,
    DistributionFormula,
    Mixture,
    Negation,
    Node,
    StateFormula,
    conjunction,
    diamond,
    mixture,
    negation,
    postorder,
)
from bisimdist.logic.engine.satisfaction import ModelChecker
from bisimdist.progress import NEVER, Deadline

MAX_SIZE = 300  # formulae of more nodes are not reduced as a whole: it takes the square of their size


def weakenings(node: Node) -> Iterator[Node]:
    """Yield a formula with one thing left out: a conjunct, what a part says, or what an action leads to."""
    match node:
        case Conjunction(operands=operands):
            for position in range(len(operands)):
                yield conjunction(operands[:position] + operands[position + 1 :])
        case Mixture(parts=parts):
            for position, (weight, part) in enumerate(parts):
                if part is not TOP:
                    yield mixture([*parts[:position], (weight, TOP), *parts[position + 1 :]])
        case Diamond(action=action, target=Mixture()):
            yield diamond(action, ANYTHING)


def replaced(root: StateFormula, old: Node, new: Node) -> StateFormula:
    """Return a formula with one formula of the graph replaced wherever it occurs."""
    changed: dict[Node, Node] = {old: new}
    for node in postorder(root):
        if node not in changed:
            again = _rebuilt(node, changed)
            if again is not node:
                changed[node] = again
    result = changed.get(root, root)
    assert isinstance(result, StateFormula)
    return result


def _rebuilt(node: Node, changed: Mapping[Node, Node]) -> Node:
    def state(part: StateFormula) -> StateFormula:
        result = changed.get(part, part)
        assert isinstance(result, StateFormula)
        return result

    match node:
        case Negation(operand=operand) if operand in changed:
            return negation(state(operand))
        case Conjunction(operands=operands) if any(operand in changed for operand in operands):
            return conjunction(map(state, operands))
        case Diamond(action=action, target=target) if target in changed:
            goal = changed[target]
            assert isinstance(goal, DistributionFormula)
            return diamond(action, goal)
        case Mixture(parts=parts) if any(part in changed for _, part in parts):
            return mixture((weight, state(part)) for weight, part in parts)
        case _:
            return node


def reduced(
    checker: ModelChecker, formula: StateFormula, first: int, second: int, *, deadline: Deadline = NEVER
) -> tuple[StateFormula, bool]:
    """Leave out of a formula whatever is not needed to tell two states apart.

    ``formula``: the first state satisfies it, the second does not.
    ``formula``: one that still tells the states apart.
    ``complete``: whether nothing more can be left out: none of `weakenings` of any formula of the graph, made
        wherever that formula occurs, keeps the states apart.
    """
    if sum(1 for _ in postorder(formula)) > MAX_SIZE:
        return formula, False

    def distinguishes(trial: StateFormula) -> bool:
        members = checker.states(trial)
        return bool(members >> first & 1) and not members >> second & 1

    shorter: StateFormula | None = formula
    try:
        while shorter is not None:
            formula = shorter
            shorter = None
            # From the outside in: what is left out at once need not be looked at.
            for node in reversed(list(postorder(formula))):
                trials = (replaced(formula, node, weaker) for weaker in weakenings(node))
                shorter = next((trial for trial in trials if distinguishes(trial)), None)
                deadline.check()
                if shorter is not None:
                    break
    except LimitError:
        return formula if shorter is None else shorter, False
    return formula, True
