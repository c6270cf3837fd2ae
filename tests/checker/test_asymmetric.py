"""What the engine writes about lbd is accepted, and is what slow, independent computations say."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from bisimdist.checker import check_certificate
from bisimdist.distances.bound.ask import bound
from bisimdist.models.lmc import LMC
from tests.checker.brute import random_tiny


@pytest.mark.parametrize("seed", range(300, 330))
def test_certificates_of_the_engine(seed: int) -> None:
    chain = random_tiny(seed, ordered=True)
    truth = chain.distance()
    model = chain.model()
    lmc = LMC.from_mappings(model["states"], model["transitions"])
    for precision in (None, "1/1000"):
        answer = bound(
            lmc, str(chain.alpha), distance="lbd", pairs=chain.all_pairs(), precision=precision
        ).certificate()
        report = check_certificate(json.dumps(answer), json.dumps(model))
        assert report.reason == ""
        assert {(claim.source, claim.target) for claim in report.claims} == set(chain.all_pairs())
        for claim in report.claims:
            value = chain.at(truth, claim.source, claim.target)
            assert claim.distance == "lbd"
            assert claim.lower is not None
            assert claim.lower <= value <= claim.upper <= claim.lower + Fraction(precision or 0)
