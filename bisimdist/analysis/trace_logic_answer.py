"""Answers in the trace logic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

from flint import fmpq

from bisimdist.analysis.answer import Status
from bisimdist.analysis.proved import AboutTraces
from bisimdist.errors import UsageError
from bisimdist.logic.linear import LinearFormula, ProbabilisticFormula, TraceFormula
from bisimdist.models.pa import PA
from bisimdist.report.tables import html_table

__all__ = [
    "TraceEquivalenceAnswer",
    "TraceFormulaeAnswer",
    "TraceSatisfaction",
    "TraceSatisfactionsAnswer",
    "TraceVerdict",
    "no_certificate",
]

MAX_ROWS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFormulaeAnswer(AboutTraces):
    """The set L(s) of a state, or its beginning, shortest formulae first.

    Parameters
    ----------
    model
        The automaton.
    state
        The name of the state.
    depth
        The greatest length of the formulae asked for; None for all.
    formulae
        The formulae, ordered by length and then alphabetically.
    following
        The formula that comes next, where there are more than were asked for.
    count
        How many there are up to the depth, whether listed or not; None where that is not known.
    longest
        The length of the longest formula of the state; None where they are of every length.
    status
        ``EXACT``, or ``LIMIT`` where time ran out; the formulae listed are satisfied all the same.

    References
    ----------
    .. [1] Castiglioni, Chatzikokolakis, Palamidessi, "A Logical Characterization of Differential Privacy via
       Behavioral Metrics", FACS 2018.
    """

    model: PA
    state: str
    depth: int | None
    formulae: tuple[ProbabilisticFormula, ...]
    following: ProbabilisticFormula | None
    count: int | None
    longest: int | None
    status: Status

    @property
    def complete(self) -> bool:
        """Whether the formulae are all of them, up to the depth."""
        return self.status is Status.EXACT and self.following is None

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{formula.probability}</td><td>{escape(str(formula.linear))}</td></tr>"
            for formula in self.formulae[:MAX_ROWS]
        )
        left = len(self.formulae) - MAX_ROWS
        more = f"<p>and {left} more</p>" if left > 0 else ""
        depth = "" if self.depth is None else f" up to depth {self.depth}"
        what = "" if self.complete else ", the beginning"
        return (
            f"<table><caption>L({escape(self.state)}){depth}{what}</caption>"
            f"<thead><tr><th>probability</th><th>formula</th></tr></thead><tbody>{rows}</tbody></table>{more}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSatisfaction:
    """What a formula says of a state.

    Parameters
    ----------
    state
        The name of the state.
    formula
        The formula.
    satisfied
        Whether the state satisfies it.
    probability
        The probability of its trace from the state.
    value
        The real-valued semantics: 1 less the distance of the formula from L(state).
    lenient_value
        The same where L(state) holds the formulae of probability 0, too. It differs only where the trace is
        impossible.
    """

    state: str
    formula: TraceFormula
    satisfied: bool
    probability: fmpq
    value: fmpq
    lenient_value: fmpq

    def __bool__(self) -> bool:
        return self.satisfied

    def _repr_html_(self) -> str:
        verdict = "satisfies" if self.satisfied else "does not satisfy"
        return (
            f"<p>{escape(self.state)} {verdict} <code>{escape(str(self.formula))}</code>: "
            f"its trace has the probability {self.probability}, its value is {self.value}.</p>"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSatisfactionsAnswer(AboutTraces):
    """What some formulae say of a state; true exactly if it satisfies all of them.

    Parameters
    ----------
    model
        The automaton.
    state
        The name of the state.
    formulae
        What is found, formula by formula.
    """

    model: PA
    state: str
    formulae: tuple[TraceSatisfaction, ...]

    def __bool__(self) -> bool:
        return all(self.formulae)

    def _repr_html_(self) -> str:
        rows = [
            (str(found.formula), "yes" if found else "no", str(found.probability), str(found.value))
            for found in self.formulae
        ]
        head = ("formula", "satisfied", "probability of the trace", "value")
        return html_table(f"formulae of the trace logic at {self.state}", head, rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceVerdict:
    """Whether two states are trace equivalent.

    Parameters
    ----------
    source, target
        The names of the states.
    equivalent
        Whether every trace has the same probability from both; None where that is not decided.
    trace
        A trace with different probabilities; None where there is none or none is known.
    probabilities
        Its probabilities.
    least
        Whether the trace is proved to be of least length and, of these, the alphabetically first.
    """

    source: str
    target: str
    equivalent: bool | None
    trace: tuple[str, ...] | None = None
    probabilities: tuple[fmpq, fmpq] | None = None
    least: bool = False


def no_certificate() -> dict[str, object]:
    """Refuse to write the proof of nothing."""
    raise UsageError("nothing is decided, so there is nothing to prove")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEquivalenceAnswer(AboutTraces):
    """Verdicts on pairs of states, with their proof.

    Parameters
    ----------
    model
        The automaton.
    pairs
        The verdicts, in the order in which the pairs were asked.
    status
        ``EXACT``, or ``LIMIT`` where not everything is decided, or a trace is not proved to be the least one.
    statistics
        Counts of what was done, without any timing.
    make_certificate
        Writes the proof when it is asked for.

    References
    ----------
    .. [1] Schützenberger, "On the definition of a family of automata", Information and Control 4, 1961.
    .. [2] Tzeng, "A polynomial-time algorithm for the equivalence of probabilistic automata", SIAM Journal on
       Computing 21, 1992.
    """

    model: PA
    pairs: tuple[TraceVerdict, ...]
    status: Status
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def equivalent(self) -> bool | None:
        """Whether every pair is equivalent; None where that is not known."""
        verdicts = {pair.equivalent for pair in self.pairs}
        return False if False in verdicts else None if None in verdicts else True

    def _repr_html_(self) -> str:
        rows = [(pair.source, pair.target, _shown(pair)) for pair in self.pairs]
        return html_table(
            f"trace equivalence ({self.status.value})",
            ("from", "to", "trace equivalent"),
            rows,
            most=MAX_ROWS,
        )


def _shown(pair: TraceVerdict) -> str:
    if pair.equivalent is None:
        return "not decided"
    if pair.trace is None or pair.probabilities is None:
        return "yes"
    first, second = pair.probabilities
    return f"no: {LinearFormula(pair.trace)} has the probabilities {first} and {second}"
