"""k-ary randomised response: the truth, or any of the other answers with the same probability."""

from __future__ import annotations

from collections.abc import Mapping

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, shorten_rational, to_fmpq
from bisimdist.models.mechanisms.mechanism import Mechanism, Result


def randomised_response_mechanism(k: int, ratio: ExactNumber) -> Mechanism:
    """Return k-ary randomised response with the given ratio between truth and any other answer.

    ``ratio``: ``e**epsilon``, at least 1: the truth has probability ``ratio / (ratio + k - 1)``.
    Raises UsageError if there are fewer than two answers, or the ratio is below one.

    >>> randomised_response_mechanism(3, 2).answer(0)
    {'0': 1/2, '1': 1/4, '2': 1/4}
    """
    value = to_fmpq(ratio)
    if k < 2:
        raise UsageError(f"there are {k} answers; expected at least 2")
    if value < 1:
        raise UsageError(f"the ratio is {shorten_rational(value)}; expected a number of at least 1")
    total = value + k - 1

    def answer(result: Result) -> Mapping[str, fmpq]:
        if not isinstance(result, int) or not 0 <= result < k:
            raise UsageError(f"the query result is {result!r}; expected an integer from 0 to {k - 1}")
        return {str(y): (value if y == result else fmpq(1)) / total for y in range(k)}

    return Mechanism("k-ary randomised response", tuple(str(y) for y in range(k)), answer)
