"""Two small automata of which one may get stuck: the smallest case of a distance between formulae."""

from __future__ import annotations

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.library.parameters import Example, Rational
from bisimdist.models.pa import PA, Transition


def mimicking(stuck: ExactNumber = "1/2") -> PA:
    """Return two automata at additive distance lambda/2: after ``a``, one of them may be unable to do ``b``.

    From s the action ``a`` leads to s1 or s2, from t to t1; s1 and t1 can do ``b``, s2 cannot. With the
    discount lambda the additive bisimilarity metric of s and t is lambda times the probability of s2; the
    multiplicative one is infinite, because t1 never gets stuck and the function that is 1 on s2 and 0 on
    s1 and t1 is allowed.

    ``stuck``: the probability of s2, strictly between 0 and 1.
    returns: fully probabilistic, with the pair (s, t).
    Raises UsageError if the probability is out of range.

    >>> mimicking().transitions[0]
    Transition(source=0, action='a', row=((1, 1/2), (2, 1/2)))
    """
    missing = to_fmpq(stuck)
    if not 0 < missing < 1:
        raise UsageError(f"stuck is {missing}; expected a number strictly between 0 and 1")
    one = fmpq(1)
    return PA(
        ("s", "s1", "s2", "t", "t1", "done"),
        (
            Transition(0, "a", ((1, one - missing), (2, missing))),
            Transition(3, "a", ((4, one),)),
            Transition(1, "b", ((5, one),)),
            Transition(4, "b", ((5, one),)),
        ),
        ((0, 3),),
    )


EXAMPLE = Example(
    "mimicking",
    "two small automata, one of which may get stuck, at additive distance lambda/2 for the discount lambda",
    (Rational("stuck", fmpq(1, 2)),),
    mimicking,
)
