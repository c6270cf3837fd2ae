"""What tells each two of many classes of trace equivalence apart, said where somebody looks at it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, pairwise

from flint import fmpq

from bisimdist.errors import ENDINGS, LimitError
from bisimdist.exact.rational import format_rational
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.proved import no_certificate
from bisimdist.faces.written.frame import Document
from bisimdist.faces.written.numbers import rational_text
from bisimdist.models.ends import Completed, Ends
from bisimdist.models.pa import PA
from bisimdist.progress import NEVER, Deadline, Limits, Progress, silent
from bisimdist.traces.engine.partings import ALIKE, Partings
from bisimdist.traces.engine.system import WordSystem
from bisimdist.traces.equivalence.ask import MAX_VALUES, TraceVerdict, equivalence_certificate

Classes = tuple[tuple[str, ...], ...]


def too_many(classes: Classes) -> bool:
    """Tell whether there are too many classes to say of each two what tells them apart."""
    return len(classes) * (len(classes) - 1) > MAX_VALUES


def told_apart(
    model: PA, classes: Classes, *, deadline: Deadline = NEVER, progress: Progress = silent
) -> Apart:
    """Find the least traces that tell the classes of trace equivalence of an automaton apart."""
    starts = tuple(model.index(members[0]) for members in classes)
    completed = Completed.of(model, Ends.VISIBLE, starts).without_symbol()
    system = WordSystem.of(completed.automaton, starts)
    partings = Partings(system, tuple(system.class_of[state] for state in starts))
    with suppress(*ENDINGS):
        partings.run(Limits(deadline=deadline, progress=progress))
    return Apart(classes, completed, partings, deadline)


@dataclass(slots=True)
class Apart:
    """What tells the first states of each two classes apart."""

    classes: Classes
    completed: Completed  # the automaton, as an observer sees it
    partings: Partings
    deadline: Deadline
    complete: bool = True  # whether all was said that was to be

    @property
    def status(self) -> Status:
        """``EXACT``, or ``LIMIT`` where something is missing, or not proved to be the least."""
        return Status.EXACT if self.complete and self.partings.least else Status.LIMIT

    def neighbours(self) -> Iterator[TraceVerdict]:
        """Yield what tells each class from the next one, as far as there is time."""
        for k, ((source, *_), (target, *_)) in enumerate(pairwise(self.classes)):
            number, word, probabilities = self.partings.row(k)[k + 1], None, None
            with suppress(LimitError):
                if number != ALIKE:
                    word = self.partings.words[number]
                    both = (self.partings.probability(m, word, self.deadline) for m in (k, k + 1))
                    probabilities = next(both), next(both)
            self.complete = self.complete and probabilities is not None
            yield TraceVerdict(
                source=source,
                target=target,
                equivalent=False,
                trace=word,
                probabilities=probabilities,
                least=self.partings.least,
            )

    def json(self) -> Iterator[str]:
        """Yield the text of the list of all pairs, as far as there is time."""
        least = f', "least": {json.dumps(self.partings.least)}'

        def rows() -> Iterator[str]:
            try:
                yield from self._rows(format_rational, least, self.deadline)
            except LimitError:
                self.complete = False

        yield from _listed(rows())

    def _rows(self, written: Callable[[fmpq], str], end: str, deadline: Deadline) -> Iterator[str]:
        """Yield the pairs of each class with those after it, whose numbers are written in some way."""
        names = [json.dumps(members[0]) for members in self.classes]
        words, probability = self.partings.words, self.partings.probability
        traces = [json.dumps(word) for word in words]
        for k, source in enumerate(names[:-1]):
            deadline.check()
            own: dict[int, str] = {}
            pairs = []
            for m, number in enumerate(self.partings.row(k)[k + 1 :].tolist(), k + 1):
                if number == ALIKE:
                    continue
                if number not in own:
                    own[number] = written(probability(k, words[number], deadline))
                other = written(probability(m, words[number], deadline))
                pairs.append(
                    f'{{"from": {source}, "to": {names[m]}, "equivalent": false, "trace": {traces[number]}, '
                    f'"probabilities": ["{own[number]}", "{other}"]{end}}}'
                )
            if pairs:
                yield ", ".join(pairs)

    def certificate(self) -> Document:
        """Return the proof that no class can be parted, and no two of them joined."""
        count = len(self.classes)
        if too_many(self.classes):
            raise LimitError("the proof would be too long")
        place = self.completed.original.index
        alike = [(members[0], other) for members in self.classes for other in members[1:]]
        if count > 1 and not alike and not self.partings.words:
            no_certificate()
        return equivalence_certificate(
            self.completed,
            _Claims(self, alike if alike or count > 1 else [(self.classes[0][0],) * 2]),
            [(place(s), place(t)) for s, t in alike],
            self.deadline,
        )


@dataclass(frozen=True, slots=True)
class _Claims:
    """What a certificate claims: pairs that are equivalent, and those that are not."""

    apart: Apart
    alike: Sequence[tuple[str, str]]

    def json(self) -> Iterator[str]:
        """Yield the text of the list."""
        within = (
            json.dumps(TraceVerdict(source=s, target=t, equivalent=True).claim()) for s, t in self.alike
        )
        yield from _listed(chain(within, self.apart._rows(rational_text, "", NEVER)))


def _listed(rows: Iterable[str]) -> Iterator[str]:
    before = "["
    for row in rows:
        yield before + row
        before = ", "
    yield "]" if before == ", " else "[]"
