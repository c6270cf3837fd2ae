"""A cyclic chain: a protocol that is repeated until it succeeds, and how often tells something."""

from __future__ import annotations

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.library.parameters import Example, Rational
from bisimdist.models.lmc import LMC


def leaky_retry(p: ExactNumber = "1/2", q: ExactNumber = "51/100") -> LMC:
    r"""Return the chain of a protocol that is repeated until it succeeds, more often for one secret.

    For secret 0 each attempt succeeds with probability p, for secret 1 with probability q. An observer sees
    each attempt and the success, hence the number of attempts. The example is small enough for pencil and
    paper, and its distance depends on itself, as in every cyclic chain.

    For alpha = 1 and p < q the distance is the least solution of d = (q - p) + (1 - q) d, which is (q - p)/q.
    The true delta is, for every alpha, the larger of the two directions of

    .. math:: \sum_{i \ge 0} \max\bigl((1-p)^i p - \alpha (1-q)^i q,\; 0\bigr).

    ``p``, ``q``: the probabilities of success, in [0, 1].
    returns: with the states ``secret0``, ``secret1`` and ``done``, and the pair (secret0, secret1).
    Raises UsageError if a probability is not in [0, 1].

    >>> leaky_retry().labels
    ('attempt', 'attempt', 'success')
    """
    chances = {"secret0": to_fmpq(p), "secret1": to_fmpq(q)}
    for name, chance in chances.items():
        if not 0 <= chance <= 1:
            raise UsageError(f"the probability of success of {name} is {chance}; expected one in [0, 1]")
    return LMC.from_mappings(
        {"secret0": "attempt", "secret1": "attempt", "done": "success"},
        {name: {name: 1 - chance, "done": chance} for name, chance in chances.items()}
        | {"done": {"done": 1}},
        [("secret0", "secret1")],
    )


EXAMPLE = Example(
    "leaky-retry",
    "a protocol repeated until it succeeds, cyclic; the number of attempts leaks a secret bit",
    (Rational("p", fmpq(1, 2)), Rational("q", fmpq(51, 100))),
    leaky_retry,
)
