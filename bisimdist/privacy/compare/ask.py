"""All distances for one pair side by side, and the order in which they have to stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import overload

from flint import fmpq

from bisimdist.distances.bound.answer import DISTANCES
from bisimdist.distances.bound.ask import bound
from bisimdist.distances.engine.question import checked_alpha
from bisimdist.errors import LimitError
from bisimdist.exact.number import Exact
from bisimdist.exact.rational import ExactNumber
from bisimdist.exact.scale import Value
from bisimdist.faces.shown.asked_pairs import asked_states
from bisimdist.faces.shown.bounds import long_hint
from bisimdist.faces.shown.numbers import at_least, at_most, short_rational
from bisimdist.faces.shown.pair_bounds import PairBound
from bisimdist.faces.shown.standing import Measure
from bisimdist.faces.shown.tables import Report
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.bisimilarity import quotient
from bisimdist.models.interactive import Interactive
from bisimdist.models.kinds import AnyModel, StateModel
from bisimdist.models.lmc import LMC
from bisimdist.models.worlds import EACH_STEP, known_or_rough
from bisimdist.privacy.crosscheck.answer import CheckedPair, CrosscheckAnswer
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.engine.greatest import greatest_solution
from bisimdist.progress import NEVER, Deadline, Progress, silent
from bisimdist.reductions.chain import returned, straight
from bisimdist.reductions.claim import Claim
from bisimdist.reductions.step import Step

Pair = tuple[int, int]

CHEAP_PAIRS = 300  # with more ordered pairs the greatest solution is left out

Comparison = CheckedPair
"""All measures of a pair, as `crosscheck` has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(CrosscheckAnswer, Sequence[CheckedPair]):
    """The comparisons of all pairs, in the order of the question.

    Parameters
    ----------
    model
        The model.
    alpha
        The skew.
    pairs
        The comparisons.
    interrupted
        Whether the time was not enough for them.

    Examples
    --------
    >>> import bisimdist
    >>> compared = bisimdist.compare(bisimdist.build_example("figure1"), 1)
    >>> len(compared), compared[0].source, compared.violated
    (1, 's0', False)
    """

    command = "compare"

    model: StateModel  # type: ignore[assignment]
    length: int | None = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, place: int) -> CheckedPair: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[CheckedPair, ...]: ...
    def __getitem__(self, place: int | slice) -> CheckedPair | tuple[CheckedPair, ...]:
        return self.pairs[place]

    def __len__(self) -> int:
        return len(self.pairs)

    def data(self) -> dict[str, object]:
        return {"pairs": [pair.data() for pair in self.pairs], "violated": self.violated}

    def report(self) -> Report:
        rows, remarks = [], []
        for pair in self.pairs:
            for measure in pair.measures:
                ways = (measure.bounds, *(measure.directions or ((), ())))
                names = f"{pair.source}, {pair.target}", self.symbol(measure.name)
                rows.append((*names, *(_shown(*way) for way in ways)))
            remarks += [f"({pair.source}, {pair.target}) {text}" for text in self.remarks(pair)]
        values = [value for pair in self.pairs for measure in pair.measures for value in measure.bounds]
        return Report(
            heading=f"delta and what bounds it, at alpha = {short_rational(self.alpha)}",
            columns=("pair", "measure", "value", "this direction", "other direction"),
            rows=tuple(rows),
            remarks=(*remarks, *long_hint(value for value in values if value is not None)),
        )


def _shown(lower: Value = None, upper: Value = None) -> str:
    if lower is None or upper is None:
        return ""
    return at_most(upper) if lower == upper else f"{at_least(lower)}; {at_most(upper)}"


@interruptible
def compare(  # noqa: PLR0913
    model: AnyModel,
    alpha: ExactNumber,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    gap: ExactNumber | None = None,
    rounds: int | None = None,
    nature: str = EACH_STEP,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> Compared:
    """Compute delta and all distances of pairs, each by its own engine.

    Parameters
    ----------
    model
        The chain; or a hidden Markov model, or an automaton without choices, by what is observed of it; or an
        interactive model; or a chain in intervals, for the worst that nature can do.
    alpha
        The skew, at least 1.
    pairs
        Pairs of names of states; by default those of the model.
    gap, rounds, nature, deadline, memory, progress
        As for `delta`. If a limit comes first, measures are left out or have wider bounds.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

    Returns
    -------
    Compared
        For each pair a `CheckedPair`: all measures, and how they compare.

    Raises
    ------
    UsageError
        If alpha is less than 1, or there is no pair.
    ModelError
        If a pair names no state.

    Examples
    --------
    >>> from bisimdist.models.library.figure1 import figure1
    >>> [(measure.name, str(measure.upper)) for measure in compare(figure1(), 1)[0].measures][::5]
    [('delta', '1/5'), ('bd', '1/5')]
    """
    whole_system = known_or_rough(model)
    system, steps = straight(whole_system)
    skew = checked_alpha(alpha)
    asked = asked_states(system, pairs)
    merged, kinds = _merged(system)
    names = [(system.states[s], system.states[t]) for s, t in asked]
    inside = [(kinds[s], kinds[t]) for s, t in asked]
    merged_names = [(merged.states[s], merged.states[t]) for s, t in inside]
    truth = delta(
        system,
        skew,
        pairs=names,
        gap=gap,
        rounds=rounds,
        nature=nature,
        deadline=deadline,
        memory=memory,
        progress=progress,
    )

    asking = partial(bound, alpha=skew, nature=nature, deadline=deadline, progress=progress)

    def distances(about: StateModel, among: Sequence[tuple[str, str]]) -> dict[str, Sequence[PairBound]]:
        return {kind: asking(about, distance=kind, pairs=among).pairs for kind in DISTANCES}

    below = distances(merged, merged_names)
    whole = below if len(merged) == len(system) else distances(system, names)
    greatest, reason = None, "it is of chains only"
    if isinstance(system, LMC):
        greatest, reason = greatest_bounds(system, skew, asked, deadline, progress)
    result = []
    for k, pair in enumerate(asked):
        measures = [
            Measure("delta", truth.pairs[k].lower, truth.pairs[k].upper),
            distance_measure("lbd_quotient", below["lbd"][k]),
            distance_measure("lbd", whole["lbd"][k]),
            *([] if greatest is None else [directed_measure("greatest", pair, greatest)]),
            distance_measure("bd_quotient", below["bd"][k]),
            distance_measure("bd", whole["bd"][k]),
        ]
        left_out = [] if greatest is not None else [("greatest", reason)]
        if not isinstance(system, LMC | Interactive):
            measures = [measure for measure in measures if not measure.name.endswith("_quotient")]
            left_out += [(f"{kind}_quotient", "states of intervals are not merged") for kind in DISTANCES]
        allowed = tuple(_returned(steps, names[k], skew, measure) for measure in measures)
        result.append(
            CheckedPair(
                source=names[k][0],
                target=names[k][1],
                facts=frozenset(),
                measures=allowed,
                left_out=tuple(left_out),
                alpha=Exact(skew),
                aliases={},
            )
        )
    known = all(measure.lower == measure.upper for found in result for measure in found.measures)
    short = any(step.unfinished for step in steps) or deadline.passed()
    late = short and not known
    return Compared(model=whole_system, alpha=Exact(skew), pairs=tuple(result), interrupted=late)


def _merged(system: StateModel) -> tuple[StateModel, Sequence[int]]:
    """Return a model without bisimilar states, if it is known, and what became of each state."""
    return quotient(system) if isinstance(system, LMC | Interactive) else (system, range(len(system)))


def _returned(steps: Sequence[Step], states: tuple[str, str], alpha: fmpq, measure: Measure) -> Measure:
    """Return bounds that hold of the model before all steps."""
    quantity = "delta" if measure.name == "delta" else "bd"

    def back(lower: fmpq, upper: fmpq) -> tuple[fmpq, fmpq]:
        return returned(steps, Claim.between(quantity, states, (lower, upper), (alpha, alpha))).sides

    low, high = back(measure.lower, measure.upper)
    ways = measure.directions
    if ways is not None:
        one, other = (back(*way) for way in ways)
        ways = (one, other)
    return replace(measure, lower=low, upper=high, directions=ways)


def distance_measure(name: str, pair: PairBound) -> Measure:
    """Return bounds on a distance, with both directions where it has them."""
    return Measure(name, pair.lower, pair.upper, pair.directions)


def directed_measure(name: str, pair: Pair, bounds: Mapping[Pair, tuple[fmpq, fmpq]]) -> Measure:
    """Return the larger of both directions of a pair, with both."""
    one, other = bounds[pair], bounds[pair[::-1]]
    return Measure(name, max(one[0], other[0]), max(one[1], other[1]), (one, other))


def greatest_bounds(
    model: LMC, alpha: fmpq, asked: Sequence[Pair], deadline: Deadline, progress: Progress
) -> tuple[dict[Pair, tuple[fmpq, fmpq]] | None, str]:
    """Return the greatest solution in both directions of pairs; None and why where it is out of reach."""
    both = [way for s, t in asked for way in ((s, t), (t, s))]
    try:
        found = greatest_solution(
            model, alpha, both, max_pairs=CHEAP_PAIRS, deadline=deadline, progress=progress
        )
    except LimitError as error:
        return None, str(error)
    result = {}
    for way in both:
        value = found.value(*way)
        result[way] = (value if found.closed else fmpq(0)), value
    return result, ""
