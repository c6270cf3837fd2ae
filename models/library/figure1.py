"""Two coins, each with the sides of the other: the first example of skewed bisimilarity distances.

Source: CMP18 Example 1, CMP18 Figure 1.
"""

from __future__ import annotations

from bisimdist.models.library.parameters import Example
from bisimdist.models.lmc import LMC


def figure1() -> LMC:
    """Return the chain of Example 1: s0 and s1 lead to s2 and s3 with 3/5 and 2/5, and the other way round.

    The true delta and bd_alpha of (s0, s1) are both max(0, 3/5 - alpha 2/5): 1/5 for alpha = 1, and 0 from
    alpha = 3/2 on.

    Source: CMP18, Example 1.

    >>> figure1().labels
    ('a', 'a', 'b', 'c')
    """
    return LMC.from_mappings(
        {"s0": "a", "s1": "a", "s2": "b", "s3": "c"},
        {
            "s0": {"s2": "3/5", "s3": "2/5"},
            "s1": {"s2": "2/5", "s3": "3/5"},
            "s2": {"s2": 1},
            "s3": {"s3": 1},
        },
        [("s0", "s1")],
    )


EXAMPLE = Example(
    "figure1",
    "two biased coins with their sides swapped, four states",
    (),
    figure1,
    papers=("CMP18 Figure 1", "CMP18 Example 1"),
)
