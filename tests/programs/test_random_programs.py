"""The explored distribution of random programs is that of all paths in plain Python."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings

from bisimdist.programs.front import explore
from bisimdist.programs.loading import load_program
from tests.programs.exhaustive import distribution
from tests.programs.random_programs import programs

MOST_PATHS = 1500


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_a_random_program_does_what_plain_python_does(text: str) -> None:
    check(text)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_many_random_programs_do_what_plain_python_does(text: str) -> None:
    check(text)


RARE = {
    "a comprehension takes its own name": "a = [a, 2]; shared = lambda: a; return [a for a in a], shared()",
    "a shared variable is set inside": "shared = lambda: a\nif (a := a + 2) > 1: return shared()",
    "the default of a key": (
        "shared = lambda: a; a = sorted([3, 1, 2], key=lambda b, a=a: (b - a) % 3); return shared()"
    ),
    "a case sets what is shared": "shared = lambda: a\nmatch [0, a + 5]:\n    case [0, a]: return shared()",
    "an exception is gone": "try: a //= 0 * rng.randrange(2)\nexcept ZeroDivisionError as a: pass\nreturn a",
    "a variable is gone": "if a: del a\nreturn rng.randrange(2) or a",
    "a dictionary grows": "d = {1: 1}\nfor k in d: d[rng.randrange(2)] = a\nreturn len(d)",
    "a list changes ahead": "b = [a, 0]\nfor i, v in enumerate(b): b[1] = v + rng.randrange(2)\nreturn b",
    "a list changes behind": "b = [a, 0]\nfor v in reversed(b): b[0] = v + rng.randrange(2)\nreturn b",
    "one of several lists changes": (
        "from itertools import chain\nb = [a]\nfor v in chain((1,), b): b[0] = v + rng.randrange(2)\nreturn b"
    ),
    "a function changes": "for v in map(lambda k: k + a, [1, 2]): a += rng.randrange(2) * v\nreturn a",
}


@pytest.mark.parametrize("name", RARE)
def test_what_the_guard_does_not_meet_is_what_plain_python_does(name: str) -> None:
    lines = RARE[name].splitlines()
    check("\n    ".join(["def f(a, rng):", "if rng.randrange(300): return 0", *lines]) + "\n")


CHANGED = """
def f(a, rng):
    d = {1: 10**30, 2: [a]}
    for k in d:
        d[2] = a + rng.randrange(2), d[k]
    for k, v in d.items():
        d[1] = v, rng.randrange(2)
    b = [(a, [a]), (lambda k: k + a)]
    for i, v in enumerate(b):
        b[i] = v if rng.randrange(2) else i
    c = [a + rng.randrange(3), a]
    for v, w in zip(reversed(c), c):
        a += v > rng.randrange(2)
    return a, d, len(b)
"""


def test_a_loop_may_change_what_it_has_gone_through(tmp_path: Path) -> None:
    check(CHANGED)
    (tmp_path / "program.py").write_text(CHANGED)
    assert explore(f"{tmp_path}/program.py:f", [1]).origin.replayed is None


def check(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(text)
        _, function = load_program(f"{file}:f")
        try:
            wanted = distribution(function, lambda: 1, most=MOST_PATHS)
        except AssertionError:
            assume(False)
            return
        chain = explore(f"{file}:f", [1], observe="type", replays=30)
    outputs: dict[str, Fraction] = defaultdict(Fraction)
    for (result, _), p in wanted.items():
        outputs[shown(result)] += p
    found: dict[str, Fraction] = defaultdict(Fraction)
    for k, p in chain.rows[chain.index("1")]:
        found[shown(chain.labels[k])] += Fraction(int(p.p), int(p.q))
    assert found == outputs


def shown(result: str) -> str:
    """Return a result as it is, or the name of an exception, whose text a chain may leave out."""
    return result.partition("(")[0] if result.startswith("raise ") else result
