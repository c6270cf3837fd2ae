"""Why states are bisimilar, or a formula that tells them apart (docs/certificates/formulae.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from bisimdist.errors import ENDINGS, LimitError
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.asked_pairs import asked_states
from bisimdist.faces.shown.ends import ends_data, ends_remarks
from bisimdist.faces.shown.plain import said
from bisimdist.faces.shown.proved import Proved, Shown, no_certificate
from bisimdist.faces.shown.tables import Report
from bisimdist.faces.shown.witness_pictures import formula_svg
from bisimdist.faces.written.frame import Document, document
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.logic.engine.distinguishing import Distinguisher, merged_part
from bisimdist.logic.engine.formula import StateFormula
from bisimdist.logic.engine.formula_printer import formula_text
from bisimdist.logic.engine.levels import Levels
from bisimdist.logic.engine.wording import difference_in_words
from bisimdist.models.ends import Completed, Ends
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of
from bisimdist.progress import NEVER, Deadline, Progress, silent

TRACE_SECONDS = 10.0  # how long traces are looked for, those of all pairs together
SHOWN = 12  # how many actions of a trace a person is shown
LONGEST = 2000  # how many characters of a formula a person is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinction:
    """Whether two states are bisimilar, and if not, why.

    Parameters
    ----------
    source, target
        The names of the states.
    bisimilar
        None where that has not been decided.
    formula
        What the first state satisfies and the second does not.
    depth
        Its depth, the least that such a formula can have.
    irreducible
        Whether it is known that nothing of the formula can be left out.
    explanation
        The same in words.
    trace
        In fully probabilistic systems a shortest trace of different probabilities; None where there is none,
        in other systems, and where it was not found in time.
    trace_decided
        Whether `trace` is known to be the answer: no trace of different probabilities exists if it is None.

    Examples
    --------
    >>> import bisimdist
    >>> pin = bisimdist.build_any_example("pin-checking")
    >>> str(bisimdist.logic.distinguishing_formula(pin, "s1", "t1").formula)
    '<a1>(3/5 <ok>T + 2/5 T)'
    """

    source: str
    target: str
    bisimilar: bool | None
    formula: StateFormula | None = None
    depth: int | None = None
    irreducible: bool = False
    explanation: str = ""
    trace: tuple[str, ...] | None = None
    trace_decided: bool = False

    def data(self) -> dict[str, object]:
        """Return what is known of the pair as plain data."""
        fields = "source target bisimilar formula depth irreducible explanation trace trace_decided"
        return {**said(self, fields), **({"irreducible": None} if self.formula is None else {})}

    @property
    def row(self) -> tuple[str, ...]:
        """The pair, whether it is bisimilar, and the depth, for a person."""
        decided = {None: "not decided", True: "yes", False: "no"}[self.bisimilar]
        return self.source, self.target, decided, "" if self.depth is None else str(self.depth)

    @property
    def remarks(self) -> list[str]:
        """What tells the states apart, for a person."""
        if self.formula is None:
            return []
        text = formula_text(self.formula)
        if len(text) > LONGEST:
            text = f"a formula of {len(text)} characters (all of it with --json)"
        remarks = [self.explanation, *(f"  {line}" for line in text.split("\n"))]
        if self.trace is not None:
            left = len(self.trace) - SHOWN
            shown = " ".join(self.trace[:SHOWN]) + (f" ... ({left} more)" if left > 0 else "")
            remarks.append(f"  They give different probabilities to the trace {shown}.")
        return remarks

    def claim(self) -> Document:
        """Return what a certificate claims."""
        claim: Document = {"from": self.source, "to": self.target, "bisimilar": self.formula is None}
        if self.formula is not None:
            claim |= {"formula": formula_text(self.formula), "depth": str(self.formula.depth)}
        return claim


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctionAnswer(Shown, Proved):
    """For each pair in question whether it is bisimilar, and if not, why.

    Parameters
    ----------
    model
        The automaton.
    pairs
        What is known of the pairs, in the order in which they were asked.
    status
        ``EXACT``, or ``LIMIT`` where some pair is not decided.
    statistics
        Counts of what was done, without any timing.
    make_certificate
        Writes the proof when it is asked for.

    Examples
    --------
    >>> import bisimdist
    >>> pin = bisimdist.build_any_example("pin-checking")
    >>> bisimdist.logic.explain(pin).pairs[0].bisimilar
    False
    """

    command = "logic explain"

    model: PA
    pairs: tuple[Distinction, ...]
    status: Status
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def completed(self) -> Completed:
        """The automaton as an observer sees it; to the traces of the pairs ends do not matter."""
        place = {name: state for state, name in enumerate(self.model.states)}
        starts = {place[name] for pair in self.pairs for name in (pair.source, pair.target)}
        return Completed.of(self.model, Ends.VISIBLE, starts).without_symbol()

    def picture(self) -> str:
        formula = next((pair.formula for pair in self.pairs if pair.formula is not None), None)
        return "" if formula is None else formula_svg(formula)

    def data(self) -> dict[str, object]:
        return {
            "pairs": [pair.data() for pair in self.pairs],
            **ends_data(self.completed),
            "status": self.status.value,
        }

    def report(self) -> Report:
        traces = any(pair.formula is not None and pair.trace is not None for pair in self.pairs)
        return Report(
            heading="bisimilarity, and a formula that the first state satisfies and the second does not",
            columns=("from", "to", "bisimilar", "depth"),
            rows=tuple(pair.row for pair in self.pairs),
            remarks=(
                *(remark for pair in self.pairs for remark in pair.remarks),
                *(ends_remarks(self.completed) if traces else ()),
            ),
        )


@interruptible
def explain(
    model: PA | LMC,
    pairs: Sequence[tuple[str, str]] | None = None,
    *,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> DistinctionAnswer:
    """Decide bisimilarity of pairs of states, with a formula as the reason if they are not bisimilar.

    Parameters
    ----------
    model, pairs, progress, on_interrupt
        As in `bisimdist.metric`.
    deadline
        When to give up; pairs that are not decided by then are returned as such.

    Returns
    -------
    DistinctionAnswer
        For each pair whether it is bisimilar, and a formula where it is not.

    Raises
    ------
    UsageError
        If there is no pair.
    ModelError
        If a pair names no state.

    Examples
    --------
    >>> from bisimdist.models.library.pin_checking import pin_checking
    >>> print(explain(pin_checking()).pairs[0].explanation)
    s1 can do a1 and then, with probability at least 3/5, can do ok; t1 cannot.
    """
    automaton = automaton_of(model)
    asked = asked_states(automaton, pairs)
    try:
        merged, classes = merged_part(automaton, [s for pair in asked for s in pair], deadline=deadline)
        maker = Distinguisher(merged, deadline)
    except ENDINGS:
        undecided = tuple(_distinction(automaton, s, t, None if s != t else True) for s, t in asked)
        return DistinctionAnswer(model=automaton, pairs=undecided, status=Status.LIMIT)
    # The formulae are the answer; traces, which may take much longer, get a moment for all pairs together.
    traces = deadline.within(TRACE_SECONDS)
    found: list[Distinction] = []
    try:
        for number, (s, t) in enumerate(asked):
            progress("pairs", number, len(asked))
            found.append(_explained(automaton, (s, t), (classes[s], classes[t]), maker, traces))
    except ENDINGS:
        # That states are bisimilar, or not, is known from the classes; but the formula is the reason.
        for s, t in asked[len(found) :]:
            found.append(_distinction(automaton, s, t, True if classes[s] == classes[t] else None))
    decided = [pair for pair in found if pair.bisimilar is not None]
    return DistinctionAnswer(
        model=automaton,
        pairs=tuple(found),
        status=Status.EXACT if len(decided) == len(asked) else Status.LIMIT,
        statistics={"states": len(automaton), "classes": len(merged), "levels": maker.levels.last},
        make_certificate=partial(_certificate, automaton, decided) if decided else no_certificate,
    )


def _certificate(automaton: PA, decided: Sequence[Distinction]) -> Document:
    """Return the certificate: formulae, and the classes of bisimilarity where a pair is bisimilar."""
    result = document("distinguishing-formula", automaton, claims=[pair.claim() for pair in decided])
    if any(pair.bisimilar for pair in decided):
        levels = Levels(automaton)
        members: dict[int, list[str]] = {}
        for name, block in zip(automaton.states, levels.blocks(levels.last), strict=True):
            members.setdefault(block, []).append(name)
        result["classes"] = list(members.values())
    return result


def _distinction(automaton: PA, s: int, t: int, bisimilar: bool | None) -> Distinction:
    words = f"{automaton.states[s]} and {automaton.states[t]} are bisimilar." if bisimilar else ""
    return Distinction(
        source=automaton.states[s],
        target=automaton.states[t],
        bisimilar=bisimilar,
        explanation=words,
        trace_decided=bool(bisimilar) and automaton.fully_probabilistic,
    )


def _explained(
    automaton: PA, pair: tuple[int, int], merged: tuple[int, int], maker: Distinguisher, traces: Deadline
) -> Distinction:
    s, t = pair
    if merged[0] == merged[1]:
        return _distinction(automaton, s, t, bisimilar=True)
    names = automaton.states[s], automaton.states[t]
    found = maker.distinguish(*merged)
    trace, decided = _trace(automaton, s, t, traces)
    return Distinction(
        source=names[0],
        target=names[1],
        bisimilar=False,
        formula=found.formula,
        depth=found.formula.depth,
        irreducible=found.irreducible,
        explanation=difference_in_words(found.formula, *names),
        trace=trace,
        trace_decided=decided,
    )


def _trace(automaton: PA, s: int, t: int, deadline: Deadline) -> tuple[tuple[str, ...] | None, bool]:
    """Return a shortest trace of different probabilities, and whether that was decided."""
    if not automaton.fully_probabilistic:
        return None, False
    # Imported here: only these systems need linear algebra.
    from bisimdist.traces.engine.equivalence import distinguishing_trace  # noqa: PLC0415

    try:
        return distinguishing_trace(automaton, s, t, deadline=deadline), True
    except LimitError:
        return None, False


def distinguishing_formula(
    model: PA | LMC, source: str, target: str, *, deadline: Deadline = NEVER
) -> Distinction:
    """Return a formula of least depth that one state satisfies and another one does not.

    Parameters
    ----------
    model
        The automaton, or a chain.
    source, target
        The two states.
    deadline
        When to give up.

    Returns
    -------
    Distinction
        With the formula, or with ``bisimilar`` true.

    Raises
    ------
    ModelError
        If there is no such state.
    LimitError
        If the time is over.

    Examples
    --------
    >>> from bisimdist.models.library.pin_checking import pin_checking
    >>> print(distinguishing_formula(pin_checking(), "s1", "t1").formula)
    <a1>(3/5 <ok>T + 2/5 T)
    """
    found = explain(model, [(source, target)], deadline=deadline).pairs[0]
    if found.bisimilar is None:
        raise LimitError("the time limit was reached before the states were told apart")
    return found
