"""Answer objects refuse what contradicts itself, and show themselves safely."""

from __future__ import annotations

import pytest
from flint import fmpq

from bisimdist.distances.bound.answer import DistanceAnswer, ThresholdAnswer
from bisimdist.errors import UsageError
from bisimdist.exact.bounds import Bracket, LowerBound, UpperBound
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.pair_bounds import PairBound
from bisimdist.models.lmc import LMC

HALF, THIRD = fmpq(1, 2), fmpq(1, 3)
CHAIN = LMC.from_mappings({"s": "a", "<t>": "a"}, {"s": {"s": 1}, "<t>": {"<t>": 1}})


def pair(upper: fmpq = HALF, lower: fmpq = HALF) -> PairBound:
    return PairBound("s", "<t>", upper=upper, lower=lower, exact=bool(upper == lower))


def answer(*pairs: PairBound, method: str = "", **options: object) -> DistanceAnswer:
    return DistanceAnswer(
        model=CHAIN,
        alpha=fmpq(3, 2),
        distance="bd",
        pairs=pairs,
        status=Status.EXACT,
        method=method,
        statistics={"rounds": len(method)},
    )


@pytest.mark.parametrize(("upper", "lower"), [(THIRD, HALF), (fmpq(2), HALF), (HALF, fmpq(-1))])
def test_bounds_that_contradict_each_other(upper: fmpq, lower: fmpq) -> None:
    with pytest.raises(UsageError, match="expected 0 <= lower <= upper <= 1"):
        PairBound("s", "t", upper=upper, lower=lower, exact=False)


@pytest.mark.parametrize(("upper", "lower", "exact"), [(HALF, THIRD, True), (HALF, HALF, False)])
def test_exact_is_where_the_bounds_meet(upper: fmpq, lower: fmpq, exact: bool) -> None:
    with pytest.raises(UsageError, match="bounds meet"):
        PairBound("s", "t", upper=upper, lower=lower, exact=exact)


def test_bounds_with_directions() -> None:
    bracket = Bracket(LowerBound(THIRD), UpperBound(HALF))
    assert PairBound("s", "t", HALF, THIRD, exact=False).bracket == bracket


def test_equality_is_that_of_what_is_said() -> None:
    assert answer(pair(), method="one") == answer(pair(), method="another")
    assert hash(answer(pair(), method="one")) == hash(answer(pair(), method="another"))
    assert answer(pair()) != answer(pair(HALF + fmpq(1, 10**40), HALF))


def test_the_certificate_is_made_when_it_is_asked_for() -> None:
    made: list[int] = []

    def make() -> dict[str, object]:
        made.append(1)
        return {"version": 1}

    found = DistanceAnswer(
        model=CHAIN,
        alpha=fmpq(1),
        distance="bd",
        pairs=(pair(),),
        status=Status.EXACT,
        make_certificate=make,
    )
    assert not made
    assert found.certificate() == {"version": 1}
    with pytest.raises(UsageError, match="no certificate"):
        answer(pair()).certificate()


def test_the_page_escapes_names_and_rounds_upper_bounds_up() -> None:
    long = fmpq(10**60 // 3, 10**60)
    page = answer(pair(), pair(fmpq(1), long), pair(long, fmpq(0)))._repr_html_()
    assert "<t>" not in page
    assert "&lt;t&gt;" in page
    assert "&lt;= 0.333333333334 (rounded up)" in page
    assert "&gt;= 0.333333333333 (rounded down)" in page
    assert "1/2" in page


def test_a_page_says_how_many_pairs_it_leaves_out() -> None:
    page = answer(*[pair()] * 1000)._repr_html_()
    assert "and 800 more" in page
    assert len(page) < 100_000


@pytest.mark.parametrize(
    ("theta", "holds", "verdict"),
    [(HALF, True, "holds"), (fmpq(2, 5), None, "unknown"), (fmpq(0), False, "violated")],
)
def test_a_threshold_is_what_the_bounds_prove(theta: fmpq, holds: bool | None, verdict: str) -> None:
    known = {"model": CHAIN, "alpha": fmpq(1), "distance": "bd", "status": Status.BRACKET}
    found = ThresholdAnswer(**known, threshold=theta, pairs=(pair(HALF, THIRD),))
    assert (found.holds, found.verdict) == (holds, verdict)
    assert verdict in found._repr_html_()
