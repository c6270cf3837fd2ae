"""Leakages of programs some runs of which are cut off: whatever these would show, the bounds hold."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.errors import UsageError
from bisimdist.faces.shown.answer import Status
from bisimdist.models.library.programs.noise import (
    discrete_gaussian,
    discrete_laplace,
    two_sided_geometric,
)
from bisimdist.models.lmc import LMC
from bisimdist.privacy.leakage.ask import leakage
from bisimdist.programs.chain import CUT, Origin, ProgramChain
from bisimdist.programs.front import explore
from tests.strategies import weights

ZERO, ONE = fmpq(0), fmpq(1)
MEASURES = ("kl", "chi2", "renyi:3", "tv", "hellinger", "bayes", "min-entropy", "g")
GAINS = {"first": {"s": fmpq(1), "t": fmpq(-2)}, "second": {"t": fmpq(3, 2)}, "none": {"s": fmpq(-1, 3)}}
SIZE = 4


def double(value: fmpq | None) -> float:
    return math.inf if value is None else int(value.p) / int(value.q)


def of_rows(rows: Mapping[str, list[fmpq]], cut: Mapping[str, fmpq]) -> LMC:
    """Return a program of two inputs that returns the place of each probability, or is cut off."""
    outputs = [str(k) for k in range(SIZE)]
    names = ["s", "t", *outputs, CUT]
    made = []
    for start in "st":
        known = [(2 + k, p) for k, p in enumerate(rows[start]) if p]
        made.append((*known, (2 + SIZE, cut[start])) if cut[start] else tuple(known))
    made += [((2 + k, ONE),) for k in range(SIZE + 1)]
    labels = ["start", "start", *outputs, CUT]
    lost = {k: p for k, p in ((0, cut["s"]), (1, cut["t"]), (2 + SIZE, ONE)) if p}
    origin = Origin("f", "output", {})
    return ProgramChain(tuple(names), tuple(labels), tuple(made), ((0, 1),), origin, lost)


@st.composite
def parts(draw: st.DrawFn) -> tuple[dict[str, list[fmpq]], dict[str, list[fmpq]]]:
    """Draw two distributions, and what is known of them."""
    whole = {start: draw(weights(SIZE)) for start in "st"}
    scale = draw(st.sampled_from((1, 10, 10**6)))
    known = {}
    for start, row in whole.items():
        lost = [fmpq(draw(st.integers(0, 4)), 4 * scale) for _ in row]
        known[start] = [
            p * (1 - x) if scale > 1 or draw(st.booleans()) else ZERO for p, x in zip(row, lost, strict=True)
        ]
    return whole, known


def gained(measure: str, x: fmpq, y: fmpq) -> fmpq:
    """Return what the best guess gains at an output."""
    if measure == "g":
        return max(row.get("s", ZERO) * x + row.get("t", ZERO) * y for row in GAINS.values()) / 2
    return {"tv": max(x - y, ZERO), "bayes": max(x, y) / 2, "min-entropy": max(x, y)}[measure]


def true_value(measure: str, whole: Mapping[str, list[fmpq]]) -> float:
    pairs = list(zip(whole["s"], whole["t"], strict=True))
    if measure in {"tv", "bayes", "min-entropy", "g"}:
        return double(sum((gained(measure, x, y) for x, y in pairs), ZERO))
    if measure == "hellinger":
        return math.fsum((math.sqrt(double(x)) - math.sqrt(double(y))) ** 2 for x, y in pairs)
    if any(x and not y for x, y in pairs):
        return math.inf
    if measure == "kl":
        return math.fsum(double(x) * math.log(double(x / y)) for x, y in pairs if x)
    order = 2 if measure == "chi2" else 3
    return double(sum((x**order / y ** (order - 1) for x, y in pairs if x), ZERO)) - (measure == "chi2")


@settings(max_examples=60)
@given(drawn=parts(), measure=st.sampled_from(MEASURES))
def test_whatever_is_cut_off_lies_within(
    drawn: tuple[dict[str, list[fmpq]], dict[str, list[fmpq]]], measure: str
) -> None:
    whole, known = drawn
    cut = {start: 1 - sum(row, ZERO) for start, row in known.items()}
    chain = of_rows(known, cut)
    (found,) = leakage(chain, measure, gains=GAINS if measure == "g" else None).pairs
    true, slack = true_value(measure, whole), 1e-9
    if found.lower is None:
        assert true == math.inf
    else:
        assert double(found.lower) <= true + slack
    if found.upper is not None:
        assert true <= double(found.upper) + slack
    if found.coarser is None:
        return
    apart = set(found.coarser.outputs or ())
    rest = [k for k in range(SIZE) if str(k) not in apart]
    merged = {
        start: [*(row[int(k)] for k in sorted(apart)), sum((row[k] for k in rest), ZERO)]
        for start, row in whole.items()
    }
    coarse = true_value(measure, merged)
    assert found.coarser.lower is None or double(found.coarser.lower) <= coarse + slack
    assert found.coarser.upper is None or coarse <= double(found.coarser.upper) + slack


def test_without_a_cut_bounds_meet() -> None:
    rows = {"s": [fmpq(1, 2), fmpq(1, 4), fmpq(1, 4), ZERO], "t": [fmpq(1, 4)] * 4}
    small = {"s": fmpq(1, 10**40), "t": fmpq(1, 10**40)}
    known = {start: [row[0] - small[start], *row[1:]] for start, row in rows.items()}
    for measure in MEASURES:
        gains = GAINS if measure == "g" else None
        (exact,) = leakage(of_rows(rows, {"s": ZERO, "t": ZERO}), measure, gains=gains).pairs
        (found,) = leakage(of_rows(known, small), measure, gains=gains).pairs
        ends = found if found.coarser is None else found.coarser
        assert abs(double(ends.upper) - double(exact.upper)) < 1e-12
        assert abs(double(found.lower) - double(exact.upper)) < 1e-12
        assert found.cut == (small["s"], small["t"])


def test_what_is_seen_from_one_input_alone() -> None:
    rows = {"s": [fmpq(1, 2), fmpq(1, 4), ZERO, ZERO], "t": [ONE, ZERO, ZERO, ZERO]}
    (found,) = leakage(of_rows(rows, {"s": fmpq(1, 4), "t": ZERO}), "kl").pairs
    assert (found.lower, found.upper) == (None, None)  # nothing is missing of what the second shows
    (back,) = leakage(of_rows({"s": rows["t"], "t": rows["s"]}, {"s": ZERO, "t": fmpq(1, 4)}), "kl").pairs
    assert back.lower is not None
    assert back.upper is None
    assert double(back.lower) <= math.log(1 / (1 / 2 + 1 / 4)) + 1e-12


def test_the_gap_that_was_asked_for() -> None:
    chain = explore(discrete_laplace, [0, 1], cut="1e-12")
    assert leakage(chain, "tv").status is Status.BRACKET
    assert leakage(chain, "tv", gap="1e-6").status is Status.BRACKET
    assert leakage(chain, "tv", gap="1e-12").status is Status.LIMIT
    assert leakage(chain, "kl", gap="1e-6").status is Status.LIMIT  # nothing bounds it
    with pytest.raises(UsageError, match="no certificate"):
        leakage(chain, "tv").certificate()


def test_more_than_outputs_is_bounded_where_there_is_a_largest_value() -> None:
    chain = explore(discrete_laplace, [0, 1], observe="draws", cut="1e-14")
    found = leakage(chain, "tv").pairs[0]
    assert double(found.lower) <= 0.7998317585 <= double(found.upper) + 1e-9
    with pytest.raises(UsageError, match="only outputs can be observed"):
        leakage(chain, "kl")


LAPLACE = math.exp(-1)


def looped(x, rng):  # type: ignore[no-untyped-def]
    """Return x with geometric noise of both signs, by loops that no state closes."""
    z = 0
    while rng.flip("1/2"):
        z += 1
    while rng.flip("1/2"):
        z -= 1
    return x + z


def test_noise_that_is_a_value_of_its_own_needs_no_cut() -> None:
    (found,) = leakage(explore(two_sided_geometric, [0, 1]), "kl").pairs
    assert found.cut is None
    assert found.upper is not None
    assert found.upper - found.lower < fmpq(1, 10**30)
    assert math.isclose(double(found.upper), math.log(2) / 3, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("program", "cut", "decay"), [(discrete_laplace, "1e-22", LAPLACE), (looped, "1e-22", 0.5)]
)
def test_samplers_have_their_closed_forms(program: object, cut: str, decay: float) -> None:
    """P(z) in proportion to a^|z|: the ratio is 1/a below the smaller of the centres, a above the other."""
    chain = explore(program, [0, 1], cut=cut)  # type: ignore[arg-type]
    a = decay
    below, above = 1 / (1 + a), a / (1 + a)  # from 0: at most 0, and at least 1
    forms = {
        "kl": (below - above) * math.log(1 / a),
        "chi2": below / a + above * a - 1,
        "renyi:5": below / a**4 + above * a**4,
    }
    for measure, expected in forms.items():
        (found,) = leakage(chain, measure).pairs
        assert found.upper is None
        assert found.coarser is not None
        assert abs(double(found.lower) - expected) < 1e-9
        assert abs(double(found.coarser.upper) - expected) < 1e-9


@pytest.mark.slow
def test_the_discrete_gaussian_has_its_closed_forms() -> None:
    """For integer centres, D_b = b (mu - nu)^2 / (2 sigma^2), as in the continuous case."""
    chain = explore(discrete_gaussian, [0, 1], cut="1e-26")
    for measure, expected in (("kl", 0.5), ("renyi:2", math.e), ("renyi:3", math.exp(3))):
        (found,) = leakage(chain, measure).pairs
        assert found.coarser is not None
        assert abs(double(found.lower) - expected) < 1e-9 * expected
        assert abs(double(found.coarser.upper) - expected) < 1e-9 * expected
