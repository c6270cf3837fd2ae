"""What is explored is what plain Python does, over every path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from bisimdist.programs.front import explore
from bisimdist.programs.texts import labels_of, same_text, text_of
from tests.programs import more_samples, samples
from tests.programs.exhaustive import Branching, distribution

INPUTS = (0, 1)
SAMPLES = [*samples.SAMPLES, *more_samples.SAMPLES]


def explored(function: Callable[..., Any], value: Any, observe: str = "output") -> dict[str, Fraction]:
    chain = explore(function, [value], observe=observe, replays=200)
    row = chain.rows[chain.index(repr(value))]
    return {chain.labels[k]: Fraction(int(p.p), int(p.q)) for k, p in row}


def expected(function: Callable[..., Any], value: Any) -> dict[tuple[str, int], Fraction]:
    """Return the exhaustive distribution with results written as the machine writes them."""

    alike: dict[str, str] = {}

    def shown(x: Any, rng: Any) -> Any:
        result = function(x, rng)
        text = text_of(result)
        alike[text] = same_text(result)
        return _Shown(text)

    law = distribution(shown, lambda: value)
    labels = labels_of((text, alike.get(text, text)) for text, _ in law)
    found: dict[tuple[str, int], Fraction] = defaultdict(Fraction)
    for (text, draws), p in law.items():
        found[labels[text, alike.get(text, text)], draws] += p
    return dict(found)


def test_a_source_that_a_module_keeps_is_a_source() -> None:
    assert set(explored(more_samples.kept_source, 0).values()) == {Fraction(1, 6)}


class _Shown:
    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


@pytest.mark.parametrize("value", INPUTS)
@pytest.mark.parametrize("function", SAMPLES, ids=lambda f: f.__name__)
def test_results_have_the_probabilities_of_plain_python(function: Callable[..., Any], value: int) -> None:
    wanted: dict[str, Fraction] = defaultdict(Fraction)
    for (text, _), p in expected(function, value).items():
        wanted[text] += p
    assert explored(function, value) == dict(wanted)


@pytest.mark.parametrize("function", SAMPLES, ids=lambda f: f.__name__)
def test_numbers_of_draws_have_the_probabilities_of_plain_python(function: Callable[..., Any]) -> None:
    chain = explore(function, [1], observe="draws", replays=50)
    found: dict[tuple[str, int], Fraction] = defaultdict(Fraction)
    layer = {chain.index("1"): Fraction(1)}
    for draws in range(-1, 60):
        following: dict[int, Fraction] = defaultdict(Fraction)
        for state, p in layer.items():
            for target, share in chain.rows[state]:
                q = p * Fraction(int(share.p), int(share.q))
                if chain.labels[target] == "draw":
                    following[target] += q
                else:
                    found[chain.labels[target], draws + 1] += q
        layer = following
        if not layer:
            break
    assert dict(found) == expected(function, 1)


def test_the_reference_counts_paths() -> None:
    assert distribution(lambda x, rng: rng.randrange(3) + x, lambda: 1) == {
        (str(k), 1): Fraction(1, 3) for k in (1, 2, 3)
    }
    assert Branching([2])._randbelow(3) == 2
