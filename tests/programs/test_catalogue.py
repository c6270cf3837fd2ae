"""Every program of the catalogue has the property that is published of it, exactly at a small size."""

from __future__ import annotations

import inspect
import itertools
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq

from bisimdist import delta, explore
from bisimdist.models.library.programs import noise, noisy_max, protocols, responses, sparse_vector
from bisimdist.programs import ExactRandom
from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.ratios import output_ratio
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)


def ratio(function: Callable[..., Any], first: Any, second: Any, **more: Any) -> fmpq | None:
    """Return the ratio of two inputs: exact, or what it is at least; None for infinity."""
    chain = explore(function, {"first": first, "second": second}, replays=100, **more)
    found = output_ratio(chain, "first", "second")
    assert found is not None
    return found.ratio


def test_randomised_response() -> None:
    assert ratio(responses.randomised_response, False, True) == 3


@pytest.mark.parametrize("differing", [2, 6])
def test_rappor(differing: int) -> None:
    bits = (0,) * 6
    other = (1,) * differing + (0,) * (6 - differing)
    assert ratio(responses.rappor, bits, other) == fmpq(21, 19) ** differing


def test_reports_of_rappor_never_tell_more_than_the_permanent_response() -> None:
    found = [ratio(partial(responses.rappor_reports, reports=n), 0, 1) for n in (1, 2, 4)]
    known = [value for value in found if value is not None]
    assert known == sorted(known)
    assert len(known) == 3
    assert known[-1] < 3  # the ratio of the permanent response: 3/4 against 1/4


def test_shuffling_hides_who_said_what() -> None:
    chain = explore(responses.shuffled_response, [0, 1])
    assert delta(chain, 3).upper < delta(explore(responses.randomised_response, [False, True]), 1).upper


def test_geometric_noise() -> None:
    chain = explore(noise.two_sided_geometric, [0, 1])
    alpha = fmpq(3, 2)
    pair = delta(chain, alpha).pairs[0]
    assert pair.lower == pair.upper == (1 - alpha / 2) / (1 + fmpq(1, 2))  # (1 - alpha a) / (1 + a)
    assert delta(chain, 2).upper == 0


def test_clipped_noise_has_ends() -> None:
    assert ratio(noise.clipped_geometric, 0, 1) is None
    pair = delta(explore(noise.clipped_geometric, [0, 1]), 2).pairs[0]
    assert pair.exact
    assert pair.upper == fmpq(1, 3 * 2**5)  # what the clip costs


def test_an_answer_says_what_the_clip_costs(command: Command, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "clipped.py").write_text(
        "def clipped(x, rng):\n    return min(9, x + rng.two_sided_geometric('1/2', 2))\n"
        "def clear(x, rng):\n    return x + rng.two_sided_geometric('1/2')\n"
        "def odd(x, rng):\n    return (x + rng.two_sided_geometric('1/2', 2)) % 2\n"
    )
    said = {}
    for name in ("clipped", "clear", "odd"):
        asked = ("program", f"{tmp_path}/clipped.py:{name}", "--input", "0", "--input", "1", "--alpha", "1")
        said[name] = json.loads(command(*asked, "--json").out).get("without_clip")
        assert ("without the clip" in command(*asked).out) is (said[name] is not None)
    assert said["clear"] is said["odd"] is None  # nothing is clipped; without the clip it is refused
    (whole,) = said["clipped"]
    assert (whole["upper"], whole["ratio"]) == ("1/3", "2")


def test_laplace_and_gaussian_noise() -> None:
    chain = explore(noise.discrete_laplace, [0, 1], cut="1e-14")
    pair = delta(chain, 1).pairs[0]
    assert abs(float(str(int(pair.lower.p))) / float(str(int(pair.lower.q))) - 0.46211715726) < 1e-9
    gauss = delta(explore(noise.discrete_gaussian, [0, 1], cut="1e-10"), 1).pairs[0]
    assert gauss.lower < fmpq(39894229, 10**8)
    assert gauss.upper > fmpq(39894227, 10**8)
    assert gauss.upper - gauss.lower < fmpq(1, 10**4)


def all_change(function: Callable[..., Any], same: int, other: int = 1, **more: Any) -> fmpq | None:
    """Return the ratio where all answers differ by one: so many upwards, the others downwards."""
    return ratio(function, (0,) * same + (1,) * other, (1,) * same + (0,) * other, **more)


@pytest.mark.parametrize("function", [noisy_max.noisy_max, noisy_max.noisy_max_one_sided])
def test_noisy_max_is_private(function: Callable[..., Any]) -> None:
    found = [all_change(function, n) for n in (1, 2, 5)]
    assert found == sorted(value for value in found if value is not None)
    assert found[-1] is not None
    assert fmpq(39, 10) < found[-1] <= 4


def test_the_clip_breaks_the_bound_of_noisy_max() -> None:
    first, second = (1,) * 9 + (0,), (0,) * 9 + (1,)
    found = ratio(noisy_max.noisy_max_clipped, first, second)
    assert found is not None
    assert fmpq(40742, 10**4) < found < fmpq(40743, 10**4)


@pytest.mark.slow
def test_a_wider_clip_keeps_the_bound_of_noisy_max() -> None:
    first, second = (1,) * 9 + (0,), (0,) * 9 + (1,)
    wide = ratio(partial(noisy_max.noisy_max_clipped, most=12), first, second)
    assert wide is not None
    assert fmpq(39993, 10**4) < wide < fmpq(39994, 10**4)


def test_the_value_of_the_maximum_tells_more_with_more_counts() -> None:
    found = []
    for n in (1, 3):
        chain = explore(noisy_max.noisy_max_value, {"a": (0,) * n, "b": (1,) * n})
        found.append(delta(chain, 2).upper)
    assert found == [fmpq(1, 96), fmpq(2, 9)]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("function", [sparse_vector.above_threshold, sparse_vector.svt_resampled])
def test_the_first_two_variants_are_private(function: Callable[..., Any], count: int) -> None:
    found = [all_change(partial(function, count=count), n, count) for n in (1, 3, 6)]
    assert all(value is not None and 2 < value <= 16**count for value in found)
    assert count > 1 or (found[-1] is not None and found[-1] > 15)  # and nothing less would do


def test_showing_the_value_tells_about_the_threshold() -> None:
    found = [all_change(sparse_vector.svt_shows_value, n, cut="1e-12") for n in (1, 2, 3, 4)]
    assert all(value is not None for value in found)
    known = [value for value in found if value is not None]  # of runs that are not cut off: at least this
    assert all(2 * one < other for one, other in itertools.pairwise(known))
    assert known[-1] > 16


def test_noise_that_does_not_grow_with_the_count_is_not_enough() -> None:
    found = [all_change(sparse_vector.svt_fixed_noise, n) for n in (1, 8)]
    assert found[0] is not None
    assert found[1] is not None
    assert 16 < found[0] < found[1] < 128  # 16^(7/4)
    assert found[1] > fmpq(1279, 10)


def test_without_noise_on_queries_outputs_become_impossible() -> None:
    assert all_change(sparse_vector.svt_no_query_noise, 1) is None
    chain = explore(sparse_vector.svt_no_query_noise, {"a": (0, 1), "b": (1, 0)})
    assert delta(chain, 1000).upper == fmpq(3, 20)  # the probability of a threshold of 1


def test_without_a_stop_the_ratio_grows() -> None:
    found = [all_change(sparse_vector.svt_no_stop, n, n) for n in (1, 2, 3)]
    known = [value for value in found if value is not None]
    assert len(known) == 3
    assert all(8 * one < other for one, other in itertools.pairwise(known))


def test_many_queries_are_few_states() -> None:
    chain = explore(sparse_vector.svt_stops_clipped, {"a": (0,) * 30, "b": (1,) * 30})
    assert chain.origin.explored < 2000
    pair = delta(chain, 8).pairs[0]
    assert pair.exact
    assert pair.upper < fmpq(1, 1000)


def test_an_early_exit_tells_how_much_of_a_pin_was_right() -> None:
    guesses = {"a": (0, 0), "b": (1, 0)}
    assert delta(explore(protocols.check_pin, guesses), 1).upper == 0
    assert delta(explore(protocols.check_pin, guesses, observe="steps"), 1).upper == 0  # the PIN is random
    fixed = explore(
        _check, {"right": (1, 1), "half": (1, 0), "wrong": (0, 0)}, observe="steps", pairs=[("half", "wrong")]
    )
    assert delta(fixed, 1).upper == 1
    assert delta(explore(_check, {"half": (1, 0), "wrong": (0, 0)}), 1).upper == 0


def _check(guess: tuple[int, ...], rng: Any) -> bool:
    rng.randrange(2)
    for digit, guessed in zip((1, 1), guess, strict=True):  # noqa: SIM110 - the early exit is the point
        if digit != guessed:
            return False
    return True


def test_dining_cryptographers() -> None:
    assert ratio(protocols.dining_cryptographers, 0, 1) == 1
    chain = explore(protocols.dining_cryptographers, [0, 1, None], pairs=[("0", "None")])
    assert delta(chain, 1).upper == 1


def test_crowds_have_the_published_probability_of_being_caught() -> None:
    chain = explore(protocols.crowds, [0, 1])
    row = {chain.labels[state]: p for state, p in chain.rows[chain.index("0")]}
    other = {chain.labels[state]: p for state, p in chain.rows[chain.index("1")]}
    # the first bad member is next to the initiator at once, or after a member chosen at random
    assert row["0"] - other["0"] == fmpq(1, 5)
    assert ratio(protocols.crowds, 0, 1) == row["0"] / other["0"]


def test_suppression_leaks() -> None:
    assert ratio(protocols.suppressed, (30, 30, 40), (30, 40, 40)) is None
    assert delta(explore(protocols.suppressed, {"a": (30, 30, 40), "b": (30, 40, 40)}), 1).upper == 1


@pytest.mark.parametrize("seed", range(3))
def test_they_run_in_plain_python(seed: int) -> None:
    source = ExactRandom()
    assert isinstance(noise.two_sided_geometric(seed, source), int)
    assert isinstance(noise.discrete_gaussian(seed, source), int)
    assert len(responses.rappor((0, 1), source)) == 2
    assert noisy_max.noisy_max((0, 100), source) == 1
    assert isinstance(protocols.crowds(0, source), int | None)


@pytest.mark.parametrize("function", [noisy_max.noisy_max_clipped, sparse_vector.svt_stops_clipped])
def test_their_files_are_named_on_the_command_line(function: Callable[..., Any]) -> None:
    inputs = [(0, 0), (1, 1)]
    named = explore(f"{inspect.getsourcefile(function)}:{function.__name__}", inputs, replays=10)
    assert named == explore(function, inputs, replays=10)
    assert sorted(named.origin.sources) == sorted(["noise.py", f"{function.__module__.split('.')[-1]}.py"])


def test_chains_of_programs_are_chains() -> None:
    assert isinstance(explore(responses.randomised_response, [False, True]), ProgramChain)
