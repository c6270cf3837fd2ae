"""Checks certificates of kind ``trace-equivalence``: which states give all traces the same probability.

The rules, with names T1 and so on, are those of ``docs/certificates/trace-equivalence.md``; why they prove
what is claimed is in ``docs/theory/trace-logic.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from bisimdist.checker.core.automaton import Automaton, about_automaton
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.ends import WithEnds, completed
from bisimdist.checker.core.partition import Step, only_steps, reached
from bisimdist.checker.core.reading import RuleViolation, item, rational, shown
from bisimdist.checker.core.shape import Between, CheckReport, Shape, either, flag, key, listed, named, row
from bisimdist.checker.core.words import Masses, Steps

Row = Mapping[str, Fraction]
ZERO = Fraction(0)


class Alike(Between):
    """Two states that are equivalent."""

    equivalent: bool = key(flag)


class Apart(Alike):
    """Two states, and a trace with its two probabilities."""

    equivalent: bool = key(flag)
    trace: list[str] = key(listed(item))
    probabilities: tuple[Fraction, Fraction] = key(row(rational, rational))


class Function(Shape):
    """A function on states, 0 at those that are not named, and its pivot."""

    pivot: str = key(item)
    values: Row = key(named(rational))


class _Document(WithEnds):
    claims: list[Alike] = key(
        listed(either(lambda claim: claim.get("equivalent") is False, Apart, Alike), "claim")
    )
    basis: list[Function] = key(listed(Function.read))


def check_document(document: dict[str, object], model: object | None) -> CheckReport:
    """Check a certificate of kind ``trace-equivalence``."""
    whole = _Document.whole(document)

    def check(automaton: Automaton) -> None:
        states = set(all_of(automaton.states))
        for name in (state for claim in counted(whole.claims) for state in (claim.source, claim.target)):
            if name not in states:
                raise RuleViolation(f"T4: a claim names {shown(name)}, which is no state")
        _check(only_steps(completed(automaton, whole.ends).transitions, "T1"), whole.claims, whole.basis)

    return about_automaton(
        whole, model, ("T2", "T3"), (whole.said(c.data()) for c in counted(whole.claims)), check
    )


def _check(steps: Mapping[str, Step], claims: Sequence[Alike], basis: Sequence[Function]) -> None:
    words = Steps(steps)
    equivalent = []
    for claim in counted(claims):
        where = f"{claim.where}, [{shown(claim.source)}, {shown(claim.target)}]"
        if isinstance(claim, Apart):
            found = tuple(
                words.along(Masses({state: 1}, 1), claim.trace).total()
                for state in (claim.source, claim.target)
            )
            if found != claim.probabilities:
                raise RuleViolation(f"T5: {where}: these are not the probabilities of the trace")
            if found[0] == found[1]:
                raise RuleViolation(f"T5: {where}: the trace has the same probability from both states")
        elif claim.source != claim.target:
            equivalent.append((where, claim))
    starts = (state for _, claim in counted(equivalent) for state in (claim.source, claim.target))
    _check_space(steps, basis, reached(starts, lambda state: steps[state][1] if state in steps else ()))
    for where, claim in counted(equivalent):
        for function in counted(basis):
            if function.values.get(claim.source, ZERO) != function.values.get(claim.target, ZERO):
                raise RuleViolation(f"T7: {where}: the function of {shown(function.pivot)} tells them apart")


def _check_space(steps: Mapping[str, Step], basis: Sequence[Function], domain: Sequence[str]) -> None:
    """Check that one step of the constant function and of each of the basis is a combination of the basis."""
    by_pivot: dict[str, Row] = {}
    for function in counted(basis):
        if function.pivot in by_pivot:
            raise RuleViolation(f"T6: two functions have the pivot {shown(function.pivot)}")
        by_pivot[function.pivot] = {s: function.values[s] for s in counted(domain) if s in function.values}
    before: dict[str, list[tuple[str, Fraction]]] = {state: [] for state in counted(domain)}
    for source in counted(domain):
        for target, p in counted(steps.get(source, ("", {}))[1].items()):
            before[target].append((source, p))
    constant = dict.fromkeys(domain, Fraction(1))
    for name, function_values in counted((("the constant function", constant), *by_pivot.items())):
        moved: dict[str, dict[str, Fraction]] = {}
        for target, x in counted(function_values.items()):
            for source, p in counted(before[target]):
                part = moved.setdefault(steps[source][0], {})
                part[source] = part.get(source, ZERO) + p * x
        for action, part in counted(moved.items()):
            rest = dict(all_of(part))
            for pivot, factor in counted(part.items()):
                for state, x in counted(by_pivot.get(pivot, {}).items()):
                    rest[state] = rest.get(state, ZERO) - factor * x
            if any(all_of(rest.values())):
                raise RuleViolation(
                    f"T6: what {shown(action)} makes of {shown(name)} is no combination of the basis"
                )
