"""Checks certificates of kind ``trace-formulae``: formulae of the trace logic at a state.

The rules, with names W1 and so on, are those of ``docs/certificates/trace-formulae.md``.
"""

from __future__ import annotations

from fractions import Fraction

from bisimdist.checker.core.automaton import Automaton, about_automaton
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.ends import WithEnds, completed
from bisimdist.checker.core.formula_text import read_linear
from bisimdist.checker.core.partition import only_steps
from bisimdist.checker.core.reading import LOOK, RuleViolation, item, natural, rational, shown, spend
from bisimdist.checker.core.shape import CheckReport, Shape, depth, either, flag, key, listed, or_null, row
from bisimdist.checker.core.words import Masses, Steps


class Single(Shape):
    """Whether a state satisfies a formula, and the probability of its trace."""

    state: str = key(item)
    formula: str = key(item)
    probability: Fraction = key(rational)
    satisfied: bool = key(flag)


class Listing(Shape):
    """Traces of a state with their probabilities; the empty trace comes first and is not written.

    Each goes on from another one, said by its number, by an action.
    """

    state: str = key(item)
    depth: int | None = key(or_null(depth))
    traces: list[tuple[int, str, Fraction]] = key(listed(row(natural, item, rational)))
    complete: bool = key(flag)

    def __post_init__(self) -> None:
        """Demand that each goes on from one before."""
        for number, (before, _, _) in counted(enumerate(self.traces, 1)):
            natural(before, f"what trace {number} of {self.where} goes on from", number)


class _Document(WithEnds):
    claims: list[Single | Listing] = key(
        listed(either(lambda claim: "formula" in claim, Single, Listing), "claim")
    )


def check_document(document: dict[str, object], model: object | None) -> CheckReport:
    """Check a certificate of kind ``trace-formulae``."""
    whole = _Document.whole(document)

    def check(automaton: Automaton) -> None:
        steps = Steps(only_steps(completed(automaton, whole.ends).transitions, "W1"))
        states = set(all_of(automaton.states))
        for claim in counted(whole.claims):
            if claim.state not in states:
                raise RuleViolation(f"W4: {claim.where} names {shown(claim.state)}, which is no state")
            if isinstance(claim, Single):
                _check_single(steps, claim, claim.where)
            else:
                _check_listing(steps, claim, claim.where)

    return about_automaton(
        whole, model, ("W2", "W3"), (whole.said(c.data()) for c in counted(whole.claims)), check
    )


def _check_single(steps: Steps[str], claim: Single, where: str) -> None:
    number, trace = read_linear(claim.formula)
    if not steps.along(Masses({claim.state: 1}, 1), trace).are(claim.probability):
        raise RuleViolation(f"W5: {where}: this is not the probability of the trace")
    found = claim.probability
    if claim.satisfied != (found > 0 and (number is None or number == found)):
        raise RuleViolation(
            f"W5: {where}: {shown(claim.state)}"
            f" {'does not satisfy' if claim.satisfied else 'satisfies'} the formula"
        )


def _check_listing(steps: Steps[str], claim: Listing, where: str) -> None:
    """Go through the tree of the traces; each trace has its masses only as long as they are needed."""
    following: dict[int, dict[str, int]] = {}
    for number, (before, action, _) in counted(enumerate(claim.traces, 1)):
        below = following.setdefault(before, {})
        if action in below:
            raise RuleViolation(f"W6: {where}: trace {number} is listed twice")
        below[action] = number
    stack = [(0, 0, Masses({claim.state: 1}, 1))]
    while stack:
        spend(LOOK)
        here, length, masses = stack.pop()
        below_here = following.get(here, {})
        inside = claim.depth is None or length < claim.depth
        if below_here and not inside:
            raise RuleViolation(
                f"W6: {where}: trace {min(all_of(below_here.values()))} has more than {claim.depth} actions"
            )
        if not below_here and not (claim.complete and inside):
            continue
        possible = set(all_of(steps.possible(masses.parts)))
        for action, number in counted(below_here.items()):
            found = steps.along(masses, (action,))
            if not found.parts or not found.are(claim.traces[number - 1][2]):
                raise RuleViolation(f"W6: {where}: the probability of trace {number} is another one, or 0")
            stack.append((number, length + 1, found))
        if claim.complete and (more := possible - below_here.keys()):
            raise RuleViolation(
                f"W7: {where}: trace {here} goes on by {shown(min(all_of(more)))}, which is not listed"
            )
