"""Bounds by runs that are coupled step by step: never below the distance, and there where nothing else is."""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist import LMC, Deadline, LimitError, bound, delta
from bisimdist.distances.engine import lockstep
from bisimdist.distances.engine.lockstep import FEW, UNIT, coupling, lockstep_bounds
from tests.strategies import lmcs


def _all(chain: LMC) -> list[tuple[int, int]]:
    return [(s, t) for s in range(len(chain)) for t in range(len(chain))]


@given(lmcs())
def test_no_bound_is_below_the_distance(chain: LMC) -> None:
    found = lockstep_bounds(chain, _all(chain))
    names = [(chain.states[s], chain.states[t]) for s, t in _all(chain)]
    exact = bound(chain, 1, pairs=names).pairs
    for pair, known in zip(_all(chain), exact, strict=True):
        assert known.lower <= found[pair] <= 1
        if known.upper == 0:
            assert found[pair] == 0


@given(lmcs(), st.integers(1, 4))
def test_pairs_that_are_not_looked_at_count_as_different(chain: LMC, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lockstep, "MOST", most)
        few = lockstep_bounds(chain, _all(chain)[-1:])
    many = lockstep_bounds(chain, _all(chain)[-1:])
    (pair,) = few
    assert few[pair] + fmpq(1, 10**9) >= many[pair]


@given(lmcs(), st.data())
def test_couplings_move_all_of_both_rows_but_what_is_common(chain: LMC, data: st.DataObject) -> None:
    s, t = (data.draw(st.integers(0, len(chain) - 1)) for _ in range(2))
    alone, labels = range(len(chain)), tuple(chain.labels.index(x) for x in chain.labels)
    moved = coupling(chain.rows[s], chain.rows[t], labels)
    here, there = dict(chain.rows[s]), dict(chain.rows[t])
    for state in alone:
        common = min(here.get(state, fmpq(0)), there.get(state, fmpq(0)))
        assert sum((m for u, _, m in moved if u == state), common) == here.get(state, fmpq(0))
        assert sum((m for _, v, m in moved if v == state), common) <= there.get(state, fmpq(0))
    assert all(labels[u] == labels[v] for u, v, _ in moved if v >= 0)


def _walk(length: int) -> LMC:
    """Return two walks over many states that are noticed with chances 1/10 and 2/10 at their ends."""
    states, rows = {"seen": "x", "unseen": "y"}, {"seen": {"seen": 1}, "unseen": {"unseen": 1}}
    for side, chance in (("a", fmpq(1, 10)), ("b", fmpq(2, 10))):
        for k in range(length):
            states[f"{side}{k}"] = ""
            onward = f"{side}{k + 1}"
            rows[f"{side}{k}"] = {onward: fmpq(1, 2), f"{side}{k}": fmpq(1, 2)}
        rows[f"{side}{length - 1}"] = {"seen": chance, "unseen": 1 - chance}
    return LMC.from_mappings(states, rows, pairs=[("a0", "b0")])


def _ended(*_: object) -> None:
    raise LimitError("a limit ended the work")


def test_what_ends_early_says_how_likely_a_difference_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "FEW", 20)
    chain = _walk(40)
    monkeypatch.setattr("bisimdist.distances.bound.work.Work._of_bisimilar", _ended)
    for late in (bound(chain, "11/10"), delta(chain, 1, memory=1)):
        assert late.status.value == "limit"
        assert fmpq(1, 10) <= late.pairs[0].upper <= fmpq(1, 10) + fmpq(1, 10**9)
        assert "no certificate holds" in late.reason
    assert late.pairs[0].lower <= fmpq(1, 10)


def test_the_certificate_claims_no_more_than_it_proves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "FEW", 20)
    monkeypatch.setattr("bisimdist.distances.bound.work.Work._of_bisimilar", _ended)
    late = bound(_walk(40), 1)
    assert late.pairs[0].upper < 1
    claims: Any = late.certificate()["claims"]
    assert claims[0]["upper"] == "1"


def test_a_large_chain_without_time_is_left_alone() -> None:
    chain = _walk(FEW)
    assert lockstep_bounds(chain, [(2, 3)], deadline=Deadline.after(0)) == {}
    assert delta(chain, 1, deadline=Deadline.after(0)).pairs[0].upper == 1


def test_a_bad_guess_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "solve_float", lambda system: __import__("numpy").zeros(system.size))
    assert set(lockstep_bounds(_walk(3), [(2, 5)]).values()) == {fmpq(1)}
    assert UNIT == 1 << 64
