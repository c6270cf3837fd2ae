"""Privacy claims as tests: what holds, what fails and how it is told, and what the plugin remembers."""

from __future__ import annotations

import random
from decimal import Context, Decimal

import pytest
from hypothesis import strategies

from bisimdist.errors import UsageError
from bisimdist.pytest_plugin import _digest
from bisimdist.testing import NotPrivate, assert_private

pytest_plugins = ("pytester",)


def respond(truth: int) -> int:
    return truth if random.random() < 0.75 else 1 - truth


def shift(value: int) -> int:
    return value + random.randrange(2)


def test_a_claim_holds_at_its_least_level_only() -> None:
    assert_private(respond, neighbours=[(0, 1)], alpha=3)
    assert_private(respond, neighbours=[(0, 1)], epsilon="1.0987")
    with pytest.raises(NotPrivate) as caught:
        assert_private(respond, neighbours=[(0, 1)], epsilon="1.0986")
    text = str(caught.value)
    assert "respond is not private for the inputs 0 and 1 at epsilon = 1.0986: delta is at least" in text
    assert "the least epsilon that holds with this delta is 1.0987" in text
    assert caught.value.mechanism == "respond"
    assert caught.value.answer.lower > 0


def test_a_claim_is_decided_however_little_is_missing() -> None:
    """Of the doubles next to e / (1 + e) the lower one is private at epsilon 1, and the upper one is not."""
    e = Decimal(1).exp(Context(prec=50))
    below = int(2**53 * e / (1 + e))
    held, broken = (below / 2**53, (below + 1) / 2**53)

    def holds(truth: int) -> int:
        return truth if random.random() < held else 1 - truth

    def breaks(truth: int) -> int:
        return truth if random.random() < broken else 1 - truth

    assert_private(holds, neighbours=[(0, 1)], epsilon=1)
    with pytest.raises(NotPrivate, match="breaks is not private for the inputs 0 and 1 at epsilon = 1"):
        assert_private(breaks, neighbours=[(0, 1)], epsilon=1)


def test_the_claimed_delta_counts() -> None:
    assert_private(respond, neighbours=[(0, 1)], alpha=2, delta="1/4")
    with pytest.raises(NotPrivate, match="delta is at least 1/4"):
        assert_private(respond, neighbours=[(0, 1)], alpha=2, delta="0.249")


def test_both_directions_of_a_pair_are_tested() -> None:
    def leaks_one(truth: int) -> int:
        return truth and random.randrange(2)

    for pair in ((0, 1), (1, 0)):
        with pytest.raises(NotPrivate, match="no epsilon would hold"):
            assert_private(leaks_one, neighbours=[pair], alpha=100)


def test_neighbours_that_a_strategy_draws() -> None:
    pairs = strategies.integers(0, 1).map(lambda value: (value, value + 1))
    assert_private(shift, neighbours=pairs, alpha=1, delta="1/2", examples=2)
    with pytest.raises(NotPrivate, match="delta is at least 1/2"):
        assert_private(shift, neighbours=pairs, alpha=1, delta="1/3", examples=1)


def test_what_makes_no_claim_is_refused() -> None:
    with pytest.raises(UsageError, match="one of epsilon and alpha"):
        assert_private(respond, neighbours=[(0, 1)])
    with pytest.raises(UsageError, match="one of epsilon and alpha"):
        assert_private(respond, neighbours=[(0, 1)], alpha=2, epsilon=1)
    with pytest.raises(UsageError, match="expected pairs of inputs"):
        assert_private(respond, neighbours=[], alpha=2)
    with pytest.raises(UsageError, match="expected pairs of inputs"):
        assert_private(respond, neighbours=(0, 1), alpha=2)


def test_only_the_same_claim_about_the_same_sources_is_remembered() -> None:
    same = {"neighbours": [(0, 1)], "alpha": 3}
    assert _digest(respond, same) == _digest(respond, dict(reversed(same.items())))
    others = [(shift, same), (respond, same | {"alpha": 2}), (respond, same | {"neighbours": [(1, 0)]})]
    assert len({_digest(*other) for other in [(respond, same), *others]}) == 4
    assert not _digest(respond, same | {"neighbours": strategies.none()})  # what it draws is not known
    assert not _digest(abs, same)  # it has no source


def test_the_fixture_and_the_marker(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        mechanism="def same(x, rng):\n    return rng.randrange(2)\n",
        test_claims="""
            import pytest
            from mechanism import same

            def test_quick(assert_private):
                assert_private(same, neighbours=[(0, 1)], alpha=1)

            @pytest.mark.slow_privacy
            def test_slow(assert_private):
                assert_private(same, neighbours=[(0, 2)], alpha=1)
        """,
    )
    said = ("-p", "no:xdist", "-p", "no:randomly", "-p", "no:faulthandler")  # its signals stay as they are
    pytester.runpytest_inprocess(*said).assert_outcomes(passed=1, skipped=1)
    pytester.runpytest_inprocess(*said, "--slow-privacy").assert_outcomes(passed=2)
    kept = [path for path in pytester.path.glob(".pytest_cache/v/bisimdist/*") if path.read_text() == "true"]
    assert len(kept) == 2
