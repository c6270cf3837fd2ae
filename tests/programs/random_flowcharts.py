"""Random functions of a list of integers, as text: what flowcharts follow, and beside it what is easily misread."""
# ruff: noqa: E501 - lists of programs

from __future__ import annotations

import random

__all__ = ["program"]

HEAD = """\
from fractions import Fraction

N = 2
TWO = Fraction(2)
HALF = "1/2"
A = "1/3"

def helper(x, y=1):
    if x > y:
        return x
    return y - x

def even(n):
    return n % 2 == 0

def total(xs, start=0):
    for x in xs:
        if x == 3:
            return start
        start += x
    return start

def add(told, x):
    told.append(x)

def fresh():
    made = []
    made.append(1)
    return made

def spin(x):
    while x > 1:
        x -= 1
    return x > 0

def words(x, *more, key=1):
    return x + key

"""


class Writer:
    """Writes one function by chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.loops: list[str] = []
        self.odd = chance.choice((8, 40, 300, 300))

    def one(self, *options: str) -> str:
        return self.chance.choice(options)

    def rare(self, often: int = 12) -> bool:
        return self.chance.randrange(often) == 0

    def noise(self) -> str:
        return self.one(
            "rng.two_sided_geometric('1/2')", "rng.geometric('1/3')", "rng.flip('1/4')", "rng.two_sided_geometric(HALF)",
            "rng.two_sided_geometric(Fraction(1, 2) ** 2)", "rng.two_sided_geometric(Fraction(1, 2) ** p)",
            "rng.geometric(Fraction(1, 2**p))", "rng.two_sided_geometric(A)", "rng.flip(p='1/2')",
        )  # fmt: skip

    def number(self, depth: int = 2) -> str:
        names = ["a", "b", "c", "p", "q", "N", *self.loops]
        if depth == 0 or self.rare(3):
            return self.one(*names, "0", "1", "2", "-1", "True", "False")
        one, two = self.number(depth - 1), self.number(depth - 1)
        if self.rare(self.odd):
            return self.one(
                f"~{one}", f"({one} and {two})", f"({one} or {two})", f"{one} // 2", f"{one} % 2", "t[0]", "xs[0]",
                "(c := 3)", f"int({one} > 0)", f"words({one}, key=2)", f"words({one}, 5)", "(lambda: 3)()", "len(xs)",
                f"sum([{one}, 1])", f"max({one}, {two}, 1)", f"round({one})", f"({one}) ** 2", "xs[i]", "xs[-1]", "l.count(True)", "l[-1]", "m[-1]",
                f"({one} > 0) + ({two} > 0)", "sum(xs, 1)", "l.count(1)", "total(xs[1:])", f"(not {one})",
                f"({one} is {two})", "1.0", "sum(x for x in xs if x > 0)", "min(xs)", "l[0]", "len([])", "-True",
            )  # fmt: skip
        return self.one(
            f"({one} + {two})", f"({one} - {two})", f"2 * {one}", f"-{one}", f"abs({one})", f"max({one}, {two})",
            f"min({one}, {two})", f"helper({one}, {two})", f"helper({one})", f"helper(y={one}, x={two})", "sum(xs)",
            f"({one} if {self.test(depth - 1)} else {two})", "len(l)", "len(m)", "total(xs)",
            f"total(xs, {one})", self.noise(), f"(sum(xs) - {two})", f"int({one})",
        )  # fmt: skip

    def test(self, depth: int = 2) -> str:
        if depth <= 0:
            return self.one(
                "a > 0", "b == c", "n is None", "n", "flag", "p % 2 == 0", "even(4)", "even(3)", "not flag"
            )
        one, two = self.number(depth - 1), self.number(depth - 1)
        if self.rare(self.odd):
            return self.one(
                f"{one} == 2.0", f"{one} == TWO", f"{one} in (1, 2)", "l", "xs", f"spin({one})", f"1 % {self.one('p', 'q')} == 0",
                f"{one} is True", f"{one} is 1", "n is 0", "l == []", "t == (a, b)", f"{one} < {two} % 2", "even(p)",
                f"{one} == 'x'", f"{one} != None", "n == a", "n is not a", f"any(x > {one} for x in xs)", "l is m",
                f"(c := {one}) > 0", "TWO == 2", "q % 2 == p % 2", f"{self.one('i', 'p')} % 3 == 1", "'' or a",
                f"{one} <= {two} == {one}",
            )  # fmt: skip
        return self.one(
            f"{one} > {two}", f"{one} <= {two}", f"{one} == {two}", f"{one} != {two}", f"{one} < {two} <= {one}",
            f"{self.test(depth - 1)} and {self.test(depth - 1)}", f"{self.test(depth - 1)} or {self.test(depth - 1)}",
            f"not ({self.test(depth - 1)})", one, self.test(0), "rng.flip('1/3')",
        )  # fmt: skip

    def simple(self) -> str:
        one, two, name = self.number(), self.number(), self.one("a", "b", "c")
        if self.rare(self.odd):
            return self.one(
                f"t = ({one}, {two})", "a, b = t", "t = (t, 1)", "l = m", "m = l = []", "l = [1]", "l += [1]", "xs.append(1)",
                "xs = l", "xs += [1]", "del l[0]", "del xs[0]", "xs[0] = 1", f"{name} //= 2", f"i = {one}", "N = 3",
                "l = []", "l = [x + a for x in xs]", "l.append(m)", "l.append(l)", "r = range(a)", "ys = xs", "l = list(l)",
                "m = fresh()", "t = (fresh(), 1)", "l.append(t)", "m = l[:]", "l.append(*xs)", "l.extend(xs)", "l.insert(0, 1)",
                "b, a, a = a, b, c", "max = 3", "p = p + 1", "q -= 1", f"{name}: int = {one}", f"{name}: int", "n = None, n",
                "l.append([a])", "l.append(list(m))", "l.append(tuple(m))", f"l.append(({one}, None))", "global N", "t = l, a",
                "assert a > -9, a", f"assert {one} > -9, 'low'", f"assert {one} < 9", "m.append(0) or l.append(1)", "xs.pop()",
                "l = [rng.flip('1/2') for x in xs]", "a = [b for b in xs]", "g = (rng.flip('1/2') for x in xs)", "p = 1",
                "xs = [x for x in xs]", "xs.sort()", "xs = sorted(xs)", "e = enumerate(xs, a)", "a, *b = xs", "(a, b), c = t, 1",
                "try:\n    a = t[9]\nexcept Exception:\n    a = 0", "def inner():\n    return a\na = inner()", "rng = None",
                "with open('/dev/null'):\n    pass", "raise ValueError(a)", "import math", "f = 1", "a = b = c = p",
            )  # fmt: skip
        return self.one(
            f"{name} = {one}", f"{name} += {one}", f"{name} -= {one}", f"a, b = {one}, {two}", f"l.append({one})",
            f"m.append({self.test()})", f"flag = {self.test()}", f"n = {self.one('None', one, name)}", f"add(l, {one})",
            "l.append(True)", "pass", f"{name} = {one}", f"t = {one}, {two}",
        )  # fmt: skip

    def block(self, depth: int, looped: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self.chance.randint(1, 3)):
            kind = self.chance.randrange(10) if depth else 0
            if kind < 5:
                lines += self.simple().split("\n")
            elif kind < 7:
                lines += [f"if {self.test()}:", *self.inner(depth, looped)]
                if self.rare(2):
                    lines += [f"elif {self.test()}:", *self.inner(depth, looped)] if self.rare(3) else []
                    lines += ["else:", *self.inner(depth, looped)]
            elif kind < 9:
                lines += self.loop(depth)
            elif looped and self.rare(2):
                lines.append(self.one("break", "continue"))
            else:
                lines += [f"if {self.test()}:", f"    return {self.result()}"]
        return lines

    def inner(self, depth: int, looped: bool) -> list[str]:
        return [f"    {line}" for line in self.block(depth - 1, looped)]

    def loop(self, depth: int) -> list[str]:
        usual = [
            ("x", "xs"), ("x", "xs"), ("i", "range(len(xs))"), ("i, x", "enumerate(xs)"), ("i", "range(2)"), ("b", "range(a)"),
            ("i", f"range({self.number(1)})"), ("i", "range(a, b)"), ("i", "range(p, p + 2)"), ("a", "xs"),
            ("i, x", "enumerate(xs, 1)"), ("i, x", "enumerate(xs, a)"), ("i", "range(len(l))"), ("i", "range(p)"),
        ]  # fmt: skip
        odd = [
            ("x, y", "zip(xs, xs)"), ("x", "xs[1:]"), ("x", "l"), ("x", "ys"), ("x", "list(xs)"), ("x, x", "enumerate(xs)"),
            ("n", "range(len(xs))"), ("l", "xs"), ("xs", "xs"), ("p", "xs"), ("x", "reversed(xs)"), ("i", "range(4, 0, -1)"),
        ]  # fmt: skip
        names, over = self.chance.choice(odd if self.rare(self.odd) else usual)
        if self.rare(self.odd):
            return [
                f"while {self.one('c < 3', 'a > b', self.test())}:",
                *self.inner(depth, True),
                f"    {self.one('c += 1', 'break', 'a -= 1')}",
            ]
        kept = self.loops
        self.loops = [
            *kept,
            *names.split(", "),
            *(["xs[i]"] if "len(xs)" in over or "enumerate(xs)" in over else []),
        ]
        lines = [f"for {names} in {over}:", *self.inner(depth, True)]
        if self.rare(self.odd):
            lines += ["else:", "    a = 1"]
        if not self.rare(self.odd):
            self.loops = kept
        return lines

    def result(self) -> str:
        one, two = self.number(), self.number()
        if self.rare(self.odd):
            return self.one(
                "xs", "tuple(xs)", "set(l)", "f'{a}'", "str(a)", "(x for x in xs)", "()", "TWO", "0.5", "[[]]", "{a: b}", "l[:]",
                "{a, b}", "l + m", "rng", "tuple(m + l)", "l or m", "l, l", "(yield a)", "sorted(l)", "[x for x in xs if x]",
            )  # fmt: skip
        return self.one(
            one, f"({one}, {two})", f"[{one}, {two}]", "l", "m", "(l, m)", "tuple(l)", "list(m)", "None", f"({self.test()})", "t",
            "flag", "n", f"(l, {one})", "'text'", "[x + rng.two_sided_geometric('1/2') for x in xs]", "t, l", f"len(l), {one}",
            f"({one}, [x > 0 for x in xs])", f"[{one} for x in xs]", "[]", "[], l", f"a, {one}, c",
        )  # fmt: skip

    def function(self) -> str:
        start = ["a = b = c = 0", "flag = False", "n = None", "l = []", "m = []", "t = (0, 0)"]
        lines = [line for line in start if not self.rare(2 * self.odd)]
        lines += [line for _ in range(self.chance.randint(1, 3)) for line in self.block(2, False)]
        lines.append(f"return {self.result()}")
        head = self.one("p, q", "p, q", "p, q=3", "p, q=True", "p=2, q=1", "p=None, q=2", "q, p")
        return "\n".join([f"def f(xs, rng, {head}):", *(f"    {line}" for line in lines), ""])


def program(chance: random.Random) -> str:
    """Return the text of a module with a function f."""
    return HEAD + Writer(chance).function()
