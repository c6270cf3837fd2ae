"""Chains with parameters: pieces, bounds for all values and best values, against chains of numbers."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.checker import check_certificate
from bisimdist.distances.bound.ask import bound
from bisimdist.errors import ModelError, UsageError
from bisimdist.faces.shown.answer import Status
from bisimdist.models.entries import read_entry
from bisimdist.models.library.dining_cryptographers import parametric_cryptographers
from bisimdist.models.lmc import LMC
from bisimdist.models.parametric import ParametricChain, bounding
from bisimdist.models.polynomial import RationalFunction, evaluate_entry, parameter_ring
from bisimdist.models.roots import factors_of, isolated
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.synthesise.ask import delta_for_all, delta_over, synthesise
from bisimdist.privacy.synthesise.page import pieces_figure
from bisimdist.progress import Deadline
from tests.checker.corpus import FOLDER
from tests.strategies import alphas, parametric_chains

POINTS = st.fractions("1/20", "19/20", max_denominator=40).map(lambda x: fmpq(x.numerator, x.denominator))
LEVELS = st.sampled_from([fmpq(0), fmpq(1, 10), fmpq(1, 4), fmpq(1, 2), fmpq(1)])


def at(model: ParametricChain, point: fmpq) -> LMC:
    chain = model.at({"p": point})
    assert isinstance(chain, LMC)
    return chain


def exactly(model: ParametricChain, alpha: fmpq, point: fmpq) -> fmpq:
    (pair,) = delta(at(model, point), alpha, pairs=[("s0", "s1")]).pairs
    assert pair.exact
    return pair.upper


def assert_proved(certificate: dict[str, object], model: ParametricChain) -> None:
    """Assert that a proof is accepted, also about its model as a file."""
    report = check_certificate(json.dumps(certificate), json.dumps(model.canonical()))
    assert report.valid, report.reason


def refused(certificate: dict[str, object], **changes: object) -> str:
    """Return why a certificate with another claim is refused."""
    claim = json.loads(json.dumps(certificate["claims"]))[0]
    report = check_certificate(json.dumps({**certificate, "claims": [{**claim, **changes}]}))
    assert not report.valid, changes
    return report.reason


@settings(max_examples=20)
@given(parametric_chains(4), alphas(), st.lists(POINTS, min_size=1, max_size=3))
def test_pieces_are_the_deltas_of_all_chains(model: ParametricChain, alpha: fmpq, points: list[fmpq]) -> None:
    answer = delta_over(model, alpha)
    (pair,) = answer.pairs
    assert pair.data()["pieces"]
    for point in points:
        value = exactly(model, alpha, point)
        assert pair.pieces.at(point) == value
        assert pair.pieces.merged().at(point) == value
    for root in pair.pieces.breaks:
        for point in {root.low, root.high}:
            assert pair.pieces.at(point) == exactly(model, alpha, point)


@settings(max_examples=15)
@given(parametric_chains(2), alphas(), POINTS, st.sampled_from([("s0", "s2"), ("s2", "s3"), ("s0", "s5")]))
def test_any_two_states_are_compared_also_of_other_labels(
    model: ParametricChain, alpha: fmpq, point: fmpq, names: tuple[str, str]
) -> None:
    answer = delta_over(model, alpha, pairs=[names])
    (known,) = delta(at(model, point), alpha, pairs=[names]).pairs
    assert known.exact
    assert answer.pairs[0].pieces.at(point) == known.upper
    assert_proved(answer.certificate(), model)


@settings(max_examples=8)
@given(parametric_chains(3), alphas())
def test_the_proof_of_pieces_is_accepted_and_no_other_piece_is(model: ParametricChain, alpha: fmpq) -> None:
    answer = delta_over(model, alpha)
    certificate = answer.certificate()
    assert_proved(certificate, model)
    pieces = list(certificate["claims"][0]["pieces"])  # type: ignore[index]
    for number in range(len(pieces)):
        forged = [*pieces[:number], f"{pieces[number]} + 1/1000000", *pieces[number + 1 :]]
        assert "R5" in refused(certificate, pieces=forged)


@settings(max_examples=25)
@given(parametric_chains(4), alphas(), LEVELS, POINTS, POINTS)
def test_bounds_for_all_values(
    model: ParametricChain, alpha: fmpq, level: fmpq, one: fmpq, two: fmpq
) -> None:
    low, high = (min(one, two), max(one, two)) if one != two else (fmpq(0), one)
    answer = delta_for_all(model, alpha, level, box={"p": (low, high)})
    (pair,) = answer.pairs
    assert pair.holds is not None
    assert_proved(answer.certificate(), model)
    if pair.holds:
        for k in range(5):
            assert exactly(model, alpha, low + (high - low) * fmpq(k + 1, 6)) <= level
        if level:
            largest = max(exactly(model, alpha, low + (high - low) * fmpq(k + 1, 6)) for k in range(5))
            if largest:
                assert "R7" in refused(answer.certificate(), upper=str(largest - fmpq(1, 10**6)))
    else:
        assert pair.at is not None
        assert low <= pair.at["p"] <= high
        assert exactly(model, alpha, pair.at["p"]) == pair.value
        assert pair.value > level
        assert "R9" in refused(answer.certificate(), upper=str(pair.value))


@settings(max_examples=25)
@given(
    parametric_chains(3),
    alphas(),
    st.sampled_from([fmpq(1, 10), fmpq(1, 4), fmpq(1, 2)]),
    st.sampled_from(["p", "1-p", "p*(1-p)", "(1-2*p)^2", "1/(1+p)"]),
)
def test_best_values(model: ParametricChain, alpha: fmpq, level: fmpq, maximise: str) -> None:
    answer = synthesise(model, alpha, maximise, level, gap="1/10000")
    (pair,) = answer.pairs
    best = pair.best
    assert_proved(answer.certificate(), model)
    entry = read_entry(maximise, ("p",))
    allowed = [
        evaluate_entry(entry, {"p": point})
        for point in (fmpq(k, 24) for k in range(1, 24))
        if exactly(model, alpha, point) <= level
    ]
    if best.upper is None:
        assert not allowed
        return
    assert all(value <= best.upper for value in allowed)
    if best.at is not None:
        assert exactly(model, alpha, best.at) <= level
        assert evaluate_entry(entry, {"p": best.at}) == best.lower
        assert answer.status is not Status.LIMIT
        assert best.upper - best.lower <= fmpq(1, 10000)
        certificate = answer.certificate()
        assert "R11" in refused(certificate, lower=str(best.lower + fmpq(1, 10**9)))
        assert "R11" in refused(certificate, upper=str(best.lower - fmpq(1, 10**9)))


def in_coins(formula: str) -> RationalFunction:
    """Return an expression in u = (1 - 2p)^2 as a function of p."""
    entry = read_entry(formula.replace("u", "((1-2*p)^2)"), ("p",))
    assert isinstance(entry, RationalFunction)
    return entry


def test_an_expression_that_is_none_is_named() -> None:
    chain = ParametricChain.from_mappings({"s": "a"}, {"s": {"s": 1}}, {"p": (0, 1)}, [("s", "s")])
    with pytest.raises(ModelError, match="the expression to maximise: column 3: found the end"):
        synthesise(chain, 1, "p+", "1/100")


@pytest.mark.parametrize(("n", "formula"), [(2, "u"), (3, "u"), (4, "(3*u-u^2)/2"), (5, "(3*u-u^2)/2")])
def test_the_ring_of_cryptographers_without_skew(n: int, formula: str) -> None:
    model = parametric_cryptographers(n)
    answer = delta_over(model, 1)
    merged = answer.pairs[0].pieces.merged()
    assert not merged.breaks
    assert merged.values == (in_coins(formula),)
    assert_proved(answer.certificate(), model)


@pytest.mark.parametrize("alpha", ["11/10", "3/2", "3"])
def test_two_cryptographers_at_any_skew(alpha: str) -> None:
    model = parametric_cryptographers(2)
    value = in_coins(f"(1 + u - {alpha}*(1 - u))/2")
    (pair,) = delta_over(model, alpha).pairs
    for point in (fmpq(k, 40) for k in range(1, 40)):
        assert pair.pieces.at(point) == max(fmpq(0), value.at({"p": point}))


def test_the_most_biased_coin_for_four_cryptographers() -> None:
    model = parametric_cryptographers(4)
    answer = synthesise(model, 1, "(1-2*p)^2", "1/100", gap="1/1000000000000")
    (pair,) = answer.pairs
    assert pair.polynomial == "50*x^2 - 150*x + 1"  # of which (3 - sqrt(223/25))/2 is the smaller zero
    best = pair.best
    assert best.lower is not None
    assert best.upper is not None
    for number, side in ((best.lower, 1), (best.upper, -1)):
        assert side * (50 * number**2 - 150 * number + 1) >= 0
        assert number < fmpq(3, 2)
    assert best.upper - best.lower <= fmpq(1, 10**12)
    assert_proved(answer.certificate(), model)


def test_a_best_value_that_is_attained_and_one_that_is_not() -> None:
    model = parametric_cryptographers(2)
    (pair,) = synthesise(model, 1, "p", "1/4").pairs
    assert (pair.best.lower, pair.best.upper, pair.best.at) == (fmpq(3, 4), fmpq(3, 4), fmpq(3, 4))
    (pair,) = synthesise(model, 1, "p", "1").pairs
    assert pair.best.upper == 1
    assert pair.best.lower is not None
    assert pair.best.lower < 1
    (pair,) = synthesise(model, 1, "p", 0).pairs  # at 1/2 alone
    assert pair.best.at == pair.best.lower == fmpq(1, 2)
    (pair,) = synthesise(model, 1, "p", "1/4", interval=("3/4", 1), gap="1/100").pairs  # at its end
    assert pair.best.at == pair.best.lower == fmpq(3, 4)
    (pair,) = synthesise(model, 1, "p", "1/4", interval=("4/5", 1)).pairs
    assert pair.best.upper is None
    answer = synthesise(model, 1, "p", "1/4", interval=("4/5", 1))
    assert_proved(answer.certificate(), model)
    assert "delta is more than that for all values" in str(answer)


@pytest.mark.slow
@settings(max_examples=30)
@given(parametric_chains(2, cyclic=True), alphas(), POINTS)
def test_an_interactive_model_bounds_all_chains_of_a_box(
    model: ParametricChain, alpha: fmpq, point: fmpq
) -> None:
    box = ((max(fmpq(1, 40), point - fmpq(1, 30)), min(fmpq(39, 40), point + fmpq(1, 20))),)
    system = bounding(model, box)
    if system is None:
        return
    for p in (point, *box[0]):
        chain = at(model, p)
        assert bound(chain, alpha).pairs[0].upper <= bound(system, alpha).pairs[0].upper
        upper = delta(system, alpha, gap="1/10").pairs[0].upper
        assert delta(chain, alpha, gap="1/10").pairs[0].lower <= upper


@settings(max_examples=8)
@given(parametric_chains(2, cyclic=True), alphas(), st.sampled_from(["delta", "bd"]))
def test_bounds_of_chains_whose_runs_go_on(model: ParametricChain, alpha: fmpq, distance: str) -> None:
    box = {"p": (fmpq(2, 5), fmpq(1, 2))}
    measured = [
        (delta if distance == "delta" else bound)(at(model, p), alpha).pairs[0].upper
        for p in (fmpq(2, 5), fmpq(9, 20), fmpq(1, 2))
    ]
    for level in (min(fmpq(1), max(measured) + fmpq(1, 20)), max(measured) * fmpq(9, 10)):
        answer = delta_for_all(model, alpha, level, box=box, distance=distance, deadline=Deadline.after(5))
        (pair,) = answer.pairs
        if pair.holds is None:
            continue
        assert_proved(answer.certificate(), model)
        if pair.holds:
            assert all(value <= level + fmpq(1, 10**8) for value in measured)
        else:
            assert pair.value is not None
            assert pair.value > level


@pytest.mark.parametrize("distance", ["delta", "bd"])
@pytest.mark.parametrize("level", ["1/20", "9/10"])
def test_bisimilar_states_in_a_proof_about_boxes(distance: str, level: str) -> None:
    model = ParametricChain.from_mappings(
        {"s": "a", "t": "a", "x": "x", "y": "x", "z": "z"},
        {
            "s": {"s": "p", "x": "(1-p)/2", "y": "(1-p)/2"},
            "t": {"t": "p^2", "x": "1-p", "z": "p-p^2"},
            **{end: {end: "1"} for end in "xyz"},
        },
        {"p": (0, 1)},
        [("s", "t")],
    )
    answer = delta_for_all(model, 1, level, box={"p": ("1/4", "1/2")}, distance=distance)
    assert answer.holds is (level == "9/10")
    assert_proved(answer.certificate(), model)


def test_zeros_are_isolated() -> None:
    (p,) = parameter_ring(("p",)).gens()
    product = (p**2 - 2) * (p**2 - fmpq(200001, 100000)) * (3 * p - 4) ** 2 * (p**3 - p - 1)
    roots = isolated([factor for factor, _ in factors_of(product)], fmpq(0), fmpq(2))
    found = [float(Fraction(int(root.low.p), int(root.low.q))) for root in roots]
    assert len(roots) == 4
    assert found == pytest.approx([1.3247, 4 / 3, 2**0.5, 2.00001**0.5], abs=0.1)
    for one, two in pairwise(roots):
        assert one.high < two.low
    for root in roots:
        assert root.rational or root.polynomial(root.low) * root.polynomial(root.high) < 0
        root.narrow(fmpq(1, 10**6))
        assert root.high - root.low <= fmpq(1, 10**6)
    assert roots[2].before(fmpq(14143, 10000))
    assert not roots[2].before(fmpq(14142, 10000))
    assert isolated([p - 1, p], fmpq(0), fmpq(1)) == []


def test_what_is_refused() -> None:
    two = ParametricChain.from_mappings(
        {"s": "a", "t": "a", "u": "b"},
        {"s": {"s": "p", "u": "1-p"}, "t": {"t": "q", "u": "1-q"}, "u": {"u": 1}},
        {"p": (0, 1), "q": (0, 1)},
        [("s", "t")],
    )
    with pytest.raises(UsageError, match="the model has the parameters p, q; expected one"):
        delta_over(two, 1)
    with pytest.raises(UsageError, match="go on for ever"):
        delta_over(two.at({"q": "1/3"}), 1)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no parameter 'r'"):
        delta_for_all(two, 1, "1/2", box={"r": (0, 1)})
    with pytest.raises(UsageError, match=r"q in \[0, 2\]: expected a first end below the second"):
        delta_for_all(two, 1, "1/2", box={"q": (0, 2)})
    with pytest.raises(UsageError, match="expected delta or bd"):
        delta_for_all(two, 1, "1/2", distance="lbd")
    with pytest.raises(UsageError, match="is not shown to have no zero"):
        synthesise(parametric_cryptographers(2), 1, "1/(2*p-1)", "1/2")
    with pytest.raises(UsageError, match="not decided"):
        delta_for_all(two, 1, "1/2", deadline=Deadline.after(0)).certificate()


def test_two_parameters() -> None:
    model = ParametricChain.from_mappings(
        {"s": "a", "t": "a", "u": "b", "v": "c"},
        {"s": {"u": "p", "v": "1-p"}, "t": {"u": "q/(1+q)", "v": "1/(1+q)"}, "u": {"u": 1}, "v": {"v": 1}},
        {"p": (0, 1), "q": (0, 1)},
        [("s", "t")],
    )
    box = {"p": ("1/4", "1/2"), "q": ("1/3", 1)}  # p in [1/4, 1/2] and q/(1+q) as well
    answer = delta_for_all(model, 1, "1/4", box=box)
    assert answer.pairs[0].holds
    assert_proved(answer.certificate(), model)
    answer = delta_for_all(model, 1, "24/100", box=box)
    assert answer.pairs[0].holds is False
    assert_proved(answer.certificate(), model)
    (pair,) = delta_over(model.at({"q": "1/2"}), 1).pairs  # type: ignore[arg-type]
    assert [root.low for root in pair.pieces.breaks] == [fmpq(1, 3)]


@pytest.mark.extra("plot")
def test_a_picture() -> None:
    axis = pieces_figure(delta_over(parametric_cryptographers(4), "11/10")).axes[0]
    curve, points = axis.lines
    assert len(points.get_xdata()) == 4
    assert list(points.get_ydata()) == pytest.approx([0.0245, 0, 0, 0.0245], abs=1e-3)
    assert max(curve.get_ydata()) == pytest.approx(0.99, abs=0.01)


@pytest.mark.parametrize(
    ("name", "followed"),
    [("correct/for-all-of-as-many-steps-as-classes", True), ("incorrect/R4-more-steps-than-classes", False)],
)
def test_runs_are_followed_as_far_as_the_checker_follows_them(name: str, followed: bool) -> None:
    folder, _, stem = name.partition("/")
    text = (FOLDER / folder / "parametric" / f"{stem}.json").read_text(encoding="utf-8")
    document = json.loads(text)["model"]
    model = ParametricChain.from_mappings(
        document["states"], document["transitions"], document["parameters"], pairs=[("s0x", "t0x")]
    )
    if followed:
        assert_proved(delta_over(model, 1).certificate(), model)
    else:
        with pytest.raises(UsageError, match="may go on for ever"):
            delta_over(model, 1)


def test_a_threshold_that_is_attained_at_an_irrational_number() -> None:
    rows = {"s": {"y": "1/2", "n": "1/2"}, "t": {"y": "1/2-(p^2-p^4)", "n": "1/2+(p^2-p^4)"}}
    ends = {"y": {"y": 1}, "n": {"n": 1}}
    labels = {"s": "a", "t": "a", "y": "y", "n": "n"}
    chain = ParametricChain.from_mappings(labels, {**rows, **ends}, {"p": (0, 1)}, [("s", "t")])
    answer = delta_for_all(chain, 1, "1/4", box={"p": ("1/10", "9/10")})
    assert answer.holds
    with pytest.raises(UsageError, match="attained at a number that is not rational"):
        answer.certificate()
    assert delta_for_all(chain, 1, "24/100", box={"p": ("1/10", "9/10")}).holds is False


def test_the_best_of_two_parameters() -> None:
    """delta at alpha = 2 is 1 - 3 r with r = (1-p)(1-q)/2, so that (1-p)(1-q) has to be at least 3/5."""
    lie, truth = "(1-p)*(1-q)/2", "1-(1-p)*(1-q)/2"
    ends: dict[str, dict[str, str | int]] = {"y": {"y": 1}, "n": {"n": 1}}
    ends |= {"s": {"y": truth, "n": lie}, "t": {"y": lie, "n": truth}}
    labels = {"s": "a", "t": "a", "y": "y", "n": "n"}
    chain = ParametricChain.from_mappings(labels, ends, {"p": (0, 1), "q": (0, 1)}, [("s", "t")])
    answer = synthesise(chain, 2, "p+2*q", "1/10", gap="1/100")
    (pair,) = answer.pairs
    assert answer.status is Status.BRACKET
    assert pair.best.lower is not None
    assert pair.best.upper is not None
    assert pair.point is not None
    assert pair.best.lower <= fmpq(4, 5) <= pair.best.upper <= pair.best.lower + fmpq(1, 100)
    inside = chain.at(pair.point)
    assert isinstance(inside, LMC)
    assert delta(inside, 2).pairs[0].upper <= fmpq(1, 10)
    assert pair.point["p"] + 2 * pair.point["q"] == pair.best.lower
    (none,) = synthesise(chain, 2, "p", "1/10", box={"p": ("1/2", 1), "q": ("1/2", 1)}).pairs
    assert none.best.upper is None
    with pytest.raises(UsageError, match="where there is one parameter"):
        answer.certificate()
    with pytest.raises(UsageError, match="expected box="):
        synthesise(chain, 2, "p", "1/10", interval=(0, 1))
