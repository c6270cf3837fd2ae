"""Both metrics by their definition: relations over explicit triples, bijections one by one.

Nothing here is shared with the engine. A running product lives in the set of all products that plays can
reach inside a window; the greatest relation inside the window is found by throwing out triples that violate
a clause until none does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, permutations

from bisimdist.models.pa import PA

__all__ = ["TooManyTriples", "every_relation_value", "is_bisimulation", "metric_by_relations"]

Triple = tuple[int, int, Fraction]
Mu = tuple[tuple[int, Fraction], ...]


class TooManyTriples(Exception):  # noqa: N818
    """The products that plays can reach are too many to list."""


class Setting:
    """An automaton in plain numbers, and one of the two kinds of bisimulation."""

    def __init__(self, automaton: PA, kind: str) -> None:
        self.kind = kind
        self.steps: list[list[tuple[str, Mu]]] = [[] for _ in automaton.states]
        for step in automaton.transitions:
            mu = tuple((t, Fraction(int(p.p), int(p.q))) for t, p in step.row)
            self.steps[step.source].append((step.action, mu))

    def inside(self, credit: Fraction, window: Fraction) -> bool:
        return (1 if self.kind == "accumulative" else 1 / window) <= credit <= window

    def images(self, credit: Fraction, mu: Mu, nu: Mu) -> Iterator[list[Triple]]:
        """Yield, for each bijection of the supports, the triples that it asks for."""
        if len(mu) != len(nu):
            return
        for order in permutations(nu):
            ratios = [p / q for (_, p), (_, q) in zip(mu, order, strict=True)]
            if self.kind == "accumulative":
                cost = max((max(r, 1 / r) for r in ratios), default=Fraction(1))
                ratios = [cost] * len(ratios)
            yield [(u, v, credit * ratio) for (u, _), (v, _), ratio in zip(mu, order, ratios, strict=True)]

    def clauses(self, triple: Triple) -> Iterator[list[list[Triple]]]:
        """Yield, for each challenge, the answers: lists of triples one of which must hold completely."""
        s, t, credit = triple
        for action, mu in self.steps[s]:
            yield [
                image
                for other, nu in self.steps[t]
                if other == action
                for image in self.images(credit, mu, nu)
            ]
        for action, nu in self.steps[t]:
            yield [
                image
                for other, mu in self.steps[s]
                if other == action
                for image in self.images(credit, mu, nu)
            ]


def is_bisimulation(automaton: PA, kind: str, window: Fraction, relation: Iterable[Triple]) -> bool:
    """Tell whether a relation obeys the definition literally."""
    setting = Setting(automaton, kind)
    chosen = set(relation)
    return all(
        setting.inside(triple[2], window)
        and all(any(chosen.issuperset(image) for image in answers) for answers in setting.clauses(triple))
        for triple in chosen
    )


def reachable_triples(
    setting: Setting, start: Triple, window: Fraction, limit: int
) -> dict[Triple, list[list[list[Triple]]]]:
    found: dict[Triple, list[list[list[Triple]]]] = {}
    waiting = [start]
    while waiting:
        triple = waiting.pop()
        if triple in found:
            continue
        clauses = [
            [image for image in answers if all(setting.inside(c, window) for _, _, c in image)]
            for answers in setting.clauses(triple)
        ]
        found[triple] = clauses
        if len(found) > limit:
            raise TooManyTriples
        waiting += [other for answers in clauses for image in answers for other in image]
    return found


def metric_by_relations(
    automaton: PA, kind: str, s: int, t: int, cap: Fraction, *, limit: int = 4000
) -> Fraction | None:
    """Return the exponential of the distance, or None where it exceeds the cap.

    Raises
    ------
    TooManyTriples
        If plays inside the cap reach more products than the limit allows.
    """
    setting = Setting(automaton, kind)
    start = (s, t, Fraction(1))
    triples = reachable_triples(setting, start, cap, limit)
    alive = set(triples)

    def shrink() -> None:
        changed = True
        while changed:
            fallen = {
                triple
                for triple in alive
                if not all(any(alive.issuperset(image) for image in answers) for answers in triples[triple])
            }
            alive.difference_update(fallen)
            changed = bool(fallen)

    shrink()
    best = None
    for window in sorted({max(c, 1 / c) for _, _, c in triples}, reverse=True):
        alive = {triple for triple in alive if setting.inside(triple[2], window)}
        shrink()
        if start not in alive:
            break
        best = window
    return best


def every_relation_value(
    automaton: PA, kind: str, s: int, t: int, cap: Fraction, *, most: int = 14
) -> Fraction | None:
    """Return the same by literally trying every relation, for very small automata."""
    setting = Setting(automaton, kind)
    start = (s, t, Fraction(1))
    triples = list(reachable_triples(setting, start, cap, most))
    others = [triple for triple in triples if triple != start]
    best: Fraction | None = None
    for size in range(len(others) + 1):
        for chosen in combinations(others, size):
            window = max(max(c, 1 / c) for _, _, c in (start, *chosen))
            if (best is None or window < best) and is_bisimulation(automaton, kind, window, (start, *chosen)):
                best = window
    return best
