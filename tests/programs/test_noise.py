"""Noise without bounds, exact where it is compared and added to, held against its first values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist import delta, explore
from bisimdist.errors import ModelError
from bisimdist.privacy.audit.ask import audit, distinguisher
from bisimdist.programs.front import compiled, inputs_and_pairs
from bisimdist.programs.laws import Law, geometric_law, order, same
from bisimdist.programs.outcomes import is_of_class
from bisimdist.programs.ratios import output_ratio
from bisimdist.programs.request import Request
from bisimdist.programs.source import ExactRandom

FAR = 14
"""Values up to this are looked at one by one."""


def weight(law: Law, k: int) -> fmpq:
    return sum((w * r**k for r, w in law.terms), fmpq(0))


@st.composite
def laws(draw: st.DrawFn, *, upward: bool) -> Law:
    """Laws as comparisons make them."""
    ratios = st.builds(fmpq, st.integers(1, 4), st.integers(5, 9))
    law = geometric_law(draw(ratios), upward=upward)
    for _ in range(draw(st.integers(0, 2))):
        other = geometric_law(draw(ratios), upward=upward)
        case, side = draw(st.integers(0, 1)), draw(st.integers(0, 1))
        law = order(law, other)[case][side][1]
    return law


@st.composite
def two_laws(draw: st.DrawFn) -> tuple[Law, Law]:
    upward = draw(st.booleans())
    return draw(laws(upward=upward)), draw(laws(upward=upward))


@given(two_laws())
def test_laws_are_laws(both: tuple[Law, Law]) -> None:
    for law in both:
        assert law.part(0, inf) == (1, law)
        assert all(weight(law, k) >= 0 for k in range(FAR))
        chance, rest = law.part(3, inf)
        middle, inside = law.part(3, 4)
        assert middle == sum((weight(law, k) for k in range(3, 7)), fmpq(0))
        for k in range(4):
            assert weight(rest, k) * chance == weight(law, k + 3)
            assert weight(inside, k) * middle == weight(law, k + 3)


@given(two_laws())
def test_comparisons_are_those_of_all_values(both: tuple[Law, Law]) -> None:
    one, other = both
    tested: list[tuple[Any, Callable[[int, int], bool]]] = [
        (order, (lambda j, k: j < k) if one.upward else (lambda j, k: j > k)),
        (same, lambda j, k: j == k),
    ]
    for function, holds in tested:
        yes, no = function(one, other)
        assert yes[0][0] == yes[1][0]
        assert yes[0][0] + no[0][0] == 1
        for case, wanted in ((yes, True), (no, False)):
            for side, (mine, yours) in enumerate(((one, other), (other, one))):
                chance, law = case[side]
                for k in range(5):
                    near = sum(
                        (weight(yours, j) for j in range(FAR) if holds(*((k, j), (j, k))[side]) is wanted),
                        fmpq(0),
                    )
                    left = yours.part(FAR, inf)[0]
                    exact = weight(law, k) * chance
                    assert weight(mine, k) * near <= exact <= weight(mine, k) * (near + left)


class Scripted(ExactRandom):
    """Answers noise from a list, and remembers how likely that is."""

    def __init__(self, values: tuple[int, ...]) -> None:
        self.left = list(values)
        self.chance = Fraction(1)

    def two_sided_geometric(self, a: Any, most: int | None = None) -> int:
        a, value = Fraction(a), self.left.pop()
        self.chance *= (1 - a) / (1 + a) * a ** abs(value)
        return value

    def geometric(self, a: Any) -> int:
        a, value = Fraction(a), abs(self.left.pop())
        self.chance *= (1 - a) * a**value / (2 if value else 1)  # both signs are looked at
        return value


def outputs(function: Callable[..., Any], value: Any, draws: int, most: int) -> dict[str, Fraction]:
    """Return how likely each output is at least."""
    found: dict[str, Fraction] = defaultdict(Fraction)
    for values in product(range(-most, most + 1), repeat=draws):
        source = Scripted(values)
        text = repr(function(value, source))
        if not any(source.left):  # what is not drawn is looked at once
            found[text] += source.chance
    return found


def added(x: int, rng: Any) -> Any:
    return x + rng.two_sided_geometric("1/3")


def one_sided(x: int, rng: Any) -> Any:
    z = 3 + rng.geometric(Fraction(1, 3)) - x
    return z == 4, z


def clipped(x: int, rng: Any) -> Any:
    return min(max(x + rng.two_sided_geometric("1/3"), -1), 2) ** 2


def looked_at(x: int, rng: Any) -> Any:
    z = rng.two_sided_geometric("1/3")
    y = z + x
    rng.randrange(1)
    if y > 1 and not z:
        return "never"
    if z is None or not isinstance(z, int):
        return "no number"
    return "high" if y >= 2 else f"{'-' if y < 0 else '+'}{y % 2 if y >= -3 else ''}"


def largest(x: int, rng: Any) -> Any:
    best, winner = x + rng.two_sided_geometric("1/3"), 0
    for place in (1, 2):
        value = rng.two_sided_geometric("1/4") + place
        if value > best:
            best, winner = value, place
    return winner


def listed(x: int, rng: Any) -> Any:
    noisy = [count + rng.two_sided_geometric("1/3") for count in (x, 1, 0)]
    return max(range(3), key=lambda place: noisy[place])


def above(x: int, rng: Any) -> Any:
    level = rng.two_sided_geometric("1/3")
    for place, answer in enumerate((x, -x)):
        if level <= answer + rng.two_sided_geometric("1/4"):
            return place
    return None


def mixed(x: int, rng: Any) -> Any:
    one, other = rng.geometric("1/3"), rng.two_sided_geometric("1/4")
    if one == other + x:
        return "same"
    if rng.randrange(20) < one:
        return "less"
    return "more" if one > 2 else "few"


def several(x: int, rng: Any) -> Any:
    z = rng.two_sided_geometric("1/3") + x
    return z + 1, [rng.geometric("1/4"), z]


PROGRAMS: list[tuple[Callable[..., Any], int, int]] = [
    (added, 1, 30),
    (one_sided, 1, 30),
    (clipped, 1, 30),
    (looked_at, 1, 30),
    (largest, 3, 7),
    (listed, 3, 7),
    (above, 3, 7),
    (several, 2, 12),
]


@pytest.mark.parametrize(("function", "draws", "most"), PROGRAMS)
@pytest.mark.parametrize("x", [0, 1, 2])
def test_programs_do_what_their_first_values_say(
    function: Callable[..., Any], draws: int, most: int, x: int
) -> None:
    chain = explore(function, [x, x + 1], replays=100)
    row: dict[str, fmpq] = defaultdict(fmpq)
    for state, p in chain.rows[chain.index(str(x))]:
        row[chain.labels[state]] += p
    assert sum(row.values()) == 1
    found = outputs(function, x, draws, most)
    left = 1 - sum(found.values())
    assert left < Fraction(1, 400)
    for label, p in row.items():
        known = sum(q for text, q in found.items() if text == label or is_of_class(text, label))
        assert known <= exactly(p) <= known + left, label
    assert all(any(text == label or is_of_class(text, label) for label in row) for text in found)


def test_uniform_draws_and_noise_are_compared() -> None:
    chain = explore(mixed, [0, 1], replays=100)
    assert sum(p for _, p in chain.rows[0]) == 1


def exactly(number: fmpq) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def pair_of(function: Callable[..., Any], first: Any, second: Any) -> Any:
    return explore(function, {"a": first, "b": second}, replays=50)


@pytest.mark.parametrize("alpha", ["1", "3/2", "5/2", "3"])
def test_geometric_noise_has_its_delta(alpha: str) -> None:
    skew = Fraction(alpha)
    wanted = max(Fraction(0), (1 - skew / 3) / (1 + Fraction(1, 3)))
    found = delta(pair_of(added, 0, 1), alpha).pairs[0]
    assert exactly(found.lower) == exactly(found.upper) == wanted


def test_a_histogram_with_noise_tells_as_much_as_its_counts() -> None:
    def histogram(counts: tuple[int, ...], rng: Any) -> Any:
        return [count + rng.two_sided_geometric("1/3") for count in counts]

    chain = pair_of(histogram, (0, 5), (1, 4))
    found = output_ratio(chain, "a", "b")
    assert found is not None
    assert found.ratio == 9


def test_values_that_are_not_in_proportion_are_cut() -> None:
    def shows(x: int, rng: Any) -> Any:
        level, noisy = rng.two_sided_geometric("1/3"), x + rng.two_sided_geometric("1/3")
        return noisy if noisy >= level else None

    with pytest.raises(ModelError, match="in proportion"):
        pair_of(shows, 0, 1)
    chain = explore(shows, [0, 1], cut="1e-9")
    wanted = [outputs(shows, x, 2, 20) for x in (0, 1)]
    exact = sum(max(Fraction(0), wanted[1][y] - wanted[0][y]) for y in set(wanted[0]) | set(wanted[1]))
    found = delta(chain, 1).pairs[0]
    assert exactly(found.lower) < exact + Fraction(1, 10**7)
    assert exact - Fraction(1, 10**7) < exactly(found.upper)
    assert found.upper < found.lower + fmpq(1, 10**7)


def overlapping(x: int, rng: Any) -> Any:
    z = rng.geometric("1/3")
    return (z, z + x) if rng.randrange(2) else (rng.geometric("1/3"), z)


def test_classes_that_overlap_are_refused() -> None:
    with pytest.raises(ModelError, match="in proportion"):
        explore(overlapping, [0, 1], replays=10)
    chain = explore(overlapping, [0, 1], cut="1e-4")
    exact: list[dict[tuple[int, int], Fraction]] = [defaultdict(Fraction) for _ in range(2)]
    for x, row in enumerate(exact):
        for j in range(12):
            first = Fraction(2, 3 ** (j + 1))
            row[j, j + x] += first / 2
            for k in range(12):
                row[j, k] += first * Fraction(1, 3 ** (k + 1))
    wanted = sum(max(Fraction(0), exact[0][y] - exact[1][y]) for y in exact[0])
    found = delta(chain, 1).pairs[0]
    assert exactly(found.lower) < wanted + Fraction(1, 1000)
    assert wanted - Fraction(1, 1000) < exactly(found.upper)


def twice(x: int, rng: Any) -> Any:
    return rng.two_sided_geometric("1/3") + rng.two_sided_geometric("1/3") > x


def both_kept(x: int, rng: Any) -> Any:
    one, other = rng.two_sided_geometric("1/3"), rng.two_sided_geometric("1/3")
    first = one < other
    coin = rng.randrange(2)
    return (one > x) + (other > x) + coin + first


def compared_twice(x: int, rng: Any) -> Any:
    one, other = rng.two_sided_geometric("1/3"), rng.two_sided_geometric("1/3")
    return (one < other) + (one < other + x)


def spoilt(x: int, rng: Any) -> Any:
    one, other = rng.two_sided_geometric("1/3"), rng.two_sided_geometric("1/3")
    return (one < other) + (one < x) + (other < x)


def parity(x: int, rng: Any) -> Any:
    return (x + rng.two_sided_geometric("1/3")) % 2


def far(x: int, rng: Any) -> Any:
    return rng.geometric("1/3") > 10**6 + x


def no_ratio(x: int, rng: Any) -> Any:
    return rng.geometric(1) + x


def announced(x: int, rng: Any) -> Any:
    rng_noise = rng.geometric("1/3")
    observe(rng_noise + x)  # type: ignore[name-defined]  # noqa: F821
    return 1


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (twice, "only for comparisons and for sums"),
        (parity, "clip it first"),
        (both_kept, "two noisy values are kept"),
        (compared_twice, "the same noise twice"),
        (spoilt, "was used again since"),
        (far, "far from each other"),
    ],
)
def test_what_noise_is_not_for_is_refused_with_its_line(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(ModelError, match=said) as caught:
        compiled(function, *inputs_and_pairs([0, 1]), Request("output", replays=10))
    begin = function.__code__.co_firstlineno
    assert caught.value.line is not None
    assert begin < caught.value.line < begin + 6


def test_announced_noise_and_its_bits_are_refused() -> None:
    with pytest.raises(ModelError, match="comparisons and for sums"):
        compiled(announced, *inputs_and_pairs([0, 1]), Request("trace", replays=10))
    with pytest.raises(ModelError, match="bits"):
        explore(added, [0, 1], observe="bits", replays=10)


def test_a_ratio_of_one_is_an_error_of_the_program() -> None:
    chain = explore(no_ratio, [0, 1], replays=10)
    assert "raise ValueError" in chain.labels


def test_samples_are_read_as_their_classes() -> None:
    chain = pair_of(added, 0, 1)
    source = ExactRandom()
    samples = [[str(added(x, source)) for _ in range(400)] for x in (0, 1)]
    seen = audit(distinguisher(chain, "3/2"), *samples, confidence="0.999999")
    assert not seen.violated
    assert not seen.model_contradicted
    wrong = audit(distinguisher(chain, "3/2"), ["-9"] * 100, ["7"] * 100)
    assert wrong.violated
    assert wrong.model_contradicted


@pytest.mark.parametrize(
    ("output", "label", "inside"),
    [
        ("5", "3 or more", True),
        ("2", "3 or more", False),
        ("-5", "-3 or less", True),
        ("(0, 7)", "(0, 3 or more)", True),
        ("(1, 7)", "(0, 3 or more)", False),
        ("[-4, 9]", "[-3 or less, 9 or more]", True),
        ("3", "3", False),
        ("x", "3 or more", False),
    ],
)
def test_classes_have_members(output: str, label: str, inside: bool) -> None:
    assert is_of_class(output, label) is inside
