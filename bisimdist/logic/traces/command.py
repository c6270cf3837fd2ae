"""The formulae of the trace logic that a state satisfies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.errors import Located, UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import DEPTH, ENDS, LISTED, STATE, TRACE_FORMULAE
from bisimdist.faces.asked.question import Group, Question, Settled

if TYPE_CHECKING:
    from bisimdist.logic.engine.linear import TraceFormula
    from bisimdist.logic.traces.answer import TraceFormulaeAnswer, TraceSatisfactionsAnswer
    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits

WRITING, SHOWING = 4e-7, 1.2e-6
"""How many seconds it takes to write an action as JSON, and to show it to a person, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces(Question["TraceFormulaeAnswer"]):
    """List the formulae of the trace logic that a state satisfies: its traces with their probabilities.

    With --formula, such as '3/4 <tau><tau><yes>T', check whether the state satisfies that formula, and how
    far it is from doing so. MODEL must be fully probabilistic: a file, '-' for standard input, or
    example:NAME[,key=value...].
    """

    command = "logic traces"
    group = Group.LOGICS
    example = "example:randomised-response-pa --state s_y"
    options = (
        STATE,
        DEPTH,
        TRACE_FORMULAE,
        LISTED,
        ENDS,
        options.TIMEOUT,
        options.CERTIFICATE,
        options.JSON,
    )
    sources = ("CCP18 Definition 7", "CCP18 Theorem 1", "CCP18 Definition 11")

    model: PA
    state: str
    depth: int | None
    limit: int | None
    ends: str
    writing: float

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        state = given[STATE]
        if state is None:
            raise UsageError("--state was not given; expected the name of a state")
        depth, limit, formulae, ends = given[DEPTH], given[LISTED], given[TRACE_FORMULAE], given[ENDS]
        if formulae and (depth is not None or limit is not None):
            raise UsageError("--formula is checked by itself; --depth and --limit do not apply")
        meant = [_read(text) for text in formulae]
        model = given.automaton(fully_probabilistic=True)
        if meant:
            return SatisfiedTraces(model=model, state=state, formulae=tuple(meant), ends=ends)
        writing = WRITING if given[options.JSON] else SHOWING
        writing += WRITING if given.wants_proof else 0
        return cls(model=model, state=state, depth=depth, limit=limit, ends=ends, writing=writing)

    def ask(self, limits: Limits) -> TraceFormulaeAnswer:
        from bisimdist.logic.traces.ask import LIMIT, trace_formulae

        return self.put(trace_formulae, limits, limit=LIMIT if self.limit is None else self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class SatisfiedTraces(Question["TraceSatisfactionsAnswer"]):
    """Whether a state satisfies formulae of the trace logic."""

    command = "logic traces"

    model: PA
    state: str
    formulae: tuple[TraceFormula, ...]
    ends: str

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        return Traces.read(given)

    def ask(self, limits: Limits) -> TraceSatisfactionsAnswer:
        from bisimdist.logic.traces.ask import satisfies_trace_formulae

        return self.put(satisfies_trace_formulae, limits)

    def settled(self, answer: TraceSatisfactionsAnswer) -> Settled:
        return bool(answer)


def _read(text: str) -> TraceFormula:
    from bisimdist.logic.engine.linear_parser import parse_trace_formula

    with Located(source="--formula"):
        return parse_trace_formula(text)
