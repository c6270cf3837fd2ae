"""What traces leak of where a run started, from both sides: divergences, vulnerabilities of secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from flint import fmpq

from bisimdist.analysis.answer import Status
from bisimdist.analysis.asked import asked_states
from bisimdist.analysis.delta import CLOSING_SECONDS, DEFAULT_GAP, RESERVE
from bisimdist.analysis.leakage_answer import LeakageAnswer
from bisimdist.analysis.leakage_bounds import LeakageBound, Unending
from bisimdist.analysis.leakage_cut import of_outputs, widened
from bisimdist.analysis.leakage_measures import LeakageMeasure, read_measure
from bisimdist.analysis.leakage_members import between, of_members
from bisimdist.analysis.relaxation import relaxed
from bisimdist.certificates.frame import Document
from bisimdist.certificates.leakage import leakage_certificate
from bisimdist.certificates.numbers import rational_text
from bisimdist.certificates.writer import CLAIM_DIGITS
from bisimdist.errors import ENDINGS, LimitError, UsageError
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.interruption import OnInterrupt, deferred, interruptible
from bisimdist.models.interactive import Interactive, System
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.kinds import AnyModel
from bisimdist.models.lmc import LMC
from bisimdist.models.worlds import EACH_STEP, FIXED, Worlds, known_or_rough, natural
from bisimdist.privacy.closure import Closure
from bisimdist.privacy.leakages import Asked, Leakages, measure_of
from bisimdist.privacy.unending import find_unending
from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.cutting import inner
from bisimdist.progress import NEVER, Deadline, Progress, silent

__all__ = ["leakage"]

FINEST = fmpq(1, 10**300)
"""Doubles know no smaller gap."""

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
        chain that is only known roughly: then the measure is the largest that nature brings about.
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
        Their probabilities; by default all are the same.
    gains
        For ``g`` what guesses gain, by guess and secret.
    gap
        Stop as soon as upper - lower is at most this (for Rényi and min-entropy relative to their size). By
        default 0 where all runs come to rest, so that the measure is a finite sum, and ``DEFAULT_GAP``
        otherwise.
    nature
        Of a chain that is only known roughly: ``"each-step"``, where nature picks a member at every step, in
        each of two worlds on its own, or ``"fixed"``, where it has picked one for good.
    deadline, memory
        When to give up, and how many bytes the process may hold. What is proved by then is returned with
        ``Status.LIMIT``.
    progress
        Told how the interval closes.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

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
    model = known_or_rough(model)
    if isinstance(model, Interactive) and not isinstance(model, Worlds):
        raise UsageError("the model is interactive: say what is asked, and take the chain of what is seen")
    if not isinstance(measure, LeakageMeasure):
        exact = {guess: {s: to_fmpq(x) for s, x in row.items()} for guess, row in (gains or {}).items()}
        measure = read_measure(measure, exact)
    wanted = None if gap is None else to_fmpq(gap)
    if wanted is not None and wanted < 0:
        raise UsageError(f"the gap is {format_rational(wanted)}; expected at least 0")
    cases = _cases(model, measure, pairs, both, secrets, prior)
    loose = relaxed(model, nature)
    if loose is not None:
        bounded = partial(
            leakage,
            measure=measure,
            pairs=None if secrets else pairs or [(model.states[s], model.states[t]) for s, t in model.pairs],
            both=both,
            secrets=secrets,
            prior=prior,
            gap=gap,
            nature=nature,
            deadline=deadline,
            memory=memory,
            progress=progress,
        )
        return between(loose.model, bounded(loose.wide), bounded(loose.less))
    system = natural(model, nature)
    if isinstance(system, Worlds):
        cases = tuple(replace(case, places=_placed(system, case.states)) for case in cases)
    if isinstance(model, ProgramChain) and model.cut and measure.unbounded:
        found = tuple(of_outputs(model, measure, *case.states) for case in cases)
        return _cut_off(model, measure, found, wanted, {})
    work = _Work(
        Leakages(inner(system) if isinstance(system, LMC) else system, measure_of(*measure.kind), memory),
        measure,
        cases,
        wanted,
        deadline,
        progress,
    )
    status = work.run()
    if isinstance(model, ProgramChain) and model.cut:
        masses = [[model.cut.get(state, fmpq(0)) for state in case.states] for case in cases]
        found = tuple(map(widened, work.bounds(), masses))
        return _cut_off(model, measure, found, wanted, work.statistics())
    answer = LeakageAnswer(
        model=model,
        measure=measure,
        pairs=work.bounds(),
        status=status,
        statistics=work.statistics(),
        make_certificate=work.certificate,
    )
    if not isinstance(system, Worlds) or nature != FIXED:
        return answer

    def ask(member: LMC, bound: LeakageBound) -> LeakageBound:
        asked = partial(leakage, member, measure, gap=gap, deadline=deadline)
        secrets = measure.of_secrets
        found = asked(secrets=bound.states, prior=bound.prior) if secrets else asked(pairs=[bound.ends])
        return found.pairs[0]

    return of_members(answer, system, work.picked(), ask, deadline)


def _placed(worlds: Worlds, states: Sequence[int]) -> tuple[int, ...]:
    """Return where states are: the first in one world, the second in the other."""
    if worlds.nature == FIXED:
        return tuple(states)
    if len(states) > 2:
        raise UsageError(
            f"{len(states)} secrets are as many worlds, and nature of each step is there for two; expected "
            "two secrets, or nature 'fixed'"
        )
    return worlds.placed((states[0], states[1]))


def _cut_off(
    model: ProgramChain,
    measure: LeakageMeasure,
    found: tuple[LeakageBound, ...],
    gap: fmpq | None,
    statistics: Mapping[str, int],
) -> LeakageAnswer:
    """Return the answer about a program some runs of which are cut off."""

    def refused() -> Document:
        raise UsageError("runs of this program are cut off: what its traces leak has no certificate")

    wide = any(
        bound.upper is None or (bound.lower is not None and bound.upper - bound.lower > gap)
        for bound in found
        if gap is not None and bound.lower is not None
    )
    return LeakageAnswer(
        model=model,
        measure=measure,
        pairs=found,
        status=Status.LIMIT if wide or model.origin.ended else Status.BRACKET,
        statistics=statistics,
        make_certificate=refused,
    )


@dataclass(frozen=True, slots=True)
class _Case:
    """What is asked once: an ordered pair, or secrets with their prior."""

    states: tuple[int, ...]
    prior: tuple[fmpq, ...]
    places: tuple[int, ...] = ()
    """Where the states are, if nature has worlds of its own for them."""

    @property
    def starts(self) -> tuple[int, ...]:
        """The states from which the graph starts."""
        return self.places or self.states


def _cases(  # noqa: PLR0913, PLR0917
    model: System | IntervalChain,
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
    closed_at: int = -1
    """How many nodes were expanded when it was made."""

    def run(self) -> Status:
        """Refine until it is enough; whatever ends the work, exact bounds are worked out at the end."""
        states = sorted({state for case in self.cases for state in case.starts})
        deadline = self.deadline.part(RESERVE)
        with suppress(LimitError):
            self.graph.use_ratios(states, deadline=deadline)
        for case in self.cases:
            worlds = self.measure.worlds(case.starts, [self._called(s) for s in case.starts], case.prior)
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
        """Return the proved bounds."""
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
                    states=tuple(map(self._called, case.starts)),
                    prior=case.prior if self.measure.of_secrets else None,
                    before=before if self.measure.of_secrets else None,
                    lower=lower,
                    upper=upper,
                    unending=unending,
                )
            )
        return tuple(found)

    def _called(self, state: int) -> str:
        """Return the name of a state in the model as it was given."""
        model = self.graph.model
        return model.called(state) if isinstance(model, Worlds) else model.states[state]

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

    def _written(self) -> Closure | None:
        """Return the bounds that a certificate is of: about one chain a graph says nothing from below.

        In it nature picks anew after every trace; what is seen before any counts.
        """
        if (
            self.closure is None
            or not isinstance(self.graph.model, Worlds)
            or self.graph.model.nature != FIXED
        ):
            return self.closure
        graph = self.graph.refinement
        roots = frozenset(root.node for one in self.asked for _, root in one.roots)
        own = {root: graph.measure.own(graph.nodes[root], up=False) for root in roots}
        lower = {root: value for root, value in own.items() if value is not None}
        return replace(self.closure, lower=lower, lower_leaves=roots, choice={})

    def certificate(self) -> Document:
        """Return the proof of all bounds."""
        claims = []
        closure = self._written()
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
            "states": len(self.graph.merged),
            "nodes": len(refinement.nodes),
            "expanded": refinement.expanded,
        }
