"""Check every chain: single runs in another process have to end as the chain says."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bisimdist.errors import ModelError
from bisimdist.programs.control import Outside
from bisimdist.programs.inputs import Input
from bisimdist.programs.parting import Parting
from bisimdist.programs.replay.catching import caught
from bisimdist.programs.replay.grid import rounded
from bisimdist.programs.replay.loading import bound_call, imported
from bisimdist.programs.replay.node import Raised
from bisimdist.programs.replay.released import Released
from bisimdist.programs.replay.search import once
from bisimdist.programs.replay.tape import GivenUp, Played
from bisimdist.programs.request import Request
from bisimdist.programs.texts import same_text, typed_text

Sample = tuple[str, list[int], str]
"""The name of an input, what is drawn, and a text that all equal outputs share."""

MOST_LINES = 40
"""So many runs are looked at for the lines that draw, and for those where runs part."""

SECONDS = 60.0


def ended(
    call: Callable[[Any], Any], value: Any, answers: Sequence[int], finish: Any, alike: Callable[[Any], str]
) -> str:
    """Run a program on single draws, and return the text that equal outputs share."""
    run = Played(answers)
    try:
        found = once(run, lambda: call(value))
    except GivenUp:
        return "asks for more draws"
    if run.at < len(answers):
        return "asks for fewer draws"
    if finish is not None and type(found) is not Raised:
        found = finish(found)
    end: str = Released(found, (), (), (), alike).end_of(())[-1][1]
    return end


@dataclass(slots=True)
class Watchman:
    """Another process, which imports the program while it is explored here."""

    function: Callable[..., Any] | str
    process: subprocess.Popen[bytes] | None = None

    @classmethod
    def hired(cls, function: Callable[..., Any] | str, request: Request) -> Watchman:
        """Start the process, if runs are to be checked."""
        if not isinstance(function, str) or not request.replays:
            return cls(function)
        code = "from bisimdist.programs.replay.guard import main; main()"
        environment = {
            **os.environ,
            "PYTHONHASHSEED": "4711",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        process = subprocess.Popen([sys.executable, "-c", code], env=environment, **pipes)  # type: ignore[call-overload]
        watchman = cls(function, process)
        watchman._send((function, request.grid, "type" in request.kinds, request.allowed))
        return watchman

    def _send(self, what: Any) -> None:
        if self.process is not None and self.process.stdin is not None:
            try:
                pickle.dump(what, self.process.stdin)
                self.process.stdin.flush()
            except OSError:
                pass

    def check(
        self, call: Callable[[Any], Any], inputs: Sequence[Input], samples: Sequence[Sample], request: Request
    ) -> int:
        """Compare runs, and return how many.

        Raises ModelError if a run ends otherwise.
        """
        values = {item.name: item.make() for item in inputs}
        alike = typed_text if "type" in request.kinds else same_text
        finish = None if request.grid is None else rounded(request.grid)
        makers = {item.name: item.make for item in inputs}
        for name, answers, end in samples[:: max(1, len(samples) // MOST_LINES)]:
            for _ in range(2):
                _compare(name, answers, end, ended(call, makers[name](), answers, finish, alike), "")
        if self.process is None or not samples:
            return min(len(samples), MOST_LINES)
        self._send((values, samples))
        left = request.deadline.left()
        try:
            out, err = self.process.communicate(timeout=SECONDS if left is None else max(1.0, left))
        except subprocess.TimeoutExpired:
            return min(len(samples), MOST_LINES)
        try:
            count, wrong = pickle.loads(out)
        except (EOFError, pickle.UnpicklingError):
            words = err.decode(errors="replace").strip().splitlines()
            why = words[-1] if words else f"it ended with exit code {self.process.returncode}"
            raise ModelError(f"the program does not run in another process: {why}") from None
        if wrong is not None:
            name, answers, end, said = wrong
            _compare(name, answers, end, said, " in another process")
        return int(count)

    def dismiss(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                if pipe is not None:
                    try:  # noqa: SIM105
                        pipe.close()
                    except OSError:
                        pass


def _compare(name: str, answers: Sequence[int], end: str, found: str, where: str) -> None:
    if found == end:
        return
    reason = (
        "the order of a set, an address or the environment"
        if where
        else "a global or a cache that changes, a clock, an address, or an unknown source of chance"
    )
    raise ModelError(
        f"two equal runs differ: with the draws {list(answers)[:6]} one ends with {end[:60]} and the other"
        f"{where} with {found[:60]}; it depends on {reason}",
        place=f"input {name}",
    )


def main() -> None:
    """Run a program in this process, as another one says on standard input."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    function, grid, typed, allowed = pickle.load(source)
    alike = typed_text if typed else same_text
    finish = None if grid is None else rounded(grid)
    with caught(allowed) as work, imported(function, work) as program:
        call = bound_call(program.function)
        values, samples = pickle.load(source)
        wrong, count = None, 0
        for count, (name, answers, end) in enumerate(samples, 1):  # noqa: B007 - it is told
            copied = pickle.loads(pickle.dumps(values[name]))
            found = ended(call, copied, answers, finish, alike)
            if found != end:
                wrong = name, answers, end, found
                break
        target.write(pickle.dumps((count, wrong)))
        target.flush()


@dataclass(frozen=True, slots=True)
class Places:
    """The lines that draw, and those where runs part."""

    drawn: set[tuple[str, int]] = field(default_factory=set)
    partings: Mapping[tuple[str, str], tuple[Parting, ...]] = field(default_factory=dict)


def places_of(
    call: Callable[[Any], Any],
    inputs: Sequence[Input],
    samples: Sequence[Sample],
    files: set[str],
    pairs: Sequence[tuple[str, str]],
) -> Places:
    """Run a few samples again, and note where they draw, and where runs of two inputs part."""
    known = {os.path.abspath(file): file for file in files}  # noqa: PTH100
    makers = {item.name: item.make for item in inputs}

    def here() -> tuple[str, int]:
        frame: Any = sys._getframe(1)
        while frame is not None:
            file = known.get(frame.f_code.co_filename) or known.get(os.path.abspath(frame.f_code.co_filename))  # noqa: PTH100
            if file is not None:
                return file, frame.f_lineno
            frame = frame.f_back
        return "", 0

    def told(name: str, answers: Sequence[int]) -> tuple[list[tuple[str, int]], str]:
        run = Played(answers, here)
        try:
            found = once(run, lambda: call(makers[name]()))
            text = Released(found, (), (), ()).end_of(())[-1][0]
        except (GivenUp, Outside):
            text = "draws again"
        return run.places, text

    drawn: set[tuple[str, int]] = set()
    partings: dict[tuple[str, str], dict[object, Parting]] = {pair: {} for pair in pairs[:20]}
    for name, answers, _ in samples[:: max(1, len(samples) // MOST_LINES)]:
        places, text = told(name, answers)
        drawn.update(place for place in places if place[1])
        for pair, lines in partings.items():
            if pair[0] != name or len(lines) >= 5:
                continue
            others, other = told(pair[1], answers)
            common = next((k for k, (a, b) in enumerate(zip(places, others, strict=False)) if a != b), None)
            if common is None and text == other:
                continue
            file, line = (places[(common or len(places)) - 1] if places else ("", 0)) or ("", 0)
            where = f"after the draw in line {line}" if line else "before the first draw"
            what = f"{where} one run {_does(text)} and the other {_does(other)}"
            lines.setdefault((file, line), Parting(line or None, what, file))
    return Places(drawn, {pair: tuple(lines.values()) for pair, lines in partings.items()})


def _does(text: str) -> str:
    short = text if len(text) <= 40 else text[:37] + "..."
    if short.startswith("raise "):
        return short.replace("raise", "raises", 1)
    return short if short.startswith("draws") else f"returns {short}"
