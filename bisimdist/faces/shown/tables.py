"""A report for a person: a heading, a table, remarks; as text and on a terminal, HTML in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import islice
from os import environ
from shutil import get_terminal_size
from textwrap import wrap
from typing import TextIO, TypeVar

from bisimdist.errors import visible

T = TypeVar("T")

MOST = 5_000  # so many pairs, or claims, are shown to a person; JSON has all
MAX_ROWS = 200  # how many rows a notebook shows, and how many remarks


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a command tells a person."""

    heading: str = ""
    # the heads of the columns; empty where there is no table, or one that needs no heads
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()  # the cells, as many in each row
    remarks: tuple[str, ...] = ()
    verbatim: tuple[str, ...] = ()  # lines to copy, which are never folded

    def html(self, most: int = MAX_ROWS) -> str:
        """Return the report as HTML, of so many rows and remarks at the most."""
        table = html_table(self.heading, self.columns, self.rows, most=most)
        copied = f"<pre>{_text(chr(10).join(self.verbatim))}</pre>" if self.verbatim else ""
        return table + "".join(f"<p>{_text(remark)}</p>" for remark in self.remarks[:most]) + copied


def beginning(items: Iterable[T]) -> list[T]:
    """Return as many of some pairs, or claims, as a person is shown."""
    return list(islice(items, MOST))


def not_shown(count: int, what: str, elsewhere: str) -> tuple[str, ...]:
    """Say of so many how many a person is not shown, and where all are; nothing where there are no more.

    >>> not_shown(5_003, "pairs", "--json has all")
    ('3 more pairs are not shown: --json has all.',)
    """
    return (f"{count - MOST} more {what} are not shown: {elsewhere}.",) if count > MOST else ()


def shortened(report: Report, elsewhere: str) -> Report:
    """Return a report with as many rows as a person is shown; it says where all are."""
    more = not_shown(len(report.rows), "rows", elsewhere)
    return replace(report, rows=report.rows[:MOST], remarks=(*report.remarks, *more)) if more else report


def _text(text: str) -> str:
    return escape(visible(text))


def _padded(cells: Sequence[str], widths: Sequence[int]) -> str:
    before = [cell.ljust(width) for cell, width in zip(cells[:-1], widths[:-1], strict=True)]
    return "  ".join(
        (*before, *cells[-1:])
    ).rstrip()  # the last column may be wide, and takes no room behind it


def plain_text(report: Report, width: int | None = None) -> str:
    """Return a report as plain text: columns aligned, no cell cut, and no number on two lines.

    ``width``: how many characters a line has room for: a table that is wider is written as a paragraph for
        each row, and sentences are folded between words. None folds nothing.

    >>> report = Report(columns=("from", "to", "bound"), rows=(("s0", "s1", "1/2"),), remarks=("Done.",))
    >>> print(plain_text(report), end="")
    from  to  bound
    s0    s1  1/2
    Done.
    >>> print(plain_text(report, width=12), end="")
     from: s0
       to: s1
    bound: 1/2
    Done.
    """
    rows = [tuple(visible(cell) for cell in row) for row in report.rows]
    table = [report.columns, *rows] if any(report.columns) else rows
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    lines = [_padded(row, widths) for row in table]
    if width is not None and any(len(line) > width for line in lines):
        lines = list(_paragraphs(report.columns or ("",) * len(widths), rows))
    above = [visible(report.heading)] if report.heading else []
    lines = [*above, *lines, *map(visible, report.remarks)]
    folded = lines if width is None else _folded(lines, width)
    return "".join(line + "\n" for line in (*folded, *map(visible, report.verbatim)))


def _paragraphs(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the cells of each row one below the other, with their heads; an empty line between two rows."""
    room = max(map(len, columns))
    for place, row in enumerate(rows):
        if place and len(row) > 1:
            yield ""
        for head, cell in zip(columns, row, strict=True):
            yield f"{head.rjust(room)}: {cell}" if head else cell


def _folded(lines: Iterable[str], width: int) -> Iterator[str]:
    for line in lines:
        yield from wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""]


def print_report(report: Report, stream: TextIO) -> None:
    """Write a report to a stream; on a terminal its heading is bold, and what is too wide is folded."""
    if not stream.isatty():
        stream.write(plain_text(report))
        return
    width = get_terminal_size().columns
    if report.heading and "NO_COLOR" not in environ and environ.get("TERM", "dumb") != "dumb":
        heading = plain_text(Report(heading=report.heading), width)
        stream.write(f"\033[1m{heading}\033[0m")
        report = replace(report, heading="")
    stream.write(plain_text(report, width))


def html_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, most: int = MAX_ROWS
) -> str:
    """Return a table for a notebook, of so many rows at the most; every text is escaped.

    >>> html_table("one & all", ["from"], [["<s>"]])  # doctest: +ELLIPSIS
    '<table><caption>one &amp; all</caption>...<td>&lt;s&gt;</td></tr></tbody></table>'
    """
    lines = [tuple(row) for row in rows]
    names = "".join(f"<th>{_text(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in lines[:most])
    more = f"<p>and {len(lines) - most} more</p>" if len(lines) > most else ""
    title = f"<caption>{_text(caption)}</caption>"
    return f"<table>{title}<thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>{more}"
