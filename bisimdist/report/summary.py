"""What a model looks like: its size, its structure, its identity."""

from __future__ import annotations

from dataclasses import dataclass

from bisimdist.exact.rational import format_rational, shorten_rational
from bisimdist.linear.components import strongly_connected_components
from bisimdist.models.bisimilarity import bisimilarity_classes
from bisimdist.models.hmm import HMM
from bisimdist.models.interactive import Interactive
from bisimdist.models.intervals import MAX_VERTICES, IntervalChain, first_vertices
from bisimdist.models.kinds import AnyModel
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, action_labelled_lmc
from bisimdist.models.parametric import ParametricChain
from bisimdist.report.tables import Report

__all__ = ["Fact", "Summary", "summarise"]

PAIRS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is said of a model.

    Parameters
    ----------
    key, value
        Its field in JSON.
    head, shown
        How a person reads them, by default as they are; where the head is empty, another line says it.
    """

    key: str
    value: object
    head: str | None = None
    shown: str | None = None

    def row(self) -> tuple[str, str]:
        """Return what a person reads."""
        head = self.key.replace("_", " ") if self.head is None else self.head
        return head, str(self.value) if self.shown is None else self.shown


@dataclass(frozen=True, slots=True)
class Summary:
    """What is said of a model.

    Parameters
    ----------
    kind, called
        Its kind, as files and as people call it.
    facts
        What is said, in the order of JSON.
    digest
        The SHA-256 of the canonical form, where it is shown.
    chain
        Of a fully probabilistic automaton the chain that shows its actions.
    """

    kind: str
    called: str
    facts: tuple[Fact, ...]
    digest: str | None = None
    chain: Summary | None = None

    def data(self) -> dict[str, object]:
        """Return the summary as plain data for a JSON answer."""
        digest = {} if self.digest is None else {"digest": self.digest}
        said = {fact.key: fact.value for fact in self.facts}
        return {"kind": self.kind, **digest, **said, **self._chain_data()}

    def _chain_data(self) -> dict[str, object]:
        if self.kind != "pa":
            return {}
        chain = self.chain
        return {"fully_probabilistic": chain is not None, "chain": None if chain is None else chain.data()}

    def rows(self) -> tuple[tuple[str, str], ...]:
        """Return heads and what stands beside them."""
        rows = [fact.row() for fact in self.facts if fact.head != ""]
        rows += [] if self.digest is None else [("digest", self.digest)]
        inner = () if self.chain is None else self.chain.rows()
        return (*rows, *((f"as a chain: {head}", shown) for head, shown in inner))

    def report(self, name: str) -> Report:
        """Return the summary for a person."""
        return Report(heading=f"{name}: {self.called}", rows=self.rows())


def summarise(model: AnyModel) -> Summary:
    """Describe a model.

    Examples
    --------
    >>> chain = LMC.from_mappings({"s": "a", "t": "a"}, {"s": {"t": 1}, "t": {"t": 1}})
    >>> summarise(chain).data()["transitions"]
    2
    """
    if isinstance(model, LMC):
        return _chain(model)
    if isinstance(model, HMM):
        return _hidden(model)
    if isinstance(model, IntervalChain):
        return _intervals(model)
    if isinstance(model, ParametricChain):
        return _parametric(model)
    return _interactive(model) if isinstance(model, Interactive) else _automaton(model)


def _pairs(pairs: tuple[tuple[str, str], ...]) -> Fact:
    shown = ", ".join(f"({s}, {t})" for s, t in pairs[:PAIRS_SHOWN])
    more = ", ..." if len(pairs) > PAIRS_SHOWN else ""
    return Fact(
        "pairs", [list(pair) for pair in pairs], shown=f"{len(pairs)}: {shown}{more}" if pairs else "0"
    )


def _named(model: LMC | PA | Interactive | IntervalChain | ParametricChain) -> Fact:
    return _pairs(tuple((model.states[s], model.states[t]) for s, t in model.pairs))


def _size(model: AnyModel, transitions: int, shown: str | None = None) -> tuple[Fact, Fact]:
    return Fact("states", len(model)), Fact("transitions", transitions, shown=shown)


def _labels(model: LMC | Interactive | IntervalChain | ParametricChain) -> Fact:
    return Fact("labels", len(set(model.labels)))


def _classes(model: LMC | Interactive) -> Fact:
    return Fact("bisimilarity_classes", len(set(bisimilarity_classes(model))))


def _chain(chain: LMC) -> Summary:
    graph = [[target for target, _ in row] for row in chain.rows]
    sizes = [len(members) for members in strongly_connected_components(graph)]
    largest = f"{max(sizes)} {'state' if max(sizes) == 1 else 'states'}"
    facts = (
        *_size(chain, sum(map(len, chain.rows))),
        _labels(chain),
        _named(chain),
        _classes(chain),
        Fact("strongly_connected_components", len(sizes), shown=f"{len(sizes)} (the largest has {largest})"),
        Fact("largest_component", max(sizes), head=""),
    )
    return Summary("lmc", "labelled Markov chain", facts, chain.digest())


def _hidden(model: HMM) -> Summary:
    names = list(model.parameter_names)
    facts = (
        *_size(model, sum(map(len, model.rows))),
        Fact("observations", len(model.observations)),
        Fact("distributions", len(model.distributions)),
        Fact("parameters", names, shown=", ".join(names) or "none"),
        _pairs(model.pairs),
    )
    return Summary("hmm", "hidden Markov model", facts, model.digest())


def _intervals(model: IntervalChain) -> Summary:
    total = sum(map(len, model.rows))
    open_ = sum(low != high for row in model.rows for _, low, high in row)
    most = max(len(first_vertices(row, MAX_VERTICES)) for row in model.rows)
    many = f"more than {MAX_VERTICES}" if most > MAX_VERTICES else f"at most {most}"
    sure = () if model.confidence is None else (Fact("confidence", format_rational(model.confidence)),)
    facts = (
        *_size(model, total, f"{total}, {open_} of them with an interval"),
        Fact("intervals", open_, head=""),
        Fact("vertices", most, head="vertices of a row", shown=many),
        _labels(model),
        _named(model),
        *sure,
    )
    called = "labelled Markov chains whose probabilities lie in intervals"
    return Summary("lmc", called, facts, model.digest())


def _parametric(model: ParametricChain) -> Summary:
    ends = {p.name: f"({shorten_rational(p.low)}, {shorten_rational(p.high)})" for p in model.parameters}
    shown = ", ".join(f"{name} in {interval}" for name, interval in ends.items())
    facts = (
        *_size(model, sum(map(len, model.rows))),
        _labels(model),
        Fact("parameters", ends, shown=shown),
        _named(model),
    )
    return Summary("lmc", "labelled Markov chain with parameters", facts, model.digest())


def _interactive(model: Interactive) -> Summary:
    facts = (
        *_size(model, sum(len(row) for moves in model.moves for _, row in moves)),
        _labels(model),
        Fact("actions", len(model.actions)),
        _named(model),
        _classes(model),
    )
    return Summary("interactive", "interactive model", facts, model.digest())


def _automaton(model: PA) -> Summary:
    sure = model.fully_probabilistic
    facts = (
        *_size(model, len(model.transitions)),
        Fact("actions", len({transition.action for transition in model.transitions})),
        _named(model),
    )
    called = f"probabilistic automaton, {'fully probabilistic' if sure else 'nondeterministic'}"
    return Summary("pa", called, facts, chain=_chain(action_labelled_lmc(model)) if sure else None)
