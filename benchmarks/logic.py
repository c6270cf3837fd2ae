"""``python -m benchmarks.logic``: tables about the logics and the generalised metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.__main__ import run
from benchmarks.formulae import crosscheck_tables, formula_tables
from benchmarks.generalised import generalised_tables
from benchmarks.lifting import lifting_tables
from benchmarks.tables import Table
from benchmarks.traces import equivalence_tables, trace_metric_tables

__all__ = ["TABLES", "main"]

TABLES: dict[str, Callable[..., Iterator[Table]]] = {
    "lifting": lifting_tables,
    "generalised": generalised_tables,
    "equivalence": equivalence_tables,
    "trace-metric": trace_metric_tables,
    "formulae": formula_tables,
    "crosscheck": crosscheck_tables,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the tables that are asked for."""
    return run(TABLES, "python -m benchmarks.logic", arguments)


if __name__ == "__main__":
    raise SystemExit(main())
