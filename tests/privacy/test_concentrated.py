"""Zero-concentrated privacy: rho against closed forms, orders in between, and delta."""

from __future__ import annotations

import math

from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.faces.shown.answer import Status
from bisimdist.models.library.randomised_response import randomised_response
from bisimdist.models.lmc import LMC
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.leakage.bounds import LeakageBound
from bisimdist.privacy.leakage.measures import LeakageMeasure
from bisimdist.privacy.profile.ask import profile
from bisimdist.privacy.profile.concentrated import Concentrated, concentrated
from bisimdist.privacy.profile.renyi_curve import RenyiCurve, RenyiPoint, renyi_curve
from tests.reference.traces import trace_distribution
from tests.strategies import alphas, lmcs

PAIR = [("s0", "s1")]


def double(value: fmpq | None) -> float:
    return math.inf if value is None else int(value.p) / int(value.q)


def divergence(chain: LMC, order: float) -> float:
    """Return Rényi's divergence of a real order, the larger direction, from all traces."""
    p, q = (trace_distribution(chain, s, len(chain) + 1) for s in (0, 1))
    found = []
    for left, right in ((p, q), (q, p)):
        if any(w not in right for w in left):
            return math.inf
        total = math.fsum(
            math.exp(order * math.log(double(x)) + (1 - order) * math.log(double(right[w])))
            for w, x in left.items()
        )
        found.append(math.log(total) / (order - 1))
    return max(found)


@settings(max_examples=30)
@given(chain=lmcs(5, cyclic=False), order=st.floats(1.01, 40), exact=st.booleans())
def test_every_real_order_is_bounded(chain: LMC, order: float, exact: bool) -> None:
    curve = renyi_curve(chain, [2, 3, 8], pairs=PAIR)
    losses = profile(chain, alphas=[1], pairs=PAIR).losses if exact else None
    rho = concentrated(curve, losses)
    true = divergence(chain, order)
    if rho.lower is None:
        assert true == math.inf
        return
    assert rho.upper is not None
    if rho.order is None or order <= double(rho.order):
        assert true <= double(rho.upper) * order * (1 + 1e-9) + 1e-12
    if exact:
        assert rho.order is None
        assert double(rho.upper) <= 1.01 * double(rho.lower) + 1e-12


@settings(max_examples=30)
@given(chain=lmcs(5, cyclic=False), alpha=alphas(), exact=st.booleans())
def test_delta_is_at_most_what_follows_from_rho(chain: LMC, alpha: fmpq, exact: bool) -> None:
    losses = profile(chain, alphas=[1], pairs=PAIR).losses if exact else None
    rho = concentrated(renyi_curve(chain, [2, 5], pairs=PAIR), losses)
    assert delta(chain, alpha, pairs=PAIR).upper <= rho.delta_upper(alpha) <= 1


def test_randomised_response_and_runs_of_it() -> None:
    chain = randomised_response(2, fmpq(3, 4))
    expected = math.log(3) / 2  # the divergence of Kullback and Leibler: D_b / b is largest as b falls to 1
    for runs in (1, 3):
        losses = profile(chain, alphas=[1], runs=runs).losses
        rho = concentrated(renyi_curve(chain, [2, 4], runs=runs), losses)
        assert rho.order is None
        assert double(rho.lower) <= runs * expected <= double(rho.upper)
        assert double(rho.upper) - double(rho.lower) < 1e-3 * runs


def test_orders_beyond_the_last_are_not_claimed() -> None:
    """One side stays ahead for ever: divergences are finite at low orders alone."""
    chain = LMC.from_mappings(
        {"s": "a", "t": "a", "e": "b"},
        {"s": {"s": "1/2", "e": "1/2"}, "t": {"t": "1/3", "e": "2/3"}, "e": {"e": 1}},
        [("s", "t")],
    )
    two = concentrated(renyi_curve(chain, [2]))
    assert (two.order, two.lower is None) == (2, False)
    three = concentrated(renyi_curve(chain, [2, 3]))
    assert (three.lower, three.order) == (None, 2)  # no rho for all orders
    assert three.upper == two.upper
    assert three.data() == {"lower": "inf", "upper": "0.405465108109", "orders": "2"}
    assert "not bounded" in str(three)
    none = concentrated(renyi_curve(chain, [3]))
    assert (none.lower, none.upper) == (None, None)
    assert none.delta_upper(2) == 1
    assert "not concentrated" in str(none)


def test_nothing_is_lost() -> None:
    chain = LMC.from_mappings({"s": "a", "t": "a"}, {"s": {"s": 1}, "t": {"t": 1}}, [("s", "t")])
    rho = concentrated(renyi_curve(chain, [2, 3]), profile(chain, alphas=[1]).losses)
    assert (rho.lower, rho.upper, rho.order) == (0, 0, None)
    assert rho.delta_upper(1) == 0


def curve_of(sums: dict[int, float]) -> RenyiCurve:
    """Return a curve with about so large sums of p^b q^(1-b)."""

    def point(order: int, value: float) -> RenyiPoint:
        exact = fmpq(*value.as_integer_ratio())
        bound = LeakageBound(
            measure=LeakageMeasure("renyi", order),
            states=("s", "t"),
            prior=None,
            before=None,
            lower=exact,
            upper=exact,
        )
        return RenyiPoint(order, exact, exact, bound)

    return RenyiCurve(tuple(point(order, value) for order, value in sums.items()), Status.BRACKET)


def test_a_chord_may_be_steepest_inside() -> None:
    """For D_b = b / 8, that of a Gaussian, chords between orders far apart say more than either end."""
    for last, inside in ((12, False), (40, True)):
        rho = concentrated(curve_of({b: math.exp(b * (b - 1) / 8) for b in (2, 3, last)}))
        assert math.isclose(double(rho.lower), 1 / 8)
        slope = (last * (last - 1) / 8 - 6 / 8) / (last - 3)
        orders = (2 + (last - 3) * k / 100000 for k in range(100001))
        steepest = max((6 / 8 + slope * (u - 2)) / (u * (u + 1)) for u in orders)
        assert (steepest > 1 / 4) == inside  # 1/4 is D_2, which bounds what lies between the orders 1 and 2
        assert math.isclose(double(rho.upper), max(steepest, 1 / 4), rel_tol=1e-6)
        assert double(rho.upper) >= steepest


def test_no_worse_than_the_bound_of_bun_and_steinke() -> None:
    rho = Concentrated(fmpq(1, 2), fmpq(1, 2), None)
    for epsilon in (1.0, 3.0):
        alpha = fmpq(*math.exp(epsilon).as_integer_ratio())
        assert 0 < double(rho.delta_upper(alpha)) <= math.exp(-((epsilon - 0.5) ** 2) / 2)
