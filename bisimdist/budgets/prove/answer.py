"""Answers about budgets of hidden Markov models for sequences of every length."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from bisimdist.budgets.prove.certificate import (
    several_certificate,
)
from bisimdist.budgets.verify.answer import Verdict, Verdicts
from bisimdist.errors import BisimdistError
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.number import Exact
from bisimdist.exact.rational import format_rational
from bisimdist.faces.shown.numbers import at_least, at_most
from bisimdist.faces.shown.proved import Proved
from bisimdist.faces.shown.tables import Report

MEANS = {
    "cone": "a closed polyhedral cone of functions",
    "factors": "a table of factors of pairs of states",
    "coupling": "a skewed coupling of cost zero",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthVerdict(Proved):
    """Whether a budget holds for one pair and sequences of every length."""

    source: str  # source and target: the names of the two distributions
    target: str
    verdict: Verdict  # the answer
    # what proves it: ``cone``, ``factors``, ``coupling``, ``counterexample``, ``pump`` or ``impossible``;
    # empty where nothing does
    method: str = field(default="", compare=False)
    # a budget that was proved for all lengths, where one was
    proved: Exact | None = field(default=None, compare=False)
    # the largest ratio of a single sequence that is known
    attained: Exact | None = field(default=None, compare=False)
    # counterexample and probabilities: a sequence that violates the budget, with its probabilities from
    # `source` and `target`
    counterexample: tuple[str, ...] | None = field(default=None, compare=False)
    probabilities: tuple[Exact, Exact] | None = field(default=None, compare=False)
    # the refutation of every budget, where there is one: prefix, cycle and suffix, by name
    pump: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] | None = field(default=None, compare=False)
    # with a pump: the growth factors of a round of the cycle, the larger one first
    growth: tuple[Exact, Exact] | None = field(default=None, compare=False)

    @property
    def exact(self) -> bool:
        """Whether the budget that was proved is attained: no smaller one holds for all lengths."""
        return self.proved is not None and self.proved == self.attained

    @property
    def no_budget(self) -> bool:
        return self.method in {"pump", "impossible"}

    def data(self) -> dict[str, object]:
        data: dict[str, object] = {
            "from": self.source,
            "to": self.target,
            "verdict": self.verdict.value,
            "method": self.method or None,
            "ratio": "inf" if self.no_budget else self.proved and format_rational(self.proved),
            "attained": "inf" if self.no_budget else self.attained and format_rational(self.attained),
            "exact": self.exact or self.no_budget,
        }
        if self.proved is not None:
            data["epsilon"] = list(log_enclosure(self.proved))
        if self.counterexample is not None and self.probabilities is not None:
            data["counterexample"] = list(self.counterexample)
            data["probabilities"] = [format_rational(p) for p in self.probabilities]
        if self.pump is not None and self.growth is not None:
            data["pump"] = dict(zip(("prefix", "cycle", "suffix"), map(list, self.pump), strict=True))
            data["growth"] = [format_rational(factor) for factor in self.growth]
        return data

    @property
    def row(self) -> tuple[str, ...]:
        """The pair, the verdict, what is proved and seen, and by what, for a person."""
        if self.no_budget:
            bounds = "none", "infinite"
        else:
            proved = "unknown" if self.proved is None else at_most(self.proved)
            bounds = proved, "unknown" if self.attained is None else at_least(self.attained)
        return self.source, self.target, self.verdict.value, *bounds, self.method or "-"

    @property
    def remark(self) -> str:
        """What is said about the pair."""
        about = f"({self.source}, {self.target}): "
        if self.pump is not None and self.growth is not None:
            prefix, cycle, suffix = (" ".join(word) for word in self.pump)
            fast, slow = (format_rational(factor) for factor in self.growth)
            tail = f", then '{suffix}'" if suffix else ""
            return (
                f"{about}no budget holds. After '{prefix}', repeat '{cycle}'{tail}: each round multiplies "
                f"one probability by at least {fast} and the other by at most {slow}."
            )
        if self.counterexample is not None and self.probabilities is not None:
            one, two = (format_rational(p) for p in self.probabilities)
            every = "no budget holds: " if self.no_budget else ""
            return f"{about}{every}'{' '.join(self.counterexample)}' has the probabilities {one} and {two}."
        if self.verdict is Verdict.HOLDS and self.proved is not None:
            low, high = log_enclosure(self.proved)
            exact = ", and no smaller one does" if self.exact else ""
            return (
                f"{about}proved by {MEANS[self.method]}; the budget {format_rational(self.proved)} "
                f"holds{exact} (its logarithm is between {low} and {high})."
            )
        return f"{about}not decided; the methods are not complete."


@dataclass(frozen=True, slots=True, kw_only=True)
class AllLengthsAnswer(Verdicts[LengthVerdict]):
    """Whether a budget holds for each pair and sequences of every length.

    Parameters
    ----------
    model, ratio, epsilon, pairs
        As in `Verdicts`; ratio and epsilon are both None where any budget would do.

    Examples
    --------
    >>> import bisimdist
    >>> sick = bisimdist.build_any_example("contagious-disease,together=9/10")
    >>> bisimdist.budgets.for_all_lengths(sick).verdict.value
    'holds'
    """

    command = "prove"

    def report(self) -> Report:
        what = "is there some budget?" if self.asked is None else f"does the budget {self.asked} hold?"
        return Report(
            heading=f"Sequences of every length: {what}",
            columns=("from", "to", "verdict", "proved budget", "largest ratio seen", "by"),
            rows=tuple(pair.row for pair in self.pairs),
            remarks=tuple(pair.remark for pair in self.pairs),
        )

    def picture(self) -> str:
        from bisimdist.faces.shown.proof_pictures import invariant_svg  # noqa: PLC0415 (most answers are not drawn)
        from bisimdist.faces.shown.witness_pictures import first_trace  # noqa: PLC0415

        for pair in self.pairs:
            with suppress(BisimdistError):
                if drawn := invariant_svg(pair.certificate()):
                    return drawn
        return first_trace((p.source, p.target, p.counterexample, p.probabilities) for p in self.pairs)

    def certificate(self) -> dict[str, object]:
        """Return the proof, as plain data that ``json.dumps`` writes.

        Raises
        ------
        UsageError
            If a pair is not decided.
        """
        return several_certificate([pair.certificate() for pair in self.pairs])
