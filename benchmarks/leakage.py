"""What each measure of leakage costs against delta on one model, and the interval against time on chains.

Run ``python benchmarks/leakage.py`` for rings up to 50 and ten seconds a chain; ``--full`` goes on to rings
of 100 and sixty seconds.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import TypeVar

from bisimdist.analysis.delta import delta
from bisimdist.analysis.leakage import leakage
from bisimdist.checker import check_certificate
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.leaky_retry import leaky_retry
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from bisimdist.progress import Deadline

MEASURES = ("tv", "chi2", "renyi:8", "kl", "hellinger", "bayes")
ALPHA = "1.0002"
REPEATED = 20
"""Up to this size the least of several times counts."""

CHECKED = 50
"""Up to this size certificates are written and checked."""

Answer = TypeVar("Answer")


def timed(ask: Callable[[], Answer], times: int) -> tuple[float, Answer]:
    """Return the least CPU seconds of several, and the answer."""
    best, answer = float("inf"), None
    for _ in range(times):
        start = time.process_time()
        answer = ask()
        best = min(best, time.process_time() - start)
    assert answer is not None
    return best, answer


def costs(sizes: tuple[int, ...]) -> None:
    """Print seconds and nodes of every measure on rings, relative to delta."""
    print(f"rings, bias 49/100: CPU seconds (nodes) of delta at alpha = {ALPHA}, then the same of others")
    for n in sizes:
        chain = dining_cryptographers(n, "49/100")
        times = 5 if n <= REPEATED else 1
        base, answer = timed(lambda: delta(chain, ALPHA), times)  # noqa: B023  (called here)
        print(f"n = {n}: delta {base:.3f} ({answer.statistics['nodes']})", flush=True)
        for measure in MEASURES:
            seconds, found = timed(lambda: leakage(chain, measure), times)  # noqa: B023  (called here)
            nodes = found.statistics["nodes"]
            line = f"  {measure:<10} {seconds:7.3f} {seconds / base:6.2f} times {nodes:8d} nodes"
            if n <= CHECKED:
                text = json.dumps(found.certificate())
                checking, report = timed(lambda: check_certificate(text), 1)  # noqa: B023  (called here)
                line += f", checked in {checking:.2f}{'' if report.valid else ' NOT VALID'}"
            print(line, flush=True)


def cyclic(times: tuple[float, ...]) -> None:
    """Print how wide the interval is after so many seconds."""
    chains: list[tuple[str, LMC]] = [("leaky-retry", leaky_retry())]
    for n, successors, labels, seed in (
        (8, 3, 2, 1),
        (12, 3, 2, 0),
        (30, 3, 3, 0),
        (6, 6, 2, 0),
        (10, 10, 2, 0),
    ):
        name = f"random {n}, {successors} each, {labels} labels, seed {seed}"
        chains.append((name, random_lmc(n, successors, labels, seed)))
    print("\ncyclic chains: measure, lower bound, then upper - lower after so many seconds:", *times)
    for name, chain in chains:
        for measure in ("tv", "hellinger", "kl", "chi2"):
            cells = []
            for seconds in times:
                found = leakage(chain, measure, gap="1e-12", deadline=Deadline.after(seconds)).pairs[0]
                if found.lower is None:
                    cells.append("infinite")
                elif found.upper is None:
                    cells.append(f"[{float(int(found.lower.p) / int(found.lower.q)):.4g}, inf]")
                else:
                    width = found.upper - found.lower
                    cells.append(f"{int(width.p) / int(width.q):.1e}")
            print(f"{name:<40} {measure:<10}", *cells, flush=True)


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    full = parser.parse_args().full
    costs((10, 20, 50, 100) if full else (10, 20, 50))
    cyclic((1.0, 10.0, 60.0) if full else (1.0, 10.0))


if __name__ == "__main__":
    main()
