"""The worst trace under the worst admissible scheduler, by the definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bisimdist.faces.asked.options import JSON, LENGTH, PAIR, TIMEOUT
from bisimdist.faces.asked.question import Group, Question

if TYPE_CHECKING:
    from bisimdist.automata.engine.schedulers import History, WorstTrace
    from bisimdist.faces.asked.given import Given
    from bisimdist.faces.shown.tables import Report
    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True)
class ScheduledPair:
    """The worst trace of a pair, of at most `length` actions: all of these were looked at."""

    source: str
    target: str
    length: int
    worst: WorstTrace


@dataclass(frozen=True, slots=True)
class Schedules:
    """The worst traces of all pairs, and whether they were looked for as far as was asked."""

    pairs: tuple[ScheduledPair, ...]
    complete: bool

    def data(self) -> dict[str, object]:
        return {
            "pairs": [_pair_data(pair) for pair in self.pairs],
            "status": "exact" if self.complete else "limit",
        }

    def report(self) -> Report:
        """Return a table, and the choices of each scheduler."""
        from bisimdist.faces.shown.numbers import short_rational
        from bisimdist.faces.shown.tables import Report

        rows = tuple(
            (
                *(pair.source, pair.target, str(pair.length)),
                "inf" if pair.worst.ratio is None else short_rational(pair.worst.ratio),
                " ".join(pair.worst.trace),
                " and ".join(map(short_rational, pair.worst.probabilities)),
            )
            for pair in self.pairs
        )
        remarks = [
            f"({pair.source}, {pair.target}): {_shown(history, choice)}"
            for pair in self.pairs
            for history, choice in pair.worst.scheduler.items()
        ]
        if not self.complete:
            remarks.append("A limit ended the work: longer traces were not looked at.")
        return Report(
            heading="the worst trace under an admissible scheduler",
            columns=("from", "to", "actions to", "ratio", "trace", "probabilities"),
            rows=rows,
            remarks=tuple(remarks),
        )


def _shown(history: History, choice: str) -> str:
    """Say what the scheduler chooses after it has seen some screens, and chosen from them."""
    past = [f"{tag} of {{{', '.join(screen)}}}" for screen, tag in history[:-1]]
    last = f"choose {choice} of {{{', '.join(history[-1][0])}}}"
    return f"after {', then '.join(past)}, {last}" if past else f"first {last}"


def _pair_data(pair: ScheduledPair) -> dict[str, object]:
    from bisimdist.exact.logarithm import log_enclosure
    from bisimdist.exact.rational import format_rational
    from bisimdist.faces.shown.numbers import exact_value

    ratio = pair.worst.ratio
    return {
        "from": pair.source,
        "to": pair.target,
        "length": pair.length,
        "ratio": exact_value(ratio),
        "epsilon": "inf" if ratio is None else list(log_enclosure(ratio)),
        "trace": list(pair.worst.trace),
        "probabilities": list(map(format_rational, pair.worst.probabilities)),
        "scheduler": [
            {
                "history": [[list(screen), tag] for screen, tag in history[:-1]],
                "screen": list(history[-1][0]),
                "choice": choice,
            }
            for history, choice in pair.worst.scheduler.items()
        ],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule(Question["Schedules"]):
    """Find the worst ratio of a trace of at most K actions, and the admissible scheduler that attains it.

    A scheduler sees the tags of the available transitions, and remembers which of them it took. The file
    gives tags by the key 'tag'; by default they are the actions.
    """

    command = "schedule"
    tabled = "measured"
    group = Group.METRICS
    example = "example:pin-checking --length 4"
    options = (LENGTH.but(required=True, help="The largest number of actions."), PAIR, TIMEOUT, JSON)
    sources: ClassVar = ("XCL14 Definition 1",)
    shown = ("length",)
    start: ClassVar = {"ratio": "1", "trace": [], "scheduler": []}

    model: PA
    pairs: tuple[tuple[str, str], ...]
    length: int

    @classmethod
    def read(cls, given: Given) -> Schedule:
        model = given.automaton()
        return cls(model=model, pairs=given.pairs(model), length=given[LENGTH])

    def ask(self, limits: Limits) -> Schedules:
        from flint import fmpq

        from bisimdist.automata.engine.schedulers import WorstTrace, worst_trace_ratio
        from bisimdist.errors import ENDINGS

        one = fmpq(1)
        found = {pair: ScheduledPair(*pair, 0, WorstTrace(one, (), (one, one))) for pair in self.pairs}
        try:
            for length in range(1, self.length + 1):
                for pair in found:
                    worst = worst_trace_ratio(self.model, *pair, length, deadline=limits.deadline)
                    found[pair] = ScheduledPair(*pair, length, worst)
        except ENDINGS:
            return Schedules(tuple(found.values()), complete=False)
        return Schedules(tuple(found.values()), complete=True)

    def settled(self, answer: Schedules) -> bool | None:
        return True if answer.complete else None
