"""The privacy profile: points, what holds between them, the least epsilon, and the pictures."""

from __future__ import annotations

import math
import sys

import pytest
from flint import fmpq
from hypothesis import given, settings

from bisimdist.errors import LimitError, UsageError
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.pictures import saved
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.figure1 import figure1
from bisimdist.models.library.leaky_retry import leaky_retry
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.library.randomised_response import randomised_response
from bisimdist.models.lmc import LMC
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.profile.ask import profile
from bisimdist.privacy.profile.threshold_search import least_alpha
from bisimdist.progress import Deadline
from tests.reference.traces import true_delta
from tests.strategies import lmcs

BETWEEN = [fmpq(k, 7) for k in (7, 8, 9, 11, 14, 20, 30)]


@settings(max_examples=25)
@given(chain=lmcs(6, cyclic=False))
def test_points_and_what_lies_between(chain: LMC) -> None:
    answer = profile(chain, pairs=[("s0", "s1")], points=7)
    assert answer.status is Status.EXACT
    assert answer.points[0].alpha == 1
    alphas = [point.alpha for point in answer.points]
    assert alphas == sorted(set(alphas))
    for point in answer.points:
        assert point.lower == point.upper == true_delta(chain, 0, 1, point.alpha, 7)
    for alpha in BETWEEN:
        assert answer.lower_at(alpha) <= true_delta(chain, 0, 1, alpha, 7) <= answer.upper_at(alpha)


def test_a_cyclic_chain_from_both_sides() -> None:
    chain = leaky_retry()
    answer = profile(chain, points=12)
    assert answer.losses is None
    assert answer.status is Status.EXACT
    for before, after in zip(answer.points, answer.points[1:], strict=False):
        assert before.lower <= before.upper
        assert after.lower <= before.upper  # antitone
    middle = fmpq(103, 100)
    there = delta(chain, middle)
    assert answer.lower_at(middle) <= there.upper
    assert there.lower <= answer.upper_at(middle)
    assert answer.upper_at(middle) - answer.lower_at(middle) < fmpq(1, 1000)


def test_points_go_where_the_curve_bends() -> None:
    answer = profile(randomised_response(2, "3/4", 4))
    alphas = {point.alpha for point in answer.points}
    assert {fmpq(1), fmpq(9), fmpq(81)} <= alphas


def test_points_that_are_asked() -> None:
    answer = profile(figure1(), alphas=["5/4"], epsilons=["1/10"])
    assert len(answer.points) == 2
    assert answer.points[1].upper == fmpq(1, 10)
    with pytest.raises(UsageError):
        answer.upper_at(1)


def test_least_epsilon_of_finitely_many_losses() -> None:
    chain = randomised_response(2, "3/4", 1)
    least = least_alpha(chain, "1/4")
    assert (least.enough, least.exact) == (fmpq(2), True)  # 3/4 - 2/4
    assert least_alpha(chain, 0).enough == 3
    assert least_alpha(chain, 1).enough == 1
    assert least_alpha(chain, "1/4", runs=2).enough == (fmpq(9, 16) - fmpq(1, 4)) * 16


def test_least_epsilon_by_bisection() -> None:
    chain = leaky_retry()
    least = least_alpha(chain, "1/1000", precision="1e-4")
    assert least.above is not None
    assert least.enough is not None
    assert not least.exact
    assert least.enough - least.above <= (least.enough - 1) * fmpq(1, 10**4)
    assert delta(chain, least.above).lower > fmpq(1, 1000)
    assert delta(chain, least.enough).upper <= fmpq(1, 1000)
    assert least_alpha(chain, "1/100").enough == 1  # a tie: delta is 1/100 at epsilon = 0


def test_no_epsilon_is_enough() -> None:
    chain = LMC.from_mappings(
        {"s": "a", "t": "a", "x": "x", "y": "y"},
        {"s": {"x": "1/2", "y": "1/2"}, "t": {"y": 1}, "x": {"x": 1}, "y": {"y": 1}},
        [("s", "t")],
    )
    least = least_alpha(chain, "1/4")
    assert (least.enough, least.exact) == (None, True)


def test_all_pairs_count() -> None:
    chain = dining_cryptographers(4, pairs="all")
    answer = profile(chain, alphas=["1.0002"])
    assert answer.points[0].upper == delta(chain, "1.0002").upper


@pytest.mark.parametrize(
    "arguments",
    [{"points": 1}, {"runs": 0}, {"alphas": ["1/2"]}, {"epsilons": ["-1"]}, {"largest": 0}],
)
def test_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        profile(figure1(), **arguments)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        profile(leaky_retry(), runs=2)
    with pytest.raises(UsageError):
        least_alpha(leaky_retry(), "1/2", runs=2)
    with pytest.raises(UsageError):
        least_alpha(figure1(), 2)


def test_a_limit_before_the_first_point() -> None:
    with pytest.raises(LimitError):
        profile(dining_cryptographers(20), deadline=Deadline.after(0))


def test_data_and_csv() -> None:
    answer = profile(figure1(), alphas=[1, "5/4", "3/2"])
    data = answer.data()
    (pair,) = data["pairs"]  # type: ignore[misc]
    assert pair["losses"] == [["3/5", "2/5"], ["2/5", "3/5"]]  # type: ignore[has-type]
    lines = answer.csv().splitlines()
    assert lines[0].startswith("epsilon_below,epsilon_above,delta_lower,delta_upper")
    assert lines[2].endswith("5/4,1/10,1/10")
    assert lines[1].startswith("0,0,0.2,0.2,1,")


@pytest.mark.extra("plot")
def test_pictures() -> None:
    exact = saved(profile(figure1()).plot(trade_off=True, kinks=True, named="coins"), "x.svg")
    assert b"<svg class='bd-plot'" in exact
    assert b"prefers-color-scheme:dark" in exact
    assert b"#000000" not in exact
    wide = profile(random_lmc(12, 3, 2, 0), alphas=["1", "1.1", "2"], gap="1/20")
    assert any(not point.exact for point in wide.points)
    png = saved(wide.plot(logarithmic=True, trade_off=True), "x.PNG")
    assert png.startswith(b"\x89PNG")


@pytest.mark.extra("plot")
def test_a_picture_says_what_it_shows() -> None:
    (axis,) = profile(figure1()).plot(kinks=True, named="coins").axes
    drawn = {line.get_label(): line for line in axis.lines}
    assert list(drawn) == ["δ of coins", "computed points", "kinks"]  # bounds that meet are one line
    assert drawn["kinks"].get_xdata() == pytest.approx([math.log(3 / 2)])
    wide = profile(random_lmc(6, 3, 2, 1), alphas=["1", "2"])  # in between little is known
    assert wide.upper_at(fmpq(3, 2)) - wide.lower_at(fmpq(3, 2)) > fmpq(1, 50)
    (axis,) = wide.plot(logarithmic=True).axes
    assert [line.get_label() for line in axis.lines][:2] == ["δ of (s0, s2), at most", "at least"]
    assert not any(label.get_text() for label in axis.get_xticklabels(minor=True))


@pytest.mark.extra("plot")
def test_a_curve_that_is_zero_is_drawn() -> None:
    chain = LMC.from_mappings({"s": "a", "t": "a"}, {"s": {"s": 1}, "t": {"t": 1}}, [("s", "t")])
    answer = profile(chain, points=3)
    assert all(point.upper == 0 for point in answer.points)
    assert saved(answer.plot(logarithmic=True), "x.svg")


def test_a_missing_library_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UsageError, match="plot"):
        profile(figure1()).plot()
    with pytest.raises(UsageError, match="gif"):
        saved(None, "x.gif")
