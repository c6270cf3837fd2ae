"""Programs that use the language in many ways; each is explored and compared with plain Python."""

# ruff: noqa
# mypy: ignore-errors

from __future__ import annotations

import dataclasses
import enum
import itertools
import random
from collections import Counter, defaultdict, deque
from fractions import Fraction
from functools import partial
from math import gcd
from typing import Any

STEP = 2
TABLE = {"a": [1, 2, 3], "b": [4, 5]}
NAMES = ("x", "y")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


class Counting:
    limit = 3

    def __init__(self, start: int) -> None:
        self.value = start
        self.log: list[int] = []

    def bump(self, by: int, rng: Any) -> int:
        self.value += by * rng.randrange(2)
        self.log.append(self.value)
        return self.value

    def total(self) -> int:
        return sum(self.log)


class Doubling(Counting):
    def bump(self, by: int, rng: Any) -> int:
        return super().bump(2 * by, rng)


class Odd(ValueError):
    pass


def coin(rng: Any) -> bool:
    return rng.randrange(2) == 1


def nested(x, rng):
    return (rng.randrange(2) + x) * rng.randrange(3) - coin(rng)


def loops(x, rng):
    total = 0
    for i in range(3):
        if coin(rng):
            continue
        for j in [1, 2, i]:
            if rng.randrange(3) == j:
                break
            total += j
        else:
            total += 10
    else:
        total *= 2
    return total + x


def whiles(x, rng):
    n = 0
    while n < 3 and coin(rng):
        n += 1
        if n == 2 and rng.randrange(2):
            break
    else:
        n = -n
    return n + x


def comprehensions(x, rng):
    a = [rng.randrange(2) for _ in range(2)]
    b = {rng.randrange(2) for _ in range(2) if coin(rng)}
    c = {i: rng.randrange(2) for i in range(x)}
    d = sum(rng.randrange(2) * i for i in range(3))
    e = any(rng.randrange(2) for _ in range(2))
    f = all(coin(rng) for _ in range(2))
    return a, sorted(b), c, d, e, f


def two_loops(x, rng):
    return [(i, j, rng.randrange(2)) for i in range(2) for j in range(i, 2) if i != x or coin(rng)]


def lists(x, rng):
    a = [x]
    b = a
    for _ in range(2):
        b.append(rng.randrange(2))
    a[0] += rng.randrange(2)
    a.sort()
    del a[0]
    return a, b is a, len(b)


def aliasing(x, rng):
    row = [0, 0]
    grid = [row, row, [x]]
    grid[0][rng.randrange(2)] += 1
    grid[2].extend(rng.sample([1, 2, 3], 2))
    return grid, grid[0] is grid[1]


def shuffles(x, rng):
    items = [x, 5, 6]
    rng.shuffle(items)
    return items[0], rng.choice(items[1:])


def objects(x, rng):
    c = Counting(x)
    d = Doubling(x)
    c.bump(1, rng)
    d.bump(1, rng)
    c.bump(d.value, rng)
    return c.value, d.log, c.total(), c.limit


def raising(x, rng):
    try:
        if rng.randrange(3) == 0:
            raise Odd("zero", x)
        value = 6 // rng.randrange(2)
    except Odd as error:
        return error.args
    except ZeroDivisionError:
        value = -1
    else:
        value += 1
    finally:
        x += rng.randrange(2)
    return value, x


def reraising(x, rng):
    def inner():
        try:
            if coin(rng):
                raise KeyError(x)
        except KeyError:
            if coin(rng):
                raise
        return 1

    try:
        return inner()
    except LookupError as e:
        return repr(e)


def uncaught(x, rng):
    assert rng.randrange(3) != x, "no"
    return [1, 2][rng.randrange(3)]


def finals(x, rng):
    log = []
    for i in range(3):
        try:
            if coin(rng):
                continue
            if coin(rng):
                break
            log.append(i)
        finally:
            log.append(rng.randrange(2))
    return log


def closures(x, rng):
    count = 0

    def draw(n=x + 2):
        nonlocal count
        count += 1
        return rng.randrange(n)

    noise = lambda k: draw() + k
    a = noise(1)
    b = draw(2)
    fs = [lambda i=i: i + rng.randrange(2) for i in range(2)]
    return a, b, count, fs[1]()


def functions_as_values(x, rng):
    f = coin if x else partial(rng.randrange, 3)
    g = {0: coin}[0]
    return f(rng) if x else f(), g(rng)


def recursion(x, rng):
    def fact(n):
        return 1 if n < 2 else n * fact(n - 1)

    def walk(n):
        if n == 0:
            return 0
        return rng.randrange(2) + walk(n - 1)

    return walk(3) * fact(3)


def mutual_even(n, rng):
    return True if n == 0 else mutual_odd(n - 1, rng)


def mutual_odd(n, rng):
    return rng.randrange(2) == 0 if n == 0 else mutual_even(n - 1, rng)


def fractions(x, rng):
    p = Fraction(1, 3) + Fraction(x, 6)
    q = rng.flip(p) if hasattr(rng, "flip") else None
    r = rng.pick({"u": p, "v": 1 - p})
    return q, r, p / 2 - p**2, gcd(12, 8) % 5


def strings(x, rng):
    word = "".join(rng.choice("ab") for _ in range(2))
    return f"{word}-{x:>2}-{rng.randrange(2)!r}", word.upper()[::-1], "%d" % x


def tuples(x, rng):
    a, (b, *c) = rng.randrange(2), (x, 2, 3)
    a, b = b, a
    d = e = (a, c)
    return d, e, *c, Point(a, b), Point(1).y


def slices(x, rng):
    items = list(range(6))
    items[1:3] = [rng.randrange(2)] * 3
    return items[rng.randrange(2) :: 2], items[-1 - x]


def conditions(x, rng):
    a = rng.randrange(3)
    b = 0 <= rng.randrange(2) < a <= 2
    c = coin(rng) or a or "none"
    d = (coin(rng) and a) if x else not coin(rng)
    return b, c, d, None if a is None else a, x in (1, a), a not in [2]


def walrus(x, rng):
    total = 0
    while (n := rng.randrange(3)) and total < 3:
        total += n
    return total, n, x


def unbound(x, rng):
    if coin(rng):
        y = 1
    if coin(rng):
        return y
    z = 5
    del z
    return z if coin(rng) else x


def arguments(x, rng):
    def f(a, b=2, *rest, c, d=4, **others):
        return a + b + sum(rest) + c + d + sum(others.values()) + rng.randrange(2)

    more = (1, 2, 3)
    return f(x, c=1), f(*more, c=2, **{"e": rng.randrange(2)}), f(x, 1, c=3, d=rng.randrange(2))


def collections_used(x, rng):
    counts = Counter()
    groups = defaultdict(list)
    queue = deque([x], maxlen=2)
    for _ in range(2):
        k = rng.randrange(2)
        counts[k] += 1
        groups[k].append(x)
        queue.append(k)
    return sorted(counts.items()), dict(groups), list(queue), counts.most_common(1)


def sets(x, rng):
    seen = set()
    for _ in range(2):
        seen.add(rng.randrange(3))
    other = frozenset({1, x})
    return sorted(seen | other), 1 in seen, min(seen), len(seen & other), max(k * k for k in seen)


def sorting(x, rng):
    pairs = [(rng.randrange(2), i) for i in range(3)]
    pairs.sort(key=lambda p: (-p[0], p[1]))
    best = max(pairs, key=lambda p: p[0])
    return pairs, best, sorted(range(3), key=lambda i: pairs[i][1]), list(map(lambda p: p[0], pairs))


def iterating(x, rng):
    out = []
    for i, v in enumerate("ab"):
        out.append((i, v, rng.randrange(2)))
    for a, b in zip([1, 2], (3, 4)):
        out.append(a * b + rng.randrange(2))
    for k, v in {"p": 1}.items():
        out.append((k, v + rng.randrange(2)))
    for c in itertools.product([0, 1], repeat=1):
        out.append(c[0] + rng.randrange(2))
    return out


def growing(x, rng):
    items = [1]
    for item in items:
        if len(items) < 3 and coin(rng):
            items.append(item + x)
    return items


def constants(x, rng):
    return (
        TABLE["ab"[rng.randrange(2)]][x],
        NAMES[rng.randrange(2)],
        STEP,
        Colour(rng.randrange(1, 3)),
        Colour.RED,
    )


def bits(x, rng):
    return rng.getrandbits(2) ^ x, rng.randint(-1, 1), rng.randrange(1, 9, 4)


def errors_of_source(x, rng):
    try:
        return rng.randrange(x)
    except ValueError:
        return rng.choice([])


def wide(x, rng):
    m = rng.randrange(100)
    if m < 30 + x:
        return "low"
    if m == 50:
        return "mid"
    keep = rng.randrange(2)
    return m >= 90, keep, m % 3 if keep else None


def matching(x, rng):
    a = rng.randrange(3)
    match (a, x):
        case (0, _):
            return "zero"
        case (k, 1) if k > 1:
            return k
    return coin(rng)


def augmented(x, rng):
    d = {"n": [x, 2]}
    d["n"][rng.randrange(2)] += rng.randrange(2)
    total = 1
    total += rng.randrange(2)
    total *= total + rng.randrange(2)
    total -= 1
    text = "a"
    text += "b" * rng.randrange(2)
    return d, total, text


def truth_and_one(x, rng):
    a = rng.randrange(2) == 1
    b = rng.randrange(2)
    c = Fraction(rng.randrange(2))
    rng.randrange(2)
    return a, b, c, type(a) is bool, isinstance(c, Fraction)


def no_draw(x, rng):
    return x + 1


def module_source(x, rng=None):
    if rng is None:
        rng = random.Random()
    return rng.randrange(2) + x


SAMPLES = [
    value
    for name, value in list(globals().items())
    if type(value).__name__ == "function"
    and value.__code__.co_varnames[:2] == ("x", "rng")
    and value is not coin
] + [mutual_even]
