"""The truncated geometric mechanism: two-sided geometric noise whose tails sit on the two ends."""

from __future__ import annotations

from collections.abc import Mapping

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, shorten_rational, to_fmpq
from bisimdist.models.mechanisms.mechanism import Mechanism, Result


def truncated_geometric(alpha: ExactNumber, levels: int) -> tuple[tuple[fmpq, ...], ...]:
    r"""Return the truncated alpha-geometric mechanism on 0, 1, …, levels - 1 as a matrix.

    Untruncated noise adds :math:`k` with probability :math:`\frac{1-\alpha}{1+\alpha}\alpha^{|k|}`; whatever
    falls beyond an end is answered as that end. A statement about this mechanism says nothing about the
    untruncated or the continuous one.

    ``alpha``: in (0, 1): the ratio of the probabilities of neighbouring answers, ``e**-epsilon``.
    ``levels``: how many values there are; at least 2.
    returns: for each true value the probabilities of the answers.
    Raises UsageError if alpha is not strictly between 0 and 1, or there are fewer than two values.
    Sources: Ghosh, Roughgarden, Sundararajan, "Universally utility-maximizing privacy mechanisms", STOC 2009;
    LWZ22, Figure 1.

    >>> truncated_geometric("1/2", 3)
    ((2/3, 1/6, 1/6), (1/3, 1/3, 1/3), (1/6, 1/6, 2/3))
    """
    ratio = to_fmpq(alpha)
    if not 0 < ratio < 1:
        raise UsageError(f"alpha is {shorten_rational(ratio)}; expected a number strictly between 0 and 1")
    if levels < 2:
        raise UsageError(f"there are {levels} levels; expected at least 2")
    end, middle = 1 / (1 + ratio), (1 - ratio) / (1 + ratio)
    return tuple(
        tuple((end if y in {0, levels - 1} else middle) * ratio ** abs(x - y) for y in range(levels))
        for x in range(levels)
    )


def geometric_mechanism(alpha: ExactNumber, levels: int) -> Mechanism:
    """Return the truncated geometric mechanism for a count from 0 to levels - 1 (see `truncated_geometric`).

    >>> geometric_mechanism("1/2", 3).answer(1)
    {'0': 1/3, '1': 1/3, '2': 1/3}
    """
    matrix = truncated_geometric(alpha, levels)

    def answer(result: Result) -> Mapping[str, fmpq]:
        if not isinstance(result, int) or not 0 <= result < levels:
            raise UsageError(f"the query result is {result!r}; expected an integer from 0 to {levels - 1}")
        return {str(y): p for y, p in enumerate(matrix[result])}

    return Mechanism("truncated geometric", tuple(str(y) for y in range(levels)), answer)
