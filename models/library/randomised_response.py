"""Randomised response: an answer that is true only with some probability, asked once or several times."""

from __future__ import annotations

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.library.parameters import Example, Integer, Rational
from bisimdist.models.lmc import LMC


def randomised_response(k: int = 2, p: ExactNumber = "3/4", rounds: int = 1) -> LMC:
    r"""Return the chain of a person who is asked a question with k answers, perhaps repeatedly.

    Each time the true answer is given with probability p and each other one with q = (1 - p)/(k - 1). The
    chain starts in ``true0``, …, ``true{k-1}`` (label ``start``); the label of each later state is the
    answer that has been given. After the last answer the truth is forgotten and the run stays where it is.

    Asked once, bd_alpha is the true delta, and both are

    .. math:: \max(p - \alpha q,\; q - \alpha p,\; 0).

    Asked r times, a of which give the answer 0, b the answer 1, and c another one,

    .. math:: \delta = \sum_{a+b+c=r} \frac{r!}{a!\,b!\,c!} (k-2)^c q^c \max(p^a q^b - \alpha q^a p^b, 0).

    ``rounds``: how often the question is asked; at least 1.
    returns: with the pair (true0, true1); the others are alike.
    Source: Warner65.

    >>> randomised_response(2, "3/4").states
    ('true0', 'true1', 'answer0', 'answer1')
    """
    truth = to_fmpq(p)
    if k < 2:
        raise UsageError(f"there are {k} answers; expected at least 2")
    if rounds < 1:
        raise UsageError(f"the question is asked {rounds} times; expected at least once")
    if not 0 <= truth <= 1:
        raise UsageError(f"the probability of the truth is {truth}; expected a number in [0, 1]")
    lie = (1 - truth) / (k - 1)

    def name(true: int, asked: int, answer: int) -> str:
        return f"answer{answer}" if asked == rounds else f"true{true}_round{asked}_answer{answer}"

    states: dict[str, str] = {f"true{true}": "start" for true in range(k)}
    transitions: dict[str, dict[str, fmpq]] = {}
    for asked in range(1, rounds + 1):
        for true in range(k):
            row = {name(true, asked, answer): truth if answer == true else lie for answer in range(k)}
            states |= {state: f"answer{answer}" for answer, state in enumerate(row)}
            sources = (
                [f"true{true}"] if asked == 1 else [name(true, asked - 1, answer) for answer in range(k)]
            )
            transitions |= dict.fromkeys(sources, row)
    transitions |= {f"answer{answer}": {f"answer{answer}": fmpq(1)} for answer in range(k)}
    return LMC.from_mappings(states, transitions, [("true0", "true1")])


EXAMPLE = Example(
    "randomised-response",
    "a question with k answers, answered truthfully with probability p",
    (Integer("k", 2, 2, 50), Rational("p", fmpq(3, 4)), Integer("rounds", 1, 1, 20)),
    randomised_response,
)
