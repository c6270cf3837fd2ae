"""Sources of chance that somebody seeded, sets again, or holds since before the program was there."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from bisimdist.errors import ModelError
from tests.programs.replaying import law


@pytest.mark.parametrize(
    "drawn",
    [
        "random.Random(5).random()",
        "(random.seed(5), random.random())[1]",
        "np.random.default_rng(0).random()",
        "(np.random.seed(0), np.random.rand())[1]",
        "np.random.RandomState(0).rand()",
    ],
)
def test_a_source_with_a_seed_is_not_uniform(tmp_path: Path, drawn: str) -> None:
    """Everybody knows what a fixed seed draws: it is refused, or it is one output with probability 1."""
    text = f"import random\nimport numpy as np\ndef f(x, rng=None):\n    return {drawn} < 0.5\n"
    try:
        found = law(tmp_path, text)
    except ModelError:
        return
    assert [*found.values()] == [1]


def test_a_state_that_is_set_again_draws_the_same(tmp_path: Path) -> None:
    text = (
        "import random\ndef f(x, rng=None):\n    state = random.getstate()\n    first = random.random()\n"
        "    random.setstate(state)\n    return (first < 0.5) == (random.random() < 0.5)\n"
    )
    try:
        found = law(tmp_path, text)
    except ModelError:
        return
    assert found == {"True": 1}


@pytest.mark.parametrize(
    ("start", "drawn"),
    [
        ("rng = random.Random(5)", "rng.random()"),
        ("random.seed(5)", "random.random()"),
        ("np.random.seed(5)", "np.random.rand()"),
        ("rng = np.random.default_rng(5)", "rng.random()"),
        ("rng = np.random.Generator(np.random.PCG64(5))", "rng.random()"),
    ],
)
def test_a_seed_that_is_fixed_at_import_counts(tmp_path: Path, start: str, drawn: str) -> None:
    text = f"import random\nimport numpy as np\n{start}\ndef f(x):\n    return {drawn} < 0.5\n"
    with pytest.raises(ModelError, match=r"a seed is fixed|two equal runs differ"):
        law(tmp_path, text)
    assert law(tmp_path, "import random\ndef f(x):\n    return random.random() < 0.5\n")["True"] == Fraction(
        1, 2
    )


@pytest.mark.parametrize("source", ["np.random.RandomState()", "np.random.default_rng(None)"])
def test_a_seed_of_the_system_is_none(tmp_path: Path, source: str) -> None:
    text = f"import numpy as np\ndef f(x):\n    return {source}.random() < 0.5\n"
    assert law(tmp_path, text)["True"] == Fraction(1, 2)


LAPLACE = """
from scipy import stats
def f(x):
    return x + int(stats.laplace.rvs() > 0)
"""


def test_distributions_of_scipy_that_are_there_before_draw_from_the_replay(tmp_path: Path) -> None:
    real = np.random.mtrand._rand
    assert scipy.stats.laplace._random_state is real
    found = law(tmp_path, LAPLACE)
    assert abs(found["1"] - Fraction(1, 2)) < Fraction(1, 2**50)
    assert sum(found.values()) == 1
    assert scipy.stats.laplace._random_state is np.random.mtrand._rand is real
    assert -100 < scipy.stats.laplace.rvs() < 100


@pytest.mark.parametrize("seed", ["np.random.RandomState(5)", "np.random.default_rng(5)"])
def test_distributions_of_scipy_with_a_seed_are_not_uniform(tmp_path: Path, seed: str) -> None:
    text = LAPLACE.replace("rvs()", f"rvs(random_state={seed})")
    with pytest.raises(ModelError, match="a seed is fixed"):
        law(tmp_path, f"import numpy as np\n{text}")
