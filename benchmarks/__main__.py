"""``python -m benchmarks``: print tables of measurements, or compare this tree with another revision."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path

from benchmarks.brackets import bracket_tables
from benchmarks.compare import RUNS, comparison
from benchmarks.composition import composition_tables
from benchmarks.delta import delta_tables
from benchmarks.formulae import crosscheck_tables, formula_tables
from benchmarks.generalised import generalised_tables
from benchmarks.growth import growth_tables
from benchmarks.hmm import hmm_tables
from benchmarks.hmm_proofs import hmm_proof_tables
from benchmarks.interactive import interactive_tables
from benchmarks.leakage import leakage_tables
from benchmarks.lifting import lifting_tables
from benchmarks.linear_systems import linear_system_tables
from benchmarks.lp import lp_tables
from benchmarks.machine import described_machine
from benchmarks.metric import metric_tables
from benchmarks.pages import page_tables
from benchmarks.peers import peer_tables
from benchmarks.prism import prism_tables
from benchmarks.problems import classical_tables, memory_tables, problem_tables
from benchmarks.programs import program_tables
from benchmarks.replay import replay_tables
from benchmarks.rough import rough_tables
from benchmarks.tables import Size, Table, replace_section, spent_text
from benchmarks.timing import Clock
from benchmarks.traces import equivalence_tables, trace_metric_tables
from benchmarks.wasm import compiled_tables
from benchmarks.workers import worker_tables

__all__ = ["TABLES", "main"]


TABLES: dict[str, Callable[[Size], Iterable[Table]]] = {
    "lp": lp_tables,
    "problems": problem_tables,
    "classical": classical_tables,
    "brackets": bracket_tables,
    "memory": memory_tables,
    "growth": growth_tables,
    "workers": worker_tables,
    "peers": peer_tables,
    "prism": prism_tables,
    "linear-systems": linear_system_tables,
    "delta": delta_tables,
    "composition": composition_tables,
    "leakage": leakage_tables,
    "interactive": interactive_tables,
    "rough": rough_tables,
    "programs": program_tables,
    "replay": replay_tables,
    "wasm": compiled_tables,
    "metric": metric_tables,
    "hmm": hmm_tables,
    "hmm-proofs": hmm_proof_tables,
    "lifting": lifting_tables,
    "generalised": generalised_tables,
    "equivalence": equivalence_tables,
    "trace-metric": trace_metric_tables,
    "formulae": formula_tables,
    "crosscheck": crosscheck_tables,
    "pages": page_tables,
}
"""What can be asked for; the first line of each docstring says what it measures."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the tables that are asked for."""
    options = _options(arguments)
    if options.list:
        for name, make in TABLES.items():
            print(f"{name:15} {(make.__doc__ or '').splitlines()[0]}")
        return 0
    where = described_machine()
    print(f"{where}\n", flush=True)
    for table in _measured(options):
        print(table.markdown(), flush=True)
        if options.output is not None:
            table.remarks = (*table.remarks, f"Measured on {date.today().isoformat()}: {where}")
            replace_section(options.output, table.markdown())
    return 0


def _measured(options: argparse.Namespace) -> Iterable[Table]:
    if options.compare is not None:
        yield comparison(options.compare, options.runs, options.tables)
        return
    for name in dict.fromkeys(options.tables or TABLES):
        clock = Clock.start()
        yield from TABLES[name](options.size)
        print(f"({name}: {spent_text(clock.spent())} s)", file=sys.stderr, flush=True)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure and print tables: all of them, or those named."
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"one of {', '.join(TABLES)}")
    parser.set_defaults(size=Size.USUAL)
    for size, text in (
        (Size.QUICK, "small sizes: a minute in all"),
        (Size.FULL, "every size: hours; without either half an hour"),
    ):
        parser.add_argument(
            f"--{size.name.lower()}", dest="size", action="store_const", const=size, help=text
        )
    parser.add_argument(
        "--list", action="store_true", help="say what each table measures, and measure nothing"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE.md", help="replace these tables in a file, or add them"
    )
    parser.add_argument(
        "--compare", metavar="REV", help="instead: our own times beside those of another revision, in turns"
    )
    parser.add_argument(
        "--runs", type=int, default=RUNS, help=f"of --compare, for each side (default {RUNS})"
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.tables if name not in TABLES]
    if unknown:
        parser.error(f"there is no table {unknown[0]!r}; expected one of {', '.join(TABLES)}")
    return options


if __name__ == "__main__":
    raise SystemExit(main())
