"""Checks certificates of kind ``trace-formulae``: formulae of the trace logic at a state.

The rules, with names W1 and so on, are those of ``docs/certificates/trace-formulae.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.automaton import Automaton
from bisimdist.checker.core.automaton_document import judged, numbered_claims, read_depth_or_null
from bisimdist.checker.core.ends import completed, said_of, with_ends
from bisimdist.checker.core.formula_text import read_linear
from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    item,
    items,
    natural,
    rational,
    record,
    shown,
    text_of,
)
from bisimdist.checker.core.steps import only_steps
from bisimdist.checker.core.words import Masses, WholeRow, whole_row

__all__ = ["check_document"]


@dataclass(frozen=True)
class Single:
    """Whether a state satisfies a formula, and the probability of its trace."""

    state: str
    formula: str
    probability: Fraction
    satisfied: bool

    def data(self) -> dict[str, object]:
        """Return the claim as plain data."""
        return {
            "state": self.state,
            "formula": self.formula,
            "probability": text_of(self.probability),
            "satisfied": self.satisfied,
        }


@dataclass(frozen=True)
class Entry:
    """A trace that goes on from another one by an action, and its probability."""

    before: int
    action: str
    probability: Fraction


@dataclass(frozen=True)
class Listing:
    """Traces of a state with their probabilities; the empty trace comes first and is not written."""

    state: str
    depth: int | None
    entries: list[Entry]
    complete: bool

    def data(self) -> dict[str, object]:
        """Return the claim as plain data."""
        return {
            "state": self.state,
            "depth": None if self.depth is None else str(self.depth),
            "traces": [[e.before, e.action, text_of(e.probability)] for e in self.entries],
            "complete": self.complete,
        }


def check_document(document: dict[str, object], model: object | None) -> OtherReport:
    """Check a certificate of kind ``trace-formulae`` and, if given, that it is about this model.

    Raises
    ------
    MalformedCertificate
        If the document does not have the shape of such a certificate or takes too long to check, or `model`
        does not have that of an automaton.
    """
    claims = [(where, _claim(value, where)) for where, value in numbered_claims(document, ("ends",))]
    ends = with_ends(document)

    def check(automaton: Automaton) -> None:
        steps, states = _Steps(completed(automaton, ends)), set(automaton.states)
        for where, claim in claims:
            if claim.state not in states:
                raise RuleViolation(f"W4: {where} names {shown(claim.state)}, which is no state")
            if isinstance(claim, Single):
                _check_single(steps, claim, where)
            else:
                _check_listing(steps, claim, where)

    return judged(document, model, "W", (said_of(claim.data(), ends) for _, claim in claims), check)


def _claim(value: object, where: str) -> Single | Listing:
    if isinstance(value, dict) and "formula" in value:
        entry = record(value, where, ("state", "formula", "probability", "satisfied"))
        return Single(
            item(entry["state"], where),
            item(entry["formula"], where),
            rational(entry["probability"], f"{where}: the probability"),
            _truth(entry["satisfied"], where),
        )
    entry = record(value, where, ("state", "depth", "traces", "complete"))
    depth = read_depth_or_null(entry["depth"], where)
    traces = [_entry(e, n, where) for n, e in enumerate(items(entry["traces"], where), 1)]
    return Listing(item(entry["state"], where), depth, traces, _truth(entry["complete"], where))


def _truth(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise MalformedCertificate(f"{where} has {shown(value)} where true or false was expected")
    return value


def _entry(value: Any, number: int, where: str) -> Entry:
    place = f"{where}, trace {number}"
    if len(items(value, place)) != 3:
        raise MalformedCertificate(f"{place}: expected a number, an action and a probability")
    before, action, probability = value
    return Entry(
        natural(before, f"{place}: what it goes on from", number),
        item(action, place),
        rational(probability, place),
    )


NOTHING: Masses[str] = Masses({}, 1)


class _Steps:
    """The one transition of each state: its action, and its row over a common denominator."""

    def __init__(self, automaton: Automaton) -> None:
        self.action_of: dict[str, str] = {}
        self.rows: dict[str, dict[str, WholeRow[str]]] = {}
        for source, (action, row) in only_steps(automaton.transitions, "W1").items():
            if row:
                self.action_of[source] = action
                self.rows.setdefault(action, {})[source] = whole_row(row)

    def after(self, masses: Masses[str]) -> dict[str, Masses[str]]:
        """Return by action the masses after it; no action that has probability 0."""
        actions = {self.action_of[state] for state in masses.parts if state in self.action_of}
        return {action: masses.after(self.rows[action].get) for action in actions}


def _check_single(steps: _Steps, claim: Single, where: str) -> None:
    number, trace = read_linear(claim.formula)
    masses = Masses({claim.state: 1}, 1)
    for action in trace:
        masses = masses.after(steps.rows.get(action, {}).get)
    if not masses.are(claim.probability):
        raise RuleViolation(f"W5: {where}: this is not the probability of the trace")
    found = claim.probability
    if claim.satisfied != (found > 0 and (number is None or number == found)):
        raise RuleViolation(
            f"W5: {where}: {shown(claim.state)}"
            f" {'does not satisfy' if claim.satisfied else 'satisfies'} the formula"
        )


def _check_listing(steps: _Steps, claim: Listing, where: str) -> None:
    """Go through the tree of the traces; each trace has its masses only as long as they are needed."""
    following: dict[int, dict[str, int]] = {}
    for number, entry in enumerate(claim.entries, 1):
        below = following.setdefault(entry.before, {})
        if entry.action in below:
            raise RuleViolation(f"W6: {where}: trace {number} is listed twice")
        below[entry.action] = number
    stack = [(0, 0, Masses({claim.state: 1}, 1))]
    while stack:
        here, length, masses = stack.pop()
        listed = following.get(here, {})
        inside = claim.depth is None or length < claim.depth
        if listed and not inside:
            raise RuleViolation(
                f"W6: {where}: trace {min(listed.values())} has more than {claim.depth} actions"
            )
        if not listed and not (claim.complete and inside):
            continue
        after = steps.after(masses)
        for action, number in listed.items():
            found = after.pop(action, NOTHING)
            if not found.parts or not found.are(claim.entries[number - 1].probability):
                raise RuleViolation(f"W6: {where}: the probability of trace {number} is another one, or 0")
            stack.append((number, length + 1, found))
        if claim.complete and after:
            raise RuleViolation(
                f"W7: {where}: trace {here} goes on by {shown(min(after))}, which is not listed"
            )
