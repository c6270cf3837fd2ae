"""Plans of flat tables made by the workers of a cluster, to the byte as they would be made here.

Every worker has the tables and makes the plans of its blocks of rows. What has changed of the tables goes to
the workers before they begin, what they change of their plans comes back, and is followed here: that costs
less than sending what comes of it. A worker that is gone costs its blocks: whoever gets them is sent the
tables as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from bisimdist.cluster import Cluster, Tell
from bisimdist.distances.engine.flat_code import flat_code
from bisimdist.distances.engine.flat_engine import Chunk, FlatWork, Spread
from bisimdist.distances.engine.flat_layout import Layout
from bisimdist.distances.engine.flat_plan import Array
from bisimdist.distances.engine.flat_sweeps import ABSENT, OPEN, SETTLED, ZERO, Plans
from bisimdist.lp.compiled import BoolArray, Float64Array, Int64Array

KEPT = 2  # of so many questions a worker keeps the tables
LITTLE = 1_000_000  # so many places of plans are looked at sooner than others are asked about them
TOGETHER = 8  # a job is up to so many blocks; there are at least two for each worker
_BRINGING = Lock()  # workers may have several threads: one of them brings the tables
HERE = -1  # no round of workers: plans that were made where the question was asked

Change = tuple[Int64Array | None, Array]
"""Where an array has changed and what is there now; None for everywhere."""


class Update(NamedTuple):
    """What makes the tables that a worker has those of a round: it has to have those of the round `after`."""

    session: str
    after: int | None
    round: int
    changes: dict[str, Change]


class Made(NamedTuple):
    """The plans of a block, as far as they are new."""

    change: float
    cell: Change
    mass: Change
    lost: Change
    state: Change


@dataclass(slots=True)
class Held:
    """What a worker has: tables, and by block the plans it made last, with the round that was in."""

    layout: Layout
    round: int = -1
    tables: dict[str, Array] = field(default_factory=dict)
    blocks: dict[Chunk, tuple[int, Array, Array]] = field(default_factory=dict)
    lost: Array = field(init=False)

    def __post_init__(self) -> None:
        self.lost = np.zeros(self.layout.pairs, dtype=np.float64)

    def bring(self, update: Update) -> bool:
        """Take what has changed, as tables of their own; tell whether that could be done."""
        if self.round != update.round:
            if update.after not in {None, self.round}:
                return False
            tables = dict(self.tables)
            for name, change in update.changes.items():
                tables[name] = np.array(change[1] if change[0] is None else tables[name])
                _apply(tables[name], change)
            self.tables, self.round = tables, update.round
        return True


def _change(before: Array, after: Array, whole: bool = True) -> Change:
    """Return what has changed; all of it where that is short, and everything may be told."""
    places = np.flatnonzero(before != after)
    if whole and len(places) * 2 > len(after):
        return None, after
    return places, after[places]


def _apply(array: Array, change: Change) -> None:
    places, values = change
    array[slice(None) if places is None else places] = values


def numbers_of(layout: Layout, block: Chunk) -> Int64Array:
    """Return the numbers of the pairs of a block."""
    chain = layout.chain
    parts = []
    for late in chain.order[slice(*block)].tolist():
        peers = chain.peer[chain.first[late] : chain.turn[late]]
        parts.append(chain.base[np.maximum(late, peers)] + np.minimum(late, peers))
    return np.concatenate(parts)


def on_worker(
    layout: Layout, update: Update, what: str, jobs: list[tuple[Chunk, tuple[Any, ...]]]
) -> list[Any] | None:
    """Do a part of the work on a worker; None if it has to be sent the tables whole."""
    from distributed import get_worker  # noqa: PLC0415  (only where it runs)

    with _BRINGING:
        kept: dict[str, Held] = vars(get_worker()).setdefault("bisimdist_held", {})
        held = kept.get(update.session)
        if held is None:
            while len(kept) >= KEPT:
                del kept[next(iter(kept))]
            held = kept[update.session] = Held(layout)
        if not held.bring(update):
            return None
    tasks: dict[str, Callable[..., Any]] = {"pay": _pay, "improve": _improve, "violations": _violations}
    return [tasks[what](held, block, *about) for block, about in jobs]


def _nothing(state: Array) -> Plans:
    empty = np.zeros(0, dtype=np.float64)
    return Plans(np.zeros(0, dtype=np.int32), empty, empty, state)


def _pay(held: Held, block: Chunk) -> tuple[Int64Array, int]:
    """Return which pairs of a block are to be opened; the tables are as before, should this be done twice."""
    numbers, state, table = numbers_of(held.layout, block), held.tables["state"], held.tables["lower"]
    before = state[numbers]
    _, places = flat_code().pay(*block, held.layout.chain, held.layout.room(), _nothing(state), table)
    found = numbers[before != state[numbers]]
    state[found], table[found] = ZERO, 0.0
    return found, places


def _improve(  # noqa: PLR0913, PLR0917
    held: Held, block: Chunk, made_in: int, places: int, cells: str, both: bool, one: float, extra: float
) -> Made:
    """Return the plans of a block; where others made those before, all that were made now."""
    layout, numbers, state = held.layout, numbers_of(held.layout, block), held.tables["state"]
    known, cell, mass = held.blocks.get(block, (-1, None, None))
    fresh = known != made_in or cell is None
    if fresh:
        unknown = -1 if made_in else 0
        cell, mass = np.full(places, unknown, dtype=cells), np.full(places, float(unknown))
        held.lost[numbers] = unknown
    before = cell.copy(), mass.copy(), held.lost[numbers]
    given = state[numbers]
    plans = Plans(cell, mass, held.lost, state)
    about = layout.chain, layout.room(), plans, both, False, held.tables["lower"], one, extra
    _, change = flat_code().improve(*block, 0, *about)
    found = state[numbers]
    state[numbers] = given  # should this be done twice
    held.blocks[block] = held.round, cell, mass
    after = cell, mass, held.lost[numbers]
    whole = not fresh or not made_in
    news = [_change(old, new, whole) for old, new in zip(before, after, strict=True)]
    return Made(change, news[0], news[1], news[2], _change(given, found))


def _violations(held: Held, block: Chunk, one: float) -> int:
    plans = _nothing(held.tables["state"])
    tables = held.tables["lower"], held.tables["upper"]
    return int(flat_code().violations(*block, held.layout.chain, held.layout.room(), plans, *tables, one))


@dataclass(slots=True)
class SpreadWork(FlatWork):
    """The work with its plans made on a cluster."""

    cluster: Cluster = field(kw_only=True)
    session: str = field(default_factory=lambda: uuid4().hex)
    round: int = 0
    sent: dict[str, Array] = field(default_factory=dict)  # what the workers have of the tables
    homes: dict[Chunk, str] = field(default_factory=dict)  # which worker has a block,
    made: dict[Chunk, int] = field(default_factory=dict)
    """and in which round its plans were made last, 0 for never, `HERE` for not by a worker."""
    shared: Any = None

    def _run(
        self, what: str, blocks: list[Chunk], about: dict[Chunk, tuple[Any, ...]], **tables: Array
    ) -> Iterator[tuple[Chunk, Any]]:
        """Let the workers work on blocks; yield their results."""
        cluster = self.cluster
        if not blocks:
            return
        if self.shared is None:
            self.shared = cluster.share(self.layout)
        update = cluster.share(self._update({"state": self.plans.state, **tables}))
        while blocks:
            groups = self._groups(blocks)
            jobs = [
                cluster.submit(
                    on_worker,
                    self.shared,
                    update,
                    what,
                    [(block, about[block]) for block in group],
                    worker=self.homes[group[0]],
                )
                for group in groups
            ]
            blocks = []
            for number, results in cluster.results(jobs, self._watch(what)):
                if results is None:
                    blocks += groups[number]
                else:
                    yield from zip(groups[number], results, strict=True)
            if blocks:
                whole: dict[str, Change] = {name: (None, array) for name, array in self.sent.items()}
                update = cluster.share(Update(self.session, None, self.round, whole))
        self.done += 1

    def _update(self, tables: dict[str, Array]) -> Update:
        """Return what the workers do not have yet, and note that they have."""
        changes: dict[str, Change] = {}
        for name, array in tables.items():
            known, new = self.sent.get(name), array.copy()
            changes[name] = (None, new) if known is None else _change(known, new)
            self.sent[name] = new
        after, self.round = self.round, self.round + 1
        return Update(self.session, after if after else None, self.round, changes)

    def _groups(self, blocks: list[Chunk]) -> list[list[Chunk]]:
        """Return jobs: blocks of one worker each."""
        self._settle_in(blocks)
        at: dict[str, list[Chunk]] = {}
        for block in blocks:
            at.setdefault(self.homes[block], []).append(block)
        groups = []
        for own in at.values():
            size = min(TOGETHER, (len(own) + 1) // 2)
            groups += [own[k : k + size] for k in range(0, len(own), size)]
        return groups

    def _settle_in(self, blocks: list[Chunk]) -> None:
        """Give every block a worker that is there: its own one, or the one with the fewest blocks."""
        load = dict.fromkeys(self.cluster.workers(), 0)
        for home in self.homes.values():
            if home in load:
                load[home] += 1
        for block in blocks:
            if self.homes.get(block) not in load:
                worker = min(load, key=lambda name: load[name], default="")
                self.homes[block] = worker
                load[worker] = load.get(worker, 0) + 1

    def _watch(self, what: str) -> Tell:
        names = {"pay": "zeros", "improve": "plans", "violations": "proof"}

        def watch(done: int, of: int, workers: int) -> None:
            self.deadline.check()
            self.progress(f"{names[what]} in blocks, {workers} at work", done, of)

        return watch

    def _little(self, chosen: BoolArray, share: float = 1.0) -> bool:
        """Tell whether a share of the chosen pairs is looked at sooner than others are asked about them."""
        directions = self.layout.sides
        return bool(chosen.sum() * share * directions * self.layout.places < LITTLE * self.layout.pairs)

    def pay(self, table: Float64Array) -> tuple[int, int]:
        """As it is done here; the blocks do not change what is found in the end."""
        if self._little(self.plans.state == ZERO):
            return FlatWork.pay(self, table)
        rooms, found = dict.fromkeys(self.chunks, 0), 0
        for block, (opened, places) in self._run(
            "pay", self.chunks, dict.fromkeys(self.chunks, ()), lower=table
        ):
            self.plans.state[opened] = OPEN
            table[opened] = 1.0
            rooms[block] = places
            found += len(opened)
        self.begins = dict(zip(rooms, np.cumsum([0, *rooms.values()]).tolist(), strict=False))
        return found, sum(rooms.values())

    def improve_here(self, chunks: list[Chunk], table: Float64Array, extra: int, both: bool) -> float:
        """As it is done here; then no worker has these plans."""
        self.made.update(dict.fromkeys(chunks, HERE))
        return FlatWork.improve_here(self, chunks, table, extra, both)

    def improve_apart(self, chunks: list[Chunk], table: Float64Array, extra: int, both: bool) -> float:
        plans = self.plans
        ends = [*list(self.begins.values())[1:], len(plans.cell)]
        rooms = {block: end - self.begins[block] for block, end in zip(self.chunks, ends, strict=True)}
        share = sum(rooms[block] for block in chunks) / len(plans.cell)
        if self._little(plans.state >= (SETTLED if both else OPEN), share):
            self.made.update(dict.fromkeys(chunks, HERE))
            return FlatWork.improve_apart(self, chunks, table, extra, both)
        most = 0.0
        about = {
            block: (
                self.made.get(block, 0),
                rooms[block],
                plans.cell.dtype.str,
                both,
                float(self.layout.one),
                float(extra),
            )
            for block in chunks
        }
        for block, made in self._run("improve", chunks, about, lower=table):
            part = slice(self.begins[block], self.begins[block] + rooms[block])
            numbers = numbers_of(self.layout, block)
            _apply(plans.cell[part], made.cell)
            _apply(plans.mass[part], made.mass)
            lost, state = plans.lost[numbers], plans.state[numbers]
            _apply(lost, made.lost)
            _apply(state, made.state)
            plans.lost[numbers], plans.state[numbers] = lost, state
            self.made[block] = self.round
            most = max(most, made.change)
        return most

    def violations(self, lower: Float64Array, upper: Float64Array) -> int:
        if self._little(self.plans.state != ABSENT, 2.0):
            return FlatWork.violations(self, lower, upper)
        about = dict.fromkeys(self.chunks, (float(self.layout.one),))
        return sum(
            wrong for _, wrong in self._run("violations", self.chunks, about, lower=lower, upper=upper)
        )


def spread_over(cluster: Cluster) -> Spread:
    """Return what makes the work of `flat_tables` with the plans made on a cluster.

    Whatever is not sent has as many threads as there are workers here, which wait meanwhile.
    """
    return partial(SpreadWork, cluster=cluster, jobs=max(cluster.here, 1))
