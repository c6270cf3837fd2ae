"""One cyclic component of positions: its exact values, or proved bounds on both sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.distances.engine.additive_guess import iterate_in_integers
from bisimdist.distances.engine.evaluation import Evaluation, Row
from bisimdist.distances.engine.growth import growing_block
from bisimdist.distances.engine.guessing import (
    SMALL,
    Guess,
    Walk,
    approximate,
    escaping_challenges,
    longest_walk,
    rounded,
    shifted,
)
from bisimdist.distances.engine.hausdorff import Arena
from bisimdist.distances.engine.lower_proof import Block, Entry, Rule, rank_entries
from bisimdist.errors import LimitError
from bisimdist.exact.doubles import from_double
from bisimdist.exact.scale import Value, at_most
from bisimdist.exact.simplest import simplest_between
from bisimdist.linear import SingularSystemError, SparseSystem, solve_exact
from bisimdist.progress import NEVER, Deadline, Progress, silent

EXACT_SIZE = 4000  # more unknowns than this have values of too many digits
SHORT_BITS = 600  # finite iteration ends where a value takes more bits than this
BATCHED = 24  # from so many positions on, additive guesses are made in the compiled kernel first
DRIFT = 1e-6  # where values still change by more than this, they may grow for ever
LARGE = fmpq(1 << 24)  # ratios beyond this are looked at twice: they may be infinite

ROUNDS = 60
PATIENT = 1000
CALM = 1e-8  # linear systems are believed where value iteration changes no more than this

FINER = 2.0**-20
"""A guess for bounds of a wanted precision has a residual of that part of it: mass may go round for long."""

ATTEMPTS = 8


@dataclass(slots=True)
class Bounds:
    """What is proved of the members of a component."""

    lower: dict[int, Value] = field(default_factory=dict)
    upper: dict[int, Value] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)


@dataclass(slots=True)
class Component:
    """A cyclic component, with tables of bounds that are proved for all positions below it."""

    arena: Arena  # arena and members: the positions, of which none is known to be infinite
    members: Sequence[int]
    # lower and upper: tables for all positions; for the members they hold bounds that are proved already
    lower: Sequence[Value]
    upper: Sequence[Value]
    precision: fmpq | None = None  # None where exact values are wanted, else how far apart the bounds may be
    deadline: Deadline = NEVER
    progress: Progress = silent

    @property
    def relative(self) -> bool:
        """Whether values are ratios."""
        return self.arena.lifting.top is None

    @property
    def settled(self) -> bool:
        """Whether everything below the component is exact."""
        inside = set(self.members)
        needed = {q for p in self.members for duel in self.arena.duels_of(p) for q in self.arena.needed[duel]}
        return all(self.lower[q] == self.upper[q] for q in needed - inside)

    def solve(self) -> Bounds:
        """Return the exact values where they are found, else bounds.

        Or only some members that are infinite: the others are then to be solved again.
        """
        result = self._finite() if self.relative and self.settled else None
        if result is not None:
            return result
        below = self._guess(self.lower)
        if self.relative and self._drifts(below):
            block = growing_block(self.arena, self.members, self.lower, self.deadline)
            if block is not None:
                return Bounds(dict.fromkeys(e.position for e in block.entries), {}, [block])
        exactly = self.settled and self.precision is None and len(self.members) <= EXACT_SIZE
        result = self._exact(below) if exactly else None
        if result is not None:
            return result
        result = Bounds()
        if not self._fixed_below(below, result):
            # the guess may be above the least fixed point: so value iteration alone, until little changes
            below = self._guess(self.lower, rounds=PATIENT, patience=PATIENT - 8, calm=CALM)
            found = self._exact(below) if exactly else None
            if found is not None:
                return found
            if not self._fixed_below(below, result):
                self._steps_below(result)
        above = below if self.settled else self._guess(self.upper, start=self.lower)
        self._from_above(above, result)
        return result

    def _drifts(self, guess: Guess) -> bool:
        """Tell whether values look as if they grew for ever."""
        if guess.residual > DRIFT:
            return True
        return any(not at_most(guess.values[p], LARGE) for p in self.members)

    # -------------------------------------------------------------------------------------------- guesses

    def _guess(
        self,
        table: Sequence[Value],
        *,
        start: Sequence[Value] | None = None,
        rounds: int = ROUNDS,
        patience: int = 6,
        calm: float = 0.0,
    ) -> Guess:
        values = list(table)
        for p in self.members:
            values[p] = (start or self.lower)[p]
        if self.arena.lifting.name == "additive" and len(self.members) >= BATCHED:
            patience = patience if patience > ROUNDS else 0
            values = iterate_in_integers(
                self.arena, self.members, values, deadline=self.deadline, progress=self.progress
            )
        small = SMALL
        if self.precision is not None:
            small = max(small, float(self.precision.p) / float(self.precision.q) * FINER)
        return approximate(
            self.arena,
            self.members,
            values,
            rounds=rounds,
            patience=patience,
            calm=calm,
            small=small,
            deadline=self.deadline,
            progress=self.progress,
        )

    # ---------------------------------------------------------------------------------------- exact values

    def _finite(self) -> Bounds | None:
        """Iterate exactly from below; None where that does not end soon."""
        values = list(self.lower)
        blocks: list[Block] = []
        pending = set(self.members)
        for _ in range(ROUNDS):
            self.deadline.check()
            evaluation = Evaluation(self.arena, list(values), self.deadline)
            entries = []
            for p in sorted(pending):
                raw = evaluation.raw(p)
                value = self.arena.lifting.discounted(raw, up=False)
                if self.arena.lifting.compare(raw, value) != 0:
                    return None  # irrational
                if value != values[p]:
                    entries.append(Entry(p, value, evaluation.best_challenge(p)))
            if not entries:
                found = {p: values[p] for p in self.members}
                return Bounds(found, dict(found), blocks)
            for entry in entries:
                values[entry.position] = entry.value
                if entry.value is not None and entry.value.p.bit_length() > SHORT_BITS:
                    return None
            blocks.append(Block(Rule.STEP, tuple(entries)))
        return None

    def _exact(self, guess: Guess) -> Bounds | None:
        if guess.residual > 1e-6:
            return None
        values = self._rationals(guess) if self.relative else self._solution(guess)
        if values is None:
            return None
        evaluation = Evaluation(self.arena, values, self.deadline)
        if any(self.arena.lifting.compare(evaluation.raw(p), values[p]) != 0 for p in self.members):
            return None
        entries = rank_entries(evaluation, self.members, ranked=self.arena.lifting.discount == 1)
        if entries is None:
            return None
        found = {p: values[p] for p in self.members}
        return Bounds(found, dict(found), [Block(Rule.FIXED, entries)])

    def _rationals(self, guess: Guess) -> list[Value] | None:
        """Return the simplest rationals beside a guess."""
        values = list(guess.values)
        width = from_double(max(guess.residual * 2.0**12, 2.0**-60))
        for p in self.members:
            value = values[p]
            if value is None:
                return None
            values[p] = simplest_between(max(fmpq(1), value * (1 - width)), value * (1 + width))
        return values

    def _solution(self, guess: Guess) -> list[Value] | None:
        """Return the values of the best moves at a guess, and of better ones as long as there are any."""
        values = list(guess.values)
        place = {p: k for k, p in enumerate(self.members)}
        moves: list[object] = []
        slack = fmpq(1, 1 << 40)  # of the guess; among exact values ties are ties
        for _ in range(ROUNDS):
            self.deadline.check()
            evaluation = Evaluation(self.arena, values, self.deadline)
            rows = []
            chosen = escaping_challenges(evaluation, self.members, slack)
            for p in self.members:
                duel = evaluation.best_answer(chosen[p])
                constant, weights = evaluation.equation(duel)
                for q in [q for q in weights if q not in place]:
                    below = self.lower[q]
                    constant += weights.pop(q) * (fmpq(1) if below is None else below)
                rows.append((constant, [(place[q], weight) for q, weight in weights.items()]))
            system = SparseSystem.from_rationals(rows)
            if moves and system == moves[-1]:
                return values
            moves.append(system)
            slack = fmpq(0)
            try:
                solution = solve_exact(system, deadline=self.deadline)
            except SingularSystemError:
                return None
            values = list(values)
            for p, k in place.items():
                value = solution.entry(k)
                if not 0 <= value <= 1:
                    return None
                values[p] = value
        return None

    # --------------------------------------------------------------------------------------------- bounds

    def _width(self, guess: Guess, walk: Walk) -> float:
        """Return the margin by which a guess is moved, for each step that a walk takes."""
        longest = float(walk.steps.max(initial=1.0))
        wanted = 2.0**-40 if self.precision is None else float(self.precision.p) / float(self.precision.q)
        return max(wanted / (8 * longest), 4 * guess.residual, 2.0**-100)

    def _from_above(self, guess: Guess, result: Bounds) -> None:
        """Add upper bounds: a guess moved up until the functional does not exceed it."""
        if guess.residual > 0.5:
            return
        evaluation = Evaluation(self.arena, guess.values, self.deadline)
        slack = from_double(max(1e-9, 16 * guess.residual))
        options: list[tuple[int, Row]] = []
        for p in self.members:
            for challenge in evaluation.tight_challenges(p, slack):
                duel = evaluation.best_answer(challenge)
                options += self._rows(evaluation, p, duel)
        for attempt in range(ATTEMPTS):
            walk = longest_walk(options, self.members)
            if walk is None:
                return
            margin = self._width(guess, walk) * 4.0**attempt
            values = self._moved(self.upper, guess, walk, margin, up=True)
            evaluation = Evaluation(self.arena, values, self.deadline)
            wrong = [p for p in self.members if self.arena.lifting.compare(evaluation.raw(p), values[p]) > 0]
            if not wrong:
                result.upper = {p: values[p] for p in self.members}
                return
            for p in wrong:
                options += self._rows(evaluation, p, evaluation.best_answer(evaluation.best_challenge(p)))

    def _rows(self, evaluation: Evaluation, position: int, duel: int) -> list[tuple[int, Row]]:
        if duel < 0:
            return [(position, {})]
        return [(position, evaluation.row(duel, d)) for d in evaluation.lifted(duel).directions]

    def _moved(
        self, table: Sequence[Value], guess: Guess, walk: Walk, margin: float, *, up: bool
    ) -> list[Value]:
        """Return a table whose members are moved away from a guess, in short rationals."""
        values = list(table)
        top = self.arena.lifting.top
        bits = max(8, 6 - round(math.log2(margin)))
        highest: dict[int, fmpq] = {}
        for p, steps, group in zip(self.members, walk.steps, walk.group, strict=True):
            value = guess.values[p]
            if value is None:
                continue
            moved = shifted(self.arena, value, margin * steps if up else -margin * steps)
            short = rounded(moved, bits, up=up, relative=self.relative)
            if short is None or not at_most(short, top):
                short = moved
            values[p] = short
            highest[group] = max(highest.get(group, short), short)
        for p, group in zip(self.members, walk.group, strict=True):
            if up and group in highest:
                values[p] = highest[group]
        return values

    def _fixed_below(self, guess: Guess, result: Bounds) -> bool:
        """Add lower bounds: a guess moved down until the functional exceeds it; tell whether that worked."""
        if guess.residual > 0.5:
            return False
        compare = self.arena.lifting.compare
        evaluation = Evaluation(self.arena, guess.values, self.deadline)
        slack = from_double(max(1e-9, 16 * guess.residual))
        options: list[tuple[int, Row]] = []
        for p, challenge in escaping_challenges(evaluation, self.members, slack).items():
            options += [(p, row) for row in evaluation.tight_rows(challenge, slack)]
        for attempt in range(ATTEMPTS):
            walk = longest_walk(options, self.members)
            if walk is None:
                return False
            margin = self._width(guess, walk) * 4.0**attempt
            values = self._moved(self.lower, guess, walk, margin, up=False)
            for p in self.members:
                if at_most(values[p], self.lower[p]):
                    values[p] = self.lower[p]
            members = [p for p in self.members if values[p] != self.lower[p]]
            evaluation = Evaluation(self.arena, values, self.deadline)
            entries = rank_entries(evaluation, members, ranked=self.arena.lifting.discount == 1)
            if entries is not None:
                result.lower = {p: values[p] for p in self.members}
                result.blocks.append(Block(Rule.FIXED, entries))
                return True
            for p in members:
                if compare(evaluation.raw(p), values[p]) <= 0:
                    challenge = evaluation.best_challenge(p)
                    options += [(p, evaluation.row(duel)) for duel, _ in challenge.answers if duel >= 0]
        return False

    def _steps_below(self, result: Bounds) -> None:
        """Add lower bounds by iteration from below, rounded down; they are proved one after the other."""
        values = list(self.lower)
        try:
            for _ in range(ROUNDS):
                self.deadline.check()
                evaluation = Evaluation(self.arena, list(values), self.deadline)
                entries = []
                for p in self.members:
                    value = evaluation.value(p, up=False)
                    value = rounded(value, 48, up=False, relative=self.relative)
                    if not at_most(value, values[p]):
                        entries.append(Entry(p, value, evaluation.best_challenge(p)))
                if not entries:
                    break
                result.blocks.append(Block(Rule.STEP, tuple(entries)))
                for entry in entries:
                    values[entry.position] = entry.value
        except LimitError:
            pass
        result.lower = {p: values[p] for p in self.members}
