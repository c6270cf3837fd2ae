"""Answers about hidden Markov models: verdicts on budgets, and least budgets, with their proofs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, Protocol, TypeVar

from flint import fmpq

from bisimdist.budgets.engine.parametric import ParametricProof
from bisimdist.budgets.prove.certificate import parametric_certificate, several_certificate
from bisimdist.budgets.verify.certificate import budget_certificate, budget_claim
from bisimdist.errors import UsageError
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import format_rational
from bisimdist.faces.shown.numbers import between, interval, short_rational
from bisimdist.faces.shown.plain import said
from bisimdist.faces.shown.proved import Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.models.hmm import HMM
from bisimdist.traces.engine.search import DirectedProof


def _lengths(length: int, up_to: bool) -> str:
    return f"{'up to ' if up_to else ''}{length} observation{'s' if length > 1 or up_to else ''}"


class Verdict(Enum):
    """Whether a budget holds.

    Examples
    --------
    >>> import bisimdist
    >>> sick = bisimdist.build_any_example("contagious-disease,together=9/10")
    >>> bisimdist.verify(sick, 2, length=1).verdict
    <Verdict.VIOLATED: 'violated'>
    """

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"

    @property
    def settled(self) -> bool | None:
        """The same as a Boolean; None where it is not known."""
        return {Verdict.HOLDS: True, Verdict.VIOLATED: False}.get(self)


class _Judged(Protocol):
    @property
    def verdict(self) -> Verdict: ...


P = TypeVar("P", bound=_Judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts(Shown, Generic[P]):
    """Whether a budget holds for each pair in question."""

    model: HMM
    # ratio and epsilon: what was asked: the budget, or the epsilon that stands for e**epsilon
    ratio: Exact | None
    epsilon: Exact | None = None
    pairs: tuple[P, ...]  # the answers, in the order in which the pairs were asked

    @property
    def verdict(self) -> Verdict:
        """The verdict about all pairs together."""
        found = {pair.verdict for pair in self.pairs}
        for verdict in (Verdict.VIOLATED, Verdict.UNKNOWN):
            if verdict in found:
                return verdict
        return Verdict.HOLDS

    def data(self) -> dict[str, object]:
        return {"verdict": self.verdict.value, **Shown.data(self)}

    @property
    def asked(self) -> str | None:
        """The budget for a person; None where any would do."""
        if self.epsilon is not None:
            return f"e^({short_rational(self.epsilon)})"
        return None if self.ratio is None else short_rational(self.ratio)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineVerdict:
    """What one of two engines says of a budget."""

    engine: str  # ``exact`` or ``smt``
    verdict: Verdict  # what it says
    seconds: str  # how many seconds it took to say so
    ways: tuple[str, ...] = ()  # ways and note: as in `PairVerdict`
    note: str = ""

    def data(self) -> dict[str, object]:
        return said(self, "engine verdict seconds note?")

    def __str__(self) -> str:
        return f"{self.engine} says {self.verdict.value} after {self.seconds} s" + (
            f" ({self.note})" if self.note else ""
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVerdict(Numbers):
    """Whether a budget holds for one pair."""

    source: str  # source and target: the names of the two distributions
    target: str
    verdict: Verdict  # the answer
    # the rational budget that was decided: the one that was asked or, for an epsilon, a rounded one
    ratio: Exact
    counterexample: tuple[str, ...] | None = None  # a sequence that violates the budget, by name
    # its exact probabilities from `source` and from `target`
    probabilities: tuple[Exact, Exact] | None = None
    parameters: Mapping[str, Exact] = field(default_factory=dict)  # the parameter values for which it does
    # by which ways the verdict was reached: ``information states``, ``bernstein``, ``z3 chosen``, …
    ways: tuple[str, ...] = field(default=(), compare=False)
    # what a reader ought to know: why nothing was decided, or that one way alone says so
    note: str = field(default="", compare=False)
    # what each engine says and when, where two were asked
    engines: tuple[EngineVerdict, ...] = field(default=(), compare=False)
    # for each direction a proof, where the verdict is ``holds`` and comes from information states
    proofs: tuple[DirectedProof, ...] = field(default=(), repr=False, compare=False)
    # the proofs for all parameter values, one for each length
    parametric: tuple[ParametricProof, ...] = field(default=(), repr=False, compare=False)

    def data(self) -> dict[str, object]:
        names = "source target verdict counterexample probabilities parameters ways note? engines?"
        return said(self, names)

    @property
    def remark(self) -> str:
        """What is said about the pair; empty where that is nothing."""
        who = f"({self.source}, {self.target})"
        if self.counterexample is None or self.probabilities is None:
            return f"{who}: {self.note}." if self.note else ""
        chances = " and ".join(short_rational(p) for p in self.probabilities)
        where = ", ".join(f"{name} = {short_rational(value)}" for name, value in self.parameters.items())
        word = " ".join(self.counterexample)
        return f"{who}: the sequence [{word}] has the probabilities {chances}{where and ' where '}{where}."

    def claim(self, model: HMM) -> dict[str, object]:
        """Return the claim of a certificate that rests on information states, or on a counterexample.

        Raises UsageError if the verdict is unknown, or rests on Z3 alone.
        """
        if self.verdict is Verdict.UNKNOWN:
            raise UsageError(f"the pair ({self.source}, {self.target}) is not decided: there is no proof")
        if self.verdict is Verdict.HOLDS and not self.proofs:
            raise UsageError(
                f"the verdict on ({self.source}, {self.target}) rests on {', '.join(self.ways)} "
                "alone, so there is no proof to write"
            )
        known = None
        if self.counterexample is not None and self.probabilities is not None:
            known = self.counterexample, self.probabilities
        holds, pair = self.verdict is Verdict.HOLDS, (self.source, self.target)
        return budget_claim(model, pair, self.ratio, known, self.parameters, holds=holds)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyAnswer(Verdicts[PairVerdict]):
    """Whether a budget holds for each pair in question, for sequences of a length.

    Parameters
    ----------
    model, ratio, epsilon, pairs
        As in `Verdicts`; one of ratio and epsilon is None.
    length, up_to
        The length of the sequences, and whether shorter ones count too.

    Examples
    --------
    >>> import bisimdist
    >>> sick = bisimdist.build_any_example("contagious-disease,together=9/10")
    >>> bisimdist.verify(sick, 4, length=1).verdict.value
    'holds'
    """

    command = "verify"

    length: int
    up_to: bool

    def picture(self) -> str:
        from bisimdist.faces.shown.witness_pictures import first_trace  # noqa: PLC0415 (most answers are not drawn)

        return first_trace((p.source, p.target, p.counterexample, p.probabilities) for p in self.pairs)

    def report(self) -> Report:
        values = " for all values of the parameters" if self.model.parametric else ""
        conclusion = {
            Verdict.HOLDS: f"The budget {self.asked} holds for every pair.",
            Verdict.VIOLATED: f"The budget {self.asked} is violated.",
            Verdict.UNKNOWN: "Not everything is decided.",
        }
        remarks = tuple(pair.remark for pair in self.pairs if pair.remark)
        for pair in self.pairs:
            said = "; ".join(map(str, pair.engines))
            remarks += (f"({pair.source}, {pair.target}): {said}.",) if said else ()
        sequences = _lengths(self.length, self.up_to)
        return Report(
            heading=f"Budget e^epsilon = {self.asked}, sequences of {sequences}{values}",
            columns=("from", "to", "verdict", "by"),
            rows=tuple((p.source, p.target, p.verdict.value, ", ".join(p.ways)) for p in self.pairs),
            remarks=(*remarks, conclusion[self.verdict]),
        )

    def certificate(self) -> dict[str, object]:
        """Return the proof of all verdicts, as plain data that ``json.dumps`` writes.

        Raises
        ------
        UsageError
            If a verdict is unknown, or rests on Z3 alone.
        """
        parts = [parametric_certificate(proof) for pair in self.pairs for proof in pair.parametric]
        others = [pair for pair in self.pairs if not pair.parametric]
        if others:
            claims = [pair.claim(self.model) for pair in others]
            proofs = [proof for pair in others for proof in pair.proofs]
            parts.append(
                budget_certificate(self.model, self.length, up_to=self.up_to, claims=claims, proofs=proofs)
            )
        return several_certificate(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairBudget(Numbers):
    """The least budget of one pair."""

    source: str  # source and target: the names of the two distributions
    target: str
    ratio: Exact | None  # the value; None where it is infinite or, with `exact` false, not known
    exact: bool  # whether the value is known
    witness: tuple[str, ...]  # a sequence that attains it; where it is not known, one that shows `at_least`
    probabilities: tuple[Exact, Exact] | None  # its exact probabilities from `source` and from `target`
    at_least: Exact | None  # a proved lower bound; None where it is infinite
    at_most: Exact | None = None  # a proved upper bound of a model with parameters; None where there is none
    # the values for which `witness` has its probabilities
    parameters: Mapping[str, Exact] = field(default_factory=dict)
    # where the value is irrational, and known: an irreducible polynomial of which it is the only zero between
    # the bounds
    polynomial: str | None = None
    # the proofs for all parameter values: that `at_most` holds, and that less does not
    parametric: tuple[ParametricProof, ...] = field(default=(), repr=False, compare=False)
    # why no sequence exceeds the value, in each direction
    proofs: tuple[DirectedProof, ...] = field(default=(), repr=False, compare=False)
    rounds: int = field(default=0, compare=False)  # how many runs it took

    @property
    def infinite(self) -> bool:
        return self.exact and self.ratio is None

    @property
    def lower(self) -> Exact | None:
        """The best lower bound; None where it is infinite."""
        return self.ratio if self.exact else self.at_least

    @property
    def upper(self) -> Exact | None:
        """The best upper bound; None where it is infinite."""
        return self.ratio if self.exact else self.at_most

    @property
    def shown(self) -> str:
        if self.ratio is not None:
            return short_rational(self.ratio)
        if self.at_most is not None:
            return interval(self.at_least, self.at_most)
        return "inf" if self.exact else f"at least {short_rational(self.at_least or fmpq(1))}"

    @property
    def epsilon(self) -> tuple[str, str] | None:
        """Decimals below and above the logarithm of the value, where it is finite and known or enclosed."""
        if self.ratio is None and self.at_least is not None and self.at_most is not None:
            return log_enclosure(self.at_least)[0], log_enclosure(self.at_most)[1]
        return None if self.ratio is None else log_enclosure(self.ratio)

    def data(self) -> dict[str, object]:
        epsilon = None if self.epsilon is None else list(self.epsilon)
        return {
            **said(self, "source target"),
            "ratio": "inf" if self.infinite else None if self.ratio is None else format_rational(self.ratio),
            "epsilon": "inf" if self.infinite else epsilon,
            "exact": self.exact,
            **said(self, "" if self.exact else "at_least? at_most?"),
            **said(self, "polynomial? parameters? witness probabilities"),
        }

    @property
    def row(self) -> tuple[str, ...]:
        """The pair, the value, its logarithm and the witness, for a person."""
        decimals = between(*(self.epsilon or (("inf", "inf") if self.exact else ("", ""))))
        return self.source, self.target, self.shown, decimals, " ".join(self.witness)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetAnswer(Shown):
    """The least budget of each pair in question.

    Parameters
    ----------
    model, length, up_to
        As in `VerifyAnswer`.
    pairs
        The answers, in the order in which the pairs were asked.

    Examples
    --------
    >>> import bisimdist
    >>> sick = bisimdist.build_any_example("contagious-disease,together=9/10")
    >>> bisimdist.epsilon(sick, length=1).pairs[0].ratio
    38/11
    """

    command = "epsilon"

    model: HMM
    length: int
    up_to: bool
    pairs: tuple[PairBudget, ...]

    def picture(self) -> str:
        from bisimdist.faces.shown.witness_pictures import first_trace  # noqa: PLC0415 (most answers are not drawn)

        return first_trace((p.source, p.target, p.witness, p.probabilities) for p in self.pairs)

    @property
    def exact(self) -> bool:
        """Whether every value is known."""
        return all(pair.exact for pair in self.pairs)

    def report(self) -> Report:
        values = " for all values of the parameters" if self.model.parametric else ""
        return Report(
            heading=f"Least budgets{values}, sequences of {_lengths(self.length, self.up_to)}",
            columns=("from", "to", "ratio", "epsilon", "witness"),
            rows=tuple(pair.row for pair in self.pairs),
            remarks=tuple(self._remarks()),
        )

    def _remarks(self) -> Iterator[str]:
        if not self.model.parametric:
            yield (
                "Every ratio is exact: attained by its witness, and exceeded by no sequence."
                if self.exact
                else "Not every ratio is known; the lower bounds are proved by their witnesses."
            )
            return
        for pair in self.pairs:
            who = f"({pair.source}, {pair.target})"
            where = ", ".join(f"{name} = {short_rational(v)}" for name, v in pair.parameters.items())
            if where and pair.at_least is not None:
                yield f"{who}: the witness reaches {short_rational(pair.at_least)} where {where}."
            if pair.polynomial is not None:
                yield f"{who}: the only zero of {pair.polynomial} between the bounds."

    def certificate(self) -> dict[str, object]:
        """Return the proof of the values, as plain data that ``json.dumps`` writes.

        Raises
        ------
        UsageError
            If a value is not known.
        """
        if self.model.parametric:
            return several_certificate([parametric_certificate(p) for q in self.pairs for p in q.parametric])
        claims = []
        for pair in self.pairs:
            names = pair.source, pair.target
            if not pair.exact:
                raise UsageError(f"the budget of ({', '.join(names)}) is not known: there is no proof")
            known = None if pair.probabilities is None else (pair.witness, pair.probabilities)
            claims.append(budget_claim(self.model, names, pair.ratio, known))
        proofs = [proof for pair in self.pairs for proof in pair.proofs]
        return budget_certificate(self.model, self.length, up_to=self.up_to, claims=claims, proofs=proofs)
