"""The true delta, from both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.nature import nature_data, with_nature
from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.parameter_options import FOR_ALL, OVER
from bisimdist.faces.asked.program_source import is_program
from bisimdist.faces.asked.question import Content, Group, Question, drawn_or_said, told_to_wait
from bisimdist.faces.asked.skew import Skew, read_skew
from bisimdist.faces.asked.threshold import AtMost

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.faces.shown.tables import Report
    from bisimdist.models.interactive import System
    from bisimdist.models.intervals import IntervalChain
    from bisimdist.privacy.delta.answer import DeltaAnswer
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta(Question["DeltaAnswer"]):
    """Bound the true delta from both sides, exactly where possible.

    The true delta is the least D for which the model is (ln alpha, D)-differentially private for the pair.
    For an interactive model it is the largest gain of an adaptive analyst.
    """

    command = "delta"
    tabled = "measured"
    group = Group.DELTA
    example = "example:random,states=5 --alpha 11/10 --pair s0 s1 --gap 1/100"
    options: ClassVar[tuple[Option[Any], ...]] = (
        options.ALPHA,
        options.EPSILON.but(help="Use alpha = e^E, rounded outwards to stay sound."),
        options.PAIR,
        options.GAP,
        options.RELATIVE,
        options.WORST,
        options.UNIT_THRESHOLD.but(help="Decide only whether delta is at most THETA."),
        options.ROUNDS,
        options.FIXED,
        options.NATURE,
        options.MINIMISE,
        options.CLUSTER,
        options.TIMEOUT,
        options.MEMORY.but(help="Stop beyond so much memory and print what is known; by default 4 GiB."),
        options.CERTIFICATE,
        options.LAW,
        options.SVG,
        options.GRAPH,
        options.HTML.but(help="Write one page with the bounds and a picture of their event."),
        OVER,
        FOR_ALL,
        options.PLOT.but(help="With --over: draw delta (.svg, .png, .pdf)."),
        options.JSON,
    )
    sources = ("CMP18 Definition 5", "CMP18 Definition 7")
    start: ClassVar = {"lower": "0", "upper": "1", "exact": False, "witness": None}

    model: System | IntervalChain
    pairs: tuple[tuple[str, str], ...]
    skew: Skew
    gap: fmpq | None
    relative: fmpq | None = None
    worst: bool = False
    threshold: fmpq | None = None
    rounds: int | None = None
    fixed: bool = False
    nature: str = "each-step"
    loss: fmpq | None = None
    cluster: str | None = None
    named: str = ""
    law: bool = False

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        if given[OVER]:
            from bisimdist.privacy.synthesise.over import Over

            return Over.read(given)
        if given[FOR_ALL]:
            from bisimdist.privacy.synthesise.for_all import ForAll

            return ForAll.read(given)
        if given[options.PLOT] is not None:
            raise UsageError("--plot: draws delta as a function of a parameter (--over); see profile, too")
        asked = cls.of(given)
        return asked if asked.threshold is None else AtMost(asked=asked, threshold=asked.threshold)

    @classmethod
    def of(cls, given: Given, alpha: str | None = None) -> Self:
        """Make the question about the bounds, whatever they are for; alpha is that where none is given."""
        skew = read_skew(given, alpha)
        said = given.fields(cls)
        if said.get("fixed") and said.get("rounds") is None:
            raise UsageError("--fixed: a sequence has an end; say how many actions with --rounds K")
        for other in (options.CLUSTER, options.RELATIVE):
            given.refuse_both(options.MINIMISE, other)
        model = given.rough_system()
        if said.get("law") and not is_program(given.argument):
            raise UsageError("--law is for programs; expected FILE.py:FUNCTION")
        return cls(model=model, pairs=given.pairs(model), skew=skew, named=given.argument, **said)

    def hint(self) -> str:
        quicker = [] if self.gap is not None else ["--gap 1e-3 ends where the bounds are so close"]
        if self.threshold is None:
            quicker.append("--threshold D where they tell whether delta is at most D")
        return told_to_wait(", ".join(quicker or ["a larger --gap ends sooner"]))

    def ask(self, limits: Limits) -> DeltaAnswer:
        if self.cluster is not None:
            from bisimdist.privacy.delta.jobs import delta_of_each

            said = ("gap", "relative", "worst", "threshold", "rounds", "fixed", "nature")
            asked = {name: getattr(self, name) for name in said} | self.skew.said
            return self.put(delta_of_each, limits, asked=asked)
        if self.loss is not None:
            from bisimdist.distances.minimise.reduced import minimised_delta

            return self.put(minimised_delta, limits, **self.skew.said)
        from bisimdist.privacy.delta.ask import delta

        return self.put(delta, limits, **self.skew.said)

    def data(self, answer: DeltaAnswer) -> dict[str, object]:
        from bisimdist.exact.rational import format_rational
        from bisimdist.models.interactive import Interactive

        data = self.frame()
        lower, upper = format_rational(answer.alpha_lower), format_rational(answer.alpha_upper)
        if self.skew.epsilon is None:
            data["alpha"] = upper
        else:
            data["epsilon"] = self.skew.shown_epsilon
            data["alpha"] = {"lower": lower, "upper": upper}
            data["alpha_rounded"] = {"lower": "up", "upper": "down"}
        data |= nature_data(self.model, self.nature)
        if isinstance(self.model, Interactive):
            data |= {"rounds": self.rounds, "analyst": "fixed" if self.fixed else "adaptive"}
        return {**data, **self._of_program(answer.data())}

    def _of_program(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return what is said of deltas with what is known of the outputs, where the model is a program."""
        from bisimdist.programs.chain import ProgramChain
        from bisimdist.programs.ratios import output_facts

        chain = self.model
        if not isinstance(chain, ProgramChain):
            return data
        pairs = [
            {**pair, **output_facts(chain, pair["from"], pair["to"], law=self.law)} for pair in data["pairs"]
        ]
        return {**data, "pairs": pairs}

    def report(self, answer: DeltaAnswer) -> Report:
        return with_nature(answer.report(self.skew.shown_epsilon), self.model, self.nature)

    def content(self, option: Option[Any], path: str, answer: DeltaAnswer) -> Content:
        if option.name == options.HTML.name:
            from bisimdist.privacy.delta.page import delta_page

            return delta_page(answer, self.report(answer), self.named)
        if option.name == options.GRAPH.name:
            return drawn_or_said(lambda: answer.graph().svg)
        return super(Delta, self).content(option, path, answer)
