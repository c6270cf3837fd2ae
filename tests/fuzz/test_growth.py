"""What a document makes the checker do grows with what is counted of it, however long its parts are made.

Of every kind of certificate every list, every object and every number is made 2, 4 or 8 times as long, and so
are documents that once took minutes or gigabytes (`tests.checker.bombs`). Then seconds for a unit of counted
work, and bytes for one that is held or read, have to stay below the same bounds, and the check has to end.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
import re
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from bisimdist.checker import MalformedCertificate, check_certificate, verdict
from bisimdist.checker.core import counting as core_counting
from bisimdist.checker.core import reading
from bisimdist.checker.core.automaton import read_automaton
from bisimdist.checker.core.reading import RuleViolation
from tests.checker.bombs import BOMBS
from tests.checker.corpus import FOLDER
from tests.checker.redigest import redigested
from tests.speed import leeway

SECONDS = 1.0
"""What any check may take: what is read before anything is counted, and what a busy machine takes."""

SECONDS_FOR_A_UNIT = 20e-9
"""Twenty times what a unit of work is said to take."""

BYTES, BYTES_FOR_A_BYTE, BYTES_FOR_ONE_HELD = 2_000_000, 150, 4
"""What any check may hold; what it may for each byte that is read, and for each that it says to hold."""

FACTORS = (2, 4, 8)
EACH = 4
"""How many parts of the documents of a kind are made longer, unless all are."""

KINDS = ["", *sorted(path.name for path in (FOLDER / "correct").iterdir() if path.is_dir())]

Path = tuple[Any, ...]


class Recorded(list[int]):
    """What is left of work and memory, and the least that ever was."""

    def __init__(self, left: list[int]) -> None:
        super().__init__(left)
        self.least = left[1]

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, value)
        if place == 1:
            self.least = min(self.least, value)


class Run:
    """One check: what it counted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, recorded: bool) -> None:
        self.work = self.held = 0
        original = reading.limited

        @contextmanager
        def watched(size: int) -> Iterator[None]:
            with original(size):
                left = reading._left.get()
                assert left is not None
                before = list(left)
                token = reading._left.set(Recorded(left)) if recorded else None
                try:
                    yield
                finally:
                    after: Any = reading._left.get()
                    self.work = before[0] - after[0]
                    self.held = before[1] - after.least if recorded else 0
                    if token is not None:
                        reading._left.reset(token)

        monkeypatch.setattr(verdict, "limited", watched)


def ends(text: str) -> None:
    """Check a document, which has to end in a verdict or in a refusal."""
    try:
        check_certificate(text)
    except MalformedCertificate as error:
        assert "\n" not in str(error)


def assert_counted(text: str, name: str) -> None:
    """Demand that time and memory are in proportion to what is counted."""
    with pytest.MonkeyPatch.context() as patched:
        run = Run(patched, recorded=False)
        begun = time.process_time()
        ends(text)
        seconds = time.process_time() - begun
    allowed = SECONDS + SECONDS_FOR_A_UNIT * run.work
    assert seconds <= allowed or seconds <= allowed * leeway(), (
        f"{name}: {seconds:.2f} s for {run.work} units of work, {len(text)} bytes"
    )
    with pytest.MonkeyPatch.context() as patched:
        run = Run(patched, recorded=True)
        tracemalloc.start()
        try:
            ends(text)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    most = BYTES + BYTES_FOR_A_BYTE * len(text) + BYTES_FOR_ONE_HELD * run.held / 8
    assert peak <= most, f"{name}: {peak / 1e6:.1f} MB at most, {run.held / 8e6:.1f} MB said to be held"


# ------------------------------------------------------------------------------------- parts made longer

_NUMBER = re.compile(r"(-?)([0-9]+)(/[0-9]+)?")


ENTRIES = 8
"""Of a list whose entries are alike, so many are made longer, spread over all of it."""


def longer(value: Any, factor: int) -> Any:
    """Return a list, an object or a number that is so many times as long; None of what is none."""
    if isinstance(value, list) and value:
        return [_renamed(entry, number // len(value)) for number, entry in enumerate(value * factor)]
    if isinstance(value, dict) and value:
        return {key + "'" * k: part for k in range(factor) for key, part in value.items()}
    if isinstance(value, int) and not isinstance(value, bool):
        return int(str(value) * factor) if value > 0 else factor
    if isinstance(value, str) and (match := _NUMBER.fullmatch(value)):
        sign, above, below = match.groups()
        return sign + above * factor + ("" if below is None else f"/{below[1:] * factor}")
    return None


def _renamed(entry: Any, copy_number: int) -> Any:
    """Name a copy of a name another way, as lists of states have to."""
    return entry + "'" * copy_number if isinstance(entry, str) else entry


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield where there is something that can be made longer."""
    if path and path != ("digest",) and longer(value, 2) is not None:
        yield path
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))


def stretched(document: Any, path: Path, factor: int) -> str:
    """Return the document with one part made longer, and with the digest of the model that it then has."""
    result = copy.deepcopy(document)
    inside = result
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = longer(inside[path[-1]], factor)
    if path[0] in {"model", "reduced"}:
        _digested(result)
    return json.dumps(result)


def _digested(document: Any) -> None:
    """Write the digest of a changed model, if it is one."""
    model = document.get("model")
    kind = model.get("kind") if isinstance(model, dict) else None
    try:
        if kind == "pa":
            document["digest"] = read_automaton(model).digest()
        elif kind == "hmm" or "parameters" in (model or {}):
            text = json.dumps(model, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
            document["digest"] = "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()
        elif isinstance(model, dict):
            redigested(document)
    except (MalformedCertificate, RuleViolation, AttributeError):
        return


@cache
def corpus(kind: str) -> tuple[tuple[str, Any], ...]:
    folder = FOLDER / "correct" / kind
    return tuple((path.stem, json.loads(path.read_bytes())) for path in sorted(folder.glob("*.json")))


def every(kind: str) -> list[tuple[str, Any, Path]]:
    """Return the parts of documents of a kind that can be made longer; of entries of a list, some eight."""
    found = []
    for name, document in corpus(kind):
        alike: dict[Path, list[Path]] = {}
        for path in places(document):
            alike.setdefault(tuple(0 if isinstance(key, int) else key for key in path), []).append(path)
        for paths in alike.values():
            found += [(name, document, path) for path in paths[:: max(1, len(paths) // ENTRIES)]]
    return found


def assert_all_counted(cases: list[tuple[str, Any, Path]], factors: tuple[int, ...] = FACTORS) -> None:
    for name, document, path in cases:
        for factor in factors:
            assert_counted(stretched(document, path, factor), f"{name}, {path}, {factor} times")


@pytest.mark.parametrize("kind", KINDS)
def test_some_parts_made_longer_are_counted(kind: str) -> None:
    cases = every(kind)
    assert_all_counted(random.Random(kind).sample(cases, min(EACH, len(cases))), FACTORS[-1:])


@pytest.mark.slow
@pytest.mark.timeout(0)  # each check has its own limit; all of them take more than ten minutes
@pytest.mark.parametrize("kind", KINDS)
def test_all_parts_made_longer_are_counted(kind: str) -> None:
    assert_all_counted(every(kind))


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_counted(name: str) -> None:
    build, length = BOMBS[name]
    assert_counted(build(length // 64), f"{name}, {length // 64}")


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_longer_bombs_are_counted(name: str) -> None:
    build, length = BOMBS[name]
    for factor in (1, *FACTORS):
        assert_counted(build(length * factor), f"{name}, {length * factor}")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_parts_that_are_counted(kind: str) -> None:
    """The walk is no walk if documents of a kind are not read, or ask for nothing."""
    if kind == "compact":
        assert not every(kind)  # it is no JSON; `tests/checker/test_compact.py` makes its numbers longer
        return
    assert len(every(kind)) > 20
    for name, document in corpus(kind)[:3]:
        with pytest.MonkeyPatch.context() as patched:
            run = Run(patched, recorded=True)
            assert check_certificate(json.dumps(document)).valid, name
        assert run.work > 1000


def entries_of(value: Any) -> int:
    """Return how many entries lists and objects have, at all depths."""
    if isinstance(value, dict):
        return len(value) + sum(map(entries_of, value.values()))
    return len(value) + sum(map(entries_of, value)) if isinstance(value, list) else 0


def cost(text: str, *, counting: bool = True) -> Run:
    """Return what a check counts; without counting what goes through `counted` is not."""
    with pytest.MonkeyPatch.context() as patched:
        if not counting:
            patched.setattr(core_counting, "_counted", lambda items, *_: iter(items))
        run = Run(patched, recorded=True)
        ends(text)
    return run


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "compact"])
def test_what_goes_through_loops_is_counted(kind: str) -> None:
    """Each entry of a certificate is looked at at least once, and each look is counted."""
    for _, document in corpus(kind)[:2]:
        text = json.dumps(document)
        looked_at = cost(text).work - cost(text, counting=False).work
        assert looked_at >= reading.LOOK * entries_of(document)


def test_what_takes_memory_is_held() -> None:
    """Four times as much takes at least twice the memory, and a check that may hold nothing ends."""
    build, length = BOMBS["names of rounds"]
    short, long = (build(length // part) for part in (32, 8))
    assert cost(long).held >= 2 * cost(short).held > 0
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reading, "LEAST_HELD", 0)
        patched.setattr(reading, "HELD_FOR_A_BYTE", 0)
        with pytest.raises(MalformedCertificate, match="more memory than a certificate may"):
            check_certificate(long)
