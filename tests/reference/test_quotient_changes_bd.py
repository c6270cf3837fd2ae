"""For alpha > 1, merging bisimilar states can lower bd_alpha.

Distance zero ties the potentials of two bisimilar states up to the factor alpha only; merging them ties
them exactly. So the distance of the quotient is another number (a valid bound of delta all the same, for
traces do not change), and the quotient is never taken silently.
"""

from __future__ import annotations

import pytest
from flint import fmpq

from bisimdist.models.lmc import LMC
from tests.reference.bd_oracle import is_fixed_point, one_direction
from tests.reference.kleene import iterate_below

ALPHA = fmpq(2)
STATES = {"s": "start", "t": "start", "i": "x", "k": "x", "k'": "x", "o": "y"}
LOOPS = {name: {name: 1} for name in ("i", "k", "k'", "o")}
MERGED_STATES = {"s": "start", "t": "start", "i": "x", "o": "y"}
MERGED_LOOPS = {name: {name: 1} for name in ("i", "o")}


@pytest.mark.parametrize("backend", ["simplex", "z3"])
def test_one_direction_falls_when_bisimilar_states_are_merged(backend: str) -> None:
    """f = 1 on i and k, 1/2 on k', 0 on o: allowed at distance zero, and worth 1 - 2 * 1/4."""
    lmc = LMC.from_mappings(STATES, {"s": {"i": "1/2", "k": "1/2"}, "t": {"k'": "1/2", "o": "1/2"}, **LOOPS})
    merged = LMC.from_mappings(MERGED_STATES, {"s": {"i": 1}, "t": {"i": "1/2", "o": "1/2"}, **MERGED_LOOPS})
    d = iterate_below(lmc, ALPHA, 10, bits=None)
    d_merged = iterate_below(merged, ALPHA, 10, bits=None)
    assert [d[2][3], d[2][4], d[3][4]] == [0, 0, 0]
    assert one_direction(lmc, ALPHA, d, 0, 1, backend) == fmpq(1, 2)
    assert one_direction(merged, ALPHA, d_merged, 0, 1, backend) == 0


@pytest.mark.parametrize("backend", ["simplex", "z3"])
def test_bd_itself_falls_when_bisimilar_states_are_merged(backend: str) -> None:
    lmc = LMC.from_mappings(
        STATES, {"s": {"i": "1/4", "k": "1/4", "o": "1/2"}, "t": {"k'": "1/4", "o": "3/4"}, **LOOPS}
    )
    merged = LMC.from_mappings(
        MERGED_STATES, {"s": {"i": "1/2", "o": "1/2"}, "t": {"i": "1/4", "o": "3/4"}, **MERGED_LOOPS}
    )
    for chain, expected in ((lmc, fmpq(1, 4)), (merged, fmpq(0))):
        d = iterate_below(chain, ALPHA, 10, bits=None)
        assert is_fixed_point(chain, ALPHA, d, backend)  # reached from below, so the least one
        assert d[0][1] == expected


def test_for_alpha_one_merging_changes_nothing() -> None:
    lmc = LMC.from_mappings(
        STATES, {"s": {"i": "1/4", "k": "1/4", "o": "1/2"}, "t": {"k'": "1/4", "o": "3/4"}, **LOOPS}
    )
    merged = LMC.from_mappings(
        MERGED_STATES, {"s": {"i": "1/2", "o": "1/2"}, "t": {"i": "1/4", "o": "3/4"}, **MERGED_LOOPS}
    )
    one = fmpq(1)
    values = [iterate_below(chain, one, 10, bits=None)[0][1] for chain in (lmc, merged)]
    assert values == [fmpq(1, 4), fmpq(1, 4)]
