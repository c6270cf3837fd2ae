"""What stands for the sources of chance of the standard library while a program is replayed.

The functions of `random` are Python: they run, and come down to two draws, which are caught here. Outside a
run everything is as it was.
"""

from __future__ import annotations

import inspect
import math
import os
import random
import secrets
import uuid
from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

from flint import fmpq

from bisimdist.programs import source as ours
from bisimdist.programs.control import Outside
from bisimdist.programs.replay.draws import Geometric, Uniform
from bisimdist.programs.replay.lazy import Lazy, apply, drawn
from bisimdist.programs.replay.octets import Octets, octet_functions
from bisimdist.programs.replay.rules import RULES, growing
from bisimdist.programs.replay.tape import current
from bisimdist.programs.source import OWN_DRAWS, ExactRandom, clipped_chances, ratio_of

SEEDED = "_seeded"
"""The attribute of a source of `random` that holds the seed that somebody fixed."""

DOUBLES, POSITIVE, UNIT = Uniform(1 << 53), Uniform((1 << 53) - 1), 2.0**-53

NUMPY_METHODS = frozenset(
    [
        "integers",
        "standard_normal",
        "normal",
        "laplace",
        "exponential",
        "gumbel",
        "logistic",
        "permutation",
        "permuted",
        "binomial",
        "poisson",
        "standard_exponential",
    ]
)
OLD_METHODS = frozenset(["rand", "randn", "random_sample", "random_integers", "standard_t"])


def _unit(k: Any) -> Any:
    return k * UNIT


def _next_unit(k: Any) -> Any:
    return (k + 1) * UNIT


def double() -> Any:
    """Draw a double k·2^-53, all k from 0 to 2^53 - 1 alike."""
    return drawn(DOUBLES, _unit, UNIT)


def positive() -> Any:
    """Draw a double as often as it is 0: all k from 1 on are alike."""
    return drawn(POSITIVE, _next_unit, UNIT)


def below(n: int) -> Any:
    """Draw one of 0, …, n - 1."""
    n = int(n)
    if n <= 2:
        return current.run.coin(n)
    return drawn(Uniform(n), int, 1.0)


def _bits(k: int) -> Any:
    if k < 0:
        raise ValueError("number of bits must be non-negative")
    return below(1 << k)


def _bytes(n: int) -> Any:
    return Octets(int(n))


def refuse_seed(said: object) -> None:
    """Refuse a source whose seed is fixed: everybody knows what it draws, and it is not followed here.

    Raises Outside if there is a seed.
    """
    if said is not None:
        raise Outside(f"a seed is fixed ({str(said)[:40]})", "leave the seed out: a fixed one hides nothing")


def _unseeded(self: random.Random) -> None:
    if SEEDED in self.__dict__:
        refuse_seed(self.__dict__[SEEDED])


def _random(self: random.Random) -> Any:
    _unseeded(self)
    return double()


def _randbelow(self: random.Random, n: int) -> Any:
    _unseeded(self)
    return below(n)


def _getrandbits(self: random.Random, k: int) -> Any:
    if SEEDED in self.__dict__:
        refuse_seed(self.__dict__[SEEDED])
    return current.run.coin(2) if k == 1 else _bits(k)


def _randbytes(self: random.Random, n: int) -> Any:
    _unseeded(self)
    return _bytes(n)


def _setstate(self: random.Random, state: object) -> None:
    del self, state
    raise Outside(
        "the state of a random source is set again", "draw afresh: what was drawn is not drawn twice"
    )


_seed = random.Random.seed


def _note_seed(self: random.Random, a: Any = None, version: int = 2) -> None:
    """Seed a source, and note that somebody fixed its seed."""
    _seed(self, a, version)
    self.__dict__[SEEDED] = a


def note_seed(a: Any = None, version: int = 2) -> None:
    """Do so for the functions of `random`."""
    random._inst.seed(a, version)


def forget_seed() -> None:
    """Forget the seed of the functions of `random`."""
    random._inst.__dict__.pop(SEEDED, None)


def _geometric(self: ExactRandom, a: Any) -> Any:
    del self
    return drawn(Geometric(_ratio(a), 0), _same)


def _two_sided(self: ExactRandom, a: Any, most: int | None = None) -> Any:
    if most is not None:
        return self.pick(clipped_chances(a, most))
    return drawn(Geometric(_ratio(a), -inf), _same)


def _ratio(a: Any) -> fmpq:
    return fmpq(*ratio_of(a).as_integer_ratio())


def _same(k: Any) -> Any:
    return k


def _gauss(original: Callable[..., Any]) -> Callable[..., Any]:
    """Forget the second half of a pair of normal values where it is from another run."""

    def gauss(self: Any, mu: float = 0.0, sigma: float = 1.0) -> Any:
        if getattr(self, "_run", None) is not current.run:
            self._run, self.gauss_next = current.run, None
        return original(self, mu, sigma)

    return gauss


def _uuid4() -> uuid.UUID:
    """Draw the 122 bits of a random UUID."""
    made = object.__new__(uuid.UUID)
    high, middle, low = _bits(48), _bits(12), _bits(62)
    value = (high * (1 << 18) + (4 << 14) + middle * 4 + 2) * (1 << 62) + low
    object.__setattr__(made, "int", value)
    object.__setattr__(made, "is_safe", uuid.SafeUUID.unknown)
    return made


class Given(ExactRandom):
    """The parameter ``rng`` without a known type: a source of `random` with our exact draws."""

    def uniform(self, *bounds: Any) -> Any:
        return super().uniform(*bounds) if len(bounds) == 1 else random.Random.uniform(self, *bounds)

    def randbelow(self, n: int) -> Any:
        return below(n)

    def randbits(self, k: int) -> Any:
        return _bits(k)


def given_source(function: Callable[..., Any]) -> Any:
    """Return what a function is given for its parameter ``rng``, by its annotation or by what it calls."""
    from bisimdist.programs.replay.numpy_sources import Generator, RandomState  # noqa: PLC0415

    said = str(inspect.signature(function).parameters["rng"].annotation)
    code = getattr(inspect.unwrap(function), "__code__", None)
    called = frozenset(() if code is None else code.co_names)
    if "RandomState" in said or called & OLD_METHODS:
        return RandomState()
    if "Generator" in said or called & NUMPY_METHODS:
        return Generator()
    if "random.Random" in said or "SystemRandom" in said:
        return random.SystemRandom()
    return Given()


def attributes() -> list[tuple[Any, str, Any]]:
    """Return which attributes of which classes are replaced by what."""
    found: list[tuple[Any, str, Any]] = []
    for kind in (random.Random, random.SystemRandom):
        found += [
            (kind, "random", _random),
            (kind, "_randbelow", _randbelow),
            (kind, "getrandbits", _getrandbits),
            (kind, "randbytes", _randbytes),
            (kind, "setstate", _setstate),
        ]
    found += [
        (random.Random, "gauss", _gauss(random.Random.gauss)),
        (ExactRandom, "geometric", _geometric),
        (ExactRandom, "two_sided_geometric", _two_sided),
    ]
    return found


def noted() -> tuple[Any, str, Any]:
    """Return what notes seeds, also while a program is imported."""
    return random.Random, "seed", _note_seed


def functions() -> list[tuple[Any, Any]]:
    """Return which functions are replaced by what, wherever a module has them."""
    found: list[tuple[Any, Any]] = [
        *(
            (getattr(random, name), partial(function, random._inst))
            for name, function in (
                ("random", _random),
                ("getrandbits", _getrandbits),
                ("randbytes", _randbytes),
                ("gauss", _gauss(random.Random.gauss)),
                ("setstate", _setstate),
            )
        ),
        (os.urandom, _bytes),
        (secrets.randbits, _bits),
        (secrets.randbelow, below),
        (uuid.uuid4, _uuid4),
        *octet_functions(),
        (math.isclose, _close),
        (math.fsum, _sum),
    ]
    found += [(getattr(ours, name), _own(name)) for name in OWN_DRAWS]
    found.append((ours.observe, _observe))
    return found


def _own(name: str) -> Callable[..., Any]:
    def draws(*values: Any) -> Any:
        return getattr(_ours, name)(*values)

    return draws


_ours = ExactRandom()


def _observe(value: object) -> None:
    current.run.seen.append(("observe", value))


MATH = tuple(
    getattr(math, name)
    for name in dir(math)
    if callable(getattr(math, name))
    and name not in {"floor", "ceil", "trunc", "fsum", "isclose"}
    and not name.startswith("_")
)
"""Functions that look at doubles in C, and are told of numbers that depend on draws."""

_isclose, _fsum = math.isclose, math.fsum


def _close(a: Any, b: Any, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> bool:
    """Do as `math.isclose`."""
    if not any(type(value) is Lazy for value in (a, b)) or rel_tol < 0 or abs_tol < 0:
        return _isclose(a, b, rel_tol=rel_tol, abs_tol=abs_tol)
    if a == b:
        return True
    gap = abs(a - b)
    return bool(gap <= abs(rel_tol * b) or gap <= abs(rel_tol * a) or gap <= abs_tol)


def exact_sum(*values: float) -> float:
    """Return the sum, rounded once."""
    return _fsum(values)


RULES[exact_sum] = growing


def _sum(values: Any) -> Any:
    """Do as `math.fsum`."""
    every = list(values)
    return apply(exact_sum, *every) if any(type(value) is Lazy for value in every) else _fsum(every)
