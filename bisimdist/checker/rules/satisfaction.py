"""Checks certificates of kind ``satisfaction``: which states or transitions satisfy a formula.

The rules, with names S1 and so on, are those of ``docs/certificates/satisfaction.md``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bisimdist.checker.core.automaton import About, Automaton, Transition, about_automaton
from bisimdist.checker.core.formula_states import FormulaReader
from bisimdist.checker.core.reading import RuleViolation, item, items, shown
from bisimdist.checker.core.shape import CheckReport, Shape, either, key, listed

MISSING = "satisfies the formula and is not listed"
WRONG = "does not satisfy the formula"


class OfStates(Shape):
    """A formula with all states that satisfy it."""

    formula: str = key(item)
    states: list[str] = key(listed(item), "satisfying")

    def data(self) -> dict[str, object]:
        """Return the claim as plain data."""
        return {"formula": self.formula, "satisfying": self.states}


class OfTransitions(Shape):
    """A formula about distributions with all transitions that satisfy it."""

    formula: str = key(item)
    transitions: list[Any] = key(items)

    def data(self) -> dict[str, object]:
        """Return the claim as plain data."""
        return {"formula": self.formula, "transitions": self.transitions}


class _Document(About):
    claims: list[OfStates | OfTransitions] = key(
        listed(either(lambda claim: "satisfying" in claim, OfStates, OfTransitions), "claim")
    )


def check_document(document: dict[str, object], model: object | None) -> CheckReport:
    """Check a certificate of kind ``satisfaction``."""
    whole = _Document.whole(document)
    moves = {}
    for claim in whole.claims:
        if isinstance(claim, OfTransitions):
            moves[claim.where] = listed(Transition.read)(
                claim.transitions, f"the transitions of {claim.where}"
            )

    def check(automaton: Automaton) -> None:
        reader = FormulaReader(automaton)
        for claim in whole.claims:
            if isinstance(claim, OfStates):
                _check_states(reader, claim.formula, claim.states, claim.where)
            else:
                _check_transitions(automaton, reader, claim, moves[claim.where])

    return about_automaton(whole, model, ("S2", "S3"), (claim.data() for claim in whole.claims), check)


def _row(row: dict[str, Fraction]) -> frozenset[tuple[str, Fraction]]:
    return frozenset((target, p) for target, p in row.items() if p)


def _check_states(reader: FormulaReader, formula: str, states: list[str], where: str) -> None:
    claimed = 0
    for state in states:
        if state not in reader.number:
            raise RuleViolation(f"S4: {where} names {shown(state)}, which is no state")
        if claimed >> reader.number[state] & 1:
            raise RuleViolation(f"S4: {where} names {shown(state)} twice")
        claimed |= 1 << reader.number[state]
    found = reader.satisfying(formula)
    for state, n in reader.number.items():
        if (found ^ claimed) >> n & 1:
            raise RuleViolation(f"S5: {where}: {shown(state)} {MISSING if found >> n & 1 else WRONG}")


def _check_transitions(
    automaton: Automaton, reader: FormulaReader, claim: OfTransitions, listed_moves: list[Transition]
) -> None:
    where, claims = claim.where, [(step.source, step.action, _row(step.row)) for step in listed_moves]
    moves = [(source, action, _row(row)) for source, action, row in automaton.transitions]
    known, claimed = set(moves), set(claims)
    for source, action, row in claims:
        if (source, action, row) not in known:
            raise RuleViolation(
                f"S4: {where} lists a transition {shown(action)} of {shown(source)} that is none of the model"
            )
    if len(claimed) != len(claims):
        raise RuleViolation(f"S4: {where} lists a transition twice")
    found = reader.transitions(claim.formula)
    for n, move in enumerate(moves):
        if bool(found >> n & 1) != (move in claimed):
            raise RuleViolation(
                f"S5: {where}: a transition {shown(move[1])} of {shown(move[0])}"
                f" {WRONG if move in claimed else MISSING}"
            )
