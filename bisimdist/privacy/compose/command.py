"""What independent mechanisms cost together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bisimdist.errors import ModelError, UsageError
from bisimdist.faces.asked import numbers, options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import Option, option, several
from bisimdist.faces.asked.options import CSV, EPSILONS, LARGEST, PLOT, POINTS
from bisimdist.faces.asked.question import Content, Group, Plain, Question

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.privacy.compose.answer import Composition
    from bisimdist.privacy.compose.lists import MechanismList
    from bisimdist.progress import Limits

RELATIONS = ("add-remove", "remove", "add", "replace")
DELTAS: Option[tuple[fmpq, ...]] = several(
    "--delta", "D", "Where to compute epsilon; repeatable.", name="deltas", each=numbers.numbered
)
WIDTH = option(
    "--width",
    "W",
    "How far apart bounds may be, relative to them (1/1000).",
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
    example = "'[{gaussian: {sigma: 10}, times: 100}]' --epsilon 1 --delta 1e-5"
    options: ClassVar[tuple[Option[Any], ...]] = (
        EPSILONS.but(help="Where to compute delta; repeatable."),
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

    found: MechanismList
    epsilons: tuple[fmpq, ...]
    deltas: tuple[fmpq, ...]
    width: fmpq | None
    relation: str | None
    points: int
    largest: fmpq | None

    @classmethod
    def read(cls, given: Given) -> Compose:
        from bisimdist.bounded import MAX_BYTES
        from bisimdist.faces.asked.source import STANDARD_INPUT, standard_input
        from bisimdist.privacy.compose.ask import checked
        from bisimdist.privacy.compose.lists import read_list

        plot = given[PLOT]
        if plot is not None:
            from bisimdist.faces.shown.pictures import picture_format

            picture_format(f"--plot {plot}")  # refuses before anything is computed
        said = given.fields(cls)
        for epsilon in said["epsilons"]:
            if epsilon < 0:
                raise UsageError(f"--epsilon {epsilon}: expected at least 0")
        for delta in said["deltas"]:
            if not 0 <= delta <= 1:
                raise UsageError(f"--delta {delta}: expected a number from 0 to 1")
        argument = given.argument
        found = read_list(argument, standard_input(MAX_BYTES) if argument == STANDARD_INPUT else None)
        relation = said["relation"] or found.relation
        try:
            checked(found.mechanisms, relation=relation or RELATIONS[0], read=found.read)
        except ModelError as error:
            raise error.with_source(found.source) from None
        question = cls(found=found, largest=given[LARGEST], **{**said, "relation": relation})
        question._refuse_inputs(given)
        return question

    def _refuse_inputs(self, given: Given) -> None:
        """Refuse to write over a file that is read."""
        from pathlib import Path

        for named, path in self.places(given):
            place = Path(path)
            if place.exists() and any(file.exists() and place.samefile(file) for file in self._files()):
                raise UsageError(
                    f"{named.flag} {path}: this file is read by the same command; expected another one"
                )

    def _files(self) -> list[Any]:
        return self.found.files

    def ask(self, limits: Limits) -> Composition:
        from bisimdist.privacy.compose.ask import compose

        more = {} if self.width is None else {"width": self.width}
        try:
            answer = compose(
                self.found.mechanisms,
                relation=self.relation or RELATIONS[0],
                read=self.found.read,
                **more,
                **limits.taken_by(compose),
            )
        except ModelError as error:
            raise error.with_source(self.found.source) from None
        if self.epsilons:
            answer.deltas(self.epsilons)
        for delta in self.deltas:
            answer.epsilon(delta)
        if not (self.epsilons or self.deltas):
            answer.curve(self.largest, points=self.points)
        return answer

    def frame(self) -> dict[str, object]:
        """Return what the JSON answer begins with."""
        return {"command": self.command}

    def unknown(self, reason: str) -> Plain:
        del reason
        from bisimdist.faces.shown.tables import Report

        points: list[dict[str, object]] = [
            {"epsilon": str(epsilon), "lower": "0", "upper": "1"} for epsilon in self.epsilons
        ]
        points += [{"delta": str(delta), "lower": "0", "upper": "inf"} for delta in self.deltas]
        return Plain(
            data={**self.frame(), "points": points, "status": "limit"},
            report=Report(heading="compose: nothing is known", remarks=("The work ended before that.",)),
        )

    def content(self, option: Option[Any], path: str, answer: Composition) -> Content:
        if option.name == CSV.name:
            return answer.csv()
        if option.name != PLOT.name:
            return super(Compose, self).content(option, path, answer)
        from bisimdist.faces.shown.pictures import saved

        return saved(answer.plot(points=self.points, largest=self.largest), path)
