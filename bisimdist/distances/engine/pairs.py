"""Which pairs of states a question depends on, and their numbering."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from flint import fmpq

from bisimdist.distances.engine.blocks import within_classes
from bisimdist.distances.engine.excess import Numbering, Rows
from bisimdist.errors import LimitError
from bisimdist.linear.components import strongly_connected_components
from bisimdist.lp.compiled import Int64Array
from bisimdist.models.interactive import System
from bisimdist.models.reach import all_reached
from bisimdist.progress import NEVER, Deadline


@dataclass(frozen=True, slots=True)
class PairSpace:
    """A numbering of pairs of different states of one distinguishable class.

    States of different classes are at distance 1 and equal states at distance 0: neither is numbered. The
    pairs are unordered for a symmetric distance, ordered for an asymmetric one.
    """

    classes: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]  # the states of every class, ascending
    # the numbered pairs by number; the smaller state first where they are unordered
    pairs: tuple[tuple[int, int], ...]
    ordered: bool  # whether (s, t) and (t, s) are two pairs
    whole: bool  # whether with one pair of a class all of them are numbered
    # the number of every numbered pair; of an unordered one in both orders
    numbers: Mapping[tuple[int, int], int]

    @classmethod
    def of_classes(
        cls, classes: Sequence[int], wanted: Iterable[int] | None = None, *, ordered: bool = False
    ) -> PairSpace:
        """Return the numbering of all pairs within the `wanted` classes (by default all)."""
        members = _members(classes)
        keep = range(len(members)) if wanted is None else sorted(set(wanted))
        choose = permutations if ordered else combinations
        pairs = tuple(pair for kind in keep for pair in choose(members[kind], 2))
        return cls._numbered(classes, members, pairs, ordered=ordered, whole=True)

    @classmethod
    def of_pairs(
        cls, classes: Sequence[int], pairs: Iterable[tuple[int, int]], *, ordered: bool = False
    ) -> PairSpace:
        """Return the numbering of the given pairs only."""
        chosen = set(pairs) if ordered else {(s, t) if s < t else (t, s) for s, t in pairs}
        return cls._numbered(classes, _members(classes), tuple(sorted(chosen)), ordered=ordered, whole=False)

    @classmethod
    def _numbered(
        cls,
        classes: Sequence[int],
        members: tuple[tuple[int, ...], ...],
        pairs: tuple[tuple[int, int], ...],
        *,
        ordered: bool,
        whole: bool,
    ) -> PairSpace:
        numbers = {pair: number for number, pair in enumerate(pairs)}
        if not ordered:
            numbers |= {(t, s): number for (s, t), number in numbers.items()}
        return cls(tuple(classes), members, pairs, ordered, whole, numbers)

    def __len__(self) -> int:
        return len(self.pairs)

    def number(self, first: int, second: int) -> int:
        """Return the number of a numbered pair; unordered ones may be given in either order."""
        return self.numbers[first, second]

    def states(self) -> tuple[Int64Array, Int64Array]:
        """Return the first and the second states of the pairs, by number."""
        first, second = np.array(self.pairs, dtype=np.int64).reshape(-1, 2).T
        return first, second

    def numbering(self) -> Numbering:
        """Return what numbers many pairs at once, as `number` does one of them."""
        key = _keys(len(self.classes), ordered=self.ordered)
        keys = key(*self.states())
        order = np.argsort(keys)
        keys = keys[order]

        def numbers(first: Int64Array, second: Int64Array) -> Int64Array:
            wanted = key(first, second)
            place = np.searchsorted(keys, wanted)
            if len(wanted) and (place.max() == len(keys) or (keys[place] != wanted).any()):
                raise KeyError("a pair that is not numbered")
            return order[place]

        return numbers

    def of_class(self, kind: int) -> list[int]:
        """Return the numbers of the pairs of a class whose pairs are all numbered."""
        choose = permutations if self.ordered else combinations
        return [self.numbers[pair] for pair in choose(self.members[kind], 2)]


def _members(classes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    members: list[list[int]] = [[] for _ in range(max(classes) + 1)]
    for state, kind in enumerate(classes):
        members[kind].append(state)
    return tuple(map(tuple, members))


def _class_graph(model: System, classes: Sequence[int]) -> list[list[int]]:
    """Return for each class those that one of its states can enter, each once."""
    entered: list[dict[int, None]] = [{} for _ in range(max(classes) + 1)]
    for rows in model.arms:
        for state, row in enumerate(rows):
            entered[classes[state]].update((classes[target], None) for target, _ in row)
    return [list(after) for after in entered]


def reached_by_classes(model: System, classes: Sequence[int], pairs: Sequence[tuple[int, int]]) -> set[int]:
    """Return the classes whose pairs the distances of the given pairs can depend on.

    The supremum is over functions on all states of a class (also those outside the supports), so a
    class is needed as a whole: those of the pairs, and every class that one of its states can enter.
    """
    graph = _class_graph(model, classes)
    kind = np.asarray(classes)
    starts = {int(k) for first, _ in within_classes(kind, pairs) for k in np.unique(kind[first])}
    return set(all_reached(starts, graph.__getitem__))


def reached_by_pairs(  # noqa: PLR0913
    model: System,
    classes: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    alpha: fmpq,
    *,
    limit: int,
    ordered: bool = False,
    deadline: Deadline = NEVER,
) -> set[tuple[int, int]]:
    """Return the pairs that direct couplings reach from the given ones; unordered ones smaller state first.

    Enough for exactness at alpha = 1, where no detour through a third state ever helps, and for upper
    bounds always.
    """
    rows = Rows.of(model, classes, alpha)
    size = len(classes)
    found: set[int] = set()
    key = _keys(size, ordered=ordered)

    def added(keys: Int64Array) -> list[int]:
        fresh = set(keys.tolist()) - found
        found.update(fresh)
        if len(found) > limit:
            raise LimitError(f"the question depends on more than {limit} pairs of states")
        return list(fresh)

    todo = [number for block in within_classes(classes, pairs) for number in added(key(*block))]
    while todo:
        first, second = np.divmod(np.array(todo, dtype=np.int64), size)
        _, _, left, right = rows.facing(first, second)
        todo = []
        for part in rows.parts(left, right):
            deadline.check()
            _, programs = rows.programs(left[part], right[part], key, both=not ordered and alpha != 1)
            todo += added(programs.cells)
    return {divmod(number, size) for number in found}


def _keys(states: int, *, ordered: bool) -> Numbering:
    """Return what gives each pair of so many states an integer of its own, unordered ones in both orders."""

    def keys(first: Int64Array, second: Int64Array) -> Int64Array:
        if not ordered:
            first, second = np.minimum(first, second), np.maximum(first, second)
        return first * states + second

    return keys


def components_bottom_up(model: System, classes: Sequence[int]) -> list[tuple[tuple[int, ...], bool]]:
    """Return the strongly connected components of classes, successors first, and whether each is cyclic.

    They come in layers, those that nothing enters from outside last.
    """
    graph = _class_graph(model, classes)
    groups = strongly_connected_components(graph)
    number = {kind: place for place, group in enumerate(groups) for kind in group}
    after: list[dict[int, None]] = [{} for _ in groups]
    for kind, entered in enumerate(graph):
        after[number[kind]].update((number[other], None) for other in entered)
    waiting = Counter(other for place, others in enumerate(after) for other in others if other != place)
    layer = [place for place in range(len(groups)) if not waiting[place]]
    order: list[int] = []
    while layer:
        order += layer
        following = []
        for place in layer:
            for other in after[place]:
                waiting[other] -= other != place
                if other != place and not waiting[other]:
                    following.append(other)
        layer = following
    return [(tuple(groups[k]), len(groups[k]) > 1 or k in after[k]) for k in reversed(order)]
