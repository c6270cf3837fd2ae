"""Divergences by two ways: their bounds overlap, and meet where the losses are finitely many."""

from __future__ import annotations

import math

from flint import fmpq
from hypothesis import given, settings

from bisimdist.models.lmc import LMC
from bisimdist.privacy.crosscheck.ask import crosscheck
from bisimdist.privacy.crosscheck.divergence_by_profile import by_profile
from bisimdist.privacy.leakage.ask import leakage
from bisimdist.progress import Deadline
from tests.strategies import lmcs


def overlap(chain: LMC, *, seconds: float, exact: bool) -> None:
    for measure, ways in zip(("chi2", "kl"), by_profile(chain, 0, 1), strict=True):
        answer = leakage(
            chain, measure, pairs=[("s0", "s1")], both=True, gap="1/1000", deadline=Deadline.after(seconds)
        )
        for found, (lower, upper) in zip(answer.pairs, ways, strict=True):
            assert upper is None or (found.lower is not None and found.lower <= upper)
            assert found.upper is None or (lower is not None and lower <= found.upper)
            if exact and found.lower is None:
                assert lower is None
            if exact and lower is not None:
                assert upper is not None
                assert upper - lower < fmpq(1, 10**30)


@settings(max_examples=20)
@given(chain=lmcs(6, cyclic=False))
def test_acyclic_chains(chain: LMC) -> None:
    overlap(chain, seconds=5, exact=True)


@settings(max_examples=8)
@given(chain=lmcs(4))
def test_cyclic_chains(chain: LMC) -> None:
    overlap(chain, seconds=0.3, exact=False)


def test_traces_of_a_length_one_by_one() -> None:
    chain = LMC.from_mappings(
        {"s": "a", "t": "a", "e": "b"},
        {"s": {"s": "1/2", "e": "1/2"}, "t": {"t": "1/3", "e": "2/3"}, "e": {"e": 1}},
        [("s", "t")],
    )
    stays, ends = (fmpq(1, 2), fmpq(1, 3)), (fmpq(1, 2), fmpq(2, 3))
    for length in range(1, 4):
        traces = [(stays[0] ** k * ends[0], stays[1] ** k * ends[1]) for k in range(length)]
        traces.append((stays[0] ** length, stays[1] ** length))
        expected = max(
            math.fsum(float(int(x.p) / int(x.q)) * math.log(int((x / y).p) / int((x / y).q)) for x, y in way)
            for way in (traces, [(y, x) for x, y in traces])
        )
        measures = {one.name: one for one in crosscheck(chain, length=length).pairs[0].measures}
        found = measures["kl_length"]
        assert found.lower is not None
        assert math.isclose(int(found.lower.p) / int(found.lower.q), expected, rel_tol=1e-12)
