"""Tables as Markdown, and the figures in them."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import TypeVar

from benchmarks.timing import Spent

__all__ = [
    "NOT_INSTALLED",
    "Size",
    "Table",
    "bytes_text",
    "fine_seconds",
    "ratio",
    "replace_section",
    "seconds",
    "spent_text",
]

NOT_INSTALLED = "not installed"
"""Stands where a solver would: the solvers of a table are always the same."""

T = TypeVar("T")


class Size(IntEnum):
    """How much of a table is measured."""

    QUICK = 0
    """All tables in a minute: does everything still work?"""
    USUAL = 1
    """All tables in half an hour."""
    FULL = 2
    """Everything that was ever published, for hours."""

    def pick(self, quick: T, usual: T, full: T) -> T:
        """Return what belongs to this size."""
        return (quick, usual, full)[self]


@dataclass(slots=True)
class Table:
    """A table that grows row by row, with what there is to say about it."""

    title: str
    columns: Sequence[str]
    remarks: Sequence[str] = ()
    rows: list[Sequence[str]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        self.rows.append(cells)
        print("| " + " | ".join(cells) + " |", file=sys.stderr, flush=True)

    def markdown(self) -> str:
        lines = [f"### {self.title}", ""]
        lines.append("| " + " | ".join(self.columns) + " |")
        lines.append("| --- |" + " --: |" * (len(self.columns) - 1))
        lines.extend("| " + " | ".join(row) + " |" for row in self.rows)
        for remark in self.remarks:
            lines.extend(["", remark])
        return "\n".join(lines) + "\n"


def replace_section(path: Path, section: str) -> None:
    """Put a section into a file, where one of the same heading was, or at the end."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    sections = {
        text.partition("\n")[0]: text.rstrip() for text in re.split(r"^(?=#)", before, flags=re.MULTILINE)
    }
    sections[section.partition("\n")[0]] = section.rstrip()
    path.write_text("\n\n".join(filter(None, sections.values())) + "\n", encoding="utf-8")


def seconds(value: float) -> str:
    """Return seconds with three digits or so."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def fine_seconds(value: float) -> str:
    """Return seconds with two significant digits below a tenth."""
    return seconds(value) if value >= 0.1 else f"{value:.2g}" if value >= 1e-4 else f"{value:.0e}"


def milliseconds(value: float) -> str:
    """Return seconds as milliseconds with three significant digits."""
    shown = value * 1e3
    return f"{shown:.0f}" if shown >= 100 else f"{shown:.3g}"


def spent_text(spent: Spent | None) -> str:
    """Return ``wall (CPU)`` seconds."""
    return "-" if spent is None else f"{seconds(spent.wall)} ({seconds(spent.cpu)})"


def bytes_text(size: float) -> str:
    """Return a number of bytes in MB."""
    return f"{size / 2**20:.1f}" if size < 100 * 2**20 else f"{size / 2**20:.0f}"


def ratio(baseline: float, ours: float) -> str:
    """Return how many times our time the baseline takes."""
    value = baseline / ours
    return f"{value:.0f}x" if value >= 10 else f"{value:.2g}x"
