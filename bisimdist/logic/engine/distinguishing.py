"""A formula that tells two states apart, of least depth.

Why the depth is least, and in which sense the formula is minimal, is in docs/theory/logic.md.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.logic.engine.formula import TOP, StateFormula, conjunction, diamond, enabled, mixture, negation
from bisimdist.logic.engine.levels import Levels
from bisimdist.logic.engine.mimicking import reachable_states
from bisimdist.logic.engine.reduction import reduced
from bisimdist.logic.engine.satisfaction import ModelChecker
from bisimdist.logic.engine.splitting import splits
from bisimdist.models.bisimilarity import mass_of_blocks
from bisimdist.models.lmc import Row
from bisimdist.models.pa import PA, Transition
from bisimdist.progress import NEVER, Deadline

REUSED = 400  # how many formulae of each depth are looked through before another one is made

Request = tuple[int, int]
Maker = Generator[Request, StateFormula, StateFormula]


@dataclass(frozen=True, slots=True)
class Distinguished:
    """A formula that one state satisfies and another one does not."""

    formula: StateFormula  # the formula; its depth is the least possible
    # whether it is known that nothing of it can be left out: no conjunct, no part of a distribution formula
    # and no distribution formula as a whole can be replaced by ``T``
    irreducible: bool


def merged_part(
    automaton: PA, states: Iterable[int], *, deadline: Deadline = NEVER
) -> tuple[PA, dict[int, int]]:
    """Return what some states lead to with bisimilar states merged, and for each state of it its class."""
    levels = Levels(automaton, deadline)
    needed = reachable_states(automaton, states)
    number: dict[int, int] = {}
    first: list[int] = []
    classes: dict[int, int] = {}
    for state in needed:
        block = levels.block(state, levels.last)
        if block not in number:
            number[block] = len(first)
            first.append(state)
        classes[state] = number[block]
    steps: dict[Transition, None] = {}
    for state in first:
        deadline.check()
        for step in levels.steps[state]:
            masses: dict[int, fmpq] = {}
            for target, p in step.row:
                masses[classes[target]] = masses.get(classes[target], fmpq(0)) + p
            steps.setdefault(Transition(classes[state], step.action, tuple(sorted(masses.items()))))
    return PA(tuple(automaton.states[state] for state in first), tuple(steps)), classes


class Distinguisher:
    """Makes formulae that tell states apart.

    Parameters
    ----------
    automaton
        The automaton; `merged_part` makes it as small as it can be.
    deadline
        When to give up.

    Examples
    --------
    >>> third = fmpq(1, 3)
    >>> steps = (
    ...     Transition(0, "a", ((2, 2 * third), (3, third))),
    ...     Transition(1, "a", ((2, third), (3, 2 * third))),
    ...     Transition(2, "b", ((3, fmpq(1)),)),
    ... )
    >>> print(Distinguisher(PA(("s", "t", "u", "v"), steps)).distinguish(0, 1).formula)
    <a>(2/3 <b>T + 1/3 T)
    """

    def __init__(self, automaton: PA, deadline: Deadline = NEVER) -> None:
        self.automaton = automaton
        self.deadline = deadline
        self.levels = Levels(automaton, deadline)
        self.checker = ModelChecker(automaton, deadline)
        self._known: dict[tuple[int, int, int], StateFormula] = {}
        self._pool: dict[int, list[StateFormula]] = {}  # by depth

    def depth(self, first: int, second: int) -> int | None:
        """Return the least depth of a formula that tells two states apart, None if there is none."""
        return self.levels.separating(first, second)

    def distinguish(self, first: int, second: int) -> Distinguished:
        """Return a formula of least depth that the first state satisfies and the second does not.

        Parameters
        ----------
        first, second
            States that are not bisimilar.

        Raises
        ------
        LimitError
            If the time is over.
        """
        formula = self._made(first, second)
        shorter, complete = reduced(self.checker, formula, first, second, deadline=self.deadline)
        return Distinguished(shorter, complete)

    # -- formulae for pairs, each made once

    def _made(self, first: int, second: int) -> StateFormula:
        """Return a formula for a pair; those that it needs are made first, on a stack of our own."""
        found = self._lookup(first, second)
        if found is not None:
            return found
        stack: list[tuple[Request, Maker]] = [((first, second), self._maker(first, second))]
        answer: StateFormula | None = None
        while stack:
            pair, maker = stack[-1]
            try:
                request = next(maker) if answer is None else maker.send(answer)
            except StopIteration as done:
                stack.pop()
                answer = done.value
                assert answer is not None
                self._remember(*pair, answer)
                continue
            answer = self._lookup(*request)
            if answer is None:
                stack.append((request, self._maker(*request)))
        assert answer is not None
        return answer

    def _key(self, first: int, second: int) -> tuple[int, int, int]:
        level = self.levels.separating(first, second)
        assert level is not None
        return level, self.levels.block(first, level), self.levels.block(second, level)

    def _remember(self, first: int, second: int, formula: StateFormula) -> None:
        level, one, other = self._key(first, second)
        self._known[level, one, other] = formula
        self._known[level, other, one] = negation(formula)
        pool = self._pool.setdefault(level, [])
        if len(pool) < REUSED and formula not in pool:
            pool.append(formula)

    def _lookup(self, first: int, second: int) -> StateFormula | None:
        """Return a formula for a pair that is there already, if it is of the least depth for this pair."""
        key = self._key(first, second)
        found = self._known.get(key)
        if found is not None:
            return found
        for formula in self._pool.get(key[0], ()):
            members = self.checker.states(formula)
            here, there = members >> first & 1, members >> second & 1
            if here != there:
                self._known[key] = formula if here else negation(formula)
                return self._known[key]
        return None

    def _maker(self, first: int, second: int) -> Maker:
        """Make a formula for a pair; yields the pairs whose formulae it needs."""
        self.deadline.check()
        level = self.levels.separating(first, second)
        assert level is not None
        if level == 1:
            return self._first_step(first, second)
        mine, theirs, positive = self._challenge(first, second, level - 1)
        mass = sum((p for _, p in mine.row), fmpq(0))
        rows = [step.row for step in theirs if sum((p for _, p in step.row), fmpq(0)) == mass]
        target = yield from _Target(self, mine.row, rows, level - 1).parts()
        formula = diamond(mine.action, mixture(target))
        return formula if positive else negation(formula)

    def _first_step(self, first: int, second: int) -> StateFormula:
        """Return a formula of depth 1: an action that only one has, or a mass that only one keeps."""
        ours, theirs = (
            {(step.action, sum((p for _, p in step.row), fmpq(0))) for step in self.levels.steps[state]}
            for state in (first, second)
        )
        here, there = ({action for action, _ in side} for side in (ours, theirs))
        if here - there:
            return enabled(min(here - there))
        if there - here:
            return negation(enabled(min(there - here)))
        action, mass = min((ours - theirs) or (theirs - ours))
        formula = diamond(action, mixture([(mass, TOP)] if mass else []))
        return formula if ours - theirs else negation(formula)

    def _challenge(self, first: int, second: int, level: int) -> tuple[Transition, list[Transition], bool]:
        """Return a transition that the other state cannot answer, its answers, and whether the first has it.

        The one that is easiest to tell from its answers: few of them, few successors.
        """
        block_of = _Blocks(self.levels, level)
        best: tuple[tuple[int, int, int], Transition, list[Transition], bool] | None = None
        for positive, mine, other in ((True, first, second), (False, second, first)):
            for step in self.levels.steps[mine]:
                answers = [answer for answer in self.levels.steps[other] if answer.action == step.action]
                shown = mass_of_blocks(step.row, block_of)
                if any(mass_of_blocks(answer.row, block_of) == shown for answer in answers):
                    continue
                successors = {target for answer in (step, *answers) for target, _ in answer.row}
                score = (len(answers), len(successors), int(not positive))
                if best is None or score < best[0]:
                    best = (score, step, answers, positive)
        assert best is not None
        return best[1], best[2], best[3]


class _Blocks(Sequence[int]):
    """The classes of states at a level, looked up when they are asked for."""

    def __init__(self, levels: Levels, level: int) -> None:
        self.levels = levels
        self.level = level

    def __getitem__(self, state: int) -> int:  # type: ignore[override]
        return self.levels.block(state, self.level)

    def __len__(self) -> int:
        return len(self.levels.automaton)


class _Target:
    """Makes the distribution formula that a row satisfies and none of some others of the same mass does."""

    def __init__(self, maker: Distinguisher, row: Row, others: Sequence[Row], level: int) -> None:
        self.states = maker.checker.states
        self.row = row
        self.others = others
        self.mass = sum((p for _, p in row), fmpq(0))
        self.block_of = _Blocks(maker.levels, level)
        self.levels = maker.levels

    def parts(self) -> Generator[Request, StateFormula, list[tuple[fmpq, StateFormula]]]:
        event = self._event()
        if event is not None:
            return (yield from self._one_part(*event))
        return (yield from self._many_parts())

    def _masses(self) -> tuple[dict[int, fmpq], list[dict[int, fmpq]]]:
        ours = mass_of_blocks(self.row, self.block_of)
        return ours, [mass_of_blocks(other, self.block_of) for other in self.others]

    def _event(self) -> tuple[int, bool] | None:
        """Return a class that is more probable than in all the others (True), or less probable (False)."""
        ours, theirs = self._masses()
        zero = fmpq(0)
        best: tuple[tuple[int, int, int], int, bool] | None = None
        for block in sorted({block for masses in (ours, *theirs) for block in masses}):
            here = ours.get(block, zero)
            for more in (True, False):
                if not all(
                    masses.get(block, zero) < here if more else masses.get(block, zero) > here
                    for masses in theirs
                ):
                    continue
                member = next(
                    state
                    for row in (self.row, *self.others)
                    for state, _ in row
                    if self.block_of[state] == block
                )
                against = self._outside(block, self.others if more else [self.row])
                deepest = max((self.levels.separating(member, state) or 0 for state in against), default=0)
                score = (deepest, len(against), int(not more))
                if best is None or score < best[0]:
                    best = (score, block, more)
        return None if best is None else best[1:]

    def _outside(self, block: int, rows: Iterable[Row]) -> list[int]:
        found = {state for row in rows for state, _ in row if self.block_of[state] != block}
        return sorted(found)

    def _measure(self, row: Row, members: int) -> fmpq:
        return sum((p for state, p in row if members >> state & 1), fmpq(0))

    def _one_part(
        self, block: int, more: bool
    ) -> Generator[Request, StateFormula, list[tuple[fmpq, StateFormula]]]:
        """Return a formula with the mass that it has here and in no other row, and ``T`` for the rest."""
        rows = (self.row, *self.others)
        member = next(state for row in rows for state, _ in row if self.block_of[state] == block)
        against = self._outside(block, self.others if more else [self.row])
        weight = {state: max(self._measure(row, 1 << state) for row in rows) for state in against}
        found: list[StateFormula] = []

        def judged(formulae: list[StateFormula]) -> tuple[bool, fmpq, StateFormula]:
            formula = conjunction(formulae)
            formula = formula if more else negation(formula)
            members = self.states(formula)
            here = self._measure(self.row, members)
            return all(self._measure(other, members) < here for other in self.others), here, formula

        for state in sorted(against, key=lambda state: (-weight[state], state)):
            if judged(found)[0]:
                break
            if self.states(conjunction(found)) >> state & 1:
                found.append((yield member, state))
        for formula in sorted(found, key=lambda formula: formula.depth, reverse=True):
            rest = [kept for kept in found if kept is not formula]
            if judged(rest)[0]:
                found = rest
        _, here, formula = judged(found)
        return [(here, formula), *([(self.mass - here, TOP)] if here < self.mass else [])]

    def _many_parts(self) -> Generator[Request, StateFormula, list[tuple[fmpq, StateFormula]]]:
        """Return a formula for every class; a class that is not needed to refute the others keeps ``T``."""
        ours, theirs = self._masses()
        formulae: dict[int, list[StateFormula]] = {block: [] for block in ours}
        for other, masses in zip(self.others, theirs, strict=True):
            if not self._satisfied(other, ours, formulae):
                continue
            block = next(block for block in sorted(ours) if masses.get(block, fmpq(0)) < ours[block])
            member = next(state for state, _ in self.row if self.block_of[state] == block)
            for state in self._outside(block, [other]):
                if self.states(conjunction(formulae[block])) >> state & 1:
                    formulae[block].append((yield member, state))
        for block in sorted(ours, key=lambda block: -len(formulae[block])):
            for dropped in [formulae[block], *([formula] for formula in formulae[block])]:
                rest = [formula for formula in formulae[block] if formula not in dropped]
                trial = {**formulae, block: rest}
                if not any(self._satisfied(other, ours, trial) for other in self.others):
                    formulae = trial
        return [(ours[block], conjunction(formulae[block])) for block in ours]

    def _satisfied(
        self, row: Row, weights: Mapping[int, fmpq], formulae: Mapping[int, list[StateFormula]]
    ) -> bool:
        parts = [(weights[block], self.states(conjunction(listed))) for block, listed in formulae.items()]
        return splits(row, parts)
