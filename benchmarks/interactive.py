"""How far the best analyst is found: above threshold under adaptive neighbouring queries, round by round.

Run ``python benchmarks/interactive.py``; ``--seconds`` is the time for the largest number of rounds. Beside
the nodes of the graph stands how many there would be if information states in proportion were not merged.
"""

from __future__ import annotations

import argparse
import time

from bisimdist.analysis.answer import Status
from bisimdist.analysis.delta import delta
from bisimdist.models.library.interactive import adaptive_above_threshold
from bisimdist.progress import Deadline

ALPHAS = ("1", "3/2", "2", "4", "8")
ROUNDS = (2, 4, 6, 8, 10, 12, 16, 20, 24, 32)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    model = adaptive_above_threshold()
    queries = len(model.actions)
    start = time.process_time()
    for alpha in ALPHAS:
        delta(model, alpha, rounds=6)
    print(
        f"6 rounds of {queries} pairs of queries, {len(ALPHAS)} alphas: {time.process_time() - start:.2f} s"
    )
    print("rounds     nodes  unmerged        delta  seconds")
    for rounds in ROUNDS:
        start = time.process_time()
        answer = delta(model, 2, rounds=rounds, deadline=Deadline.after(seconds))
        spent = time.process_time() - start
        tree = 2 * (1 + 2 * sum(queries**k for k in range(1, rounds + 1)))  # of both directions
        shown = f"{float(int(answer.upper.p) / int(answer.upper.q)):.8f}"
        print(f"{rounds:6} {answer.statistics['nodes']:9} {tree:9.2g} {shown:>12} {spent:8.2f}")
        if answer.status is Status.LIMIT:
            break


if __name__ == "__main__":
    main()
