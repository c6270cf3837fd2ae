from __future__ import annotations

from functools import cache
from itertools import pairwise, product

import pytest
from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import to_fmpq
from bisimdist.lp.multiplicative import lift_ratio
from bisimdist.models.library.counting_queries import counting_queries
from bisimdist.models.library.mimicking import mimicking
from bisimdist.models.library.randomised_response_pa import randomised_response_automaton
from bisimdist.models.library.registry import build_any_example
from bisimdist.models.mechanisms.geometric import truncated_geometric
from bisimdist.models.pa import PA

ZERO, ONE = fmpq(0), fmpq(1)


def word_probabilities(automaton: PA, state: int) -> dict[tuple[str, ...], fmpq]:
    """Return the probability of every sequence of actions of an automaton without cycles."""
    found: dict[tuple[str, ...], fmpq] = {(): ONE}
    for step in automaton.transitions:
        if step.source == state:
            for target, p in step.row:
                for word, mass in word_probabilities(automaton, target).items():
                    key = (step.action, *word)
                    found[key] = found.get(key, ZERO) + p * mass
    return found


def largest_ratio(automaton: PA) -> fmpq | None:
    """Return e to the multiplicative total variation of the pair."""
    p, q = (word_probabilities(automaton, s) for s in automaton.pairs[0])
    if p.keys() != q.keys():
        return None
    return max(max(p[w] / q[w], q[w] / p[w]) for w in p)


def metric_ratio(automaton: PA) -> fmpq | None:
    """Return e to the multiplicative bisimilarity metric of the pair, of an automaton without cycles."""
    steps = {step.source: step for step in automaton.transitions}

    @cache
    def ratio(s: int, t: int) -> fmpq | None:
        if s not in steps or t not in steps:
            return None if s in steps or t in steps else ONE
        if steps[s].action != steps[t].action:
            return None
        first, second = dict(steps[s].row), dict(steps[t].row)
        both = lift_ratio(first, second, ratio).ratio, lift_ratio(second, first, ratio).ratio
        return None if both[0] is None or both[1] is None else max(both[0], both[1])

    return ratio(*automaton.pairs[0])


def test_randomised_response_is_figure_1() -> None:
    automaton = randomised_response_automaton()
    words = word_probabilities(automaton, automaton.index("s_y"))
    assert words == {
        (): 1,
        ("tau",): 1,
        ("tau", "tau"): 1,
        ("tau", "tau", "yes"): fmpq(3, 4),
        ("tau", "tau", "no"): fmpq(1, 4),
    }
    assert largest_ratio(automaton) == 3
    assert metric_ratio(automaton) is None  # once the coin has been tossed, its state tells everything
    assert automaton.fully_probabilistic
    assert automaton.pairs == ((automaton.index("s_y"), automaton.index("s_n")),)


@pytest.mark.parametrize(("p", "q"), list(product(["0", "1/3", "4/5"], ["1/4", "1/2", "2/3"])))
def test_randomised_response_has_the_ratio_of_its_closed_form(p: str, q: str) -> None:
    automaton = randomised_response_automaton(p, q)
    heads, yes = to_fmpq(p), to_fmpq(q)
    tails = 1 - heads
    expected = max((heads + tails * yes) / (tails * yes), (1 - tails * yes) / (tails * (1 - yes)))
    assert largest_ratio(automaton) == expected


def test_randomised_response_without_a_lie_hides_nothing() -> None:
    assert largest_ratio(randomised_response_automaton(1)) is None
    assert largest_ratio(randomised_response_automaton("1/2", 0)) is None


@pytest.mark.parametrize(("n", "ratio"), [(1, "2"), (4, "2"), (7, "3/2"), (50, "11/10")])
def test_neighbouring_counts_attain_the_ratio_and_no_more(n: int, ratio: str) -> None:
    budget = to_fmpq(ratio)
    matrix = truncated_geometric(1 / budget, n + 1)
    for row, other in pairwise(matrix):
        assert {p / q for p, q in zip(row, other, strict=True)} == {budget, 1 / budget}


@pytest.mark.parametrize("count", [0, 2, 3])
@pytest.mark.parametrize("ratio", ["2", "3/2"])
@pytest.mark.parametrize(("changes", "power"), [("none", 0), ("first", 1), ("second", 1), ("both", 2)])
def test_counting_queries_have_the_distances_of_example_6(
    changes: str, power: int, ratio: str, count: int
) -> None:
    automaton = counting_queries(4, ratio, changes, count)
    budget = to_fmpq(ratio)
    assert largest_ratio(automaton) == metric_ratio(automaton) == budget**power
    assert automaton.fully_probabilistic


@pytest.mark.parametrize(("changes", "power"), [("none", 0), ("first", 1), ("second", 1), ("both", 2)])
def test_counting_queries_are_small_and_exact_for_large_counts(changes: str, power: int) -> None:
    automaton = counting_queries(50, 2, changes, 20)
    branches = 1 if changes in {"none", "first"} else 2
    assert len(automaton) == 2 + 51 * branches + branches + 51 + 1
    assert metric_ratio(automaton) == fmpq(2) ** power


def test_the_mimicking_example_differs_by_the_state_that_is_stuck() -> None:
    automaton = mimicking()
    assert word_probabilities(automaton, 0)["a", "b"] == fmpq(1, 2)
    assert word_probabilities(automaton, 3)["a", "b"] == 1
    assert largest_ratio(automaton) == 2
    assert metric_ratio(automaton) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("randomised-response-pa,p=2", "p='2' is out of range; expected an exact number from 0 to 1"),
        ("counting-queries,n=0", "expected an integer from 1 to 500"),
        ("counting-queries,ratio=1", "the ratio is 1; expected a number above 1"),
        ("counting-queries,ratio=1/2", "expected an exact number from 1 to 1000, such as 3/2 or 1.5"),
        ("counting-queries,changes=third", "expected none or first or second or both"),
        ("counting-queries,n=3,count=3", "the count is 3; expected 0 to 2"),
        ("mimicking,stuck=1", "stuck is 1; expected a number strictly between 0 and 1"),
    ],
)
def test_what_cannot_be_made_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build_any_example(text)


def test_the_library_refuses_what_the_command_line_cannot_say() -> None:
    with pytest.raises(UsageError, match="n is 0"):
        counting_queries(0)
    with pytest.raises(UsageError, match="changes='some' is not usable"):
        counting_queries(2, 2, "some")
    with pytest.raises(UsageError, match="q is -1"):
        randomised_response_automaton(1, -1)
