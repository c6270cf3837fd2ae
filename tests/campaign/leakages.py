"""What is asked of leakages: divergences and vulnerabilities, from both sides and by two ways."""

from __future__ import annotations

from flint import fmpq

from bisimdist.faces.shown.answer import Status
from bisimdist.privacy.crosscheck.divergence_by_profile import by_profile
from bisimdist.privacy.leakage.ask import leakage
from bisimdist.progress import Deadline
from tests.campaign.chains import chain_of
from tests.campaign.desk import Desk, Question, Value

__all__ = ["QUESTIONS"]

MEASURES = ("tv", "chi2", "kl", "hellinger", "renyi:3", "bayes", "min-entropy")
WIDE, NARROW = fmpq(1, 4), fmpq(1, 200)
"""Gaps of the same question asked twice."""

LATE = 0.2
ITERATED = fmpq(1, 10**9)
SECONDS = 10.0
"""Those of an integral, which needs delta at every point of a grid."""


def _leakage(desk: Desk) -> None:
    """Bounds stand in order, are proved, and are no wider after more work.

    Where no time is left to solve equations bounds are iterated: only what is reached in time is compared.
    """
    chain = chain_of(desk)
    if chain is None:
        return
    measure = desk.source.choice(MEASURES)
    both = measure not in {"tv", "bayes", "min-entropy"}
    early, late = (
        leakage(chain, measure, both=both, gap=gap, deadline=Deadline.after(LATE)) for gap in (WIDE, NARROW)
    )
    for before, after in zip(early.pairs, late.pairs, strict=True):
        desk.at_most(before.lower, before.upper, measure)
        desk.at_most(after.lower, after.upper, measure)
        desk.at_most(before.lower, after.upper, f"{measure} asked twice")
        desk.at_most(after.lower, before.upper, f"{measure} asked twice")
        if Status.LIMIT not in {early.status, late.status}:
            desk.counts["leakages that close in time"] += 1
            desk.at_most(_less(before.lower), after.lower, f"{measure} from below, and after more work")
            desk.at_most(_less(after.upper), before.upper, f"{measure} from above, and after more work")
    desk.proved(desk.source.choice((early, late)), chain)


def _less(value: Value) -> Value:
    """Return a number without what an iteration may be away from the solution of its equations."""
    return None if value is None else value - ITERATED * (1 + abs(value))


def _by_profile(desk: Desk) -> None:
    """A divergence is an integral over delta in both directions."""
    chain = chain_of(desk)
    if chain is None:
        return
    ways = by_profile(chain, *chain.pairs[0], deadline=Deadline.after(SECONDS))
    for measure, integrals in zip(("chi2", "kl"), ways, strict=True):
        answer = leakage(chain, measure, both=True, deadline=Deadline.after(LATE))
        for found, (lower, upper) in zip(answer.pairs, integrals, strict=True):
            desk.at_most(found.lower, upper, f"{measure} and the integral from above")
            desk.at_most(lower, found.upper, f"the integral from below and {measure}")


CHAINS = ("lmc", "pa", "ccs")
QUESTIONS = (
    Question("leakage", CHAINS, 6, _leakage, "leakage MODEL --measure kl --both"),
    Question("leakage by profile", CHAINS, 20, _by_profile, "crosscheck MODEL"),
)
