"""Checks certificates of kind ``trace-equivalence``: which states give all traces the same probability.

The rules, with names T1 and so on, are those of ``docs/certificates/trace-equivalence.md``; why they prove
what is claimed is in ``docs/theory/trace-logic.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bisimdist.checker.core.automaton import Automaton
from bisimdist.checker.core.automaton_document import judged, numbered_claims
from bisimdist.checker.core.ends import completed, said_of, with_ends
from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    item,
    items,
    rational,
    record,
    shown,
    strings,
    text_of,
)
from bisimdist.checker.core.steps import only_steps
from bisimdist.checker.core.words import Masses, WholeRow, whole_row

__all__ = ["check_document"]

Row = Mapping[str, Fraction]
ZERO = Fraction(0)


@dataclass(frozen=True)
class Claim:
    """Two states, and a trace with its two probabilities where they are not equivalent."""

    source: str
    target: str
    trace: tuple[str, ...] | None = None
    probabilities: tuple[Fraction, Fraction] = (ZERO, ZERO)

    def data(self) -> dict[str, object]:
        """Return the claim as plain data."""
        result: dict[str, object] = {
            "from": self.source,
            "to": self.target,
            "equivalent": self.trace is None,
        }
        if self.trace is not None:
            result["trace"] = list(self.trace)
            result["probabilities"] = [text_of(p) for p in self.probabilities]
        return result


@dataclass(frozen=True)
class Function:
    """A function on states, 0 at those that are not named, and its pivot."""

    pivot: str
    values: Row


def check_document(document: dict[str, object], model: object | None) -> OtherReport:
    """Check a certificate of kind ``trace-equivalence`` and, where it is given, that it is about this model.

    Raises
    ------
    MalformedCertificate
        If the document does not have the shape of such a certificate, or `model` not that of an automaton.
    """
    claims = [
        (where, _claim(value, where)) for where, value in numbered_claims(document, ("ends",), ("basis",))
    ]
    ends = with_ends(document)
    basis = [_function(value) for value in items(document["basis"], "the basis")]

    def check(automaton: Automaton) -> None:
        states = set(automaton.states)
        for name in (state for _, claim in claims for state in (claim.source, claim.target)):
            if name not in states:
                raise RuleViolation(f"T4: a claim names {shown(name)}, which is no state")
        _check(_Steps(completed(automaton, ends)), claims, basis)

    return judged(document, model, "T", (said_of(claim.data(), ends) for _, claim in claims), check)


def _claim(value: object, where: str) -> Claim:
    if not isinstance(value, dict) or not isinstance(value.get("equivalent"), bool):
        raise MalformedCertificate(f"{where} does not say whether its states are equivalent")
    if value["equivalent"]:
        entry = record(value, where, ("from", "to", "equivalent"))
        return Claim(item(entry["from"], where), item(entry["to"], where))
    entry = record(value, where, ("from", "to", "equivalent", "trace", "probabilities"))
    first, second = (
        rational(p, f"{where}: a probability") for p in strings(entry["probabilities"], where, 2)
    )
    trace = tuple(item(action, f"{where}: an action") for action in items(entry["trace"], where))
    return Claim(item(entry["from"], where), item(entry["to"], where), trace, (first, second))


def _function(value: object) -> Function:
    where = "a function of the basis"
    entry = record(value, where, ("pivot", "values"))
    if not isinstance(entry["values"], dict):
        raise MalformedCertificate(f"{where}: 'values' is not an object")
    values = {state: rational(x, where) for state, x in entry["values"].items()}
    return Function(item(entry["pivot"], where), values)


class _Steps:
    """The one transition of each state."""

    def __init__(self, automaton: Automaton) -> None:
        self.steps = only_steps(automaton.transitions, "T1")
        self.whole: dict[str, dict[str, WholeRow[str]]] = {}
        for source, (action, row) in self.steps.items():
            self.whole.setdefault(action, {})[source] = whole_row(row)

    def probability(self, state: str, trace: Iterable[str]) -> Fraction:
        masses = Masses.of({state: Fraction(1)})
        for action in trace:
            masses = masses.after(self.whole.get(action, {}).get)
        return masses.total()

    def reachable(self, starts: Iterable[str]) -> set[str]:
        found = set(starts)
        waiting = list(found)
        while waiting:
            for target in self.steps.get(waiting.pop(), ("", {}))[1]:
                if target not in found:
                    found.add(target)
                    waiting.append(target)
        return found


def _check(model: _Steps, claims: Sequence[tuple[str, Claim]], basis: Sequence[Function]) -> None:
    equivalent = []
    for number, claim in claims:
        where = f"{number}, [{shown(claim.source)}, {shown(claim.target)}]"
        if claim.trace is not None:
            found = tuple(model.probability(s, claim.trace) for s in (claim.source, claim.target))
            if found != claim.probabilities:
                raise RuleViolation(f"T5: {where}: these are not the probabilities of the trace")
            if found[0] == found[1]:
                raise RuleViolation(f"T5: {where}: the trace has the same probability from both states")
        elif claim.source != claim.target:
            equivalent.append((where, claim))
    _check_space(model, basis, model.reachable(s for _, c in equivalent for s in (c.source, c.target)))
    for where, claim in equivalent:
        for function in basis:
            if function.values.get(claim.source, ZERO) != function.values.get(claim.target, ZERO):
                raise RuleViolation(f"T7: {where}: the function of {shown(function.pivot)} tells them apart")


def _check_space(model: _Steps, basis: Sequence[Function], domain: set[str]) -> None:
    """Check that one step of the constant function and of each of the basis is a combination of the basis."""
    by_pivot: dict[str, Row] = {}
    for function in basis:
        if function.pivot in by_pivot:
            raise RuleViolation(f"T6: two functions have the pivot {shown(function.pivot)}")
        by_pivot[function.pivot] = {s: x for s, x in function.values.items() if s in domain}
    before: dict[str, list[tuple[str, Fraction]]] = {state: [] for state in domain}
    for source in domain:
        for target, p in model.steps.get(source, ("", {}))[1].items():
            before[target].append((source, p))
    constant = dict.fromkeys(domain, Fraction(1))
    for name, function_values in (("the constant function", constant), *by_pivot.items()):
        moved: dict[str, dict[str, Fraction]] = {}
        for target, x in function_values.items():
            for source, p in before[target]:
                part = moved.setdefault(model.steps[source][0], {})
                part[source] = part.get(source, ZERO) + p * x
        for action, part in moved.items():
            rest = dict(part)
            for pivot, factor in part.items():
                for state, x in by_pivot.get(pivot, {}).items():
                    rest[state] = rest.get(state, ZERO) - factor * x
            if any(rest.values()):
                raise RuleViolation(
                    f"T6: what {shown(action)} makes of {shown(name)} is no combination of the basis"
                )
