"""How what the cross-check names is measured: the registry of its sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flint import fmpq

from bisimdist.automata.engine.strong import bisimilarity_classes, bisimilarity_quotient
from bisimdist.automata.metric.ask import metric
from bisimdist.distances.bound.ask import bound
from bisimdist.distances.engine.liftings import AdditiveLifting, Lifting, MultiplicativeLifting
from bisimdist.errors import LimitError
from bisimdist.exact.scale import Value
from bisimdist.faces.shown.standing import Measure
from bisimdist.models.bisimilarity import quotient
from bisimdist.models.ends import Ends
from bisimdist.models.pa import chain_as_automaton
from bisimdist.privacy.compare.ask import directed_measure, distance_measure, greatest_bounds
from bisimdist.privacy.crosscheck.leakages import by_guesses, by_length, by_profiles, divergence
from bisimdist.privacy.crosscheck.names import MEASURES
from bisimdist.privacy.crosscheck.subject import Fact, Subject
from bisimdist.privacy.delta.ask import delta
from bisimdist.progress import Deadline, Limits, Progress

if TYPE_CHECKING:
    from bisimdist.traces.trace.answer import TraceBound

ONE = fmpq(1)
INVARIANT_SECONDS = 10.0
"""How long invariants for all lengths are looked for: on large models they seldom come late."""
SOLVER = "pulp"
SOLVER_SECONDS = 5.0  # how long another solver may take: it needs milliseconds for each of many programs
JUST_BELOW = 1 - fmpq(1, 2**20)  # by which factor a budget is lowered that must be violated then
LARGE = fmpq(2**20)  # a budget that must be violated where none holds


@dataclass(frozen=True, slots=True)
class Task:
    """What a measure is computed from."""

    subject: Subject  # the pair
    alpha: fmpq  # alpha and length: the skew, and up to which length sequences count
    length: int
    known: Mapping[str, Measure]  # what has been measured so far
    deadline: Deadline  # deadline and progress: as everywhere
    progress: Progress

    def asked(self, function: Callable[..., Any], model: object, *which: object, **options: Any) -> Any:
        """Return what the answer of a question of the package says of its first pair."""
        limits = {"deadline": self.deadline, "progress": self.progress}
        return function(model, *which, **{**limits, **options}).pairs[0]


Run = Callable[[Task], Iterator[Measure]]


@dataclass(frozen=True, slots=True)
class Source:
    """A way to compute measures."""

    names: tuple[str, ...]  # the measures
    applies: Callable[[Subject], str]  # returns why it does not apply to a pair, "" where it does
    run: Run  # computes the measures; a limit is a `LimitError`
    weight: int = 1  # its share of the time, relative to the others
    asked: bool = False  # whether it is about analysts only; other models do without it


def _always(_: Subject) -> str:
    return ""


def _probabilistic(subject: Subject) -> str:
    if Fact.ASKED in subject.facts:
        return "an analyst chooses what is asked"
    return "" if Fact.PROBABILISTIC in subject.facts else "the automaton is nondeterministic"


def _ended(subject: Subject) -> str:
    if Fact.ENDLESS in subject.facts:
        return "no run ends: it is tv_x"
    return _probabilistic(subject)


def _with_delta(subject: Subject) -> str:
    return "" if subject.asked is not None else _probabilistic(subject)


def _plain(name: str, lower: Value, upper: Value, note: str = "") -> Measure:
    return Measure(name, lower, upper, scale=MEASURES[name].scale, note=note)


def _not_bisimilar(task: Task) -> Iterator[Measure]:
    s, t = task.subject.automaton.pairs[0]
    classes = bisimilarity_classes(task.subject.automaton)
    apart = fmpq(int(classes[s] != classes[t]))
    yield _plain("not_bisimilar", apart, apart)


def _traces_differ(task: Task) -> Iterator[Measure]:
    from bisimdist.traces.engine.equivalence import distinguishing_trace  # noqa: PLC0415

    s, t = task.subject.automaton.pairs[0]
    trace = distinguishing_trace(task.subject.automaton, s, t, deadline=task.deadline)
    apart = fmpq(int(trace is not None))
    yield _plain("traces_differ", apart, apart, "" if trace is None else f"the trace {' '.join(trace)}")


def _bisimulation_metric(name: str, kind: str, *, merged: bool = False) -> Source:
    def applies(subject: Subject) -> str:
        if not merged:
            return ""
        automaton = subject.automaton
        size = len(set(bisimilarity_classes(automaton)))
        return "no two states are bisimilar" if size == len(automaton) else ""

    def run(task: Task) -> Iterator[Measure]:
        automaton = task.subject.automaton
        if merged:
            automaton = bisimilarity_quotient(automaton)[0]
        s, t = automaton.pairs[0]
        pair = (automaton.states[s], automaton.states[t])
        found = task.asked(metric, automaton, kind, pairs=[pair])
        yield _plain(name, found.lower, found.upper)

    return Source((name,), applies, run)


def _generalised(name: str, kind: str, discount: fmpq) -> Source:
    def run(task: Task) -> Iterator[Measure]:
        from bisimdist.automata.generalised.ask import generalised_metric  # noqa: PLC0415

        about = task.subject
        found = task.asked(generalised_metric, about.automaton, kind, discount=discount, pairs=[about.pair])
        yield _plain(name, found.lower, found.upper)

    return Source((name,), _always, run)


def _trace_metric(name: str, kind: str, ends: Ends = Ends.VISIBLE) -> Source:
    def run(task: Task) -> Iterator[Measure]:
        from bisimdist.traces.trace.ask import trace_metric  # noqa: PLC0415

        about = task.subject
        found = task.asked(trace_metric, about.automaton, kind, pairs=[about.pair], ends=ends)
        yield _traced(name, found)
        if name == "tv_x":
            yield _gain(task, "gain_trace", found.probabilities, _trace_note(found))

    names = (name, "gain_trace") if name == "tv_x" else (name,)
    return Source(names, _ended if ends is Ends.HIDDEN else _probabilistic, run, weight=2)


def _bounded_trace_metric(task: Task) -> Iterator[Measure]:
    """Compare the traces that are as long as the sequences, of what makes these sequences."""
    from bisimdist.traces.trace.ask import trace_metric  # noqa: PLC0415

    about = task.subject
    model = about.automaton if about.kind == "hmm" else chain_as_automaton(about.known_chain)
    options = {"pairs": [about.pair], "length": _steps(task), "ends": Ends.HIDDEN}
    yield _traced("tv_x_length", task.asked(trace_metric, model, "multiplicative", **options))


def _traced(name: str, found: TraceBound) -> Measure:
    return _plain(name, found.lower, found.upper, _trace_note(found))


def _trace_note(found: TraceBound) -> str:
    return f"the trace {' '.join(found.witness)}" if found.witness else ""


def _steps(task: Task) -> int:
    """Return how many steps the observations of the length take.

    In the automaton of a hidden Markov model a step of its own comes before the first observation.
    """
    return task.length + (task.subject.kind == "hmm")


def _gain(task: Task, name: str, probabilities: tuple[fmpq, fmpq], note: str) -> Measure:
    p, q = probabilities
    gain = max(p - task.alpha * q, q - task.alpha * p, fmpq(0))
    return _plain(name, gain, gain, note)


def _formulae(name: str, lifting: Callable[[fmpq], Lifting]) -> Source:
    def run(task: Task) -> Iterator[Measure]:
        from bisimdist.logic.engine.formula_distance import FormulaDistance  # noqa: PLC0415
        from bisimdist.logic.engine.mimicking import mimicking_formulae  # noqa: PLC0415

        automaton = task.subject.automaton
        s, t = automaton.pairs[0]
        limits = Limits(deadline=task.deadline, progress=task.progress)
        formulae = mimicking_formulae(automaton, _steps(task), states={s, t}, limits=limits)
        found = FormulaDistance(lifting(ONE), deadline=task.deadline).between(formulae[s], formulae[t])
        yield _plain(name, found, found)

    return Source((name,), _always, run)


def _delta(name: str, applies: Callable[[Subject], str], weight: int = 1, *, one: bool = False) -> Source:
    """Return how to compute delta: that of so many rounds, or of fixed sequences, where the name says so."""

    def run(task: Task) -> Iterator[Measure]:
        about, alpha = task.subject, ONE if one else task.alpha
        pairs = [(about.source, about.target)] if about.asked else [about.pair]
        rounds = task.length if name in {"delta_rounds", "fixed"} else None
        found = task.asked(delta, about.system, alpha, pairs=pairs, rounds=rounds, fixed=name == "fixed")
        yield _plain(name, found.lower, found.upper)

    return Source((name,), applies, run, weight, asked=name in {"delta_rounds", "fixed"})


def _distance(name: str, distance: str, *, one: bool = False, merged: bool = False) -> Source:
    def run(task: Task) -> Iterator[Measure]:
        system = quotient(task.subject.system)[0] if merged else task.subject.system
        alpha = ONE if one else task.alpha
        yield distance_measure(name, task.asked(bound, system, alpha, distance=distance))

    return Source((name,), _with_delta, run)


def _by_another_solver(task: Task) -> Iterator[Measure]:
    asked = {"backend": SOLVER, "deadline": task.deadline.within(SOLVER_SECONDS)}
    yield distance_measure("bd_solver", task.asked(bound, task.subject.system, task.alpha, **asked))


def _greatest(task: Task) -> Iterator[Measure]:
    chain = task.subject.known_chain
    found, reason = greatest_bounds(chain, task.alpha, chain.pairs, task.deadline, task.progress)
    if found is None:
        raise LimitError(reason)
    yield directed_measure("greatest", chain.pairs[0], found)


def _epsilon(task: Task) -> Iterator[Measure]:
    from bisimdist.budgets.verify.ask import epsilon  # noqa: PLC0415

    about = task.subject
    found = task.asked(epsilon, about.known_hidden, length=task.length, up_to=True, pairs=[about.pair])
    upper = found.ratio if found.exact else None
    note = f"the sequence {' '.join(found.witness)}" if found.witness else ""
    yield _plain("epsilon", found.at_least, upper, note)
    if found.probabilities is not None:
        yield _gain(task, "gain", found.probabilities, note)


def _smt(task: Task) -> Iterator[Measure]:
    """Ask Z3 at the budget that the other engine found, and just below it."""
    from bisimdist.budgets.verify.answer import Verdict  # noqa: PLC0415
    from bisimdist.budgets.verify.ask import verify  # noqa: PLC0415

    known = task.known.get("epsilon")
    if known is None or not known.exact:
        raise LimitError("the least budget is not known, at which to ask")
    lower, upper, notes = ONE, None, []
    asked = [LARGE] if known.upper is None else [known.upper, max(ONE, known.upper * JUST_BELOW)]
    for ratio in dict.fromkeys(asked):
        about = task.subject
        options = {"length": task.length, "up_to": True, "pairs": [about.pair], "engine": "smt"}
        verdict = task.asked(verify, about.known_hidden, ratio, **options)
        notes.append(f"{verdict.verdict.value} at {ratio}")
        if verdict.verdict is Verdict.HOLDS:
            upper = ratio if upper is None else min(upper, ratio)
        elif verdict.verdict is Verdict.VIOLATED and verdict.probabilities is not None:
            small, large = sorted(verdict.probabilities)
            lower = None if small == 0 or lower is None else max(lower, large / small)
        else:
            notes.append(verdict.note)
    yield _plain("smt", lower, upper, "; ".join(notes))


def _all_lengths(task: Task) -> Iterator[Measure]:
    from bisimdist.budgets.prove.ask import for_all_lengths  # noqa: PLC0415

    about, deadline = task.subject, task.deadline.within(INVARIANT_SECONDS)
    found = task.asked(for_all_lengths, about.known_hidden, pairs=[about.pair], deadline=deadline)
    if found.no_budget:
        yield _plain("all_lengths", None, None, found.method)
    else:
        yield _plain("all_lengths", found.attained or ONE, found.proved, found.method)


SOURCES: tuple[Source, ...] = (
    Source(("not_bisimilar",), _always, _not_bisimilar),
    Source(("traces_differ",), _probabilistic, _traces_differ),
    _bisimulation_metric("m_D", "accumulative"),
    _bisimulation_metric("m_A", "amortised"),
    _bisimulation_metric("m_D_quotient", "accumulative", merged=True),
    _bisimulation_metric("m_A_quotient", "amortised", merged=True),
    Source(("epsilon", "gain"), _probabilistic, _epsilon),
    _distance("bd_1", "bd", one=True),
    _distance("lbd_1", "lbd", one=True),
    _distance("bd", "bd"),
    Source(("bd_solver",), _with_delta, _by_another_solver),
    _distance("lbd", "lbd"),
    _distance("bd_quotient", "bd", merged=True),
    _distance("lbd_quotient", "lbd", merged=True),
    Source(("greatest",), _probabilistic, _greatest),
    _generalised("d_plus", "additive", ONE),
    _generalised("d_half", "additive", fmpq(1, 2)),
    _formulae("l_x_depth", MultiplicativeLifting),
    _formulae("d_plus_depth", AdditiveLifting),
    _delta("delta_rounds", _always),
    _delta("fixed", _always),
    _delta("delta", _with_delta, 2),
    _delta("delta_1", _with_delta, 2, one=True),
    Source(("renyi_2", "chi2"), _probabilistic, divergence("renyi:2")),
    Source(("kl",), _probabilistic, divergence("kl")),
    Source(("kl_length",), _probabilistic, by_length),
    Source(("hellinger",), _probabilistic, divergence("hellinger")),
    Source(("min_entropy",), _probabilistic, by_guesses),
    Source(("chi2_profile", "kl_profile"), _probabilistic, by_profiles),
    _trace_metric("tv", "additive"),
    Source(("tv_x_length",), _probabilistic, _bounded_trace_metric, weight=2),
    _trace_metric("tv_x", "multiplicative"),
    _trace_metric("tv_x_hidden", "multiplicative", Ends.HIDDEN),
    _generalised("l_x", "multiplicative", ONE),
    Source(("all_lengths",), _probabilistic, _all_lengths, weight=2),
    Source(("smt",), _probabilistic, _smt, weight=2),
)  # how measures are computed, in an order in which what is quick comes first
