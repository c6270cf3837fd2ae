"""The additive trace metric of sets of traces: the total variation distance, which is delta at alpha 1.

Source: CCP18 Definition 10, CCP18 Proposition 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import fmpq

from bisimdist.exact.scale import Scale
from bisimdist.models.ends import Completed, Ends
from bisimdist.models.pa import PA
from bisimdist.privacy.delta.answer import DeltaBound
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.delta.work import DEFAULT_GAP
from bisimdist.progress import Limits
from bisimdist.traces.trace.answer import TraceBound, TraceMetricAnswer
from bisimdist.traces.trace.events import SETS


def metric_of_sets(
    automaton: PA, asked: Sequence[tuple[int, int]], threshold: fmpq | None, limits: Limits
) -> TraceMetricAnswer:
    """Compute how far apart the probabilities of one set of traces can be from two states."""
    names = automaton.states
    pairs = [(names[s], names[t]) for s, t in asked]
    said: dict[str, Any] = {"deadline": limits.deadline, "progress": limits.progress}
    found = None
    if threshold is not None:  # with a gap: at a tie nothing else ends the work on a cyclic automaton
        found = delta(automaton, 1, pairs=pairs, threshold=threshold, gap=DEFAULT_GAP, **said)
    if found is None or any(pair.lower <= threshold < pair.upper for pair in found.pairs):
        found = delta(automaton, 1, pairs=pairs, **said)  # exact where no run is infinite
    return TraceMetricAnswer(
        model=automaton,
        kind=Scale.ADDITIVE,
        length=None,
        pairs=tuple(map(_bound, found.pairs)),
        threshold=threshold,
        status=found.status,
        statistics=found.statistics,
        completed=Completed.of(automaton, Ends.VISIBLE, {state for pair in asked for state in pair}),
        of=SETS,
        make_certificate=found.certificate,
    )


def _bound(found: DeltaBound) -> TraceBound:
    event = found.witness
    probabilities = (event.probability_from, event.probability_to)
    if event.source != found.source:
        probabilities = probabilities[::-1]
    return TraceBound(
        source=found.source,
        target=found.target,
        kind=Scale.ADDITIVE,
        lower=found.lower,
        upper=found.upper,
        witness=(),
        probabilities=probabilities,
        event=event,
    )
