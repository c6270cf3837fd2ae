"""Models from nasty families, each the same for the same seed and number."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["KINDS", "Case", "draw"]

Row = dict[str, str]
Document = dict[str, object]
Weights = Callable[[random.Random], int]

TINY = Fraction(1, 2**60)
PRIME = 10**40 + 121

WEIGHTS: Mapping[str, Weights] = {
    "ties": lambda source: source.randint(1, 4),
    "near-ties": lambda source: 2**60 + source.choice((-1, 0, 0, 1)),
    "huge": lambda source: source.choice((1, source.randint(1, PRIME), PRIME)),
    "far": lambda source: source.choice((1, 1, 10**6, 10**12)),
    "mixed": lambda source: source.choice((1, 2, 2**60 + 1, 10**6, 999_983)),
}
"""How probable successors are: weights, of which a row is made by dividing by their sum."""

SHAPES = ("any", "acyclic", "absorbing", "periodic", "twins", "twins")
"""Where transitions lead; twins are two copies of one graph, with weights that may differ."""

KINDS = ("lmc", "lmc", "pa", "pa", "hmm", "hmm", "parametric", "ccs", "interactive")


@dataclass(frozen=True, slots=True)
class Case:
    """A drawn model, and what is asked of it.

    Parameters
    ----------
    seed, number
        What it is drawn from.
    kind
        One of `KINDS`.
    family
        The names of its weights and of its shape.
    text, suffix
        The model file.
    alpha
        A skew, at least 1: often the ratio of two probabilities of the model, exactly or nearly.
    """

    seed: int
    number: int
    kind: str
    family: str
    text: str
    suffix: str
    alpha: Fraction

    @property
    def source(self) -> random.Random:
        """Further random choices for this case."""
        return random.Random(f"{self.seed}:{self.number}:questions")


@dataclass(frozen=True, slots=True)
class _Pen:
    """What draws one model."""

    source: random.Random
    weights: str
    shape: str

    def row(self, targets: Sequence[str], most: int = 3, *, loses: bool = False) -> Row:
        chosen = self.source.sample(list(targets), min(len(targets), self.source.randint(1, most)))
        drawn = [WEIGHTS[self.weights](self.source) for _ in chosen]
        whole = sum(drawn) + (self.source.choice((0, 0, 1, drawn[0])) if loses else 0)
        return {name: str(Fraction(weight, whole)) for name, weight in zip(chosen, drawn, strict=True)}

    def again(self, row: Row) -> Row:
        """Return a row on the same support: the same, permuted, drawn anew, or nearly the same."""
        names = list(row)
        way = self.source.randrange(4)
        if way == 0 or len(names) < 2:
            return dict(row)
        if way == 1:
            masses = list(row.values())
            self.source.shuffle(masses)
            return dict(zip(names, masses, strict=True))
        if way == 2:
            total = sum(map(Fraction, row.values()))
            drawn = [WEIGHTS[self.weights](self.source) for _ in names]
            return {name: str(total * weight / sum(drawn)) for name, weight in zip(names, drawn, strict=True)}
        first, second = names[:2]
        step = min(Fraction(row[first]), Fraction(row[second])) * TINY
        return {
            **row,
            first: str(Fraction(row[first]) + step),
            second: str(Fraction(row[second]) - step),
        }

    def targets(self, place: int, names: Sequence[str]) -> Sequence[str]:
        size = len(names)
        if self.shape == "acyclic":
            return names[place + 1 :]
        if self.shape == "absorbing" and self.source.random() < 0.4:
            return (names[place],)
        if self.shape == "periodic":
            return [names[k] for k in range(size) if k % 2 != place % 2] or names
        return names

    def graph(self, size: int, *, loses: bool) -> tuple[list[str], dict[str, Row]]:
        """Return names and a row for each; an empty one where the shape has no successor."""
        if self.shape != "twins":
            names = [f"s{k}" for k in range(size)]
            rows = {
                name: self.row(targets, loses=loses) if (targets := self.targets(k, names)) else {}
                for k, name in enumerate(names)
            }
            return names, rows
        half = (size + 1) // 2
        first, second = [f"s{k}" for k in range(half)], [f"t{k}" for k in range(half)]
        rows = {name: self.row(first, loses=loses) for name in first}
        other = dict(zip(first, second, strict=True))
        crossed = self.source.random() < 0.3
        for name in first:
            row = self.again(rows[name])
            back = {u: u if crossed and self.source.random() < 0.5 else other[u] for u in row}
            rows[other[name]] = {back[u]: p for u, p in row.items()}
        return first + second, rows

    def labels(self, names: Sequence[str], most: int = 3) -> dict[str, str]:
        count = self.source.randint(1, most)
        drawn = {name: self.source.choice("abc"[:count]) for name in names}
        return {name: drawn["s" + name[1:]] for name in names} if self.shape == "twins" else drawn


def draw(seed: int, number: int, kinds: Sequence[str] = KINDS) -> Case:
    """Return the model of that number, always the same."""
    source = random.Random(f"{seed}:{number}")
    pen = _Pen(source, source.choice(list(WEIGHTS)), source.choice(SHAPES))
    kind = kinds[number % len(kinds)]
    document = DRAWN[kind](pen)
    text = document if isinstance(document, str) else json.dumps(document)
    suffix = ".ccsp" if kind == "ccs" else ".json"
    return Case(seed, number, kind, f"{pen.weights} {pen.shape}", text, suffix, _alpha(source, text))


def _alpha(source: random.Random, text: str) -> Fraction:
    plain = [Fraction(1), 1 + TINY, Fraction(3, 2), Fraction(2), Fraction(10**6)]
    found = sorted({word for word in text.replace('"', " ").replace(":", " ").split() if "/" in word})
    numbers = [Fraction(word) for word in found if word.replace("/", "").isdigit()]
    if len(numbers) < 2 or source.random() < 0.4:
        return source.choice(plain)
    p, q = source.sample(numbers, 2)
    return max(Fraction(1), max(p / q, q / p) + source.choice((0, 0, TINY, -TINY)))


def _two(pen: _Pen, names: Sequence[str]) -> list[list[str]]:
    if pen.shape == "twins":
        return [[names[0], names[len(names) // 2]]]
    return [pen.source.sample(list(names), 2)]


def _lmc(pen: _Pen) -> Document:
    names, rows = pen.graph(pen.source.randint(2, 5), loses=False)
    return {
        "kind": "lmc",
        "states": pen.labels(names),
        "transitions": {name: rows[name] or {name: "1"} for name in names},
        "pairs": _two(pen, names),
    }


def _pa(pen: _Pen) -> Document:
    choices = pen.source.random() < 0.5
    loses = pen.source.random() < 0.3
    names, rows = pen.graph(pen.source.randint(2, 4), loses=loses)
    actions = pen.labels(names, 2)
    steps = [
        {"from": name, "action": actions[name], "to": rows[name]}
        for name in names
        if rows[name] or pen.source.random() < 0.5
    ]
    if choices:
        for step in list(steps):
            if pen.source.random() < 0.5:
                action = pen.source.choice((step["action"], "d"))
                steps.append({**step, "action": action, "to": pen.again(rows[str(step["from"])])})
    if pen.shape != "twins" and len(steps) > 1 and pen.source.random() < 0.2:
        steps.pop(pen.source.randrange(len(steps)))
    return {"kind": "pa", "states": names, "transitions": steps, "pairs": _two(pen, names)}


def _hidden(pen: _Pen) -> Document:
    names, rows = pen.graph(pen.source.randint(1, 3), loses=False)
    symbols = ["x", "y", "z"][: pen.source.randint(1, 3)]
    emissions = {name: pen.row(symbols) for name in names}
    if pen.shape == "twins":
        emissions |= {"t" + name[1:]: pen.again(emissions[name]) for name in names if name[0] == "s"}
    ends = 0.25 if pen.source.random() < 0.5 else 0.0
    start = pen.row(names)
    return {
        "kind": "hmm",
        "observations": symbols,
        "states": emissions,
        "transitions": {n: row for n, row in rows.items() if row and pen.source.random() >= ends},
        "distributions": {
            "pi": start,
            "tau": pen.again(start) if pen.source.random() < 0.5 else pen.row(names),
        },
        "pairs": [["pi", "tau"]],
    }


def _hmm(pen: _Pen) -> Document:
    return _hidden(pen)


PARTS = (("p", "1-p"), ("p^2", "1-p^2"), ("p*q", "1-p*q"), ("(1-p)^2", "1-(1-p)^2"), ("q", "1-q"))
BOXES = (["0", "1"], ["1/4", "1/2"], ["1/2", "1"], [str(Fraction(1, 2) - TINY), "1/2"], ["0", "1/1000000"])


def _parametric(pen: _Pen) -> Document:
    """Put shares that depend on parameters in place of some rows of two entries."""
    document = _hidden(pen)
    document["parameters"] = {name: pen.source.choice(BOXES) for name in ("p", "q")}
    rows: list[Row] = []
    for part in ("states", "transitions", "distributions"):
        section = document[part]
        assert isinstance(section, dict)
        rows += [row for row in section.values() if len(row) == 2]
    for row in rows:
        if pen.source.random() < 0.6:
            row.update(zip(row, pen.source.choice(PARTS), strict=True))
    return document


def _ccs(pen: _Pen) -> str:
    """Write a process: prefixes, choices at random and at will, parallel parts, restrictions, recursion."""
    names = ["P", "Q", "R"][: pen.source.randint(2, 3)]
    lines = [f"{name} = {_sum(pen, names, 2)};" for name in names]
    return "\n".join([*lines, f"pairs {names[0]}, {names[1]};", "limit 200;", ""])


def _sum(pen: _Pen, names: Sequence[str], depth: int) -> str:
    parts = [_prefixed(pen, names, depth) for _ in range(pen.source.choice((1, 1, 2)))]
    return pen.source.choice((" + ", " + ", " | ")).join(parts)


def _prefixed(pen: _Pen, names: Sequence[str], depth: int) -> str:
    action = pen.source.choice(("a", "a", "b", "~a", "tau"))
    if depth == 0:
        return f"{action}.{pen.source.choice((*names, '0', '0'))}"
    match pen.source.randrange(5):
        case 0:
            return f"{action}.{pen.source.choice((*names, '0'))}"
        case 1:
            return f"(nu a) ({_sum(pen, names, depth - 1)})"
        case 2:
            return f"{action}.({_sum(pen, names, depth - 1)})"
    row = pen.row(["1", "2", "3"])
    branches = (f"{p}: {_prefixed(pen, names, depth - 1)}" for p in row.values())
    return f"{action}.({' (+) '.join(branches)})"


def _interactive(pen: _Pen) -> Document:
    names, rows = pen.graph(pen.source.randint(2, 4), loses=False)
    labels = pen.labels(names)
    pairs = _two(pen, names)
    labels[pairs[0][1]] = labels[pairs[0][0]]
    offers = {label: pen.source.choice(("X", "XY", "XY", "Y", "")) for label in sorted(set(labels.values()))}
    moves = {}
    for name in names:
        row = rows[name] or {name: "1"}
        moves[name] = {a: row if k == 0 else pen.again(row) for k, a in enumerate(offers[labels[name]])}
    return {"kind": "interactive", "states": labels, "transitions": moves, "pairs": pairs}


DRAWN: Mapping[str, Callable[[_Pen], Document | str]] = {
    "lmc": _lmc,
    "pa": _pa,
    "hmm": _hmm,
    "parametric": _parametric,
    "ccs": _ccs,
    "interactive": _interactive,
}
