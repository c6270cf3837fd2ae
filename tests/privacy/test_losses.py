"""Exact privacy losses: against brute force, the delta engine, product chains and Google's accountant."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.errors import LimitError, UsageError
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.leaky_retry import leaky_retry
from bisimdist.models.library.randomised_response import randomised_response
from bisimdist.models.lmc import LMC
from bisimdist.models.transform import restrict_to_reachable
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.engine.accounting import to_dp_accounting
from bisimdist.privacy.engine.losses import LossDistribution, exact_losses
from tests.reference.traces import trace_distribution, true_delta
from tests.strategies import alphas, lmcs

FEW = settings(max_examples=20)


@FEW
@given(chain=lmcs(7, cyclic=False), alpha=alphas())
def test_losses_of_acyclic_chains(chain: LMC, alpha: fmpq) -> None:
    losses = exact_losses(chain, 0, 1)
    assert losses.delta(alpha) == true_delta(chain, 0, 1, alpha, len(chain) + 1)
    assert sum((p for p, _ in losses.points), fmpq(0)) == 1
    assert sum((q for _, q in losses.points), fmpq(0)) == 1
    ratios = [p / q for p, q in losses.points if q]
    assert ratios == sorted(set(ratios), reverse=True)


@FEW
@given(chain=lmcs(6, cyclic=False), threshold=st.fractions(0, 1, max_denominator=50))
def test_the_least_alpha_is_least(chain: LMC, threshold: object) -> None:
    theta = fmpq(*threshold.as_integer_ratio())  # type: ignore[attr-defined]
    losses = exact_losses(chain, 0, 1)
    least = losses.least_alpha(theta)
    if least is None:
        assert losses.delta(fmpq(10**30)) > theta
        return
    assert losses.delta(least) <= theta
    if least > 1:
        assert losses.delta(least) == theta
        assert losses.delta((least + 1) / 2) > theta


def run_twice(model: LMC, *secrets: str) -> LMC:
    """Return two runs of an acyclic chain, one after the other; all last as long, and labels count them."""
    labels, rows, last = {"end": "end"}, {"end": {"end": fmpq(1)}}, len(model) - 1
    for secret, run, step, (number, state) in product(
        secrets, (1, 2), range(last + 1), enumerate(model.states)
    ):
        here = f"{secret}/{run}/{step}/{state}"
        labels[here] = f"{run}: {model.labels[number]}"
        if step < last:
            after = {f"{secret}/{run}/{step + 1}/{model.states[t]}": p for t, p in model.rows[number]}
        else:
            after = {f"{secret}/2/0/{secret}" if run == 1 else "end": fmpq(1)}
        rows[here] = after
    first, second = (f"{secret}/1/0/{secret}" for secret in secrets)
    return restrict_to_reachable(LMC.from_mappings(labels, rows, [(first, second)]), [first, second])


@settings(max_examples=20)
@given(chain=lmcs(5, cyclic=False), alpha=alphas())
def test_composition_against_the_product_chain(chain: LMC, alpha: fmpq) -> None:
    one = exact_losses(chain, 0, 1)
    if chain.labels[0] != chain.labels[1]:
        assert one.repeated(2).delta(alpha) == 1
        return
    twice = run_twice(chain, "s0", "s1")
    assert delta(twice, alpha).upper == one.repeated(2).delta(alpha)
    assert delta(twice, alpha).lower == one.repeated(2).delta(alpha)
    assert exact_losses(twice, *twice.pairs[0]) == one.repeated(2)


def test_three_runs_of_randomised_response_are_three_rounds() -> None:
    one = exact_losses(randomised_response(2, "3/4", 1), 0, 1)
    rounds = randomised_response(2, "3/4", 3)
    assert one.repeated(3) == exact_losses(rounds, *rounds.pairs[0])
    assert one.repeated(0).points == ((1, 1),)


@FEW
@given(chain=lmcs(6, cyclic=False))
def test_trade_off_against_all_tests_on_traces(chain: LMC) -> None:
    vertices = exact_losses(chain, 0, 1).trade_off()
    assert vertices[0][0] == 0
    assert vertices[-1] == (1, 0)
    slopes = [(b2 - b1) / (a2 - a1) for (a1, b1), (a2, b2) in pairwise(vertices)]
    assert slopes == sorted(slopes)  # convex
    assert all(slope <= 0 for slope in slopes)
    # the likelihood-ratio tests on traces lie on the curve, hence no test below it
    first = trace_distribution(chain, 0, len(chain) + 1)
    second = trace_distribution(chain, 1, len(chain) + 1)
    for bound in (fmpq(0), fmpq(1, 2), fmpq(1), fmpq(2)):
        rejected = {
            trace
            for trace in {*first, *second}
            if second.get(trace, fmpq(0)) > bound * first.get(trace, fmpq(0))
        }
        wrongly = sum((first.get(trace, fmpq(0)) for trace in rejected), fmpq(0))
        missed = 1 - sum((second.get(trace, fmpq(0)) for trace in rejected), fmpq(0))
        assert _on_curve(vertices, wrongly) == missed


def _on_curve(vertices: tuple[tuple[fmpq, fmpq], ...], a: fmpq) -> fmpq:
    for (a1, b1), (a2, b2) in pairwise(vertices):
        if a1 <= a <= a2:
            return b1 + (b2 - b1) * (a - a1) / (a2 - a1)
    raise AssertionError(a)


def test_what_has_no_finite_losses() -> None:
    with pytest.raises(LimitError):
        exact_losses(leaky_retry(), 0, 1)
    with pytest.raises(LimitError):
        chain = dining_cryptographers(6)
        exact_losses(chain, *chain.pairs[0], limit=3)


def test_losses_of_a_large_ring() -> None:
    chain = dining_cryptographers(12)
    losses = exact_losses(chain, *chain.pairs[0])
    assert losses.delta(fmpq(5001, 5000)) == delta(chain, "1.0002").lower


@pytest.mark.extra("accounting")
@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize(
    "chain", [randomised_response(3, "3/5"), dining_cryptographers(3, "2/5")], ids=["response", "ring"]
)
def test_googles_accountant_encloses_the_exact_delta(chain: LMC, runs: int) -> None:
    one = exact_losses(chain, *chain.pairs[0])
    exact = one.repeated(runs)
    above = to_dp_accounting(one, pessimistic=True)
    below = to_dp_accounting(one, pessimistic=False)
    if runs > 1:
        above, below = above.self_compose(runs), below.self_compose(runs)
    for alpha, epsilon in (("1", 0.0), ("2", 0.6931471805599453), ("3/2", 0.4054651081081644)):
        numerator, _, denominator = alpha.partition("/")
        value = exact.delta(fmpq(int(numerator), int(denominator or 1)))
        rough = int(value.p) / int(value.q)
        rounding = 1e-11  # their sums are in doubles, and so is epsilon
        assert below.get_delta_for_epsilon(epsilon) <= rough + rounding
        assert rough <= above.get_delta_for_epsilon(epsilon) + rounding
        assert above.get_delta_for_epsilon(epsilon) - below.get_delta_for_epsilon(epsilon) < 1e-3


@pytest.mark.extra("accounting")
def test_infinite_losses_are_handed_over() -> None:
    losses = LossDistribution.from_masses([(fmpq(1, 10), fmpq(0)), (fmpq(9, 10), fmpq(1))])
    assert to_dp_accounting(losses).get_delta_for_epsilon(1.0) == pytest.approx(0.1)


def test_a_missing_accountant_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "dp_accounting.pld.privacy_loss_distribution", None)
    with pytest.raises(UsageError, match="accounting"):
        to_dp_accounting(LossDistribution(((fmpq(1), fmpq(1)),)))
