"""Leakages against closed forms, against all traces one by one, and against themselves."""

from __future__ import annotations

import json
import math

import pytest
from flint import arb, fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.checker import check_certificate
from bisimdist.errors import ModelError, UsageError
from bisimdist.exact.precision import working_precision
from bisimdist.exact.rational import to_fmpq
from bisimdist.faces.shown.answer import Status
from bisimdist.models.hmm import HMM
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.programs.noise import clipped_geometric
from bisimdist.models.library.programs.responses import rappor
from bisimdist.models.library.randomised_response import randomised_response
from bisimdist.models.library.registry import build_example
from bisimdist.models.lmc import LMC
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.leakage.ask import leakage
from bisimdist.privacy.leakage.bounds import LeakageBound
from bisimdist.privacy.leakage.measures import read_measure
from bisimdist.privacy.profile.ask import profile
from bisimdist.privacy.profile.renyi_curve import renyi_curve
from bisimdist.programs.front import explore
from bisimdist.progress import Deadline
from tests.reference.traces import trace_distribution
from tests.strategies import alphas, lmcs, weights

FEW = settings(max_examples=20)
DIVERGENCES = ("tv", "chi2", "kl", "hellinger", "renyi:2", "renyi:3")
SOON_INFINITE = LMC.from_mappings(
    {"s": "a", "t": "a", "e": "b"},
    {"s": {"s": "1/2", "e": "1/2"}, "t": {"t": "1/3", "e": "2/3"}, "e": {"e": 1}},
    [("s", "t")],
)


def only(model: LMC, measure: str, **options: object) -> LeakageBound:
    answer = leakage(model, measure, **options)  # type: ignore[arg-type]
    report = check_certificate(json.dumps(answer.certificate()))
    assert report.valid, report.reason
    assert len(report.other_claims) == len(answer.pairs)
    return answer.pairs[0]


def by_enumeration(chain: LMC, s: int, t: int, measure: str) -> fmpq | float | None:
    """Return a divergence of traces so long that all runs have come to rest; None is infinity."""
    p, q = trace_distribution(chain, s, len(chain) + 1), trace_distribution(chain, t, len(chain) + 1)
    zero = fmpq(0)
    pairs = [(p.get(w, zero), q.get(w, zero)) for w in {**p, **q}]
    if measure == "tv":
        return sum((max(x - y, zero) for x, y in pairs), zero)
    if measure == "hellinger":
        return math.fsum((math.sqrt(float_of(x)) - math.sqrt(float_of(y))) ** 2 for x, y in pairs)
    if any(x and not y for x, y in pairs):
        return None
    if measure == "kl":
        return math.fsum(float_of(x) * math.log(float_of(x / y)) for x, y in pairs if x)
    order = 2 if measure == "chi2" else int(measure.partition(":")[2])
    total = sum((x**order / y ** (order - 1) for x, y in pairs if x), zero)
    return total - 1 if measure == "chi2" else total


def float_of(value: fmpq) -> float:
    return int(value.p) / int(value.q)


@pytest.mark.parametrize("size", [2, 3])
def test_the_ring_of_cryptographers(size: int) -> None:
    chain = dining_cryptographers(size)
    chi2 = only(chain, "chi2", pairs=[("payer0", "payer1")], both=True)
    assert chi2.exact
    assert chi2.upper == {2: fmpq(4, 6249999), 3: fmpq(5002, 3909373125)}[size]
    bayes = only(chain, "bayes", secrets=[f"payer{k}" for k in range(size)])
    assert bayes.exact
    assert bayes.lower == {2: fmpq(2501, 5000), 3: fmpq(417, 1250)}[size]
    assert bayes.before == fmpq(1, size)


def test_a_chain_with_cycles_is_solved() -> None:
    there, back = leakage(SOON_INFINITE, "chi2", both=True).pairs
    assert (there.lower, there.upper, back.lower, back.upper) == (
        fmpq(1, 2),
        fmpq(1, 2),
        fmpq(1, 7),
        fmpq(1, 7),
    )
    kl = only(SOON_INFINITE, "kl")
    assert kl.enclosure == ("0.117783035656", "0.117783035657")  # ln(9/8)
    assert kl.lower is not None
    assert kl.upper is not None
    with working_precision(300):
        assert arb(kl.lower) < arb(fmpq(9, 8)).log() < arb(kl.upper)
    assert kl.upper - kl.lower < fmpq(1, 10**40)
    assert only(SOON_INFINITE, "bayes").upper == fmpq(7, 12)
    assert only(SOON_INFINITE, "min-entropy").upper == fmpq(7, 6)
    # sum over n of sqrt(2^-n-1 2 3^-n-1) = sqrt(1/3) / (1 - sqrt(1/6))
    hellinger = only(SOON_INFINITE, "hellinger").upper
    assert hellinger is not None
    assert math.isclose(float_of(hellinger), 2 - 2 * math.sqrt(1 / 3) / (1 - math.sqrt(1 / 6)))


def test_an_infinite_divergence_names_its_cycle() -> None:
    found = only(SOON_INFINITE, "renyi:3")
    assert (found.lower, found.upper, found.exact, found.enclosure) == (None, None, True, ("inf", "inf"))
    assert found.unending is not None
    assert set(found.unending.trace) == {"a"}
    assert found.unending.cycle == ("a",)
    assert found.data()["lower"] == "inf"
    assert found.data()["infinite"] == {"trace": list(found.unending.trace), "cycle": ["a"]}


def test_a_trace_that_one_state_alone_may_show() -> None:
    chain = LMC.from_mappings(
        {"s": "a", "t": "a", "x": "x", "y": "y"},
        {"s": {"x": "1/2", "y": "1/2"}, "t": {"y": 1}, "x": {"x": 1}, "y": {"y": 1}},
        [("s", "t")],
    )
    for measure in ("kl", "chi2", "renyi:2"):
        there, back = leakage(chain, measure, both=True).pairs
        assert there.lower is None
        assert there.unending is not None
        assert (there.unending.trace, there.unending.cycle) == (("a", "x"), ())
        assert back.upper is not None
    assert only(chain, "tv").upper == fmpq(1, 2)


def test_a_rate_that_never_stops_is_infinite() -> None:
    chain = LMC.from_mappings(
        {"s": "a", "t": "a", "s'": "b", "t'": "b"},
        {
            "s": {"s": "1/2", "s'": "1/2"},
            "s'": {"s": "1/2", "s'": "1/2"},
            "t": {"t": "1/3", "t'": "2/3"},
            "t'": {"t": "1/3", "t'": "2/3"},
        },
        [("s", "t")],
    )
    for measure in ("kl", "chi2", "renyi:3"):
        assert only(chain, measure).lower is None
    hellinger = only(chain, "hellinger")
    assert (hellinger.lower, hellinger.upper) == (2, 2)


def test_one_is_the_border_of_growth() -> None:
    chain = LMC.from_mappings(
        {"s": "a", "t": "a", "e": "b"},
        {"s": {"s": "1/2", "e": "1/2"}, "t": {"t": "1/4", "e": "3/4"}, "e": {"e": 1}},
        [("s", "t")],
    )
    assert only(chain, "chi2").lower is None  # every round adds as much
    assert only(chain, "chi2", pairs=[("t", "s")]).upper == fmpq(2, 7)


def test_equal_traces_of_states_that_are_not_bisimilar() -> None:
    chain = LMC.from_mappings(
        {"s": "a", "t": "a", "u": "b", "v": "b", "w": "b", "x": "x", "y": "y"},
        {
            "s": {"u": "1/2", "v": "1/2"},
            "t": {"w": 1},
            "u": {"x": 1},
            "v": {"y": 1},
            "w": {"x": "1/2", "y": "1/2"},
            "x": {"x": 1},
            "y": {"y": 1},
        },
        [("s", "t")],
    )
    for measure, value in (("kl", 0), ("chi2", 0), ("renyi:4", 1), ("hellinger", 0), ("bayes", fmpq(1, 2))):
        found = only(chain, measure)
        assert found.lower is not None
        assert found.upper is not None
        assert found.lower <= value <= found.upper
        assert found.upper - found.lower < fmpq(1, 10**40)


def test_states_of_different_labels() -> None:
    chain = LMC.from_mappings({"s": "a", "t": "b"}, {"s": {"s": 1}, "t": {"t": 1}}, [("s", "t")])
    for measure, value in (("kl", None), ("chi2", None), ("tv", 1), ("hellinger", 2), ("bayes", 1)):
        found = only(chain, measure)
        assert (found.lower, found.upper) == (value, value)


@pytest.mark.parametrize(("answers", "honest"), [(2, fmpq(3, 4)), (3, fmpq(2, 3))])
def test_randomised_response_has_its_closed_forms(answers: int, honest: fmpq) -> None:
    chain = randomised_response(answers, honest)
    (s, t), *_ = chain.pairs
    p, q = honest, (1 - honest) / (answers - 1)
    assert only(chain, "renyi:4").upper == p**4 / q**3 + q**4 / p**3 + (answers - 2) * q
    kl = only(chain, "kl").upper
    assert kl is not None
    assert math.isclose(float_of(kl), float_of(p - q) * math.log(float_of(p / q)), rel_tol=1e-12)
    assert (
        only(chain, "bayes", pairs=[(chain.states[s], chain.states[t])]).upper
        == (2 * p + (answers - 2) * q) / 2
    )


@FEW
@given(chain=lmcs(6, cyclic=False), measure=st.sampled_from(DIVERGENCES))
def test_acyclic_chains_against_all_traces(chain: LMC, measure: str) -> None:
    found = only(chain, measure, pairs=[("s0", "s1")])
    expected = by_enumeration(chain, 0, 1, measure)
    if expected is None:
        assert found.lower is None
    elif isinstance(expected, float):
        assert found.lower is not None
        assert found.upper is not None
        assert found.lower <= found.upper <= found.lower + fmpq(1, 10**30)
        assert math.isclose(float_of(found.upper), expected, abs_tol=1e-12)
    else:
        assert found.lower == found.upper == expected


@FEW
@given(data=st.data(), chain=lmcs(6, cyclic=False, min_states=3))
def test_vulnerabilities_against_all_traces(data: st.DataObject, chain: LMC) -> None:
    prior = data.draw(weights(3))
    gains = {
        f"g{k}": {f"s{i}": data.draw(st.integers(-2, 3)) for i in range(3)}
        for k in range(data.draw(st.integers(1, 3)))
    }
    seen = [trace_distribution(chain, state, len(chain) + 1) for state in range(3)]
    traces = {w for row in seen for w in row}
    masses = {w: [p * row.get(w, fmpq(0)) for p, row in zip(prior, seen, strict=True)] for w in traces}
    names = ["s0", "s1", "s2"]
    bayes = only(chain, "bayes", secrets=names, prior=prior)
    assert bayes.lower == bayes.upper == sum((max(row) for row in masses.values()), fmpq(0))
    entropy = only(chain, "min-entropy", secrets=names, prior=prior)
    assert entropy.upper == bayes.upper / max(prior)
    guessed = only(chain, "g", secrets=names, prior=prior, gains=gains)
    best = (
        max(
            sum((gain[name] * x for name, x in zip(names, row, strict=True)), fmpq(0))
            for gain in gains.values()
        )
        for row in masses.values()
    )
    assert guessed.lower == guessed.upper == sum(best, fmpq(0))


@settings(max_examples=25)
@given(chain=lmcs(5), measure=st.sampled_from((*DIVERGENCES, "bayes")))
def test_cyclic_chains_from_both_sides(chain: LMC, measure: str) -> None:
    pair = [("s0", "s1")]
    early = only(chain, measure, pairs=pair, gap="1/2", deadline=Deadline.after(0.05))
    late = only(chain, measure, pairs=pair, gap="1/1000", deadline=Deadline.after(0.2))
    for one in (early, late):
        assert one.lower is None or one.upper is None or one.lower <= one.upper
    assert late.upper is None or (early.lower is not None and early.lower <= late.upper)
    # what is seen in few steps is at most what is seen for ever
    p, q = trace_distribution(chain, 0, 4), trace_distribution(chain, 1, 4)
    zero = fmpq(0)
    pairs = [(p.get(w, zero), q.get(w, zero)) for w in {**p, **q}]
    if measure == "tv" and late.upper is not None:
        assert sum((max(x - y, zero) for x, y in pairs), zero) <= late.upper
    if measure == "renyi:3" and late.upper is not None:
        assert all(y or not x for x, y in pairs)
        assert sum((x**3 / y**2 for x, y in pairs if x), zero) <= late.upper
    if measure == "kl" and late.upper is not None:
        assert (
            math.fsum(float_of(x) * math.log(float_of(x / y)) for x, y in pairs if x)
            <= float_of(late.upper) + 1e-9
        )


def test_more_time_gives_no_wider_bounds() -> None:
    chain = build_example("random,states=8,labels=2,seed=1")
    pair = [(chain.states[0], chain.states[1])]
    for measure in ("hellinger", "bayes", "tv"):
        widths = []
        for gap in ("1/10", "1/100", "1/1000"):
            found = only(chain, measure, pairs=pair, gap=gap)
            assert found.lower is not None
            assert found.upper is not None
            widths.append((found.lower, found.upper))
        assert sorted(low for low, _ in widths) == [low for low, _ in widths]
        assert sorted((high for _, high in widths), reverse=True) == [high for _, high in widths]
        assert widths[-1][1] - widths[-1][0] <= fmpq(1, 1000)


@FEW
@given(chain=lmcs(5, cyclic=False))
def test_total_variation_is_delta_at_one(chain: LMC) -> None:
    assume(chain.labels[0] == chain.labels[1])
    assert only(chain, "tv", pairs=[("s0", "s1")]).upper == delta(chain, 1, pairs=[("s0", "s1")]).upper


def test_hidden_markov_models_and_their_information_states() -> None:
    model = HMM.from_mappings(
        {"x": {"0": "3/4", "1": "1/4"}, "y": {"0": "1/4", "1": "3/4"}},
        {},
        {"pi": {"x": 1}, "tau": {"y": 1}},
        pairs=[("pi", "tau")],
    )
    assert leakage(model, "chi2").pairs[0].upper == fmpq(9, 4) + fmpq(1, 12) - 1
    assert leakage(model, "bayes").pairs[0].upper == fmpq(3, 4)


def test_a_time_limit_leaves_certified_bounds() -> None:
    chain = build_example("random,states=20,labels=2,seed=1")
    answer = leakage(chain, "hellinger", pairs=[("s0", "s2")], gap=0, deadline=Deadline.after(0.3))
    found = answer.pairs[0]
    assert answer.status is Status.LIMIT
    assert found.lower is not None
    assert found.upper is not None
    assert 0 <= found.lower < found.upper <= 2


@pytest.mark.parametrize(
    ("measure", "options", "words"),
    [
        ("bits", {}, "no such measure"),
        ("renyi:1", {}, "integer order from 2"),
        ("renyi", {}, "integer order from 2"),
        ("kl", {"prior": ["1/2", "1/2"]}, "about pairs of states"),
        ("bayes", {"both": True}, "no direction"),
        ("bayes", {"prior": ["1/2"]}, "expected one for each of 2"),
        ("bayes", {"prior": ["1/2", "1/3"]}, "no distribution"),
        ("bayes", {"secrets": ["s", "s"]}, "each of them once"),
        ("bayes", {"secrets": ["s", "t"], "pairs": [("s", "t")]}, "not both"),
        ("g", {}, "needs the gains"),
        ("g", {"gains": {"x": {"z": 1}}}, "no secret"),
        ("tv", {"gap": -1}, "at least 0"),
    ],
)
def test_what_is_refused(measure: str, options: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        leakage(SOON_INFINITE, measure, **options)  # type: ignore[arg-type]


def test_unknown_states_are_refused() -> None:
    with pytest.raises(ModelError):
        leakage(SOON_INFINITE, "bayes", secrets=["s", "nobody"])
    assert read_measure("renyi:02").shown == "renyi:2"


@FEW
@given(chain=lmcs(5, cyclic=False), order=st.integers(2, 9), alpha=alphas())
def test_delta_is_at_most_what_follows_from_renyi(chain: LMC, order: int, alpha: fmpq) -> None:
    curve = renyi_curve(chain, [order], pairs=[("s0", "s1")])
    bound = curve.delta_upper(alpha)
    assert bound is None or delta(chain, alpha, pairs=[("s0", "s1")]).upper <= bound


def test_the_bound_from_renyi_is_attained() -> None:
    """Where p/q is alpha b / (b - 1) on all that counts, and p is 0 on the rest."""
    chain = LMC.from_mappings(
        {"s": "a", "t": "a", "x": "x", "y": "y"},
        {"s": {"x": 1}, "t": {"x": "1/4", "y": "3/4"}, "x": {"x": 1}, "y": {"y": 1}},
        [("s", "t")],
    )
    forward = leakage(chain, "renyi:2").pairs[0].upper
    assert forward == 4
    assert forward / 2 / 4 == fmpq(1, 2) == 1 - 2 * fmpq(1, 4)  # alpha = 2, order 2
    assert renyi_curve(chain, [2]).delta_upper(2) is None  # the other direction is infinite
    with pytest.raises(UsageError, match="no orders"):
        renyi_curve(chain, [])


@pytest.mark.extra("accounting")
def test_runs_add_up_and_go_to_the_accountant() -> None:
    from dp_accounting import rdp as accountant  # noqa: PLC0415

    chain = randomised_response(2, "3/4")
    once, twice = renyi_curve(chain, [2, 4]), renyi_curve(chain, [2, 4], runs=2)
    first, second = once.points[0].upper, twice.points[0].upper
    assert first is not None
    assert second == first**2
    orders, rdp = twice.doubles()
    assert orders == [2.0, 4.0]
    assert math.isclose(rdp[0], 2 * math.log(float_of(first)))
    epsilon, _ = accountant.compute_epsilon(orders, rdp, 1e-2)
    exact = profile(chain, epsilons=[f"{epsilon:.6f}"], runs=2).points[0].upper
    assert float_of(exact) <= 1e-2


def test_programs_leak_too() -> None:
    chain = explore(rappor, [(1, 0), (0, 1)])
    lie = fmpq(19, 40)  # of two bits each, the other one is said with f/2
    ratio = (1 - lie) / lie
    for order in (2, 5):
        one = (1 - lie) * ratio ** (order - 1) + lie / ratio ** (order - 1)
        assert only(chain, f"renyi:{order}").upper == one**2
    kl = only(chain, "kl")
    assert kl.lower is not None
    assert kl.upper is not None
    assert kl.upper - kl.lower < fmpq(1, 10**30)
    assert math.isclose(
        float_of(kl.upper), 2 * float_of(1 - 2 * lie) * math.log(float_of(ratio)), rel_tol=1e-12
    )


def test_clipped_noise_has_outputs_of_one_input_alone() -> None:
    chain = explore(clipped_geometric, [0, 1])
    found = only(chain, "kl")
    assert found.lower is None
    assert found.unending is not None
    assert (found.unending.trace[-1], found.unending.cycle) == ("-6", ())


@pytest.mark.parametrize("a", [fmpq(1, 2), fmpq(9, 10)])
def test_geometric_noise_has_its_closed_forms(a: fmpq) -> None:
    """The counts 0 and 1 with noise P(k) = (1 - a) a^k: the ratio is 1 / a wherever both may be."""
    chain = LMC.from_mappings(
        {"zero": "start", "one": "start", "more": "more", "end": "end"},
        {
            "zero": {"more": a, "end": 1 - a},
            "one": {"more": 1},
            "more": {"more": a, "end": 1 - a},
            "end": {"end": 1},
        },
        [("one", "zero")],
    )
    for order in (2, 7):
        assert only(chain, f"renyi:{order}").upper == (1 / a) ** (order - 1)
    kl = only(chain, "kl")
    assert kl.upper is not None
    assert math.isclose(float_of(kl.upper), -math.log(float_of(a)), rel_tol=1e-12)
    assert only(chain, "tv").upper == 1 - a
    assert only(chain, "kl", pairs=[("zero", "one")]).lower is None


def test_doubles_for_an_accountant_are_rounded_up() -> None:
    orders = [2, 3, 5, 8, 13, 21]
    curve = renyi_curve(dining_cryptographers(3), orders, pairs=[("payer0", "payer1")])
    names, values = curve.doubles()
    assert names == orders
    for point, value in zip(curve.points, values, strict=True):
        assert fmpq(*value.as_integer_ratio()) >= to_fmpq(point.divergence[1])
        assert value <= float(point.divergence[1]) * (1 + 1e-15)
    assert renyi_curve(SOON_INFINITE, [3]).doubles()[1] == [math.inf]
