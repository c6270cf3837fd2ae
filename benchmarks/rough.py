"""What not knowing costs: intervals, parameters and bent coins beside the exact model.

Run ``python -m benchmarks.rough``. CPU seconds, the best of some runs.
"""

from __future__ import annotations

from collections.abc import Callable

from flint import fmpq

from benchmarks.timing import spent_by
from bisimdist import IntervalChain, ParametricChain, bound, build_any_example, delta, delta_over, minimise
from bisimdist.models.lmc import LMC

TIMES = 3


def around(chain: LMC, width: fmpq) -> IntervalChain:
    """Return a chain whose probabilities, but 0 and 1, are known up to a width on either side."""
    rows = tuple(
        tuple(
            (t, max(fmpq(0), p - width), min(fmpq(1), p + width)) if 0 < p < 1 else (t, p, p) for t, p in row
        )
        for row in chain.rows
    )
    return IntervalChain(chain.states, chain.labels, rows, chain.pairs)


def least(work: Callable[[], object]) -> float:
    """Return the least CPU time of some runs."""
    return min(spent_by(work).cpu for _ in range(TIMES))


def main() -> None:
    """Print the tables."""
    print("model                                alpha  question          exact  intervals +-1/100  (x)")
    for name, alpha in (
        ("crowd,members=4", "3/2"),
        ("dining-cryptographers,n=2", "11/10"),
        ("dining-cryptographers,n=3", "11/10"),
        ("figure1", "11/10"),
    ):
        chain = build_any_example(name)
        assert isinstance(chain, LMC)
        rough = around(chain, fmpq(1, 100))
        for what, ask in (("delta", delta), ("bound", bound)):
            known = least(lambda ask=ask, chain=chain, alpha=alpha: ask(chain, alpha))
            wide = least(lambda ask=ask, rough=rough, alpha=alpha: ask(rough, alpha))
            print(
                f"{name:36} {alpha:>5}  {what:14} {known:8.3f} {wide:18.3f}  {wide / known:.1f}", flush=True
            )
    print("\nmodel with a parameter               alpha  at p = 1/3  as a function  (x)")
    for name, alpha in (
        ("crowd,members=5,forward=p", "2"),
        ("retransmission,chunks=4,reliability=p", "1"),
        ("dining-cryptographers,n=4,bias=p", "11/10"),
        ("dining-cryptographers,n=6,bias=p", "11/10"),
    ):
        model = build_any_example(name)
        assert isinstance(model, ParametricChain)
        chain = model.at({"p": "1/3"})
        known = least(lambda chain=chain, alpha=alpha: delta(chain, alpha))
        whole = least(lambda model=model, alpha=alpha: delta_over(model, alpha))
        print(f"{name:36} {alpha:>5}  {known:10.3f} {whole:14.3f}  {whole / known:.1f}", flush=True)
    chain = build_any_example("random,states=30,seed=1")
    assert isinstance(chain, LMC)
    pairs = [("s0", "s1")]
    small = least(lambda: minimise(chain, "1/5", pairs=pairs))
    print(f"\nminimise --loss 1/5 of 30 random states: {small:.2f} s")


if __name__ == "__main__":
    main()
