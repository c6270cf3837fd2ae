"""Leakages where time is short or equations have no time: bounds are certified all the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.faces.shown.answer import Status
from bisimdist.models.library.registry import build_example
from bisimdist.models.lmc import LMC
from bisimdist.privacy.engine.closure import Closure
from bisimdist.privacy.engine.leakages import Leakages
from bisimdist.privacy.leakage.ask import leakage
from bisimdist.progress import Deadline
from tests.privacy.test_leakage import only


@pytest.mark.parametrize("measure", ["tv", "hellinger"])
def test_bounds_on_cycles_without_time_for_equations(monkeypatch: pytest.MonkeyPatch, measure: str) -> None:
    """Estimates that were mended are nearly as good as solutions, and are proved like them."""
    chain = build_example("random,states=8,labels=2,seed=1")
    pair = [("s0", "s2")]
    solved = only(chain, measure, pairs=pair, gap="1/100")

    def never(*_: object, **__: object) -> None:
        raise LimitError("no time")

    monkeypatch.setattr("bisimdist.privacy.engine.closure.solve_exact", never)
    mended = only(chain, measure, pairs=pair, gap="1/100")
    for one, other in ((solved.lower, mended.lower), (solved.upper, mended.upper)):
        assert one is not None
        assert other is not None
        assert abs(one - other) < fmpq(1, 10**6)


def test_weights_of_nodes_whose_factors_are_no_doubles() -> None:
    """Nodes are in lowest terms: what follows one of long numbers may be one of short ones."""
    chain = LMC.from_mappings(
        {"s0": "a", "s1": "a", "s2": "b", "t0": "a", "t1": "a", "t2": "b"},
        {
            "s0": {"s1": "1/2", "s2": "1/2"},
            "s1": {"s0": "1000000/2000001", "s1": "1/2000001", "s2": "1000000/2000001"},
            "s2": {"s1": 1},
            "t0": {"t1": "1/2", "t2": "1/2"},
            "t1": {"t0": "1/1000002", "t1": "500000/500001", "t2": "1/1000002"},
            "t2": {"t1": 1},
        },
        [("s0", "t0")],
    )
    found = only(chain, "kl", gap=0, deadline=Deadline.after(0.05))
    assert found.lower is not None
    assert found.lower > 10


def test_bounds_that_no_time_makes_narrow_end_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Doubles say that the gap is reached, and there is no time to solve the equations."""
    chain = build_example("random,states=8,labels=2,seed=1")
    closed: list[int] = []
    honest = Leakages.close

    def wide(self: Leakages, *arguments: Any, **options: Any) -> Closure:
        closed.append(self.refinement.expanded)
        found = honest(self, *arguments, **options)
        return replace(found, upper={number: value + 1 for number, value in found.upper.items()})

    monkeypatch.setattr(Leakages, "close", wide)
    answer = leakage(chain, "tv", pairs=[("s0", "s2")], gap="1/100", deadline=Deadline.after(0.3))
    assert answer.status is Status.LIMIT
    assert closed == sorted(set(closed))  # never twice for the same graph


def test_bounds_on_slow_cycles_without_time_for_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million rounds pass before the cycle is left: estimates are solutions in doubles."""
    slow = fmpq(10**6 - 1, 10**6)
    chain = LMC.from_mappings(
        {"s": "a", "t": "a", "u": "a", "v": "a", "x": "x", "y": "y"},
        {
            "s": {"u": slow, "x": 1 - slow},
            "u": {"s": slow, "x": (1 - slow) * 3 / 4, "y": (1 - slow) / 4},
            "t": {"v": slow, "x": (1 - slow) / 2, "y": (1 - slow) / 2},
            "v": {"t": slow, "y": 1 - slow},
            "x": {"x": 1},
            "y": {"y": 1},
        },
        [("s", "t")],
    )
    exact = {measure: only(chain, measure).upper for measure in ("tv", "bayes", "hellinger")}

    def never(*_: object, **__: object) -> None:
        raise LimitError("no time")

    monkeypatch.setattr("bisimdist.privacy.engine.closure.solve_exact", never)
    for measure, value in exact.items():
        found = leakage(chain, measure, gap="1/1000", deadline=Deadline.after(0.5)).pairs[0]
        assert value is not None
        assert found.lower is not None
        assert found.upper is not None
        assert found.lower <= value + fmpq(1, 10**30)
        assert value <= found.upper < found.lower + fmpq(1, 1000)
