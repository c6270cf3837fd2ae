"""What all questions share: a frozen value that asks, shows and proves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from inspect import signature
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.options import ALL_PAIRS, CERTIFICATE, CSV, MATRIX, OTHERS, PLOT, SVG, TOP
from bisimdist.faces.shown.answer import identity
from bisimdist.verdicts import Settled, joint, verdict_word

if TYPE_CHECKING:
    from pathlib import Path

    from bisimdist.faces.asked.given import Given
    from bisimdist.faces.shown.proved import Shown
    from bisimdist.faces.shown.tables import Report
    from bisimdist.progress import Limits

__all__ = [
    "Content",
    "Group",
    "Plain",
    "Question",
    "Settled",
    "drawn_or_said",
    "identity",
    "joint",
    "nothing_known",
    "told_to_wait",
    "verdict_word",
]

A = TypeVar("A")
R = TypeVar("R")
Content = str | bytes | Iterator[bytes]  # what belongs into a file, perhaps part by part


class Group(Enum):
    """Under which heading a command stands in the help."""

    DISTANCES = "Distances of Markov chains"
    DELTA = "Privacy of Markov chains"
    METRICS = "Metrics of automata"
    TRACES = "Traces"
    HIDDEN = "Hidden Markov models"
    LOGICS = "Logics"
    TOOLS = "Tools"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """What is known without any work: no more than what is shown, and without a proof."""

    data: dict[str, object]
    report: Report
    settled: Settled = None


def drawn_or_said(draw: Callable[[], str]) -> str:
    """Return a picture: where there is nothing to draw, of the words that say so."""
    from bisimdist.drawing import Node, drawing
    from bisimdist.errors import UsageError

    nothing = "nothing to draw"
    try:
        found = draw()
    except UsageError as error:
        found, nothing = "", str(error)
    return found or drawing([Node("nothing", "nothing to draw")], [], label=nothing)


def told_to_wait(quicker: str) -> str:
    """Return what somebody is told who has waited for long."""
    return f"this takes a while. Ctrl-C or --timeout SEC ends it and prints what is proved; {quicker}"


def nothing_known(
    frame: Mapping[str, object], pairs: Sequence[tuple[str, str]], known: Mapping[str, object]
) -> Plain:
    """Return what is known of every pair from the start: the same of all but a state and itself.

    ``frame``: what the JSON object begins with.
    ``known``: the fields of each of them, which are shown to a person where they are texts.
    """
    from bisimdist.faces.shown.tables import Report

    shown = {name: value for name, value in known.items() if isinstance(value, str)}
    return Plain(
        data={**frame, "pairs": [{"from": s, "to": t, **known} for s, t in pairs], "status": "limit"},
        report=Report(
            heading=f"{frame['command']}: what is known from the start",
            columns=("from", "to", *shown),
            rows=tuple((s, t, *map(str, shown.values())) for s, t in pairs),
            remarks=("The work ended before anything more was known.",),
        ),
    )


class Question(ABC, Generic[A]):
    """One question, read and validated; what its class says of itself makes the command.

    Subclasses are frozen dataclasses. The docstring of the one that has a command is its help text.
    """

    __slots__ = ()

    command: ClassVar[str]
    """How the command is called."""
    group: ClassVar[Group]
    options: ClassVar[tuple[Option[Any], ...]]
    """Its options, in the order of the help text."""
    example: ClassVar[str] = ""
    """What stands behind the command in a call that takes no time: shown in the help text, and tested."""
    argument: ClassVar[str] = "MODEL"
    model: Any
    pairs: Any
    """What most of them are about."""
    files: Sequence[Path] = ()
    """Files that its input names, so that they are read, too."""
    sources: ClassVar[tuple[str, ...]] = ()
    """Where the mathematics is from: numbers as printed, in papers as ``docs/papers.md`` calls them."""

    drawn: ClassVar[bool] = False
    """Whether the file is the answer itself: it is written however little time is left."""

    tried: ClassVar[bool] = False
    """Whether its proof is checked before it is written, since the check does all its work anew."""

    tabled: ClassVar[Literal["", "listed", "measured", "directed"]] = ""
    """What each of its pairs has: nothing for a table, a verdict or the like, a number, or one that is of one
    direction only."""
    shown: ClassVar[tuple[str, ...]] = ()
    """The fields of the question that its JSON object names before the answer."""
    start: ClassVar[Mapping[str, object] | None] = None
    """What is known of every pair without any work, as its fields in JSON; None where that is nothing."""

    def hint(self) -> str:
        """Return what would be quicker, for somebody who has waited half a minute; nothing by default."""
        return ""

    @classmethod
    def offered(cls) -> tuple[Option[Any], ...]:
        """Return all options of the question: its own, and those of the table of its pairs."""
        if not cls.tabled:
            return cls.options
        return (*cls.options, CSV, *((TOP, MATRIX, ALL_PAIRS) if cls.tabled != "listed" else ()))

    @classmethod
    @abstractmethod
    def read(cls, given: Given) -> Question[Any]:
        """Make the question of what was given."""

    def frame(self) -> dict[str, object]:
        """Return what the JSON answer begins with."""
        from flint import fmpq

        said = ((name, getattr(self, name)) for name in self.shown)
        named = {name: str(value) if isinstance(value, fmpq) else value for name, value in said}
        return {"command": self.command, "model": identity(self.model), **named}

    def places(self, given: Given) -> list[tuple[Option[Any], str]]:
        """Return the files to be written, with the options that name them."""
        named = [(option, given[option]) for option in given.options if option.writes]
        found = [(option, str(path)) for option, path in named if path is not None]
        drawn = [path for option, path in found if option.name in {PLOT.name, MATRIX.name}]
        if any(not path.lower().endswith(OTHERS) for path in drawn):
            from bisimdist.faces.shown.pictures import figure_class

            figure_class()  # refuses before anything is computed
        return found

    @abstractmethod
    def ask(self, limits: Limits) -> A:
        """Return the answer: the best known where a limit ends the work."""

    def put(self, function: Callable[..., R], limits: Limits, **rest: Any) -> R:
        """Call a function of the package with the fields of the question, and the limits, that it takes.

        ``rest``: arguments in place of fields, or beside them.
        """
        known = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        takes = signature(function).parameters
        given = {name: value for name, value in known.items() if name in takes} | rest
        return function(**limits.taken_by(function), **given)

    def unknown(self, reason: str) -> Plain | None:
        """Return what is known without any work, or None where that is nothing.

        Little must be loaded for that: it may be for lack of memory that nothing else is known.
        """
        return None if self.start is None else nothing_known(self.opening(None), self.pairs, self.start)

    def notes(self, answer: A) -> list[str]:
        """Return what is said beside the answer."""
        return []

    def opening(self, settled: Settled) -> dict[str, object]:
        """Return what the JSON object begins with once it is known how the question is settled."""
        return self.frame()

    def data(self, answer: A) -> dict[str, object] | str:
        """Return the answer as a JSON object, or as the text of one: the opening, then what it says."""
        shown: Shown = answer  # type: ignore[assignment]
        return {**self.opening(self.settled(answer)), **shown.data()}

    def report(self, answer: A) -> Report | str:
        """Return the answer for a person."""
        shown: Shown = answer  # type: ignore[assignment]
        return shown.report()

    def report_of(self, answer: A, places: Sequence[int], every: Sequence[Mapping[str, Any]]) -> Report:
        """Return the answer about the largest of its pairs for a person.

        ``places``: which of its pairs these are.
        ``every``: what the JSON object says of each of them.
        """
        from bisimdist.faces.shown.pair_table import only

        report = self.report(answer)
        assert not isinstance(report, str)
        return only(report, places, every)

    def settled(self, answer: A) -> Settled:
        """Tell how the answer ends: where no property is asked, by its status, if it has one."""
        status = getattr(answer, "status", None)
        return None if status is not None and status.value == "limit" else True

    def bare(self, known: Plain) -> str | None:
        """Return what belongs into a file if nothing was computed; None if a file needs an answer."""
        return None

    def content(self, option: Option[Any], path: str, answer: A) -> Content:
        """Return what belongs into the file that an option names: the proof, a table of pairs, or more."""
        if option.name in {CSV.name, MATRIX.name}:
            return self._table(option, path, answer)
        if option.name == SVG.name:
            return self._picture(answer)
        if option.name == PLOT.name:
            from bisimdist.faces.shown.pictures import saved

            return saved(self.figure(answer), path)
        if option.name != CERTIFICATE.name:
            raise NotImplementedError(option.name)
        from bisimdist.faces.shown.streams import json_parts

        parts = json_parts(self.certificate(answer), (",", ":"))
        return (part.encode("ascii") for part in chain(parts, "\n"))

    def figure(self, answer: A) -> Any:
        """Return what ``--plot`` draws."""
        raise NotImplementedError

    @staticmethod
    def _picture(answer: A) -> str:
        shown: Shown = answer  # type: ignore[assignment]
        return drawn_or_said(shown.picture)

    def _table(self, option: Option[Any], path: str, answer: A) -> Content:
        from bisimdist.faces.shown.matrix import Matrix
        from bisimdist.faces.shown.pair_rows import PairRows
        from bisimdist.faces.shown.pair_table import csv_of_pairs

        data: Any = self.data(answer)
        pairs = data["pairs"]
        if option.name == CSV.name:
            return pairs.csv() if isinstance(pairs, PairRows) else csv_of_pairs(pairs)
        return Matrix.of_pairs(pairs, symmetric=self.tabled != "directed").content(path)

    def certificate(self, answer: A) -> dict[str, object]:
        """Return the proof of the answer."""
        proof: dict[str, object] = answer.certificate()  # type: ignore[attr-defined]
        return proof
