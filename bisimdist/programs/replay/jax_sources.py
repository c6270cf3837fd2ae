"""What stands for `jax.random` while a program is replayed: floats of 32 bits, all of which are known.

A function that draws one float of 32 bits takes the 23 highest of 32 random bits. Here it runs as it is, with
a source that hands over all 2^23 of them in order. What it returns is kept, and checked to be monotone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from bisimdist.programs.control import Outside
from bisimdist.programs.replay.decision import known
from bisimdist.programs.replay.draws import Uniform
from bisimdist.programs.replay.lazy import Lazy, Numbers, drawn
from bisimdist.programs.replay.numpy_sources import ASSUMED
from bisimdist.programs.replay.sources import refuse_seed
from bisimdist.programs.replay.tape import Changed, current

SINGLES = Uniform(1 << 23)

SAMPLED = ("cauchy", "exponential", "gumbel", "laplace", "logistic", "normal", "uniform")
"""Functions that make a float of 32 random bits."""

ENOUGH = 1 << 32
"""A key is made of a number with so many values at least."""


class LazyKey:
    """A key, of which a function may draw once."""

    __slots__ = ("made", "run", "used")

    def __init__(self) -> None:
        self.run = current.run
        self.used = False
        self.made: dict[Any, Any] = {}

    def checked(self) -> LazyKey:
        """Return it. Raises `Changed` if it is from another run."""
        if self.run is not current.run:
            raise Changed
        return self


def _key_of(key: Any) -> LazyKey:
    if type(key) is not LazyKey:
        refuse_seed("of jax.random")
    return key.checked()  # type: ignore[no-any-return]


def _key(seed: Any, **_: Any) -> LazyKey:
    if not current.run.concrete and not (
        type(seed) is Lazy and seed.arguments is None and seed.run.laws[seed.draws[0]].high >= ENOUGH - 1
    ):
        refuse_seed(seed)
    ASSUMED.add("what keys of jax.random lead to")
    return LazyKey()


def _split(key: Any, num: Any = 2) -> Any:
    key, counts = _key_of(key), num if isinstance(num, tuple) else (int(num),)
    if counts not in key.made:
        key.made[counts] = np.empty(counts, dtype=object)
        key.made[counts].ravel()[:] = [LazyKey() for _ in range(key.made[counts].size)]
    return key.made[counts]


def _fold_in(key: Any, data: Any) -> LazyKey:
    return _key_of(key).made.setdefault(int(known(data)), LazyKey())  # type: ignore[no-any-return]


def _sampler(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def sample(key: Any, shape: Any = (), dtype: Any = None, **named: Any) -> Any:
        key = _key_of(key)
        if dtype is not None and np.dtype(dtype) != np.float32:
            raise Outside(f"jax.random.{name} draws {np.dtype(dtype)}", "draw float32")
        if key.used:
            raise Outside("a key of jax.random is used twice", "split it: what was drawn is not drawn twice")
        key.used = True
        make = _maker(name, original, tuple(sorted(named.items())))
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        if not shape:
            return drawn(SINGLES, make)
        made = np.empty(shape, dtype=object)
        for place in np.ndindex(*shape):
            made[place] = drawn(SINGLES, make)
        return made.view(Numbers)

    return sample


@lru_cache(32)
def _maker(
    name: str, original: Callable[..., Any], named: tuple[tuple[str, Any], ...]
) -> Callable[[Any], Any]:
    """Return what makes the value of the bits."""
    run, current.run = current.run, None
    try:
        values = _all_values(original, dict(named), 0)
        same = np.array_equal(values, _all_values(original, dict(named), 511))
    finally:
        current.run = run
    falls = bool(values[0] > values[-1])
    steps = values[::-1] if falls else values
    if not same or values.dtype != np.float32 or not bool((steps[:-1] <= steps[1:]).all()):
        raise Outside(f"jax.random.{name} is drawn by an algorithm that is not followed", "draw in numpy")
    return lambda k: steps[k]


def _all_values(original: Callable[..., Any], named: dict[str, Any], lowest: int) -> np.ndarray[Any, Any]:
    """Return what a function makes of all bits, in order."""
    import jax  # noqa: PLC0415 - an extra
    from jax.extend.random import define_prng_impl  # noqa: PLC0415

    count = SINGLES.count

    def bits(_: Any, width: int, shape: tuple[int, ...]) -> Any:
        if width != 32 or shape != (count,):
            raise Outside("jax.random draws other bits than 32 at a time", "draw in numpy")
        return (jax.numpy.arange(count, dtype=np.uint32) << 9) | np.uint32(lowest)

    whole = np.zeros(2, dtype=np.uint32)
    source = define_prng_impl(
        key_shape=(2,),
        seed=lambda *_: whole,
        split=lambda *_: whole,
        random_bits=bits,
        fold_in=lambda *_: whole,
        name=f"all bits {lowest}",
        tag="all",
    )
    key = jax.random.wrap_key_data(jax.numpy.asarray(whole), impl=source)
    return np.asarray(original(key, (count,), np.float32, **named))


def _unknown(name: str) -> Callable[..., Any]:
    def draws(*_: Any, **__: Any) -> Any:
        raise Outside(f"jax.random.{name} is drawn by an algorithm that is not followed", "draw in numpy")

    return draws


def jax_functions() -> list[tuple[Any, Any]]:
    """Return which functions of `jax.random` are replaced by what; none if nobody imported it."""
    module = sys.modules.get("jax.random")
    if module is None:
        return []
    ours: dict[str, Any] = {"key": _key, "PRNGKey": _key, "split": _split, "fold_in": _fold_in}
    harmless = {"key_data", "key_impl", "wrap_key_data", "clone"}
    found = []
    for name, value in vars(module).items():
        if (
            not name.startswith("_")
            and callable(value)
            and not isinstance(value, type)
            and name not in harmless
        ):
            made = _sampler(name, value) if name in SAMPLED else ours.get(name) or _unknown(name)
            found.append((value, made))
    return found
