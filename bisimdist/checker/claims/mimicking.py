"""Checks certificates of kind ``mimicking-formula``: what a state can do, as a formula.

The rules, with names N1 and so on, are those of ``docs/certificates/mimicking-formula.md``. The formula is
built once more from its definition, in the same graph as the one that is claimed: equal formulae then have
the same number.
"""

from __future__ import annotations

from collections.abc import Mapping

from bisimdist.checker.core.automaton import About, Automaton, about_automaton
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.formula_text import ANYTHING, TOP, FormulaGraph, Text, read_text
from bisimdist.checker.core.partition import reached, steps_of
from bisimdist.checker.core.reading import LOOK, RuleViolation, item, shown, spend
from bisimdist.checker.core.shape import CheckReport, Shape, depth, key, listed, named, or_null

PART = 300  # what it costs to build a part of a formula; those of distributions count thrice


class Claim(Shape):
    """A state, for how many steps (None: for ever), the formula, and the variables of the states."""

    state: str = key(item)
    depth: int | None = key(or_null(depth))
    formula: str = key(item)
    variables: Mapping[str, str] = key(named(item), default_factory=dict)

    def data(self) -> dict[str, object]:
        depth = None if self.depth is None else str(self.depth)
        return {"state": self.state, "depth": depth, "formula": self.formula}


class _Document(About):
    claims: list[Claim] = key(listed(Claim.read, "claim"))


def check_document(document: dict[str, object], model: object | None) -> CheckReport:
    """Check a certificate of kind ``mimicking-formula``."""
    whole = _Document.whole(document)

    def check(automaton: Automaton) -> None:
        for claim in counted(whole.claims):
            _check(automaton, claim, claim.where)

    return about_automaton(
        whole, model, ("N2", "N3"), (claim.data() for claim in counted(whole.claims)), check
    )


class _Mimicking:
    """The formulae of states, from those of their successors."""

    def __init__(self, automaton: Automaton, graph: FormulaGraph) -> None:
        self.graph = graph
        self.rows = steps_of(automaton.states, automaton.transitions)
        enabled = {action: graph.diamond(action, ANYTHING) for _, action, _ in counted(automaton.transitions)}
        self.lacks = {action: graph.negation(formula) for action, formula in counted(enabled.items())}

    def reachable(self, state: str) -> list[str]:
        return reached(
            [state],
            lambda source: [target for _, row in counted(self.rows[source]) for target in counted(row)],
        )

    def formula(self, state: str, of: Mapping[str, int]) -> int:
        """Return the formula of a state when its successors have these."""
        graph = self.graph
        spend(PART * (len(self.lacks) + 3 * sum(len(row) for _, row in counted(self.rows[state]))))
        here = {action for action, _ in counted(self.rows[state])}
        parts = [
            graph.diamond(action, graph.mixture([(p, of[target]) for target, p in counted(row.items())]))
            for action, row in counted(self.rows[state])
        ]
        absent = [formula for action, formula in counted(self.lacks.items()) if action not in here]
        return graph.conjunction([*parts, *absent])


def _check(automaton: Automaton, claim: Claim, where: str) -> None:
    graph = FormulaGraph()
    text = read_text(graph, claim.formula)
    mimicking = _Mimicking(automaton, graph)
    if claim.state not in mimicking.rows:
        raise RuleViolation(f"N4: {where} names {shown(claim.state)}, which is no state")
    if text.equations:
        _check_equations(mimicking, claim, text, where)
    else:
        _check_formula(mimicking, claim, text.root, where)


def _check_formula(mimicking: _Mimicking, claim: Claim, root: int, where: str) -> None:
    """Build the formula step by step until nothing changes any more, or to the depth."""
    states = mimicking.reachable(claim.state)
    of = dict.fromkeys(states, TOP)
    level = 0
    while level != claim.depth:
        # What still changes in round k changes because of a state k - 1 steps away: the formula has depth k.
        spend(LOOK)
        if level > mimicking.graph.depth[root]:
            raise RuleViolation(f"N5: {where}: the formula is less deep than the one of the state")
        refined = {state: mimicking.formula(state, of) for state in counted(states)}
        if refined == of:
            break
        of = refined
        level += 1
    if of[claim.state] != root:
        raise RuleViolation(
            f"N5: {where}: this is not what {shown(claim.state)} can do"
            f" {'for ever' if claim.depth is None else f'for {claim.depth} steps'}"
        )


def _check_equations(mimicking: _Mimicking, claim: Claim, text: Text, where: str) -> None:
    """Check that each equation says what every state of its variable can do, in terms of the variables."""
    if claim.depth is not None:
        raise RuleViolation(f"N5: {where}: the formula is recursive, but it is for {claim.depth} steps")
    states = mimicking.reachable(claim.state)
    if claim.variables.keys() != set(all_of(states)):
        raise RuleViolation(f"N6: {where}: the states with a variable are not those that can be reached")
    if set(all_of(claim.variables.values())) != text.equations.keys():
        raise RuleViolation(f"N6: {where}: the variables of the states are not those of the equations")
    of = {state: mimicking.graph.variable(name) for state, name in counted(claim.variables.items())}
    if text.root != of[claim.state]:
        raise RuleViolation(f"N6: {where}: the formula is not the variable of {shown(claim.state)}")
    for state in counted(states):
        if mimicking.formula(state, of) != text.equations[claim.variables[state]]:
            raise RuleViolation(f"N6: {where}: the equation of {shown(state)} is not what it can do")
