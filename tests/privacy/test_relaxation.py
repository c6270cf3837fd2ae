"""Chains in intervals with too many vertices: their bounds hold, and close."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist import IntervalChain, bound, delta, leakage
from bisimdist.checker import check_certificate
from bisimdist.distances.bound.work import Work
from bisimdist.errors import UsageError
from bisimdist.faces.shown.answer import Status
from bisimdist.models.intervals import filled, vertices
from bisimdist.models.worlds import NATURES
from tests.strategies import alphas, interval_chains

PAIRS = [("s0", "s1")]


@settings(max_examples=12)
@given(interval_chains(middle=3, cyclic=False), alphas())
def test_bounds_are_around_what_is_exact(chain: IntervalChain, alpha: fmpq) -> None:
    exact = {
        nature: (
            delta(chain, alpha, pairs=PAIRS, nature=nature).pairs[0],
            bound(chain, alpha, pairs=PAIRS, nature=nature).pairs[0],
        )
        for nature in NATURES
    }
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("bisimdist.models.intervals.MAX_CHOICES", 3)
        patched.setattr("bisimdist.models.intervals.FEW", 3)
        patched.setattr("bisimdist.models.worlds.FEW", 3)
        for nature, (true, distance) in exact.items():
            loose = delta(chain, alpha, pairs=PAIRS, nature=nature)
            assert loose.pairs[0].upper >= true.upper
            assert loose.pairs[0].lower <= true.upper
            far = bound(chain, alpha, pairs=PAIRS, nature=nature)
            assert far.pairs[0].lower <= distance.upper <= far.pairs[0].upper
            for answer in (loose, far):
                report = check_certificate(json.dumps(answer.certificate()))
                assert report.valid, report.reason


@settings(max_examples=12)
@given(interval_chains(middle=3, cyclic=False), st.sampled_from(["tv", "chi2", "kl", "hellinger", "bayes"]))
def test_leakages_are_around_what_is_exact(chain: IntervalChain, measure: str) -> None:
    exact = {nature: leakage(chain, measure, pairs=PAIRS, nature=nature).pairs[0] for nature in NATURES}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("bisimdist.models.intervals.MAX_CHOICES", 3)
        patched.setattr("bisimdist.models.intervals.FEW", 3)
        patched.setattr("bisimdist.models.worlds.FEW", 3)
        for nature, true in exact.items():
            answer = leakage(chain, measure, pairs=PAIRS, nature=nature)
            (loose,) = answer.pairs
            if loose.upper is not None:
                assert true.lower is not None and true.lower <= loose.upper
            if true.upper is not None:
                assert loose.lower is not None and loose.lower <= true.upper
            report = check_certificate(json.dumps(answer.certificate()))
            assert report.valid, report.reason


def test_lower_bounds_that_met_a_limit_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"o{k}" for k in range(16)]
    rows: dict[str, dict[str, object]] = {name: {name: 1} for name in names}
    rows |= {"s0": dict.fromkeys(names, (0, "1/8")), "s1": dict.fromkeys(names, ("1/20", "1/4"))}
    chain = IntervalChain.from_mappings({"s0": "a", "s1": "a"} | {name: name for name in names}, rows, PAIRS)
    run, worked = Work.run, []

    def unfinished(work: Work, *about: Any, **more: Any) -> Status:
        worked.append(run(work, *about, **more))
        return worked[-1] if len(worked) < 2 else Status.LIMIT

    found = bound(chain, "11/10")
    assert (found.status, found.pairs[0].exact) == (Status.BRACKET, False)
    monkeypatch.setattr(Work, "run", unfinished)
    assert (bound(chain, "11/10").status, len(worked)) == (Status.LIMIT, 2)


@given(interval_chains())
def test_what_is_picked_is_a_vertex(chain: IntervalChain) -> None:
    for row in chain.rows:
        assert filled(row, range(len(row))[::-1]) in vertices(row)


def test_sixteen_successors() -> None:
    names = [f"o{k}" for k in range(16)]
    ends: dict[str, dict[str, object]] = {name: {name: 1} for name in names}

    def row(first: int) -> dict[str, object]:
        shares = [fmpq(11 if (k + first) % 2 else 9, 160) for k in range(16)]
        return {name: (p - fmpq(1, 100), p + fmpq(1, 100)) for name, p in zip(names, shares, strict=True)}

    labels = {"s0": "a", "s1": "a", **{name: name for name in names}}
    chain = IntervalChain.from_mappings(labels, {"s0": row(0), "s1": row(1), **ends}, PAIRS)
    found = delta(chain, 1).pairs[0]
    assert found.exact
    assert found.upper == 8 * (fmpq(2, 160) + fmpq(2, 100))
    for nature in NATURES:
        (leaked,) = leakage(chain, "tv", nature=nature).pairs
        assert leaked.lower == leaked.upper == found.upper
    answer = leakage(chain, "chi2")
    document: Any = answer.certificate()
    assert answer.pairs[0].lower != answer.pairs[0].upper
    assert [claim["lower"] for claim in document["claims"]] == ["0"]
    assert check_certificate(json.dumps(document)).valid
    (guessed,) = leakage(chain, "bayes", secrets=["s0", "s1"]).pairs
    assert guessed.lower == guessed.upper == (1 + found.upper) / 2


def test_pairs_of_the_chain_and_clusters() -> None:
    names = [f"o{k}" for k in range(16)]
    rows: dict[str, dict[str, object]] = {name: {name: 1} for name in names}
    rows["s0"] = rows["s1"] = dict.fromkeys(names, (0, "1/8"))
    labels = {"s0": "a", "s1": "a", **dict.fromkeys(names, "b")}
    chain = IntervalChain.from_mappings(labels, rows, PAIRS)
    assert chain.relaxed() is not chain
    assert bound(chain, 1).pairs == bound(chain, 1, pairs=PAIRS).pairs
    with pytest.raises(UsageError, match="no such cluster: nowhere"):
        bound(chain, 1, cluster="nowhere")
