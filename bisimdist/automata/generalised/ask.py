"""Generalised bisimilarity metrics of probabilistic automata: question and answer.

Source: CCP18 Definition 16.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.automata.engine.strong import bisimilarity_quotient
from bisimdist.automata.generalised.certificate import generalised_certificate
from bisimdist.distances.engine.generalised_engine import Solution, least_fixed_point
from bisimdist.distances.engine.hausdorff import Arena
from bisimdist.distances.engine.liftings import AdditiveLifting, Lifting, MultiplicativeLifting
from bisimdist.errors import ENDINGS, UsageError
from bisimdist.exact.number import Exact
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.exact.scale import Bounds, Scale
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.asked_pairs import asked_states
from bisimdist.faces.shown.numbers import between, exact_value, interval, short_value
from bisimdist.faces.shown.proved import Proved, Shown, no_certificate
from bisimdist.faces.shown.tables import Report
from bisimdist.faces.written.frame import bounds_claim
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of
from bisimdist.progress import NEVER, Deadline, Progress, silent

REMARKS = {
    Status.BRACKET: "The bounds are certified and as close to the distances as you asked.",
    Status.LIMIT: "The bounds are certified; the distance itself was not found, or is irrational.",
}

GeneralisedKind = Scale
"""By what two probabilities are compared; multiplicative distances are given as ratios."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneralisedBound(Bounds):
    """Bounds on the distance of a pair: of kind multiplicative they are ratios, e to the distance.

    Parameters
    ----------
    source, target
        The names of the two states.
    kind
        Which metric.
    lower, upper
        Proved bounds; None stands for infinity (multiplicative).

    Examples
    --------
    >>> import bisimdist
    >>> pin = bisimdist.build_any_example("pin-checking")
    >>> (pair,) = bisimdist.automata.generalised_metric(pin, "additive").pairs
    >>> pair.upper
    1/3
    """

    source: str
    target: str
    kind: GeneralisedKind

    @property
    def scale(self) -> Scale:
        """What the numbers are."""
        return self.kind

    @property
    def value(self) -> Exact | None:
        """The upper bound: where `exact` the distance, or for kind multiplicative e to it."""
        return self.upper

    def epsilon(self, digits: int = 5) -> tuple[str, str]:
        """Return decimals below and above the logarithms of the bounds; ``"inf"`` where one is infinite.

        Raises
        ------
        UsageError
            If the metric is additive: its distances are no logarithms.
        """
        if self.kind is GeneralisedKind.ADDITIVE:
            raise UsageError("an additive distance is no logarithm")
        return Bounds.epsilon(self, digits)

    def data(self) -> dict[str, object]:
        """Return the bounds as plain data."""
        data: dict[str, object] = {"from": self.source, "to": self.target}
        if self.kind is GeneralisedKind.ADDITIVE:
            data["distance"] = exact_value(self.upper)
        else:
            data |= {"ratio": exact_value(self.upper), "epsilon": list(self.epsilon())}
        lower, upper = exact_value(self.lower), exact_value(self.upper)
        return {**data, "exact": self.exact, "lower": lower, "upper": upper}

    @property
    def row(self) -> tuple[str, ...]:
        """The pair, the bounds, and whether they meet, for a person."""
        shown = short_value(self.upper) if self.exact else f"from {interval(self.lower, self.upper)}"
        ratio = self.kind is GeneralisedKind.MULTIPLICATIVE
        logarithm = (between(*self.epsilon()),) if ratio else ()
        return self.source, self.target, shown, *logarithm, "yes" if self.exact else "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneralisedAnswer(Shown, Proved):
    """Bounds on a generalised bisimilarity metric for each pair in question, with their proof.

    Source: CGPX14, CCP18.

    Parameters
    ----------
    model
        The automaton.
    kind
        Which metric.
    discount
        The factor of a step.
    pairs
        The bounds, in the order in which the pairs were asked.
    status
        ``EXACT``; ``BRACKET`` where the bounds are as close as was asked; or ``LIMIT``.
    statistics
        Counts of what was done, without any timing.
    make_certificate
        Writes the proof when it is asked for.

    Examples
    --------
    >>> import bisimdist
    >>> pin = bisimdist.build_any_example("pin-checking")
    >>> answer = bisimdist.automata.generalised_metric(pin, "additive")
    >>> answer.status.value
    'exact'
    """

    command = "metric"

    model: PA
    kind: GeneralisedKind
    discount: Exact
    pairs: tuple[GeneralisedBound, ...]
    status: Status
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)

    def report(self) -> Report:
        ratios = self.kind is GeneralisedKind.MULTIPLICATIVE
        heading = f"{self.kind.value} bisimilarity metric"
        if self.discount != 1:
            heading += f", discount {format_rational(self.discount)}"
        if ratios:
            heading += " (the distance is the logarithm of the ratio)"
        return Report(
            heading=heading,
            columns=("from", "to", *(("ratio",) if ratios else ()), "distance", "exact"),
            rows=tuple(bound.row for bound in self.pairs),
            remarks=tuple(REMARKS[status] for status in (self.status,) if status in REMARKS),
        )


@interruptible
def generalised_metric(  # noqa: PLR0913
    model: PA | LMC,
    kind: GeneralisedKind | str = GeneralisedKind.ADDITIVE,
    *,
    discount: ExactNumber = 1,
    pairs: Sequence[tuple[str, str]] | None = None,
    precision: ExactNumber | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> GeneralisedAnswer:
    """Compute a generalised bisimilarity metric of a probabilistic automaton, with a proof.

    Transitions answer each other as in a bisimulation, and sub-distributions are compared by the Kantorovich
    lifting for ``|x - y|`` or for ``|ln x - ln y|``. If the multiplicative distance of two states is at most
    epsilon, the probabilities of every trace are within a factor of e^epsilon (for fully probabilistic
    automata; with nondeterminism for answering schedulers).

    Source: CGPX14, CCP18.

    Parameters
    ----------
    kind
        ``"additive"`` or ``"multiplicative"``.
    discount
        The factor of a step, more than 0 and at most 1.
    precision
        None for exact values if possible. Otherwise, on cycles, how far apart bounds on the distance may be,
        in short rationals.
    model, pairs, deadline, progress, on_interrupt
        As in `bisimdist.metric`.

    Returns
    -------
    GeneralisedAnswer
        For each pair bounds on the metric.

    Raises
    ------
    UsageError
        If there is no such kind, no pair, or a number out of its range.
    ModelError
        If a pair names no state.

    Examples
    --------
    >>> from bisimdist.models.library.randomised_response import randomised_response
    >>> [str(pair.upper) for pair in generalised_metric(randomised_response(), "multiplicative").pairs]
    ['3']
    >>> [str(pair.upper) for pair in generalised_metric(randomised_response(), "additive").pairs]
    ['1/2']
    """
    chosen, lifting, wanted = _question(kind, discount, precision)
    automaton = automaton_of(model)
    asked = asked_states(automaton, pairs)
    solution: Solution | None = None
    classes: tuple[int, ...] = tuple(range(len(automaton)))
    try:
        quotient, classes = bisimilarity_quotient(automaton)
        starts = [(classes[s], classes[t]) for s, t in asked]
        arena = Arena.of(quotient, lifting, starts, deadline=deadline, progress=progress)
        solution = least_fixed_point(arena, precision=wanted, deadline=deadline, progress=progress)
    except ENDINGS:
        pass
    found = []
    names = automaton.states
    for s, t in asked:
        low, high = lifting.zero, lifting.zero if s == t else lifting.top
        if solution is not None:
            low, high = solution.bounds(classes[s], classes[t])
        found.append(GeneralisedBound(source=names[s], target=names[t], kind=chosen, lower=low, upper=high))
    bounds = tuple(found)

    def certificate() -> dict[str, object]:
        if solution is None:
            return no_certificate()
        claims = [bounds_claim(one.source, one.target, one.lower, one.upper) for one in bounds]
        return generalised_certificate(automaton, classes, solution, claims)

    return GeneralisedAnswer(
        model=automaton,
        kind=chosen,
        discount=lifting.discount,
        pairs=bounds,
        status=_status(bounds, wanted),
        statistics={}
        if solution is None
        else {
            "states": len(automaton),
            "classes": len(solution.arena.automaton),
            "positions": len(solution.arena.positions),
            "duels": len(solution.arena.duels),
        },
        make_certificate=certificate,
    )


def _question(
    kind: GeneralisedKind | str, discount: ExactNumber, precision: ExactNumber | None
) -> tuple[GeneralisedKind, Lifting, fmpq | None]:
    kind = Scale.called(kind, "metric")
    wanted = None if precision is None else to_fmpq(precision)
    if wanted is not None and wanted <= 0:
        raise UsageError(f"the precision is {wanted}; expected more than 0")
    factor = to_fmpq(discount)
    lifting: Lifting = (
        AdditiveLifting(factor) if kind is GeneralisedKind.ADDITIVE else MultiplicativeLifting(factor)
    )
    return kind, lifting, wanted


def _status(bounds: Sequence[GeneralisedBound], precision: fmpq | None) -> Status:
    if all(bound.exact for bound in bounds):
        return Status.EXACT
    if precision is not None and all(_close(bound, precision) for bound in bounds):
        return Status.BRACKET
    return Status.LIMIT


def _close(bound: GeneralisedBound, precision: fmpq) -> bool:
    if bound.lower is None or bound.upper is None:
        return bound.exact
    if bound.kind is GeneralisedKind.ADDITIVE:
        return bool(bound.upper - bound.lower <= precision)
    # ln(1 + x) <= x
    return bool(bound.upper - bound.lower <= precision * bound.lower)
