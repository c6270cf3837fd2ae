"""The published reference sampler of discrete Laplace and Gaussian noise, unmodified, and a wrong one."""

from __future__ import annotations

import json
import shutil
import time
from decimal import Decimal, getcontext
from pathlib import Path

import pytest
from flint import fmpq

from bisimdist import check_certificate, delta, explore
from bisimdist.exact.logarithm import alpha_below
from bisimdist.programs.chain import ProgramChain
from tests.speed import leeway

ABOVE = Path(__file__).resolve().parents
SAMPLER = next(
    (found for up in ABOVE if (found := up / "shared" / "data" / "programs" / "discretegauss.py").exists()),
    ABOVE[3] / "shared" / "data" / "programs" / "discretegauss.py",
)
needs_sampler = pytest.mark.skipif(not SAMPLER.exists(), reason="the published sampler is not there")

PROGRAMS = """
from discretegauss import sample_dgauss, sample_dlaplace

def laplace1(x, rng):
    return x + sample_dlaplace(1, rng)

def laplace2(x, rng):
    return x + sample_dlaplace(2, rng)

def laplace3(x, rng):
    return x + sample_dlaplace(3, rng)

def gauss(x, rng):
    return x + sample_dgauss(1, rng)
"""

RIGHT = "sample_bernoulli(x/k,rng)"
WRONG = "sample_bernoulli(divided(x,k),rng)"
DIVISION = """
from math import gcd
def divided(x, k):
    g = gcd(x.numerator, k)
    return Fraction(x.numerator // g, (x.denominator // g) * k)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    shutil.copy(SAMPLER, tmp_path / "discretegauss.py")
    (tmp_path / "programs.py").write_text(PROGRAMS)
    return tmp_path / "programs.py"


def value(number: fmpq) -> Decimal:
    return Decimal(int(number.p)) / Decimal(int(number.q))


def laplace(scale: int, alpha: Decimal) -> Decimal:
    getcontext().prec = 40
    a = (Decimal(-1) / scale).exp()
    return max(Decimal(0), (1 - alpha * a) / (1 + a))


@needs_sampler
@pytest.mark.parametrize("scale", [1, 2])
@pytest.mark.parametrize("alpha", ["1", "3/2"])
def test_discrete_laplace_noise_has_its_delta(file: Path, scale: int, alpha: str) -> None:
    begun = time.process_time()
    chain = explore(f"{file}:laplace{scale}", [0, 1], cut="1e-16")
    pair = delta(chain, alpha).pairs[0]
    wanted = laplace(scale, value(fmpq(*map(int, (alpha + "/1").split("/")[:2]))))
    assert value(pair.lower) <= wanted <= value(pair.upper)
    assert pair.upper - pair.lower < fmpq(1, 10**12)
    assert time.process_time() - begun < 5 * leeway()


@needs_sampler
def test_the_digests_are_those_of_both_files(file: Path) -> None:
    chain = explore(f"{file}:laplace1", [0, 1], cut="1e-6", replays=10)
    assert sorted(chain.origin.sources) == ["discretegauss.py", "programs.py"]


@pytest.mark.slow
@needs_sampler
def test_discrete_gaussian_noise_has_half_the_mass_of_its_mode(file: Path) -> None:
    chain = explore(f"{file}:gauss", [0, 1], cut="1e-14")
    pair = delta(chain, 1).pairs[0]
    assert value(pair.lower) <= Decimal("0.398942278272") + Decimal("1e-11")
    assert abs(value(pair.lower) - Decimal("0.39894227827")) < Decimal("1e-9")
    assert abs(value(pair.upper) - Decimal("0.39894227827")) < Decimal("1e-9")


def product(one: list[float], other: list[float]) -> list[float]:
    made = [0.0] * len(one)
    for j, a in enumerate(one):
        for k, b in enumerate(other[: len(one) - j] if a else ()):
            made[j + k] += a * b
    return made


def by_generating_functions(most: int = 200) -> float:
    """Return delta at alpha = 1 of discrete Laplace noise of scale 1 with the draws of the published sampler.

    Powers of z count draws. Bernoulli(exp(-1)) goes on from k to k + 1 with probability 1/k, one draw each,
    and is true where it stops at an odd k. An attempt takes a sign, a draw from one value, one from another,
    and then as many true ones as the magnitude says; a negative zero is thrown away.
    """
    stops, left = [0.0] * most, 1.0
    for k in range(1, 60):
        stops[k] = left * (1 - 1 / k)
        left /= k
    true = [p if k % 2 else 0.0 for k, p in enumerate(stops)]
    false = [0.0 if k % 2 else p for k, p in enumerate(stops)]
    attempt = [0.0, 0.0, 0.0, 0.5, *[0.0] * (most - 4)]
    again = product(attempt, false)
    whole = [1.0, *[0.0] * (most - 1)]  # 1 / (1 - again)
    for n in range(1, most):
        whole[n] = sum(again[k] * whole[n - k] for k in range(1, n + 1))
    power = product(attempt, whole)
    by_size = []
    for _ in range(60):
        by_size.append(product(power, false))
        power = product(power, true)
    return sum(
        max(0.0, by_size[abs(y)][n] - by_size[abs(y - 1)][n]) for y in range(-58, 59) for n in range(most)
    )


def test_generating_functions_know_what_draws_give_away() -> None:
    assert abs(by_generating_functions() - 0.79983175) < 1e-8


@pytest.mark.slow
@needs_sampler
def test_the_number_of_draws_gives_the_input_away(file: Path) -> None:
    chain = explore(f"{file}:laplace1", [0, 1], observe="draws", cut="1e-11")
    answer = delta(chain, 1, gap="1e-7")
    pair = answer.pairs[0]
    for bound in (pair.lower, pair.upper):
        assert abs(float(value(bound)) - by_generating_functions()) < 1e-6
    assert check_certificate(json.dumps(answer.certificate())).valid


@needs_sampler
def test_the_wrong_division_leaks_more_than_is_claimed(file: Path) -> None:
    sampler = file.parent / "discretegauss.py"
    text = sampler.read_text()
    assert RIGHT in text
    first = "def sample_uniform"
    sampler.write_text(text.replace(RIGHT, WRONG).replace(first, DIVISION + first, 1))
    chain = explore(f"{file}:laplace3", [0, 1], cut="1e-10")
    alpha = alpha_below("1/3")
    assert delta(chain, alpha).pairs[0].lower > fmpq(2378, 100_000)
    least = _ratio(chain)
    assert least >= fmpq(1655, 1000)  # e^0.504 = 1.6553...


def _ratio(chain: ProgramChain) -> fmpq:
    """Return a lower bound on the ratio of both distributions: what is cut off counts against it."""
    rows = [dict(chain.rows[chain.index(name)]) for name in ("0", "1")]
    cut = [chain.cut_from(name) for name in ("0", "1")]
    best = fmpq(0)
    for one, other in ((0, 1), (1, 0)):
        for state, p in rows[one].items():
            if chain.labels[state] != "cut":
                best = max(best, p / (rows[other].get(state, fmpq(0)) + cut[other]))
    return best
