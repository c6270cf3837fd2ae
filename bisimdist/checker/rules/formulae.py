"""Checks certificates of kind ``distinguishing-formula``: states that a formula tells apart, or bisimilar.

The rules, with names F1 and so on, are those of ``docs/certificates/formulae.md``; why they prove what is
claimed is in ``docs/theory/logic.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bisimdist.checker.core.automaton import Automaton
from bisimdist.checker.core.automaton_document import judged, numbered_claims, read_depth
from bisimdist.checker.core.formula_states import FormulaReader
from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.reading import MalformedCertificate, RuleViolation, item, items, record, shown
from bisimdist.checker.core.steps import Classes, refinements, seen, steps_of

__all__ = ["check_document"]


@dataclass(frozen=True)
class Alike:
    """Two states that are bisimilar."""

    source: str
    target: str

    def data(self) -> dict[str, object]:
        """Return the claim as plain data."""
        return {"from": self.source, "to": self.target, "bisimilar": True}


@dataclass(frozen=True)
class Apart:
    """Two states, and the formula with its depth that tells them apart."""

    source: str
    target: str
    formula: str
    depth: int

    def data(self) -> dict[str, object]:
        """Return the claim as plain data."""
        told = {"bisimilar": False, "depth": str(self.depth), "formula": self.formula}
        return {"from": self.source, "to": self.target, **told}


Claims = list[tuple[str, Alike | Apart]]
"""Each with how errors speak of it."""


def check_document(document: dict[str, object], model: object | None) -> OtherReport:
    """Check a certificate of kind ``distinguishing-formula`` and, if given, that it is about this model.

    Raises
    ------
    MalformedCertificate
        If the document does not have the shape of such a certificate, or `model` not that of an automaton.
    """
    claims = [(where, _claim(value, where)) for where, value in numbered_claims(document, ("classes",))]

    def check(automaton: Automaton) -> None:
        _check_claims(automaton, claims, document.get("classes"))

    return judged(document, model, "F", (claim.data() for _, claim in claims), check)


def _claim(value: object, where: str) -> Alike | Apart:
    entry = record(value, where, ("from", "to", "bisimilar"), ("formula", "depth"))
    source, target = item(entry["from"], where), item(entry["to"], where)
    if not isinstance(entry["bisimilar"], bool):
        raise MalformedCertificate(
            f"{where}: 'bisimilar' is {shown(entry['bisimilar'])}; expected true or false"
        )
    if entry["bisimilar"]:
        record(value, where, ("from", "to", "bisimilar"))
        return Alike(source, target)
    record(value, where, ("from", "to", "bisimilar", "formula", "depth"))
    return Apart(source, target, item(entry["formula"], where), read_depth(entry["depth"], where))


def _check_claims(automaton: Automaton, claims: Claims, classes: Any) -> None:
    reader = FormulaReader(automaton)
    stable = None
    for where, claim in claims:
        for name in (claim.source, claim.target):
            if name not in reader.number:
                raise RuleViolation(f"F4: {where} names {shown(name)}, which is no state")
        if isinstance(claim, Apart):
            _check_formula(reader, claim, where)
            continue
        if stable is None:
            stable = _stable_classes(automaton, classes)
        if stable[claim.source] != stable[claim.target]:
            raise RuleViolation(f"F7: {where}: the states are in different classes")
    _check_least(automaton, [(where, claim) for where, claim in claims if isinstance(claim, Apart)])


def _check_formula(reader: FormulaReader, claim: Apart, where: str) -> None:
    found = reader.read(claim.formula)
    if not found.members >> reader.number[claim.source] & 1:
        raise RuleViolation(f"F5: {where}: {shown(claim.source)} does not satisfy the formula")
    if found.members >> reader.number[claim.target] & 1:
        raise RuleViolation(f"F5: {where}: {shown(claim.target)} satisfies the formula as well")
    if found.depth != claim.depth:
        raise RuleViolation(f"F6: {where}: the depth of the formula is {found.depth}, not {claim.depth}")


def _check_least(automaton: Automaton, claims: list[tuple[str, Apart]]) -> None:
    """Check that one step less does not tell the states apart: so no formula of less depth does."""
    steps = steps_of(automaton.states, automaton.transitions)
    rounds = refinements(automaton.states, lambda state, of: seen(steps[state], of))
    for level, of in enumerate(rounds):
        claims = [(where, claim) for where, claim in claims if claim.depth > level]
        if not claims:
            return
        for where, claim in claims:
            if of[claim.source] != of[claim.target]:
                raise RuleViolation(f"F6: {where}: {level} steps tell the states apart already")


def _stable_classes(automaton: Automaton, value: Any) -> Classes:
    """Return the classes of a certificate if all states of a class have the same transitions into classes."""
    if value is None:
        raise RuleViolation("F7: states are claimed to be bisimilar, but there are no classes")
    of: Classes = {}
    for number, members in enumerate(items(value, "the classes")):
        for entry in items(members, f"class {number + 1}"):
            name = item(entry, f"class {number + 1}")
            if name in of:
                raise RuleViolation(f"F7: {shown(name)} is in two classes")
            of[name] = number
    if of.keys() != set(automaton.states):
        raise RuleViolation("F7: the classes do not have exactly the states of the model")
    steps = steps_of(automaton.states, automaton.transitions)
    first: dict[int, str] = {}
    for state, number in of.items():
        other = first.setdefault(number, state)
        if seen(steps[state], of) != seen(steps[other], of):
            raise RuleViolation(
                f"F7: {shown(other)} and {shown(state)} share a class, but not their transitions"
            )
    return of
