"""Checks certificates of kind ``satisfaction``: which states or transitions satisfy a formula.

The rules, with names S1 and so on, are those of ``docs/certificates/satisfaction.md``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bisimdist.checker.core.automaton import About, Automaton, Transition, about_automaton
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.formula_states import FormulaReader
from bisimdist.checker.core.reading import RuleViolation, item, items, shown
from bisimdist.checker.core.shape import CheckReport, Shape, either, key, listed

MISSING = "satisfies the formula and is not listed"
WRONG = "does not satisfy the formula"


class OfStates(Shape):
    """A formula with all states that satisfy it."""

    formula: str = key(item)
    states: list[str] = key(listed(item), "satisfying")


class OfTransitions(Shape):
    """A formula about distributions with all transitions that satisfy it."""

    formula: str = key(item)
    transitions: list[Any] = key(items)


class _Document(About):
    claims: list[OfStates | OfTransitions] = key(
        listed(either(lambda claim: "satisfying" in claim, OfStates, OfTransitions), "claim")
    )


def check_document(document: dict[str, object], model: object | None) -> CheckReport:
    """Check a certificate of kind ``satisfaction``."""
    whole = _Document.whole(document)
    moves = {}
    for claim in counted(whole.claims):
        if isinstance(claim, OfTransitions):
            moves[claim.where] = listed(Transition.read)(
                claim.transitions, f"the transitions of {claim.where}"
            )

    def check(automaton: Automaton) -> None:
        reader = FormulaReader(automaton)
        for claim in counted(whole.claims):
            if isinstance(claim, OfStates):
                _check_states(reader, claim.formula, claim.states, claim.where)
            else:
                _check_transitions(automaton, reader, claim, moves[claim.where])

    return about_automaton(
        whole, model, ("S2", "S3"), (claim.data() for claim in counted(whole.claims)), check
    )


def _row(row: dict[str, Fraction]) -> frozenset[tuple[str, Fraction]]:
    return frozenset((target, p) for target, p in counted(row.items()) if p)


def _check_states(reader: FormulaReader, formula: str, states: list[str], where: str) -> None:
    claimed = 0
    for state in counted(states):
        if state not in reader.number:
            raise RuleViolation(f"S4: {where} names {shown(state)}, which is no state")
        if claimed >> reader.number[state] & 1:
            raise RuleViolation(f"S4: {where} names {shown(state)} twice")
        claimed |= 1 << reader.number[state]
    found = reader.satisfying(formula)
    for state, n in counted(reader.number.items()):
        if (found ^ claimed) >> n & 1:
            raise RuleViolation(f"S5: {where}: {shown(state)} {MISSING if found >> n & 1 else WRONG}")


def _check_transitions(
    automaton: Automaton, reader: FormulaReader, claim: OfTransitions, listed_moves: list[Transition]
) -> None:
    where, claims = (
        claim.where,
        [(step.source, step.action, _row(step.row)) for step in counted(listed_moves)],
    )
    moves = [(source, action, _row(row)) for source, action, row in counted(automaton.transitions)]
    known, claimed = set(all_of(moves)), set(all_of(claims))
    for source, action, row in counted(claims):
        if (source, action, row) not in known:
            raise RuleViolation(
                f"S4: {where} lists a transition {shown(action)} of {shown(source)} that is none of the model"
            )
    if len(claimed) != len(claims):
        raise RuleViolation(f"S4: {where} lists a transition twice")
    found = reader.transitions(claim.formula)
    for n, move in counted(enumerate(moves)):
        if bool(found >> n & 1) != (move in claimed):
            raise RuleViolation(
                f"S5: {where}: a transition {shown(move[1])} of {shown(move[0])}"
                f" {WRONG if move in claimed else MISSING}"
            )
