"""What a short certificate can cost: each of its parts is made large, one at a time.

``python -m tests.checker.inflation`` does it to files of the corpus that have every key among them, and
prints what took the checker longer, or more memory, than a file of less than a megabyte may.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from fractions import Fraction
from typing import Any

from bisimdist.checker import check_certificate
from bisimdist.checker import verdict as verdict_module
from bisimdist.checker.core import reading
from bisimdist.checker.core.automaton import read_automaton
from tests.checker.brute import digest
from tests.checker.corpus import FOLDER
from tests.checker.redigest import redigested
from tests.forger.forge import NUMBER, at, put

__all__ = ["Cost", "cost", "documents", "inflated"]

Document = dict[str, Any]
Place = tuple[str | int, ...]

SECONDS, MEBIBYTES = 2.0, 300
SIZE = 400_000
MANY = 4_000
LONG = 3_300
"""Hexadecimal digits of a long number: about 4,000 decimal ones."""


class Cost:
    """What a check took: seconds, mebibytes beyond those of the process, and work that was counted."""

    def __init__(self, seconds: float, mebibytes: float, work: int, verdict: str) -> None:
        self.seconds, self.mebibytes, self.work, self.verdict = seconds, mebibytes, work, verdict

    def __str__(self) -> str:
        return f"{self.seconds:7.2f} s {self.mebibytes:6.0f} MB {self.work / 1e9:6.2f} G  {self.verdict}"


def cost(text: str) -> Cost:
    """Check a text in a process of its own."""
    here, there = os.pipe()
    child = os.fork()
    if not child:
        os.close(here)
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        with reading.limited(len(text)):
            left = reading._left.get()
            assert left is not None
            most = left[0]
            setattr(verdict_module, "limited", lambda _: nullcontext())  # noqa: B010  this is the limit
            try:
                verdict = check_certificate(text).reason or "valid"
            except BaseException as error:
                verdict = f"{type(error).__name__}: {error}"
            work = most - left[0]
        seconds = time.process_time() - begun
        size = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        os.write(there, json.dumps([seconds, size, work, verdict[:120]]).encode())
        os._exit(0)
    os.close(there)
    with os.fdopen(here) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return Cost(*json.loads(said)) if said else Cost(60.0, 4096.0, 0, "killed")


def documents() -> dict[str, Document]:
    """Return files of the corpus, small ones first, that have all keys of all kinds among them."""
    found: dict[str, Document] = {}
    known: set[str] = set()
    for path in sorted((FOLDER / "correct").rglob("*.json"), key=lambda path: path.stat().st_size):
        document = json.loads(path.read_bytes())
        shapes = {f"{document.get('kind')} {pattern(place)}" for place, _ in _parts(document, ())}
        if not shapes <= known:
            known |= shapes
            found[str(path.relative_to(FOLDER / "correct"))] = document
    return found


def pattern(place: Place) -> str:
    """Return a place without its numbers, and without names of states and actions."""
    named = ("states", "transitions", "distributions", "witness", "vector", "then", "parameters", "merged")
    keys = [
        "*" if isinstance(step, int) or len(step) < 3 or (n and place[n - 1] in named) else step
        for n, step in enumerate(place)
    ]
    return "/".join(keys)


def _parts(value: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    yield place, value
    if isinstance(value, list | dict):
        for step, part in enumerate(value) if isinstance(value, list) else value.items():
            yield from _parts(part, (*place, step))


def long_number(seed: int) -> int:
    """Return an odd integer of `LONG` hexadecimal digits that others have no factor in common with."""
    return int(hashlib.sha512(str(seed).encode()).hexdigest() * (LONG // 128 + 1), 16) | 1


def long_text(seed: int) -> str:
    """Write a fraction of two long integers, less than 1."""
    return f"0x{long_number(seed):x}/0x{long_number(-seed) << 8:x}"


def inflated(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the document with a part made large, and what was done; digests are those of the models."""
    seen: set[str] = set()
    by_pattern: dict[str, list[Place]] = {}
    for place, value in _parts(document, ()):
        name = pattern(place)
        by_pattern.setdefault(name, []).append(place)
        if name in seen or not place:
            continue
        seen.add(name)
        for how, changed in _changes(document, place, value):
            yield f"{name}: {how}", written(changed)
    for name, places in by_pattern.items():
        if isinstance(at(document, places[0]), str) and NUMBER.fullmatch(at(document, places[0])):
            changed = copy.deepcopy(document)
            for seed, place in enumerate(places, 2):
                put(changed, place, long_text(seed) if "model" not in place else decimal_text(seed))
            yield f"{name}: all long", written(changed)
    for how, grow in GROWN.items():
        changed = copy.deepcopy(document)
        if isinstance(changed.get("model"), dict) and grow(changed["model"]):
            yield f"model: {how}", written(changed)


def decimal_text(seed: int) -> str:
    """Write a fraction of two long integers as model files do."""
    below = str(long_number(seed) % 10**1200 | 1)
    return f"{below[:-1]}/{below}"


def _changes(document: Document, place: Place, value: Any) -> Iterator[tuple[str, Document]]:
    def with_(part: Any) -> Document:
        changed = copy.deepcopy(document)
        put(changed, place, part)
        return changed

    if isinstance(value, str) and NUMBER.fullmatch(value):
        yield "long integer", with_(f"0x{long_number(2):x}")
        yield "long fraction", with_(long_text(2))
        yield "long decimal", with_("1/" + "7" * 3999)
        yield "million", with_("1000000")
        yield "integer of a megabyte", with_("0x" + "f" * SIZE)
    elif isinstance(value, str) and place[-1] in {"formula", "word"}:
        yield "long text", with_(value * (SIZE // max(1, len(value))))
    elif isinstance(value, str) and "model" in place:
        yield "exponent", with_("1e-9999")
        yield "power", with_("(1/3+p)^256")
        yield "powers", with_("*".join(["p^256"] * 2000))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield "million", with_(10**6)
        yield "hundred thousand", with_(99_999)
    elif isinstance(value, list) and value:
        size = len(json.dumps(value))
        yield "repeated", with_(value * min(MANY, SIZE // size))
        yield (
            "new names",
            with_([_renamed(part, k) for k in range(min(MANY, SIZE // size)) for part in value]),
        )
    elif isinstance(value, dict) and value:
        size = len(json.dumps(value)) + 10
        count = min(MANY, SIZE // size)
        grown = {f"{key}~{k}" if k else key: part for k in range(count) for key, part in value.items()}
        yield "more keys", with_(grown)


def _renamed(part: Any, k: int) -> Any:
    if isinstance(part, list):
        return [_renamed(each, k) for each in part]
    if isinstance(part, str) and k and not NUMBER.fullmatch(part):
        return f"{part}~{k}"
    if isinstance(part, dict) and "pair" in part:
        return {**part, "pair": _renamed(part["pair"], k)}
    return part


def _copied(model: Document, count: int = 1_000) -> bool:
    """Put copies of all states of a chain beside them."""
    states, rows = model.get("states"), model.get("transitions")
    if (
        model.get("kind") not in {"lmc", "interactive"}
        or not isinstance(states, dict)
        or not isinstance(rows, dict)
    ):
        return False
    count = min(count, SIZE // len(json.dumps([states, rows])))
    model["states"] = {f"{s}~{k}" if k else s: x for k in range(count) for s, x in states.items()}
    model["transitions"] = {
        f"{s}~{k}" if k else s: _moved(row, k) for k in range(count) for s, row in rows.items()
    }
    return True


def _moved(row: Document, k: int) -> Document:
    return {
        f"{target}~{k}" if k and not isinstance(p, dict) else target: _moved(p, k)
        if isinstance(p, dict)
        else p
        for target, p in row.items()
    }


def _path(model: Document) -> bool:
    """Put a long path of states before a chain or an automaton: they are told apart one after the other."""
    count = 3_000
    if model.get("kind") == "lmc":
        last = next(iter(model["states"]))
        model["states"] |= {f"~{k}": model["states"][last] for k in range(count)}
        model["transitions"] |= {f"~{k}": {f"~{k + 1}" if k + 1 < count else last: "1"} for k in range(count)}
        return True
    if model.get("kind") == "pa":
        last, action = model["states"][0], "a"
        model["states"] += [f"~{k}" for k in range(count)]
        model["transitions"] += [
            {"from": f"~{k}", "action": action, "to": {f"~{k + 1}" if k + 1 < count else last: "1"}}
            for k in range(count)
        ]
        return True
    return False


def _split(model: Document) -> bool:
    """Make the first two probabilities of every row long, their sum as it is."""
    found = 0
    for _, row in list(_parts(model.get("transitions"), ())):
        if (
            isinstance(row, dict)
            and len(row) > 1
            and all(isinstance(p, str) and NUMBER.fullmatch(p) for p in row.values())
        ):
            found += 1
            one, two = list(row)[:2]
            little = Fraction(1, long_number(found + 1) % 10**1500 | 1)
            row[one], row[two] = (str(p) for p in (Fraction(row[one]) - little, Fraction(row[two]) + little))
    return found > 0


GROWN: dict[str, Callable[[Document], bool]] = {"copies": _copied, "path": _path, "long rows": _split}


def written(document: Document) -> str:
    """Write a document with the digest of its model, where it is one."""
    model = document.get("model")
    if isinstance(document.get("digest"), str) and isinstance(model, dict):
        with suppress(Exception):  # it is no model, which the checker will say
            document["digest"] = _digest(document, model)
    return json.dumps(document)


def _digest(document: Document, model: Document) -> str:
    plain = reading.decode(json.dumps(model), numbers=False)
    assert isinstance(plain, dict)
    if model.get("kind") == "pa":
        return read_automaton(plain).digest()
    if model.get("kind") in {"lmc", "interactive"} and "parameters" not in model:
        redigested(document)
        return str(document["digest"])
    return digest(model)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.checker.inflation", description=__doc__)
    parser.add_argument("--only", default="", help="only files whose names contain this")
    parser.add_argument("--every", type=int, default=1, help="only one of so many documents")
    options = parser.parse_args()
    tried = count = found = 0
    for name, document in documents().items():
        if options.only not in name:
            continue
        sys.stderr.write(f"{name}\n")
        for how, text in inflated(document):
            tried += 1
            if tried % options.every:
                continue
            count += 1
            took = cost(text)
            if took.seconds > SECONDS or took.mebibytes > MEBIBYTES:
                found += 1
                sys.stdout.write(f"{took}  {len(text)} B  {name}  {how}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{count} documents, {found} beyond {SECONDS} s or {MEBIBYTES} MB\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
