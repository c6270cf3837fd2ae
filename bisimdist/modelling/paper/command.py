"""The numbers of the papers, each by its command: what the paper prints beside what is found."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from bisimdist.errors import LimitError, UsageError
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import switch
from bisimdist.faces.asked.options import JSON, TIMEOUT
from bisimdist.faces.asked.question import Group, Question, Settled

if TYPE_CHECKING:
    from bisimdist.faces.shown.tables import Report
    from bisimdist.modelling.paper.rows import Row, Run
    from bisimdist.progress import Limits

NONE = "no command for this one"
EVERY = switch("--all", "Run the commands of all papers.", name="every")
COLUMNS = ("paper", "number", "what it is", "in the paper", "found", "agrees with", "time")
BUDGET = "A budget is e^epsilon, a bound on the ratio of two probabilities: the budget 2 is epsilon = ln(2)."


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command printed: its exit code, its output, and how many seconds it took."""

    code: int
    output: str
    seconds: float


NOTHING = Printed(0, "", 0.0)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found of a statement."""

    row: Row  # row and run: the statement, and its command; None where it has none
    run: Run | None
    printed: Printed  # what the command printed

    @property
    def values(self) -> tuple[str, ...] | None:
        """The values that the command printed where some are expected; None where it printed none."""
        if self.run is None or self.printed.code not in {0, 1}:
            return None
        return self.run.values_in(self.printed.output)

    @property
    def agrees(self) -> bool | None:
        """Whether the command prints what is expected."""
        return None if self.run is None else self.values == self.run.values

    @property
    def sentence(self) -> str:
        """What was found, to be read alone."""
        if self.run is None:
            return ""
        if self.values is not None:
            return self.run.found.format(*self.values)
        return (self.printed.output.splitlines() or ["nothing"])[0]

    @property
    def agreement(self) -> str:
        """With what it agrees."""
        if self.run is None:
            return ""
        if not self.agrees:
            return "NO"
        if self.run.errs:
            return "our value (the paper errs)"
        return "the paper" if self.run.printed else "our value (none is printed)"

    @property
    def what(self) -> str:
        """What it is about."""
        label = self.run.label if self.run is not None else ""
        return label or plain_words(self.row.what)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRows(Question["Sequence[Found]"]):
    """Run the commands behind the numbers of five papers, and compare what they print with the papers.

    KEY names a paper: CMP18, XCL14, CCP18, LWZ22-conference, LWZ22-long, or one of its authors. NUMBER
    names a statement: Figure 3, fig. 3, Thm 1. Without NUMBER the command runs the whole paper; without KEY
    it lists all statements with their commands, and runs none.
    """

    command = "paper"
    group = Group.TOOLS
    argument = "[KEY [NUMBER...]]"
    example = "CMP18 Figure 3"
    options = (EVERY, TIMEOUT.but(help="Stop after so many seconds, and leave out the other rows."), JSON)

    rows: tuple[Row, ...]

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        from bisimdist.modelling.paper.lookup import chosen

        words = given.values.get("argument") or ()
        if words and given[EVERY]:
            raise UsageError("--all runs the commands of all papers; expected no KEY with it")
        return cls(rows=chosen(words)) if words or given[EVERY] else PaperList()

    @property
    def _runs(self) -> list[tuple[Row, Run | None]]:
        return [(row, run) for row in self.rows for run in row.runs or (None,)]

    def ask(self, limits: Limits) -> Sequence[Found]:
        found: list[Found] = []
        known: dict[str, Printed] = {}  # many statements are about one command
        for row, run in self._runs:
            limits.progress(row.name, len(found), len(self._runs))
            try:
                limits.deadline.check()
                if run is not None and run.command not in known:
                    known[run.command] = _printed(row, run, limits.deadline.left())
            except (LimitError, subprocess.TimeoutExpired):
                break
            found.append(Found(row, run, NOTHING if run is None else known[run.command]))
        return found

    def settled(self, answer: Sequence[Found]) -> Settled:
        agreed = [found.agrees for found in answer]
        return False if False in agreed else None if len(answer) < len(self._runs) else True

    def data(self, answer: Sequence[Found]) -> dict[str, object]:
        return {"command": self.command, "statements": [_plain(found) for found in answer]}

    def report(self, answer: Sequence[Found]) -> Report:
        from bisimdist.faces.shown.tables import Report

        ran = [found for found in answer if found.run is not None]
        about = self.rows[0] if len(self.rows) == 1 else None
        columns: tuple[str, ...] = COLUMNS
        rows = tuple(tuple(_cells(found)) for found in ran)
        if about is not None:  # the heading names the statement
            columns, rows = columns[2:], tuple(row[2:] for row in rows)
        if about is not None and len(rows) == 1:  # one below the other, so that no line is long
            rows = tuple((f"{head}:", cell) for head, cell in zip(columns[1:], rows[0][1:], strict=True))
            columns = ()
        return Report(
            heading=f"{about.name}: {plain_words(about.what)}" if about else "",
            columns=columns if rows else (),
            rows=rows,
            remarks=(*_total(ran, len(self._runs)), *_remarks(ran), *(_places(about) if about else ())),
            verbatim=tuple(_script(ran)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperList(Question["Sequence[Row]"]):
    """List the numbered statements of the papers, with their commands."""

    command = "paper"
    group = Group.TOOLS
    options = PaperRows.options

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        return PaperRows.read(given)

    def ask(self, limits: Limits) -> Sequence[Row]:
        from bisimdist.modelling.paper.rows import papers

        return tuple(row for paper in papers() for row in paper.rows)

    def data(self, answer: Sequence[Row]) -> dict[str, object]:
        return {
            "command": self.command,
            "statements": [
                {
                    "paper": row.key,
                    "number": row.number,
                    "what": plain_words(row.what),
                    "commands": [run.command for run in row.runs],
                }
                for row in answer
            ],
        }

    def report(self, answer: Sequence[Row]) -> Report:
        from bisimdist.faces.shown.tables import Report
        from bisimdist.modelling.paper.rows import papers

        lines: list[str] = []
        for paper in papers():
            lines.append(f"{paper.key}: {paper.authors}, {paper.title}, {paper.venue}")
            for row in paper.rows:
                lines += [f"  {row.number}: {plain_words(row.what)}", f"      {_shortly(row)}"]
        count = sum(len(row.runs) for row in answer)
        return Report(
            verbatim=(
                *lines,
                "bisimdist paper CMP18 Figure 3 runs one statement, or tells more of one without a command.",
                f"bisimdist paper --all finds all {count} values, which takes about a minute.",
            )
        )


def _shortly(row: Row) -> str:
    """Return the command of a statement, the first of several, or where else it is shown."""
    commands = list(dict.fromkeys(f"bisimdist {run.command}" for run in row.runs))
    if not commands:
        return f"{NONE}; see {row.see}" if row.see else NONE
    return commands[0] + (f" (and {len(commands) - 1} more)" if len(commands) > 1 else "")


def _cells(found: Found) -> Iterator[str]:
    assert found.run is not None
    yield from (found.row.key, found.row.number, found.what, found.run.printed or "-")
    yield from (found.sentence, found.agreement, f"{found.printed.seconds:.1f} s")


def _total(ran: Sequence[Found], wanted: int) -> Iterator[str]:
    """Say how many commands agree, and how long they took."""
    if wanted > 1:
        agreed = sum(bool(found.agrees) for found in ran)
        seconds = sum({found.run.command: found.printed.seconds for found in ran if found.run}.values())
        yield f"{agreed} of {len(ran)} values are as expected; the commands took {seconds:.1f} s together."


def _remarks(ran: Sequence[Found]) -> Iterator[str]:
    """Explain a word of the table, and what was expected where something else was found."""
    for found in ran:
        if found.run is not None and not found.agrees:
            yield f"{found.row.name}: expected was: {found.run.sentence}"
    if any("budget" in found.sentence for found in ran):
        yield BUDGET


def _places(row: Row) -> Iterator[str]:
    """Say where else to look, and what was found out of a statement without a command."""
    if not row.runs:
        yield f"{NONE.capitalize()}. {row.words}"
        if row.see:
            yield f"See bisimdist paper {row.see}"
    elif row.words:
        yield row.words
    if row.at:
        yield f"Place in the paper: {row.at}"
    notes = {
        "Errata": re.findall(r"\((errata\.md#[^)]*)\)", row.what),
        "Proof": re.findall(r"\]\(([^)]*)\)", row.proof),
        "Shown in": [f"tutorials/{row.tutorial}"] if row.tutorial else [],
    }
    for what, pages in notes.items():
        if pages:
            yield f"{what}: documentation, {'; '.join(map(_page, pages))}"


def _page(path: str) -> str:
    """Return how a reader finds a page: by its place in the documentation, without its ending.

    >>> _page("theory/delta.md#bounds-from-below")
    'theory/delta, "bounds from below"'
    """
    page, _, section = path.partition("#")
    return page.removesuffix(".md") + (f', "{section.replace("-", " ")}"' if section else "")


def _script(ran: Sequence[Found]) -> Iterator[str]:
    """Yield lines to paste into a shell."""
    if ran:
        yield "To run it yourself, paste this into a shell:"
    for row in dict.fromkeys(found.row.name for found in ran):
        first = next(found.row for found in ran if found.row.name == row)
        yield from first.script()


def plain_words(text: str) -> str:
    """Return a text of the page without its links and marks."""
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text).replace("`", "").replace("$", "").replace("\\", "")


def _plain(found: Found) -> Mapping[str, object]:
    row, run = found.row, found.run
    return {
        "paper": row.key,
        "number": row.number,
        "what": found.what,
        "run": "" if run is None else run.command,
        "printed": "" if run is None else run.printed,
        "place": row.at,
        "expected": "" if run is None else run.sentence,
        "found": found.sentence,
        "agrees": found.agrees,
        "seconds": f"{found.printed.seconds:.2f}",
    }


def _printed(row: Row, run: Run, seconds: float | None) -> Printed:
    """Run a command of a statement as a reader would."""
    begun = monotonic()
    words: list[Any] = [sys.executable, "-m", "bisimdist", *run.words]
    with row.folder() as folder:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=seconds, cwd=folder)
    return Printed(done.returncode, done.stdout + done.stderr, monotonic() - begun)
