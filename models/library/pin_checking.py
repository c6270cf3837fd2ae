"""Checking a personal identification number: the probabilistic automaton that separates the two metrics.

Source: XCL14 Figure 1.
"""

from __future__ import annotations

from flint import fmpq

from bisimdist.models.library.parameters import Example
from bisimdist.models.pa import PA, Transition

_STATES = 8


def pin_checking() -> PA:
    """Return the automata A(u1) with states s1 to s8, A(u2) with states t1 to t8, and the pair (s1, t1).

    A user enters a password, and the system answers; ``a1`` is that the password entered is u1, ``a2`` that
    it is u2. The answer is random: ``ok`` (which leads to the state ``done``, where the run ends) has
    probability 3/5 and ``no`` 2/5 where the password is the secret, and the other way round where it is not.
    Refusals of the one password and then of the other tell nothing in the end: the two ratios cancel. The
    accumulative distance of the pair is infinite, the amortised one ln 9/4.

    Source: XCL14, Figure 1 and Examples 1 and 2.

    >>> len(pin_checking()), len(pin_checking().transitions)
    (17, 18)
    """
    low, high = fmpq(2, 5), fmpq(3, 5)
    names: list[str] = []
    steps: list[Transition] = []
    for letter, less, more in (("s", low, high), ("t", high, low)):
        base = len(names) - 1  # state 1 has the index base + 1
        names += [f"{letter}{number}" for number in range(1, _STATES + 1)]
        rows: tuple[tuple[int, str, dict[int, fmpq]], ...] = (
            (1, "a1", {2: less, 5: more}),
            (2, "no", {3: fmpq(1)}),
            (3, "a2", {4: more, 5: less}),
            (4, "no", {1: fmpq(1)}),
            (1, "a2", {6: more, 5: less}),
            (6, "no", {7: fmpq(1)}),
            (7, "a1", {8: less, 5: more}),
            (8, "no", {1: fmpq(1)}),
        )
        for source, action, row in rows:
            entries = tuple(sorted((base + target, p) for target, p in row.items()))
            steps.append(Transition(base + source, action, entries))
        steps.append(Transition(base + 5, "ok", ((2 * _STATES, fmpq(1)),)))
    return PA((*names, "done"), tuple(steps), ((0, _STATES),))


EXAMPLE = Example(
    "pin-checking",
    "a system that answers passwords at random; the amortised distance is finite, the accumulative not",
    (),
    pin_checking,
    papers=("XCL14 Figure 1", "XCL14 Example 1", "XCL14 Example 2"),
)
