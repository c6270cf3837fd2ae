"""``python -m tests.crossings [SEEDS]``: walk all cells, say what is wrong, and write the page of limits."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path

from bisimdist.faces.cli.main import run
from tests.crossings.page import CELLS, PAGE, page
from tests.crossings.table import COLUMNS, QUESTIONS, cell


def ended(words: list[str]) -> tuple[int, str, str]:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    return int(code), out.getvalue(), err.getvalue()


def main(seeds: int) -> int:
    """Walk the cells for so many systems each; return how many were wrong."""
    table: dict[str, dict[str, str]] = {}
    wrong = 0
    for question in QUESTIONS:
        table[question] = {}
        for feature in COLUMNS:
            for seed in range(seeds):
                with tempfile.TemporaryDirectory() as folder:
                    found = cell(question, feature, Path(folder), seed, ended)
                table[question].setdefault(feature, found.shown)
                wrong += bool(found.wrong)
                for line in found.wrong:
                    sys.stdout.write(f"{question}, {feature}, system {seed}: {line}\n")
    CELLS.write_text(json.dumps(table, indent=1) + "\n")
    PAGE.write_text(page(table))
    sys.stdout.write(f"{len(QUESTIONS) * len(COLUMNS)} cells, {seeds} systems each: {wrong} wrong\n")
    return wrong


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1) > 0)
