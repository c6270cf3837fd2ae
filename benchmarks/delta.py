"""How far the two-sided delta gets: rings of cryptographers, and the interval against time on cyclic chains.

Run ``python benchmarks/delta.py`` for rings up to 50 and ten seconds a chain; ``--full`` goes on to rings of
100 and to sixty seconds. bd is the distance of ``bisimdist bound``, with the seconds that it takes.
"""

from __future__ import annotations

import argparse
import json
import time

from bisimdist.analysis.delta import delta
from bisimdist.analysis.distances import bound
from bisimdist.checker import check_certificate
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.leaky_retry import leaky_retry
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from bisimdist.progress import Deadline

ALPHA = "1.0002"
BOUND_LIMIT = 30.0


def timed_bound(chain: LMC, alpha: str) -> tuple[float, float]:
    """Return plain bd and the seconds that it took."""
    start = time.perf_counter()
    upper = bound(chain, alpha, precision="1e-6", deadline=Deadline.after(BOUND_LIMIT)).pairs[0].upper
    return float(int(upper.p) / int(upper.q)), time.perf_counter() - start


def rings(sizes: tuple[int, ...]) -> None:
    """Print how merging carries rings."""
    print(f"rings, bias 49/100, alpha {ALPHA}: exact delta")
    heads = ("n", "states", "nodes", "delta", "exact", "seconds", "check", "bd")
    widths = (4, 7, 8, 14, 6, 8, 7, 10)
    print(" ".join(head.rjust(width) for head, width in zip(heads, widths, strict=True)))
    for n in sizes:
        chain = dining_cryptographers(n, "49/100")
        start = time.perf_counter()
        answer = delta(chain, ALPHA)
        seconds = time.perf_counter() - start
        text = json.dumps(answer.certificate())
        start = time.perf_counter()
        valid = check_certificate(text).valid
        checking = time.perf_counter() - start
        plain = f"{timed_bound(chain, ALPHA)[0]:.6f}" if n <= 10 else "-"
        value = int(answer.upper.p) / int(answer.upper.q)
        cells = (
            str(n),
            str(len(chain)),
            str(answer.statistics["nodes"]),
            f"{value:.10f}",
            "yes" if answer.pairs[0].exact and valid else "NO",
            f"{seconds:.2f}",
            f"{checking:.2f}",
            plain,
        )
        line = " ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        print(line, flush=True)


def cyclic(times: tuple[float, ...]) -> None:
    """Print the interval against time."""
    chains = [
        ("leaky-retry", leaky_retry(), "1.01"),
        *(
            (f"random {n}, {labels} labels, seed {seed}", random_lmc(n, 3, labels, seed), "1.1")
            for n, labels, seed in ((8, 2, 1), (12, 2, 0), (30, 3, 0), (60, 4, 0))
        ),
    ]
    print("\ncyclic chains: upper - lower after so many seconds, with and without distances at the leaves")
    head = "".join(f" {seconds:>9.0f} s" for seconds in times)
    print(f"{'chain':<30} {'lower':>9} {'upper':>9} {'bd':>9} {'bd s':>6}   with{head}   without{head}")
    for name, chain, alpha in chains:
        plain, cost = timed_bound(chain, alpha)
        gaps = []
        for distances in (True, False):
            for seconds in times:
                answer = delta(
                    chain,
                    alpha,
                    gap=0,
                    deadline=Deadline.after(seconds),
                    distances=distances,
                    memory=4 * 2**30,
                )
                gap = answer.upper - answer.lower
                gaps.append(int(gap.p) / int(gap.q))
        shown = "".join(f" {gap:>11.2e}" for gap in gaps)
        print(
            f"{name:<30} {int(answer.lower.p) / int(answer.lower.q):>9.6f}"
            f" {int(answer.upper.p) / int(answer.upper.q):>9.6f} {plain:>9.6f} {cost:>6.2f}   {shown}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    full = parser.parse_args().full
    rings((2, 3, 4, 6, 8, 10, 20, 30, 50, *((100,) if full else ())))
    cyclic((1.0, 10.0, 60.0) if full else (1.0, 10.0))


if __name__ == "__main__":
    main()
