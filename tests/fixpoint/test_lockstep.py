"""Bounds by runs that are coupled step by step: never below the distance, and there where nothing else is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist import LMC, Deadline, LimitError, bound, check_certificate, delta
from bisimdist.distances.bound.lockstep import lift, lockstep_certificate
from bisimdist.distances.engine import lockstep
from bisimdist.distances.engine.lockstep import FEW, UNIT, coupling, lockstep_bounds
from bisimdist.exact.rational import to_fmpq
from tests.strategies import lmcs


def _valid(document: object) -> bool:
    return check_certificate(json.dumps(document)).valid


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
        assert "two coupled runs ever differ" in late.reason
    assert late.pairs[0].lower <= fmpq(1, 10)


@given(lmcs(), st.sampled_from(["1", "3/2"]), st.sampled_from(["bd", "lbd"]))
def test_the_checker_takes_the_couplings_for_every_skew(chain: LMC, alpha: str, distance: str) -> None:
    found = lockstep.lockstep(chain, _all(chain))
    assert found is not None
    document = lockstep_certificate(found, distance, to_fmpq(alpha), _all(chain))
    assert _valid(document)
    claims: Any = document["claims"]
    assert [to_fmpq(claim["upper"]) for claim in claims] == list(found.bounds.values())


@given(lmcs())
def test_couplings_of_states_come_down_to_those_of_their_classes(chain: LMC) -> None:
    found = lockstep.lockstep(chain, _all(chain))
    assert found is not None
    for s, t in _all(chain):
        lifted = lift(found, s, t)
        for row, side, over in ((chain.rows[s], 0, lifted.left), (chain.rows[t], 1, lifted.missing)):
            for state, mass in row:
                moved = sum((m for pair, m in lifted.moves.items() if pair[side] == state), fmpq(0))
                assert moved + over.get(state, 0) <= mass
        total = sum(lifted.moves.values(), fmpq(0)) + sum(lifted.left.values(), fmpq(0))
        assert total == 1 - sum(min(dict(chain.rows[t]).get(u, fmpq(0)), m) for u, m in chain.rows[s])


def test_a_bound_that_is_lowered_is_not_valid() -> None:
    found = lockstep.lockstep(_walk(5), [(2, 7)])
    assert found is not None
    document: Any = lockstep_certificate(found, "bd", fmpq(1), [(2, 7)])
    assert _valid(document)
    for entry in document["upper"]["pairs"]:
        entry["value"] = str(int(entry["value"]) * 9 // 10)
    document["claims"][0]["upper"] = "9/100"
    assert not _valid(document)


def test_the_certificate_claims_the_bound_unless_it_is_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lockstep, "FEW", 20)
    monkeypatch.setattr("bisimdist.distances.bound.work.Work._of_bisimilar", _ended)
    for alpha in ("1", "11/10"):
        late = bound(_walk(40), alpha)
        document: Any = late.certificate()
        assert _valid(document)
        assert to_fmpq(document["claims"][0]["upper"]) == late.pairs[0].upper < 1
    monkeypatch.setattr("bisimdist.distances.bound.lockstep.MOST", 3)
    claims: Any = bound(_walk(40), 1).certificate()["claims"]
    assert claims[0]["upper"] == "1"


class _Looks(Deadline):
    """A deadline that passes after so many looks at it."""

    left_over = 0

    def passed(self) -> bool:
        _Looks.left_over -= 1
        return _Looks.left_over < 0

    def part(self, share: float) -> Deadline:
        del share
        return self


def test_the_time_is_looked_at_in_every_part() -> None:
    (known,) = lockstep_bounds(_walk(3), [(2, 5)]).values()
    found: list[fmpq] = []
    for looks in range(40):
        _Looks.left_over = looks
        found += lockstep_bounds(_walk(3), [(2, 5)], deadline=_Looks(1.0)).values()
    assert set(found) == {known, fmpq(1)}
    assert found[-1] == known < 1


def test_a_large_chain_without_time_is_left_alone() -> None:
    chain = _walk(FEW)
    assert lockstep_bounds(chain, [(2, 3)], deadline=Deadline.after(0)) == {}
    assert delta(chain, 1, deadline=Deadline.after(0)).pairs[0].upper == 1


def test_a_bad_guess_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "solve_float", lambda system: __import__("numpy").zeros(system.size))
    assert set(lockstep_bounds(_walk(3), [(2, 5)]).values()) == {fmpq(1)}
    assert UNIT == 1 << 64
