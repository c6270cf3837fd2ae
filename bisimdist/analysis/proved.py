"""What all answers share that carry a proof: the proof on demand, and a table in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from bisimdist.errors import UsageError
from bisimdist.models.ends import Completed, Ends

__all__ = ["AboutTraces", "CertificateMaker", "Proved", "html_table", "no_certificate"]

MAX_ROWS = 200

CertificateMaker = Callable[[], dict[str, object]]


def no_certificate() -> dict[str, object]:
    """Raise UsageError: what stands in place of a proof where there is none."""
    raise UsageError("this answer carries no certificate: nothing was decided")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """An answer that can prove itself.

    Parameters
    ----------
    make_certificate
        Writes the proof when it is asked for; most askers never do.
    """

    make_certificate: CertificateMaker = field(default=no_certificate, repr=False, compare=False)

    def certificate(self) -> dict[str, object]:
        """Return the proof of the answer, as plain data that ``json.dumps`` writes.

        Raises
        ------
        UsageError
            If the answer was made without one.
        LimitError
            If the proof would be too long.
        """
        return self.make_certificate()


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutTraces(Proved):
    """An answer that rests on probabilities of traces.

    Parameters
    ----------
    completed
        The automaton as the observer sees it.
    """

    completed: Completed = field(repr=False, compare=False)

    @property
    def ends(self) -> Ends:
        """Whether the observer sees that a run has ended."""
        return self.completed.ends

    @property
    def missing(self) -> bool:
        """Whether mass is missing in what the states that were asked about reach."""
        return self.completed.missing


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
