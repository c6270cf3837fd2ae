"""Answers about hidden Markov models: verdicts on budgets, and least budgets, with their proofs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from html import escape

from flint import fmpq

from bisimdist.certificates.hmm import BudgetClaim, budget_certificate
from bisimdist.certificates.hmm_proofs import parametric_certificate, several_certificate
from bisimdist.errors import UsageError
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.rational import shorten_rational
from bisimdist.hmm.parametric import ParametricProof
from bisimdist.models.hmm import HMM
from bisimdist.words.search import DirectedProof

__all__ = ["BudgetAnswer", "PairBudget", "PairVerdict", "Verdict", "VerifyAnswer"]

MAX_ROWS = 200


class Verdict(Enum):
    """Whether a budget holds."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"

    @property
    def settled(self) -> bool | None:
        """The same as a Boolean; None where it is not known."""
        return {Verdict.HOLDS: True, Verdict.VIOLATED: False}.get(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVerdict:
    """Whether a budget holds for one pair.

    Parameters
    ----------
    source, target
        The names of the two distributions.
    verdict
        The answer.
    ratio
        The rational budget that was decided: the one that was asked or, for an epsilon, a rounded one.
    counterexample
        A sequence that violates the budget, by name.
    probabilities
        Its exact probabilities from `source` and from `target`.
    parameters
        The parameter values for which it does.
    ways
        By which ways the verdict was reached: ``information states``, ``bernstein``, ``z3 chosen``, ….
    note
        What a reader ought to know: why nothing was decided, or that one way alone says so.
    proofs
        For each direction a proof, where the verdict is ``holds`` and comes from information states.
    parametric
        The proofs for all parameter values, one for each length.
    """

    source: str
    target: str
    verdict: Verdict
    ratio: fmpq
    counterexample: tuple[str, ...] | None = None
    probabilities: tuple[fmpq, fmpq] | None = None
    parameters: Mapping[str, fmpq] = field(default_factory=dict)
    ways: tuple[str, ...] = field(default=(), compare=False)
    note: str = field(default="", compare=False)
    proofs: tuple[DirectedProof, ...] = field(default=(), repr=False, compare=False)
    parametric: tuple[ParametricProof, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyAnswer:
    """Whether a budget holds for each pair that was asked.

    Parameters
    ----------
    model
        The model.
    ratio, epsilon
        What was asked: one of the two is None.
    length, up_to
        The length of the sequences, and whether shorter ones count too.
    pairs
        The answers, in the order in which the pairs were asked.
    """

    model: HMM
    ratio: fmpq | None
    epsilon: fmpq | None
    length: int
    up_to: bool
    pairs: tuple[PairVerdict, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict about all pairs together."""
        found = {pair.verdict for pair in self.pairs}
        for verdict in (Verdict.VIOLATED, Verdict.UNKNOWN):
            if verdict in found:
                return verdict
        return Verdict.HOLDS

    def certificate(self) -> dict[str, object]:
        """Return the proof of all verdicts, as plain data that ``json.dumps`` writes.

        Raises
        ------
        UsageError
            If a verdict is unknown, or rests on Z3 alone.
        """
        claims, proofs, parts = [], [], []
        for pair in self.pairs:
            if pair.verdict is Verdict.UNKNOWN:
                raise UsageError(f"the pair ({pair.source}, {pair.target}) is not decided: there is no proof")
            if pair.verdict is Verdict.HOLDS and not pair.proofs:
                if not pair.parametric:
                    raise UsageError(
                        f"the verdict on ({pair.source}, {pair.target}) rests on {', '.join(pair.ways)} "
                        "alone, so there is no proof to write"
                    )
                parts += [parametric_certificate(proof) for proof in pair.parametric]
                continue
            claims.append(
                BudgetClaim(
                    source=pair.source,
                    target=pair.target,
                    ratio=pair.ratio,
                    holds=pair.verdict is Verdict.HOLDS,
                    word=pair.counterexample,
                    parameters=pair.parameters,
                    probabilities=pair.probabilities,
                )
            )
            proofs += list(pair.proofs)
        if claims:
            parts.append(
                budget_certificate(self.model, self.length, up_to=self.up_to, claims=claims, proofs=proofs)
            )
        return several_certificate(parts)

    def _repr_html_(self) -> str:
        asked = "" if self.ratio is None else f"ratio {shorten_rational(self.ratio)}"
        asked = asked or f"epsilon {shorten_rational(self.epsilon or fmpq(0))}"
        rows = [
            (pair.source, pair.target, pair.verdict.value, " ".join(pair.counterexample or ()))
            for pair in self.pairs
        ]
        caption = f"{asked}, length {'up to ' if self.up_to else ''}{self.length}"
        return _table(caption, ("from", "to", "verdict", "counterexample"), rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairBudget:
    """The least budget of one pair.

    Parameters
    ----------
    source, target
        The names of the two distributions.
    ratio
        The value; None where it is infinite or, with `exact` false, not known.
    exact
        Whether the value is known.
    witness
        A sequence that attains it; where it is not known, one that shows `at_least`.
    probabilities
        Its exact probabilities from `source` and from `target`.
    at_least
        A proved lower bound; None where it is infinite.
    proofs
        Why no sequence exceeds the value, in each direction.
    rounds
        How many runs it took.
    """

    source: str
    target: str
    ratio: fmpq | None
    exact: bool
    witness: tuple[str, ...]
    probabilities: tuple[fmpq, fmpq] | None
    at_least: fmpq | None
    proofs: tuple[DirectedProof, ...] = field(default=(), repr=False, compare=False)
    rounds: int = field(default=0, compare=False)

    @property
    def infinite(self) -> bool:
        """Whether no budget holds."""
        return self.exact and self.ratio is None

    @property
    def shown(self) -> str:
        """The value for a person."""
        if self.ratio is not None:
            return shorten_rational(self.ratio)
        if self.exact:
            return "inf"
        return f"at least {shorten_rational(self.at_least or fmpq(1))}"

    @property
    def epsilon(self) -> tuple[str, str] | None:
        """Decimals below and above the logarithm of the value, where it is known and finite."""
        return None if self.ratio is None else log_enclosure(self.ratio)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetAnswer:
    """The least budget of each pair that was asked.

    Parameters
    ----------
    model, length, up_to
        As in `VerifyAnswer`.
    pairs
        The answers, in the order in which the pairs were asked.
    """

    model: HMM
    length: int
    up_to: bool
    pairs: tuple[PairBudget, ...]

    @property
    def exact(self) -> bool:
        """Whether every value is known."""
        return all(pair.exact for pair in self.pairs)

    def certificate(self) -> dict[str, object]:
        """Return the proof of the values, as plain data that ``json.dumps`` writes.

        Raises
        ------
        UsageError
            If a value is not known.
        """
        claims = []
        for pair in self.pairs:
            if not pair.exact:
                raise UsageError(
                    f"the budget of ({pair.source}, {pair.target}) is not known: there is no proof"
                )
            claims.append(
                BudgetClaim(
                    source=pair.source,
                    target=pair.target,
                    ratio=pair.ratio,
                    holds=True,
                    word=pair.witness,
                    probabilities=pair.probabilities,
                )
            )
        proofs = [proof for pair in self.pairs for proof in pair.proofs]
        return budget_certificate(self.model, self.length, up_to=self.up_to, claims=claims, proofs=proofs)

    def _repr_html_(self) -> str:
        rows = [
            (pair.source, pair.target, pair.shown, " ".join(pair.epsilon or ()), " ".join(pair.witness))
            for pair in self.pairs
        ]
        caption = f"least budget, length {'up to ' if self.up_to else ''}{self.length}"
        return _table(caption, ("from", "to", "ratio", "epsilon between", "witness"), rows)


def _table(caption: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows[:MAX_ROWS]
    )
    if len(rows) > MAX_ROWS:
        body += f"<tr><td colspan={len(heads)}>and {len(rows) - MAX_ROWS} more pairs</td></tr>"
    head = "".join(f"<th>{name}</th>" for name in heads)
    table = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f"<table><caption>{escape(caption)}</caption>{table}</table>"
