"""A slow and obvious reference: plain Python runs a function along every sequence of answers."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

__all__ = ["Branching", "distribution"]


class _More(BaseException):
    def __init__(self, weights: list[tuple[Any, Fraction]]) -> None:
        self.weights = weights


class Branching(random.Random):
    """A source that follows a script, and says what could come next where the script ends."""

    def __init__(self, script: list[Any]) -> None:
        self.script = script
        self.used = 0
        self.over: _More | None = None

    def _next(self, weights: list[tuple[Any, Fraction]]) -> Any:
        if self.used == len(self.script):
            self.over = self.over or _More(weights)  # what comes while the run is given up does not count
            raise self.over
        self.used += 1
        return self.script[self.used - 1]

    def _randbelow(self, n: int) -> Any:
        return self._next([(k, Fraction(1, n)) for k in range(n)])

    def getrandbits(self, k: int) -> Any:
        return self._next([(v, Fraction(1, 2**k)) for v in range(2**k)])

    def flip(self, p: Any) -> Any:
        return self._next([(True, Fraction(p)), (False, 1 - Fraction(p))])

    def pick(self, chances: dict[Any, Any]) -> Any:
        return self._next([(value, Fraction(p)) for value, p in chances.items()])


def distribution(
    function: Callable[..., Any], value: Any, *, most: int = 20_000
) -> dict[tuple[str, int], Fraction]:
    """Return the probability of every result (as text) with its number of draws."""
    found: dict[tuple[str, int], Fraction] = defaultdict(Fraction)
    work: list[tuple[list[Any], Fraction]] = [([], Fraction(1))]
    for _ in range(most):
        if not work:
            return dict(found)
        script, p = work.pop()
        source = Branching(script)
        try:
            text = repr(function(value(), source))
        except _More as more:
            work.extend(([*script, answer], p * share) for answer, share in more.weights if share)
            continue
        except Exception as error:
            text = f"raise {type(error).__name__}({', '.join(map(repr, error.args))})"
        found[text, source.used] += p
    raise AssertionError("too many paths")
