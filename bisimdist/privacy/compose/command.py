"""What independent mechanisms cost together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bisimdist.errors import ENDINGS, ModelError, UsageError
from bisimdist.faces.asked import numbers, options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import Option, option, several
from bisimdist.faces.asked.options import CSV, LARGEST, PLOT, POINTS
from bisimdist.faces.asked.question import Content, Group, Plain, Question
from bisimdist.interruption import why

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from flint import fmpq

    from bisimdist.privacy.compose.answer import Composition
    from bisimdist.privacy.compose.mechanisms import Mechanism
    from bisimdist.progress import Limits

RELATIONS = ("add-remove", "remove", "add", "replace")
AT: Option[tuple[fmpq, ...]] = several(
    "--epsilon", "E", "Where to compute delta; repeatable.", name="epsilons", each=numbers.NONNEGATIVE
)
DELTAS: Option[tuple[fmpq, ...]] = several(
    "--delta",
    "D",
    "Where to compute epsilon; repeatable.",
    name="deltas",
    each=numbers.within(
        lambda value: value == 0 or 1 <= value * 10**700 <= 10**700, "0, or a number from 10^-700 to 1"
    ),
)
WIDTH = option(
    "--width",
    "W",
    "How far apart bounds may be, relative to them.",
    default="1/1000",
    read=numbers.within(lambda value: 0 < value <= 1, "a number above 0 and at most 1"),
)
RELATION = option(
    "--relation",
    "WHICH",
    "Which inputs are neighbours: add-remove (default), remove, add or replace; LIST may say it.",
    offered=RELATIONS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compose(Question["Composition"]):
    """Bound delta and epsilon of independent mechanisms together, proved on both sides.

    LIST is a YAML or JSON file with mechanisms and how often each runs (docs/composition.md), - for standard
    input, or such a list itself. Without --epsilon and --delta it computes a curve.
    """

    command = "compose"
    group = Group.DELTA
    argument = "LIST"
    tried = True
    example = "'[{gaussian: {sigma: 10}, times: 100}]' --epsilon 1 --delta 1e-5"
    options: ClassVar[tuple[Option[Any], ...]] = (
        AT,
        DELTAS,
        WIDTH,
        RELATION,
        POINTS.but(help="Points of the curve."),
        LARGEST,
        options.TIMEOUT,
        options.MEMORY,
        CSV.but(help="Write the points as CSV."),
        PLOT.but(help="Draw delta from both sides, and the trade-off function (.svg, .png, .pdf)."),
        options.CERTIFICATE,
        options.JSON,
    )

    mechanisms: Sequence[Mechanism]
    files: Sequence[Path]
    epsilons: tuple[fmpq, ...]
    deltas: tuple[fmpq, ...]
    width: fmpq
    relation: str
    points: int
    largest: fmpq | None

    @classmethod
    def read(cls, given: Given) -> Compose:
        from bisimdist.privacy.compose.ask import checked
        from bisimdist.privacy.compose.lists import read_list

        found, said = read_list(given.argument), given.fields(cls)
        said["relation"] = said["relation"] or found.relation or RELATIONS[0]
        try:
            mechanisms = checked(found.mechanisms, relation=said["relation"], read=found.read)
        except ModelError as error:
            raise error.with_source(found.source) from None
        return cls(mechanisms=mechanisms, files=found.files, largest=given[LARGEST], **said)

    def ask(self, limits: Limits) -> Composition:
        from bisimdist.privacy.compose.ask import compose

        answer = self.put(compose, limits)
        if self.epsilons:
            answer.deltas(self.epsilons)
        for delta in self.deltas:
            try:
                answer.epsilon(delta)
            except (UsageError, *ENDINGS) as error:
                if len(self.epsilons + self.deltas) == 1:
                    raise
                answer.without(delta, str(error) or why())
        if not (self.epsilons or self.deltas):
            answer.curve(self.largest, points=self.points)
        return answer

    def frame(self) -> dict[str, object]:
        """Return what the JSON answer begins with."""
        return {"command": self.command}

    def unknown(self, reason: str) -> Plain:
        del reason
        from bisimdist.faces.shown.tables import Report

        points = [{"epsilon": str(epsilon), "lower": "0", "upper": "1"} for epsilon in self.epsilons]
        points += [{"delta": str(delta), "lower": "0", "upper": "inf"} for delta in self.deltas]
        report = Report(heading="compose: nothing is known", remarks=("The work ended before that.",))
        return Plain(data={**self.frame(), "points": points, "status": "limit"}, report=report)

    def content(self, option: Option[Any], path: str, answer: Composition) -> Content:
        if option.name == CSV.name:
            return answer.csv()
        if option.name != PLOT.name:
            return super(Compose, self).content(option, path, answer)
        from bisimdist.faces.shown.pictures import saved

        return saved(answer.plot(points=self.points, largest=self.largest), path)
