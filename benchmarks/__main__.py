"""``python -m benchmarks``: print tables of measurements."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.lp import lp_tables
from benchmarks.machine import described_machine
from benchmarks.problems import bracket_tables, classical_tables, memory_tables, problem_tables
from benchmarks.tables import Table
from benchmarks.timing import Clock

__all__ = ["TABLES", "main", "run"]

TABLES: dict[str, Callable[..., list[Table]]] = {
    "lp": lp_tables,
    "problems": problem_tables,
    "classical": classical_tables,
    "brackets": bracket_tables,
    "memory": memory_tables,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the tables that are asked for."""
    return run(TABLES, "python -m benchmarks", arguments)


def run(
    known: Mapping[str, Callable[..., Iterable[Table]]], program: str, arguments: Sequence[str] | None
) -> int:
    """Read the arguments of a program that knows some tables, then measure and print those asked for."""
    parser = argparse.ArgumentParser(prog=program, description="Measure and print tables.")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"one of {', '.join(known)}; default all")
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--quick", action="store_true", help="small sizes: a minute or two in all (the default)"
    )
    size.add_argument("--full", action="store_true", help="every size: an hour or more")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="write the tables to a file, too")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.tables if name not in known]
    if unknown:
        parser.error(f"there is no table {unknown[0]!r}; expected one of {', '.join(known)}")
    parts = [described_machine() + "\n"]
    print(parts[0], flush=True)
    for name in dict.fromkeys(options.tables or known):
        clock = Clock.start()
        for table in known[name](full=options.full):
            parts.append(table.markdown())
            print(parts[-1], flush=True)
        print(f"({name}: {clock.spent().wall:.0f} s)", file=sys.stderr, flush=True)
    if options.output is not None:
        options.output.write_text("\n".join(parts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
