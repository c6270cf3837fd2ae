"""What other questions than delta say of programs whose runs are cut off: it holds of the whole program."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq

from bisimdist import Deadline, LimitError, Status, bound, check_certificate, compare, delta, explore, profile
from bisimdist.distances import bd_threshold
from bisimdist.errors import UsageError
from bisimdist.privacy import least_alpha
from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.observed import chain_of


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


def walk(x: int, rng: Any) -> int:
    n = x
    while True:
        step = rng.randrange(3)
        if step == 0:
            return n
        n += 1 if step == 1 else -1


def growing(x: int, rng: Any) -> int:
    kept = []
    while rng.randrange(2):
        kept.append(1)
    return x + len(kept)


@pytest.mark.parametrize("program", [walk, growing])
def test_what_has_infinitely_many_states_is_cut_as_finely_as_needed(program: Callable[..., int]) -> None:
    chain = explore(program, [0, 1], gap="1e-9", alpha=2)
    pair = delta(chain, 2).pairs[0]
    assert pair.upper - pair.lower <= fmpq(1, 10**9)
    assert len(chain) < 200
    assert not chain.origin.ended


def test_a_limit_leaves_what_was_explored(monkeypatch: pytest.MonkeyPatch) -> None:
    rough = explore(walk, [0, 1], gap="1e-6", deadline=Deadline.after(0.2))
    answer = delta(rough, 2)
    truth = fmpq(86267571267, 505019158607)  # to 10^-10
    assert answer.lower <= truth <= answer.upper + fmpq(1, 10**9)
    calls = []

    def slow(*arguments: Any, **options: Any) -> ProgramChain:
        calls.append(1)
        if len(calls) < 4:
            raise LimitError("too long")
        return chain_of(*arguments, **options)

    monkeypatch.setattr("bisimdist.programs.front.chain_of", slow)
    less = explore(walk, [0, 1], gap="1e-6")
    assert less.origin.ended
    found = delta(less, 2)
    assert found.status is Status.LIMIT
    assert 0 < found.lower <= truth <= found.upper < fmpq(1, 2)
    with pytest.raises(LimitError):
        explore(walk, [0, 1], states=100)


ASK: dict[str, Callable[[ProgramChain], Any]] = {
    "bound": lambda chain: bound(chain, 2),
    "bracket": lambda chain: bound(chain, 2, precision="1/1000"),
    "threshold": lambda chain: bd_threshold(chain, 2, "0", "1", "1/2"),
}


@pytest.mark.parametrize("name", ASK)
def test_bounds_are_proved_for_the_whole_program(cut: ProgramChain, name: str) -> None:
    document = ASK[name](cut).certificate()
    found = check_certificate(json.dumps(document))
    assert found.valid
    (claim,) = found.plain_claims()
    upper = Fraction(str(claim["upper"]))
    assert (claim["quantity"], claim["lower"]) == ("delta", "0")
    truth = delta(explore(clipped, [0, 1]), 2).pairs[0].upper
    assert fmpq(upper.numerator, upper.denominator) >= truth
    document["claims"][0]["upper"] = str(upper - Fraction(1, 10**9))
    assert not check_certificate(json.dumps(document)).valid or upper == 1
    document["claims"][0] |= {"upper": "1", "lower": str(Fraction(1, 10**9))}
    assert not check_certificate(json.dumps(document)).valid


def test_the_asymmetric_distance_of_a_cut_program_has_no_proof(cut: ProgramChain) -> None:
    with pytest.raises(UsageError, match="bd and delta"):
        bound(cut, 2, distance="lbd").certificate()
