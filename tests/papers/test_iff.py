"""LWZ22-conference, Theorem 8.1 and LWZ22-long, Theorem 10.2: the model has the budget of the algorithm."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.budgets.verify.answer import Verdict
from bisimdist.budgets.verify.ask import epsilon, verify
from bisimdist.models.mechanisms import above_threshold
from bisimdist.models.mechanisms.geometric import truncated_geometric

NOISE = st.sampled_from(["1/4", "1/3", "1/2", "2/3", "3/5"])


def exact(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def law(
    levels: int, threshold: int, noises: tuple[str, str], results: tuple[int, ...]
) -> dict[str, Fraction]:
    """Return the algorithm's probability of each sequence of answers, run by run, with fractions alone."""
    on_threshold, on_query = (
        [[exact(p) for p in row] for row in truncated_geometric(noise, levels)] for noise in noises
    )
    found: dict[str, Fraction] = {}
    for noisy, share in enumerate(on_threshold[threshold]):
        going, said = share, ""
        for result in results:
            below = sum(on_query[result][:noisy], Fraction(0))
            found[said + "T"] = found.get(said + "T", Fraction(0)) + going * (1 - below)
            going, said = going * below, said + "B"
        found[said] = found.get(said, Fraction(0)) + going
    return found


def least_budget(levels: int, threshold: int, noises: tuple[str, str], queries: int) -> Fraction | None:
    """Return the largest quotient over neighbouring results of so many queries; None where it is infinite."""
    worst = Fraction(1)
    near = [(a, b) for a in range(levels) for b in range(levels) if abs(a - b) <= 1]
    for results in product(near, repeat=queries):
        one = law(levels, threshold, noises, tuple(a for a, _ in results))
        other = law(levels, threshold, noises, tuple(b for _, b in results))
        for said, chance in one.items():
            if chance and not other[said]:
                return None
            worst = max(worst, chance / other[said] if chance else worst)
    return worst


@settings(max_examples=25, deadline=None)
@given(
    levels=st.integers(2, 3),
    place=st.integers(0, 2),
    noises=st.tuples(NOISE, NOISE),
    queries=st.integers(1, 3),
)
def test_the_model_has_the_budget_of_the_algorithm(
    levels: int, place: int, noises: tuple[str, str], queries: int
) -> None:
    """Both directions: a budget holds for the model exactly if it holds for the algorithm."""
    threshold = min(place, levels - 1)
    model = above_threshold(
        levels=levels, threshold=threshold, threshold_alpha=noises[0], query_alpha=noises[1]
    )
    length = 2 * queries + 1
    expected = least_budget(levels, threshold, noises, queries)
    (found,) = epsilon(model, length=length).pairs
    if expected is None:
        assert found.infinite
        return
    ratio = fmpq(expected.numerator, expected.denominator)
    assert found.ratio == ratio
    assert verify(model, ratio, length=length).verdict is Verdict.HOLDS
    if ratio > 1:
        less = ratio - (ratio - 1) / 1000
        assert verify(model, less, length=length).verdict is Verdict.VIOLATED
