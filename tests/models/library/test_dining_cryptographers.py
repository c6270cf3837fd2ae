from __future__ import annotations

import dataclasses

import pytest
from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.bisimilarity import bisimilarity_classes
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from tests.reference.acyclic_bd import acyclic_bd
from tests.reference.traces import trace_distribution, true_delta

ALPHA = fmpq(5001, 5000)


def direct_traces(n: int, payer: int, heads: fmpq) -> dict[tuple[str, ...], fmpq]:
    """The announcements, from all ways in which n coins can fall."""
    result: dict[tuple[str, ...], fmpq] = {}
    for coins in range(2**n):
        side = [coins >> i & 1 for i in range(n)]
        mass = fmpq(1)
        for coin in side:
            mass *= 1 - heads if coin else heads
        said = ["disagree" if side[i - 1] ^ side[i] ^ (i == payer) else "agree" for i in range(n)]
        trace = ("start", "flipped", *said, "done")
        result[trace] = result.get(trace, fmpq(0)) + mass
    return result


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("heads", [fmpq(49, 100), fmpq(1, 3)])
def test_announces_what_the_coins_say(n: int, heads: fmpq) -> None:
    lmc = dining_cryptographers(n, heads)
    for payer in range(n):
        assert lmc.states[payer] == f"payer{payer}"
        assert trace_distribution(lmc, payer, n + 3) == direct_traces(n, payer, heads)


@pytest.mark.parametrize("n", [2, 3, 4, 10, 25])
def test_has_quadratically_many_states(n: int) -> None:
    lmc = dining_cryptographers(n)
    assert len(lmc) == 4 * n * n + 3 * n - 5
    assert set(lmc.labels) == {"start", "flipped", "agree", "disagree", "done"}


def test_classes_of_the_ring_are_small() -> None:
    lmc = dining_cryptographers(8)
    classes = distinguishable_classes(lmc)
    assert max(map(classes.count, classes)) == 16
    position = {
        number: name.split("_")[0]
        for number, name in zip(classes, lmc.states, strict=True)
        if name.startswith("said")
    }
    assert all(
        name.split("_")[0] == position[number]
        for number, name in zip(classes, lmc.states, strict=True)
        if number in position
    )


@pytest.mark.parametrize(
    ("n", "pair", "delta"),
    [
        (2, (0, 1), "30004/100000000"),
        (3, (0, 1), "35002/100000000"),
        (3, (0, 2), "35002/100000000"),
        (3, (1, 2), "35002/100000000"),
        (4, (0, 1), "499979992/1000000000000"),
        (4, (0, 2), "375019996/1000000000000"),
        (4, (0, 3), "499979992/1000000000000"),
    ],
)
def test_true_delta(n: int, pair: tuple[int, int], delta: str) -> None:
    numerator, denominator = map(int, delta.split("/"))
    assert true_delta(dining_cryptographers(n), *pair, ALPHA, n + 3) == fmpq(numerator, denominator)


def test_distance_on_the_ring_of_two() -> None:
    assert acyclic_bd(dining_cryptographers(2), ALPHA)[0, 1] == fmpq(1, 2500)


def test_distances_on_the_ring_of_three() -> None:
    value = acyclic_bd(dining_cryptographers(3), ALPHA)
    assert value[0, 1] == value[1, 2] == fmpq(1, 50)
    assert value[0, 2] == fmpq(99, 125000)


def test_distances_on_the_ring_of_four() -> None:
    lmc = dining_cryptographers(4)
    finer = dataclasses.replace(lmc, labels=tuple(map(str, distinguishable_classes(lmc))))
    value = acyclic_bd(finer, ALPHA)
    assert value[0, 1] == value[1, 2] == value[2, 3] == fmpq(1, 50)
    assert value[0, 2] == value[1, 3] == fmpq(2549, 125000)
    assert value[0, 3] == fmpq(7351, 6250000)


def test_fair_coins_hide_who_has_paid() -> None:
    lmc = dining_cryptographers(4, "1/2")
    assert len({bisimilarity_classes(lmc)[payer] for payer in range(4)}) == 1
    assert true_delta(lmc, 0, 1, fmpq(1), 7) == 0


def test_coins_with_one_side_give_the_payer_away() -> None:
    lmc = dining_cryptographers(3, 1)
    assert true_delta(lmc, 0, 1, fmpq(5), 6) == 1
    classes = distinguishable_classes(lmc)
    assert len({classes[payer] for payer in range(3)}) == 3


def test_pairs_are_the_first_or_all() -> None:
    assert dining_cryptographers(3).pairs == ((0, 1),)
    assert dining_cryptographers(3, pairs="all").pairs == ((0, 1), (0, 2), (1, 2))


def test_refuses_what_is_out_of_range() -> None:
    with pytest.raises(UsageError, match="expected at least 2"):
        dining_cryptographers(1)
    with pytest.raises(UsageError, match="the bias is 5/4"):
        dining_cryptographers(2, "5/4")
    with pytest.raises(UsageError, match="pairs='none'"):
        dining_cryptographers(2, pairs="none")
