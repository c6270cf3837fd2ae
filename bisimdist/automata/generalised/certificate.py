"""Writes the proof of a generalised bisimilarity metric as plain data (docs/certificates/generalised.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flint import fmpq

from bisimdist.distances.engine.evaluation import Evaluation
from bisimdist.distances.engine.generalised_engine import Solution
from bisimdist.distances.engine.growth import FAR, reason_to_grow
from bisimdist.distances.engine.hausdorff import SAME, Arena, Challenge
from bisimdist.distances.engine.lifting_values import Direction
from bisimdist.distances.engine.lower_proof import Block, Entry, Reason, Rule, reason_to_leave
from bisimdist.exact.scale import Value, larger
from bisimdist.faces.written.frame import Document, document
from bisimdist.faces.written.numbers import rational_text, value_text
from bisimdist.models.pa import PA, Transition


def generalised_certificate(
    automaton: PA, classes: Sequence[int], solution: Solution, claims: Sequence[Document]
) -> Document:
    """Return the certificate of the claims: a table for the upper bounds, blocks for the lower ones.

    ``classes``: for each of its states the state of the merged automaton that the solution is about.
    """
    arena = solution.arena
    writer = _Writer(automaton, classes, arena)
    return document(
        "generalised-metric",
        automaton,
        metric=arena.lifting.name,
        discount=rational_text(arena.lifting.discount),
        claims=list(claims),
        upper=writer.upper(solution.upper),
        lower=writer.lower(solution.blocks),
    )


class _Writer:
    """Finds the transitions of the automaton behind those of the merged one, and writes with its names."""

    def __init__(self, automaton: PA, classes: Sequence[int], arena: Arena) -> None:
        self.arena = arena
        self.names = arena.automaton.states
        numbers = _transitions_by_class(automaton, classes, arena.automaton)
        self.numbers = [number + 1 for number in numbers]

    def pair(self, position: int) -> list[str]:
        s, t = self.arena.positions[position]
        return [self.names[s], self.names[t]]

    def masses(self, masses: Mapping[int, fmpq]) -> Document:
        return {self.names[state]: rational_text(mass) for state, mass in masses.items() if mass}

    # ----------------------------------------------------------------------------------------------- upper

    def upper(self, values: Sequence[Value]) -> list[Document]:
        evaluation = Evaluation(self.arena, values)
        result: list[Document] = []
        for position, value in enumerate(values):
            if value == self.arena.lifting.top:
                continue
            answers = [self._answer(evaluation, challenge) for challenge in self.arena.challenges[position]]
            result.append({"pair": self.pair(position), "value": value_text(value), "answers": answers})
        return result

    def _answer(self, evaluation: Evaluation, challenge: Challenge) -> Document:
        duel = evaluation.best_answer(challenge)
        transition = next(m for number, m in challenge.answers if number == duel)
        directions = () if duel == SAME else evaluation.lifted(duel).directions
        return {
            "side": challenge.side,
            "challenge": self.numbers[challenge.transition],
            "answer": self.numbers[transition],
            "couplings": [
                {
                    "direction": self._direction(challenge, duel, direction),
                    "moves": [
                        [self.names[i], self.names[j], rational_text(w)] for i, j, w in direction.moves
                    ],
                    "given_up": [[self.names[i], rational_text(w)] for i, w in direction.given_up],
                }
                for direction in directions
            ],
        }

    def _direction(self, challenge: Challenge, duel: int, direction: Direction) -> str:
        """Tell whether the challenge's sub-distribution is compared with the answer's, or the reverse."""
        first = self.arena.rows[self.arena.duels[duel][0]]
        mine = self.arena.row(challenge.transition)
        return "forward" if (first is mine) != direction.swapped else "backward"

    # ----------------------------------------------------------------------------------------------- lower

    def lower(self, blocks: Sequence[Block]) -> list[Document]:
        values: list[Value] = [self.arena.lifting.zero] * len(self.arena.positions)
        result: list[Document] = []
        for block in blocks:
            result.append({"rule": block.rule.value, "entries": self._entries(block, values)})
            for entry in block.entries:
                value = None if block.rule is Rule.GROWTH else entry.value
                values[entry.position] = larger(values[entry.position], value)
        return result

    def _entries(self, block: Block, known: Sequence[Value]) -> list[Document]:
        values = list(known)
        weights: dict[int, fmpq] = {}
        for entry in block.entries:
            if block.rule is Rule.FIXED:
                values[entry.position] = larger(values[entry.position], entry.value)
            elif block.rule is Rule.GROWTH and entry.value is not None:
                weights[entry.position] = entry.value
                values[entry.position] = FAR * entry.value
        evaluation = Evaluation(self.arena, values)
        ranks = {entry.position: entry.rank for entry in block.entries}
        result = []
        for entry in block.entries:
            data: Document = {"pair": self.pair(entry.position), "value": value_text(entry.value)}
            if entry.rank:
                data["rank"] = entry.rank
            data["side"] = entry.challenge.side
            data["challenge"] = self.numbers[entry.challenge.transition]
            if block.rule is Rule.GROWTH:
                earlier = {p for p, rank in ranks.items() if rank < entry.rank}
                data["answers"] = [
                    self._grown(evaluation, entry, answer, weights, known, earlier)
                    for answer in entry.challenge.answers
                ]
            else:
                data["answers"] = [
                    self._shown(evaluation, entry, answer, ranks) for answer in entry.challenge.answers
                ]
            result.append(data)
        return result

    def _shown(
        self, evaluation: Evaluation, entry: Entry, answer: tuple[int, int], ranks: Mapping[int, int]
    ) -> Document:
        duel, _ = answer
        lifted = evaluation.lifted(duel)
        direction, reason = lifted.best, None
        if entry.rank and self.arena.lifting.compare(lifted.value, entry.value) == 0:
            reason = reason_to_leave(evaluation, duel, {p for p, r in ranks.items() if r >= entry.rank})
            direction = direction if reason is None else reason.direction
        return self._priced(entry, answer, direction, reason)

    def _grown(  # noqa: PLR0913, PLR0917
        self,
        evaluation: Evaluation,
        entry: Entry,
        answer: tuple[int, int],
        weights: Mapping[int, fmpq],
        known: Sequence[Value],
        earlier: set[int],
    ) -> Document:
        found = reason_to_grow(evaluation, answer[0], entry.position, weights, known, earlier)
        direction = evaluation.lifted(answer[0]).best if found is None else found.direction
        return self._priced(entry, answer, direction, found)

    def _priced(
        self, entry: Entry, answer: tuple[int, int], direction: Direction, reason: Reason | None
    ) -> Document:
        """Return an answer with the prices that show what it costs, and a reason where that has some."""
        duel, transition = answer
        data: Document = {
            "answer": self.numbers[transition],
            "direction": self._direction(entry.challenge, duel, direction),
            "prices": self.masses(direction.prices),
        }
        if reason is not None and reason.prices:
            data["reason"] = self.masses(reason.prices)
        return data


def _transitions_by_class(automaton: PA, classes: Sequence[int], merged: PA) -> list[int]:
    leaders = {name: number for number, name in enumerate(merged.states)}
    numbers: dict[Transition, int] = {}
    for number, step in enumerate(automaton.transitions):
        leader = leaders.get(automaton.states[step.source])
        if leader is None:
            continue
        mass: dict[int, fmpq] = {}
        for target, probability in step.row:
            mass[classes[target]] = mass.get(classes[target], fmpq(0)) + probability
        numbers.setdefault(Transition(leader, step.action, tuple(sorted(mass.items()))), number)
    return [numbers[step] for step in merged.transitions]
