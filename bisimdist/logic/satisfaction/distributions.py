"""Formulae about distributions: which transitions satisfy one, and whether a distribution does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from flint import fmpq

from bisimdist.errors import ModelError, NumberError
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import ExactNumber, format_rational, shorten_rational, to_fmpq
from bisimdist.faces.shown.numbers import short_rational
from bisimdist.faces.shown.tables import Report
from bisimdist.faces.written.frame import Document
from bisimdist.logic.engine.formula import DistributionFormula, StateFormula
from bisimdist.logic.engine.formula_parser import parse_distribution_formula
from bisimdist.logic.engine.formula_printer import formula_text
from bisimdist.logic.engine.satisfaction import ModelChecker, Parts
from bisimdist.logic.engine.splitting import bits
from bisimdist.logic.satisfaction.ask import Satisfied, satisfaction_certificate
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of
from bisimdist.progress import NEVER, Deadline

SHOWN = 12  # how many successors of a transition a person is shown


def _masses(masses: Mapping[str, fmpq]) -> dict[str, str]:
    return {state: format_rational(mass) for state, mass in masses.items()}


@dataclass(frozen=True, slots=True)
class Share:
    """One part of a distribution that splits as a formula says."""

    weight: fmpq
    formula: StateFormula
    masses: Mapping[str, fmpq]


def _shares(model: PA, parts: Parts) -> tuple[Share, ...]:
    return tuple(
        Share(weight, formula, {model.states[state]: mass for state, mass in masses.items()})
        for weight, formula, masses in parts
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SatisfyingTransition:
    """A transition whose sub-distribution satisfies a formula."""

    number: int  # its position among the transitions of the model, from 0
    source: str  # the state that it leaves, by name
    action: str
    targets: Mapping[str, fmpq]  # its successors by name, with their probabilities
    _formula: DistributionFormula = field(repr=False, compare=False)
    _checker: ModelChecker = field(repr=False, compare=False)

    @property
    def splitting(self) -> tuple[Share, ...]:
        """How the sub-distribution splits, one share for each part of the formula; none for ``T``."""
        model = self._checker.automaton
        found = self._checker.parts(model.transitions[self.number].row, self._formula)
        return _shares(model, found or ())

    def data(self) -> dict[str, object]:
        """Return the transition as plain data, with how it splits."""
        return {
            "from": self.source,
            "action": self.action,
            "to": _masses(self.targets),
            "splitting": [_masses(share.masses) for share in self.splitting],
        }

    @property
    def row(self) -> tuple[str, ...]:
        shown = [f"{state} {short_rational(p)}" for state, p in list(self.targets.items())[:SHOWN]]
        left = len(self.targets) - SHOWN
        return self.source, self.action, ", ".join(shown) + (f", ... ({left} more)" if left > 0 else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitionsAnswer(Satisfied):
    """Which transitions of a model satisfy a formula about distributions.

    Parameters
    ----------
    model
        The automaton.
    formula
        The formula.
    transitions
        The transitions that satisfy it, in the order of the model.

    Examples
    --------
    >>> import bisimdist
    >>> pin = bisimdist.build_any_example("pin-checking")
    >>> len(bisimdist.logic.satisfying_transitions(pin, "(3/5 <ok>T + 2/5 T)").transitions)
    4
    """

    command = "logic satisfies"

    model: PA
    formula: DistributionFormula
    transitions: tuple[SatisfyingTransition, ...]

    def of(self, state: str) -> tuple[SatisfyingTransition, ...]:
        """Return those that leave a state.

        Raises
        ------
        ModelError
            If there is no such state.
        """
        self.model.index(state)
        return tuple(step for step in self.transitions if step.source == state)

    def holds(self, state: str) -> bool:
        """Tell whether some transition of a state satisfies the formula.

        Raises
        ------
        ModelError
            If there is no such state.
        """
        return bool(self.of(state))

    def _among(self, asked: Sequence[str]) -> list[SatisfyingTransition]:
        """Return the transitions of the states that were asked about, of all states if none was."""
        return [step for step in self.transitions if not asked or step.source in asked]

    def data(self, asked: Sequence[str] = ()) -> dict[str, object]:
        transitions = [step.data() for step in self._among(asked)]
        return {"formula": str(self.formula), "transitions": transitions, **self.verdicts(asked)}

    def report(self, asked: Sequence[str] = ()) -> Report:
        listed = self._among(asked)
        remarks = [
            f"No transition of {state} satisfies the formula." for state in asked if not self.holds(state)
        ]
        if not asked:
            count = f"{len(self.transitions)} of {len(self.model.transitions)}"
            remarks = [f"{count} transitions satisfy the formula."]
        return Report(
            columns=("from", "action", "to") if listed else (),
            rows=tuple(step.row for step in listed),
            remarks=tuple(remarks),
        )


def satisfying_transitions(
    model: PA | LMC, formula: DistributionFormula | str, *, deadline: Deadline = NEVER
) -> TransitionsAnswer:
    """Return the transitions whose sub-distributions satisfy a formula about distributions.

    Parameters
    ----------
    model, deadline
        As in `bisimdist.logic.satisfying`, and so are the errors.
    formula
        A formula such as ``(2/3 <yes>T + 1/3 T)``, or its text; ``T`` is satisfied by all transitions.

    Returns
    -------
    TransitionsAnswer
        The transitions.

    Raises
    ------
    UsageError
        If a variable occurs in the formula.

    Examples
    --------
    >>> from bisimdist.models.library.pin_checking import pin_checking
    >>> answer = satisfying_transitions(pin_checking(), "(3/5 <ok>T + 2/5 T)")
    >>> [(step.source, step.action) for step in answer.transitions]
    [('s1', 'a1'), ('s7', 'a1'), ('t3', 'a2'), ('t1', 'a2')]
    >>> [{state: str(p) for state, p in share.masses.items()} for share in answer.transitions[0].splitting]
    [{'s5': '3/5'}, {'s2': '2/5'}]
    """
    automaton = automaton_of(model)
    meant = parse_distribution_formula(formula) if isinstance(formula, str) else formula
    checker = ModelChecker(automaton, deadline)
    numbers = tuple(bits(checker.transitions(meant)))
    steps = ((number, automaton.transitions[number]) for number in numbers)
    found = tuple(
        SatisfyingTransition(
            number=number,
            source=automaton.states[step.source],
            action=step.action,
            targets={automaton.states[target]: p for target, p in step.row},
            _formula=meant,
            _checker=checker,
        )
        for number, step in steps
    )

    def certificate() -> Document:
        written = automaton.canonical()["transitions"]
        assert isinstance(written, list)
        # of equal transitions one is written
        unique = {
            (step.source, step.action, frozenset((t, str(p)) for t, p in step.targets.items())): step.number
            for step in found
        }
        listed = [written[number] for number in sorted(unique.values())]
        return satisfaction_certificate(automaton, meant, transitions=listed)

    return TransitionsAnswer(model=automaton, formula=meant, transitions=found, make_certificate=certificate)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionAnswer(Numbers):
    """Whether a sub-distribution satisfies a formula; true exactly if it does.

    Parameters
    ----------
    model
        The automaton.
    formula
        The formula.
    masses
        The positive masses of the states, by name.
    splitting
        How it splits, one share for each part of the formula; None if it does not satisfy the formula.

    Examples
    --------
    >>> import bisimdist
    >>> pin = bisimdist.build_any_example("pin-checking")
    >>> bool(bisimdist.logic.distribution_satisfies(pin, {"s5": 1}, "(1/2 <ok>T + 1/2 T)"))
    True
    """

    model: PA
    formula: DistributionFormula
    masses: Mapping[str, Exact]
    splitting: tuple[Share, ...] | None

    @property
    def satisfied(self) -> bool:
        """Whether the sub-distribution satisfies the formula."""
        return self.splitting is not None

    def __bool__(self) -> bool:
        return self.satisfied

    def _repr_html_(self) -> str:
        masses = ", ".join(f"{escape(state)} {format_rational(p)}" for state, p in self.masses.items())
        verdict = "satisfies" if self.satisfied else "does not satisfy"
        return f"<p>({masses}) {verdict} <code>{escape(formula_text(self.formula, unicode=True))}</code></p>"


def distribution_satisfies(
    model: PA | LMC,
    masses: Mapping[str, ExactNumber],
    formula: DistributionFormula | str,
    *,
    deadline: Deadline = NEVER,
) -> DistributionAnswer:
    """Tell whether a sub-distribution on the states of a model satisfies a formula about distributions.

    Parameters
    ----------
    masses
        The masses of the states, by name; they sum to at most one.
    model, formula, deadline
        As in `satisfying_transitions`.

    Returns
    -------
    DistributionAnswer
        The verdict, with how the distribution splits.

    Raises
    ------
    ModelError
        If a name is that of no state, or the text is no such formula.
    NumberError
        If a mass is negative, or they sum to more than one.
    NumberTypeError
        If a mass is no exact number.
    UsageError
        If a variable occurs in the formula.

    Examples
    --------
    >>> from bisimdist.models.library.pin_checking import pin_checking
    >>> bool(distribution_satisfies(pin_checking(), {"s2": "1/2", "s5": "1/4"}, "(1/4 <ok>T + 1/2 T)"))
    True
    >>> bool(distribution_satisfies(pin_checking(), {"s2": "1/2", "s5": "1/4"}, "(1/2 <ok>T + 1/4 T)"))
    False
    """
    automaton = automaton_of(model)
    meant = parse_distribution_formula(formula) if isinstance(formula, str) else formula
    given = {state: to_fmpq(mass) for state, mass in masses.items()}
    known = {state: number for number, state in enumerate(automaton.states)}
    for state, mass in given.items():
        if state not in known:
            raise ModelError("there is no such state; expected states of the model", place=f"state {state!r}")
        if mass < 0:
            raise NumberError(f"the mass of {state!r} is {shorten_rational(mass)}; expected at least 0")
    positive = {state: mass for state, mass in given.items() if mass}
    total = sum(positive.values(), fmpq(0))
    if total > 1:
        raise NumberError(f"the masses sum to {shorten_rational(total)}; expected at most 1")
    row = tuple(sorted((known[state], mass) for state, mass in positive.items()))
    found = ModelChecker(automaton, deadline).parts(row, meant)
    return DistributionAnswer(
        model=automaton,
        formula=meant,
        masses=positive,
        splitting=None if found is None else _shares(automaton, found),
    )
