"""Checks certificates of kind ``distinguishing-formula``: states that a formula tells apart, or bisimilar.

The rules, with names F1 and so on, are those of ``docs/certificates/formulae.md``; why they prove what is
claimed is in ``docs/theory/logic.md``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from bisimdist.checker.core.automaton import About, Automaton, about_automaton
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.formula_states import FormulaReader
from bisimdist.checker.core.partition import Classes, Step, lumped, refinements, steps_of
from bisimdist.checker.core.reading import RuleViolation, item, shown
from bisimdist.checker.core.shape import Between, CheckReport, depth, either, flag, key, listed, raw


class Alike(Between):
    """Two states that are bisimilar."""

    bisimilar: bool = key(flag)


class Apart(Alike):
    """Two states, and the formula with its depth that tells them apart."""

    bisimilar: bool = key(flag)
    depth: int = key(depth)
    formula: str = key(item)


class _Document(About):
    claims: list[Alike] = key(
        listed(either(lambda claim: claim.get("bisimilar") is False, Apart, Alike), "claim")
    )
    classes: list[list[str]] | None = key(raw, default=None)


def check_document(document: dict[str, object], model: object | None) -> CheckReport:
    """Check a certificate of kind ``distinguishing-formula``."""
    whole = _Document.whole(document)
    said = [claim.data() for claim in counted(whole.claims)]
    return about_automaton(whole, model, ("F2", "F3"), said, lambda automaton: _check(automaton, whole))


def _check(automaton: Automaton, whole: _Document) -> None:
    reader = FormulaReader(automaton)
    stable = None
    for claim in counted(whole.claims):
        for name in (claim.source, claim.target):
            if name not in reader.number:
                raise RuleViolation(f"F4: {claim.where} names {shown(name)}, which is no state")
        if isinstance(claim, Apart):
            _check_formula(reader, claim)
            continue
        if stable is None:
            stable = _stable_classes(automaton, whole.classes)
        if stable[claim.source] != stable[claim.target]:
            raise RuleViolation(f"F7: {claim.where}: the states are in different classes")
    _check_least(automaton, [claim for claim in counted(whole.claims) if isinstance(claim, Apart)])


def _check_formula(reader: FormulaReader, claim: Apart) -> None:
    where, found = claim.where, reader.read(claim.formula)
    if not found.members >> reader.number[claim.source] & 1:
        raise RuleViolation(f"F5: {where}: {shown(claim.source)} does not satisfy the formula")
    if found.members >> reader.number[claim.target] & 1:
        raise RuleViolation(f"F5: {where}: {shown(claim.target)} satisfies the formula as well")
    if found.depth != claim.depth:
        raise RuleViolation(f"F6: {where}: the depth of the formula is {found.depth}, not {claim.depth}")


def _check_least(automaton: Automaton, claims: Sequence[Apart]) -> None:
    """Check that one step less does not tell the states apart: so no formula of less depth does."""
    steps = steps_of(automaton.states, automaton.transitions)
    rounds = refinements(automaton.states, steps.__getitem__, lumped)
    for level, of in counted(enumerate(rounds)):
        claims = [claim for claim in counted(claims) if claim.depth > level]
        if not claims:
            return
        for claim in counted(claims):
            if of[claim.source] != of[claim.target]:
                raise RuleViolation(f"F6: {claim.where}: {level} steps tell the states apart already")


def _stable_classes(automaton: Automaton, classes: object) -> Classes:
    """Return the classes of a certificate if all states of a class have the same transitions into classes."""
    if classes is None:
        raise RuleViolation("F7: states are claimed to be bisimilar, but there are no classes")
    of: Classes = {}
    for number, members in counted(enumerate(listed(listed(item))(classes, "the classes"))):
        for name in counted(members):
            if name in of:
                raise RuleViolation(f"F7: {shown(name)} is in two classes")
            of[name] = number
    if of.keys() != set(all_of(automaton.states)):
        raise RuleViolation("F7: the classes do not have exactly the states of the model")
    steps = steps_of(automaton.states, automaton.transitions)
    first: dict[int, str] = {}
    for state, number in counted(of.items()):
        other = first.setdefault(number, state)
        if _seen(steps[state], of) != _seen(steps[other], of):
            raise RuleViolation(
                f"F7: {shown(other)} and {shown(state)} share a class, but not their transitions"
            )
    return of


def _seen(steps: Sequence[Step], of: Classes) -> frozenset[Hashable]:
    """Return transitions as they look when only actions and masses on classes are seen."""
    return frozenset((action, frozenset(all_of(lumped(row, of).items()))) for action, row in counted(steps))
