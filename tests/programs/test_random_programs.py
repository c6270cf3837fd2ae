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
