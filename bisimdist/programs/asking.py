"""From the graph of a program that asks an analyst to an interactive model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from flint import fmpq

from bisimdist.errors import ModelError
from bisimdist.models.elimination import FOREVER, eliminated
from bisimdist.models.interactive import Moves
from bisimdist.programs.chain import START, Origin, ProgramInteractive
from bisimdist.programs.exploration import Exploration
from bisimdist.programs.machine import Announced
from bisimdist.programs.observed import Observed
from bisimdist.programs.states import Drawing
from bisimdist.programs.texts import text_of
from bisimdist.progress import NEVER, Deadline

BEGIN = "begin"
"""What is asked first where runs show different things, or ask different things, before a question."""

MOST_SHOWN = 200  # so many things are shown between two questions at most

Shown = tuple[str, ...]
Place = tuple[Shown, int]  # what was shown since the last question, and the node of the graph that is reached
Asked = tuple[str, Mapping[Place, fmpq]]  # an option, and where it leads


def label_of(parts: Shown) -> str:
    """Return the label of a state of what is seen there: one text, or a JSON array of several.

    >>> label_of(("observe 1",)), label_of(("observe 1", "return 2"))
    ('observe 1', '["observe 1", "return 2"]')
    """
    return parts[0] if len(parts) == 1 else json.dumps(parts, ensure_ascii=False)


def labels_of_question(shown: Shown, offers: Iterable[str]) -> tuple[str, str]:
    """Return the label of a question, and the one that it has where what is on offer may differ."""
    return label_of(shown or ("asked",)), label_of((*shown, f"asked: {', '.join(sorted(offers))}"))


def option_texts(values: Sequence[object]) -> tuple[str, ...]:
    """Return what options are called: the names of actions. Raises ModelError if two are written alike."""
    texts = tuple(map(text_of, values))
    if len(set(texts)) < len(texts):
        raise ModelError(
            f"two options are written alike: {', '.join(texts)[:60]}; choose from texts or numbers"
        )
    return texts


def interactive_of(
    exploration: Exploration,
    kinds: frozenset[str],
    pairs: Sequence[tuple[str, str]],
    origin: Origin,
    *,
    deadline: Deadline = NEVER,
) -> ProgramInteractive:
    """Return the interactive model of what an analyst sees; every node was expanded.

    A state is a question, or an end, together with what was shown since the question before. A start is its
    first question where all runs of all starts come to the same one, and nothing else was shown before;
    otherwise a first action begins.

    Parameters are those of `bisimdist.programs.observed.chain_of`.

    Raises ModelError if more and more is shown without a question.
    """
    work = _Asked(exploration, kinds)
    work.build()
    rows = eliminated(work.rows, work.hidden, deadline=deadline)
    return work.model(rows, pairs, origin, deadline)


def _mixed(begin: Mapping[Place, fmpq], moves: Mapping[int, Sequence[Asked]]) -> Sequence[Asked]:
    """Return what questions that look alike lead to, where it is not known which one it is."""
    mixed: dict[str, dict[Place, fmpq]] = {}
    for (_, number), p in begin.items():
        for text, row in moves[number]:
            there = mixed.setdefault(text, {})
            for place, q in row.items():
                there[place] = there.get(place, fmpq(0)) + p * q
    return list(mixed.items())


class _Asked(Observed):
    """States where something is shown, questions and ends by number; an arm is a row of a question."""

    def __init__(self, exploration: Exploration, kinds: frozenset[str]) -> None:
        super().__init__(exploration, kinds)
        self.arms: dict[int, tuple[tuple[str, int], ...]] = {}
        """By question the options with the numbers of their rows."""
        self.names[FOREVER] = "runs for ever", "runs for ever"

    def node(self, number: int, node: Drawing | Announced) -> None:
        if not (isinstance(node, Drawing) and node.request.chosen):
            super().node(number, node)
            return
        self.names[number] = f"asked in line {self.exploration.place(number)[1]}", ""
        arms = []
        for choice, text in enumerate(option_texts(node.request.values or ())):
            row: dict[int, fmpq] = {}
            for edge in self.exploration.edges[number] or ():
                if edge.choice == choice:
                    target = self.after(edge.target, edge.steps)
                    row[target] = row.get(target, fmpq(0)) + edge.probability
            arm = self.new("", "")
            self.rows[arm] = row
            arms.append((text, arm))
        self.arms[number] = tuple(arms)

    def model(
        self,
        rows: Mapping[int, Mapping[int, fmpq]],
        pairs: Sequence[tuple[str, str]],
        origin: Origin,
        deadline: Deadline,
    ) -> ProgramInteractive:
        """Return the model of what can be reached."""
        moves = {
            number: [(text, self._places(rows, arm, deadline)) for text, arm in arms]
            for number, arms in self.arms.items()
        }
        begun = {name: self._places(rows, start, deadline) for name, start in self.starts.items()}
        seen = {(shown, self._offers(number)) for begin in begun.values() for shown, number in begin}
        alike = len(seen) == 1 and all(offered for _, offered in seen)
        firsts = [_mixed(begin, moves) if alike else [(BEGIN, begin)] for begin in begun.values()]
        order = list(dict.fromkeys(place for found in firsts for _, row in found for place in row))
        position = {place: len(firsts) + k for k, place in enumerate(order)}
        for _, number in order:  # grows
            for _, row in moves.get(number, ()):
                for place in row:
                    if place not in position:
                        position[place] = len(firsts) + len(order)
                        order.append(place)

        def indexed(found: Sequence[Asked]) -> Moves:
            return tuple(
                (text, tuple(sorted((position[k], p) for k, p in row.items()))) for text, row in found
            )

        labels = self._labels(order)
        names = [*self.starts, *(f"{label} #{k}" for label, (_, k) in zip(labels, order, strict=True))]
        start = {name: k for k, name in enumerate(self.starts)}
        return ProgramInteractive(
            tuple(self.unique(names)),
            (*[START] * len(firsts), *labels),
            (*map(indexed, firsts), *(indexed(moves.get(number, ())) for _, number in order)),
            tuple((start[s], start[t]) for s, t in pairs),
            origin,
        )

    def _places(
        self, rows: Mapping[int, Mapping[int, fmpq]], begin: int, deadline: Deadline
    ) -> dict[Place, fmpq]:
        """Return where a row leads to, with what is shown on the way."""
        found: dict[Place, fmpq] = {}
        layer: dict[Place, fmpq] = {((), target): p for target, p in rows[begin].items()}
        for _ in range(MOST_SHOWN):
            deadline.check()
            following: dict[Place, fmpq] = {}
            for (shown, number), p in layer.items():
                if number not in rows:
                    found[shown, number] = found.get((shown, number), fmpq(0)) + p
                    continue
                after = (*shown, self.names[number][1])
                for target, q in rows[number].items():
                    following[after, target] = following.get((after, target), fmpq(0)) + p * q
            if not following:
                return found
            layer = following
        raise ModelError(
            f"the program shows more than {MOST_SHOWN} things without asking; let the analyst choose to go on"
        )

    def _offers(self, number: int) -> frozenset[str]:
        return frozenset(text for text, _ in self.arms.get(number, ()))

    def _labels(self, order: Sequence[Place]) -> list[str]:
        """Return the labels: what was shown, how it ended, and what is on offer where that differs."""
        offers: dict[Shown, set[frozenset[str]]] = {}
        for shown, number in order:
            if number in self.arms:
                offers.setdefault(shown, set()).add(self._offers(number))
        labels = []
        for shown, number in order:
            if number in self.arms:
                short, long = labels_of_question(shown, self._offers(number))
                labels.append(long if len(offers[shown]) > 1 else short)
            else:
                labels.append(label_of((*shown, self.names[number][0])))
        return labels
