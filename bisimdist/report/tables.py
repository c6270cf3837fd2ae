"""A report for a person: a heading, a table, remarks; drawn with rich on a terminal, HTML in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TextIO

from bisimdist.errors import visible

__all__ = ["Report", "html_table", "plain_text", "print_report"]

MAX_ROWS = 200
"""How many rows a notebook shows, and how many remarks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a command tells a person.

    Parameters
    ----------
    heading
        One line above the table; may be empty.
    columns
        The heads of the columns; empty where there is no table, or one that needs no heads.
    rows
        The cells, as many in each row.
    remarks
        Sentences below the table.
    """

    heading: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    remarks: tuple[str, ...] = ()

    def html(self) -> str:
        """Return the report for a notebook."""
        table = html_table(self.heading, self.columns, self.rows)
        return table + "".join(f"<p>{escape(remark)}</p>" for remark in self.remarks[:MAX_ROWS])


def _padded(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def plain_text(report: Report) -> str:
    """Return a report as plain text, columns aligned, no line folded and no cell cut.

    Examples
    --------
    >>> print(plain_text(Report(columns=("from", "to"), rows=(("s0", "s1"),), remarks=("Done.",))), end="")
    from  to
    s0    s1
    Done.
    """
    rows = [tuple(visible(cell) for cell in row) for row in report.rows]
    table = [report.columns, *rows] if any(report.columns) else rows
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    lines = [visible(report.heading)] if report.heading else []
    lines += [_padded(row, widths) for row in table]
    lines += [visible(remark) for remark in report.remarks]
    return "".join(line + "\n" for line in lines)


def print_report(report: Report, stream: TextIO) -> None:
    """Write a report to a stream: a table in lines and colours if that is a terminal."""
    if not stream.isatty():
        stream.write(plain_text(report))
        return
    # Imported here: what is no terminal does not pay for it.
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(file=stream, highlight=False)
    if report.heading:
        console.print(Text(visible(report.heading), style="bold"))
    if report.rows:
        table = Table(show_header=any(report.columns))
        for column in report.columns or [""] * len(report.rows[0]):
            table.add_column(column, overflow="fold")
        for row in report.rows:
            table.add_row(*(Text(visible(cell)) for cell in row))
        console.print(table)
    for remark in report.remarks:
        console.print(Text(visible(remark)))


def html_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, most: int = MAX_ROWS
) -> str:
    """Return a table for a notebook, of so many rows at the most; every text is escaped.

    Examples
    --------
    >>> html_table("one & all", ["from"], [["<s>"]])  # doctest: +ELLIPSIS
    '<table><caption>one &amp; all</caption>...<td>&lt;s&gt;</td></tr></tbody></table>'
    """
    lines = [tuple(row) for row in rows]
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in lines[:most])
    more = f"<p>and {len(lines) - most} more</p>" if len(lines) > most else ""
    title = f"<caption>{escape(caption)}</caption>"
    return f"<table>{title}<thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>{more}"
