"""Divergences by two ways: their bounds overlap, and meet where the losses are finitely many."""

from __future__ import annotations

from flint import fmpq
from hypothesis import given, settings

from bisimdist.analysis.divergence_by_profile import by_profile
from bisimdist.analysis.leakage import leakage
from bisimdist.models.lmc import LMC
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


@settings(max_examples=40)
@given(chain=lmcs(6, cyclic=False))
def test_acyclic_chains(chain: LMC) -> None:
    overlap(chain, seconds=5, exact=True)


@settings(max_examples=8)
@given(chain=lmcs(4))
def test_cyclic_chains(chain: LMC) -> None:
    overlap(chain, seconds=0.3, exact=False)
