"""Numbers that depend on draws: computations are noted, and evaluated only where a run needs a value."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np

from bisimdist.programs.replay.decision import known, settled, told_apart
from bisimdist.programs.replay.draws import Law, Uniform
from bisimdist.programs.replay.node import UNDECIDED, Node, Raised, enclosure
from bisimdist.programs.replay.rules import PARTIAL
from bisimdist.programs.replay.tape import current


class Lazy(Node):
    """A number that depends on draws, as Python and numpy see it."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        if self.kind is None:
            self.kind = _kind(self)
        return self.kind

    # what needs to know

    def __bool__(self) -> bool:
        return bool(_compared(operator.ne, self, 0))

    def __hash__(self) -> int:
        return hash(known(self))

    def __index__(self) -> int:
        return operator.index(known(self))

    def __int__(self) -> int:
        return int(known(apply(int, self)))

    def __float__(self) -> float:
        return float(known(self))

    def __complex__(self) -> complex:
        return complex(known(self))

    def __str__(self) -> str:
        return str(known(self))

    def __repr__(self) -> str:
        return repr(known(self))

    def __format__(self, how: str) -> str:
        digits = _FIXED.fullmatch(how)
        return format(known(self) if digits is None else known(round(self, int(digits[1]))), how)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(known(self), name)

    def __reduce__(self) -> Any:
        return (type(found := known(self)), (found,))

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    # what does not

    def __round__(self, digits: int | None = None) -> Any:
        return apply(round, self) if digits is None else apply(round, self, digits)

    def __floor__(self) -> Any:
        return apply(math.floor, self)

    def __ceil__(self) -> Any:
        return apply(math.ceil, self)

    def __trunc__(self) -> Any:
        return apply(math.trunc, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or any(value is not None for value in options.values()):
            return NotImplemented
        if any(isinstance(value, np.ndarray) and value.ndim for value in inputs if type(value) is not Lazy):
            return _one_by_one(ufunc, inputs)
        return _by_numpy(ufunc, inputs)

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        del types
        if function in {np.round, np.around}:
            return apply(np.round, *given, *options.values())
        if function is np.clip:
            bounds = dict(zip(("min", "max"), given[1:], strict=False))
            bounds |= {name.removeprefix("a_"): value for name, value in options.items()}
            return apply(np.clip, given[0], bounds.get("min"), bounds.get("max"))
        if function is np.where and not isinstance(given[0], np.ndarray):
            return given[1] if given[0] else given[2]
        return NotImplemented

    def item(self) -> Any:
        """Return the number as Python has it."""
        return apply(float if issubclass(self.__class__, float | np.floating) else int, self)

    def astype(self, kind: Any) -> Any:
        """Return the number as another type has it."""
        made = np.dtype(kind).type
        return apply({np.float64: np.float64, np.float32: np.float32}.get(made, np.int64), self)

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """Round as numpy does."""
        del out
        return apply(np.round, self, decimals)

    def is_integer(self) -> bool:
        return bool(self == apply(math.floor, self))

    def to_bytes(self, length: int = 1, byteorder: str = "big", *, signed: bool = False) -> Any:
        """Return the bytes of the number."""
        from bisimdist.programs.replay.octets import Octets  # noqa: PLC0415 - it needs this module

        if signed or self >= 256**length:
            return known(self).to_bytes(length, byteorder, signed=signed)
        found = Octets(length)
        found.number = byteorder, self
        return found

    def bit_length(self) -> Any:
        return apply(int.bit_length, self)

    def conjugate(self) -> Any:
        return self

    @property
    def real(self) -> Any:
        return self

    @property
    def imag(self) -> int:
        return 0


class Numbers(np.ndarray[Any, Any]):
    """An array of numbers of which some depend on draws: functions of numpy take them one by one."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [value.view(np.ndarray) if type(value) is Numbers else value for value in inputs]
        if method == "__call__" and all(value is None for value in options.values()):
            return _one_by_one(ufunc, plain)
        if method == "reduce" and ufunc in {np.maximum, np.minimum} and plain[0].ndim == 1:
            found = plain[0][0]
            for value in plain[0][1:]:
                found = apply(ufunc, found, value)
            return found
        found = getattr(ufunc, method)(*plain, **options)
        return found.view(Numbers) if isinstance(found, np.ndarray) else found

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        if function in {np.round, np.around} or (function is np.clip and len(given) == 3):
            of = {np.clip: lambda x, low, high: np.minimum(np.maximum(x, low), high)}.get(function)
            return of(*given) if of else given[0].round(*given[1:], **options)
        return super().__array_function__(function, types, given, options)

    def round(self, decimals: int = 0, out: Any = None) -> Any:  # type: ignore[override]
        """Round each number."""
        del out
        return _each_of(lambda value: np.round(value, decimals), [self])

    def clip(self, least: Any = None, most: Any = None) -> Any:  # type: ignore[override]
        """Clip each number."""
        return np.clip(self, -math.inf if least is None else least, math.inf if most is None else most)


def _each_of(function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    made = np.frompyfunc(function, len(inputs), 1)(*map(_held, inputs))
    return made.view(Numbers) if isinstance(made, np.ndarray) and made.ndim else made


def _one_by_one(ufunc: Any, inputs: Sequence[Any]) -> Any:
    def one(*values: Any) -> Any:
        return _by_numpy(ufunc, values) if any(type(value) is Lazy for value in values) else ufunc(*values)

    found = _each_of(one, inputs)
    return found.view(np.ndarray).astype(bool) if ufunc in COMPARED and type(found) is Numbers else found


def _kind(node: Node) -> type:
    """Return the type of a number; where its range says nothing, of its value at an end of all ranges."""
    least, most = node.run.region.hull(node.run.laws)
    for lows, highs in ((least, most), (least, least), (most, most)):
        try:
            found = enclosure(node, lows, highs)
        except Exception:
            continue
        if found is not None:
            return type(found[0])
    return float


_FIXED = re.compile(r".*\.(\d+)f", re.DOTALL)

SMALL = 1 << 15
"""A draw with fewer values is divided by its rest value by value."""


def _rest(function: Callable[..., Any], node: Any, other: Any) -> Any:
    """Return a rest. That of a draw nobody has looked at is drawn by itself, and the quotient as well."""
    mask = function is operator.and_
    if type(node) is not Lazy or type(other) is not int or other < 1 or (mask and (other + 1) & other):
        return apply(function, node, other)
    size = other + mask
    last = _last(node, size)
    if last is not None:
        if node.run.laws[last.draws[0]].high < size:
            return last
        last.used = node.used
        found = _rest(function, last, other)
        node.draws, node.plan = tuple(sorted({*node.arguments[0].draws, *last.draws})), None  # type: ignore[index]
        return found
    if not _parted(node, size):
        return apply(function, node, other)
    return node.arguments[1]  # type: ignore[index]


def _last(node: Lazy, size: int) -> Any:
    """Return a draw that is added to a multiple of a size."""
    if node.function is operator.add and node.arguments is not None:
        first, second = node.arguments
        bare = type(second) is Lazy and second.arguments is None and second.scale == 1.0
        if bare and type(first) is Lazy and first.function is operator.mul and first.arguments:
            times = first.arguments[1]
            return second if type(times) is int and times % size == 0 else None
    return None


def _parted(node: Lazy, size: int) -> bool:
    """Draw a number as a multiple of a size and a rest, which are independent; tell whether that was done."""
    if node.arguments is not None or node.scale != 1.0 or node.used:
        return False
    run, draw = node.run, node.draws[0]
    law = run.laws[draw]
    if type(law) is not Uniform or not max(SMALL, size + 1) <= law.count:
        return False
    rows = law.count // size
    if law.part_of is not None or (law.count % size and not _compared(operator.lt, node, rows * size)):
        return False
    parts = []
    for part in (Uniform(rows, (draw, size)), Uniform(size, (draw, 1))):
        run.laws.append(part)
        parts.append(Lazy(lambda low, high: (low, high), None, (len(run.laws) - 1,), run))
        parts[-1].scale = 1.0
    node.function, node.arguments = operator.add, (apply(operator.mul, parts[0], size), parts[1])
    node.draws, node.scale, node.plan = (parts[0].draws[0], parts[1].draws[0]), None, None
    return True


def _by_numpy(ufunc: Any, inputs: Sequence[Any]) -> Any:
    compare = COMPARED.get(ufunc)
    if compare is not None:
        return np.bool_(_compared(compare, *inputs))
    if ufunc in {np.isnan, np.isinf, np.isfinite, np.signbit}:
        return np.bool_(known(apply(ufunc, *inputs)))
    return apply(ufunc, *inputs)


def _operator(function: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    rests = function in {operator.mod, operator.and_}

    def forward(self: Lazy, other: Any) -> Any:
        if not isinstance(other, int | float | np.number | np.bool_):
            return _other(function, self, other)
        return (_rest if rests else apply)(function, self, other)

    def backward(self: Lazy, other: Any) -> Any:
        if not isinstance(other, int | float | np.number | np.bool_):
            return _other(function, other, self)
        return apply(function, other, self)

    return forward, backward


def _held(value: Any) -> Any:
    """Return a number inside an array without dimensions, so that numpy does not look at it."""
    if type(value) is not Lazy:
        return value.view(np.ndarray) if type(value) is Numbers else value
    made = np.empty((), dtype=object)
    made[()] = value
    return made


def _other(function: Callable[..., Any], one: Any, two: Any) -> Any:
    """Compute with something that is not a float or an integer: an exact number, or an array."""
    if isinstance(one, np.ndarray) or isinstance(two, np.ndarray):
        return _each_of(function, [_held(one), _held(two)])
    if isinstance(one, Fraction) or isinstance(two, Fraction):
        return apply(function, one, two)
    return NotImplemented


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and_",
    "or_",
    "xor",
):
    _forward, _backward = _operator(getattr(operator, _name))
    setattr(Lazy, f"__{_name.rstrip('_')}__", _forward)
    setattr(Lazy, f"__r{_name.rstrip('_')}__", _backward)

for _name in ("neg", "pos", "abs", "invert"):
    setattr(Lazy, f"__{_name}__", lambda self, _function=getattr(operator, _name): apply(_function, self))  # noqa: B008

for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(
        Lazy,
        f"__{_name}__",
        lambda self, other, _function=getattr(operator, _name): _compared(_function, self, other),  # noqa: B008
    )

for _name in [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "cbrt",
    "sin",
    "cos",
    "tan",
    "arctan",
    "tanh",
    "rint",
    "sign",
    "square",
]:
    setattr(Lazy, _name, lambda self, _function=getattr(np, _name): apply(_function, self))  # noqa: B008

COMPARED = {
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
}


@lru_cache(256)
def _ends(make: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """Return what makes values of the ends of a range; the same for the same function."""
    return lambda low, high: (made := make(low), made if low is high or low == high else make(high))


def drawn(law: Law, make: Callable[[Any], Any], scale: float | None = None) -> Any:
    """Draw a number: what a function, which grows, makes of an integer with a law."""
    run = current.run
    if run.concrete:
        return make(run.value(law))
    draw = run.draw(law)
    node = Lazy(_ends(make), None, (draw,), run)
    node.scale = scale
    return node


def apply(function: Callable[..., Any], *arguments: Any) -> Any:
    """Compute a function of numbers of which some depend on draws."""
    run = current.run
    draws: tuple[int, ...] = ()
    for value in arguments:
        if type(value) is not Lazy:
            continue
        value.used = True
        if value.draws != draws:
            draws = tuple(sorted({*draws, *value.draws})) if draws else value.draws
    made = Lazy(function, arguments, draws, run)
    if function in PARTIAL:
        settled(made)
    return made


_NUMBERS = frozenset({Lazy, float, int})


def _compared(compare: Callable[[Any, Any], Any], one: Any, two: Any) -> Any:
    """Compare two numbers."""
    if type(two) not in _NUMBERS and not isinstance(two, int | float | np.number | np.bool_):
        if isinstance(two, np.ndarray):
            return np.frompyfunc(lambda a, b: _compared(compare, a, b), 2, 1)(one, two).astype(bool)
        if not isinstance(two, Fraction):
            return NotImplemented
    outcome = told_apart((one, two), _WAYS[compare], compare)
    if type(outcome) is Raised:
        raise outcome.error
    return outcome


def _less(compare: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    if a is None or b is None:
        return UNDECIDED
    if compare(a[1], b[0]):
        return True
    return UNDECIDED if compare(a[0], b[1]) or _strange(a, b) else False


def _more(compare: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    if a is None or b is None:
        return UNDECIDED
    if compare(a[0], b[1]):
        return True
    return UNDECIDED if compare(a[1], b[0]) or _strange(a, b) else False


def _strange(a: Any, b: Any) -> bool:
    """Tell whether there is no number where there is a range."""
    return a[0] is not a[1] and (a[0] != a[0] or b[0] != b[0])


def _same(compare: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    if a is None or b is None:
        return UNDECIDED
    if a[0] == a[1] and b[0] == b[1]:
        return bool(compare(a[0], b[0]))
    if a[0] is a[1] and b[0] is b[1]:
        return bool(compare(a[0], b[0]))
    if a[1] < b[0] or b[1] < a[0]:
        return compare is operator.ne
    return UNDECIDED


_WAYS: dict[Any, Callable[[Any, Any], Any]] = {
    compare: partial(way, compare)
    for way, compares in (
        (_less, (operator.lt, operator.le)),
        (_more, (operator.gt, operator.ge)),
        (_same, (operator.eq, operator.ne)),
    )
    for compare in compares
}
