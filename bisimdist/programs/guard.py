"""The guard: plain Python runs the program with a scripted source, and must do what the machine does."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import log
from typing import Any

from bisimdist.errors import ModelError
from bisimdist.programs import source as ours
from bisimdist.programs.instrument import STEP
from bisimdist.programs.machine import Announced, Ended, Machine, Outcome
from bisimdist.programs.machine_source import Request
from bisimdist.programs.source import (
    OWN_DRAWS,
    ExactRandom,
    clipped_chances,
    exact_fraction,
    options_of,
    ratio_of,
    weights_of,
)
from bisimdist.programs.texts import RAISES, text_of

SHORT = 8  # all paths of at most so many draws are run, as long as they are few

LONGEST = 400  # random paths are followed for so many draws

MOST_COPIED = 100_000  # and until so many parts of objects that can be changed have been copied on the way


class ScriptEnded(BaseException):
    """The script is over, and the program asks again."""


class Replacing(ExactRandom):
    """A source that stands for every source of a program, and for what observes it."""

    def randbelow(self, n: int) -> Any:
        if n <= 0:
            raise ValueError("Upper bound must be positive.")
        return self.randrange(n)

    def randbits(self, k: int) -> Any:
        return self.getrandbits(k)

    def step(self, cost: int) -> None:
        """Count an executed step."""

    def observe(self, *values: object) -> None:
        """Take note of what is announced."""

    def tell(self, *values: object) -> None:
        """Take note of what the analyst is told."""
        self.observe(*values)


class Scripted(Replacing):
    """A source and an analyst who answer from a script and write down what they are asked."""

    def __init__(self, script: Sequence[Any]) -> None:
        self.script = list(script)
        self.asked: list[tuple[object, ...]] = []
        self.seen: list[str] = []
        self.steps = 0
        self.over = False

    def _answer(self, *asked: object) -> Any:
        if len(self.asked) >= len(self.script):
            self.over = True  # also where the program swallows what comes now
            raise ScriptEnded
        self.asked.append(asked)
        return self.script[len(self.asked) - 1]

    def _randbelow(self, n: int) -> Any:
        return self._answer("below", n)

    def getrandbits(self, k: int) -> Any:
        if k < 0:
            raise ValueError("number of bits must be non-negative")
        return self._answer("bits", k)

    def uniform(self, n: int) -> Any:  # type: ignore[override]
        return self.randbelow(n)

    def flip(self, p: Any) -> Any:
        chance = exact_fraction(p)
        if not 0 <= chance <= 1:
            raise ValueError(f"the probability is {chance}; expected a number in [0, 1]")
        return self._answer("flip", chance.numerator, chance.denominator)

    def pick(self, chances: Mapping[Any, object]) -> Any:
        return self._answer("pick", *weights_of(chances))

    def choose(self, options: Any) -> Any:
        """Answer as the analyst does."""
        return self._answer("choose", options_of(options))

    def geometric(self, a: Any) -> Any:
        return self._answer("geometric", *ratio_of(a).as_integer_ratio())

    def two_sided_geometric(self, a: Any, most: Any = None) -> Any:
        if most is not None:
            clipped_chances(a, most)  # raises what the source raises
        clip = () if most is None else (most,)
        return self._answer("two_sided_geometric", *ratio_of(a).as_integer_ratio(), *clip)

    def step(self, cost: int) -> None:
        self.steps += cost * (not self.over)

    def observe(self, *values: object) -> None:
        if not self.over:
            self.seen.append(text_of(values[0] if len(values) == 1 else values))


@dataclass(frozen=True, slots=True)
class _Path:
    """What the source answered, what it was asked, how the run ended, if it did, and after how many steps."""

    script: tuple[Any, ...]
    asked: tuple[tuple[object, ...], ...]
    seen: tuple[str, ...]
    end: str | None
    steps: int


def guard(  # noqa: PLR0913
    machine: Machine,
    name: str,
    function: Callable[..., Any],
    arguments: Callable[[], Sequence[Any]],
    *,
    runs: int,
    given: Mapping[str, Any],
    seed: int = 0,
) -> int:
    """Run a program in plain Python along paths of the machine, and compare.

    function, arguments: the function, and a fresh copy of its arguments.
    runs: how many random paths to take.
    given: by parameter the source, and the analyst, inside the machine; plain Python is given scripted ones.
    Returns how many paths were compared.
    Raises ModelError if plain Python does something else than the machine.
    """
    chooser = random.Random(seed)
    done: set[tuple[Any, ...]] = set()
    work = _Guard(machine, function, arguments, given)
    for path in work.short(runs):
        done.add(path.script)
        work.compare(path, name)
    for _ in range(runs):
        path = work.random(chooser)
        if path.script not in done:
            done.add(path.script)
            work.compare(path, name)
    return len(done)


@dataclass(slots=True)
class _Guard:
    machine: Machine
    function: Callable[..., Any]
    arguments: Callable[[], Sequence[Any]]
    given: Mapping[str, Any]

    @property
    def counts_steps(self) -> bool:
        """Whether plain Python counts steps as well."""
        return self.machine.sources.program is not None

    def _first(self) -> Outcome:
        return self.machine.start(self.function, list(self.arguments()), dict(self.given))

    def short(self, most: int) -> list[_Path]:
        paths: list[_Path] = []
        scripts: list[tuple[Any, ...]] = [()]
        while scripts and len(paths) < most:
            script = scripts.pop()
            answers = iter(script)
            path, last = self._run(lambda _, answers=answers: next(answers), len(script))  # type: ignore[misc]
            paths.append(path)
            few = last is not None and (last.count if last.values is None else len(last.values)) <= SHORT
            if last is not None and few and len(script) < SHORT:
                scripts.extend((*script, value) for value in _values(last))
        return paths

    def random(self, chooser: random.Random) -> _Path:
        return self._run(lambda request: _random_value(request, chooser), LONGEST)[0]

    def _run(self, choose: Callable[[Request], Any], most: int) -> tuple[_Path, Request | None]:
        script: list[Any] = []
        asked: list[tuple[object, ...]] = []
        seen: list[str] = []
        outcome = self._first()
        steps = copied = 0
        while True:
            steps += self.machine.ticker.steps
            if isinstance(outcome, Ended):
                end = (RAISES if outcome.raised else "") + text_of(outcome.value)
                return _Path(tuple(script), tuple(asked), tuple(seen), end, steps), None
            if isinstance(outcome, Announced):
                seen.append(text_of(outcome.value))
                outcome = self.machine.resume(outcome.state, None, {})
                continue
            copied += sum(map(len, outcome.state.contents))
            if len(script) >= most or copied > MOST_COPIED:
                return _Path(tuple(script), tuple(asked), tuple(seen), None, steps), outcome.request
            answer = choose(outcome.request)
            asked.append(outcome.request.key)
            script.append(_raw(outcome.request, answer))
            outcome = self.machine.resume(outcome.state, answer, {})

    def compare(self, path: _Path, name: str) -> None:
        """Run plain Python along a path."""
        source = Scripted(path.script)
        keywords = dict.fromkeys(self.given, source)
        end: str | None
        with replaced(source, self.machine.sources.spaces()):
            try:
                end = text_of(self.function(*self.arguments(), **keywords))
            except ScriptEnded:
                end = None
            except Exception as error:
                end = RAISES + text_of(error)
        if source.over:
            end = None
        seen = tuple(source.seen) if self.machine.announces else ()
        same = tuple(source.asked) == path.asked and end == path.end and seen == path.seen
        if same and (source.steps == path.steps or not self.counts_steps):
            return
        raise ModelError(
            f"plain Python and the machine differ for the answers {list(path.script)[:40]}: "
            f"plain Python asks {source.asked[-1:]} and ends with {end}, "
            f"the machine asks {list(path.asked[-1:])} and ends with {path.end}; no answer is given",
            place=f"input {name}",
        )


def _values(request: Request) -> Sequence[Any]:
    if request.values is not None:
        return request.values
    if request.noise:
        return range(-1, 3) if len(request.noise) > 1 else range(3)
    return range(request.start, request.start + request.count * request.step, request.step)


def _random_value(request: Request, chooser: random.Random) -> Any:
    if request.values is not None:
        return chooser.choices(request.values, [float(weight) for weight in request.weights])[0]
    if request.noise:
        _, low, _, law = chooser.choices(request.noise, [float(part[0]) for part in request.noise])[0]
        distance = int(chooser.expovariate(-log(float(law.terms[0][0]))))
        return distance if low == 0 else -1 - distance
    return request.start + request.step * chooser.randrange(request.count)


def _raw(request: Request, answer: Any) -> Any:
    """Return what the source itself answers, before a method makes a value of it."""
    if request.values is not None or request.noise or request.key[0] == "bits":
        return answer
    return (answer - request.start) // request.step


def _replacements(source: Replacing) -> dict[int, Any]:
    """Return by identity of what Python has what answers from the script instead."""

    class Made(random.SystemRandom):
        """Making a source gives the scripted one."""

        def __new__(cls, *_: object) -> Any:
            return source

    names = ("randrange", "randint", "getrandbits", "choice", "shuffle", "sample")
    found: dict[int, Any] = {id(getattr(random, name)): getattr(source, name) for name in names}
    found |= {
        id(getattr(secrets, name)): getattr(source, name) for name in ("randbelow", "randbits", "choice")
    }
    found |= {id(kind): Made for kind in (random.Random, random.SystemRandom, ExactRandom)}
    found |= {id(getattr(ours, name)): getattr(source, name) for name in (*OWN_DRAWS, "observe")}
    return found


def _of_source(value: Any, source: Replacing) -> Any:
    """Return what answers from the script in place of a source that a module keeps, or a method of one."""
    if isinstance(value, random.Random):
        return source
    if isinstance(getattr(value, "__self__", None), random.Random):
        return getattr(source, value.__name__)
    return None


@contextmanager
def replaced(source: Replacing, spaces: Sequence[dict[str, Any]]) -> Iterator[None]:
    """Let what a program knows as random answer from the script for a while."""
    wanted = _replacements(source)
    kept: list[tuple[dict[str, Any], str, Any]] = []
    for space in (*spaces, vars(random), vars(secrets), vars(ours)):
        for name, value in list(space.items()):
            meant = wanted.get(id(value)) or _of_source(value, source)
            if meant is not None:
                kept.append((space, name, value))
                space[name] = meant
    for space in spaces:
        if STEP in space:
            kept.append((space, STEP, space[STEP]))
            space[STEP] = source.step
        for name in (*OWN_DRAWS, "observe"):
            if name not in space:
                kept.append((space, name, None))
                space[name] = getattr(source, name)
    try:
        yield
    finally:
        for space, name, value in kept:
            if value is None:
                del space[name]
            else:
                space[name] = value
