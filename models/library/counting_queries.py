"""Two counting queries in sequence, answered with truncated geometric noise, over two databases.

Source: CCP18 Example 6.
"""

from __future__ import annotations

from collections.abc import Mapping

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, shorten_rational, to_fmpq
from bisimdist.models.library.parameters import Choice, Example, Integer, Rational
from bisimdist.models.mechanisms.geometric import truncated_geometric
from bisimdist.models.pa import PA, Transition

CHANGES: Mapping[str, tuple[int, int]] = {"none": (0, 0), "first": (1, 0), "second": (0, 1), "both": (1, 1)}


def counting_queries(n: int = 4, ratio: ExactNumber = 2, changes: str = "both", count: int = 0) -> PA:
    r"""Return the automaton of two counting queries that are asked one after the other.

    A query (action ``query``) draws a noisy count from 0 to n, and the action ``out0``, ..., ``outn`` tells
    it. Both true counts are `count` in the database of s; in that of t the queries that `changes` names
    count one more, as they do if one record is added to which they apply.

    For neighbouring counts x and x + 1 the truncated mechanism of parameter 1/ratio gives each answer y with
    probabilities whose ratio is exactly :math:`e^\varepsilon` for y <= x and :math:`e^{-\varepsilon}` for
    y > x: the tails that are moved to the two ends keep it. So the multiplicative bisimilarity metric of the
    pair is :math:`0, \varepsilon, \varepsilon, 2\varepsilon` for the four scenarios, and so is the
    multiplicative total variation, which the sequences of two extreme answers attain.

    ``n``: the largest count; at least 1.
    ``ratio``: e^epsilon, the privacy of one query; more than 1.
    ``changes``: which queries the added record changes: ``none``, ``first``, ``second`` or ``both``.
    ``count``: the true count in the database of s, less than n.
    returns: fully probabilistic with the pair (s, t) and O(n) states, because what follows an answer depends
        on the second count alone, and what follows the last answer on nothing.
    Sources: CCP18, Example 6; Ghosh, Roughgarden, Sundararajan, "Universally utility-maximizing privacy
    mechanisms", STOC 2009.

    >>> len(counting_queries(n=50)), len(counting_queries(n=50, changes="first"))
    (158, 106)
    """
    if n < 1:
        raise UsageError(f"n is {n}; expected at least 1")
    budget = to_fmpq(ratio)
    if budget <= 1:
        raise UsageError(f"the ratio is {shorten_rational(budget)}; expected a number above 1")
    if changes not in CHANGES:
        raise UsageError(f"changes={changes!r} is not usable; expected {', '.join(CHANGES)}")
    if not 0 <= count < n:
        raise UsageError(f"the count is {count}; expected 0 to {n - 1}, because the other one is larger by 1")
    noise = truncated_geometric(1 / budget, n + 1)
    counts = {"s": (count, count), "t": (count + CHANGES[changes][0], count + CHANGES[changes][1])}
    answers = range(n + 1)
    seconds = sorted({later for _, later in counts.values()})
    states = (
        *counts,
        *(f"answer{i}_then{later}" for later in seconds for i in answers),
        *(f"second{later}" for later in seconds),
        *(f"answer{i}" for i in answers),
        "done",
    )
    position = {name: index for index, name in enumerate(states)}

    def drawn(source: str, true: int, suffix: str) -> Transition:
        row = tuple((position[f"answer{i}{suffix}"], noise[true][i]) for i in answers)
        return Transition(position[source], "query", row)

    def told(i: int, suffix: str, target: str) -> Transition:
        return Transition(position[f"answer{i}{suffix}"], f"out{i}", ((position[target], fmpq(1)),))

    steps = [drawn(start, now, f"_then{later}") for start, (now, later) in counts.items()]
    for later in seconds:
        steps += [told(i, f"_then{later}", f"second{later}") for i in answers]
    steps += [drawn(f"second{later}", later, "") for later in seconds]
    steps += [told(i, "", "done") for i in answers]
    return PA(states, tuple(steps), ((0, 1),))


EXAMPLE = Example(
    "counting-queries",
    "two counting queries in sequence with truncated geometric noise; a record changes some of them",
    (
        Integer("n", 4, 1, 500),
        Rational("ratio", fmpq(2), 1, 1000),
        Choice("changes", "both", tuple(CHANGES)),
        Integer("count", 0, 0, 499),
    ),
    counting_queries,
    papers=("CCP18 Example 6",),
)
