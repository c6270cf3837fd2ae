"""What stands for the generators of numpy: its published algorithms, from uniform doubles down.

The methods compute as the C code of numpy does, with the same libm: the same uniform doubles give the same
result to the last bit. The ziggurats of `Generator` are not followed. Their values have the law that numpy
intends, and the answer names this assumption.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, ctx

from bisimdist.programs.control import Outside
from bisimdist.programs.replay.draws import Uniform
from bisimdist.programs.replay.lazy import Lazy, Numbers, apply, drawn
from bisimdist.programs.replay.node import NoValue
from bisimdist.programs.replay.rules import LIBM, RULES, increasing, moved
from bisimdist.programs.replay.sources import below, double, positive, refuse_seed
from bisimdist.programs.replay.tape import current

FLOATS, HALF_UNIT = Uniform(1 << 24), np.float32(2.0**-24)
CELLS = 64
"""A value with a law of its own is known by which of 2^CELLS equally probable cells it lies in."""

HALF_ULP = 2.0**-60
"""Smaller terms change no sum that is about 1."""

_OLD, _NEW = np.random.RandomState, np.random.Generator

ASSUMED: set[str] = set()
"""What was taken to have the law that it is meant to have."""


def _not_known(what: str) -> Outside:
    return Outside(what, "draw it from uniform numbers")


_plain_log, _sqrt = math.log, math.sqrt  # those of the module are told of open numbers, while programs run


def log(x: Any) -> Any:
    """Return the logarithm as C has it, minus infinity of 0."""
    return apply(_log, x) if type(x) is Lazy else _log(x)


def _log(x: float) -> float:
    return _plain_log(x) if x > 0 else (-math.inf if x == 0 else math.nan)


RULES[_log] = RULES[math.log]


def _applied(function: Callable[..., Any], *values: Any) -> Any:
    return apply(function, *values) if any(type(value) is Lazy for value in values) else function(*values)


def _laplace(u: float, loc: float, scale: float, wide: int = 0) -> float:
    """Return a value of Laplace's law from a uniform one, with a logarithm that is so many units away."""
    if u >= 0.5:
        return loc - scale * float(moved(_log(2.0 - u - u), -wide))
    return loc + scale * float(moved(_log(u + u), wide))


def _laplace_between(f: Callable[..., Any], ranges: Any) -> Any:
    """Enclose it: it grows with u and with its location, and is monotone in its scale."""
    (a, b), locations, scales = ranges
    if not (0 < a <= b < 1 and scales[0] >= 0):
        return None
    lows = [f(a, locations[0], scale, -LIBM) for scale in scales]
    highs = [f(b, locations[1], scale, LIBM) for scale in scales]
    return min(lows), max(highs)


def _trials(u: float, p: float) -> int:
    """Return how many trials it takes, as numpy searches for it."""
    x, total, prod, q = 1, p, p, 1.0 - p
    while u > total:
        prod *= q
        if total + prod == total and prod < HALF_ULP:
            raise NoValue
        total += prod
        x += 1
    return x


def _successes(u: float, n: int, p: float, first: float, bound: int) -> int:
    """Return how many trials succeed, as numpy inverts the law; beyond the bound it draws again."""
    x, px, q = 0, first, 1.0 - p
    while u > px:
        x += 1
        if x > bound:
            break
        u -= px
        px = ((n - x + 1) * p * px) / (x * q)
    return x


RULES[_laplace] = _laplace_between
RULES[_trials] = RULES[_successes] = increasing


def sqrt(x: Any) -> Any:
    return apply(_sqrt, x) if type(x) is Lazy else _sqrt(x)


def ceil(x: Any) -> Any:
    return apply(math.ceil, x) if type(x) is Lazy else math.ceil(x)


def _cells(name: str, quantile: Callable[[arb], arb]) -> Any:
    """Draw a value with a law: in one of very many cells of the same probability, at both of its ends."""
    run = current.run
    ASSUMED.add(f"{name} of numpy")
    if run.concrete:
        k = run.value(Uniform(1 << CELLS))
        return float(quantile((arb(k) + 0.5) / (1 << CELLS)).mid())
    draw = run.draw(Uniform(1 << CELLS))

    def ends(low: Any, high: Any) -> tuple[float, float]:
        before, ctx.prec = ctx.prec, 160
        try:
            first = quantile(arb(low) / (1 << CELLS)) if low else None
            last = quantile(arb(high + 1) / (1 << CELLS)) if high + 1 < 1 << CELLS else None
        finally:
            ctx.prec = before
        return (
            -math.inf if first is None else math.nextafter(float(first.lower()), -math.inf),
            math.inf if last is None else math.nextafter(float(last.upper()), math.inf),
        )

    return Lazy(ends, None, (draw,), run)


def _normal() -> Any:
    return _cells("normal", lambda u: arb(2).sqrt() * (2 * u - 1).erfinv())


def _exponential() -> Any:
    return _cells("exponential", lambda u: -((1 - u).log()))


def _several(one: Callable[[], Any], size: Any) -> Any:
    """Return one value, or an array of so many."""
    if size is None:
        return one()
    shape = (size,) if isinstance(size, int | np.integer) else tuple(size)
    made = np.empty(shape, dtype=object)
    for place in np.ndindex(*shape):
        made[place] = one()
    return (
        made.view(Numbers)
        if current.run is not None and not current.run.concrete
        else np.array(made.tolist())
    )


def _each(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method that draws one value take a size."""

    def sized(self: Any, *values: Any, size: Any = None, **named: Any) -> Any:
        count = method.__code__.co_argcount - 1
        if len(values) > count:
            values, size = values[:count], values[count]
        return _several(lambda: method(self, *values, **named), size)

    return sized


class _Numpy:
    """What both generators have in common."""

    def __init__(self, seed: Any = None) -> None:
        self._run: Any = None
        self._second: Any = None
        self._fixed = _fixed(seed)

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and name != "seed":
            refuse_seed(self._fixed)
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and (hasattr(_OLD, name) or hasattr(_NEW, name)):
            raise _not_known(f"numpy.random's {name} is drawn by an algorithm that is not followed")
        raise AttributeError(name)

    @_each
    def uniform(self, low: Any = 0.0, high: Any = 1.0) -> Any:
        return low + (high - low) * double()

    @_each
    def laplace(self, loc: Any = 0.0, scale: Any = 1.0) -> Any:
        return _applied(_laplace, positive(), loc, scale)

    @_each
    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0) -> Any:
        return loc - scale * log(-log(1.0 - positive()))

    @_each
    def logistic(self, loc: Any = 0.0, scale: Any = 1.0) -> Any:
        u = positive()
        return loc + scale * log(u / (1.0 - u))

    @_each
    def binomial(self, n: Any, p: Any) -> Any:
        if p > 0.5:
            return n - self._inverse(n, 1.0 - p)
        return self._inverse(n, p)

    @staticmethod
    def _inverse(n: int, p: float) -> Any:
        n, p = int(n), float(p)
        if n == 0 or p == 0.0:
            return 0
        if p * n > 30.0:
            raise _not_known(
                "numpy.random's binomial of a mean above 30 is drawn by an algorithm that is not followed"
            )
        q = 1.0 - p
        first = math.exp(n * math.log(q))
        bound = int(min(n, n * p + 10.0 * math.sqrt(n * p * q + 1)))
        while (x := _applied(_successes, double(), n, p, first, bound)) > bound:
            pass
        return x

    @_each
    def exponential(self, scale: Any = 1.0) -> Any:
        return scale * self._exponential()

    @_each
    def standard_exponential(self) -> Any:
        return self._exponential()

    @_each
    def normal(self, loc: Any = 0.0, scale: Any = 1.0) -> Any:
        return loc + scale * self._gauss()

    @_each
    def standard_normal(self) -> Any:
        return self._gauss()

    if TYPE_CHECKING:  # how the two generators differ

        def _exponential(self) -> Any: ...
        def _gauss(self) -> Any: ...

    def shuffle(self, x: Any) -> None:
        for i in reversed(range(1, len(x))):
            j = int(below(i + 1))
            x[i], x[j] = x[j], x[i]

    def permutation(self, x: Any) -> Any:
        made = np.arange(x) if isinstance(x, int | np.integer) else np.array(x)
        self.shuffle(made)
        return made

    def bytes(self, length: int) -> bytes:
        return bytes(int(below(256)) for _ in range(length))

    @staticmethod
    def _search(p: Any) -> Any:
        return _applied(_trials, double(), float(p))

    def _choice(self, a: Any, size: Any, replace: bool, p: Any, integer: Callable[[int], Any]) -> Any:
        items = range(a) if isinstance(a, int | np.integer) else np.asarray(a)
        if p is not None and not replace:
            raise _not_known(
                "numpy.random's choice with p, without replacement, has an algorithm that is not followed"
            )
        if p is not None:
            sums = np.cumsum(np.asarray(p, dtype=float))
            sums /= sums[-1]
            return _several(lambda: items[_place(sums, double())], size)
        if replace or size is None:
            return _several(lambda: items[int(integer(len(items)))], size)
        count = int(np.prod(size))
        if count > len(items):
            raise ValueError("Cannot take a larger sample than population when replace is False")
        order = self.permutation(len(items))[:count]
        return np.array([items[k] for k in order]).reshape(size)


def _place(sums: Any, u: Any) -> int:
    """Return how many sums are at most a number."""
    return sum(1 for total in sums if not u < total)


class Generator(_Numpy):
    """As `numpy.random.Generator`."""

    @property
    def bit_generator(self) -> Any:
        raise _not_known("the bit generator of numpy is used directly")

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        del out
        if np.dtype(dtype) == np.float32:
            return _several(lambda: drawn(FLOATS, lambda k: np.float32(k) * HALF_UNIT), size)
        return _several(double, size)

    def integers(
        self, low: int, high: int | None = None, size: Any = None, dtype: Any = None, endpoint: bool = False
    ) -> Any:
        del dtype
        first, last = (0, low) if high is None else (low, high)
        count = int(last) - int(first) + bool(endpoint)
        if count <= 0:
            raise ValueError("low >= high")
        return _several(lambda: int(first) + below(count), size)

    def choice(  # noqa: PLR0913, PLR0917
        self,
        a: Any,
        size: Any = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Any:
        del axis, shuffle
        return self._choice(a, size, replace, p, below)

    @_each
    def geometric(self, p: Any) -> Any:
        if p >= 0.333333333333333333333333:
            return self._search(p)
        return ceil(-_exponential() / math.log1p(-p))

    def _exponential(self) -> Any:
        return _exponential()

    def _gauss(self) -> Any:
        return _normal()


class RandomState(_Numpy):
    """As `numpy.random.RandomState`, and the functions of `numpy.random`."""

    def seed(self, seed: Any = None) -> None:
        self._fixed = _fixed(seed)

    def random_sample(self, size: Any = None) -> Any:
        return _several(double, size)

    random = ranf = sample = random_sample

    def rand(self, *shape: int) -> Any:
        return _several(double, shape or None)

    def randn(self, *shape: int) -> Any:
        return _several(self._gauss, shape or None)

    def randint(self, low: int, high: int | None = None, size: Any = None, dtype: Any = int) -> Any:
        del dtype
        first, last = (0, low) if high is None else (low, high)
        if int(last) <= int(first):
            raise ValueError("low >= high")
        return _several(lambda: int(first) + below(int(last) - int(first)), size)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        return self._choice(a, size, replace, p, below)

    @_each
    def geometric(self, p: Any) -> Any:
        if p >= 0.333333333333333333333333:
            return self._search(p)
        return ceil(log(1.0 - double()) / math.log(1.0 - p))

    def _exponential(self) -> Any:
        return -log(1.0 - double())

    def _gauss(self) -> Any:
        if self._run is not current.run:
            self._run, self._second = current.run, None
        if self._second is not None:
            second, self._second = self._second, None
            return second
        while True:
            x1, x2 = 2.0 * double() - 1.0, 2.0 * double() - 1.0
            r2 = x1 * x1 + x2 * x2
            if r2 < 1.0 and r2 != 0.0:
                break
        f = sqrt(-2.0 * log(r2) / r2)
        self._second = f * x1
        return f * x2


def numpy_functions() -> list[tuple[Any, Any]]:
    """Return the classes and functions of `numpy.random`, each with its replacement."""
    state = RandomState()
    found: list[tuple[Any, Any]] = [
        (np.random.default_rng, _default_rng),
        (np.random.Generator, Generator),
        (np.random.RandomState, RandomState),
        (np.random.mtrand._rand, state),
    ]
    found += [(getattr(np.random, name), _SeedOf) for name in _BITS]
    for name in np.random.__all__:
        method = getattr(RandomState, name, None) or getattr(_Numpy, name, None)
        value = getattr(np.random, name)
        if callable(value) and not isinstance(value, type) and value is not np.random.default_rng:
            found.append((value, _late(state, name) if method is not None else _unknown(name)))
    return found


def _late(state: RandomState, name: str) -> Callable[..., Any]:
    def draws(*values: Any, **named: Any) -> Any:
        return getattr(state, name)(*values, **named)

    return draws


def _fixed(seed: Any) -> object:
    """Return the seed that somebody fixed; None where the system gave it, which has 128 bits."""
    sequence = getattr(seed, "seed_seq", seed)
    entropy = getattr(sequence, "entropy", sequence)
    return None if isinstance(entropy, int) and entropy >= 1 << 96 else entropy


def _unknown(name: str) -> Callable[..., Any]:
    def draws(*_: Any, **__: Any) -> Any:
        raise _not_known(f"numpy.random's {name} is drawn by an algorithm that is not followed")

    return draws


_BITS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence")


class _SeedOf:
    """Stands for generators of bits: a seed is all that they are."""

    def __new__(cls, seed: Any = None) -> Any:
        return seed


def _default_rng(seed: Any = None) -> Generator:
    return seed if isinstance(seed, Generator) else Generator(seed)
