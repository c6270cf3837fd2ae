"""Mutation of the checker's code: ``python -m tests.checker.mutation``.

Runs the certificates of ``tests/certificates`` through every mutant (`tests.checker.mutants`). A mutant
that still accepts all of ``correct`` with the same claims, refuses all of ``incorrect`` and calls all of
``malformed`` malformed *survives*: either no file shows that what was changed is needed, or it is not.
What survives with a reason stands in ``survivors``: a line ``# reason``, then the keys of mutants, or
beginnings of keys that end in ``*``.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import importlib.abc
import importlib.machinery
import json
import random
import re
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from tests.checker.corpus import OUTCOMES, Entry, entries
from tests.checker.mutants import PACKAGE, Mutant, modules, mutants, source

EXPLAINED = Path(__file__).parent / "survivors"

Result = str
"""``survived``, or the file that kills and how."""


Judge = Callable[[Sequence[bytes]], str]


class _TooLong(BaseException):
    """A mutant takes much longer than the checker."""


class _Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of the checker in code that was compiled before, one of them changed."""

    def __init__(self, code: Mapping[str, object]) -> None:
        self.code = code

    def find_spec(
        self, name: str, path: object, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self.code:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=_is_package(name, self.code))

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code[module.__name__], module.__dict__)  # type: ignore[arg-type]


def _is_package(name: str, code: Iterable[str]) -> bool:
    return any(other.startswith(f"{name}.") for other in code)


def compiled() -> dict[str, object]:
    """Return the code of the whole checker by the names of its modules."""
    result: dict[str, object] = {}
    for name in ("__init__", *modules(), *_packages()):
        full = PACKAGE if name == "__init__" else f"{PACKAGE}.{name}"
        result[full] = compile(source(name), f"<{full}>", "exec")
    return result


def _packages() -> list[str]:
    return sorted({name.rpartition(".")[0] for name in modules()} - {""})


@contextmanager
def checker(code: Mapping[str, object]) -> Iterator[Judge]:
    """Give a function that judges with a checker of this code: valid (and what), not valid or malformed."""

    def ours() -> dict[str, ModuleType]:
        return {
            name: m for name, m in sys.modules.items() if name == PACKAGE or name.startswith(f"{PACKAGE}.")
        }

    kept = ours()
    for name in kept:
        del sys.modules[name]
    parent, _, last = PACKAGE.rpartition(".")
    package = getattr(importlib.import_module(parent), last, None)
    loader = _Loader(code)
    sys.meta_path.insert(0, loader)
    try:

        def judge(data: Sequence[bytes]) -> str:
            module: Any = importlib.import_module(PACKAGE)
            try:
                report = module.check_certificate(*data)
            except module.MalformedCertificate:
                return "malformed"
            said = f"valid: {report!r} {report.plain_claims()!r}" if report.valid else "not valid"
            return re.sub(" at 0x[0-9a-f]+", "", said)  # of what has no other text

        yield judge
    finally:
        sys.meta_path.remove(loader)
        for name in ours():
            del sys.modules[name]
        sys.modules.update(kept)
        if package is not None:  # importing has put the other one here
            setattr(sys.modules[parent], last, package)


def outcome(judge: Judge, data: Sequence[bytes], seconds: float) -> str:
    """Return what a checker says of a document; what else it does instead is an outcome too.

    The seconds are those of this process alone: a busy machine kills no mutant.
    """

    def stop(signum: int, frame: FrameType | None) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        try:
            return judge(data)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except _TooLong:  # perhaps just before the timer was stopped
        return "too long"
    except Exception as error:
        return type(error).__name__
    finally:
        signal.signal(signal.SIGPROF, before)


class Corpus:
    """The files, what is expected of each, how long it takes and which lines of the checker it reaches."""

    def __init__(self, code: Mapping[str, object], only: Sequence[str] | None = None) -> None:
        self.code = code
        self.entries: dict[str, Entry] = {
            entry.name: entry
            for folder in OUTCOMES
            for entry in entries(folder)
            if only is None or entry.name in only
        }
        self.data = {name: entry.texts() for name, entry in self.entries.items()}
        self.expected: dict[str, str] = {}
        self.seconds: dict[str, float] = {}
        self.reached: dict[tuple[str, int], set[str]] = {}
        for name in self.data:
            with checker(code) as judge:  # a new one, so that each file comes by what runs once
                self._trace(judge, name)

    def _trace(self, judge: Judge, name: str) -> None:
        names = {f"<{module}>": module.removeprefix(f"{PACKAGE}.") for module in self.code}

        def local(frame: FrameType, event: str, argument: object) -> Any:
            self.reached.setdefault((names[frame.f_code.co_filename], frame.f_lineno), set()).add(name)
            return local

        def entered(frame: FrameType, event: str, argument: object) -> Any:
            return local(frame, event, argument) if frame.f_code.co_filename in names else None

        before, start = sys.gettrace(), time.process_time()
        sys.settrace(entered)
        try:
            found = outcome(judge, self.data[name], 120)
        finally:
            sys.settrace(before)
        self.seconds[name] = time.process_time() - start
        self.expected[name] = found
        if found.partition(":")[0] != self.entries[name].expected:
            raise SystemExit(f"{name}: the checker itself says {found}")

    def reaching(self, mutant: Mutant) -> list[str]:
        """Return the files that come by what is changed, the quick ones first."""
        files = set().union(*(self.reached.get((mutant.module, line), set()) for line in mutant.lines))
        return sorted(files, key=lambda name: (self.seconds[name], name))

    def kill(self, mutant: Mutant, first: str = "") -> Result:
        """Return which file tells a mutant from the checker, and by what."""
        changed: Any = mutant.code()
        files = self.reaching(mutant)
        if first in files:
            files = [first, *(name for name in files if name != first)]
        with checker({**self.code, f"{PACKAGE}.{mutant.module}": changed}) as judge:
            for name in files:
                found = outcome(judge, self.data[name], 1 + 10 * self.seconds[name])
                if found != self.expected[name]:
                    return f"{name}: {found.partition(':')[0]}"
        return "survived"

    def digest(self) -> str:
        parts = [source(name) for name in modules()]
        parts += [f"{name} {hashlib.sha256(b'|'.join(data)).hexdigest()}" for name, data in self.data.items()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def explained() -> dict[str, str]:
    """Return by pattern of keys the reason why such mutants may survive."""
    result: dict[str, str] = {}
    for path in sorted(EXPLAINED.glob("*.txt")):
        reason = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("# "):
                reason = line[2:]
            elif line:
                result[line] = reason
    return result


def reason_for(key: str, reasons: Mapping[str, str]) -> str:
    """Return why a mutant may survive, or nothing."""
    if key in reasons:
        return reasons[key]
    return next((why for pattern, why in reasons.items() if _matches(key, pattern)), "")


def _matches(key: str, pattern: str) -> bool:
    return pattern.endswith("*") and fnmatch.fnmatchcase(key, pattern.replace("[", "[[]"))


def stale(reasons: Mapping[str, str]) -> list[str]:
    """Return what is explained although there is no such mutant, or without a reason."""
    keys = {mutant.key for module in modules() for mutant in mutants(module)}
    return [
        pattern
        for pattern, why in reasons.items()
        if not why or not (pattern in keys or any(_matches(key, pattern) for key in keys))
    ]


def run(
    chosen: Iterable[str],
    state: Path | None = None,
    *,
    sample: int = 0,
    seed: int = 0,
    corpus: Corpus | None = None,
) -> Iterator[tuple[Mutant, Result]]:
    """Yield every mutant of some modules, or a sample of them, with its result.

    With `state`, what an interrupted run has found is not done again, and each mutant meets the file first
    that has killed it before.
    """
    corpus = corpus or Corpus(compiled())
    digest = corpus.digest()
    before = _read_state(state)
    todo = [mutant for module in chosen for mutant in mutants(module)]
    if sample:
        todo = random.Random(seed).sample(todo, min(sample, len(todo)))
    for mutant in todo:
        known = before.get(mutant.key, {"digest": "", "result": ""})
        if known["digest"] == digest:
            yield mutant, known["result"]
            continue
        result = corpus.kill(mutant, known["result"].rpartition(":")[0])
        if state is not None:
            with state.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": mutant.key, "digest": digest, "result": result}) + "\n")
        yield mutant, result


def _read_state(path: Path | None) -> dict[str, dict[str, str]]:
    if path is None or not path.exists():
        return {}
    entries = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {entry["key"]: entry for entry in entries}


def limit_memory(size: int = 4 << 30) -> None:
    """See to it that a mutant that takes all memory is stopped, not the machine."""
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))


def main(arguments: list[str] | None = None) -> int:
    """Run mutants; print the score of each module, and what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.checker.mutation", description=__doc__)
    parser.add_argument("--module", action="append", help="only this module (repeatable)")
    parser.add_argument("--list", choices=["survivors", "killed", "explained"], help="list these mutants")
    parser.add_argument("--sample", type=int, default=0, help="only so many, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path, help="a file that keeps the results, to go on later")
    options = parser.parse_args(arguments)
    limit_memory()
    out, reasons = sys.stdout, explained()
    score: dict[str, list[int]] = {}
    found = run(options.module or modules(), options.state, sample=options.sample, seed=options.seed)
    for mutant, result in found:
        kind = (
            "killed"
            if result != "survived"
            else "explained"
            if reason_for(mutant.key, reasons)
            else "survivors"
        )
        numbers = score.setdefault(mutant.module, [0, 0, 0])
        numbers[["killed", "explained", "survivors"].index(kind)] += 1
        if options.list == kind:
            out.write(f"{mutant.key}{f'  -- {result}' if kind == 'killed' else ''}\n")
            out.flush()
    score["all"] = [sum(column) for column in zip(*score.values(), strict=True)] or [0, 0, 0]
    for module, (killed, reasoned, survived) in score.items():
        share = 100 * (killed + reasoned) / max(1, killed + reasoned + survived)
        out.write(
            f"{module:24} killed {killed:5}  explained {reasoned:4}  survived {survived:5}  {share:5.1f} %\n"
        )
    return 1 if score["all"][2] else 0


if __name__ == "__main__":
    sys.exit(main())
