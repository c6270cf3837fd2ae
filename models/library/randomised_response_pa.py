"""Randomised response with two coins, as an automaton whose coins are tossed in silence.

Source: CCP18 Figure 1.
"""

from __future__ import annotations

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.library.parameters import Example, Rational
from bisimdist.models.pa import PA, Transition

_STATES = ("s_y", "s_n", "heads_y", "heads_n", "tails", "yes", "no", "done")


def randomised_response_automaton(p: ExactNumber = "1/2", q: ExactNumber = "1/2") -> PA:
    r"""Return the automaton of a person who tosses a coin, and a second one unless the first shows heads.

    On heads the answer is true, on tails the second coin gives it. Tossing and looking are silent (``tau``);
    what is seen is ``yes`` or ``no``. In ``s_y`` the true answer is yes, in ``s_n`` it is no.

    The multiplicative total variation of the pair is :math:`\ln\max\bigl(\frac{p + (1-p) q}{(1-p) q},
    \frac{1 - (1-p) q}{(1-p)(1-q)}\bigr)`, which is ln 3 for fair coins: a true yes is answered with yes with
    probability 3/4, a true no with 1/4. The multiplicative bisimilarity metric is infinite all the same: it
    compares the states after the first toss, and the one after heads excludes an answer that all others of
    the other side allow.

    ``p``: the probability of heads, in [0, 1].
    ``q``: the probability that the second coin says yes, in [0, 1].
    returns: fully probabilistic, with the pair (s_y, s_n).
    Source: CCP18, Figure 1.

    >>> automaton = randomised_response_automaton()
    >>> automaton.transitions[0]
    Transition(source=0, action='tau', row=((2, 1/2), (4, 1/2)))
    """
    heads, yes = to_fmpq(p), to_fmpq(q)
    for name, value in (("p", heads), ("q", yes)):
        if not 0 <= value <= 1:
            raise UsageError(f"{name} is {value}; expected a number in [0, 1]")
    rows: tuple[tuple[str, str, dict[str, fmpq]], ...] = (
        ("s_y", "tau", {"heads_y": heads, "tails": 1 - heads}),
        ("s_n", "tau", {"heads_n": heads, "tails": 1 - heads}),
        ("heads_y", "tau", {"yes": fmpq(1)}),
        ("heads_n", "tau", {"no": fmpq(1)}),
        ("tails", "tau", {"yes": yes, "no": 1 - yes}),
        ("yes", "yes", {"done": fmpq(1)}),
        ("no", "no", {"done": fmpq(1)}),
    )
    steps = tuple(
        Transition(
            _STATES.index(source), action, tuple((_STATES.index(t), mass) for t, mass in row.items() if mass)
        )
        for source, action, row in rows
    )
    return PA(_STATES, steps, ((0, 1),))


EXAMPLE = Example(
    "randomised-response-pa",
    "a true answer on heads, the answer of a second coin on tails, with silent tosses, as an automaton",
    (Rational("p", fmpq(1, 2)), Rational("q", fmpq(1, 2))),
    randomised_response_automaton,
    papers=("CCP18 Figure 1", "CCP18 Example 1"),
)
