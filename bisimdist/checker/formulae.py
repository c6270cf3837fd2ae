"""Checks certificates of kind ``distinguishing-formula``: states that a formula tells apart, or bisimilar.

The rules, with names F1 and so on, are those of ``docs/certificates/formulae.md``; why they prove what is
claimed is in ``docs/theory/logic.md``.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.formula_states import FormulaReader
from bisimdist.checker.metric import given_automaton
from bisimdist.checker.metric_arena import Automaton, read_automaton
from bisimdist.checker.other import OtherReport
from bisimdist.checker.reading import MalformedCertificate, RuleViolation, item, items, record, shown

__all__ = ["check_document"]

KEYS = ("format", "version", "kind", "model", "digest", "claims")
_DEPTH = re.compile("0|[1-9][0-9]{0,8}")

Classes = dict[str, int]


@dataclass(frozen=True)
class Claim:
    """Two states, and the formula with its depth if one tells them apart."""

    source: str
    target: str
    formula: str | None
    depth: int

    def data(self) -> dict[str, object]:
        """Return the claim as plain data."""
        result: dict[str, object] = {
            "from": self.source,
            "to": self.target,
            "bisimilar": self.formula is None,
        }
        return (
            result if self.formula is None else {**result, "depth": str(self.depth), "formula": self.formula}
        )


def check_document(document: dict[str, object], model: object | None) -> OtherReport:
    """Check a certificate of kind ``distinguishing-formula`` and, if given, that it is about this model.

    Raises
    ------
    MalformedCertificate
        If the document does not have the shape of such a certificate, or `model` not that of an automaton.
    """
    record(document, "the certificate", KEYS, ("classes",))
    claims = [_claim(value, n) for n, value in enumerate(items(document["claims"], "the claims"), 1)]
    if not claims:
        raise MalformedCertificate("the certificate claims nothing")
    data = tuple(claim.data() for claim in claims)
    given = None if model is None else given_automaton(model)
    try:
        automaton = read_automaton(document["model"])
        if document["digest"] != automaton.digest():
            raise RuleViolation("F2: the digest is not that of the embedded model")
        if given is not None and given.digest() != automaton.digest():
            raise RuleViolation("F3: the certificate is about another model than the one that is given")
        _check_claims(automaton, claims, document.get("classes"))
    except RuleViolation as violation:
        return OtherReport(False, data, str(violation))
    return OtherReport(True, data)


def _claim(value: object, number: int) -> Claim:
    where = f"claim {number}"
    entry = record(value, where, ("from", "to", "bisimilar"), ("formula", "depth"))
    source, target = item(entry["from"], where), item(entry["to"], where)
    if not isinstance(entry["bisimilar"], bool):
        raise MalformedCertificate(
            f"{where}: 'bisimilar' is {shown(entry['bisimilar'])}; expected true or false"
        )
    if entry["bisimilar"]:
        record(value, where, ("from", "to", "bisimilar"))
        return Claim(source, target, None, 0)
    record(value, where, ("from", "to", "bisimilar", "formula", "depth"))
    depth = item(entry["depth"], where)
    if not _DEPTH.fullmatch(depth):
        raise MalformedCertificate(f"{where}: the depth is {shown(depth)}; expected a natural number")
    return Claim(source, target, item(entry["formula"], where), int(depth))


def _check_claims(automaton: Automaton, claims: list[Claim], classes: Any) -> None:
    reader = FormulaReader(automaton)
    stable = None
    for number, claim in enumerate(claims, 1):
        where = f"claim {number}"
        for name in (claim.source, claim.target):
            if name not in reader.number:
                raise RuleViolation(f"F4: {where} names {shown(name)}, which is no state")
        if claim.formula is not None:
            _check_formula(reader, claim, where)
            continue
        if stable is None:
            stable = _stable_classes(automaton, classes)
        if stable[claim.source] != stable[claim.target]:
            raise RuleViolation(f"F7: {where}: the states are in different classes")
    deep = [(claim, where) for where, claim in enumerate(claims, 1) if claim.formula is not None]
    _check_least(automaton, deep)


def _check_formula(reader: FormulaReader, claim: Claim, where: str) -> None:
    assert claim.formula is not None
    found = reader.read(claim.formula)
    if not found.members >> reader.number[claim.source] & 1:
        raise RuleViolation(f"F5: {where}: {shown(claim.source)} does not satisfy the formula")
    if found.members >> reader.number[claim.target] & 1:
        raise RuleViolation(f"F5: {where}: {shown(claim.target)} satisfies the formula as well")
    if found.depth != claim.depth:
        raise RuleViolation(f"F6: {where}: the depth of the formula is {found.depth}, not {claim.depth}")


def _check_least(automaton: Automaton, claims: list[tuple[Claim, int]]) -> None:
    """Check that one step less does not tell the states apart: so no formula of less depth does."""
    of: Classes = dict.fromkeys(automaton.states, 0)
    rows = _rows(automaton)
    for level in range(max((claim.depth for claim, _ in claims), default=0)):
        refined = _refined(automaton, rows, of)
        # Once nothing changes it never will: all claims of more depth are judged by the last classes.
        last = len(set(refined.values())) == len(set(of.values()))
        for claim, number in claims:
            if (claim.depth == level + 1 or (last and claim.depth > level)) and (
                of[claim.source] != of[claim.target]
            ):
                raise RuleViolation(f"F6: claim {number}: {level} steps tell the states apart already")
        if last:
            return
        of = refined


def _rows(automaton: Automaton) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {state: [] for state in automaton.states}
    for number, (source, _, _) in enumerate(automaton.transitions):
        rows[source].append(number)
    return rows


def _shown_steps(automaton: Automaton, numbers: list[int], of: Classes) -> Hashable:
    """Return the transitions of a state as they look when only classes of successors are seen."""
    result = set()
    for number in numbers:
        _, action, row = automaton.transitions[number]
        masses: dict[int, Fraction] = {}
        for target, p in row.items():
            masses[of[target]] = masses.get(of[target], Fraction(0)) + p
        result.add((action, frozenset(masses.items())))
    return frozenset(result)


def _refined(automaton: Automaton, rows: dict[str, list[int]], of: Classes) -> Classes:
    numbers: dict[Hashable, int] = {}
    return {
        state: numbers.setdefault(_shown_steps(automaton, rows[state], of), len(numbers))
        for state in automaton.states
    }


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
    rows = _rows(automaton)
    seen: dict[int, tuple[str, Hashable]] = {}
    for state, number in of.items():
        steps = _shown_steps(automaton, rows[state], of)
        other, expected = seen.setdefault(number, (state, steps))
        if steps != expected:
            raise RuleViolation(
                f"F7: {shown(other)} and {shown(state)} share a class, but not their transitions"
            )
    return of
