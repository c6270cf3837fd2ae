"""What a model looks like: its size, its structure, its identity."""

from __future__ import annotations

from dataclasses import dataclass

from bisimdist.exact.rational import format_rational, shorten_rational
from bisimdist.faces.shown.tables import Report
from bisimdist.linear.components import strongly_connected_components
from bisimdist.models.bisimilarity import bisimilarity_classes
from bisimdist.models.intervals import MAX_VERTICES, first_vertices
from bisimdist.models.kinds import HMM, LMC, PA, AnyModel, Interactive, IntervalChain, ParametricChain
from bisimdist.models.pa import action_labelled_lmc
from bisimdist.models.polynomial import format_entry
from bisimdist.traces.engine.forward import probability

PAIRS_SHOWN = 5
LINE = 120
OBSERVATIONS_SHOWN = 12  # how many distributions and observations the table of first observations has at most


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is said of a model."""

    key: str
    value: object
    # head and shown: how a person reads them, by default as they are; where the head is empty, another line
    # says it
    head: str | None = None
    shown: str | None = None
    lines: tuple[tuple[str, str], ...] = ()  # what a person reads instead, where that is several lines

    def rows(self) -> tuple[tuple[str, str], ...]:
        """Return what a person reads."""
        if self.lines or self.head == "":
            return self.lines
        head = self.key.replace("_", " ") if self.head is None else self.head
        return ((head, str(self.value) if self.shown is None else self.shown),)


@dataclass(frozen=True, slots=True)
class Summary:
    """What is said of a model."""

    kind: str  # kind and called: its kind, as files and as people call it
    called: str
    facts: tuple[Fact, ...]
    digest: str | None = None  # the SHA-256 of the canonical form, where it is shown
    chain: Summary | None = None  # of a fully probabilistic automaton the chain that shows its actions

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
        rows = [row for fact in self.facts for row in fact.rows()]
        rows += [] if self.digest is None else [("digest", self.digest)]
        inner = () if self.chain is None else self.chain.rows()
        return (*rows, *((f"as a chain: {head}", shown) for head, shown in inner))

    def report(self, name: str) -> Report:
        return Report(heading=f"{name}: {self.called}", rows=self.rows())


def summarise(model: AnyModel) -> Summary:
    """Describe a model.

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
        *_first_observations(model),
    )
    return Summary("hmm", "hidden Markov model", facts, model.digest())


def _first_observations(model: HMM) -> tuple[Fact, ...]:
    """Return with which probability each observation comes first, of a model that is small enough."""
    if max(len(model.distributions), len(model.observations)) > OBSERVATIONS_SHOWN:
        return ()
    table = {
        name: {
            seen: format_entry(probability(model, start, [k])) for k, seen in enumerate(model.observations)
        }
        for name, start in model.distributions
    }
    lines = []
    for name, row in table.items():
        said = ", ".join(f"{seen}: {chance}" for seen, chance in row.items() if chance != "0")
        lines.append((f"first from {name}", said if len(said) <= LINE else "long; --json gives it"))
    return (Fact("first_observations", table, lines=tuple(lines)),)


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
