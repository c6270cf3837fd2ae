"""A state with three transitions of one action, and the mimicking formula of it.

Source: CCP18 Figure 2.
"""

from __future__ import annotations

from bisimdist.exact.rational import ExactNumber
from bisimdist.models.library.parameters import Example
from bisimdist.models.pa import PA


def figure2() -> PA:
    """Return the automaton of CCP18, Figure 2, as its text describes the state s.

    From s the action ``a`` leads to s1, to s2 or s3 with 1/2 each, or to s4; s1 does ``b``, s2 ``b`` or
    ``c``, s3 and s4 ``c``. The drawing has another state t at distance lambda/2 for the discount lambda, of
    which the text says no more; here it lacks the transition in the middle, and is at that distance.

    Source: CCP18, Example 5 and Figure 2.

    >>> len(figure2()), len(figure2().transitions)
    (7, 10)
    """
    moves: list[tuple[str, str, dict[str, ExactNumber]]] = [
        ("s", "a", {"s1": 1}),
        ("s", "a", {"s2": "1/2", "s3": "1/2"}),
        ("s", "a", {"s4": 1}),
        ("t", "a", {"s1": 1}),
        ("t", "a", {"s4": 1}),
        ("s1", "b", {"nil": 1}),
        ("s2", "b", {"nil": 1}),
        ("s2", "c", {"nil": 1}),
        ("s3", "c", {"nil": 1}),
        ("s4", "c", {"nil": 1}),
    ]
    return PA.from_mappings(["s", "s1", "s2", "s3", "s4", "t", "nil"], moves, [("s", "t")])


EXAMPLE = Example(
    "figure2",
    "a state with three transitions of one action, and one that lacks the transition in the middle",
    (),
    figure2,
    papers=("CCP18 Figure 2", "CCP18 Example 5"),
)
