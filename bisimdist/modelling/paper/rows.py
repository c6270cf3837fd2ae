"""The numbered statements of the papers, read from ``rows.toml`` beside this file."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

MODEL = re.compile(r"example:[\w-]+(?:,\w+=[\w/]+)*")
MARKED = re.compile(r"\{([^{}]*)\}")
OF_RUNS = ("command", "expected", "found", "printed", "errs")


@dataclass(frozen=True, slots=True)
class Run:
    """A command, and what is expected of it."""

    command: str  # what a reader can paste behind ``bisimdist``
    expected: str  # parts of lines that it prints, in words with one space between; values stand in braces
    found: str  # a sentence about the values, with ``{}`` in the place of each
    printed: str = ""  # what the paper says, and nothing else; empty where it gives no number
    label: str = ""  # which part of the statement it is about; empty where it has one part only
    errs: bool = False  # whether an erratum says why the paper says something else

    @property
    def words(self) -> list[str]:
        """The words of the command."""
        return shlex.split(self.command)

    @property
    def values(self) -> tuple[str, ...]:
        """The values that are expected."""
        return tuple(MARKED.findall(self.expected))

    @property
    def sentence(self) -> str:
        """What is expected, as a sentence that can be read alone."""
        return self.found.format(*self.values)

    @property
    def model(self) -> str:
        """The case study that it is about, with the parameters of the paper; empty where it is about none."""
        found = MODEL.search(self.command)
        return found[0] if found else ""

    def values_in(self, output: str) -> tuple[str, ...] | None:
        """Return the values that stand in an output where some are expected; None where there are none.

        >>> run = Run("bound chain.yaml --alpha 2", "s t {2/5}", "bd(s, t) = {}")
        >>> run.values_in("s     t   1/7 <= 0.15")
        ('1/7',)
        """
        lines = [" ".join(line.split()) for line in output.splitlines()]
        values: list[str] = []
        for wanted in self.expected.split("\n"):
            there = [found.groups() for line in lines if (found := _pattern(wanted).search(line))]
            if not there:
                return None
            expected = tuple(MARKED.findall(wanted))
            values += expected if expected in there else there[0]
        return tuple(values)


@cache
def _pattern(wanted: str) -> re.Pattern[str]:
    """Return the pattern of whole words of a line, with a group of as many words for each value."""
    parts = MARKED.split(wanted)
    for k, part in enumerate(parts):
        more = len(part.split()) - 1
        parts[k] = rf"(\S+(?: \S+){{{more}}})" if k % 2 else re.escape(part)
    return re.compile(rf"(?<!\S){''.join(parts)}(?!\S)")


@dataclass(frozen=True, slots=True)
class Row:
    """A numbered statement."""

    key: str  # key and number: the paper, and the number as printed
    number: str
    what: str
    runs: tuple[Run, ...] = ()  # the commands; none where the statement is about no concrete model
    at: str = ""  # where in the paper the numbers are
    words: str = ""  # for a statement without a command, what becomes of it here, and how it is tested
    see: str = ""  # the statement whose command shows it: a number, or a key and a number
    # where, proof, tutorial and test: where it lives in the code, the note that proves it, the section that
    # shows it, and a test
    where: str = ""
    proof: str = ""
    tutorial: str = ""
    test: str = ""
    files: Mapping[str, str] = field(default_factory=dict)  # files that the commands read, by name

    @classmethod
    def of(cls, key: str, said: Mapping[str, Any]) -> Row:
        """Return a row as the file says it."""
        rest = dict(said)
        parts = [Run(**part) for part in rest.pop("parts", ())]
        alone = {name: rest.pop(name) for name in OF_RUNS if name in rest}
        if "see" in rest and len(rest["see"].split()) == 2:
            rest["see"] = f"{key} {rest['see']}"
        return cls(key=key, runs=(*([Run(**alone)] if alone else []), *parts), **rest)

    @property
    def name(self) -> str:
        """What the command calls it."""
        return f"{self.key} {self.number}"

    @contextmanager
    def folder(self) -> Iterator[str]:
        """Have the files of the row in a folder for a while, and give its name."""
        with TemporaryDirectory(prefix="bisimdist-") as name:
            for file, text in self.files.items():
                Path(name, file).write_text(text, "utf-8")
            yield name

    def script(self, runs: Sequence[Run] | None = None) -> list[str]:
        """Return lines for a shell: they write the files of the row, and run its commands."""
        commands = dict.fromkeys(run.command for run in (self.runs if runs is None else runs))
        lines = [f"# {self.name}"]
        for file, text in self.files.items() if commands else ():
            lines += [f"cat > {file} <<'END'", *text.splitlines(), "END"]
        return [*lines, *(f"bisimdist {command}" for command in commands)]


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: its key, what it is, the numbers that are in it, and a row for each."""

    key: str
    authors: str
    title: str
    venue: str
    numbers: str
    rows: tuple[Row, ...]


@cache
def papers() -> tuple[Paper, ...]:
    """Return the papers."""
    said: Mapping[str, Any] = tomllib.loads(files(__package__).joinpath("rows.toml").read_text("utf-8"))
    return tuple(
        Paper(rows=tuple(Row.of(paper["key"], row) for row in paper.pop("row")), **paper)
        for paper in said["paper"]
    )
