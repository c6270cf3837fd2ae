"""All distances of a pair side by side: the order that theory demands holds on every chain."""

from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import given, settings

from bisimdist.errors import UsageError
from bisimdist.exact.number import Exact
from bisimdist.faces.shown.standing import Measure, Relation
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.figure1 import figure1
from bisimdist.models.lmc import LMC
from bisimdist.privacy.compare.ask import Comparison, compare
from bisimdist.progress import Deadline
from tests.strategies import alphas, lmcs


def comparison(*measures: Measure) -> Comparison:
    about = {"source": "s0", "target": "s1", "facts": frozenset(), "aliases": {}, "left_out": ()}
    return Comparison(**about, measures=measures, alpha=Exact(2))  # type: ignore[arg-type]


def relations(found: Comparison) -> dict[tuple[str, str], Relation]:
    return {(s.smaller, s.larger): s.relation for s in found.standings()}


@settings(max_examples=30)
@given(chain=lmcs(6, max_labels=2), alpha=alphas())
def test_the_order_holds(chain: LMC, alpha: fmpq) -> None:
    names = [(chain.states[0], chain.states[1]), (chain.states[1], chain.states[1])]
    for found in compare(chain, alpha, pairs=names, gap="1/100", deadline=Deadline.after(20)):
        assert not found.violated
        assert relations(found)["lbd", "greatest"] is Relation.EQUAL
        if alpha == 1:
            assert relations(found)["lbd", "bd"] is Relation.EQUAL


def test_strict_gaps_of_the_ring_of_three() -> None:
    (found,) = compare(dining_cryptographers(3), "1.0002")
    values = {measure.name: measure.upper for measure in found.measures}
    assert values == {
        "delta": fmpq(17501, 50000000),
        "lbd_quotient": fmpq(9951, 500000),
        "lbd": fmpq(1, 50),
        "greatest": fmpq(1, 50),
        "bd_quotient": fmpq(9951, 500000),
        "bd": fmpq(1, 50),
    }
    assert all(measure.exact for measure in found.measures)
    strict = {pair for pair, relation in relations(found).items() if relation is Relation.LESS}
    assert strict == {("delta", "lbd_quotient"), ("lbd_quotient", "lbd"), ("bd_quotient", "bd")}


def test_the_asymmetric_distance_has_two_directions() -> None:
    chain = LMC.from_mappings(
        {"s": "a", "t": "a", "x": "x", "y": "y"},
        {"s": {"x": "1/10", "y": "9/10"}, "t": {"x": "2/10", "y": "8/10"}, "x": {"x": 1}, "y": {"y": 1}},
    )
    (found,) = compare(chain, "11/10", pairs=[("s", "t")])
    (lbd,) = (measure for measure in found.measures if measure.name == "lbd")
    assert lbd.directions == ((fmpq(1, 50),) * 2, (fmpq(9, 100),) * 2)
    assert lbd.upper == fmpq(9, 100)


@pytest.mark.parametrize(
    ("smaller", "larger", "relation"),
    [
        (("1/2", "1/2"), ("1/2", "1/2"), Relation.EQUAL),
        (("0", "1/3"), ("1/2", "1"), Relation.LESS),
        (("0", "1/2"), ("1/2", "1/2"), Relation.AT_MOST),
        (("1/4", "3/4"), ("0", "1/2"), Relation.AT_MOST),
        (("2/3", "2/3"), ("0", "1/2"), Relation.VIOLATED),
    ],
)
def test_relations(smaller: tuple[str, str], larger: tuple[str, str], relation: Relation) -> None:
    def measure(name: str, bounds: tuple[str, str]) -> Measure:
        low, high = (fmpq(*map(int, text.split("/"))) for text in bounds)
        return Measure(name, low, high)

    found = comparison(measure("delta", smaller), measure("lbd_quotient", larger))
    assert [standing.relation for standing in found.standings()] == [relation]
    assert found.violated == (relation is Relation.VIOLATED)


def test_a_direction_alone_may_violate_the_order() -> None:
    half, third = (fmpq(1, 2),) * 2, (fmpq(1, 3),) * 2
    lbd = Measure("lbd", *half, (half, half))
    found = comparison(lbd, Measure("greatest", *half, (half, third)))
    assert relations(found)["lbd", "greatest"] is Relation.VIOLATED


def test_limits_leave_what_is_known() -> None:
    (found,) = compare(dining_cryptographers(8), "1.0002", deadline=Deadline.after(0))
    assert not found.violated
    assert dict(found.left_out).keys() == {"greatest"}
    assert not any(measure.exact for measure in found.measures)


def test_refused() -> None:
    with pytest.raises(UsageError):
        compare(figure1(), "1/2")
