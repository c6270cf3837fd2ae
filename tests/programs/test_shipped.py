"""Mechanisms as practitioners type them, each with a law that was worked out in another way."""
# ruff: noqa: E501 - programs in one line each

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate, permutations
from pathlib import Path
from typing import Any

import pytest

from bisimdist import delta
from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.front import explore
from tests.reference.uniform_doubles import by_bisection, convolved, delta_of

UNIT = 2.0**-53
Law = dict[Any, Fraction]

HEAD = """
import math, os, random, secrets, struct, uuid
from dataclasses import dataclass
import numpy as np
"""


def explored(tmp_path: Path, text: str, **options: Any) -> ProgramChain:
    file = tmp_path / "program.py"
    file.write_text(HEAD + text)
    return explore(f"{file}:f", [0, 1], **{"gap": "1e-9", "replays": 40, **options})


def law_of(chain: ProgramChain, name: str) -> Law:
    return {chain.labels[k]: Fraction(int(p.p), int(p.q)) for k, p in chain.rows[chain.index(name)]}


def answered(chain: ProgramChain) -> Fraction:
    found = delta(chain, 2, pairs=[("0", "1")]).pairs[0]
    assert found.lower == found.upper
    return Fraction(int(found.lower.p), int(found.lower.q))


def flipped(p: Fraction) -> Callable[[int], Law]:
    return lambda x: {x: p, 1 - x: 1 - p}


def of_double(f: Callable[[int, float], Any]) -> Callable[[int], Law]:
    return lambda x: by_bisection(lambda k: f(x, k * UNIT))


def laplace(u: float, scale: float = 1.0) -> float:
    """As numpy's C code draws it, of a uniform double that is not 0."""
    return -scale * math.log(2.0 - u - u) if u >= 0.5 else scale * math.log(u + u)


def of_laplace(f: Callable[[int, float], Any], scale: float = 1.0) -> Callable[[int], Law]:
    return lambda x: by_bisection(lambda k: f(x, laplace(k * UNIT, scale)), 1)


def geometric(p: float) -> Law:
    """As numpy's C code searches for it."""

    def search(k: int) -> int:
        u, x, total, term = k * UNIT, 1, p, p
        while u > total:
            term *= 1.0 - p
            total += term
            x += 1
        return x

    return by_bisection(search)


def inverse_laplace(x: int, u: float) -> float:
    u -= 0.5
    return x - math.copysign(1.0, u) * math.log(1 - 2 * abs(u))


def chosen(x: int) -> Law:
    sums = [*accumulate([math.exp(x), 1.0, math.exp(-x)])]
    return by_bisection(lambda k: "abc"[bisect(sums, k * UNIT * (sums[-1] + 0.0), 0, 2)])


def noisy_count(x: int) -> Law:
    one = geometric(0.5)
    return convolved(convolved({x + 3: Fraction(1)}, one, lambda a, b: a + b), one, lambda a, b: a - b)


def noisy_sum(x: int) -> Law:
    first, second = of_laplace(lambda x, z: round(x + z))(x), of_laplace(lambda x, z: round(1 + z))(x)
    return convolved(first, second, lambda a, b: a + b)


THIRTEEN: dict[str, tuple[str, Callable[[int], Law] | None]] = {
    "response on integers": ("def f(x, rng):\n    return x if rng.randrange(4) < 3 else 1 - x\n", flipped(Fraction(3, 4))),
    "response in a class": (
        "class Response:\n    def __init__(self, p):\n        self.p = p\n    def release(self, x):\n"
        "        return x if random.random() < self.p else 1 - x\n"
        "def f(x):\n    return Response(0.75).release(x)\n",
        flipped(Fraction(3, 4)),
    ),
    "response by random.random": ("def f(x):\n    return x if random.random() < 0.75 else 1 - x\n", flipped(Fraction(3, 4))),
    "response by rng.random": ("def f(x, rng):\n    return x if rng.random() < 0.1 else 1 - x\n", flipped(Fraction(900719925474100, 2**53))),
    "Laplace by inverse, rounded": (
        "def f(x):\n    u = random.random() - 0.5\n"
        "    return round(x - math.copysign(1.0, u) * math.log(1 - 2 * abs(u)))\n",
        lambda x: by_bisection(lambda k: round(inverse_laplace(x, k * UNIT)) if k else -99),
    ),
    "geometric by a logarithm": ("def f(x):\n    return x + math.floor(math.log(1 - random.random()) / -1)\n", of_double(lambda x, u: x + math.floor(math.log(1 - u) / -1))),
    "exponential mechanism": ("def f(x):\n    return random.choices('abc', weights=[math.exp(x), 1.0, math.exp(-x)])[0]\n", chosen),
    "numpy's Laplace, rounded": ("def f(x):\n    return round(x + np.random.laplace(0, 1))\n", of_laplace(lambda x, z: round(x + z))),
    "diffprivlib behind a wrapper": (
        "from diffprivlib.mechanisms import Geometric\ndef f(x):\n    return Geometric(epsilon=1.0).randomise(x)\n",
        None,
    ),
    "count with two geometrics": ("def f(x):\n    return int(x + 3 + np.random.geometric(0.5) - np.random.geometric(0.5))\n", noisy_count),
    "sum of two noisy values": ("def f(x):\n    return round(x + np.random.laplace()) + round(1 + np.random.laplace())\n", noisy_sum),
    "noisy mean, rounded": (
        "def f(x):\n    return round(float(np.mean([x, 0.5, 0.25, 1.0]) + np.random.laplace(0, 0.25)), 1)\n",
        of_laplace(lambda x, z: round((x + 1.75) / 4 + z, 1), 0.25),
    ),
    "PIN check": ("def f(x):\n    return x == secrets.randbelow(10000)\n", lambda x: {True: Fraction(1, 10**4), False: Fraction(9999, 10**4)}),
}  # fmt: skip


@pytest.mark.parametrize("name", THIRTEEN)
def test_thirteen_programs_are_answered_as_typed(tmp_path: Path, name: str) -> None:
    text, reference = THIRTEEN[name]
    if reference is None:
        pytest.importorskip("diffprivlib")
    chain = explored(tmp_path, text)
    found = answered(chain)
    if reference is None:
        assert 0 < found < 1
        assert len(law_of(chain, "0")) == 74
        return
    laws = [reference(x) for x in (0, 1)]
    assert found == max(delta_of(laws[k], laws[1 - k], Fraction(2)) for k in (0, 1))


def places(x: int) -> Law:
    return {str(part): Fraction(1, 6) for part in permutations([x, 5, 6])}


def successes(n: int, p: float) -> Law:
    """As numpy's C code inverts the binomial law; nobody draws again where n successes are within its bound."""
    q = 1.0 - p

    def inverse(k: int) -> int:
        u, x, px = k * UNIT, 0, math.exp(n * math.log(q))
        while u > px:
            x += 1
            u -= px
            px = ((n - x + 1) * p * px) / (x * q)
        return x

    return by_bisection(inverse)


def smaller(x: int) -> Law:
    n = 2**53
    return {x: Fraction(n * (n - 1) // 2, n * n), 1 - x: Fraction(n * (n + 1) // 2, n * n)}


def folded(x: int) -> Law:
    found: Law = {}
    for value, p in of_laplace(lambda x, z: max(-2, min(2, math.trunc(max(-2.0, min(2.0, x + z))))))(
        x
    ).items():
        found[abs(value)] = found.get(abs(value), Fraction(0)) + p
    return found


def tried(x: int) -> Law:
    once = of_laplace(lambda x, z: math.floor(x + z) if -1 <= x + z <= 2 else (-9 if x + z < -1 else 9))(x)
    again = once.pop(-9) + once.pop(9)
    return {**{value: p * (1 + again) for value, p in once.items()}, 9: again**2}


SHIPPED: dict[str, tuple[str, Callable[[int], Law]]] = {
    "two doubles": ("def f(x):\n    return x if random.random() < random.random() else 1 - x\n", smaller),
    "two integers": ("def f(x):\n    return x if secrets.randbelow(10**6) <= secrets.randbelow(10**6) else 1 - x\n", flipped(Fraction(10**6 + 1, 2 * 10**6))),
    "bytes as an integer": ("def f(x):\n    return x if int.from_bytes(os.urandom(7), 'big') < 3 * 2**54 else 1 - x\n", flipped(Fraction(3, 4))),
    "bytes as a fraction": ("def f(x):\n    return x if (int.from_bytes(os.urandom(8), 'little') >> 11) * 2**-53 < 0.75 else 1 - x\n", flipped(Fraction(3, 4))),
    "bytes unpacked": ("def f(x):\n    return x if struct.unpack('>Q', os.urandom(8))[0] < 3 << 62 else 1 - x\n", flipped(Fraction(3, 4))),
    "bytes of numpy": ("def f(x):\n    return x if np.frombuffer(os.urandom(8), dtype=np.uint64)[0] < 3 << 62 else 1 - x\n", flipped(Fraction(3, 4))),
    "one byte": ("def f(x):\n    return x if os.urandom(1)[0] & 3 else 1 - x\n", flipped(Fraction(3, 4))),
    "rest of a long integer": ("def f(x):\n    return x if secrets.randbits(32) % 6 < 3 else 1 - x\n", flipped(Fraction(3 * 715827883, 2**32))),
    "rest of random bytes": (
        "def f(x):\n    return x if int.from_bytes(secrets.token_bytes(8), 'big') % 1000003 < 250 else 1 - x\n",
        flipped(Fraction(250 * (2**64 // 1000003) + min(250, 2**64 % 1000003), 2**64)),
    ),
    "parity of a UUID": ("def f(x):\n    return x ^ (uuid.uuid4().int & 1)\n", flipped(Fraction(1, 2))),
    "first byte of a UUID": ("def f(x):\n    return x if uuid.uuid4().bytes[0] < 192 else 1 - x\n", flipped(Fraction(3, 4))),
    "token": ("def f(x):\n    return x if secrets.token_hex(1)[0] in '0123456789ab' else 1 - x\n", flipped(Fraction(3, 4))),
    "numpy's bits": ("def f(x):\n    return x if np.random.Generator(np.random.PCG64()).random() < 0.75 else 1 - x\n", flipped(Fraction(3, 4))),
    "binomial": ("def f(x):\n    return int(x + np.random.binomial(6, 0.5))\n", lambda x: convolved({x: Fraction(1)}, successes(6, 0.5), lambda a, b: a + b)),
    "exponential": ("def f(x):\n    return math.floor(x + np.random.exponential(2.0))\n", of_double(lambda x, u: math.floor(x + 2.0 * -math.log(1.0 - u)))),
    "logistic": ("def f(x):\n    return bool(np.random.logistic(x, 1.0) > 0.5)\n", lambda x: by_bisection(lambda k: x + 1.0 * math.log(k * UNIT / (1 - k * UNIT)) > 0.5, 1)),
    "gumbel": ("def f(x):\n    return int(np.floor(np.random.gumbel(x, 1.0)))\n", lambda x: by_bisection(lambda k: math.floor(x - 1.0 * math.log(-math.log(1.0 - k * UNIT))), 1)),
    "permutation": ("def f(x):\n    return tuple(int(v) for v in np.random.permutation([x, 5, 6]))\n", places),
    "choice with chances": ("def f(x):\n    return int(np.random.choice([x, 1 - x], p=[0.75, 0.25]))\n", flipped(Fraction(3, 4))),
    "triangular": (
        "def f(x):\n    return int(x + random.triangular(0, 4))\n",
        of_double(lambda x, u: int(x + (0 + 4 * math.sqrt(u * 0.5) if u <= 0.5 else 4 + (0 - 4) * math.sqrt((1.0 - u) * (1.0 - 0.5))))),
    ),
    "clipped and folded": ("def f(x):\n    return int(abs(np.clip(x + np.random.laplace(), -2, 2)))\n", folded),
    "dataclass": (
        "@dataclass\nclass Query:\n    scale: float = 2.0\n    def release(self, data):\n"
        "        return math.ceil(sum(data) + np.random.laplace(scale=self.scale))\n"
        "def f(x):\n    return Query().release([x, 3])\n",
        of_laplace(lambda x, z: math.ceil(x + 3 + z), 2.0),
    ),
    "unary encoding": (
        "def f(x):\n    bits = [int(k == x) for k in range(2)]\n"
        "    return tuple(int(np.random.random() < (0.5 if b else 0.25)) for b in bits)\n",
        lambda x: {
            str((a, b)): (Fraction(1, 2) if x == 0 else Fraction(1 + 2 * (1 - a), 4)) * (Fraction(1, 2) if x == 1 else Fraction(1 + 2 * (1 - b), 4))
            for a in (0, 1) for b in (0, 1)
        },
    ),
    "tries that are bounded": (
        "def f(x):\n    for _ in range(2):\n        v = x + np.random.laplace()\n        if -1 <= v <= 2:\n"
        "            return math.floor(v)\n    return 9\n",
        tried,
    ),
    "text with digits": ("def f(x):\n    return f'{x + np.random.laplace():.0f}'\n", lambda x: by_bisection(lambda k: repr(f"{x + laplace(k * UNIT):.0f}"), 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", SHIPPED)
def test_the_law_is_that_of_the_code(tmp_path: Path, name: str) -> None:
    text, reference = SHIPPED[name]
    chain = explored(tmp_path, text)
    for x in (0, 1):
        wanted: Law = {}
        for value, p in reference(x).items():
            wanted[str(value)] = wanted.get(str(value), Fraction(0)) + p
        assert law_of(chain, str(x)) == {value: p for value, p in wanted.items() if p}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(x):\n    return random.random().hex()\n", "very many values"),
        ("def f(x):\n    return str(random.random())[:3]\n", "very many values"),
        ("def f(x):\n    return math.frexp(random.random())[1]\n", "very many values"),
        ("from decimal import Decimal\ndef f(x):\n    return Decimal(random.random()) < x\n", "code in C"),
    ],
)
def test_what_needs_a_double_as_one_value_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Exception, match=said):
        explored(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("def f(x):\n    return round(x + random.gauss(0, 1))\n", "0"),
        ("def f(x):\n    return round(x + np.random.RandomState().normal(0, 1))\n", "0"),
    ],
    ids=("gauss", "polar"),
)
def test_normal_values_are_bracketed(tmp_path: Path, text: str, least: str) -> None:
    """Every bracket holds what the normal law says: the doubles are within 1e-9 of it."""
    chain = explored(tmp_path, text, gap="3/5")
    found, cut = law_of(chain, "0"), float(chain.cut[chain.index("0")])
    wanted = math.erf(0.5 / math.sqrt(2))
    assert 0 < cut < 0.25
    assert float(found[least]) - 1e-9 <= wanted <= float(found[least]) + cut + 1e-9


def test_arrays_are_computed_number_by_number(tmp_path: Path) -> None:
    text = (
        "def f(x):\n    counts = np.array([3 + x, 2])\n"
        "    noisy = counts + np.random.geometric(0.5, size=2) - np.random.geometric(0.5, size=2)\n"
        "    return np.maximum(noisy, 0).tolist()\n"
    )
    found = law_of(explored(tmp_path, text), "0")
    one = geometric(0.5)
    noise = convolved(one, one, lambda a, b: a - b)
    for a, b in ((3, 2), (0, 4), (5, 1)):
        laws = [convolved({c: Fraction(1)}, noise, lambda n, z: max(0, n + z)) for c in (3, 2)]
        assert found[f"[{a}, {b}]"] == laws[0][a] * laws[1][b]
