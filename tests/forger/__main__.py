"""Attack the checker: ``python -m tests.forger --seed 1 --count 1000 --chances 100``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.forger.raid import Raid, raid
from tests.forger.templates import KINDS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.forger", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100, help="how many models")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the number of the first model")
    parser.add_argument("--chances", type=int, default=20, help="changes by chance for each certificate")
    parser.add_argument("--seconds", type=float, default=60.0, help="of computing, for each search by Z3")
    parser.add_argument("--no-solver", action="store_true", help="changes by chance only")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only these kinds")
    parser.add_argument(
        "--forgeries", type=Path, default=Path("forgeries"), help="a folder for what is found"
    )
    parser.add_argument("--state", type=Path, help="a file to go on from, and to keep the counts in")
    options = parser.parse_args()
    done = Raid.load(options.state) if options.state and options.state.exists() else Raid(options.seed)
    first = max(options.first, done.following)
    try:
        for number in range(first, first + options.count):
            raid(
                done,
                number,
                kinds=tuple(options.kind or KINDS),
                chances=options.chances,
                solver=not options.no_solver,
                seconds=options.seconds,
                folder=options.forgeries,
            )
            if options.state:
                done.save(options.state)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
    sys.stdout.write(done.table() + "\n")
    return 1 if done.forged or done.crashes else 0


if __name__ == "__main__":
    sys.exit(main())
