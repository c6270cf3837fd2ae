"""Brackets from flat tables: they enclose the exact answers, and couplings and potentials prove them."""

import json
from collections import Counter
from itertools import combinations, permutations
from math import isqrt
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from flint import fmpq
from hypothesis import event, given, settings
from hypothesis import strategies as st

from bisimdist.checker import check_certificate
from bisimdist.distances.bound import work
from bisimdist.distances.bound.ask import bound
from bisimdist.distances.engine import flat_code as codes
from bisimdist.distances.engine import flat_engine, flat_layout, flat_sweeps
from bisimdist.distances.engine.flat_code import flat_code
from bisimdist.distances.engine.flat_engine import FlatTables, FlatWork, NoBracketError, flat_tables
from bisimdist.distances.engine.flat_layout import Layout
from bisimdist.errors import LimitError
from bisimdist.faces.shown.answer import Status
from bisimdist.models.interactive import Interactive, System
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from bisimdist.progress import Deadline
from tests.strategies import alphas, interactives, interval_chains, lmcs

WIDTH = fmpq(1, 10**9)

INTERPRETED = SimpleNamespace(**vars(flat_sweeps))


def _tables(model: LMC, alpha: fmpq, width: fmpq = WIDTH) -> FlatTables | None:
    asked = tuple(combinations(range(len(model.states)), 2))
    layout = Layout.of(model, alpha, asked)
    return None if layout is None else flat_tables(model, alpha, asked, layout, width)


def _encloses(model: LMC, alpha: fmpq) -> bool:
    """Hold the tables against the exact distances; tell whether there are any."""
    try:
        tables = _tables(model, alpha)
    except NoBracketError as error:
        event(str(error))
        return False
    if tables is None:
        return False
    exact = bound(model, alpha, pairs=list(combinations(model.states, 2)))
    assert exact.status is Status.EXACT
    for pair in exact.pairs:
        lower, upper = tables.bounds((model.index(pair.source), model.index(pair.target)))
        assert lower <= pair.upper <= upper <= lower + WIDTH
    proof = tables.in_detail()  # by the other kernel, in integers
    assert all(proof.bounds(pair) == tables.bounds(pair) for pair in tables.asked)
    return True


@given(lmcs(8, max_labels=3, max_successors=5), alphas())
def test_tables_enclose_the_exact_distances(model: LMC, alpha: fmpq) -> None:
    _encloses(model, alpha)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=1000)
@given(lmcs(12, max_labels=3, max_successors=6), alphas())
def test_tables_enclose_the_exact_distances_of_a_thousand_chains(model: LMC, alpha: fmpq) -> None:
    _encloses(model, alpha)


def _brackets_hold(model: System | IntervalChain, alpha: fmpq, distance: str) -> bool:
    """Hold brackets, with their certificate, against the exact answers; tell whether they are flat tables."""
    pairs = list(combinations(model.states, 2))
    found, exact = (bound(model, alpha, pairs=pairs, precision=w, distance=distance) for w in (WIDTH, None))
    assert exact.status is Status.EXACT or isinstance(model, IntervalChain)
    for near, known in zip(found.pairs, exact.pairs, strict=True):
        assert near.lower <= known.lower <= known.upper <= near.upper <= near.lower + WIDTH
        for (low, high), (least, most) in zip(near.directions or (), known.directions or (), strict=True):
            assert low <= least <= most <= high <= low + WIDTH
    assert check_certificate(json.dumps(found.certificate())).valid
    return "programs" not in found.statistics


@settings(max_examples=30)
@given(
    st.one_of(lmcs(7, max_labels=2, max_successors=4), interactives(), interval_chains()),
    alphas(),
    st.sampled_from(["bd", "lbd"]),
)
def test_brackets_of_every_question_enclose_its_exact_answer(
    model: System | IntervalChain, alpha: fmpq, distance: str
) -> None:
    event(f"{type(model).__name__} {distance} {_brackets_hold(model, alpha, distance)}")


def _flat_chains(seeds: range) -> int:
    """Return of how many small random chains the brackets, which have to hold, come from flat tables."""
    return sum(
        _brackets_hold(
            random_lmc(5 + seed // 16 % 8, 2 + seed // 4 % 4, 2 + seed // 3 % 3, seed),
            (fmpq(1), fmpq(21, 20), fmpq(3, 2), fmpq(2))[seed % 4],
            "bd",
        )
        for seed in seeds
    )


def test_brackets_of_small_chains_enclose_the_exact_answers() -> None:
    assert _flat_chains(range(40)) >= 30


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_brackets_of_a_thousand_small_chains_enclose_the_exact_answers() -> None:
    assert _flat_chains(range(1000)) >= 800


@pytest.mark.parametrize(
    ("made", "deadline", "interpreted"),
    [(False, 1, True), (False, 3600, False), (False, None, False), (True, 1, False)],
)
def test_in_haste_no_machine_code_is_made_for_little_work(
    monkeypatch: pytest.MonkeyPatch, made: bool, deadline: float | None, interpreted: bool
) -> None:
    layout = Layout.of(random_lmc(8, 2, 2, 1), fmpq(6, 5), tuple(permutations(range(8), 2)), ordered=True)
    assert layout is not None
    monkeypatch.setattr(codes, "_made", lambda simple: made)
    monkeypatch.setattr(codes, "_seen", Counter({True: 10**9, False: 10**9}))
    code = codes.code_for(layout, Deadline.after(deadline))
    assert (code.follow is flat_sweeps.follow) == interpreted


@settings(max_examples=20)
@given(
    st.one_of(lmcs(6, max_labels=2, max_successors=4), interactives()),
    alphas(),
    st.booleans(),
)
def test_machine_code_finds_what_the_interpreter_finds_to_the_bit(
    model: LMC | Interactive, alpha: fmpq, ordered: bool
) -> None:
    asked = tuple(permutations(range(len(model.states)), 2))
    layout = Layout.of(model, alpha, asked, ordered=ordered)
    if layout is None:
        return
    found = []
    for code in (INTERPRETED, flat_code(layout.simple), flat_code(False)):
        with patch.object(flat_engine, "code_for", lambda *_, code=code: code):
            try:
                tables = flat_tables(model, alpha, asked, layout, WIDTH)
            except NoBracketError as error:
                found.append(str(error).encode())
            else:
                found.append(b"".join(part.tobytes() for part in (tables.lower, tables.upper, tables.state)))
    assert found == [found[0]] * 3


@pytest.mark.parametrize("alpha", ["1", "21/20", "3/2"])
@pytest.mark.parametrize("successors", [2, 3, 5, 9])
def test_random_chains_have_brackets(successors: int, alpha: str) -> None:
    assert _encloses(random_lmc(20, successors, 2, 7), fmpq(*map(int, f"{alpha}/1".split("/")[:2])))


@pytest.mark.parametrize("distance", ["bd", "lbd"])
@pytest.mark.parametrize("alpha", [fmpq(21, 20), fmpq(2)], ids=str)
def test_upper_bounds_are_kept_where_detours_pay(
    alpha: fmpq, distance: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: object, **__: object) -> None:
        raise LimitError("there was no time")

    kept = 0
    for seed in range(6):
        model = random_lmc(12, 2, 2, seed)
        pairs = list(combinations(model.states, 2))
        exact = bound(model, alpha, pairs=pairs, distance=distance)
        with monkeypatch.context() as patched:
            patched.setattr(work, "approximate", ended)
            found = bound(model, alpha, pairs=pairs, distance=distance, precision=WIDTH)
        if found.status is not Status.LIMIT:
            continue
        kept += any(near.upper < 1 for near in found.pairs)
        assert all(
            near.lower <= known.lower <= known.upper <= near.upper
            for near, known in zip(found.pairs, exact.pairs, strict=True)
        )
        assert check_certificate(json.dumps(found.certificate())).valid
        assert check_certificate(b"".join(found.compact_certificate())).valid
    assert kept


@given(lmcs(8, max_labels=2, max_successors=4), alphas())
def test_threads_change_no_byte(model: LMC, alpha: fmpq) -> None:
    asked = tuple(combinations(range(len(model.states)), 2))

    def found(jobs: int) -> tuple[bytes, ...] | str:
        layout = Layout.of(model, alpha, asked)
        if layout is None:
            return "too long"
        try:
            tables = flat_tables(model, alpha, asked, layout, WIDTH, jobs=jobs)
        except NoBracketError as error:
            return str(error)
        return (tables.lower.tobytes(), tables.upper.tobytes(), tables.state.tobytes(), *tables.bases())

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(flat_layout, "LARGE", 0)
        patched.setattr(flat_engine, "CHUNK", 5)
        patched.setattr(flat_engine, "BLOCK", 2)
        assert found(1) == found(3)


@given(
    st.integers(2, 7).flatmap(lambda size: st.lists(st.integers(0, 40), min_size=size**2, max_size=size**2)),
    st.sampled_from([1.0, 1.25, 2.0]),
    st.integers(1, 7),
)
def test_third_states_that_are_not_looked_at_are_not_nearer(
    entries: list[int], skew: float, block: int
) -> None:
    found = np.array(entries, dtype=np.float64).reshape(isqrt(len(entries)), -1)
    np.fill_diagonal(found, 0.0)
    expected, before = found.copy(), np.full_like(found, np.inf)
    while (expected != before).any():
        before = expected
        expected = (before[:, :, None] + np.floor(before * skew)[None]).min(axis=1)
    work = SimpleNamespace(
        code=INTERPRETED, _each=lambda _, chunks, close: [(chunk, close(*chunk)) for chunk in chunks]
    )
    with patch.object(flat_engine, "BLOCK", block):
        while FlatWork._closer(work, found, skew):  # type: ignore[arg-type]
            pass
    assert (found == expected).all()


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_a_table_that_is_too_low_or_too_high_is_not_proved(seed: int, off: int) -> None:
    model = random_lmc(8, 2, 2, seed)
    try:
        tables = _tables(model, fmpq(1), fmpq(1, 10**6))
    except NoBracketError:
        return
    if tables is None or not tables.upper.any():
        return
    layout, room = tables.layout, tables.layout.room()
    states = len(layout.chain.first)
    nothing = np.zeros(0, dtype=np.float64)
    present = (tables.upper > 0).astype(
        np.uint8
    )  # pairs at distance 0 prove themselves, and absent ones need none
    plans = flat_sweeps.Plans(nothing, nothing, nothing, present * flat_sweeps.OPEN)

    def wrong(lower: np.ndarray, upper: np.ndarray) -> int:
        return flat_sweeps.violations(0, states, layout.chain, room, plans, lower, upper, float(layout.one))

    assert wrong(tables.lower, tables.upper) == 0
    pair = int(np.flatnonzero(tables.upper)[seed % np.count_nonzero(tables.upper)])
    low, high = tables.upper.copy(), tables.lower.copy()
    high[pair] = max(0.0, high[pair] - off)
    if high[pair] > 0.0 or tables.lower[pair] > 0.0:
        assert wrong(tables.lower, np.minimum(tables.upper, high)) > 0
    low[pair] = layout.one
    if tables.lower[pair] < layout.one and tables.upper[pair] < layout.one:
        assert wrong(low, tables.upper) > 0


@pytest.mark.parametrize("alpha", ["1", "21/20"])
def test_pairs_go_into_flat_tables_and_their_certificate_is_valid(alpha: str) -> None:
    model = random_lmc(40, 3, 2, 5)
    pairs = [("s0", name) for name in model.states[1:9]]
    answer = bound(model, alpha, pairs=pairs, precision="1e-9")
    assert answer.status is Status.BRACKET
    assert "programs" not in answer.statistics  # of single programs nothing is kept
    exact = bound(model, alpha, pairs=pairs)
    for bracket, value in zip(answer.pairs, exact.pairs, strict=True):
        assert bracket.lower <= value.upper <= bracket.upper <= bracket.lower + WIDTH
    assert check_certificate(json.dumps(answer.certificate())).valid


def test_what_doubles_can_prove_is_kept_where_less_is_asked_and_a_limit_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(work, "FEW", 50)
    model = random_lmc(40, 3, 2, 5)
    pairs = list(combinations(model.states, 2))
    exact = bound(model, 1, pairs=pairs)
    assert bound(model, 1, pairs=pairs, precision="1e-30").status is Status.BRACKET

    monkeypatch.setattr(work, "MAX_PAIRS", 50)
    answer = bound(model, 1, pairs=pairs, precision="1e-30")
    assert answer.status is Status.LIMIT
    assert max(pair.upper - pair.lower for pair in answer.pairs) <= fmpq(1, 10**10)
    for pair, value in zip(answer.pairs, exact.pairs, strict=True):
        assert pair.lower <= value.upper <= pair.upper


def test_memory_is_estimated_before_work_begins() -> None:
    model = random_lmc(60, 3, 2, 5)
    told: list[str] = []
    answer = bound(
        model,
        1,
        pairs=list(combinations(model.states, 2)),
        precision="1e-9",
        memory=1000,
        progress=lambda stage, done, total: told.append(stage),
    )
    assert answer.status is Status.LIMIT
    assert "more than may be used" in answer.reason
    assert told == [told[0]]
    assert "pairs, about" in told[0]


def test_a_deadline_ends_the_work() -> None:
    model = random_lmc(60, 3, 2, 5)
    asked = tuple(combinations(range(60), 2))
    layout = Layout.of(model, fmpq(1), asked)
    assert layout is not None
    with pytest.raises(LimitError, match="time limit"):
        flat_tables(model, fmpq(1), asked, layout, WIDTH, deadline=Deadline.after(0))


def test_numbers_too_long_for_doubles_are_left_to_others() -> None:
    row = ((0, fmpq(1, 10**9 + 7)), (1, fmpq(10**9 + 6, 10**9 + 7)))
    other = ((0, fmpq(1, 10**9 + 9)), (1, fmpq(10**9 + 8, 10**9 + 9)))
    model = LMC(("s", "t"), ("a", "a"), (row, other))
    assert Layout.of(model, fmpq(1), [(0, 1)]) is None


@settings(max_examples=25)
@given(lmcs(7, max_labels=2), alphas())
def test_exact_work_that_starts_from_tables_ends_at_the_distance(lmc: LMC, alpha: fmpq) -> None:
    pairs = list(combinations(lmc.states, 2))
    expected = bound(lmc, alpha, pairs=pairs)
    with patch.object(work, "FEW", 0):
        found = bound(lmc, alpha, pairs=pairs)
    assert found.pairs == expected.pairs
    assert check_certificate(json.dumps(found.certificate())).valid


def test_a_chain_that_goes_one_way_takes_a_few_sweeps() -> None:
    """Whatever the order of its states: those that others lead to come first."""
    size = 120
    names = [f"s{k * 77 % size:03}" for k in range(size)]
    last = names[-1]
    rows: dict[str, dict[str, str]] = {name: {last: "1"} for name in names}
    rows |= {names[k]: {names[k + 1]: "1/3", names[k + 3]: "2/3"} for k in range(size - 3)}
    lmc = LMC.from_mappings(dict.fromkeys(sorted(names), "a") | {last: "b"}, rows)
    told: list[int] = []
    with patch.object(work, "FEW", 0):
        bound(
            lmc,
            "5/4",
            pairs=[(names[0], names[1])],
            precision="1e-6",
            progress=lambda stage, done, _: told.append(done) if stage == "proof" else None,
        )
    assert 0 < max(told) < 30
