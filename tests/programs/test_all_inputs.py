"""Budgets for all inputs and any length: mechanisms of the literature, wrong ones, and refusals."""

# mypy: disable-error-code="no-any-return, operator"
from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import bisimdist
from bisimdist.budgets import AllInputsBudget, all_inputs_budget
from bisimdist.models.library.programs import any_length, sparse_vector
from bisimdist.programs.noise_ratio import power_of
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)

TEXTBOOK = {
    ("randomised_response", "one"): {"1/3": "1"},
    ("geometric_sum", "one"): {"1/2": "1"},
    ("histogram", "one"): {"1/2": "1"},
    ("partial_sum", "one"): {"1/2": "1"},
    ("prefix_sum", "one"): {"1/2": "1"},
    ("smart_sum", "one"): {"1/2": "2"},
    ("noisy_max", "all"): {"1/2": "2"},
    ("noisy_max", "one"): {"1/2": "1"},
    ("noisy_max_gap", "all"): {"1/2": "2"},
    ("noisy_max_gap", "one"): {"1/2": "1"},
    ("exponential_noise_max", "all"): {"1/2": "2"},
    ("sparse_vector_once", "all"): {"1/2": "4"},
    ("sparse_vector", "all"): {"1/2": "2 count + 2"},
    ("sparse_vector_resampled", "all"): {"1/2": "4 count"},
    ("numerical_sparse_vector", "all"): {"1/2": "3 count + 2"},
    ("adaptive_sparse_vector", "all"): {"1/2": "budget + 6"},
}
PROGRAMS = Path(bisimdist.__file__).parent / "models" / "library" / "programs" / "any_length.py"


@cache
def budget_of(name: str, neighbours: str, length: int | None = None) -> AllInputsBudget:
    domain = (0, 1) if name == "randomised_response" else None
    function = getattr(any_length, name)
    return all_inputs_budget(function, neighbours=neighbours, domain=domain, length=length, examples=False)


LONGER = {
    ("noisy_max_gap", "one"),
    ("sparse_vector_resampled", "all"),
    ("adaptive_sparse_vector", "all"),
    ("noisy_max", "one"),
}
CASES = [pytest.param(*key, marks=[pytest.mark.slow] if key in LONGER else []) for key in TEXTBOOK]


@pytest.mark.parametrize(("name", "neighbours"), CASES)
def test_the_textbook_budget_is_proved_for_any_length(name: str, neighbours: str) -> None:
    found = budget_of(name, neighbours)
    assert found.exponents == TEXTBOOK[name, neighbours]
    assert found.holds is True
    report = bisimdist.check_certificate(json.dumps(found.certificate()))
    assert (report.valid, report.reason) == (True, "")
    assert report.model_kind == "flowchart"
    assert report.program is not None


@pytest.mark.parametrize(
    ("function", "alpha"),
    [
        (sparse_vector.svt_fixed_noise, 16),
        (sparse_vector.svt_no_query_noise, 1000),
        (sparse_vector.svt_no_stop, 16),
        (sparse_vector.svt_two_scales, 16),
        (sparse_vector.svt_shows_value, 16),
        (any_length.noisy_max_value, 4),
        (any_length.histogram_wrong_scale, 2),
        (any_length.partial_sum_constant, 2),
    ],
)
def test_wrong_mechanisms_are_refuted_by_a_pair(function: Callable[..., Any], alpha: int) -> None:
    found = all_inputs_budget(function, neighbours="all", alpha=alpha)
    assert found.holds is False
    assert found.attained is not None
    assert found.attained.ratio is None or found.attained.ratio > alpha


def test_a_length_that_is_known_has_a_budget_of_its_own() -> None:
    with pytest.raises(bisimdist.UsageError):
        budget_of("geometric_sum", "all").certificate()
    assert budget_of("geometric_sum", "all", 3).exponents == {"1/2": "3"}
    assert budget_of("randomised_response", "all", 2).exponents == {"1/3": "2"}


def any_ratio(answer: int, rng: Any, a: str) -> int:
    return answer + rng.two_sided_geometric(a)


def powers(answer: int, rng: Any, a: str) -> tuple[int, int]:
    return answer + rng.two_sided_geometric(a**2), answer + rng.two_sided_geometric(a)


def test_the_ratio_may_be_a_parameter() -> None:
    assert all_inputs_budget(any_ratio, examples=False).power() == "(a)^-(1)"
    assert all_inputs_budget(powers, examples=False).power() == "(a)^-(3)"


def count_query(answers: list[int], rng: Any) -> int:
    return sum(1 for answer in answers if answer > 10) + rng.two_sided_geometric("1/2")


def clipped_sum(answers: list[int], rng: Any) -> int:
    total = 0
    for answer in answers:
        total += min(max(answer, 0), 10)
    return total + rng.two_sided_geometric("1/2")


def noise_between(answers: list[int], rng: Any) -> tuple[int, int]:
    noisy = sum(answers) + rng.two_sided_geometric("1/2")
    count = 0
    for answer in answers:
        if answer > 3:
            count += 1
    return noisy, count + rng.two_sided_geometric("1/2")


def threshold_first(answer: int, rng: Any) -> int:
    told = 0
    if answer > 3:
        told = 1
    return told + rng.two_sided_geometric("1/2")


def stable_histogram(counts: list[int], rng: Any, threshold: int) -> list[int]:
    released = []
    for count in counts:
        noisy = count + rng.two_sided_geometric("1/2")
        if noisy >= threshold:
            released.append(noisy)
        else:
            released.append(0)
    return released


def sum_where_it_is_worth_it(answers: list[int], rng: Any) -> tuple[int, int]:
    many = sum(1 for answer in answers if answer > 0) + rng.two_sided_geometric("1/2")
    if many < 5:
        return many, 0
    return many, sum(answers) + rng.two_sided_geometric("1/8")


@pytest.mark.parametrize(
    ("function", "exponent"),
    [
        (count_query, "1"),
        (clipped_sum, "1"),
        (noise_between, "2"),
        (threshold_first, "1"),
        (stable_histogram, "1"),
        (sum_where_it_is_worth_it, "4"),
    ],
)
def test_noise_after_conditions_is_shifted_by_how_they_came_out(
    function: Callable[..., Any], exponent: str
) -> None:
    found = all_inputs_budget(function, examples=False)
    assert found.exponents == {"1/2": exponent}
    assert bisimdist.check_certificate(json.dumps(found.certificate())).valid


def one_sided(answer: int, rng: Any) -> int:
    return answer + rng.geometric("1/2")


def multiplied(answers: list[int], rng: Any) -> int:
    best = 1
    for answer in answers:
        best = best * answer
    return best + rng.two_sided_geometric("1/2")


def nested(answers: list[int], rng: Any) -> int:
    total = 0
    for answer in answers:
        for other in answers:
            total = total + answer - other
    return total + rng.two_sided_geometric("1/2")


def unset(answers: list[int], rng: Any) -> int:
    for answer in answers:
        last = answer
    return last + rng.two_sided_geometric("1/2")


def parity(answers: list[int], rng: Any) -> int:
    total = rng.two_sided_geometric("1/2")
    for answer in answers:
        if answer % 2 == 0:
            total = total + 1
    return total


def pairs_compared(answer: int, rng: Any) -> bool:
    return (answer, 0) == (0, 0)


def two_lists(answer: int, rng: Any) -> list[int]:
    first: list[int] = []
    second: list[int] = []
    if answer > 0:
        first.append(1)
    else:
        second.append(1)
    return first


def emptied(answer: int, rng: Any) -> list[int]:
    told = [1]
    told = []
    told.append(1)
    if answer > 0:
        told = []
    return told


@pytest.mark.parametrize("function", [two_lists, emptied])
def test_which_list_holds_an_element_is_seen(function: Callable[..., Any]) -> None:
    found = all_inputs_budget(function)
    assert found.found is None
    assert found.holds is False


def numbers_counted(answers: list[int], rng: Any) -> int:
    told: list[int] = []
    for answer in answers:
        told.append(answer + rng.two_sided_geometric("1/2"))
    return told.count(True)


def mean(answers: list[int], rng: Any) -> float:
    return sum(answers) / 4 + rng.two_sided_geometric("1/2")


def largest(answers: list[int], rng: Any) -> int:
    return max(answers) + rng.two_sided_geometric("1/2")


def dictionary(answers: list[int], rng: Any) -> dict[str, int]:
    return {"sum": sum(answers) + rng.two_sided_geometric("1/2")}


def words(answers: list[int], rng: Any) -> str:
    return f"about {sum(answers) + rng.two_sided_geometric('1/2')}"


def another_law(answers: list[int], rng: Any) -> int:
    return sum(answers) + rng.laplace(1)


def counted(answers: list[int], rng: Any) -> int:
    total, place = 0, 0
    while place < len(answers):
        place += 1
    return total + rng.two_sided_geometric("1/2")


def texts(names: list[Any], rng: Any) -> int:
    return sum(1 for name in names if name == "smith") + rng.two_sided_geometric("1/2")


def rows(answers: list[Any], rng: Any) -> int:
    total = 0
    for age, _ in answers:
        total += age
    return total + rng.two_sided_geometric("1/2")


def with_a_function(answers: list[int], rng: Any) -> int:
    def more(total: int, answer: int) -> int:
        return total + answer

    total = 0
    for answer in answers:
        total = more(total, answer)
    return total + rng.two_sided_geometric("1/2")


def guarded(answers: list[int], rng: Any) -> int:
    try:
        return sum(answers) + rng.two_sided_geometric("1/2")
    except ValueError:
        return 0


def halved(answers: list[int], rng: Any) -> int:
    return (sum(answers) + rng.two_sided_geometric("1/2")) // 2


def filtered(answers: list[int], rng: Any) -> int:
    return len([answer for answer in answers if answer > 3]) + rng.two_sided_geometric("1/2")


def position(answers: list[int], rng: Any) -> int:
    noisy = [answer + rng.two_sided_geometric("1/2") for answer in answers]
    return noisy.index(1)


def emptiness(answers: list[int], rng: Any) -> int:
    if not answers:
        return 0
    return sum(answers) + rng.two_sided_geometric("1/2")


def first_of_all(answers: list[int], rng: Any) -> int:
    return answers[0] + rng.two_sided_geometric("1/2")


def lengthened(answers: list[int], rng: Any) -> int:
    return len(answers) + rng.two_sided_geometric("1/2")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (mean, "divide what is released"),
        (largest, "write a loop"),
        (dictionary, "return a tuple or a list"),
        (words, "return numbers"),
        (another_law, "two_sided_geometric, geometric, flip"),
        (counted, "go through it with for"),
        (texts, "compared with a text"),
        (rows, "an element is one integer"),
        (with_a_function, "outside of this one"),
        (guarded, "leave it out"),
        (halved, "divide what is released"),
        (filtered, "write a loop that appends"),
        (position, "noise comes from rng"),
        (emptiness, "compare numbers"),
        (first_of_all, "use for"),
        (lengthened, "sum\\(1 for x"),
        (numbers_counted, "cannot be followed"),
        (pairs_compared, "a comparison"),
        (multiplied, "not linear"),
        (nested, "inside of another"),
        (unset, "before it has a value"),
        (parity, "need not have in common"),
    ],
)
def test_what_cannot_be_followed_names_the_line(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(bisimdist.LimitError, match=said) as caught:
        all_inputs_budget(function)
    first = function.__code__.co_firstlineno
    line = int(str(caught.value).split(".py:")[1].split(":")[0])
    assert first < line <= first + 6


def other_ratio(bits: list[int], rng: Any) -> list[bool]:
    return [rng.flip("1/2") if bit == 1 else rng.flip("1/4") for bit in bits]


def in_pairs(bits: list[int], rng: Any) -> list[int]:
    released, before, block = [], 0, 0
    for place, bit in enumerate(bits):
        block += bit
        released.append(before + block + rng.two_sided_geometric("1/2"))
        if place % 2 == 1:
            before += block + rng.two_sided_geometric("1/2")
            block = 0
    return released


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (other_ratio, "the two runs draw noise of different ratios"),
        (in_pairs, "what % says of a place is taken for any choice"),
    ],
)
def test_why_no_budget_is_proved_names_the_line(function: Callable[..., Any], said: str) -> None:
    found = all_inputs_budget(function, examples=False)
    assert found.holds is None
    assert found.why.startswith("line ")
    assert said in found.why


def test_noise_that_is_never_negative_protects_nothing_that_goes_down() -> None:
    found = all_inputs_budget(one_sided, domain=(0, 1))
    assert found.found is None
    assert found.holds is False  # an output of one input is impossible from the other


def test_ratios_are_powers_of_what_is_no_power() -> None:
    assert power_of(Fraction(1, 4)) == ("1/2", {"": 2})
    assert power_of(Fraction(8, 27)) == ("2/3", {"": 3})
    assert power_of(Fraction(2, 9)) == ("2/9", {"": 1})
    with pytest.raises(ValueError, match="strictly between"):
        power_of(Fraction(1))


def test_the_command_line(command: Command, tmp_path: Path) -> None:  # noqa: F811
    proof = tmp_path / "proof.json"
    asked = ("budget", f"{PROGRAMS}:prefix_sum", "--any-length", "--json", "--certificate", str(proof))
    done = command(*asked)
    answer = json.loads(done.out)
    assert done.code == 0
    assert answer["budget"] == "(1/2)^-(1)"
    assert answer["length"] == "any"
    checked = command("check", str(proof))
    assert checked.code == 0
    assert "(1/2)^-(1)" in checked.out
    text = command("budget", f"{PROGRAMS}:geometric_sum", "--all-inputs", "--size", "2", "--alpha", "2")
    assert text.code == 0
    assert "of length 2" in text.out
    wrong = command(
        "budget", f"{PROGRAMS}:partial_sum_constant", "--any-length", "--neighbours", "all", "--alpha", "2"
    )
    assert wrong.code == 1
    open_ = command("budget", f"{PROGRAMS}:partial_sum_constant", "--any-length", "--neighbours", "all")
    assert open_.code == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--all-inputs",), "--any-length"),
        (("--any-length", "--size", "2"), "--any-length"),
        (("--any-length", "--input", "[0]"), "--input"),
        (("--any-length", "--domain", "0,2"), "gap"),
        (("--any-length", "--domain", "a"), "integers"),
        (("--any-length", "--observe", "time"), "--observe"),
        (("--any-length", "--alpha", "2", "--epsilon", "1"), "both"),
    ],
)
def test_options_that_do_not_fit(command: Command, options: tuple[str, ...], said: str) -> None:  # noqa: F811
    refused = command("budget", f"{PROGRAMS}:prefix_sum", *options)
    assert refused.code == 2
    assert said in refused.err


def test_the_range_of_elements_is_a_part_of_the_claim() -> None:
    """Without the range the budget would be claimed for inputs for which there is none."""
    answer = budget_of("randomised_response", "one")
    assert "with elements from 0 to 1" in str(answer)
    report = bisimdist.check_certificate(json.dumps(answer.certificate()))
    assert report.other_claims[0]["elements"] == [0, 1]
    assert report.other_claims[0]["neighbours"] == "one"
