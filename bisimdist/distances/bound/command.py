"""An upper bound on delta by a bisimilarity distance, and whether that distance is at most a threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.nature import nature_data, with_nature
from bisimdist.faces.asked.options import PRECISION, SKEWED_DISTANCE, UNIT_THRESHOLD
from bisimdist.faces.asked.parameter_options import FOR_ALL
from bisimdist.faces.asked.question import (
    Content,
    Group,
    Plain,
    Question,
    drawn_or_said,
    identity,
    told_to_wait,
)
from bisimdist.faces.asked.skew import Skew, read_skew
from bisimdist.faces.asked.threshold import AtMost

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.distances.bound.answer import DistanceAnswer
    from bisimdist.faces.shown.tables import Report
    from bisimdist.models.interactive import System
    from bisimdist.models.intervals import IntervalChain
    from bisimdist.progress import Limits

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound(Question["DistanceAnswer"]):
    """Bound delta from above by a bisimilarity distance.

    The answer d for a pair means: the model is (ln alpha, d)-differentially private for that pair. MODEL is a
    file, '-' for standard input, or example:NAME[,key=value...]. Without --pair the command takes the pairs
    of MODEL.
    """

    command = "bound"
    tabled = "measured"
    group = Group.DISTANCES
    example = "example:random,states=6 --alpha 11/10 --pair s0 s1"
    options = (
        options.ALPHA,
        options.EPSILON.but(help="Use alpha = e^E, rounded down to stay sound."),
        SKEWED_DISTANCE,
        options.PAIR,
        PRECISION,
        UNIT_THRESHOLD,
        options.NATURE,
        FOR_ALL,
        options.BACKEND,
        options.QUOTIENT.but(help="Merge bisimilar states first (this changes the distance)."),
        options.MINIMISE,
        options.JOBS,
        options.CLUSTER,
        options.TIMEOUT,
        options.MEMORY,
        options.CERTIFICATE,
        options.CERTIFICATE_FORMAT,
        options.SVG,
        options.PROGRAM_FILE,
        options.JSON,
    )
    sources = ("CMP18 Definition 12", "CMP18 Lemma 2", "CMP18 Theorem 2")

    model: System | IntervalChain
    original: System | IntervalChain
    skew: Skew
    alpha: fmpq
    distance: str
    asked: Pairs
    """The names by which the pairs were asked; `pairs` has those in the model that is looked at, which is the
    quotient of `original` where bisimilar states are merged."""
    pairs: Pairs
    precision: fmpq | None
    nature: str
    threshold: fmpq | None
    backend: str | None
    certificate_format: str = "auto"
    cluster: str | None = None
    loss: fmpq | None = None

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        from bisimdist.distances.engine.question import checked_skew
        from bisimdist.models.intervals import IntervalChain

        if given[FOR_ALL]:
            from bisimdist.privacy.synthesise.for_all import ForAll

            return ForAll.read(given)
        skew = read_skew(given)
        said = given.fields(cls)
        theta = said["threshold"]
        if theta is not None and said["precision"] is not None:
            raise UsageError("--precision and --threshold were both given; a threshold is decided exactly")
        given.refuse_both(options.MINIMISE, options.CLUSTER)
        given.refuse_both(options.MINIMISE, options.PROGRAM_FILE)
        original = given.rough_system()
        asked = given.pairs_unmade(original)
        if given[options.PROGRAM_FILE] is not None:
            _refuse_program(original, asked)
        if theta is not None and given.wants_proof and len(asked) > 1:
            raise UsageError("--certificate with --threshold takes one pair; choose it with --pair")
        model, pairs = original, asked
        if given[options.QUOTIENT]:
            if isinstance(original, IntervalChain):
                raise UsageError("--quotient: the probabilities are intervals; states of such are not merged")
            model, pairs = _merged(given, original, asked)
        about = {"model": model, "original": original, "asked": asked, "pairs": pairs}
        question = cls(**{**said, **about, "skew": skew, "alpha": checked_skew(skew.alpha, skew.epsilon)})
        return question if theta is None else AtMost(asked=question, threshold=theta)

    def frame(self) -> dict[str, object]:
        """Return what the JSON answer begins with."""
        from bisimdist.exact.rational import format_rational

        data: dict[str, object] = {"command": "bound", "model": identity(self.model)}
        if self.model is not self.original:
            data["quotient_of"] = identity(self.original)
        shown = self.skew.shown_epsilon
        if shown is not None:
            data["epsilon"] = shown
        data["alpha"] = format_rational(self.alpha)
        if shown is not None:
            data["alpha_rounded"] = "down"
        data["distance"] = self.distance
        if self.backend is not None:
            data["backend"] = self.backend
        return {**data, **nature_data(self.model, self.nature)}

    def cuts(self) -> list[dict[str, object]]:
        """Return for each pair how likely runs of a program are cut off; nothing at all of other models."""
        from bisimdist.exact.rational import format_rational
        from bisimdist.reductions.chain import beside, straight

        if all(step.trivial for step in straight(self.original)[1]):
            return []
        found = [beside(self.original, pair) for pair in self.asked]
        return [{name: [format_rational(m) for m in both] for name, both in one.items()} for one in found]

    def ask(self, limits: Limits) -> DistanceAnswer:
        from bisimdist.distances.bound.ask import bound

        if self.loss is not None:
            from bisimdist.distances.minimise.reduced import minimised_bound

            about = ("alpha", "distance", "precision", "backend", "threshold")
            return self.put(minimised_bound, limits, **{name: getattr(self, name) for name in about})
        return self.put(bound, limits)

    def hint(self) -> str:
        quicker = "" if self.precision is not None else "--precision 1e-9 asks for no more than that, "
        if self.alpha != 1 and self.model is self.original:
            quicker += "--quotient for the distance where bisimilar states are merged, "
        return told_to_wait(f"{quicker}and delta bounds delta itself, from both sides")

    def unknown(self, reason: str) -> Plain:
        from bisimdist.distances.bound.answer import DistanceAnswer
        from bisimdist.faces.shown.answer import Status
        from bisimdist.faces.shown.pair_bounds import PairBounds

        answer = DistanceAnswer(
            model=self.model,
            alpha=self.alpha,
            distance=self.distance,
            pairs=PairBounds.unknown(self.pairs),
            status=Status.LIMIT,
            method="nothing was computed",
            reason=reason,
        )
        return Plain(data=self.data(answer), report=self.report(answer))

    def data(self, answer: DistanceAnswer) -> dict[str, object]:
        from bisimdist.faces.shown.answer import ended

        return {
            **self.frame(),
            "pairs": answer.rows(self.asked, self.cuts()),
            **ended(answer.status, answer.reason),
        }

    def content(self, option: Any, path: str, answer: DistanceAnswer) -> Content:
        from bisimdist.distances.engine.question import MAX_PAIRS

        if option.name == options.CERTIFICATE.name:
            many = int(answer.statistics.get("pairs", 0)) > MAX_PAIRS
            if self.certificate_format == "compact" or (self.certificate_format == "auto" and many):
                return answer.compact_certificate()
        if option.name == options.PROGRAM_FILE.name:
            from bisimdist.distances.bound.program import pair_program
            from bisimdist.models.lmc import LMC

            ((source, target),) = self.pairs
            assert isinstance(self.model, LMC)  # said by read
            program = pair_program(self.model, self.alpha, source, target)
            return program.written("mps" if path.endswith(".mps") else "lp")
        if option.name == options.SVG.name:
            return drawn_or_said(lambda: answer.coupling().svg)
        return super(Bound, self).content(option, path, answer)

    def report(self, answer: DistanceAnswer, places: Sequence[int] | None = None) -> Report:
        report = answer.report(self.asked, self.skew.shown_epsilon, places)
        return with_nature(report, self.model, self.nature)

    def report_of(
        self, answer: DistanceAnswer, places: Sequence[int], every: Sequence[Mapping[str, Any]]
    ) -> Report:
        from bisimdist.faces.shown import tables
        from bisimdist.faces.shown.pair_table import said_to_be_largest

        if len(every) <= tables.MOST:
            return super(Bound, self).report_of(answer, places, every)
        return said_to_be_largest(self.report(answer, places), len(places), len(every))


def _refuse_program(model: System | IntervalChain, pairs: Pairs) -> None:
    """Refuse what has no linear program of its own, or several."""
    from bisimdist.models.lmc import LMC

    flag = options.PROGRAM_FILE.flag
    if not isinstance(model, LMC) or getattr(model, "cut", None):
        raise UsageError(f"{flag}: a linear program is that of a Markov chain, all of whose runs are whole")
    if len(pairs) != 1:
        raise UsageError(f"{flag}: a linear program is that of one pair; choose it with --pair")
    from bisimdist.models.distinguishable import distinguishable_classes

    ((source, target),) = pairs
    s, t = model.index(source), model.index(target)
    classes = distinguishable_classes(model)
    if s == t or classes[s] != classes[t]:
        far = f"({source}, {target}) is at distance {int(s != t)}"
        raise UsageError(f"{flag}: {far} without any linear program; choose another pair with --pair")


def _merged(given: Given, chain: System, names: Pairs) -> tuple[System, Pairs]:
    from bisimdist.models.all_pairs import AllPairs
    from bisimdist.models.bisimilarity import quotient

    merged, classes = quotient(chain)
    given.note(f"bisimilar states are merged: {len(chain)} states, {len(merged)} classes")

    def representative(name: str) -> str:
        return merged.states[classes[chain.index(name)]]

    if isinstance(names, AllPairs):
        return merged, AllPairs(list(map(representative, names.of)))
    return merged, tuple((representative(s), representative(t)) for s, t in names)
