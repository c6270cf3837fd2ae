"""Programs that are asked: an analyst chooses the next query after each answer.

Their input is the world, 0 or 1; a query is a pair of neighbouring results, of which the world takes its own.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any


def clipped(value: int, a: Fraction, levels: int, rng: Any) -> int:
    """Return a level with two-sided geometric noise that stays inside 0, …, levels - 1."""
    last = levels - 1
    inside = (1 - a) / (1 + a)
    chances = {z: (1 / (1 + a) if z in (0, last) else inside) * a ** abs(z - value) for z in range(levels)}
    found: int = rng.pick(chances)
    return found


def asked_above_threshold(world: int, rng: Any, analyst: Any, queries: int = 2, answers: int = 1) -> None:
    """Answer adaptive queries with results 0, 1, 2 above or below a noisy threshold, so many above.

    With noise of 1/4 on the threshold and 1/2 on each query, two queries leak 4/15 at alpha 1 and 13/90 at 2.
    """
    near = [(p, q) for p in range(3) for q in range(3) if abs(p - q) <= 1]
    level = clipped(1, Fraction(1, 4), 3, rng)
    for _ in range(queries):
        query = analyst.choose(near)
        above = clipped(query[world], Fraction(1, 2), 3, rng) >= level
        analyst.tell("above" if above else "below")
        answers -= above
        if answers == 0:
            return


def asked_responses(world: int, rng: Any, analyst: Any, rounds: int = 3) -> None:
    """Answer by randomised response, each time about neighbouring bits that the analyst chooses."""
    for _ in range(rounds):
        bits = analyst.choose([(0, 1), (1, 0)])
        analyst.tell(bits[world] if rng.flip("3/4") else 1 - bits[world])


def asked_odometer(world: int, rng: Any, analyst: Any, budget: int = 9, rounds: int = 3) -> int:
    """Answer with as much noise as the analyst likes, for as long as the product of ratios fits (a filter).

    A response of ratio r is the bit with probability r/(r + 1). What is spent is no secret: it depends on
    what was asked only. Whatever is asked, all answers together have a ratio of at most the budget.
    """
    spent = 1
    for _ in range(rounds):
        affordable = [ratio for ratio in (2, 3, 9) if spent * ratio <= budget]
        if not affordable:
            break
        ratio = analyst.choose(affordable)
        spent *= ratio
        analyst.tell(world if rng.flip(Fraction(ratio, ratio + 1)) else 1 - world)
    return spent
