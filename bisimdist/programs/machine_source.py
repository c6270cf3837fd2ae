"""The random source and the analyst inside the machine: what they are asked for, instead of an answer."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, NoReturn

from flint import fmpq

from bisimdist.programs import draws_library
from bisimdist.programs.control import Outside
from bisimdist.programs.laws import Law, geometric_law
from bisimdist.programs.source import clipped_chances, exact_fraction, options_of, ratio_of, weights_of

MOST_KNOWN = 4096  # so many requests of one kind are remembered

_PLAIN = frozenset({int, str})


@dataclass(frozen=True, slots=True)
class Request:
    """What a program asks of the source."""

    key: tuple[object, ...]  # what is asked, as it is compared with what plain Python asks
    count: int  # the sum of the weights
    start: int = 0  # start and step: the value of outcome k is ``start + k step`` where `values` is None
    step: int = 1
    # values and weights: otherwise the values, and how many of `count` equal parts each of them has
    values: tuple[Any, ...] | None = None
    weights: tuple[int, ...] = ()
    # or parts with infinitely many values: how likely each of them is, between what it lies, and its law
    noise: tuple[tuple[fmpq, float, float, Law], ...] = ()
    unclipped: Request | None = None  # what would be asked if the noise were not clipped, where it is

    @property
    def chosen(self) -> bool:
        """Whether an analyst chooses the answer; its weights say nothing then."""
        return self.key[0] == "choose"


class _Probe(random.Random):
    """Python's own random source, with a look at what it asks for."""

    def __init__(self) -> None:
        self.asked = 0
        self.answer = 0

    def _randbelow(self, n: int) -> int:
        self.asked = n
        return self.answer


def _range_request(method: str) -> Callable[..., Request]:
    def make(*arguments: Any, **keywords: Any) -> Request:
        probe = _Probe()
        function = getattr(probe, method)
        start = function(*arguments, **keywords)
        count = probe.asked
        step = 1
        if count > 1:
            probe.answer = 1
            step = function(*arguments, **keywords) - start
        return Request(("below", count), count, start, step)

    return make


def _below(n: int) -> Request:
    if n <= 0:
        raise ValueError("Upper bound must be positive.")
    return Request(("below", n), n)


def _uniform(*arguments: Any) -> Request:
    if len(arguments) != 1:
        raise Outside("uniform(a, b) draws a float", "write uniform(n) or randrange(n)")
    return _below(*arguments)


def _bits(k: int) -> Request:
    if k < 0:
        raise ValueError("number of bits must be non-negative")
    return Request(("bits", k), 1 << k)


def _flip(p: Any) -> Request:
    chance = exact_fraction(p)
    if not 0 <= chance <= 1:
        raise ValueError(f"the probability is {chance}; expected a number in [0, 1]")
    return _flip_of(chance.numerator, chance.denominator)


@functools.lru_cache(MOST_KNOWN)
def _flip_of(n: int, d: int) -> Request:
    both = [(True, n), (False, d - n)]
    values, weights = zip(*[(value, weight) for value, weight in both if weight], strict=True)
    return Request(("flip", n, d), d, values=values, weights=weights)


def _pick(chances: Any) -> Request:
    values, weights = weights_of(chances)
    return Request(("pick", values, weights), sum(weights), values=values, weights=weights)


def _choose(options: Any) -> Request:
    values = options_of(options)
    return Request(("choose", values), 1, values=values, weights=(1,) * len(values))


def _geometric(a: Any) -> Request:
    n, d = ratio_of(a).as_integer_ratio()
    noise = ((fmpq(1), 0, inf, geometric_law(fmpq(n, d), upward=True)),)
    return Request(("geometric", n, d), 1, noise=noise if n else ())


def _two_sided(a: Any, most: int | None = None) -> Request:
    return _two_sided_of(*ratio_of(a).as_integer_ratio(), most)


@functools.cache
def _two_sided_of(n: int, d: int, most: int | None) -> Request:
    key, chance = ("two_sided_geometric", n, d), fmpq(n, d)
    up = (1 / (1 + chance), 0, inf, geometric_law(chance, upward=True))
    down = (1 - up[0], -inf, 0, geometric_law(chance, upward=False))
    whole = Request(key, 1, noise=(up, down) if n else ())
    if most is None:
        return whole
    values, weights = weights_of(clipped_chances(Fraction(n, d), most))
    return Request((*key, most), sum(weights), values=values, weights=weights, unclipped=whole)


class DrawMethod:
    """A method of the source that draws.

    name: what it is called.
    request: makes a request of its arguments.
    """

    __slots__ = ("_known", "name", "request")

    def __init__(self, name: str, request: Callable[..., Request]) -> None:
        self.name = name
        self.request = request
        self._known = functools.lru_cache(MOST_KNOWN, typed=True)(request)

    def asks(self, arguments: Sequence[Any], keywords: dict[str, Any] | None) -> Request:
        """Return what is asked for: the same object for the same numbers and texts, as a rule."""
        if keywords or not _PLAIN.issuperset(map(type, arguments)):
            return self.request(*arguments, **(keywords or {}))
        return self._known(*arguments)

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise Outside(
            f"{self.name} is drawn in a function that built-in code calls",
            "write the loop out, with the draw in its body",
        )


DRAWS: dict[str, DrawMethod] = {
    name: DrawMethod(name, make)
    for name, make in {
        "randrange": _range_request("randrange"),
        "randint": _range_request("randint"),
        "randbelow": _below,
        "_randbelow": _below,
        "getrandbits": _bits,
        "randbits": _bits,
        "flip": _flip,
        "uniform": _uniform,
        "pick": _pick,
        "geometric": _geometric,
        "two_sided_geometric": _two_sided,
    }.items()
}  # the methods of a source that draw, by name


@dataclass(slots=True, eq=False)
class LibraryMethod:
    """A method of the source that Python builds of others."""

    function: Callable[..., Any]  # what it does, as a function of the source and its arguments

    def __call__(self, *_: object, **__: object) -> NoReturn:
        DRAWS["randrange"](self.function.__name__)


class SourceClass:
    """A class of random sources, for making one and for ``isinstance``."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def __call__(self, *arguments: object) -> Source:
        if arguments:
            raise Outside(
                "the random source is made from a seed",
                "write random.SystemRandom(), or take rng as a parameter",
            )
        return SOURCE


LIBRARY: dict[str, LibraryMethod] = {
    function.__name__: LibraryMethod(function)
    for function in (draws_library.choice, draws_library.shuffle, draws_library.sample)
}  # the methods that Python builds of others, by name

_INSTEAD = {
    "random": "compare rng.randrange(n) with a number, or write rng.flip(Fraction(1, 3))",
    "choices": "write [rng.choice(items) for _ in range(k)]",
    "seed": "leave it out: every value of the source is taken into account",
    "randbytes": "write rng.getrandbits(8 * n)",
    "token_bytes": "write rng.getrandbits(8 * n)",
    "token_hex": "write rng.getrandbits(8 * n)",
}


def refused_method(name: str) -> tuple[str, str]:
    """Return what is wrong with a method of the source, and what to write instead."""
    return (
        f"the random source is asked for {name}",
        _INSTEAD.get(
            name,
            "draw with randrange, randint, getrandbits, choice, shuffle, sample, flip, pick or geometric",
        ),
    )


class Source:
    """The value that stands for the random source while a program is explored."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise Outside(*refused_method(name))


for _name, _found in (DRAWS | LIBRARY).items():
    setattr(Source, _name, _found)  # found sooner than by __getattr__
SOURCE = Source()


class _Observe:
    """What ``observe`` is inside the machine."""

    __slots__ = ()


OBSERVE = _Observe()

_CHOOSE = DrawMethod("choose", _choose)


class Analyst:
    """The value that stands for who asks while a program is explored."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in {"choose", "tell"}:
            raise Outside(f"the analyst is asked for {name}", "write analyst.choose([...]) or tell(...)")
        return _CHOOSE if name == "choose" else OBSERVE


ANALYST = Analyst()
