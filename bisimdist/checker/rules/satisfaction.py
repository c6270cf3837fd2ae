"""Checks certificates of kind ``satisfaction``: which states or transitions satisfy a formula.

The rules, with names S1 and so on, are those of ``docs/certificates/satisfaction.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.automaton import Automaton
from bisimdist.checker.core.automaton_document import judged, numbered_claims
from bisimdist.checker.core.formula_states import FormulaReader
from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    item,
    items,
    model_number,
    record,
    shown,
)

__all__ = ["check_document"]


MISSING = "satisfies the formula and is not listed"
WRONG = "does not satisfy the formula"

Move = tuple[str, str, frozenset[tuple[str, Fraction]]]


@dataclass(frozen=True)
class Claim:
    """A formula with all states that satisfy it; or all transitions, where it is about distributions."""

    formula: str
    states: list[str] | None
    transitions: list[Any]
    moves: list[Move]

    def data(self) -> dict[str, object]:
        """Return the claim as plain data."""
        if self.states is not None:
            return {"formula": self.formula, "satisfying": self.states}
        return {"formula": self.formula, "transitions": self.transitions}


def check_document(document: dict[str, object], model: object | None) -> OtherReport:
    """Check a certificate of kind ``satisfaction`` and, if given, that it is about this model.

    Raises
    ------
    MalformedCertificate
        If the document does not have the shape of such a certificate, or `model` not that of an automaton.
    """
    claims = [(where, _claim(value, where)) for where, value in numbered_claims(document)]

    def check(automaton: Automaton) -> None:
        reader = FormulaReader(automaton)
        for where, claim in claims:
            if claim.states is None:
                _check_transitions(automaton, reader, claim, where)
            else:
                _check_states(reader, claim.formula, claim.states, where)

    return judged(document, model, "S", (claim.data() for _, claim in claims), check)


def _claim(value: object, where: str) -> Claim:
    if isinstance(value, dict) and "satisfying" in value:
        entry = record(value, where, ("formula", "satisfying"))
        states = [item(state, f"{where}: a state") for state in items(entry["satisfying"], where)]
        return Claim(item(entry["formula"], where), states, [], [])
    entry = record(value, where, ("formula", "transitions"))
    steps = items(entry["transitions"], where)
    moves = [_move(step, f"{where}, transition {n}") for n, step in enumerate(steps, 1)]
    return Claim(item(entry["formula"], where), None, steps, moves)


def _move(value: object, where: str) -> Move:
    step = record(value, where, ("from", "action", "to"))
    if not isinstance(step["to"], dict):
        raise MalformedCertificate(f"{where}: 'to' is not an object")
    row = {target: model_number(p, where) for target, p in step["to"].items()}
    return item(step["from"], where), item(step["action"], where), _row(row)


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


def _check_transitions(automaton: Automaton, reader: FormulaReader, claim: Claim, where: str) -> None:
    moves = [(source, action, _row(row)) for source, action, row in automaton.transitions]
    known, claimed = set(moves), set(claim.moves)
    for source, action, row in claim.moves:
        if (source, action, row) not in known:
            raise RuleViolation(
                f"S4: {where} lists a transition {shown(action)} of {shown(source)} that is none of the model"
            )
    if len(claimed) != len(claim.moves):
        raise RuleViolation(f"S4: {where} lists a transition twice")
    found = reader.transitions(claim.formula)
    for n, move in enumerate(moves):
        if bool(found >> n & 1) != (move in claimed):
            raise RuleViolation(
                f"S5: {where}: a transition {shown(move[1])} of {shown(move[0])}"
                f" {WRONG if move in claimed else MISSING}"
            )
