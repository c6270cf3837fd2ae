"""A mechanism that answers once: for each query result the exact distribution of its answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from flint import fmpq

Result: TypeAlias = Hashable  # what a query returns: a number, a text, or a tuple of them


def result_name(result: Result) -> str:
    """Return what a state for a query result is called.

    >>> result_name((0, 2, 1)), result_name(3)
    ('0,2,1', '3')
    """
    return ",".join(str(part) for part in result) if isinstance(result, tuple) else str(result)


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A mechanism that answers once."""

    name: str
    answers: tuple[str, ...]  # every answer that it may give, by name
    # returns for a query result the distribution of the answer; zero entries may be left out. Raises
    # UsageError for a result that it does not take.
    answer: Callable[[Result], Mapping[str, fmpq]]

    def rows(self, results: Iterable[Result]) -> dict[str, dict[str, fmpq]]:
        """Return the distributions of several results, by the name of the result."""
        return {result_name(result): dict(self.answer(result)) for result in results}
