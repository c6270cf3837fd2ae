"""Run a campaign: ``python -m tests.campaign --seed 1 --count 100000 --state campaign.json``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.campaign.campaign import Record, examine
from tests.campaign.draw import KINDS

SAVE_SECONDS = 30.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000, help="how many models")
    parser.add_argument("--from", type=int, default=None, dest="first", help="the number of the first model")
    parser.add_argument("--state", type=Path, help="a file to go on from, and to keep the record in")
    parser.add_argument("--findings", type=Path, default=Path("campaign-findings"), help="a folder")
    parser.add_argument("--only", action="append", default=[], help="ask this question of every model")
    parser.add_argument("--kind", action="append", choices=KINDS, help="draw models of this kind")
    options = parser.parse_args()
    resumed = options.state is not None and options.state.exists()
    record = Record.load(options.state) if resumed else Record(options.seed)
    first = record.following if options.first is None else options.first
    saved = time.monotonic()
    try:
        for number in range(first, first + options.count):
            examine(record, number, options.findings, kinds=options.kind or KINDS, only=options.only)
            record.following = number + 1
            if options.state is not None and time.monotonic() - saved > SAVE_SECONDS:
                record.save(options.state)
                saved = time.monotonic()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
    if options.state is not None:
        record.save(options.state)
    sys.stdout.write(record.table() + "\n")
    return 1 if record.findings else 0


if __name__ == "__main__":
    sys.exit(main())
