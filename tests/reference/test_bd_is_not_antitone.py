"""bd_alpha can GROW with alpha: a detour multiplies what it carries by alpha at every state it passes.

Rounding alpha down stays sound for the privacy bound, because delta itself is antitone in alpha:
delta at e^epsilon <= delta at alpha <= bd_alpha for every alpha <= e^epsilon.
"""

from __future__ import annotations

import pytest
from flint import fmpq

from bisimdist.models.lmc import LMC
from tests.reference.acyclic_bd import acyclic_bd
from tests.reference.bd_oracle import is_fixed_point
from tests.reference.kleene import iterate_below

CHAIN = LMC.from_mappings(
    {"s": "b", "t": "b", "x": "a", "y": "a", "z": "a", "o": "b"},
    {
        "s": {"x": "1/5", "y": "4/15", "z": "4/15", "o": "4/15"},
        "t": {"y": 1},
        "x": {"o": "1/2", "z": "1/2"},
        "y": {"o": "2/3", "z": "1/3"},
        "z": {"z": 1},
        "o": {"o": 1},
    },
)
"""From z to y directly costs 2/3; through x, which is at distance 0 from y, it costs 1/2 + 0."""


@pytest.mark.parametrize(("alpha", "expected"), [(fmpq(2), fmpq(2, 5)), (fmpq(3), fmpq(11, 27))])
def test_larger_alpha_larger_distance(alpha: fmpq, expected: fmpq) -> None:
    d = iterate_below(CHAIN, alpha, 20, bits=None)
    assert is_fixed_point(CHAIN, alpha, d, "z3")
    assert d[0][1] == expected
    assert d[2][4] == fmpq(1, 2)
    assert d[3][4] == fmpq(2, 3)
    assert d[2][3] == 0
    assert acyclic_bd(CHAIN, alpha)[0, 1] == expected
