"""Certificates with compact tables: what is computed is accepted, and what is accepted is true."""

from __future__ import annotations

import io
import itertools
import os
import threading
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from bisimdist import bound
from bisimdist.checker import MalformedCertificate, check_certificate
from bisimdist.checker.__main__ import main, sentence
from bisimdist.checker.core import reading, stream
from bisimdist.checker.core.compact_tables import DENSE, Rest, square_of
from bisimdist.checker.core.reading import text_of
from bisimdist.distances.bound.compact import compact_certificate
from bisimdist.distances.engine.flat_engine import FlatTables, NoBracketError, flat_tables
from bisimdist.distances.engine.flat_layout import Layout
from bisimdist.errors import UsageError
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from tests.checker import packed, packed_files
from tests.checker.corpus import FOLDER, entries
from tests.speed import leeway
from tests.strategies import alphas, lmcs

PRECISE = fmpq(1, 10**6)


def alike(model: LMC) -> list[tuple[str, str]]:
    states = list(zip(model.states, model.labels, strict=True))
    return [(s, t) for s, here in states for t, there in states if s < t and here == there]


def flat(model: LMC, alpha: fmpq, width: fmpq = PRECISE) -> FlatTables | None:
    """Return flat tables of all pairs, where there are any."""
    asked = tuple((model.index(s), model.index(t)) for s, t in alike(model))
    layout = Layout.of(model, alpha, asked)
    try:
        return None if layout is None else flat_tables(model, alpha, asked, layout, width)
    except NoBracketError:
        return None


@pytest.mark.parametrize("folder", ["correct", "incorrect", "malformed"])
def test_the_files_are_those_that_are_put_together(folder: str) -> None:
    for name, said in packed_files.FILES[folder].items():
        path = FOLDER / folder / "compact" / f"{name}.compact"
        assert path.read_bytes() == said.content(), name


@given(lmcs(max_states=5), alphas(), st.sampled_from(["bd", "lbd"]), st.booleans())
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_computed_is_accepted(model: LMC, alpha: fmpq, distance: str, exact: bool) -> None:
    pairs = alike(model)
    assume(pairs)
    answer = bound(model, alpha, distance=distance, pairs=pairs, precision=None if exact else PRECISE)
    try:
        content = b"".join(answer.compact_certificate())
    except UsageError:
        assume(False)
        raise
    report = check_certificate(content)
    assert report.valid, report.reason
    said = {(claim.source, claim.target): (claim.lower, claim.upper) for claim in report.claims}
    for pair in answer.pairs:
        ways = [said[pair.source, pair.target]]
        if distance == "lbd":
            ways.append(said[pair.target, pair.source])
        assert fmpq(str(max(upper for _, upper in ways))) == pair.upper
        assert fmpq(str(max(lower for lower, _ in ways if lower is not None))) == pair.lower


SEVERAL_ROUNDS = LMC(
    tuple(f"s{k}" for k in range(6)), tuple("baaaaa"), tuple(((t, fmpq(1)),) for t in (0, 2, 0, 0, 0, 1))
)
"""Classes that are found in several rounds: states are numbered by the first ones of the last round."""


@given(lmcs(max_states=6), alphas())
@example(SEVERAL_ROUNDS, fmpq(1))
@example(SEVERAL_ROUNDS, fmpq(2))
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_flat_tables_are_accepted(model: LMC, alpha: fmpq) -> None:
    tables = flat(model, alpha)
    assume(tables)
    assert tables is not None
    report = check_certificate(b"".join(compact_certificate(tables)))
    assert report.valid, report.reason
    for claim in report.claims:
        lower, upper = tables.bounds((model.index(claim.source), model.index(claim.target)))
        assert (str(claim.lower), str(claim.upper)) == (str(lower), str(upper))


@given(
    st.data(),
    st.sampled_from([entry.path for entry in entries("correct") if entry.path.suffix == ".compact"]),
)
@settings(max_examples=60)
def test_what_is_accepted_is_true(data: st.DataObject, path: Path) -> None:
    """Bytes of the tables and proofs are changed; bounds that are still proved hold."""
    content = path.read_bytes()
    begin = content.index(b"\n", content.index(b"\n") + 1) + 1
    assume(begin < len(content))
    truth = {
        (claim.source, claim.target): claim.lower
        for claim in check_certificate(content).claims
        if claim.exact
    }
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(begin, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        report = check_certificate(bytes(changed))
    except MalformedCertificate:
        return
    for claim in report.claims:
        exact = truth.get((claim.source, claim.target))
        if report.valid and exact is not None:
            assert (claim.lower or 0) <= exact <= claim.upper


def test_it_is_read_part_by_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = random_lmc(150, 5, 3, seed=1)
    tables = flat(model, fmpq(1), fmpq(1, 10**9))
    assert tables is not None
    content = b"".join(compact_certificate(tables))
    path = tmp_path / "long.compact"
    path.write_bytes(content)
    assert main([str(path)]) == 0
    assert capsys.readouterr().out.startswith("proved: ")

    class Trickle(io.RawIOBase):
        """A file that gives one byte at a time."""

        def __init__(self) -> None:
            self.inner = io.BytesIO(content)

        def readable(self) -> bool:
            return True

        def readline(self, size: int | None = -1) -> bytes:
            return self.inner.readline(size)

        def read(self, size: int = -1) -> bytes:
            return self.inner.read(min(size, 7))

    assert check_certificate(Trickle()).valid  # type: ignore[arg-type]


def crowd(count: int, alpha: str) -> packed.Packed:
    """Say of many states of one class that any two are at most 3/4 apart, and prove nothing of it."""
    rows = {f"s{k}": {"v": f"{k + 1}/{count + 1}", "w": f"{count - k}/{count + 1}"} for k in range(count)}
    model = packed.chain(" ".join([*(f"{name}:a" for name in rows), "v:b", "w:c"]), **rows)
    table = [packed.Row(((0, k),), (3,) * k, (0,) * k) for k in range(1, count)]
    table = [packed.NONE, *table, packed.NONE, packed.NONE]
    return packed.Packed(model, [("s0", "s1")], table, b"", alpha, gap=1)


def roots(said: packed.Packed) -> packed.Packed:
    """Give up everything: of each pair no flags, and two bases of roots."""
    table = [replace(row, gap=row.upper) for row in said.rows]
    return replace(said, rows=table, records=bytes(3 * sum(len(row.upper) for row in table)))


def sums(count: int) -> packed.Packed:
    """Make a row whose entries have no common denominator that is short, until all are added up."""
    parts = [f"{above}/{count * d}" for above in (1, 0) for d in range(10**3000, 10**3000 + count)]
    parts = [part if k < count else f"{10**3000 + k - count - 1}/{part[2:]}" for k, part in enumerate(parts)]
    row = {f"v{k}": part for k, part in enumerate(parts)}
    model = packed.chain(" ".join(["s:b", *(f"{name}:b" for name in row)]), s=row)
    return packed.Packed(model, [("s", "s")], [packed.NONE] * (2 * count + 1), b"")


LONG = "f" * 20_000


def claimed(count: int, digits: int) -> packed.Packed:
    """Say a bound of many digits, which is not in lowest terms, in many claims."""
    model = packed.chain("s:a t:a v:b w:c", s={"v": "1/2", "w": "1/2"}, t={"v": "1/4", "w": "3/4"})
    one, upper = (int("b" * digits, 16), int("7" * digits, 16))
    table = [packed.NONE, packed.pair(upper), packed.NONE, packed.NONE]
    layout = {"denominator": hex(one)}
    return packed.Packed(model, [("s", "t")] * count, table, b"", width=digits // 2, layout=layout)


def stood_for(count: int, digits: int) -> packed.Packed:
    """Say such a bound once, and claims about all pairs of states, of which many stand for one."""
    said = claimed(1, digits)
    copies = {f"t{k}": "t" for k in range(count)}
    rows = said.model["transitions"]
    labels = " ".join(["s:a t:a", *(f"{name}:a" for name in copies), "v:b w:c"])
    model = packed.chain(labels, **{**rows, **dict.fromkeys(copies, rows["t"])})
    return replace(said, model=model, head={**said.head, **packed.merging(model, copies), "claims": "all"})


def near_ones(count: int) -> packed.Packed:
    """Make a class without shortcuts of pairs of states that are near, where alpha is a long number."""
    states = [f"s{k}" for k in range(count)]
    rows: dict[str, dict[str, str]] = {s: {"v": "1/2", "w": "1/2"} for s in states}
    rows |= {"r": {"s0": "1/2", "s2": "1/2"}, "t": {"s1": "1/2", "s2": "1/4", "s5": "1/4"}}
    model = packed.chain(" ".join(["r:d t:d", *(f"{s}:a" for s in states), "v:b w:c"]), **rows)
    said = [
        tuple(1 if x // 2 == y // 2 else 100 + (x // 2 * y // 2 * 37 + y // 2 * 11) % 98 for y in range(x))
        for x in range(1, count)
    ]
    table = [packed.Row(((0, len(upper)),), upper, (0,) * len(upper)) for upper in said]
    table = [packed.NONE, packed.pair(255, 254), packed.NONE, *table, packed.NONE, packed.NONE]
    alpha = f"0x1{'0' * 14_999}1/0x1{'0' * 15_000}"
    return packed.Packed(model, [("r", "t")], table, bytes([2, 1, 1]), alpha, denominator=255, gap=1)


def powers(count: int, others: int) -> packed.Packed:
    """Ask of pairs whether 0 extends to a class of many states that has a shortcut."""
    rows = {f"s{k}": {"v": "1"} for k in range(count)}
    for k in range(others):
        up = Fraction(k + 1, 4 * others + 8)
        rows[f"r{k}"] = {s: str(up if s in "s2 v" else Fraction(1, 2) - up) for s in ("s2", "s3", "v", "w")}
    names = " ".join([*(f"r{k}:d" for k in range(others)), *(f"s{k}:a" for k in range(count)), "v:b w:c"])
    table = [packed.Row(((0, k),), (255,) * k, (254,) * k) for k in range(1, others)]
    table = [packed.NONE, *table, packed.NONE, packed.pair(100), *[packed.NONE] * count]
    records = bytes([3, 0, 0]) * (others * (others - 1) // 2)
    alpha = f"0x1{'0' * 249}1/0x1{'0' * 250}"
    return packed.Packed(
        packed.chain(names, **rows), [("r0", "r1")], table, records, alpha, denominator=255, gap=1
    )


@pytest.mark.parametrize(
    "said",
    [
        roots(crowd(60, f"0x{LONG}/0x1{LONG[1:]}")),
        crowd(2, f"0x{LONG * 20}/0x1{LONG * 19}"),
        sums(100),
        claimed(60, 100_000),
        stood_for(20, 100_000),
        near_ones(130),
        powers(600, 40),
    ],
    ids=["alpha", "lowest terms", "sum of a row", "claims", "all claims", "shortcuts", "extensions"],
)
def test_long_numbers_are_counted_before_they_are_made(
    said: packed.Packed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "WORK_OF_EVERY_BYTE", 1000)
    monkeypatch.setattr(reading, "LEAST_WORK", 10**9)
    begun = time.process_time()
    with pytest.raises(MalformedCertificate, match="more work than a certificate may"):
        check_certificate(said.content())
    assert time.process_time() - begun < 6 * leeway()


def test_claims_about_all_pairs_cost_little() -> None:
    """Pairs of different classes have no bytes in the file."""
    model = packed.chain(" ".join(f"s{k}:l{k}" for k in range(3000)))
    said = packed.Packed(model, [], [packed.NONE] * 3000, b"", denominator=1 << 3000, head={"claims": "all"})
    report = check_certificate(said.content())
    assert report.valid
    assert len(report.claims) == 3000 * 2999 // 2


def test_units_of_rows_are_compared_no_further_than_needed() -> None:
    units = range(10**3000, 10**3000 + 300)
    rows = {f"s{unit % 1000}": {"v": f"1/{unit}", "w": f"{unit - 1}/{unit}"} for unit in units}
    model = packed.chain(" ".join([*(f"{name}:a" for name in rows), "v:b", "w:c"]), **rows)
    said = packed.Packed(model, [("s0", "s0")], [packed.NONE] * 302, b"").content()
    begun = time.process_time()
    assert check_certificate(said).valid
    assert time.process_time() - begun < 6 * leeway()


@pytest.mark.parametrize("name", ["compact/exact.compact", "at-two.json"])
def test_it_may_come_through_a_pipe(name: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = (FOLDER / "correct" / name).read_bytes()
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    assert main([str(pipe)]) == 0
    writer.join()


def test_a_file_that_is_no_certificate() -> None:
    with pytest.raises(MalformedCertificate, match="first line"):
        check_certificate(io.BytesIO(b'{"format": "bisimdist-certificate"}\n'))


@given(st.data(), st.sampled_from([1, 2, 3, 8]), st.integers(1, 8), st.booleans(), st.integers(0, 1 << 60))
def test_a_class_is_the_same_however_it_is_kept(
    data: st.DataObject, width: int, size: int, ordered: bool, other: int
) -> None:
    said: dict[tuple[int, int], int] = {}
    listed: list[tuple[list[int], list[int]]] = []
    for x in range(size):
        partners = [y for y in range(size if ordered else x) if y != x and data.draw(st.booleans())]
        numbers = [10 * x + y for y in partners]
        said |= {(x, y): number for y, number in zip(partners, numbers, strict=True)}
        listed.append((partners, numbers))
    rows = square_of(listed, other, width, ordered=ordered)
    for x, y in itertools.permutations(range(size), 2):
        at = (x, y) if ordered or x > y else (y, x)
        assert rows[x][y] == said.get(at, other)
    assert isinstance(rows[0], Rest) == (len(said) * DENSE < size * size)


@pytest.mark.parametrize("name", ["all-pairs", "all-pairs-merged", "all-pairs-of-long-numbers"])
def test_claims_about_all_pairs_are_printed_as_they_are(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = FOLDER / "correct" / "compact" / f"{name}.compact"
    claims = check_certificate(path.read_bytes()).claims
    assert main([str(path)]) == 0
    said = capsys.readouterr().out.splitlines()[:-1]
    assert said == [f"proved: {sentence(claim)}" for claim in claims]
    assert [claims[number] for number in range(len(claims))] == list(claims)
    texts: Any = claims
    assert [
        (claim.source, claim.target, text_of(claim.upper), text_of(claim.lower or Fraction(0)))
        for claim in claims
    ] == list(texts.texts())
