"""What other questions than delta say of programs whose runs are cut off: it holds of the whole program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flint import fmpq

from bisimdist import bd_threshold, bound, compare, delta, explore, least_alpha, profile
from bisimdist.errors import UsageError
from bisimdist.programs.chain import ProgramChain


def clipped(x: int, rng: Any) -> int:
    while x < 30 and rng.randrange(3):
        x += 1
    return x


@pytest.fixture(scope="module")
def whole() -> ProgramChain:
    return explore(clipped, [0, 1])


@pytest.fixture(scope="module", params=["1/5", "1/50", "1/2000"])
def cut(request: pytest.FixtureRequest) -> ProgramChain:
    return explore(clipped, [0, 1], cut=request.param)


ALPHAS = [fmpq(1), fmpq(3, 2), fmpq(3)]


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("distance", ["bd", "lbd"])
def test_bounds_are_bounds(whole: ProgramChain, cut: ProgramChain, alpha: fmpq, distance: str) -> None:
    truth = delta(whole, alpha).pairs[0]
    found = bound(cut, alpha, distance=distance).pairs[0]
    exact = bound(whole, alpha, distance=distance).pairs[0]
    assert not found.exact
    assert truth.upper <= found.upper
    assert found.lower <= exact.upper
    inner = delta(cut, alpha).pairs[0]
    assert inner.lower <= truth.upper
    assert truth.lower <= inner.upper


def test_profiles_enclose_the_whole_profile(whole: ProgramChain, cut: ProgramChain) -> None:
    exact, found = (profile(chain, alphas=ALPHAS) for chain in (whole, cut))
    assert found.losses is None
    for point, enclosure in zip(exact.points, found.points, strict=True):
        assert enclosure.lower <= point.lower
        assert point.upper <= enclosure.upper
    with pytest.raises(UsageError, match="several runs"):
        profile(cut, alphas=ALPHAS, runs=2)


def test_comparisons_enclose(whole: ProgramChain, cut: ProgramChain) -> None:
    exact, found = (compare(chain, "3/2")[0] for chain in (whole, cut))
    assert not found.violated
    known = {measure.name: measure for measure in exact.measures}
    for measure in found.measures:
        assert measure.lower is not None
        assert measure.upper is not None
        assert measure.lower <= known[measure.name].upper
        assert known["delta"].lower <= measure.upper


def test_thresholds_are_decided_where_they_are(whole: ProgramChain, cut: ProgramChain) -> None:
    truth = bound(whole, 1).pairs[0].upper
    for theta in (fmpq(1, 10), fmpq(2, 5), fmpq(9, 10)):
        found = bd_threshold(cut, 1, "0", "1", theta)
        assert found.holds in {None, truth <= theta}
    assert bd_threshold(cut, 1, "0", "1", "99/100").holds
    enough = least_alpha(cut, "9/10").enough
    assert enough == 1


ASK: dict[str, Callable[[ProgramChain], object]] = {
    "bound": lambda chain: bound(chain, 2).certificate(),
    "threshold": lambda chain: bd_threshold(chain, 2, "0", "1", "1/2").certificate(),
}


@pytest.mark.parametrize("name", ASK)
def test_the_proof_is_that_of_delta(cut: ProgramChain, name: str) -> None:
    with pytest.raises(UsageError, match="that of delta"):
        ASK[name](cut)
