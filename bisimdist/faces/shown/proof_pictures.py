"""Pictures of what a proof rests on: couplings, graphs of information states, invariants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from bisimdist.drawing import Edge, Node, abridged, depths, drawing
from bisimdist.errors import UsageError
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.rational import format_rational
from bisimdist.faces.written.numbers import rational_of

Document = Mapping[str, Any]  # a certificate, or a part of one, as plain data

MOST = 40
ROOM = 14  # numbers of so many characters stand in boxes in full
DIGITS = 6
GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that a notebook shows.

    Parameters
    ----------
    svg
        The picture, self-contained.

    Examples
    --------
    >>> import bisimdist
    >>> bisimdist.bound(bisimdist.build_example("figure1"), 1).coupling().svg[:4]
    '<svg'
    """

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg


def _brief(value: fmpq) -> str:
    """Return a number for a box: its first digits where it is long."""
    text = format_rational(value)
    return text if len(text) <= ROOM else f"{decimal_below(value, DIGITS)[0]}…"


def _shown(text: str) -> str:
    return _brief(rational_of(text))


def _bound(node: Document) -> str:
    """Say what is known of a value, rounded outwards where it is long."""
    upper = "upper" in node
    value = rational_of(node["upper" if upper else "lower"])
    text, rounded = format_rational(value), decimal_above if upper else decimal_below
    return f"at {'most' if upper else 'least'} {text if len(text) <= ROOM else rounded(value, DIGITS)[0]}"


def _graph(nodes: list[Node], edges: list[Edge], label: str, roots: Sequence[str]) -> str:
    nodes, edges = abridged(nodes, edges, roots, limit=MOST)
    return drawing(nodes, edges, label=label, layers=depths(nodes, edges, roots))


def coupling_svg(proof: Document, source: str, target: str) -> str:
    """Draw the coupling behind the bound on a pair of states: the successors of one above those of the other.

    ``proof``: the certificate of a distance.
    returns: the picture; each arrow says how much mass is moved, and how far apart the two states are.
    Raises UsageError if there is no coupling: the distance is 0 or 1 whatever follows, or nothing is said of
    the pair.

    >>> import bisimdist
    >>> proof = bisimdist.bound(bisimdist.build_example("figure1"), 1).certificate()
    >>> coupling_svg(proof, "s0", "s1").count("<rect")
    5
    """
    names, proof, stands = _inside(proof.get("proof", proof))
    if names - {"quotient"}:
        raise UsageError(
            f"the proof is about a simpler model ({', '.join(sorted(names))}): no coupling is drawn"
        )
    pair = stands.get(source, source), stands.get(target, target)
    table = proof["upper"]
    entries = {tuple(entry["pair"]): entry for entry in table["pairs"]}
    way = "forward" if pair in entries else "backward"
    entry = entries.get(pair) or entries.get(pair[::-1])
    said = f"there is no coupling of {source} and {target}"
    if entry is None:
        raise UsageError(f"{said}: nothing has to be moved, or nothing may be")
    whole = rational_of(table.get("denominator", "1"))
    distances = {key: rational_of(found["value"]) / whole for key, found in entries.items()}
    row = proof["model"]["transitions"].get(source, {})
    drawn = [
        move
        for action, side in entry.get("actions", {"": entry}).items()
        for move in _moves(action, side.get(way, side["forward"]), distances, _row(row, action, stands))
    ]
    if not drawn:
        raise UsageError(f"{said}: no run goes on")
    masses: dict[str, fmpq] = {}
    for first, second, mass, _ in drawn:
        for name in (first, second):
            masses[name] = masses.get(name, fmpq(0)) + mass
    level = {first: 0 for first, *_ in drawn} | {second: 1 for _, second, *_ in drawn}
    nodes = [
        Node(name, name[1:], _brief(masses[name]), 1 - level[name], marked=name[1:] == GIVEN_UP)
        for name in level
    ]
    edges = [Edge(first, second, text) for first, second, _, text in drawn]
    nodes, edges = abridged(nodes, edges, [name for name in level if not level[name]], limit=MOST)
    cost = _brief(rational_of(entry["value"]) / whole)
    label = f"the coupling of {source} and {target}, which costs {cost}"
    return drawing(nodes, edges, label=label, layers={node.name: level.get(node.name, 1) for node in nodes})


def _inside(proof: Document) -> tuple[set[str], Document, dict[str, str]]:
    """Return the steps of a proof by name, what it proves behind them, and which states stand for others."""
    names: set[str] = set()
    stands: dict[str, str] = {}
    for part in proof.get("reduced", [])[:1]:
        proof = {**proof, **part["proof"]}
        for step in part["steps"]:
            names.add(step["name"])
            stands |= step["classes"] if step["name"] == "quotient" else {}
    return names, proof, stands


def _row(row: Document, action: str, stands: Mapping[str, str]) -> dict[str, fmpq]:
    """Return where a state leads, by the states that stand for others."""
    masses: dict[str, fmpq] = {}
    for name, text in (row.get(action, {}) if action else row).items():
        kept = stands.get(name, name)
        masses[kept] = masses.get(kept, fmpq(0)) + rational_of(text)
    return masses


def _moves(
    action: str, side: Document, distances: Mapping[Any, fmpq], row: Mapping[str, fmpq]
) -> Iterator[tuple[str, str, fmpq, str]]:
    """Yield the two boxes of each move of a coupling, its mass, and what is said of it."""
    before = f"{action}: " if action else ""
    left = dict(row)
    moves = [*side["moves"], *((first, GIVEN_UP, mass) for first, mass in side["given_up"])]
    for first, second, text in moves:
        mass = rational_of(text)
        left[first] = left.get(first, fmpq(0)) - mass
        apart = distances.get((first, second), distances.get((second, first)))
        far = f", {_brief(apart)} apart" if apart else ""
        yield f"<{first}", f">{second}", mass, f"{before}{_brief(mass)}{far}"
    for name, mass in left.items():
        if mass > 0:  # what both have is not moved
            yield f"<{name}", f">{name}", mass, f"{before}{_brief(mass)}"


def states_svg(proof: Document) -> str:
    """Draw the graph of information states behind bounds on delta: what an observer still has to decide.

    returns: the picture: in a box the masses of the two worlds as one signed vector, and what its best event
        gains at most; arrows are labels.
    Raises UsageError if the bounds need no graph.

    >>> import bisimdist
    >>> proof = bisimdist.delta(bisimdist.build_example("figure1"), 1).certificate()
    >>> states_svg(proof).count("<rect")
    3
    """
    found = _inside(proof.get("proof", proof))[1].get("nodes")
    if not found:
        raise UsageError("there is no graph of information states: labels or classes alone decide")
    nodes, edges = [], []
    for number, node in enumerate(found):
        for label, child in node.get("then", {}).items():
            after = child.items() if isinstance(child, dict) else [("", child)]
            edges += [Edge(f"n{number}", f"n{k}", f"{label}: {seen}" if seen else label) for seen, k in after]
    entered = {edge.target for edge in edges}
    for number, node in enumerate(found):
        name, leaf = f"n{number}", None if "then" in node else 0
        nodes.append(Node(name, _sum(node["vector"]) or "0", _bound(node), leaf, marked=name not in entered))
    roots = [node.name for node in nodes if node.marked]
    return _graph(nodes, edges, f"{len(found)} information states", roots)


def _sum(terms: Mapping[str, str]) -> str:
    """Write numbers of states as one sum."""
    parts = []
    for name, text in terms.items():
        value = rational_of(text)
        size = "" if abs(value) == 1 else f"{_brief(abs(value))} "
        parts.append(f"{'-' if value < 0 else '+'} {size}{name}")
    return " ".join(parts).removeprefix("+ ")


def invariant_svg(proof: Document) -> str:
    """Draw what proves a budget for all lengths, or refutes every budget.

    returns: a cone: its generators, and which of them make up what an observation makes of one. A table of
        factors: pairs of states, and where couplings lead. A coupling. Or the cycle that is pumped. Empty
        where the proof is none of these.

    >>> import bisimdist
    >>> sick = bisimdist.build_any_example("contagious-disease,together=9/10")
    >>> invariant_svg(bisimdist.budgets.for_all_lengths(sick).certificate()).count("<rect")
    4
    """
    part: Document = next((p for p in proof.get("parts", [proof]) if "invariant" in p or "pump" in p), {})
    if part.get("pump", {}).get("type") == "pump":
        return _pump(part["pump"])
    invariant = part.get("invariant", {})
    kind = invariant.get("type")
    if kind == "cone":
        return _cone(invariant)
    if kind == "factors":
        claim = part["claims"][0]
        return _factors(invariant, claim["from"], claim["to"])
    if kind == "coupling":
        (claim,) = invariant["chain"]["claims"]
        return coupling_svg(invariant["chain"], claim["from"], claim["to"])
    return ""


def _cone(cone: Document) -> str:
    nodes = [Node("start", "start", marked=True)]
    nodes += [Node(f"n{k}", _sum(function), f"({k})") for k, function in enumerate(cone["generators"])]
    rows = [("start", cone["starts"]), *((f"n{k}", step) for k, step in enumerate(cone["steps"]))]
    edges = [
        Edge(name, f"n{k}", f"{seen}: {_shown(amount)}")
        for name, row in rows
        for seen, made in row.items()
        for k, amount in made.items()
    ]
    return _graph(nodes, edges, f"a closed cone of {len(nodes) - 1} functions", ["start"])


def _factors(table: Document, source: str, target: str) -> str:
    known = {tuple(entry["pair"]): entry for entry in table["table"]}
    ways = {(source, target): table["forward"], (target, source): table["backward"]}
    nodes = [Node(_pair(pair), _pair(pair), "of distributions", marked=True) for pair in ways]
    rows = [(_pair(pair), moves) for pair, moves in ways.items()]
    for pair, entry in known.items():
        name = _pair(pair)
        nodes.append(Node(f"s{name}", name, f"at most {_shown(entry['factor'])} times"))
        rows.append((f"s{name}", entry["moves"]))
    edges = [
        Edge(name, f"s{_pair((i, j))}", seen)
        for name, moves in rows
        for seen, coupling in moves.items()
        for i, j, _ in coupling
        if (i, j) in known
    ]
    return _graph(nodes, edges, f"factors of {len(known)} pairs of states", [node.name for node in nodes[:2]])


def _pair(pair: tuple[str, ...]) -> str:
    return f"({', '.join(pair)})"


def _pump(pump: Document) -> str:
    fast, slow = _shown(pump["fast"]), _shown(pump["slow"])
    prefix, cycle, suffix = pump["prefix"], pump["cycle"], pump["suffix"]
    places = [f"n{k}" for k in range(len(prefix) + len(cycle))]
    turn = len(prefix)
    note = f"a round: times {fast} or more, {slow} or less"
    nodes = [Node(name, f"({k})") for k, name in enumerate(places)]
    nodes[turn] = Node(places[turn], "again and again", note, marked=True)
    around = [*places, places[turn]]
    edges = [Edge(around[k], around[k + 1], seen) for k, seen in enumerate([*prefix, *cycle])]
    nodes += [Node(f"e{k}", f"({len(places) + k})") for k in range(len(suffix))]
    after = [places[turn], *(f"e{k}" for k in range(len(suffix)))]
    edges += [Edge(after[k], after[k + 1], seen) for k, seen in enumerate(suffix)]
    label = f"one probability grows by {fast} in each round, the other by at most {slow}"
    return _graph(nodes, edges, label, [places[0]])
