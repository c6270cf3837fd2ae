"""What is asked of interactive models: what analysts gain, by brute force, by rounds, and by distances."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import fmpq

from bisimdist.distances.bound.ask import bound
from bisimdist.models.interactive import Interactive
from bisimdist.privacy.delta.ask import delta
from tests.campaign.desk import Desk, Question
from tests.reference.analysts import best_adaptive, best_fixed

__all__ = ["QUESTIONS"]

ROUNDS = 2
"""What every analyst is tried in."""


def _analysts(desk: Desk) -> None:
    model = desk.model
    assert isinstance(model, Interactive)
    ways: dict[str, dict[str, Any]] = {"in any rounds": {}, "fixed": {"rounds": ROUNDS, "fixed": True}} | {
        f"in {rounds} rounds": {"rounds": rounds} for rounds in range(ROUNDS + 2)
    }
    for name, options in ways.items():
        answer = delta(model, desk.alpha, **options, deadline=desk.deadline)
        desk.proved(answer)
        desk.note(name, answer.pairs[0].lower, answer.pairs[0].upper)
    for rounds in range(ROUNDS + 1):
        desk.ordered(f"in {rounds} rounds", f"in {rounds + 1} rounds")
    desk.ordered(f"in {ROUNDS + 1} rounds", "in any rounds")
    desk.ordered("fixed", f"in {ROUNDS} rounds")
    if not model.actions:
        return
    s, t = (model.states[k] for k in model.pairs[0])
    alpha = Fraction(str(desk.alpha))
    for name, best in (("fixed", best_fixed), (f"in {ROUNDS} rounds", best_adaptive)):
        value = max(best(model, *pair, alpha, ROUNDS) for pair in ((s, t), (t, s)))
        lower, upper = desk.known[name]
        assert lower is not None
        assert upper is not None
        desk.between(lower, fmpq(value.numerator, value.denominator), upper, f"{name}, by brute force")


def _distances(desk: Desk) -> None:
    assert isinstance(desk.model, Interactive)
    for kind in ("bd", "lbd"):
        answer = bound(desk.model, desk.alpha, distance=kind, deadline=desk.deadline)
        desk.proved(answer)
        desk.note(kind, answer.pairs[0].lower, answer.pairs[0].upper)
    desk.ordered("lbd", "bd")
    desk.ordered("in any rounds", "lbd")


KIND = ("interactive",)
QUESTIONS = (
    Question("analysts", KIND, 2, _analysts, "delta MODEL --alpha ALPHA --rounds 2"),
    Question("distances of analysts", KIND, 2, _distances, "bound MODEL --alpha ALPHA"),
)
