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
}


@pytest.mark.parametrize("name", RARE)
def test_what_the_guard_does_not_meet_is_what_plain_python_does(name: str) -> None:
    lines = RARE[name].splitlines()
    check("\n    ".join(["def f(a, rng):", "if rng.randrange(300): return 0", *lines]) + "\n")


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
