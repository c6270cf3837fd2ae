"""Generators, context managers and local classes; each program is explored and compared with plain Python."""

# ruff: noqa
# mypy: ignore-errors

from __future__ import annotations

import random
from collections import namedtuple
from dataclasses import dataclass
from fractions import Fraction


def coins(n, rng):
    for k in range(n):
        yield rng.randrange(2) + k


def until(rng, n):
    while True:
        drawn = rng.randrange(n)
        if drawn == 0:
            return
        yield drawn


def both(x, rng):
    yield x
    yield from coins(2, rng)
    for drawn in coins(1, rng):
        try:
            if drawn:
                raise ValueError(drawn)
        except ValueError:
            yield -1
        yield drawn


def squares(n):
    for k in range(n):
        yield k * k


def gone_through(x, rng):
    total = 0
    for drawn in coins(3, rng):
        if rng.randrange(2):
            total += drawn
        elif total > 2:
            break
    else:
        total += 100
    return total + x


def two_at_once(x, rng):
    outer, inner = coins(2, rng), coins(3, rng)
    total = 0
    for a in outer:
        for b in inner:
            total += a * b
            if rng.randrange(2):
                break
    for b in inner:
        total += 10
    for a in outer:
        total += 1000
    return total + x


def nested(x, rng):
    return [drawn for drawn in both(x, rng)], tuple(coins(2, rng))


def consumed(x, rng):
    found = sum(coins(2, rng)) + max(coins(2, rng)) + len(list(coins(x, rng)))
    return found + any(drawn == 2 for drawn in coins(3, rng)), sorted(coins(2, rng)), all(coins(3, rng))


def failing(x, rng):
    def inner():
        yield rng.randrange(2)
        if x:
            raise KeyError(x)
        yield 2

    found = []
    made = inner()
    try:
        for drawn in made:
            found.append(drawn)
    except KeyError as error:
        found.append(str(error))
    found.extend([drawn for drawn in made])
    return found


def closed_over(x, rng):
    seen = []

    def inner(n=2):
        for k in range(n):
            seen.append(k)
            yield rng.randrange(2) * x

    for drawn in inner():
        seen.append(drawn)
    return seen


def plain_ones(x, rng):
    return sum(squares(3)) * rng.randrange(2) + x + len([k for k in squares(2)])


class Guarded:
    def __init__(self, log, swallow, rng):
        self.log = log
        self.swallow = swallow
        self.rng = rng

    def __enter__(self):
        self.log.append(self.rng.randrange(2))
        return self

    def __exit__(self, kind, error, trace):
        self.log.append(self.rng.randrange(2) if kind is None else str(error))
        return self.swallow


def with_managers(x, rng):
    log = []
    for k in range(2):
        with Guarded(log, k == 0, rng) as guarded, Guarded(log, False, rng):
            if rng.randrange(2):
                raise ValueError(x)
            if k:
                continue
            log.append(guarded.swallow)
    return log


def with_return(x, rng):
    log = []
    with Guarded(log, False, rng):
        return log, rng.randrange(2)


def local_class(x, rng):
    @dataclass
    class Pair:
        first: int
        second: int = 3

        def total(self, rng):
            return self.first + self.second * rng.randrange(2)

    pair = Pair(x)
    pair.first += rng.randrange(2)
    other = pair if rng.randrange(2) else Pair(rng.randrange(3), 1)
    return other.total(rng), other, isinstance(other, Pair)


def changed_behind_a_loop(x, rng):
    items = [1, 2]
    others = {"a": items}
    total = 0
    for item in items:
        if rng.randrange(2) and len(others["a"]) < 4:
            others["a"].append(item + x)
        total += item
    return total


def _summed(items, log, rng):
    total = 0
    for item in items:
        if rng.randrange(2):
            log[0].append(1)
        total += item * rng.randrange(2)
        if len(log[0]) > 3:
            return total
    return total


def changed_by_who_called(x, rng):
    items = [x, 2]
    first = _summed(items, [items], rng)
    return first, items, _summed([3, x], [[]], rng)


SOURCE = random.SystemRandom()
draw = SOURCE.randrange
Pair = namedtuple("Pair", "first second")


def kept_source(x, rng):
    return x + SOURCE.getrandbits(1), draw(3)


def named(x, rng):
    pair = Pair(x, rng.randrange(2))
    return pair._replace(first=pair.first + rng.randrange(2)), pair._asdict()["second"]


def matched(x, rng):
    match (x, rng.randrange(3)):
        case (0, n) if n > 1:
            return "large", rng.randrange(2)
        case (_, 0):
            x += 5
        case [a, b]:
            x = a + b + rng.randrange(2)
    match x:
        case 1 | 2:
            return rng.randrange(2)
        case {"a": 1}:
            return "no"
    return x


def deleted(x, rng):
    items = {0: 1, 1: x, 2: 3}
    del items[rng.randrange(3)], items[rng.randrange(3)]
    return list(items)


def module_as_source(x, rng=random):
    return x + rng.randint(0, 1)


def one_by_one(x, rng):
    drawn = coins(2, rng)
    first = next(drawn)
    rng.randrange(2)
    rest = [next(drawn, "none"), next(drawn, "none"), next(squares(2)), next((k for k in (x, 5) if k), -1)]
    try:
        return first, rest, next(drawn)
    except StopIteration as stopped:
        return first, rest, stopped.args


def adding(rng, start):
    total = start
    while True:
        told = yield total
        if told is None:
            told = rng.randrange(2)
        total += told * (1 + rng.randrange(2))


def sent(x, rng):
    running = adding(rng, x)
    first = next(running)
    second = running.send(3)
    third = next(running)
    fourth = running.send(None)
    return first, second, third, fourth


def sent_too_early(x, rng):
    running = adding(rng, x)
    try:
        running.send(1)
    except TypeError:
        return running.send(None), next(running)


def passed_on(x, rng):
    def outer():
        drawn = coins(1 + x, rng)
        while True:
            yield next(drawn)

    try:
        return [drawn for drawn in outer()]
    except RuntimeError as error:
        return repr(error)


def equal_values(x, rng):
    """One place is reached with values that are equal, but not the same."""
    kept = (True, 1, Fraction(1), range(5, 5) if x else range(0))[rng.randrange(4)]
    rng.randrange(2)
    return str(kept), isinstance(kept, Fraction)


def ranges(x, rng):
    """Loops go through ranges again and again, backwards and from behind, with a draw in each turn."""
    seen = [x]
    for k in range(2):
        for i in range(4, 0, -2):
            if rng.randrange(2):
                seen.append(10 * k + i)
                break
        else:
            seen += [j for j in range(k) if rng.randrange(2)]
    return seen


def doubled(function, rng, more=3):
    return function(1) + function(more)


def handed_over(x, rng):
    return doubled(lambda a: a + rng.randrange(2), rng, more=x)


def handed_wrongly(x, rng):
    try:
        return doubled(lambda: rng.randrange(2), rng)
    except TypeError:
        return "no"


def behind_a_variable_that_changes(x, rng):
    k = x

    def told():
        return k

    first = doubled(lambda a: a + k + rng.randrange(2), rng)
    k = 5
    return first, doubled(lambda a: k - a * rng.randrange(2), rng), told()


def maybe_without_a_value(once, rng):
    if once:
        y = rng.randrange(2)
    return y


def stale(x, rng):
    got = []
    for once in (1, x, rng.randrange(2)):
        try:
            got.append(maybe_without_a_value(once, rng))
        except UnboundLocalError:
            got.append("none")
    return got


def thrown_or_returned(k, rng):
    if rng.flip("1/3"):
        raise ValueError(k)
    for j in range(2):
        if rng.randrange(2):
            return j
    return rng.randrange(3) + k


def caught_outside(x, rng):
    got = []
    for k in range(2):
        try:
            got.append(thrown_or_returned(k + x, rng))
        except ValueError as error:
            got.append(error.args)
    return got


def returns_in_a_plain_loop(k, rng):
    k += rng.randrange(3)
    for j in (n for n in range(9)):
        if j * j >= k:
            return j
    while True:
        k -= 1
        if k < 0:
            return k


def plain_loops(x, rng):
    return returns_in_a_plain_loop(x, rng), returns_in_a_plain_loop(
        rng=rng, k=returns_in_a_plain_loop(2, rng)
    )


def changes_what_it_is_given(items, rng, *, most=2):
    items = items + [rng.randrange(most)]
    items[0] = rng.randrange(2)
    return items


def given_twice(x, rng):
    items = [x]
    one = changes_what_it_is_given(items, rng)
    return items, one, changes_what_it_is_given(one, rng, most=x + 1), one


def back(x, rng):
    y = forth(x, rng)
    return y


def forth(x, rng):
    return back(x + 1, rng) if rng.randrange(2) and x < 3 else x


def to_and_fro(x, rng):
    return back(x, rng) * 10 + forth(x, rng)


SAMPLES = [
    equal_values,
    ranges,
    one_by_one,
    sent,
    sent_too_early,
    passed_on,
    deleted,
    module_as_source,
    named,
    matched,
    changed_behind_a_loop,
    changed_by_who_called,
    gone_through,
    two_at_once,
    nested,
    consumed,
    failing,
    closed_over,
    plain_ones,
    with_managers,
    with_return,
    local_class,
    handed_over,
    handed_wrongly,
    behind_a_variable_that_changes,
    stale,
    caught_outside,
    plain_loops,
    given_twice,
    to_and_fro,
]
