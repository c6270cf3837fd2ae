"""A slow, independent way to the distance of tiny chains and to certificates for it.

Everything is `Fraction` and dense; the linear programs range over all states and are solved by the simplex
method with Bland's rule. Nothing of the project is used but plain data.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Pair = tuple[str, str]
Document = dict[str, Any]
ZERO, ONE = Fraction(0), Fraction(1)


def simplex(
    objective: list[Fraction], rows: list[list[Fraction]], bounds: list[Fraction]
) -> tuple[Fraction, list[Fraction], list[Fraction]]:
    """Maximise objective x subject to rows x <= bounds (all >= 0), x >= 0: value, x, and the dual."""
    n, m = len(objective), len(rows)
    table = [[*row, *(ONE if k == r else ZERO for k in range(m)), bounds[r]] for r, row in enumerate(rows)]
    cost = [*(-value for value in objective), *([ZERO] * (m + 1))]
    basis = list(range(n, n + m))
    while (column := next((k for k in range(n + m) if cost[k] < 0), None)) is not None:
        ratios = [(row[-1] / row[column], basis[r], r) for r, row in enumerate(table) if row[column] > 0]
        _, _, pivot = min(ratios)
        factor = table[pivot][column]
        table[pivot] = [value / factor for value in table[pivot]]
        for line in [*(row for r, row in enumerate(table) if r != pivot), cost]:
            if line[column]:
                factor = line[column]
                line[:] = [a - factor * b if b else a for a, b in zip(line, table[pivot], strict=True)]
        basis[pivot] = column
    x = [ZERO] * (n + m)
    for r, index in enumerate(basis):
        x[index] = table[r][-1]
    return cost[-1], x[:n], cost[n : n + m]


@dataclass
class Lifting:
    """The optimum of one direction: value, f on all states, and the coupling."""

    value: Fraction
    f: dict[str, Fraction]
    moves: dict[Pair, Fraction]
    given_up: dict[str, Fraction]


@dataclass
class Tiny:
    """A tiny chain with alpha, and the classes of states that are surely told apart.

    With `ordered` everything is about lbd, the distance of ordered pairs, instead of bd.
    """

    labels: Mapping[str, str]
    rows: Mapping[str, Mapping[str, Fraction]]
    alpha: Fraction
    ordered: bool = False

    def __post_init__(self) -> None:
        self.states = list(self.labels)
        block = dict(self.labels)
        while True:
            linked = {
                (s, t)
                for s in self.states
                for t in self.states
                if block[s] == block[t]
                and {block[k] for k in self.rows[s]} & {block[k] for k in self.rows[t]}
            }
            for k, i, j in itertools.product(self.states, repeat=3):
                if (i, k) in linked and (k, j) in linked:
                    linked.add((i, j))
            finer = {s: ",".join(t for t in self.states if (s, t) in linked) for s in self.states}
            if len(set(finer.values())) == len(set(block.values())):
                break
            block = finer
        self.block = block
        self.pairs = [(s, t) for s, t in self.all_pairs() if block[s] == block[t]]

    def all_pairs(self) -> list[Pair]:
        choose = itertools.permutations if self.ordered else itertools.combinations
        return [(s, t) for s, t in choose(self.states, 2)]

    def orders(self, pair: Pair) -> list[Pair]:
        """Return the ordered pairs, and so the directions, that a pair stands for."""
        return [pair] if self.ordered else [pair, pair[::-1]]

    def at(self, d: Mapping[Pair, Fraction], i: str, j: str) -> Fraction:
        if i == j:
            return ZERO
        if self.block[i] != self.block[j]:
            return ONE
        return d[i, j] if self.ordered or (i, j) in d else d[j, i]

    def c(self, s: str, t: str) -> dict[str, Fraction]:
        return {i: self.rows[s].get(i, ZERO) - self.alpha * self.rows[t].get(i, ZERO) for i in self.states}

    def lifting(self, d: Mapping[Pair, Fraction], s: str, t: str, among: list[str] | None = None) -> Lifting:
        """Solve one direction, over all states or only over some."""
        c = self.c(s, t)
        over = self.states if among is None else among
        ties = [(i, j) for i in over for j in over if i != j and self.block[i] == self.block[j]]
        rows = [[ONE if k == i else -self.alpha if k == j else ZERO for k in over] for i, j in ties]
        rows += [[ONE if k == i else ZERO for k in over] for i in over]
        bounds = [self.at(d, i, j) for i, j in ties] + [ONE] * len(over)
        value, f, dual = simplex([c[i] for i in over], rows, bounds)
        return Lifting(
            value,
            dict(zip(over, f, strict=True)),
            {tie: w for tie, w in zip(ties, dual[: len(ties)], strict=True) if w},
            {i: w for i, w in zip(over, dual[len(ties) :], strict=True) if w},
        )

    def step(self, d: Mapping[Pair, Fraction]) -> dict[Pair, Fraction]:
        """Apply the functional once."""
        return {pair: max(self.lifting(d, *p).value for p in self.orders(pair)) for pair in self.pairs}

    def kleene(self, rounds: int, bits: int = 60) -> dict[Pair, Fraction]:
        """Iterate from 0, rounding down: lower bounds of the distance."""
        d = dict.fromkeys(self.pairs, ZERO)
        for _ in range(rounds):
            d = {pair: Fraction(int(value * 2**bits), 2**bits) for pair, value in self.step(d).items()}
        return d

    def distance(self, rounds: int = 12) -> dict[Pair, Fraction]:
        """Find the least fixed point: guess the strategies from a long iteration, solve, check."""
        d = dict.fromkeys(self.pairs, ZERO)
        for _ in range(40):
            for _ in range(rounds):
                d = {pair: Fraction(int(v * 2**60), 2**60) for pair, v in self.step(d).items()}
            exact = self.solve(d)
            if exact is not None and self.step(exact) == exact:
                near = all(0 <= exact[pair] - d[pair] < Fraction(1, 10**4) for pair in self.pairs)
                if near:
                    return exact
        raise ArithmeticError("the iteration is too slow for this chain")

    def solve(self, d: Mapping[Pair, Fraction]) -> dict[Pair, Fraction] | None:
        """Solve the linear system of the couplings that are optimal at d."""
        alive = [pair for pair in self.pairs if d[pair] > Fraction(1, 10**6)]
        index = {pair: k for k, pair in enumerate(alive)}
        matrix = []
        for s, t in alive:
            best = max((self.lifting(d, *p) for p in self.orders((s, t))), key=lambda found: found.value)
            line = [ZERO] * (len(alive) + 1)
            line[index[s, t]] += 1
            line[-1] = sum(best.given_up.values(), ZERO)
            for (i, j), w in best.moves.items():
                pair = (i, j) if self.ordered or (i, j) in index else (j, i)
                if pair in index:
                    line[index[pair]] -= w
            matrix.append(line)
        for k in range(len(alive)):
            pivot = next((r for r in range(k, len(alive)) if matrix[r][k]), None)
            if pivot is None:
                return None
            matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
            matrix[k] = [value / matrix[k][k] for value in matrix[k]]
            for r in range(len(alive)):
                if r != k and matrix[r][k]:
                    factor = matrix[r][k]
                    matrix[r] = [a - factor * b for a, b in zip(matrix[r], matrix[k], strict=True)]
        values = {pair: matrix[index[pair]][-1] if pair in index else ZERO for pair in self.pairs}
        return values if all(0 <= value <= 1 for value in values.values()) else None

    # from here on: certificates

    def model(self) -> Document:
        transitions = {s: {t: str(p) for t, p in row.items() if p} for s, row in self.rows.items()}
        return {"kind": "lmc", "states": dict(self.labels), "transitions": transitions}

    def coupling(self, d: Mapping[Pair, Fraction], s: str, t: str) -> Document:
        found = self.lifting(d, s, t)
        return {
            "moves": [[i, j, str(w)] for (i, j), w in found.moves.items()],
            "given_up": [[i, str(w)] for i, w in found.given_up.items()],
        }

    def upper_entries(self, d: Mapping[Pair, Fraction]) -> list[Document]:
        return [
            {
                "pair": [s, t],
                "value": str(d[s, t]),
                "forward": self.coupling(d, s, t),
                **({} if self.ordered else {"backward": self.coupling(d, t, s)}),
            }
            for s, t in self.pairs
            if d[s, t] < 1
        ]

    def witness(self, d: Mapping[Pair, Fraction], s: str, t: str, pick: random.Random) -> Document:
        """Write an optimal f, on all states that matter, now and then by reference to another state."""
        f = self.lifting(d, s, t).f
        c = self.c(s, t)
        touched = {self.block[i] for i in self.states if f[i] and c[i]}
        kept = [i for i in self.states if self.block[i] in touched]
        result: Document = {}
        for x in kept:
            result[x] = str(f[x])
            for y in list(result):
                if x != y and pick.random() < 0.7:
                    if f[x] == self.alpha * f[y] + self.at(d, x, y):
                        result[x] = ["above", y]
                    elif f[x] == (f[y] - self.at(d, y, x)) / self.alpha:
                        result[x] = ["below", y]
        return result

    def progress(self, s: str, t: str, among: list[Pair]) -> Document | None:
        """Prove that no coupling keeps all mass among some pairs, if that is so."""
        c = self.c(s, t)
        used = {i for pair in among for i in pair}
        stuck = [i for i in self.states if c[i] and i not in used]
        if stuck:
            return {"stuck": stuck[0]}
        common = [i for i in self.states if self.rows[s].get(i) and self.rows[t].get(i)]
        if self.alpha == 1 and common:
            return {"common": common[0]}
        ties = [
            (i, j)
            for pair in among
            for i, j in self.orders(pair)
            if self.alpha > 1 or (c[i] > 0 and c[j] < 0)
        ]
        rows = [[ONE if k == i else -self.alpha if k == j else ZERO for k in self.states] for i, j in ties]
        rows += [[ONE if k == i else ZERO for k in self.states] for i in self.states]
        value, y, _ = simplex(
            [c[i] for i in self.states], rows, [ZERO] * len(ties) + [ONE] * len(self.states)
        )
        if value <= 0:
            return None
        values = dict(zip(self.states, y, strict=True))
        classes: list[list[str]] = []
        states: dict[str, str] = {}
        for block in dict.fromkeys(self.block.values()):
            members = [i for i in self.states if self.block[i] == block]
            default = values[members[0]]
            classes += [[members[0], str(default)]] if default else []
            states |= {i: str(values[i]) for i in members if values[i] != default}
        return {"classes": classes, "states": states}

    def lower_entries(self, d: Mapping[Pair, Fraction], pick: random.Random) -> list[Document]:
        """Prove that d is at most the distance; raises if some pairs keep their mass for ever."""
        entries: dict[Pair, Document] = {}
        for s, t in self.pairs:
            if d[s, t]:
                best = max((self.lifting(d, *p).value, p) for p in self.orders((s, t)))
                if best[0] < d[s, t]:
                    raise ArithmeticError(f"{(s, t)} is not post-fixed")
                first, second = best[1]
                entries[s, t] = {
                    "pair": [first, second],
                    "value": str(d[s, t]),
                    "witness": self.witness(d, first, second, pick),
                    "strict": best[0] > d[s, t],
                }
        waiting = [pair for pair, entry in entries.items() if not entry.pop("strict")]
        for rank in itertools.count(1):
            if not waiting:
                return list(entries.values())
            found = {}
            for pair in waiting:
                same = [other for other in waiting if d[other] == d[pair]]
                first, second = entries[pair]["pair"]
                progress = self.progress(first, second, same)
                if progress is not None:
                    found[pair] = progress
            if not found:
                raise ArithmeticError(f"mass circulates among {waiting}")
            for pair, progress in found.items():
                entries[pair] |= {"rank": rank, "progress": progress}
            waiting = [pair for pair in waiting if pair not in found]
        raise AssertionError

    def certificate(
        self,
        *,
        upper: Mapping[Pair, Fraction] | None = None,
        lower: Mapping[Pair, Fraction] | None = None,
        seed: int = 0,
    ) -> Document:
        """Make a certificate for all pairs, exact where nothing else is asked."""
        exact = self.distance() if upper is None or lower is None else {}
        upper, lower = upper or exact, lower or exact
        claims = []
        for s, t in self.all_pairs():
            claim = {"from": s, "to": t, "upper": str(self.at(upper, s, t))}
            claims.append(claim | {"lower": str(self.at(lower, s, t))})
        return {
            "format": "bisimdist-certificate",
            "version": 1,
            "model": self.model(),
            "digest": digest(self.model()),
            "distance": "lbd" if self.ordered else "bd",
            "alpha": str(self.alpha),
            "claims": claims,
            "upper": {"pairs": self.upper_entries(upper)},
            "lower": {"pairs": self.lower_entries(lower, random.Random(seed))},
        }


def digest(model: Document) -> str:
    """Hash a model that is in canonical form."""
    text = json.dumps(model, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def tiny(
    labels: Mapping[str, str], rows: Mapping[str, Mapping[str, str]], alpha: str, *, ordered: bool = False
) -> Tiny:
    """Make a chain from strings; a state without a row loops."""
    full = {s: {t: Fraction(p) for t, p in rows.get(s, {s: "1"}).items()} for s in labels}
    return Tiny(labels, full, Fraction(alpha), ordered)


def random_tiny(seed: int, *, ordered: bool = False) -> Tiny:
    """Make a random cyclic chain of three to five states, with small probabilities and many ties."""
    pick = random.Random(seed)
    states = [f"s{k}" for k in range(pick.randint(3, 5))]
    labels = {s: pick.choice("ab" if k else "a") for k, s in enumerate(states)}
    rows = {}
    for s in states:
        targets = pick.sample(states, pick.randint(1, 3))
        weights = [pick.randint(1, 3) for _ in targets]
        rows[s] = {t: Fraction(w, sum(weights)) for t, w in zip(targets, weights, strict=True)}
    alpha = pick.choice(["1", "1", "5001/5000", "11/10", "3/2", "2"])
    return Tiny(labels, rows, Fraction(alpha), ordered)
