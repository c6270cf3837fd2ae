"""What traces leak of where a run started, from both sides: divergences, vulnerabilities of secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from flint import fmpq

from bisimdist.distances.bound.certificate import CLAIM_DIGITS
from bisimdist.errors import ENDINGS, LimitError, UsageError
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.asked_pairs import asked_states
from bisimdist.faces.written.frame import Document
from bisimdist.faces.written.numbers import rational_text
from bisimdist.interruption import OnInterrupt, deferred, interruptible
from bisimdist.models.interactive import System
from bisimdist.models.kinds import AnyModel, StateModel
from bisimdist.models.worlds import EACH_STEP, known_or_rough
from bisimdist.privacy.delta.work import CLOSING_SECONDS, DEFAULT_GAP, RESERVE
from bisimdist.privacy.engine.closure import Closure
from bisimdist.privacy.engine.leakages import Asked, Leakages, measure_of
from bisimdist.privacy.engine.unending import find_unending
from bisimdist.privacy.leakage.answer import LeakageAnswer
from bisimdist.privacy.leakage.bounds import LeakageBound, Unending
from bisimdist.privacy.leakage.certificate import leakage_certificate
from bisimdist.privacy.leakage.measures import LeakageMeasure, read_measure
from bisimdist.privacy.leakage.outputs import of_outputs
from bisimdist.privacy.leakage.returned import claim_of, joined, returned
from bisimdist.progress import NEVER, Deadline, Progress, silent
from bisimdist.reductions.chain import solved
from bisimdist.reductions.claim import Claim
from bisimdist.reductions.outputs import Outputs
from bisimdist.reductions.routes import refuse_unanswered
from bisimdist.reductions.step import Kind, Problem, Step

FINEST = fmpq(1, 10**300)  # doubles know no smaller gap

BATCH = 4_000
"""After so many more nodes exact bounds are worked out in between, where the value may be infinite."""


@interruptible
def leakage(  # noqa: PLR0913
    model: AnyModel,
    measure: str | LeakageMeasure,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    both: bool = False,
    secrets: Sequence[str] | None = None,
    prior: Sequence[ExactNumber] | None = None,
    gains: Mapping[str, Mapping[str, ExactNumber]] | None = None,
    gap: ExactNumber | None = None,
    nature: str = EACH_STEP,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> LeakageAnswer:
    """Bound a measure of what traces leak from both sides, exactly where that is possible.

    Parameters
    ----------
    model
        A chain, or what stands for one: an automaton without choices, a hidden Markov model, a program; or a
        chain in intervals: then the measure is the largest value that nature can bring about.
    measure
        ``tv``, ``chi2``, ``kl``, ``hellinger`` (squared, at most 2) or ``renyi:BETA``, from the first state
        of a pair to the second; ``bayes``, ``min-entropy`` or ``g`` of secrets.
    pairs
        Pairs of names of states; by default those of the model. Measures of secrets take each as two secrets.
    both
        Whether to take every pair in both directions.
    secrets
        The names of the states that are the secrets, instead of pairs.
    prior
        The probabilities of the secrets; by default all are equal.
    gains
        For ``g``: the gain, by guess and secret.
    gap
        Stop as soon as upper - lower is at most this (for Rényi and min-entropy relative to their size). By
        default 0 if all runs come to rest, because the measure is then a finite sum, and ``DEFAULT_GAP``
        otherwise.
    nature
        For a chain in intervals: ``"each-step"``, where nature picks a member at every step, in each of two
        worlds on its own, or ``"fixed"``, where it has picked one for good.
    deadline, memory
        When to give up, and how many bytes the process may hold. What is proved by then is returned with
        ``Status.LIMIT``.
    progress, on_interrupt
        As for `bisimdist.bound`.

    Returns
    -------
    LeakageAnswer
        Bounds for each pair, or for the secrets.

    Raises
    ------
    UsageError
        If there is no such measure, or the prior, the gains or the secrets do not fit.
    ModelError
        If a name is no state.

    Examples
    --------
    >>> from bisimdist.models.library.dining_cryptographers import dining_cryptographers
    >>> str(leakage(dining_cryptographers(2), "chi2").pairs[0].upper)
    '4/6249999'

    Notes
    -----
    The proofs are in ``docs/theory/leakage.md``.
    """
    system = known_or_rough(model)
    refuse_unanswered(LeakageProblem, system)
    if not isinstance(measure, LeakageMeasure):
        exact = {guess: {s: to_fmpq(x) for s, x in row.items()} for guess, row in (gains or {}).items()}
        measure = read_measure(measure, exact)
    wanted = None if gap is None else to_fmpq(gap)
    if wanted is not None and wanted < 0:
        raise UsageError(f"the gap is {format_rational(wanted)}; expected at least 0")
    cases = _cases(system, measure, pairs, both, secrets, prior)
    asked = LeakageProblem(
        pairs=tuple(tuple(system.states[state] for state in case.states) for case in cases),
        nature=nature,
        deadline=deadline,
        measure=measure,
        priors=tuple(case.prior for case in cases),
        gap=wanted,
        memory=memory,
        progress=progress,
    )
    return solved(asked, system)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakageProblem(Problem[LeakageAnswer]):
    """What is asked of leakages; see `leakage`."""

    kinds = frozenset({Kind.CHAIN, Kind.WORLDS, Kind.OUTPUTS})
    instead = MappingProxyType({Kind.INTERACTIVE: "say what is asked, and take the chain of what is seen"})

    measure: LeakageMeasure
    priors: tuple[tuple[fmpq, ...], ...]
    gap: fmpq | None = None
    memory: int | None = None
    progress: Progress = silent

    @property
    def merges(self) -> bool:
        return True

    def fits(self, step: Step) -> bool:
        """Tell whether secrets that gain guesses different amounts stay apart."""
        names = tuple({name for states in self.pairs for name in states})
        return self.measure.gains is None or len(set(step.place(names))) == len(names)

    def engine(self, model: System | Outputs) -> LeakageAnswer:
        if isinstance(model, Outputs):
            found = tuple(of_outputs(model, self.measure, *states) for states in self.pairs)
            return LeakageAnswer(model=model, measure=self.measure, pairs=found, status=Status.BRACKET)
        graph = Leakages(model, measure_of(*self.measure.kind), self.memory)
        cases = tuple(
            _Case(tuple(map(model.index, states)), prior)
            for states, prior in zip(self.pairs, self.priors, strict=True)
        )
        return _Work(graph, self.measure, cases, self.gap, self.deadline, self.progress).answer()

    back = returned
    joined = staticmethod(joined)

    def picked(self, found: LeakageAnswer, number: int) -> Sequence[str | None]:  # noqa: ARG002
        return found.picked()

    def sides(self, found: LeakageAnswer, number: int) -> Claim:
        return claim_of(found.pairs[number])

    def moved(self, step: Step) -> LeakageProblem:
        places = tuple(map(step.place, self.pairs))
        gains = self.measure.gains
        if gains is None:
            return replace(self, pairs=places)
        named = {
            place: state
            for one, two in zip(places, self.pairs, strict=True)
            for place, state in zip(one, two, strict=True)
        }
        rows = {guess: {p: row[s] for p, s in named.items() if s in row} for guess, row in gains.items()}
        return replace(self, pairs=places, measure=replace(self.measure, gains=rows))


@dataclass(frozen=True, slots=True)
class _Case:
    """What is asked once: an ordered pair, or secrets with their prior."""

    states: tuple[int, ...]
    prior: tuple[fmpq, ...]


def _cases(  # noqa: PLR0913, PLR0917
    model: StateModel,
    measure: LeakageMeasure,
    pairs: Sequence[tuple[str, str]] | None,
    both: bool,
    secrets: Sequence[str] | None,
    prior: Sequence[ExactNumber] | None,
) -> tuple[_Case, ...]:
    if not measure.of_secrets and (secrets or prior):
        raise UsageError(
            f"{measure.shown} is about pairs of states; secrets and priors are for bayes, min-entropy and g"
        )
    if measure.of_secrets and both:
        raise UsageError(f"{measure.shown} has no direction; 'both' is for measures of pairs")
    if secrets and pairs:
        raise UsageError("expected pairs or secrets, not both")
    if secrets:
        if len(secrets) < 2 or len(set(secrets)) < len(secrets):
            raise UsageError("expected at least two secrets, each of them once")
        groups = [tuple(model.index(name) for name in secrets)]
    else:
        groups = list(asked_states(model, pairs))
        if both:
            groups = [way for s, t in groups for way in ((s, t), (t, s))]
    if measure.gains is not None:
        known = {model.states[state] for group in groups for state in group}
        for guess, row in measure.gains.items():
            for secret in row:
                if secret not in known:
                    raise UsageError(f"the guess {guess!r} has a gain for {secret!r}, which is no secret")
    return tuple(_Case(group, _prior(prior, len(group))) for group in groups)


def _prior(prior: Sequence[ExactNumber] | None, count: int) -> tuple[fmpq, ...]:
    if prior is None:
        return (fmpq(1, count),) * count
    found = tuple(to_fmpq(p) for p in prior)
    if len(found) != count:
        raise UsageError(
            f"the prior has {len(found)} probabilities; expected one for each of {count} secrets"
        )
    if min(found) < 0 or sum(found, fmpq(0)) != 1:
        raise UsageError("the prior is no distribution: expected numbers of at least 0 that sum to 1")
    return found


@dataclass(slots=True)
class _Work:
    graph: Leakages
    measure: LeakageMeasure
    cases: tuple[_Case, ...]
    gap: fmpq | None
    deadline: Deadline
    progress: Progress
    asked: list[Asked] = field(default_factory=list)
    before: list[fmpq] = field(default_factory=list)
    closure: Closure | None = None
    closed_at: int = -1  # how many nodes were expanded when it was made

    def run(self) -> Status:
        """Refine until it is enough; whatever ends the work, exact bounds are worked out at the end."""
        states = sorted({state for case in self.cases for state in case.states})
        deadline = self.deadline.part(RESERVE)
        with suppress(LimitError):
            self.graph.use_ratios(states, deadline=deadline)
        for case in self.cases:
            worlds = self.measure.worlds(case.states, [self._name(s) for s in case.states], case.prior)
            self.before.append(self.measure.before(worlds))
            relative = self.measure.name in ("renyi", "min-entropy")
            self.asked.append(self.graph.asked(worlds, *self.measure.transform(worlds), relative=relative))
        gap = self.gap
        if gap is None:
            gap = fmpq(0) if self.graph.acyclic(states) else DEFAULT_GAP
        reached = False
        with suppress(*ENDINGS):
            reached = self._refine(gap, deadline)
        with deferred():  # what was refined is worth its exact bounds
            ends = self.deadline.moment is not None or reached
            self._close(self.deadline if ends else Deadline.after(CLOSING_SECONDS))
        if all(bound.exact for bound in self.bounds()):
            return Status.EXACT
        return Status.BRACKET if reached else Status.LIMIT

    def _close(self, deadline: Deadline) -> None:
        """Work out exact bounds, unless those that are known are about as many nodes."""
        expanded = self.graph.refinement.expanded
        if self.closed_at < expanded:
            self.closure = self.graph.close(self.asked, deadline=deadline)
            self.closed_at = expanded

    def _refine(self, gap: fmpq, deadline: Deadline) -> bool:
        fine, most = gap, BATCH
        while True:
            open_ones = self._open(gap)
            if not open_ones:
                return True
            deadline.check()
            reached = self.graph.refine(
                open_ones, gap=fine, most=most, deadline=deadline, progress=self.progress
            )
            if reached or any(self.graph.interval(one)[1] == float("inf") for one in open_ones):
                self._close(self.deadline)
            if reached:
                if fine == 0 or not self._open(gap):
                    return True
                fine = fine / 2 if fine > FINEST else fmpq(0)
            most = max(most, 2 * self.graph.refinement.expanded)

    def _open(self, gap: fmpq) -> list[Asked]:
        """Return the numbers whose exact bounds are not as narrow as wanted."""
        if self.closure is None:
            return self.asked
        found = []
        for one in self.asked:
            low, high = one.value(self.closure.lower), one.value(self.closure.upper)
            if low is not None and (high is None or high - low > (gap * low if one.relative else gap)):
                found.append(one)
        return found

    def bounds(self) -> tuple[LeakageBound, ...]:
        if self.closure is None:
            self._close(NEVER)
        return () if self.closure is None else self._bounds(self.closure)

    def _bounds(self, closure: Closure) -> tuple[LeakageBound, ...]:
        found = []
        for case, one, before in zip(self.cases, self.asked, self.before, strict=True):
            lower, upper = one.value(closure.lower), one.value(closure.upper)
            least, most = self.measure.least, self.measure.most
            if least is not None and lower is not None:
                lower = max(lower, least)
            if most is not None:
                upper = most if upper is None else min(upper, most)
            unending = None if lower is not None else self._unending(case, one, closure)
            found.append(
                LeakageBound(
                    measure=self.measure,
                    states=tuple(map(self._name, case.states)),
                    prior=case.prior if self.measure.of_secrets else None,
                    before=before if self.measure.of_secrets else None,
                    lower=lower,
                    upper=upper,
                    unending=unending,
                )
            )
        return tuple(found)

    def _name(self, state: int) -> str:
        return self.graph.model.states[state]

    def answer(self) -> LeakageAnswer:
        status = self.run()
        return LeakageAnswer(
            model=self.graph.model,
            measure=self.measure,
            pairs=self.bounds(),
            status=status,
            statistics=self.statistics(),
            make_certificate=self.certificate,
            picked=self.picked,
        )

    def picked(self) -> list[str]:
        """Return what nature picks where it matters, as actions."""
        found, chain = [], self.graph.measure.chain
        for number, option in (self.closure.choice if self.closure is not None else {}).items():
            found.append(chain.named(self.graph.refinement.nodes[number].vector, option))
        return found[::-1]

    def _unending(self, case: _Case, one: Asked, closure: Closure) -> Unending | None:
        found = find_unending(self.graph.refinement, [root.node for _, root in one.roots], closure)
        first = self.graph.model.labels[case.states[0]]
        return None if found is None else Unending((first, *found[0]), found[1])

    def certificate(self) -> Document:
        claims = []
        closure = self.closure
        if closure is None:  # pragma: no cover  (bounds are worked out before)
            raise UsageError("nothing was proved")
        for bound in self._bounds(closure):
            claim: Document = {"states": list(bound.states)}
            if bound.prior is not None:
                claim["prior"] = [rational_text(p) for p in bound.prior]
            for name, value in (("lower", bound.lower), ("upper", bound.upper)):
                claim[name] = "inf" if value is None else rational_text(value, digits=CLAIM_DIGITS)
            claims.append(claim)
        about: Document = {"measure": self.measure.name if self.measure.gains else self.measure.shown}
        if self.measure.gains is not None:
            about["gains"] = {
                guess: {secret: rational_text(x) for secret, x in row.items()}
                for guess, row in self.measure.gains.items()
            }
        return leakage_certificate(self.graph, self.asked, closure, claims, **about)

    def statistics(self) -> dict[str, int]:
        """Return counts of what was done."""
        refinement = self.graph.refinement
        return {
            "states": len(self.graph.model),
            "nodes": len(refinement.nodes),
            "expanded": refinement.expanded,
        }
