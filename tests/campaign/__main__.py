"""Run a campaign: ``python -m tests.campaign --seed 1 --count 100000 --state campaign.json``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from bisimdist.cluster import checked_cluster
from bisimdist.parallel import Pool
from tests.campaign.campaign import Orders, Record, examine_several
from tests.campaign.draw import KINDS

SAVE_SECONDS = 30.0

MODELS = 10
"""So many models are a job where jobs are shared."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000, help="how many models")
    parser.add_argument("--from", type=int, default=None, dest="first", help="the number of the first model")
    parser.add_argument("--state", type=Path, help="a file to go on from, and to keep the record in")
    parser.add_argument("--findings", type=Path, default=Path("campaign-findings"), help="a folder")
    parser.add_argument("--only", action="append", default=[], help="ask this question of every model")
    parser.add_argument(
        "--kind", action="append", choices=[*dict.fromkeys(KINDS)], help="draw models of this kind"
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many processes share the models")
    parser.add_argument(
        "--cluster", type=checked_cluster, help="which Dask workers do: local:N, tcp://HOST:PORT"
    )
    options = parser.parse_args()
    resumed = options.state is not None and options.state.exists()
    record = Record.load(options.state) if resumed else Record(options.seed)
    first = record.following if options.first is None else options.first
    numbers = range(first, first + options.count)
    size = 1 if options.jobs == 1 and options.cluster is None else MODELS
    parts = [numbers[k : k + size] for k in range(0, len(numbers), size)]
    orders = Orders(record.seed, options.findings.absolute(), options.kind or KINDS, options.only)
    saved = time.monotonic()
    try:
        with Pool(examine_several, orders, jobs=options.jobs, cluster=options.cluster) as pool:
            for part in pool.map(parts):
                record.add(part)
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
