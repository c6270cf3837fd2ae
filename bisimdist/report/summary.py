"""What a model looks like: its size, its structure, its identity."""

from __future__ import annotations

from dataclasses import dataclass

from bisimdist.exact.rational import format_rational, shorten_rational
from bisimdist.linear.components import strongly_connected_components
from bisimdist.models.bisimilarity import bisimilarity_classes
from bisimdist.models.hmm import HMM
from bisimdist.models.interactive import Interactive
from bisimdist.models.intervals import IntervalChain, vertices
from bisimdist.models.kinds import AnyModel
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, action_labelled_lmc
from bisimdist.models.parametric import ParametricChain
from bisimdist.report.tables import Report

__all__ = [
    "AutomatonSummary",
    "ChainSummary",
    "HiddenSummary",
    "InteractiveSummary",
    "IntervalSummary",
    "ParametricSummary",
    "Summary",
    "summarise",
    "summary_data",
    "summary_report",
]

PAIRS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ChainSummary:
    """Counts that describe a labelled Markov chain.

    Parameters
    ----------
    states, transitions, labels
        How many there are; transitions are those of positive probability.
    pairs
        The neighbouring states, by name.
    bisimilarity_classes
        How many classes of bisimilar states there are.
    components, largest_component
        How many strongly connected components there are, and how many states the largest one has.
    digest
        The SHA-256 of the canonical form.
    """

    states: int
    transitions: int
    labels: int
    pairs: tuple[tuple[str, str], ...]
    bisimilarity_classes: int
    components: int
    largest_component: int
    digest: str


@dataclass(frozen=True, slots=True)
class AutomatonSummary:
    """Counts that describe a probabilistic automaton.

    Parameters
    ----------
    states, transitions, actions
        How many there are.
    pairs
        The neighbouring states, by name.
    chain
        The Markov chain that shows its actions, if it is fully probabilistic.
    """

    states: int
    transitions: int
    actions: int
    pairs: tuple[tuple[str, str], ...]
    chain: ChainSummary | None


@dataclass(frozen=True, slots=True)
class IntervalSummary:
    """Counts that describe a chain that is only known roughly.

    Parameters
    ----------
    states, transitions, labels
        How many there are; transitions are those that may have a positive probability.
    intervals
        How many transitions have a probability that is not known.
    vertices
        How many distributions the rows of the least known state are mixtures of.
    pairs
        The neighbouring states, by name.
    confidence
        With what probability the true chain is inside, where it was learned from data.
    digest
        The SHA-256 of the canonical form.
    """

    states: int
    transitions: int
    intervals: int
    vertices: int
    labels: int
    pairs: tuple[tuple[str, str], ...]
    confidence: str | None
    digest: str


@dataclass(frozen=True, slots=True)
class ParametricSummary:
    """Counts that describe a chain with parameters.

    Parameters
    ----------
    states, transitions, labels
        How many there are.
    parameters
        Their names, with the intervals that they are in.
    pairs
        The neighbouring states, by name.
    digest
        The SHA-256 of the canonical form.
    """

    states: int
    transitions: int
    labels: int
    parameters: tuple[tuple[str, str], ...]
    pairs: tuple[tuple[str, str], ...]
    digest: str


@dataclass(frozen=True, slots=True)
class InteractiveSummary:
    """Counts that describe an interactive model.

    Parameters
    ----------
    states, transitions, labels, actions
        How many there are; transitions are those of positive probability.
    pairs
        The neighbouring states, by name.
    bisimilarity_classes
        How many classes of states there are that no analyst tells apart.
    digest
        The SHA-256 of the canonical form.
    """

    states: int
    transitions: int
    labels: int
    actions: int
    pairs: tuple[tuple[str, str], ...]
    bisimilarity_classes: int
    digest: str


@dataclass(frozen=True, slots=True)
class HiddenSummary:
    """Counts that describe a hidden Markov model.

    Parameters
    ----------
    states, transitions, observations, distributions
        How many there are.
    parameters
        The names of the parameters.
    pairs
        The pairs of distributions to be compared, by name.
    digest
        The SHA-256 of the canonical form.
    """

    states: int
    transitions: int
    observations: int
    distributions: int
    parameters: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    digest: str


Summary = (
    ChainSummary | AutomatonSummary | HiddenSummary | InteractiveSummary | IntervalSummary | ParametricSummary
)


def _component_sizes(model: LMC) -> list[int]:
    graph = [[target for target, _ in row] for row in model.rows]
    return [len(members) for members in strongly_connected_components(graph)]


def summarise(model: AnyModel) -> Summary:
    """Describe a model.

    Examples
    --------
    >>> chain = LMC.from_mappings({"s": "a", "t": "a"}, {"s": {"t": 1}, "t": {"t": 1}})
    >>> summarise(chain).transitions
    2
    """
    if isinstance(model, LMC):
        return _chain_summary(model)
    if isinstance(model, HMM):
        return HiddenSummary(
            states=len(model),
            transitions=sum(len(row) for row in model.rows),
            observations=len(model.observations),
            distributions=len(model.distributions),
            parameters=model.parameter_names,
            pairs=model.pairs,
            digest=model.digest(),
        )
    if isinstance(model, IntervalChain):
        return IntervalSummary(
            states=len(model),
            transitions=sum(len(row) for row in model.rows),
            intervals=sum(low != high for row in model.rows for _, low, high in row),
            vertices=max(
                len(vertices(row, f"state {name!r}"))
                for name, row in zip(model.states, model.rows, strict=True)
            ),
            labels=len(set(model.labels)),
            pairs=_names(model),
            confidence=None if model.confidence is None else format_rational(model.confidence),
            digest=model.digest(),
        )
    if isinstance(model, ParametricChain):
        return ParametricSummary(
            states=len(model),
            transitions=sum(map(len, model.rows)),
            labels=len(set(model.labels)),
            parameters=tuple(
                (p.name, f"({shorten_rational(p.low)}, {shorten_rational(p.high)})") for p in model.parameters
            ),
            pairs=_names(model),
            digest=model.digest(),
        )
    if isinstance(model, Interactive):
        return InteractiveSummary(
            states=len(model),
            transitions=sum(len(row) for moves in model.moves for _, row in moves),
            labels=len(set(model.labels)),
            actions=len(model.actions),
            pairs=_names(model),
            bisimilarity_classes=len(set(bisimilarity_classes(model))),
            digest=model.digest(),
        )
    return AutomatonSummary(
        states=len(model),
        transitions=len(model.transitions),
        actions=len({transition.action for transition in model.transitions}),
        pairs=_names(model),
        chain=_chain_summary(action_labelled_lmc(model)) if model.fully_probabilistic else None,
    )


def _names(model: LMC | PA | Interactive | IntervalChain | ParametricChain) -> tuple[tuple[str, str], ...]:
    return tuple((model.states[s], model.states[t]) for s, t in model.pairs)


def _chain_summary(chain: LMC) -> ChainSummary:
    sizes = _component_sizes(chain)
    return ChainSummary(
        states=len(chain),
        transitions=sum(len(row) for row in chain.rows),
        labels=len(set(chain.labels)),
        pairs=_names(chain),
        bisimilarity_classes=len(set(bisimilarity_classes(chain))),
        components=len(sizes),
        largest_component=max(sizes),
        digest=chain.digest(),
    )


def summary_data(summary: Summary) -> dict[str, object]:
    """Return a summary as plain data for a JSON answer."""
    if isinstance(summary, HiddenSummary):
        return {
            "kind": "hmm",
            "digest": summary.digest,
            "states": summary.states,
            "transitions": summary.transitions,
            "observations": summary.observations,
            "distributions": summary.distributions,
            "parameters": list(summary.parameters),
            "pairs": [list(pair) for pair in summary.pairs],
        }
    if isinstance(summary, IntervalSummary):
        return {
            "kind": "lmc",
            "digest": summary.digest,
            "states": summary.states,
            "transitions": summary.transitions,
            "intervals": summary.intervals,
            "vertices": summary.vertices,
            "labels": summary.labels,
            "pairs": [list(pair) for pair in summary.pairs],
            **({} if summary.confidence is None else {"confidence": summary.confidence}),
        }
    if isinstance(summary, ParametricSummary):
        return {
            "kind": "lmc",
            "digest": summary.digest,
            "states": summary.states,
            "transitions": summary.transitions,
            "labels": summary.labels,
            "parameters": dict(summary.parameters),
            "pairs": [list(pair) for pair in summary.pairs],
        }
    if isinstance(summary, InteractiveSummary):
        return {
            "kind": "interactive",
            "digest": summary.digest,
            "states": summary.states,
            "transitions": summary.transitions,
            "labels": summary.labels,
            "actions": summary.actions,
            "pairs": [list(pair) for pair in summary.pairs],
            "bisimilarity_classes": summary.bisimilarity_classes,
        }
    if isinstance(summary, AutomatonSummary):
        return {
            "kind": "pa",
            "states": summary.states,
            "transitions": summary.transitions,
            "actions": summary.actions,
            "pairs": [list(pair) for pair in summary.pairs],
            "fully_probabilistic": summary.chain is not None,
            "chain": None if summary.chain is None else summary_data(summary.chain),
        }
    return {
        "kind": "lmc",
        "digest": summary.digest,
        "states": summary.states,
        "transitions": summary.transitions,
        "labels": summary.labels,
        "pairs": [list(pair) for pair in summary.pairs],
        "bisimilarity_classes": summary.bisimilarity_classes,
        "strongly_connected_components": summary.components,
        "largest_component": summary.largest_component,
    }


def _shown_pairs(pairs: tuple[tuple[str, str], ...]) -> str:
    shown = ", ".join(f"({s}, {t})" for s, t in pairs[:PAIRS_SHOWN])
    if len(pairs) > PAIRS_SHOWN:
        shown += ", ..."
    return f"{len(pairs)}: {shown}" if shown else "0"


def _chain_rows(summary: ChainSummary) -> tuple[tuple[str, str], ...]:
    size = summary.largest_component
    return (
        ("states", str(summary.states)),
        ("transitions", str(summary.transitions)),
        ("labels", str(summary.labels)),
        ("pairs", _shown_pairs(summary.pairs)),
        ("bisimilarity classes", str(summary.bisimilarity_classes)),
        (
            "strongly connected components",
            f"{summary.components} (the largest has {size} {'state' if size == 1 else 'states'})",
        ),
        ("digest", summary.digest),
    )


def summary_report(summary: Summary, name: str) -> Report:
    """Return a summary as a report for a person."""
    if isinstance(summary, ChainSummary):
        return Report(heading=f"{name}: labelled Markov chain", rows=_chain_rows(summary))
    if isinstance(summary, HiddenSummary):
        return Report(
            heading=f"{name}: hidden Markov model",
            rows=(
                ("states", str(summary.states)),
                ("transitions", str(summary.transitions)),
                ("observations", str(summary.observations)),
                ("distributions", str(summary.distributions)),
                ("parameters", ", ".join(summary.parameters) or "none"),
                ("pairs", _shown_pairs(summary.pairs)),
                ("digest", summary.digest),
            ),
        )
    if isinstance(summary, IntervalSummary | ParametricSummary):
        return _partly_known(summary, name)
    rows = (
        ("states", str(summary.states)),
        ("transitions", str(summary.transitions)),
        ("actions", str(summary.actions)),
        ("pairs", _shown_pairs(summary.pairs)),
    )
    if isinstance(summary, InteractiveSummary):
        more = (("labels", str(summary.labels)), ("bisimilarity classes", str(summary.bisimilarity_classes)))
        return Report(heading=f"{name}: interactive model", rows=(*rows, *more, ("digest", summary.digest)))
    if summary.chain is None:
        return Report(
            heading=f"{name}: probabilistic automaton, nondeterministic",
            rows=rows,
        )
    return Report(
        heading=f"{name}: probabilistic automaton, fully probabilistic",
        rows=(*rows, *((f"as a chain: {key}", value) for key, value in _chain_rows(summary.chain))),
    )


def _partly_known(summary: IntervalSummary | ParametricSummary, name: str) -> Report:
    if isinstance(summary, ParametricSummary):
        return Report(
            heading=f"{name}: labelled Markov chain with parameters",
            rows=(
                ("states", str(summary.states)),
                ("transitions", str(summary.transitions)),
                ("labels", str(summary.labels)),
                ("parameters", ", ".join(f"{p} in {interval}" for p, interval in summary.parameters)),
                ("pairs", _shown_pairs(summary.pairs)),
                ("digest", summary.digest),
            ),
        )
    learned = () if summary.confidence is None else (("confidence", summary.confidence),)
    return Report(
        heading=f"{name}: labelled Markov chains whose probabilities lie in intervals",
        rows=(
            ("states", str(summary.states)),
            ("transitions", f"{summary.transitions}, {summary.intervals} of them with an interval"),
            ("vertices of a row", f"at most {summary.vertices}"),
            ("labels", str(summary.labels)),
            ("pairs", _shown_pairs(summary.pairs)),
            *learned,
            ("digest", summary.digest),
        ),
    )
