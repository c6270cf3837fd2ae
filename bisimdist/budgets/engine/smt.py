"""The budget question put to Z3: one query that chooses the observations, or one for each sequence.

The denominators of the entries are cleared before Z3 sees anything, and stated to be positive, so that no
model of Z3 divides by zero. A sequence and parameter values that Z3 finds count only after an exact check;
where a value is algebraic, a rational one nearby that still violates takes its place. ``Optimize`` is not
used.

Source: LWZ22-conference Algorithm 1, LWZ22-conference Theorem 5.2, LWZ22-long Algorithm 1,
LWZ22-long Theorem 5.3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import z3
from flint import fmpq, fmpq_mpoly

from bisimdist.budgets.engine.cleared import ClearedPair, differences
from bisimdist.errors import LimitError, UsageError
from bisimdist.models.hmm import HMM
from bisimdist.models.polynomial import evaluate_entry
from bisimdist.progress import NEVER, Deadline
from bisimdist.traces.engine.forward import probability
from bisimdist.traces.engine.layers import Word

VARIANTS = ("chosen", "sequences")
"""``chosen``: the published algorithm, observations are variables; ``sequences``: one query for each."""

SECONDS = 60.0  # how long Z3 may work on one question where there is no deadline

Told = Callable[[Any], None]

MAX_SEQUENCES = 200_000
DIGITS = (4, 8, 16, 40, 120)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtAnswer:
    """What Z3 found out."""

    # True where every query is unsatisfiable, False where `word` violates the budget, None where Z3 gave up
    holds: bool | None
    # whether the queries had products of unknowns: an ``unsat`` of Z3 is then worth a second opinion
    nonlinear: bool
    queries: int  # how many queries there were
    pair: tuple[str, str] | None = None  # the direction of the violation
    # word, parameters and probabilities: a violating sequence with parameter values and both exact
    # probabilities
    word: Word = ()
    parameters: dict[str, fmpq] = field(default_factory=dict)
    probabilities: tuple[fmpq, fmpq] | None = None
    reason: str = ""  # why nothing was decided


def rational_near(value: Any, digits: int) -> fmpq:
    """Return a value of a model of Z3 as a rational, an algebraic one rounded to so many digits."""
    if z3.is_algebraic_value(value):
        value = value.approx(digits)
    return fmpq(value.numerator_as_long(), value.denominator_as_long())


class _Question:
    """One pair of a model, ready to be put to Z3."""

    def __init__(
        self, model: HMM, pair: tuple[str, str], ratio: fmpq, deadline: Deadline, told: Told | None
    ) -> None:
        self.model = model
        self.pair = pair
        self.ratio = ratio
        self.deadline = Deadline.after(SECONDS) if deadline.moment is None else deadline
        self.cleared = ClearedPair.of(model, *pair)
        # A context of its own, because one that threads share crashes the interpreter.
        self.context = z3.Context()
        self.beside = told is not None
        if told is not None:
            told(self.context)
        self.variables = [z3.Real(f"p{index}", self.context) for index in range(len(model.parameters))]
        self.nonlinear = model.parametric
        self.queries = 0

    def number(self, value: fmpq) -> Any:
        return z3.Q(int(value.p), int(value.q), self.context)

    def term(self, polynomial: fmpq_mpoly) -> Any:
        """Return a polynomial over the variables as a term of Z3."""
        terms = []
        for exponents, coefficient in polynomial.to_dict().items():
            factors = [self.number(fmpq(coefficient))]
            for variable, power in zip(self.variables, exponents, strict=True):
                factors += [variable] * int(power)
            terms.append(z3.Product(factors) if len(factors) > 1 else factors[0])
        return z3.Sum(terms) if terms else self.number(fmpq(0))

    def solver(self) -> Any:
        """Return a solver that knows the box and that the denominators are positive."""
        context = self.context
        solver = z3.SolverFor("QF_NRA" if self.nonlinear else "QF_LRA", context)
        if self.beside:  # Ctrl-C is then for whoever waits
            solver.set("ctrl_c", False)
        for variable, (low, high) in zip(self.variables, self.model.box, strict=True):
            solver.add(variable > self.number(low), variable < self.number(high))
        for denominator in self.cleared.denominators:
            if not denominator.is_constant():
                solver.add(self.term(denominator) > 0)
        return solver

    def check(self, solver: Any) -> Any:
        self.queries += 1
        if self.deadline.passed():
            return z3.unknown
        left = (self.deadline.moment or 0) - time.monotonic()
        solver.set("timeout", max(1, int(1000 * left)))
        return solver.check()

    def given_up(self, solver: Any) -> str:
        """Return why Z3 did not decide."""
        if self.deadline.passed():
            return "the time limit was reached before Z3 had decided"
        return "Z3 gave up: " + (solver.reason_unknown() or "it does not say why")

    def confirmed(self, found: Any, word: Word, pair: tuple[str, str]) -> SmtAnswer | None:
        """Return the violation that a model of Z3 describes, if exact arithmetic agrees."""
        chances = [probability(self.model, self.model.distribution(name), word) for name in pair]
        for digits in DIGITS:
            values = {
                parameter.name: rational_near(found.eval(variable, model_completion=True), digits)
                for parameter, variable in zip(self.model.parameters, self.variables, strict=True)
            }
            if any(not p.low < values[p.name] < p.high for p in self.model.parameters):
                continue
            first, second = (evaluate_entry(chance, values) for chance in chances)
            if first > self.ratio * second:
                return SmtAnswer(
                    holds=False,
                    nonlinear=self.nonlinear,
                    queries=self.queries,
                    pair=pair,
                    word=word,
                    parameters=values,
                    probabilities=(first, second),
                )
        return None

    def ended(self, holds: bool | None, reason: str = "") -> SmtAnswer:
        return SmtAnswer(holds=holds, nonlinear=self.nonlinear, queries=self.queries, reason=reason)


def decide_by_smt(  # noqa: PLR0913
    model: HMM,
    pair: tuple[str, str],
    ratio: fmpq,
    length: int,
    *,
    variant: str = "chosen",
    deadline: Deadline = NEVER,
    told: Told | None = None,
) -> SmtAnswer:
    """Ask Z3 whether a budget holds for all sequences of a length, in both directions.

    model: a model with or without parameters.
    variant: ``"chosen"``: variables choose the observation of each position, and the forward algorithm is
        built over them, once for the difference of both sides (docs/theory/hmm.md). ``"sequences"``: one
        query for each sequence, where sequences with the same polynomial are one.
    deadline: when to give up; `SECONDS` from now where there is none.
    told: where Z3 works in a thread beside others: told of its context, whose ``interrupt`` ends the work.
    Returns with `holds` None where Z3 gives up, or where what it finds does not survive the exact check.
    Raises UsageError if the length is less than one or there is no such variant.

    Source: LWZ22, Algorithm 1.

    >>> from bisimdist.models.library.hidden_markov import geometric
    >>> decide_by_smt(geometric(), ("0", "1"), fmpq(2), 1).holds
    True
    """
    if length < 1:
        raise UsageError(f"the length is {length}; expected at least 1")
    if variant not in VARIANTS:
        raise UsageError(f"variant={variant!r} is not usable; expected {' or '.join(VARIANTS)}")
    question = _Question(model, pair, ratio, deadline, told)
    try:
        return _chosen(question, length) if variant == "chosen" else _sequences(question, length)
    except LimitError as error:
        return question.ended(None, str(error))


def _chosen(question: _Question, length: int) -> SmtAnswer:
    undecided = ""
    for swapped in (False, True):
        solver = question.solver()
        symbols = range(len(question.model.observations))
        word = [[z3.Bool(f"w{place}_{o}", question.context) for o in symbols] for place in range(length)]
        for choices in word:
            solver.add(z3.Or(choices))
        first, second = map(dict, (question.cleared.first, question.cleared.second))
        solver.add(_forward(question, solver, (second, first) if swapped else (first, second), word) > 0)
        answer = question.check(solver)
        if answer == z3.sat:
            found = solver.model()
            pair = question.pair[::-1] if swapped else question.pair
            chosen = tuple(
                next(o for o, here in enumerate(choices) if z3.is_true(found.eval(here))) for choices in word
            )
            confirmed = question.confirmed(found, chosen, pair)
            if confirmed is not None:
                return confirmed
            undecided = "what Z3 found did not survive the exact check"
        elif answer != z3.unsat:
            undecided = question.given_up(solver)
    return question.ended(None, undecided) if undecided else question.ended(True)


def _forward(
    question: _Question,
    solver: Any,
    sides: Sequence[dict[int, fmpq_mpoly]],
    word: Sequence[Sequence[Any]],
) -> Any:
    """Build the forward algorithm for chosen observations; return by how much the budget is exceeded.

    The algorithm is linear: it is run once, on the difference of the sides. Where two observations were
    chosen at one place, either of them would do.
    """
    cleared, zero = question.cleared, question.number(fmpq(0))
    rows = [[(t, question.term(p)) for t, p in row] for row in cleared.rows]
    seen = [{o: question.term(p) for o, p in row.items()} for row in cleared.emissions]
    mass, other = sides
    current = {
        state: question.term(mass.get(state, 0) - question.ratio * other.get(state, 0))
        for state in sorted(mass.keys() | other.keys())
    }
    for position, choices in enumerate(word):
        question.deadline.check()
        if position:
            moved: dict[int, list[Any]] = {}
            for state, value in current.items():
                for target, weight in rows[state]:
                    moved.setdefault(target, []).append(value * weight)
            current = {state: z3.Sum(terms) for state, terms in moved.items()}
        for state, value in current.items():
            variable = z3.Real(f"d{position}_{state}", question.context)
            for symbol, choice in enumerate(choices):
                weight = seen[state].get(symbol)
                solver.add(z3.Implies(choice, variable == (zero if weight is None else value * weight)))
            current[state] = variable
    return z3.Sum(list(current.values())) if current else zero


def _sequences(question: _Question, length: int) -> SmtAnswer:
    undecided = ""
    polynomials: Iterator[Any] = differences(
        question.cleared,
        question.ratio,
        length,
        len(question.model.observations),
        deadline=question.deadline,
    )
    for difference in islice(polynomials, MAX_SEQUENCES):
        solver = question.solver()
        solver.add(question.term(difference.polynomial) < 0)
        answer = question.check(solver)
        if answer == z3.sat:
            pair = question.pair[::-1] if difference.swapped else question.pair
            confirmed = question.confirmed(solver.model(), difference.word, pair)
            if confirmed is not None:
                return confirmed
            undecided = "what Z3 found did not survive the exact check"
        elif answer != z3.unsat:
            undecided = question.given_up(solver)
    if next(polynomials, None) is not None:
        undecided = f"there are more than {MAX_SEQUENCES} different sequences"
    return question.ended(None, undecided) if undecided else question.ended(True)
