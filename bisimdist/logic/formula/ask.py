"""What a state can do, as a formula (docs/certificates/mimicking-formula.md), and distances of formulae.

Source: CCP18 Definition 23.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from html import escape

from flint import fmpq

from bisimdist.distances.engine.liftings import AdditiveLifting, Lifting, MultiplicativeLifting
from bisimdist.errors import LimitError
from bisimdist.exact.number import Exact
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.exact.scale import Bounds, Scale, larger
from bisimdist.faces.shown.plain import said
from bisimdist.faces.shown.proved import Proved, Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.faces.written.frame import Document, document
from bisimdist.logic.engine.equations import EquationSystem
from bisimdist.logic.engine.formula import StateFormula, formula_size
from bisimdist.logic.engine.formula_distance import FormulaDistance
from bisimdist.logic.engine.formula_parser import parse_formula
from bisimdist.logic.engine.mimicking import (
    longest_run,
    mimicking_formulae,
    mimicking_system,
    reachable_states,
)
from bisimdist.logic.satisfaction.ask import Formula, text_of
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of, outgoing
from bisimdist.progress import NEVER, Deadline, Limits, Progress, silent

MAX_WORK = 80_000_000  # how much the checker may have to build: formulae of more parts are not written


@dataclass(frozen=True, slots=True, kw_only=True)
class MimickingAnswer(Shown, Proved):
    """What a state can do, as a formula.

    Parameters
    ----------
    model
        The automaton.
    state
        The name of the state.
    depth
        For how many steps; None for ever.
    formula
        The formula; recursive, with one equation for each class of bisimilar states, where it is for ever
        and the state can go on for ever.

    Examples
    --------
    >>> import bisimdist
    >>> pin = bisimdist.build_any_example("pin-checking")
    >>> str(bisimdist.logic.mimicking_formula(pin, "done", depth=1).formula)
    '!<a1>T & !<a2>T & !<no>T & !<ok>T'
    """

    command = "logic formula"

    model: PA
    state: str
    depth: int | None
    formula: Formula

    @property
    def recursive(self) -> bool:
        """Whether the formula is a system of equations."""
        return isinstance(self.formula, EquationSystem)

    @property
    def size(self) -> int:
        """How many formulae it is made of, those that occur in several places counted once."""
        if isinstance(self.formula, EquationSystem):
            return formula_size(self.formula.root, *(side for _, side in self.formula.equations))
        return formula_size(self.formula)

    def text(self, *, unicode: bool = False) -> str:
        """Return the formula as text; `bisimdist.logic.engine.formula_parser` reads it back."""
        return text_of(self.formula, unicode=unicode)

    def data(self) -> dict[str, object]:
        return said(self, "state depth recursive size formula")

    def report(self) -> Report:
        return Report(remarks=tuple(self.text().split("\n")))

    def _repr_html_(self) -> str:
        steps = "for ever" if self.depth is None else f"for {self.depth} steps"
        return f"<p>{escape(self.state)} {steps}:</p><pre>{escape(self.text(unicode=True))}</pre>"


def mimicking_formula(
    model: PA | LMC,
    state: str,
    depth: int | None = None,
    *,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> MimickingAnswer:
    """Return the formula that mimics a state, for some steps or for ever.

    Source: CGT16.

    Parameters
    ----------
    model
        The automaton; a labelled Markov chain is taken as the automaton with its labels as actions.
    state
        The name of the state.
    depth
        For how many steps; None for ever. If no run from the state goes on for ever, the result is then a
        plain formula, otherwise a system of equations, which stands for its greatest solution.
    deadline, progress
        When to give up, and who is told how far it is.

    Returns
    -------
    MimickingAnswer
        The formula.

    Raises
    ------
    ModelError
        If there is no such state.
    UsageError
        If the depth is negative.
    LimitError
        If the time is over.

    Examples
    --------
    >>> from bisimdist.models.library.pin_checking import pin_checking
    >>> print(mimicking_formula(pin_checking(), "s1", 1).text())
    <a1>(1 T) & <a2>(1 T) & !<no>T & !<ok>T
    """
    automaton = automaton_of(model)
    index = automaton.index(state)
    run = longest_run(automaton, index) if depth is None else None
    formula: Formula
    variables: dict[int, str] = {}
    if depth is None and run is None:
        formula, variables = mimicking_system(automaton, index, deadline=deadline)
    else:
        steps = depth if depth is not None else (run or 0) + 1
        limits = Limits(deadline=deadline, progress=progress)
        formula = mimicking_formulae(automaton, steps, states=[index], limits=limits)[index]
    return MimickingAnswer(
        model=automaton,
        state=state,
        depth=depth,
        formula=formula,
        make_certificate=partial(_certificate, automaton, index, depth, formula, variables),
    )


def _certificate(
    automaton: PA, state: int, depth: int | None, formula: Formula, variables: Mapping[int, str]
) -> Document:
    if isinstance(formula, StateFormula):
        reached = reachable_states(automaton, [state])
        steps = outgoing(automaton)
        actions = len({step.action for step in automaton.transitions})
        parts = sum(actions + 3 * sum(len(step.row) for step in steps[s]) for s in reached)
        if parts * (formula.depth + 2) > MAX_WORK:
            raise LimitError("the formula would take too long to check")
    names = automaton.states
    claim: Document = {
        "state": names[state],
        "depth": None if depth is None else str(depth),
        "formula": str(formula),
    }
    if isinstance(formula, EquationSystem):
        claim["variables"] = {names[s]: name for s, name in variables.items()}
    return document("mimicking-formula", automaton, claims=[claim])


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaBound(Bounds):
    """Bounds on the distance of two formulae, or of two states by their formulae.

    Parameters
    ----------
    kind
        ``"additive"``, or ``"multiplicative"``: then bounds are e to the distance.
    discount
        The factor of a step.
    lower, upper
        The bounds; None is infinity. They differ only where a discount makes a value irrational, or where a
        recursive one could not be computed exactly.

    Examples
    --------
    >>> import bisimdist
    >>> bisimdist.logic.formula_distance("<a>T", "<b>T").upper
    1
    """

    kind: str
    discount: Exact

    @property
    def scale(self) -> Scale:
        """What the numbers are."""
        return Scale(self.kind)


def _lifting(kind: str, discount: fmpq) -> Lifting:
    chosen = Scale.called(kind, "distance")
    return AdditiveLifting(discount) if chosen is Scale.ADDITIVE else MultiplicativeLifting(discount)


def formula_distance(
    first: StateFormula | str,
    second: StateFormula | str,
    kind: str = "additive",
    *,
    discount: ExactNumber = 1,
    deadline: Deadline = NEVER,
) -> FormulaBound:
    """Return the distance of two formulae.

    Parameters
    ----------
    first, second
        Formulae without recursion, or their texts.
    kind
        ``"additive"`` or ``"multiplicative"``: how two probabilities are compared.
    discount
        The factor of a step, in (0, 1].
    deadline
        When to give up.

    Returns
    -------
    FormulaBound
        Bounds on the distance, which meet where it is known.

    Raises
    ------
    UsageError
        If there is no such kind, or the discount is not in (0, 1].
    ModelError
        If a text is no formula.
    LimitError
        If the time is over.

    Examples
    --------
    >>> formula_distance("<a>(1/2 <b>T + 1/2 !<b>T)", "<a><b>T", discount="9/10").upper
    9/20
    """
    factor = to_fmpq(discount)
    lifting = _lifting(kind, factor)
    one, other = (parse_formula(text) if isinstance(text, str) else text for text in (first, second))
    lower, upper = (
        FormulaDistance(lifting, up=up, deadline=deadline).between(one, other) for up in (False, True)
    )
    least = Scale(kind).least  # below which a power that was rounded down may be
    return FormulaBound(kind=kind, discount=factor, lower=larger(lower, least), upper=upper)


def logical_distance(  # noqa: PLR0913
    model: PA | LMC,
    source: str,
    target: str,
    kind: str = "additive",
    *,
    depth: int | None = None,
    discount: ExactNumber = 1,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> FormulaBound:
    """Return the distance of the mimicking formulae of two states.

    For a depth k it is the k-th iterate of the functional of the bisimilarity metric, from 0. Without a depth
    it is the metric itself, because the same least fixed point defines the distance of recursive formulae.

    Parameters
    ----------
    model
        The automaton; a labelled Markov chain is taken as the automaton with its labels as actions.
    source, target
        The names of the states.
    kind, discount, deadline
        As in `formula_distance`.
    depth
        For how many steps the states are mimicked; None for ever.
    progress
        Told what is being done.

    Returns
    -------
    FormulaBound
        Bounds on the distance, which meet where it is known.

    Raises
    ------
    UsageError, ModelError, LimitError
        As in `formula_distance`.

    Examples
    --------
    >>> from bisimdist.models.library.pin_checking import pin_checking
    >>> [logical_distance(pin_checking(), "s1", "t1", depth=k).upper for k in range(4)]
    [0, 0, 1/5, 1/5]
    """
    factor = to_fmpq(discount)
    _lifting(kind, factor)
    automaton = automaton_of(model)
    s, t = automaton.index(source), automaton.index(target)
    if depth is None:
        from bisimdist.automata.generalised.ask import generalised_metric  # noqa: PLC0415

        answer = generalised_metric(
            automaton, kind, discount=factor, pairs=[(source, target)], deadline=deadline, progress=progress
        )
        bound = answer.pairs[0]
        return FormulaBound(kind=kind, discount=factor, lower=bound.lower, upper=bound.upper)
    limits = Limits(deadline=deadline, progress=progress)
    formulae = mimicking_formulae(automaton, depth, states=[s, t], limits=limits)
    return formula_distance(formulae[s], formulae[t], kind, discount=factor, deadline=deadline)
