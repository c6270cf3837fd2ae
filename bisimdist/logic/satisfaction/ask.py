"""Which states satisfy a formula of the full logic (docs/certificates/satisfaction.md)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from bisimdist.errors import UsageError
from bisimdist.faces.shown.proved import Proved, Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.faces.written.frame import Document, document
from bisimdist.logic.engine.equations import EquationSystem
from bisimdist.logic.engine.formula import DistributionFormula, StateFormula
from bisimdist.logic.engine.formula_parser import parse_system
from bisimdist.logic.engine.formula_printer import formula_text, system_text
from bisimdist.logic.engine.satisfaction import ModelChecker, Splitting
from bisimdist.logic.engine.splitting import bits
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of
from bisimdist.progress import NEVER, Deadline
from bisimdist.verdicts import verdict_word

Formula = StateFormula | EquationSystem


def _formula(formula: Formula | str) -> Formula:
    if not isinstance(formula, str):
        return formula
    system = parse_system(formula)
    return system if system.equations else system.root


def text_of(formula: Formula, *, unicode: bool) -> str:
    """Return a formula as text."""
    if isinstance(formula, EquationSystem):
        return system_text(formula, unicode=unicode)
    return formula_text(formula, unicode=unicode)


def satisfaction_certificate(
    automaton: PA, formula: Formula | DistributionFormula, **who: Sequence[object]
) -> Document:
    """Return the certificate that these are the states, or the transitions, that satisfy a formula."""
    return document("satisfaction", automaton, claims=[{"formula": str(formula), **who}])


@dataclass(frozen=True, slots=True, kw_only=True)
class Satisfied(Shown, Proved):
    """What satisfies a formula."""

    command = "logic satisfies"

    @abstractmethod
    def holds(self, state: str) -> bool:
        """Tell whether a state, or some transition of it, satisfies the formula."""

    def verdicts(self, asked: Sequence[str]) -> dict[str, object]:
        """Return what the JSON object says of the states that were asked about, if any were."""
        if not asked:
            return {}
        states = [{"state": state, "holds": self.holds(state)} for state in asked]
        return {"states": states, "verdict": verdict_word(all(map(self.holds, asked)))}


@dataclass(frozen=True, slots=True, kw_only=True)
class SatisfactionAnswer(Satisfied):
    """Which states of a model satisfy a formula.

    Parameters
    ----------
    model
        The automaton.
    formula
        The formula, recursive or not.
    states
        The names of the states that satisfy it, in the order of the model.

    Examples
    --------
    >>> import bisimdist
    >>> pin = bisimdist.build_any_example("pin-checking")
    >>> bisimdist.logic.satisfying(pin, "<a1>T").states
    ('s1', 's7', 't1', 't7')
    """

    model: PA
    formula: Formula
    states: tuple[str, ...]
    _checker: ModelChecker = field(repr=False, compare=False)

    def holds(self, state: str) -> bool:
        """Tell whether a state satisfies the formula.

        Raises
        ------
        ModelError
            If there is no such state.
        """
        self.model.index(state)
        return state in self.states

    def witness(self, state: str) -> Splitting | None:
        """Return the transition by which a state satisfies ``<a>psi``, and how it splits; None if none does.

        Raises
        ------
        UsageError
            If the formula has another form.
        """
        if isinstance(self.formula, EquationSystem):
            raise UsageError("the formula is recursive; only a formula <a>(...) has a witness")
        return self._checker.witness(self.model.index(state), self.formula)

    def data(self, asked: Sequence[str] = ()) -> dict[str, object]:
        return {"formula": str(self.formula), "satisfying": list(self.states), **self.verdicts(asked)}

    def report(self, asked: Sequence[str] = ()) -> Report:
        if asked:
            return Report(
                columns=("state", "satisfies the formula"),
                rows=tuple((state, "yes" if self.holds(state) else "no") for state in asked),
            )
        count = len(self.states)
        remark = f"{count} of {len(self.model)} states satisfy the formula"
        return Report(remarks=(f"{remark}: {', '.join(self.states)}" if count else f"{remark}.",))

    def _repr_html_(self) -> str:
        listed = ", ".join(map(escape, self.states)) or "no state"
        return f"<pre>{escape(text_of(self.formula, unicode=True))}</pre><p>{listed}</p>"


def satisfying(model: PA | LMC, formula: Formula | str, *, deadline: Deadline = NEVER) -> SatisfactionAnswer:
    """Return the states that satisfy a formula.

    Parameters
    ----------
    model
        The automaton; a labelled Markov chain is taken as the automaton with its labels as actions.
    formula
        A formula, or its text.
    deadline
        When to give up.

    Returns
    -------
    SatisfactionAnswer
        The states.

    Raises
    ------
    ModelError
        If the text is no formula, with line and column.
    LimitError
        If the time is over.

    Examples
    --------
    >>> from bisimdist.models.library.pin_checking import pin_checking
    >>> satisfying(pin_checking(), "<a1>(3/5 <ok>T + 2/5 T)").states
    ('s1', 's7')
    """
    automaton = automaton_of(model)
    meant = _formula(formula)
    checker = ModelChecker(automaton, deadline)
    members = checker.solution(meant)[0] if isinstance(meant, EquationSystem) else checker.states(meant)
    names = tuple(automaton.states[state] for state in bits(members))
    return SatisfactionAnswer(
        model=automaton,
        formula=meant,
        states=names,
        _checker=checker,
        make_certificate=lambda: satisfaction_certificate(automaton, meant, satisfying=list(names)),
    )


def satisfies(model: PA | LMC, state: str, formula: Formula | str, *, deadline: Deadline = NEVER) -> bool:
    """Tell whether a state satisfies a formula; see `satisfying`.

    Parameters
    ----------
    model
        The automaton, or a chain.
    state
        The state.
    formula
        The formula, or its text.
    deadline
        When to give up.

    Returns
    -------
    bool
        Whether it does.

    Examples
    --------
    >>> from bisimdist.models.library.pin_checking import pin_checking
    >>> satisfies(pin_checking(), "s1", "<a1>T & !<ok>T")
    True
    """
    automaton = automaton_of(model)
    automaton.index(state)
    return satisfying(automaton, formula, deadline=deadline).holds(state)
