"""What the two questions about a distance take: epsilon in place of alpha; both directions in the answer."""

from __future__ import annotations

from typing import Any

import pytest

from bisimdist.analysis.compare import compare
from bisimdist.analysis.distances import bd_threshold, bound
from bisimdist.errors import UsageError
from bisimdist.exact.logarithm import alpha_below
from bisimdist.models.library.random_chain import random_lmc

CHAIN = random_lmc(8, 3, 3, 1)


def test_epsilon_stands_for_alpha_rounded_down() -> None:
    below = alpha_below("1/10")
    asked = bound(CHAIN, epsilon="1/10", pairs=[("s0", "s1")])
    assert asked == bound(CHAIN, below, pairs=[("s0", "s1")])
    assert asked.alpha == below
    decided = bd_threshold(CHAIN, None, "s0", "s1", 1, epsilon="1/10")
    assert (decided.alpha, decided.holds) == (below, True)
    wrong: list[dict[str, Any]] = [{}, {"alpha": 2, "epsilon": 1}]
    for arguments in wrong:
        with pytest.raises(UsageError, match="one of alpha and epsilon"):
            bound(CHAIN, **arguments)


def test_both_directions_of_an_asymmetric_distance() -> None:
    asked = [("s0", "s1"), ("s1", "s0"), ("s0", "s2")]
    there, back, other = bound(CHAIN, "11/10", distance="lbd", pairs=asked).pairs
    assert there.directions is not None
    assert back.directions == there.directions[::-1]
    compared = compare(CHAIN, "11/10", pairs=asked)
    for pair, comparison in zip((there, back, other), compared, strict=True):
        (measure,) = (m for m in comparison.measures if m.name == "lbd")
        assert pair.directions == measure.directions
        assert pair.directions is not None
        assert pair.lower == max(low for low, _ in pair.directions)
        assert pair.upper == max(high for _, high in pair.directions)
    assert bound(CHAIN, "11/10", pairs=asked).pairs[0].directions is None
