"""The dining cryptographers as automata: written directly, written in CCS_p, and their distances."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from flint import fmpq

from bisimdist.automata.engine.accumulative import accumulative_values
from bisimdist.automata.engine.amortised import amortised_values
from bisimdist.automata.engine.game import SAME, Arena
from bisimdist.automata.engine.strong import bisimilarity_classes
from bisimdist.errors import UsageError
from bisimdist.models.io import parse_model
from bisimdist.models.library.dining_cryptographers_pa import (
    dining_cryptographers_pa,
    dining_cryptographers_text,
)
from bisimdist.models.library.registry import build_any_example
from bisimdist.models.pa import PA

SMALL = [
    (n, graph, schedule)
    for n in (2, 3, 4)
    for graph in ("complete", "ring")
    for schedule in ("together", "turns", "free")
    if n < 4 or schedule == "together"
] + [(4, "ring", "turns"), (5, "ring", "together")]


@pytest.mark.parametrize(("n", "graph", "schedule"), SMALL)
@pytest.mark.parametrize("bias", ["1/3", "1/2", "1"])
def test_the_text_and_the_program_make_the_same_automaton(
    n: int, graph: str, schedule: str, bias: str
) -> None:
    direct = dining_cryptographers_pa(n, bias, graph=graph, schedule=schedule, pairs="all")
    text = dining_cryptographers_text(n, bias, graph=graph, schedule=schedule, pairs="all")
    written = parse_model(text, format="ccsp")
    assert isinstance(written, PA)
    # equal up to the names of states, which are equal too where no process runs beside another
    assert replace(written, states=direct.states) == direct
    assert schedule != "together" or written == direct
    assert written.states[:n] == direct.states[:n] == tuple(f"Payer{payer}" for payer in range(n))
    assert direct.pairs == tuple(combinations(range(n), 2))


def values(model: PA) -> tuple[list[fmpq | None], list[fmpq | None]]:
    """Return the exponentials of both distances for the pairs of a model."""
    arena = Arena(model, model.pairs)
    positions = [arena.position(s, t) for s, t in model.pairs]
    accumulated = accumulative_values(arena)
    amortised = amortised_values(arena, [p for p in positions if p is not None and p != SAME])
    assert all(amortised.found(position) for position in positions)
    return [accumulated.value(p) for p in positions], [amortised.lower(p) for p in positions]


@pytest.mark.parametrize(("bias", "ratio"), [("49/100", "51/49"), ("1/3", "2"), ("9/10", "9"), ("1/2", "1")])
@pytest.mark.parametrize("schedule", ["together", "turns", "free"])
def test_proposition_6_for_three_cryptographers(bias: str, ratio: str, schedule: str) -> None:
    """The degree of privacy is the absolute value of ln p/(1-p) for all three pairs of payers."""
    numerator, _, denominator = ratio.partition("/")
    expected = [fmpq(int(numerator), int(denominator or 1))] * 3
    model = dining_cryptographers_pa(3, bias, schedule=schedule, pairs="all")
    assert values(model) == (expected, expected)


@pytest.mark.parametrize("n", [2, 4, 5])
def test_proposition_6_for_more_cryptographers(n: int) -> None:
    model = dining_cryptographers_pa(n, "1/3", pairs="all")
    expected = [fmpq(2)] * (n * (n - 1) // 2)
    assert values(model) == (expected, expected)


@pytest.mark.parametrize(("n", "schedule"), [(2, "free"), (4, "together"), (4, "turns"), (6, "together")])
def test_on_a_ring_the_distance_is_that_of_the_seats(n: int, schedule: str) -> None:
    model = dining_cryptographers_pa(n, "3/4", graph="ring", schedule=schedule, pairs="all")
    seats = [min(j - i, n - j + i) for i, j in combinations(range(n), 2)]
    expected = [fmpq(3) ** seat for seat in seats]
    assert values(model) == (expected, expected)


@pytest.mark.slow
def test_large_tables() -> None:
    assert values(dining_cryptographers_pa(4, "1/3", schedule="turns")) == ([fmpq(2)], [fmpq(2)])
    assert values(dining_cryptographers_pa(6, "1/3")) == ([fmpq(2)], [fmpq(2)])


@pytest.mark.parametrize("graph", ["complete", "ring"])
def test_with_fair_coins_the_payers_are_bisimilar(graph: str) -> None:
    model = dining_cryptographers_pa(4, "1/2", graph=graph, pairs="all")
    assert len(set(bisimilarity_classes(model)[:4])) == 1
    biased = dining_cryptographers_pa(4, "49/100", graph=graph, pairs="all")
    assert len(set(bisimilarity_classes(biased)[:4])) == 4


@pytest.mark.parametrize("graph", ["complete", "ring"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_somebody_has_paid(n: int, graph: str) -> None:
    """The announcements of every run add up to an odd number, whoever has paid and whatever is tossed."""
    model = dining_cryptographers_pa(n, "1/3", graph=graph)
    step_of = {step.source: step for step in model.transitions}
    for payer in range(n):
        for state, _ in step_of[payer].row:
            said = []
            at = state
            while at in step_of:
                said.append(step_of[at].action)
                at = step_of[at].row[0][0]
            assert [action.partition("_")[0] for action in said] == [f"say{who}" for who in range(n)]
            assert sum(int(action[-1]) for action in said) % 2 == 1


def test_sizes() -> None:
    assert len(dining_cryptographers_pa(5)) == 5 + 5 * 2**10 + 2**5 - 1
    assert len(dining_cryptographers_pa(6, graph="ring")) == 6 + 6 * 2**6 + 2**6 - 1


def test_the_example() -> None:
    built = build_any_example("dining-cryptographers-pa,n=4,bias=1/3,graph=ring,schedule=turns,pairs=all")
    assert built == dining_cryptographers_pa(4, "1/3", graph="ring", schedule="turns", pairs="all")
    for setting in ("n=7", "graph=star", "n=1", "bias=2"):
        with pytest.raises(UsageError):
            build_any_example(f"dining-cryptographers-pa,{setting}")


def test_the_limit() -> None:
    with pytest.raises(UsageError, match="7 cryptographers with 21 coins"):
        dining_cryptographers_pa(7)
    for n, bias, graph in ((1, "1/2", "ring"), (3, "3/2", "ring"), (3, "1/2", "star")):
        with pytest.raises(UsageError):
            dining_cryptographers_pa(n, bias, graph=graph)
        with pytest.raises(UsageError):
            dining_cryptographers_text(n, bias, graph=graph)
