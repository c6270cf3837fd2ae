"""The accumulative and the amortised bisimulation metric of probabilistic automata: question and answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from flint import fmpq

from bisimdist.automata.engine.accumulative import Accumulated, accumulative_values
from bisimdist.automata.engine.all_schedulers import widest_ratios
from bisimdist.automata.engine.amortised import Amortised, amortised_values
from bisimdist.automata.engine.game import SAME, Arena
from bisimdist.automata.engine.play import Play, accumulative_play, amortised_play, shape_play
from bisimdist.automata.engine.windows import Credits, hold_window, window_of
from bisimdist.automata.engine.witness import Loss, accumulative_points, amortised_points, losing_play
from bisimdist.automata.metric.answer import KINDS, Kind, MetricAnswer, MetricBound, Triple
from bisimdist.automata.metric.certificate import ProvedPair, accumulative_certificate, amortised_certificate
from bisimdist.errors import ENDINGS, LimitError, UsageError
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.asked_pairs import asked_states
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of
from bisimdist.progress import NEVER, Deadline, Progress, silent

ONE = fmpq(1)
BISECTIONS = 12
CLOSE = fmpq(1001, 1000)


@interruptible
def metric(  # noqa: PLR0913
    model: PA | LMC,
    kind: Kind | str,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> MetricAnswer:
    """Compute a bisimulation metric of a probabilistic automaton, exactly and with a proof.

    If the distance of two secrets' initial states is at most epsilon, the system is epsilon-differentially
    private for them, under admissible schedulers.

    Source: XCL14.

    Parameters
    ----------
    model
        The automaton; a labelled Markov chain is taken as the automaton with its labels as actions.
    kind
        ``"accumulative"`` or ``"amortised"``.
    pairs
        Pairs of names of states; by default those of the model.
    deadline
        When to give up; what is proved by then is returned with ``Status.LIMIT``.
    progress, on_interrupt
        As for `bisimdist.bound`.

    Returns
    -------
    MetricAnswer
        For each pair the metric, with the play that attains it.

    Raises
    ------
    UsageError
        If there is no such kind, or no pair.
    ModelError
        If a pair names no state.

    Examples
    --------
    >>> from bisimdist.models.library.pin_checking import pin_checking
    >>> [str(pair.ratio) for pair in metric(pin_checking(), "amortised").pairs]
    ['9/4']
    >>> metric(pin_checking(), "accumulative").pairs[0].ratio is None
    True
    """
    if not isinstance(kind, Kind):
        if kind not in KINDS:
            raise UsageError(f"there is no metric {kind!r}; expected {' or '.join(KINDS)}")
        kind = Kind(kind)
    automaton = automaton_of(model)
    asked = asked_states(automaton, pairs)
    try:
        arena = Arena(automaton, asked, deadline)
        work = (_Accumulative if kind is Kind.ACCUMULATIVE else _Amortised)(arena, deadline, progress)
    except ENDINGS:
        return _nothing(automaton, kind, asked)
    bounds = tuple(work.bound(s, t) for s, t in asked)
    if not automaton.fully_probabilistic:
        with suppress(*ENDINGS):
            progress("all schedulers", 0, None)
            found = widest_ratios(automaton, asked, deadline=deadline)
            bounds = tuple(replace(bound, widest=one) for bound, one in zip(bounds, found, strict=True))
    return MetricAnswer(
        model=automaton,
        kind=kind,
        pairs=bounds,
        status=Status.EXACT if all(bound.exact for bound in bounds) else Status.LIMIT,
        statistics={
            "states": len(automaton),
            "classes": len(arena.representative),
            "positions": len(arena.positions),
            "duels": len(arena.duels),
        },
        make_certificate=work.certificate,
    )


def _nothing(automaton: PA, kind: Kind, asked: Iterable[tuple[int, int]]) -> MetricAnswer:
    names = automaton.states
    return MetricAnswer(
        model=automaton,
        kind=kind,
        pairs=tuple(
            MetricBound(source=names[s], target=names[t], lower=ONE, upper=ONE if s == t else None)
            for s, t in asked
        ),
        status=Status.LIMIT,
    )


def _triples(arena: Arena, credits: Mapping[int, Credits] | None) -> tuple[Triple, ...]:
    if not credits:
        return ()
    names = arena.automaton.states
    result = []
    for position, intervals in sorted(credits.items()):
        s, t = arena.states_of(position)
        result += [(names[s], names[t], low, high) for low, high in intervals]
    return tuple(result)


class _Accumulative:
    """The accumulative metric of one arena."""

    def __init__(self, arena: Arena, deadline: Deadline, progress: Progress) -> None:
        self.arena = arena
        self.values: Accumulated = accumulative_values(arena, deadline=deadline, progress=progress)
        self.proved: list[ProvedPair] = []

    def bound(self, s: int, t: int) -> MetricBound:
        names = self.arena.automaton.states
        position = self.arena.position(s, t)
        value = self.values.value(position)
        self.proved.append(ProvedPair(s, t, value, value))
        play, credits = None, None
        if position is None:
            play = shape_play(self.arena.automaton, s, t)
        elif position != SAME:
            play = accumulative_play(self.values, position)
            credits = None if value is None else accumulative_points(self.values, position)
        return MetricBound(
            source=names[s],
            target=names[t],
            lower=value,
            upper=value,
            play=play,
            relation=_triples(self.arena, credits),
        )

    def certificate(self) -> dict[str, object]:
        return accumulative_certificate(self.values, self.proved)


class _Amortised:
    """The amortised metric of one arena."""

    def __init__(self, arena: Arena, deadline: Deadline, progress: Progress) -> None:
        self.arena = arena
        self.deadline = deadline
        self.progress = progress
        asked = {arena.position(s, t) for s, t in arena.asked} - {None, SAME}
        self.values: Amortised = amortised_values(
            arena, sorted(p for p in asked if p is not None), deadline=deadline, progress=progress
        )
        self.proved: list[ProvedPair] = []
        self.accumulated: Accumulated | None = None

    def bound(self, s: int, t: int) -> MetricBound:
        names = self.arena.automaton.states
        position = self.arena.position(s, t)
        lower = self.values.lower(position)
        upper, held = lower, None
        losses: dict[tuple[int, fmpq], Loss] = {}
        if position is None:
            play: Play | None = shape_play(self.arena.automaton, s, t)
        elif position == SAME:
            play = None
        else:
            if lower is not None:
                lower, losses = self._losses(position, lower)
                upper, held = self._upper(position, lower)
            play = amortised_play(self.values, losses, position, lower)
        self.proved.append(ProvedPair(s, t, lower, upper, position, held, losses))
        return MetricBound(
            source=names[s],
            target=names[t],
            lower=lower,
            upper=upper,
            play=play if play is None or play.steps or play.obstacle else None,
            relation=_triples(self.arena, held),
        )

    def _losses(self, position: int, lower: fmpq) -> tuple[fmpq, dict[tuple[int, fmpq], Loss]]:
        try:
            return lower, losing_play(self.values, position, lower)
        except LimitError:
            return ONE, {}

    def _upper(self, position: int, lower: fmpq) -> tuple[fmpq | None, dict[int, Credits] | None]:
        """Return the least window for which a relation is found, and that relation."""
        if self.values.found(position):
            held = self._slices(lower)
            return lower, amortised_points(self.arena, held, position, lower) or held
        if (held_at := self._hold(position, lower)) is not None:
            return lower, held_at
        best: fmpq | None = None
        found: dict[int, Credits] | None = None
        try:
            if self.accumulated is None:
                self.accumulated = accumulative_values(self.arena, deadline=self.deadline)
            best = self.accumulated.values[position]
            found = None if best is None else self._tamed(best)
        except LimitError:
            pass
        window, doubling = lower, 0
        while best is None and doubling < BISECTIONS and not self.deadline.passed():
            window, doubling = window * 2, doubling + 1
            held_at = self._hold(position, window)
            if held_at is not None:
                best, found = window, held_at
        low = lower
        for _ in range(BISECTIONS):
            if best is None or best <= low * CLOSE or self.deadline.passed():
                break
            middle = _simple_between(low, best)
            held_at = self._hold(position, middle)
            if held_at is None:
                low = middle
            else:
                best, found = middle, held_at
        return best, found

    def _slices(self, window: fmpq) -> dict[int, Credits]:
        return {
            position: credits
            for position in self.values.history
            if (credits := window_of(self.values.stairs(position), window))
        }

    def _hold(self, position: int, window: fmpq) -> dict[int, Credits] | None:
        narrow = self.values.widest is not None and window * window <= self.values.widest
        full: Credits = ((1 / window, window),)
        starts = self._slices(window) if narrow else dict.fromkeys(self.values.history, full)
        return hold_window(self.arena, starts, position, window, deadline=self.deadline)

    def _tamed(self, window: fmpq) -> dict[int, Credits]:
        """Return the relation behind m^A <= m^D: what is left to spend bounds the product on both sides."""
        result: dict[int, Credits] = {}
        assert self.accumulated is not None
        for position, value in self.accumulated.values.items():
            if value is not None and value <= window:
                result[position] = ((value / window, window / value),)
        return result

    def certificate(self) -> dict[str, object]:
        return amortised_certificate(self.values, self.proved)


def _simple_between(low: fmpq, high: fmpq) -> fmpq:
    """Return a short rational in the middle third of an interval."""
    third = (high - low) / 3
    bits = max(0, int(third.q.bit_length()) - int(third.p.bit_length()) + 2)
    scale = fmpq(2**bits)
    return fmpq(((low + third) * scale).ceil()) / scale
