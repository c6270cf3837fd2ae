"""The rules against slow, independent computations on random tiny chains: complete, and never wrong."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Mapping
from fractions import Fraction

import pytest

from bisimdist.checker import check_certificate
from tests.checker.brute import ONE, ZERO, Document, Pair, Tiny, random_tiny, tiny

CASES = [(seed, False) for seed in range(20)] + [(seed, True) for seed in range(100, 115)]
"""Seeds, and whether the distance is lbd, of ordered pairs, or bd."""

of_both_distances = pytest.mark.parametrize(("seed", "ordered"), CASES)


@of_both_distances
def test_exact_certificates_of_random_chains_are_accepted(seed: int, ordered: bool) -> None:
    chain = random_tiny(seed, ordered=ordered)
    exact = chain.distance()
    report = check_certificate(json.dumps(chain.certificate(seed=seed)))
    assert report.reason == ""
    for claim in report.claims:
        assert claim.exact
        assert claim.distance == ("lbd" if ordered else "bd")
        assert claim.upper == chain.at(exact, claim.source, claim.target)


@of_both_distances
def test_the_distance_of_the_tests_is_a_fixed_point_near_the_iteration_from_below(
    seed: int, ordered: bool
) -> None:
    chain = random_tiny(seed, ordered=ordered)
    exact = chain.distance()
    assert chain.step(exact) == exact
    below = chain.kleene(40)
    assert all(0 <= exact[pair] - below[pair] < Fraction(1, 100) for pair in chain.pairs)


def values_of(chain: Tiny, lower: Mapping[Pair, Fraction], witness: Document) -> dict[str, Fraction]:
    values: dict[str, Fraction] = {}
    for x, spec in witness.items():  # references point to states that come earlier
        if isinstance(spec, str):
            values[x] = Fraction(spec)
        else:
            relation, y = spec
            if relation == "above":
                values[x] = chain.alpha * values[y] + chain.at(lower, x, y)
            else:
                values[x] = (values[y] - chain.at(lower, y, x)) / chain.alpha
    return values


@of_both_distances
def test_a_witness_may_leave_out_what_counts_for_nothing(seed: int, ordered: bool) -> None:
    """A function that has an extension is accepted, however few of its states are listed."""
    chain = random_tiny(seed, ordered=ordered)
    exact = chain.distance()
    document = chain.certificate(seed=seed)
    for entry in document["lower"]["pairs"]:
        values = values_of(chain, exact, entry["witness"])
        c = chain.c(*entry["pair"])
        kept = {x: str(value) for x, value in values.items() if c[x] < 0 or (c[x] > 0 and value)}
        entry["witness"] = kept
    report = check_certificate(json.dumps(document))
    assert report.reason == ""


def extends(chain: Tiny, lower: Mapping[Pair, Fraction], f: Mapping[str, Fraction]) -> bool:
    """Decide by plain iteration over all states whether f extends."""
    least = {k: f.get(k, ZERO) for k in chain.states}
    for _ in chain.states:
        for x, k in itertools.permutations(chain.states, 2):
            least[k] = max(least[k], (least[x] - chain.at(lower, x, k)) / chain.alpha)
    return all(least[x] == f[x] for x in f)


def leafy(seed: int, *, ordered: bool) -> Tiny:
    """Make a chain in two layers: distances of the second are far from a triangle inequality."""
    pick = random.Random(seed)
    middle = ["i", "j", "k", "h"][: pick.randint(3, 4)]
    labels = {"s": "a", "t": "a", **dict.fromkeys(middle, "b"), "v": "c", "w": "d"}
    rows = {}
    for x in middle:
        p = Fraction(pick.choice([1, 2, 3, 4, 6, 8, 10, 16]), 20)
        rows[x] = {"v": str(p), "w": str(1 - p)}
    for x in ("s", "t"):
        targets = pick.sample([*middle, "v", "w"], pick.randint(1, 3))
        weights = [pick.randint(1, 3) for _ in targets]
        rows[x] = {y: str(Fraction(w, sum(weights))) for y, w in zip(targets, weights, strict=True)}
    return tiny(labels, rows, pick.choice(["3/2", "2"]), ordered=ordered)


@pytest.mark.parametrize("ordered", [False, True])
def test_a_function_on_the_supports_alone_is_accepted_exactly_if_it_extends(ordered: bool) -> None:
    verdicts = set()
    for seed in range(80, 150):
        chain = leafy(seed, ordered=ordered)
        exact = chain.distance()
        if exact.get(("s", "t"), ZERO) in (0, 1):
            continue
        document = chain.certificate(seed=seed)
        index = next(
            k for k, entry in enumerate(document["lower"]["pairs"]) if set(entry["pair"]) == {"s", "t"}
        )
        for s, t in chain.orders(("s", "t")):
            c = chain.c(s, t)
            local = chain.lifting(exact, s, t, [x for x in chain.states if c[x]])
            if local.value < exact["s", "t"]:
                continue
            # s and t are reached from nowhere, so that the pair's own value binds nothing else
            document["lower"]["pairs"][index] |= {
                "pair": [s, t],
                "value": str(local.value),
                "witness": {x: str(value) for x, value in local.f.items()},
                "rank": 99,
                "progress": {"stuck": next(x for x in chain.states if c[x])},
            }
            document["claims"] = [{"from": s, "to": t, "upper": str(exact["s", "t"]), "lower": "0"}]
            report = check_certificate(json.dumps(document))
            assert report.valid == extends(chain, exact, local.f)
            assert not (report.valid and local.value > exact["s", "t"])
            assert report.valid or "L5" in report.reason
            verdicts.add((report.valid, local.value > exact["s", "t"]))
    assert verdicts >= {(True, False), (False, True)}


def greatest(chain: Tiny) -> dict[Pair, Fraction]:
    """Iterate from one downwards until nothing changes; enough for chains whose rows are single states."""
    d = dict.fromkeys(chain.pairs, ONE)
    for _ in range(60):
        lower = chain.step(d)
        if lower == d:
            return d
        d = lower
    raise ArithmeticError


def some_progress(chain: Tiny, pick: random.Random) -> Document:
    state = pick.choice(chain.states)
    choice = pick.randint(0, 3)
    if choice < 2:
        return {("stuck", "common")[choice]: state}
    values = ["1", str(1 / chain.alpha), "1/2", "0", "-1"]
    states = {x: pick.choice(values) for x in chain.states if pick.random() < 0.5}
    return {"classes": [[state, pick.choice(values[:4])]] if choice == 2 else [], "states": states}


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_a_fixed_point_that_is_not_the_least_is_never_accepted(seed: int, ordered: bool) -> None:
    """Mass that moves round for ever supports every value; no ranks and no y may hide that."""
    pick = random.Random(seed)
    states = [f"s{k}" for k in range(pick.randint(4, 5))]
    labels = dict.fromkeys(states, "a")
    rows = {state: {pick.choice(states): "1"} for state in states}
    chain = tiny(labels, rows, pick.choice(["1", "3/2"]), ordered=ordered)
    false = greatest(chain)
    if not any(false.values()):
        rows = {state: {states[(k + 1) % len(states)]: "1"} for k, state in enumerate(states)}
        chain = tiny(labels, rows, pick.choice(["1", "3/2"]), ordered=ordered)
        false = greatest(chain)
    assert any(false.values())
    assert not any(chain.distance().values())
    for factor in (ONE, Fraction(1, 2)):
        values = {pair: value * factor for pair, value in false.items()}
        document = chain.certificate()
        document["lower"]["pairs"] = [
            {"pair": [s, t], "value": str(value), "witness": chain.witness(values, s, t, pick)}
            for (s, t), value in values.items()
            if value
        ]
        document["claims"] = [
            {"from": s, "to": t, "upper": "1", "lower": str(v)} for (s, t), v in values.items()
        ]
        assert "L7" in check_certificate(json.dumps(document)).reason
        for _ in range(60):
            for entry in document["lower"]["pairs"]:
                entry["rank"] = pick.randint(1, 3)
                entry["progress"] = some_progress(chain, pick)
            assert "L7" in check_certificate(json.dumps(document)).reason


@of_both_distances
def test_no_table_above_the_distance_is_accepted(seed: int, ordered: bool) -> None:
    """Raise some values of the lower table, prove what can be proved of them: it is refused."""
    pick = random.Random(seed)
    chain = random_tiny(seed, ordered=ordered)
    exact = chain.distance()
    positive = [pair for pair in chain.pairs if 0 < exact[pair] < 1]
    if not positive:
        return
    for _ in range(5):
        raised = dict(exact)
        for pair in pick.sample(positive, pick.randint(1, len(positive))):
            raised[pair] = min(ONE, exact[pair] * Fraction(101 + pick.randint(0, 30), 100))
        document = chain.certificate(seed=seed)
        for entry in document["lower"]["pairs"]:
            s, t = entry["pair"]
            entry["value"] = str(chain.at(raised, s, t))
            entry["witness"] = chain.witness(raised, s, t, pick)
        report = check_certificate(json.dumps(document))
        assert not report.valid
        assert report.reason


@of_both_distances
def test_strict_brackets_need_no_progress(seed: int, ordered: bool) -> None:
    """Rounded towards the outside, both tables are short and still prove themselves where they are strict."""
    chain = random_tiny(seed, ordered=ordered)
    exact = chain.distance()
    lower = {pair: value * Fraction(999, 1000) for pair, value in exact.items()}
    document = chain.certificate(upper=exact, lower=lower, seed=seed)
    report = check_certificate(json.dumps(document))
    assert report.reason == ""
    for entry in document["lower"]["pairs"]:
        if "rank" in entry:
            del entry["rank"], entry["progress"]
    strict = all(
        "rank" not in e for e in chain.certificate(upper=exact, lower=lower, seed=seed)["lower"]["pairs"]
    )
    assert check_certificate(json.dumps(document)).valid == strict


def test_the_optimal_coupling_may_move_more_than_one_and_nothing_goes_wrong() -> None:
    """Mass on a shortcut is counted at every step, so that an argument by differences would not be sound."""
    chain = tiny(
        {"s": "a", "t": "a", "i": "b", "k": "b", "j": "b", "v": "c", "w": "d"},
        {
            "s": {"i": "1/2", "v": "1/2"},
            "t": {"j": "1"},
            "i": {"v": "1/25", "w": "24/25"},
            "k": {"v": "1/50", "w": "49/50"},
            "j": {"v": "1/100", "w": "99/100"},
        },
        "2",
    )
    exact = chain.distance()
    best = chain.lifting(exact, "s", "t")
    assert best.value == Fraction(1, 2)
    assert sum(best.moves.values()) > 1
    assert exact["s", "t"] == Fraction(51, 100)
    assert check_certificate(json.dumps(chain.certificate())).valid


@pytest.mark.parametrize("seed", range(200, 230))
def test_the_ordered_distance_is_the_unordered_one_at_one_and_never_more(seed: int) -> None:
    """The iterates of lbd, of both orders, stay below those of bd, and are the same at alpha = 1."""
    ordered, both = random_tiny(seed, ordered=True), random_tiny(seed)
    below, above = ordered.kleene(6), both.kleene(6)
    for s, t in both.pairs:
        larger = max(below[s, t], below[t, s])
        assert larger <= above[s, t]
        if ordered.alpha == 1:
            assert below[s, t] == below[t, s] == above[s, t]


def one_way() -> Tiny:
    """Make a chain whose distances differ by direction: u emits what v emits, and more."""
    return tiny(
        {"s": "a", "t": "a", "u": "b", "v": "b", "x": "c", "y": "d"},
        {
            "s": {"u": "1"},
            "t": {"v": "1"},
            "u": {"x": "1/2", "y": "1/2"},
            "v": {"x": "1/8", "y": "7/8"},
        },
        "2",
        ordered=True,
    )


def test_an_entry_says_nothing_of_the_pair_turned_round() -> None:
    chain = one_way()
    exact = chain.distance()
    assert (exact["u", "v"], exact["v", "u"]) == (Fraction(1, 4), ZERO)
    document = chain.certificate()
    assert check_certificate(json.dumps(document)).valid
    for table in ("upper", "lower"):
        bound = {"upper": "1/4", "lower": "1/4"}
        bound["lower" if table == "upper" else "upper"] = "0" if table == "upper" else "1"
        for source, target, valid in (("u", "v", True), ("v", "u", table == "upper")):
            document["claims"] = [{"from": source, "to": target, **bound}]
            assert check_certificate(json.dumps(document)).valid == valid


@pytest.mark.parametrize("table", ["upper", "lower"])
def test_a_table_of_ordered_pairs_is_not_completed_by_symmetry(table: str) -> None:
    """At alpha = 1 the distance is symmetric, but an entry still speaks of its own pair only."""
    chain = one_way()
    chain.alpha = ONE
    document = chain.certificate()
    entries = document[table]["pairs"]
    document[table]["pairs"] = [entry for entry in entries if entry["pair"] not in (["v", "u"], ["t", "s"])]
    document["claims"] = [{"from": "u", "to": "v", "upper": "3/8", "lower": "3/8"}]
    assert check_certificate(json.dumps(document)).valid
    document["claims"] = [{"from": "v", "to": "u", "upper": "3/8", "lower": "3/8"}]
    report = check_certificate(json.dumps(document))
    assert not report.valid
    assert "C1" in report.reason


def test_both_orders_of_a_pair_may_be_listed_where_pairs_are_ordered_and_only_there() -> None:
    document = one_way().certificate()
    pairs = [tuple(entry["pair"]) for entry in document["upper"]["pairs"]]
    assert ("s", "t") in pairs
    assert ("t", "s") in pairs
    document["upper"]["pairs"].append(document["upper"]["pairs"][0])
    assert "listed twice" in check_certificate(json.dumps(document)).reason


@pytest.mark.parametrize("rank", [1, 10**3000])
def test_mass_that_circulates_through_ordered_pairs(rank: int) -> None:
    """The pairs (s, t) and (t, s) lead to one another for ever: neither may lean on the other."""
    chain = tiny({"s": "a", "t": "a"}, {"s": {"t": "1"}, "t": {"s": "1"}}, "2", ordered=True)
    document = chain.certificate()
    for pair in (["s", "t"], ["t", "s"]):
        x, y = pair[::-1]
        entry = {"pair": pair, "value": "1", "witness": {x: "1", y: "0"}}
        document["lower"]["pairs"].append(entry | {"rank": rank, "progress": {"stuck": x}})
    document["claims"] = [{"from": "s", "to": "t", "upper": "1", "lower": "1"}]
    assert "L7" in check_certificate(json.dumps(document)).reason
    # one of them alone has nothing to lean on
    del document["lower"]["pairs"][1]
    assert "L4" in check_certificate(json.dumps(document)).reason
