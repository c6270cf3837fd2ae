"""Models as graphs of networkx, and such graphs as models."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import fmpq

from bisimdist.errors import Located, ModelError, UsageError
from bisimdist.exact.doubles import Rationaliser
from bisimdist.exact.rational import to_fmpq
from bisimdist.models.kinds import LMC, PA

PROBABILITY = "probability"
LABEL = "label"
ACTION = "action"
TRANSITION = "transition"


def to_networkx(model: LMC | PA) -> Any:
    """Return a chain as a directed graph, an automaton as a directed graph with parallel edges.

    Nodes are names of states. The attributes are ``label`` of the nodes of a chain; ``probability`` of edges,
    as a Fraction; ``action`` and ``transition`` (a number) of the edges of an automaton. The graph itself has
    ``kind``, ``pairs``, and, of an automaton, ``halting``: the source, action and number of each transition
    without successors.

    Parameters
    ----------
    model
        The chain, or the automaton.

    Returns
    -------
    networkx.MultiDiGraph
        The graph.

    Raises
    ------
    UsageError
        For a hidden Markov model, which `bisimdist.convert` makes a chain of.

    Examples
    --------
    >>> chain = LMC.from_mappings({"s": "a"}, {"s": {"s": 1}})
    >>> to_networkx(chain).edges["s", "s"]
    {'probability': Fraction(1, 1)}
    """
    import networkx  # noqa: PLC0415 - takes a while, and only this needs it

    if not isinstance(model, LMC | PA):
        raise UsageError("only chains and automata become graphs; convert(model, 'lmc') makes a chain")
    pairs = [(model.states[s], model.states[t]) for s, t in model.pairs]
    if isinstance(model, LMC):
        graph = networkx.DiGraph(kind="lmc", pairs=pairs)
        for name, label in zip(model.states, model.labels, strict=True):
            graph.add_node(name, **{LABEL: label})
        for name, row in zip(model.states, model.whole().rows, strict=True):
            for target, p in row:
                graph.add_edge(name, model.states[target], **{PROBABILITY: _fraction(p)})
        return graph
    graph = networkx.MultiDiGraph(kind="pa", pairs=pairs, halting=[])
    graph.add_nodes_from(model.states)
    for number, step in enumerate(model.transitions):
        source = model.states[step.source]
        if not step.row:
            graph.graph["halting"].append((source, step.action, number))
        for target, p in step.row:
            attributes = {ACTION: step.action, PROBABILITY: _fraction(p), TRANSITION: number}
            graph.add_edge(source, model.states[target], **attributes)
    return graph


def from_networkx(
    graph: Any, *, probability: str = PROBABILITY, label: str = LABEL, rationalise: bool = False
) -> LMC | PA:
    """Return the chain, or the automaton, that a graph of networkx describes.

    Edges with the attribute ``action`` make an automaton: those of one source and action (and of the same
    ``transition``, where they say one) are one transition. Without it the graph is a chain. What is called
    ``pairs`` and ``halting`` in the graph is taken as `to_networkx` writes it.

    Parameters
    ----------
    graph
        A directed graph; names of states are its nodes, as texts.
    probability, label
        How the attributes are called that hold the probability of an edge, and the label of a node.
    rationalise
        Take doubles, too: in place of each the simplest rational within one unit in the last place.

    Returns
    -------
    LMC
        The chain.

    Raises
    ------
    ModelError
        Naming the node or edge that lacks something or is at fault.

    Examples
    --------
    >>> import networkx
    >>> graph = networkx.DiGraph()
    >>> graph.add_node("s", label="a")
    >>> graph.add_edge("s", "s", probability=1)
    >>> from_networkx(graph).states
    ('s',)
    """
    if not graph.is_directed():
        raise ModelError("the graph is not directed; expected a directed one")
    read = _EdgeReader(graph, probability, rationalise=rationalise)
    pairs = [(str(s), str(t)) for s, t in graph.graph.get("pairs", ())]
    edges = list(graph.edges(data=True))
    if any(ACTION in data for _, _, data in edges) or graph.graph.get("kind") == "pa":
        return _automaton(graph, edges, read, pairs)
    labels: dict[str, str] = {}
    for node, data in graph.nodes(data=True):
        if label not in data:
            raise ModelError(f"the node has no attribute {label!r}", place=f"state {str(node)!r}")
        labels[read.names[node]] = str(data[label])
    rows: dict[str, dict[str, fmpq]] = {name: {} for name in labels}
    for source, target, data in edges:
        row, name = rows[read.names[source]], read.names[target]
        row[name] = row.get(name, fmpq(0)) + read.number(source, target, data)
    return LMC.from_mappings(labels, rows, pairs)


class _EdgeReader:
    """Names of nodes, and probabilities of edges."""

    def __init__(self, graph: Any, attribute: str, *, rationalise: bool) -> None:
        self.names: dict[Any, str] = {node: str(node) for node in graph}
        if len(set(self.names.values())) != len(self.names):
            raise ModelError("different nodes have the same text; expected nodes that are called differently")
        self._attribute = attribute
        self._rationaliser = Rationaliser() if rationalise else None

    def number(self, source: Any, target: Any, data: Any) -> fmpq:
        place = f"transition {source} -> {target}"
        if self._attribute not in data:
            raise ModelError(f"the edge has no attribute {self._attribute!r}", place=place)
        value = data[self._attribute]
        with Located(place=place):
            if self._rationaliser is not None and isinstance(value, float):
                return self._rationaliser.of_double(float(value))
            return to_fmpq(value)


def _automaton(
    graph: Any, edges: list[tuple[Any, Any, Any]], read: _EdgeReader, pairs: list[tuple[str, str]]
) -> PA:
    rows: dict[tuple[str, str, Any], dict[str, fmpq]] = {
        (str(source), action, number): {} for source, action, number in graph.graph.get("halting", ())
    }
    for source, target, data in edges:
        if ACTION not in data:
            raise ModelError(
                f"the edge has no attribute {ACTION!r}", place=f"transition {source} -> {target}"
            )
        row = rows.setdefault((read.names[source], str(data[ACTION]), data.get(TRANSITION)), {})
        name = read.names[target]
        row[name] = row.get(name, fmpq(0)) + read.number(source, target, data)
    numbered = sorted(rows.items(), key=lambda entry: entry[0][2] if isinstance(entry[0][2], int) else -1)
    steps = [(source, action, row) for (source, action, _), row in numbered]
    return PA.from_mappings(read.names.values(), steps, pairs)


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))
