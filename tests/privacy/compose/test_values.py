"""Published and independently computed values lie inside the bounds."""

from __future__ import annotations

import json
import random
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, fmpq

import bisimdist
from bisimdist.checker import check_certificate
from bisimdist.errors import LimitError, ModelError, UsageError
from bisimdist.exact.precision import working_precision
from bisimdist.privacy.compose.engine import atoms
from bisimdist.privacy.compose.engine.direct import caps_of
from bisimdist.privacy.compose.engine.laws import UNKNOWN, AtomsAt, gaussian
from bisimdist.privacy.compose.engine.rough import Factor


def within(value: str, lower: Any, upper: Any, width: str = "1/1000") -> None:
    """Hold a decimal, of which the last digit may be rounded, against bounds that have to be close."""
    truth = Fraction(value)
    doubt = Fraction(Decimal((0, (1,), Decimal(value).as_tuple().exponent)))  # type: ignore[arg-type]
    assert lower <= truth + doubt
    assert truth - doubt <= upper
    assert upper - lower <= Fraction(width) * upper


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(1, "0.12693673750664394"), (10, "9.8127058268469559e-23"), (20, "2.6647067053654977e-86")],
)
def test_gaussians(epsilon: int, delta: str) -> None:
    found = bisimdist.compose([{"gaussian": {"sigma": 10}, "times": 100}]).delta(epsilon)
    within(delta, found.lower, found.upper, "1e-20")


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(1, "0.12693673750664394"), (10, "9.8127058268469559e-23"), (20, "2.6647067053654977e-86")],
)
def test_gaussians_on_a_grid(epsilon: int, delta: str) -> None:
    # q = 1 is no subsampling, but keeps them from being merged into one
    entry = {"subsampled": {"q": 1, "of": {"gaussian": {"sigma": 10}}}, "times": 100}
    found = bisimdist.compose([entry], relation="remove").delta(epsilon)
    within(delta, found.lower, found.upper)


def test_randomised_response() -> None:
    found = bisimdist.compose([{"randomised-response": {"truth": "3/4"}, "times": 100}]).delta(80)
    within("0.0020467977281", found.lower, found.upper)


def test_subsampled_gaussian_once() -> None:
    entry = {"subsampled": {"q": "1/100", "of": {"gaussian": {"sigma": 1}}}}
    found = bisimdist.compose([entry], relation="remove").delta("1/2")
    within("2.2145190131530613e-7", found.lower, found.upper)


def test_ten_thousand_steps() -> None:
    entry = {"dpsgd": {"sigma": 4, "q": "33/100000", "steps": 10000}}
    found = bisimdist.compose([entry]).epsilon("1.1e-18")
    assert Fraction("0.067212") <= found.lower
    assert found.upper <= Fraction("0.067217")


@pytest.mark.parametrize(
    ("sigma", "rate", "epsilon", "delta"),
    [
        (1, "1/10", "1/2", "0.003341971791013805561194"),
        (2, "1/100", "1/10", "4.021691464996862462499743e-9"),
        (1, 1, 3, "0.183813076544472155970107"),
    ],
)
def test_one_record_replaced_in_a_sampled_gaussian(sigma: int, rate: Any, epsilon: Any, delta: str) -> None:
    # integrals of (1 - q) N(0) + q N(1) against (1 - q) N(0) + q N(-1), in 40 digits by quadrature
    entry = {"subsampled": {"q": rate, "of": {"gaussian": {"sigma": sigma}}}}
    found = bisimdist.compose([entry], relation="replace").delta(epsilon)
    within(delta, found.lower, found.upper, "1e-20")
    # alone, and so on a grid together with what costs nothing
    grid = bisimdist.compose([entry, {"pure": {"epsilon": 0}}], relation="replace").delta(epsilon)
    within(delta, grid.lower, grid.upper)


def test_a_window_keeps_labels_that_lie_below_what_is_known_from_above() -> None:
    entry = {"subsampled": {"q": "1/3", "of": {"gaussian": {"sigma": "1/20"}}}, "times": 5}
    found = bisimdist.compose([entry], relation="replace").delta("1/2")
    within("0.86831275720", found.lower, found.upper)


@pytest.mark.slow
def test_where_doubles_are_wrong() -> None:
    entry = {"dpsgd": {"sigma": 1, "q": "1/100", "steps": 1000}}
    found = bisimdist.compose([entry]).delta(8)
    within("3.14e-26", found.lower, found.upper)


@pytest.mark.parametrize(
    ("entry", "relation", "epsilon", "delta"),
    [
        ({"laplace": {"scale": 5}, "times": 3}, "add-remove", "0.5999", "1.25003124895e-5"),
        ({"laplace": {"scale": "1/2"}, "times": 9}, "add-remove", "17.99", "1.98741043073e-5"),
        ({"randomised-response": {"truth": "3/4"}, "times": 100}, "add-remove", "109", "1.85170258257e-13"),
        ({"discrete-gaussian": {"sigma": "1/20"}, "times": 2}, "add-remove", "1", "1.00000000"),
        (
            {"subsampled": {"q": 1, "of": {"gaussian": {"sigma": "1/20"}}}, "times": 100},
            "add",
            "1e-6",
            "1.00000000",
        ),
        (
            {"subsampled": {"q": "1/100", "of": {"gaussian": {"sigma": "1/20"}}}, "times": 2},
            "remove",
            "1/100",
            "0.0199000000",
        ),
    ],
)
def test_near_the_largest_loss_and_where_losses_lie_far_apart(
    entry: dict[str, Any], relation: str, epsilon: str, delta: str
) -> None:
    found = bisimdist.compose([entry], relation=relation).delta(epsilon)
    within(delta, found.lower, found.upper)


def test_a_question_leaves_no_trace_in_later_ones() -> None:
    entry = {"subsampled": {"q": "1/10", "of": {"discrete-gaussian": {"sigma": 1}}}, "times": 2}
    both = bisimdist.compose([entry])
    for epsilon in (1, 2, "1/2"):
        both.delta(epsilon)
    point = both.delta(2)
    within("9.69331648791e-6", point.lower, point.upper)
    assert both.delta(30).upper < Fraction(1, 10**100)


def test_an_epsilon_after_another_question_is_as_close() -> None:
    entry = {"subsampled": {"q": "1/100", "of": {"gaussian": {"sigma": 1}}}, "times": 100}
    both = bisimdist.compose([entry])
    both.delta(2)
    point = both.epsilon("1e-5")
    assert point.upper - point.lower <= point.upper / 999


def test_a_proof_covers_deltas_of_very_different_size() -> None:
    entry = {"subsampled": {"q": "1/10", "of": {"gaussian": {"sigma": 1}}}, "times": 3}
    both = bisimdist.compose([entry], relation="remove")
    for epsilon in (1, 16, 1):
        both.delta(epsilon)
    assert check_certificate(json.dumps(both.certificate())).valid


@pytest.mark.parametrize(
    ("mechanisms", "delta"),
    [
        ([{"randomised-response": {"truth": "3/5"}}, {"pure": {"epsilon": "1/10"}, "times": 2}], "9/10"),
        ([{"laplace": {"scale": 1}, "times": 17}, {"laplace": {"scale": 5}}], "1/2"),
        ([{"pure": {"epsilon": "1/10"}, "times": 17}, {"discrete-laplace": {"scale": 1}}], "1/10"),
    ],
)
def test_an_epsilon_below_the_mean_of_the_loss(mechanisms: list[Any], delta: str) -> None:
    """No tilt is best there, and delta falls slowly; where 0 is enough there is nothing to be closer to."""
    found = bisimdist.compose(mechanisms)
    bounds = found.epsilon(delta)
    assert bounds.upper - bounds.lower <= fmpq(1, 1000) * bounds.upper
    grids = [tape.found[-1].size for one in found.accountant.sides for tape in one.tapes]
    assert max(grids, default=0) < 20_000


def test_the_least_epsilon_rests_on_what_is_known_from_below() -> None:
    law = AtomsAt(lambda _: atoms.randomised_response(fmpq(3, 4)))
    known, unknown = (caps_of([Factor(law, below, 2)]) for below in (law, UNKNOWN))
    assert known.largest is not None
    assert known.largest == unknown.largest
    assert 0 < known.largest - known.least < fmpq(1, 10**50)
    assert unknown.least == 0


def test_laplace_once() -> None:
    # delta = 1 - e^((epsilon - 1/scale) / 2)
    found = bisimdist.compose([{"laplace": {"scale": 2}}]).delta("1/4")
    context = Context(prec=40)
    truth = 1 - context.exp(Decimal("-0.125"))
    assert Fraction(found.lower) <= Fraction(truth) <= Fraction(found.upper)
    assert found.upper - found.lower < Fraction(1, 10**20)


def test_pure_mechanisms_end() -> None:
    found = bisimdist.compose([{"pure": {"epsilon": "1/10"}, "times": 3}, {"laplace": {"scale": 5}}])
    assert (found.delta("1/2").upper, found.epsilon(0).lower, found.epsilon(0).upper) == (
        0,
        Fraction(1, 2),
        Fraction(1, 2),
    )
    assert found.delta("0.49").lower > 0


def test_approximate_mechanisms_keep_their_delta() -> None:
    found = bisimdist.compose([{"approximate": {"epsilon": 0, "delta": "1/100"}, "times": 2}]).delta(5)
    assert found.lower <= Fraction(199, 10_000) <= found.upper
    with pytest.raises(UsageError, match="no epsilon exists"):
        bisimdist.compose([{"approximate": {"epsilon": 1, "delta": "1/100"}}]).epsilon("1/1000")
    beside = [{"approximate": {"epsilon": 1, "delta": "1/100"}}, {"gaussian": {"sigma": 10}}]
    with pytest.raises(UsageError, match="no epsilon exists"):
        bisimdist.compose(beside).epsilon("1/1000")


def test_what_is_far_below_an_infinite_loss_needs_no_fine_grid() -> None:
    # the Gaussians add less than 1e-12 at epsilon 20, and not even a unit of work for them is needed
    gaussians = {"subsampled": {"q": "1/10", "of": {"gaussian": {"sigma": 2}}}, "times": 200}
    noise = {"laplace": {"scale": 4}, "times": 20}
    found = bisimdist.compose([gaussians, noise, {"approximate": {"epsilon": "1/10", "delta": "1/1000000"}}])
    point = found.delta(20)
    within("0.000001", point.lower, point.upper)
    assert len(json.dumps(found.certificate())) < 4000


def test_the_truth_about_shuffling_lies_between_both_laws() -> None:
    # three users, every input of the two others
    truth, alpha = Fraction(3, 4), Fraction(3, 2)
    found = bisimdist.compose([{"shuffled": {"n": 3, "of": {"randomised-response": {"truth": "3/4"}}}}])
    epsilon = Fraction(Context(prec=60).ln(Decimal(3) / 2))
    worst = Fraction(0)
    for others in ((0, 0), (0, 1), (1, 1)):
        laws = []
        for mine in (0, 1):
            law: list[Fraction] = [Fraction(1)]
            for bit in (mine, *others):
                chance = truth if bit else 1 - truth
                law = [
                    (law[k] if k < len(law) else Fraction(0)) * (1 - chance)
                    + (law[k - 1] * chance if k else Fraction(0))
                    for k in range(len(law) + 1)
                ]
            laws.append(law)
        for one, other in (laws, laws[::-1]):
            gains = [a - alpha * b for a, b in zip(one, other, strict=True) if a > alpha * b]
            worst = max(worst, sum(gains, Fraction(0)))
    bounds = found.delta(epsilon)
    assert bounds.lower <= worst + Fraction(1, 10**50)
    assert worst <= bounds.upper + Fraction(1, 10**50)


def test_an_epsilon_where_both_sides_are_about_different_laws() -> None:
    shuffled = {"shuffled": {"n": 20, "of": {"randomised-response": {"truth": "3/4"}}}}
    found = bisimdist.compose([shuffled, {"gaussian": {"sigma": 2}}]).epsilon("1e-3")
    assert 1 < found.lower < found.upper < 3
    for at, holds in ((found.lower, True), (found.upper, False)):
        point = bisimdist.compose([shuffled, {"gaussian": {"sigma": 2}}]).delta(at)
        assert (point.upper > Fraction(1, 1000)) or not holds
        assert holds or point.lower <= Fraction(1, 1000)


def answer(value: int, rng: random.Random) -> int:
    """Answer truthfully, or else by noise that doubles make."""
    if rng.random() < 0.1 + 0.2:
        return value
    return int(rng.random() * 3.3)


FACTORS: list[dict[str, Any]] = [
    *({"gaussian": {"sigma": k}} for k in range(8, 16)),
    *({"laplace": {"scale": k}} for k in range(9, 17)),
    *({"discrete-gaussian": {"sigma": k}} for k in range(6, 12)),
    *({"discrete-laplace": {"scale": k, "sensitivity": 2}} for k in range(9, 16)),
    *({"randomised-response": {"truth": f"{k}/100"}} for k in range(51, 58)),
    *({"pure": {"epsilon": f"{k}/100"}} for k in range(1, 5)),
    {"approximate": {"epsilon": "1/50", "delta": "1e-9"}},
    *({"subsampled": {"q": f"1/{k}", "of": {"gaussian": {"sigma": 2}}}, "times": k} for k in range(20, 26)),
    {"subsampled": {"q": "1/10", "of": {"laplace": {"scale": 1}}}},
    {"model": "example:dining-cryptographers"},
    {"program": answer, "inputs": [0, 1]},
]


def test_fifty_factors_in_any_order() -> None:
    assert len(FACTORS) == 50
    one = bisimdist.compose(FACTORS, width="1/100").delta(2)
    other = bisimdist.compose(FACTORS[::-1], width="1/100").delta(2)
    assert (one.lower, one.upper) == (other.lower, other.upper)
    assert 0 < one.upper - one.lower <= one.upper / 90


@pytest.mark.parametrize(
    ("entry", "relation", "said"),
    [
        ({"gaussian": {"sigma": 0}}, "add", "sigma is 0; expected a number above 0"),
        ({"gaussian": {"sigma": "-1"}}, "add", "sigma is -1; expected"),
        ({"gaussian": {"sigma": 1, "sensitivity": 0}}, "add", "sensitivity is 0"),
        ({"gaussian": {}}, "add", "the key 'sigma' is missing"),
        ({"gaussian": {"sigma": 1, "clip": 2}}, "add", "the key 'clip' is unknown"),
        ({"gaussian": {"sigma": 1.5}}, "add", "float"),
        ({"gaussian": {"sigma": 1}, "times": 0}, "add", "times is 0"),
        ({"gaussian": {"sigma": 1}, "times": "1/2"}, "add", "times is 1/2"),
        ({"gauss": {"sigma": 1}}, "add", "there is no mechanism 'gauss'"),
        ({"subsampled": {"q": "3/2", "of": {"gaussian": {"sigma": 1}}}}, "add", "q is 3/2"),
        ({"randomised-response": {"truth": "1/3"}}, "add", "truth is 1/3"),
        ({"discrete-laplace": {"scale": 1, "sensitivity": "1/2"}}, "add", "sensitivity is 1/2"),
        ({"shuffled": {"n": 10, "of": {"laplace": {"scale": 1}}}}, "add", "expected randomised-response"),
        ({"approximate": {"epsilon": 1, "delta": 2}}, "add", "delta is 2"),
        ({"model": {"gaussian": {"sigma": 1}}, "pair": ["s", "t"]}, "add", "model: expected a file"),
        ("gaussian", "add", "expected a"),
    ],
)
def test_what_is_no_mechanism_is_refused(entry: Any, relation: str, said: str) -> None:
    with pytest.raises((ModelError, UsageError), match=said):
        bisimdist.compose([entry], relation=relation)


def test_a_model_that_is_known_by_bounds_only() -> None:
    rows: dict[str, dict[str, Any]] = {
        "s": {"s": "1/2", "x": "1/4", "y": "1/4"},
        "t": {"t": "1/3", "x": "1/2", "y": "1/6"},
        "x": {"x": 1},
        "y": {"y": 1},
    }
    chain = bisimdist.LMC.from_mappings({"s": "a", "t": "a", "x": "b", "y": "c"}, rows, pairs=[("s", "t")])
    found = bisimdist.compose([{"model": chain}, {"gaussian": {"sigma": 2}}])
    point = found.delta(1)
    assert any("upper bound alone" in note for note in found.notes)
    assert bisimdist.delta(chain, 3).upper <= bisimdist.compose([{"model": chain}]).delta(1).upper
    assert point.lower <= point.upper
    with pytest.raises(UsageError, match="no proof is written"):
        found.certificate()


def test_events_of_dp_accounting_by_their_shape() -> None:
    class GaussianDpEvent:
        noise_multiplier = 10.0

    class SelfComposedDpEvent:
        event, count = GaussianDpEvent(), 100

    within(
        "0.12693673750664394",
        *(getattr(bisimdist.compose(SelfComposedDpEvent()).delta(1), k) for k in ("lower", "upper")),
    )

    class PoissonSampledDpEvent:
        event, sampling_probability = GaussianDpEvent(), 0.5

    # noise of an event is by what adding a record changes, and replacing it changes twice as much
    replaced, same = (
        bisimdist.compose(one, relation="replace").delta("1/10")
        for one in (GaussianDpEvent(), {"gaussian": {"sigma": 10, "sensitivity": 2}})
    )
    assert replaced == same
    sampled, same = (
        bisimdist.compose(one, relation="replace").delta("1/10")
        for one in (PoissonSampledDpEvent(), {"subsampled": {"q": "1/2", "of": {"gaussian": {"sigma": 10}}}})
    )
    assert sampled == same


@pytest.mark.parametrize("mechanism", [{"gaussian": {"sigma": "1/10000"}}, {"pure": {"epsilon": 3_000_000}}])
def test_no_epsilon_is_claimed_beyond_the_largest_one_that_is_looked_for(
    mechanism: dict[str, object],
) -> None:
    with pytest.raises(LimitError, match="no larger one"):
        bisimdist.compose([mechanism]).epsilon("1e-5")


def test_an_epsilon_where_delta_falls_steeply_takes_no_fine_grid() -> None:
    """Beyond the largest loss of randomised response noise alone is left: grids had millions of losses."""
    answer = bisimdist.compose(
        [
            {"randomised-response": {"truth": "47/200", "options": 10}, "times": 3},
            {"subsampled": {"q": "1/100", "of": {"gaussian": {"sigma": 22}}}, "times": 5},
        ]
    )
    point = answer.epsilon("342e-27")
    assert 0 < point.upper - point.lower <= point.upper / 1000
    sizes = [made.size for side in answer.accountant.sides for tape in side.tapes for made in tape.found]
    assert max(sizes) < 10**5


def test_a_loss_that_is_hardly_known_has_tails_between_those_of_its_ends() -> None:
    law = gaussian(fmpq(10**4, 103) ** 2, fmpq(1, 10))
    with working_precision(2480):
        for loss in (arb(0, "1e-745"), arb("1e-746"), arb(0)):
            for tail in law.above(loss):
                assert tail.is_finite()
                assert -0.01 < tail < 1.01
