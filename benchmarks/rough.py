"""What not knowing costs: intervals, parameters and bent coins beside the exact model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from flint import fmpq

from benchmarks.tables import Size, Table, fine_seconds, ratio
from benchmarks.timing import spent_by
from bisimdist import IntervalChain, ParametricChain, bound, build_any_example, delta, minimise
from bisimdist.models.lmc import LMC
from bisimdist.privacy import delta_over

__all__ = ["rough_tables"]

KNOWN = (
    ("figure1", "11/10"),
    ("crowd,members=4", "3/2"),
    ("dining-cryptographers,n=2", "11/10"),
    ("dining-cryptographers,n=3", "11/10"),
)
PARAMETRIC = (
    ("crowd,members=5,forward=p", "2"),
    ("retransmission,chunks=4,reliability=p", "1"),
    ("dining-cryptographers,n=4,bias=p", "11/10"),
    ("dining-cryptographers,n=6,bias=p", "11/10"),
)


def _around(chain: LMC, width: fmpq) -> IntervalChain:
    """Return a chain whose probabilities, but 0 and 1, are known up to a width on either side."""
    rows = tuple(
        tuple(
            (t, max(fmpq(0), p - width), min(fmpq(1), p + width)) if 0 < p < 1 else (t, p, p) for t, p in row
        )
        for row in chain.rows
    )
    return IntervalChain(chain.states, chain.labels, rows, chain.pairs)


def rough_tables(size: Size) -> Iterator[Table]:
    """Intervals, parameters and merging beside the exact model."""

    def least(work: Callable[[], object]) -> float:
        return min(spent_by(work).cpu for _ in range(size.pick(1, 3, 3)))

    table = Table(
        "Intervals beside exact probabilities: CPU seconds",
        ("model", "alpha", "question", "exact", "intervals of +-1/100", "intervals / exact"),
        ("The least of some runs, here and below.",),
    )
    for name, alpha in KNOWN[: size.pick(2, 4, 4)]:
        chain = build_any_example(name)
        assert isinstance(chain, LMC)
        rough = _around(chain, fmpq(1, 100))
        for what, ask in (("delta", delta), ("bound", bound)):
            known = least(partial(ask, chain, alpha))
            wide = least(partial(ask, rough, alpha))
            table.add(name, alpha, what, fine_seconds(known), fine_seconds(wide), ratio(wide, known))
    yield table
    table = Table(
        "Delta as a function of a parameter beside one value: CPU seconds",
        ("model", "alpha", "at p = 1/3", "as a function", "function / value"),
    )
    for name, alpha in PARAMETRIC[: size.pick(2, 4, 4)]:
        model = build_any_example(name)
        assert isinstance(model, ParametricChain)
        chain = model.at({"p": "1/3"})
        known = least(partial(delta, chain, alpha))
        whole = least(partial(delta_over, model, alpha))
        table.add(name, alpha, fine_seconds(known), fine_seconds(whole), ratio(whole, known))
    yield table
    states = size.pick(10, 30, 30)
    chain = build_any_example(f"random,states={states},seed=1")
    assert isinstance(chain, LMC)
    table = Table("`minimise` with a loss of 1/5: CPU seconds", ("states", "s"))
    table.add(str(states), fine_seconds(least(partial(minimise, chain, "1/5", pairs=[("s0", "s1")]))))
    yield table
