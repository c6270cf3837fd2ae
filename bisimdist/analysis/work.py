"""One question about a distance on its way: the best proof so far, whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import ceil, log10

import numpy as np
from flint import fmpq

from bisimdist.analysis.answer import Status
from bisimdist.analysis.best import Best, turned
from bisimdist.analysis.pair_bounds import PairBounds
from bisimdist.certificates.compact import Asked, compact_certificate
from bisimdist.certificates.writer import certificate_of, merged_certificate, trivial_certificate
from bisimdist.cluster import opened
from bisimdist.errors import ENDINGS, LimitError, UsageError
from bisimdist.exact.doubles import from_double
from bisimdist.fixpoint.blocks import within_classes
from bisimdist.fixpoint.digit_brackets import prove_bracket
from bisimdist.fixpoint.exact_engine import approximate
from bisimdist.fixpoint.flat_engine import FlatTables, NoBracketError, Spread, flat_tables
from bisimdist.fixpoint.flat_layout import Layout
from bisimdist.fixpoint.iteration import Approximation
from bisimdist.fixpoint.pairs import reached_by_pairs
from bisimdist.fixpoint.proof import Proof
from bisimdist.fixpoint.question import MAX_PAIRS, Question, prepare
from bisimdist.fixpoint.reached import prove_reached
from bisimdist.linear import SingularSystemError
from bisimdist.lp.backends.base import Backend
from bisimdist.models.all_pairs import AllPairs
from bisimdist.models.bisimilarity import bisimilarity_classes, quotient
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.interactive import System
from bisimdist.models.worlds import Worlds
from bisimdist.progress import Deadline, Progress

__all__ = ["Pair", "Work"]

Pair = tuple[int, int]

FEW = 5_000
"""Exact work on up to so many pairs begins without a bracket."""

SAFETY_NET = fmpq(1, 10**9)
"""The width of brackets of many pairs that are proved before exact work begins, which starts from them,"""

ROOM = 1 << 29
"""if that takes no more than so many bytes."""


@dataclass(slots=True)
class Work:
    """A question, its limits, and what is proved of it so far."""

    model: System
    distance: str
    alpha: fmpq
    asked: Sequence[Pair]
    deadline: Deadline
    jobs: int
    progress: Progress
    memory: int | None = None
    backend: Backend | None = None
    cluster: str | None = None
    """Where the workers are that make the plans of many pairs."""
    question: Question | None = None
    proof: Proof | FlatTables | None = None
    method: str = "no bound was proved"
    solved: System = field(init=False)
    """The model, or at alpha = 1 its quotient, whose distances are the same."""
    place: Sequence[int] | None = None
    """By state of the model its state in the quotient; None where nothing is merged."""
    layout: Layout | None = None
    """How pairs stand in flat tables, where these may lead to brackets and have not failed."""
    known: str = ""
    """How close the bounds are that are proved so far."""
    _bounds: PairBounds | None = None

    def __post_init__(self) -> None:
        self.solved = self.model

    @property
    def ordered(self) -> bool:
        """Whether the distance is asymmetric: then every pair is asked in both directions."""
        return self.distance == "lbd"

    def run(
        self,
        engine: Callable[[Work, Question, Approximation], Status],
        *,
        width: fmpq | None = None,
        exactly: bool = False,
    ) -> Status:
        """Let an engine work; a limit or an interruption ends it, and what is proved stays.

        Where brackets of a width are enough and there are many pairs, these are proved all at once. Where
        the distance is wanted `exactly`, what direct couplings reach is often enough beside brackets.
        """
        try:
            self._merge()
            self.question = self._of_bisimilar()
            if self.backend is None and self.question is None:
                asked = self._inside(self.directed())
                self.layout = Layout.of(self.solved, self.alpha, asked, ordered=self.ordered)
            tables = self._tables(width)
            if tables is not None and self._enough(width):
                return Status.EXACT if self.bounds().exact else Status.BRACKET
            self.tell("linear programs", 0, None)
            if exactly and tables is not None and self.alpha != 1 and self._reached(tables):
                return Status.EXACT
            if self.question is None:
                self.question = self._prepared()
            guess = approximate(
                self.question,
                known=None if tables is None else tables.middle(self.question.functional.space.pairs),
                backend=self.backend,
                jobs=self.jobs,
                deadline=self.deadline,
                progress=self.tell,
            )
            return engine(self, self.question, guess)
        except (*ENDINGS, SingularSystemError) as error:
            self.method += f"; {error}"
        return Status.LIMIT

    def _reached(self, tables: FlatTables) -> bool:
        """Try to prove the distance of the pairs that were asked on top of brackets of all pairs."""
        try:
            proof = prove_reached(tables, jobs=self.jobs, deadline=self.deadline, progress=self.tell)
        except (LimitError, SingularSystemError):
            self.deadline.check()
            return False
        self.question = proof.question
        self.keep(proof, "strategy iteration, made exact and proved least")
        return True

    def _merge(self) -> None:
        """At alpha = 1 take the quotient for the model, if that is smaller."""
        if self.alpha == 1 and not isinstance(self.model, Worlds):
            merged, place = quotient(self.model, cut=True, deadline=self.deadline)
            if len(merged) < len(self.model):
                self.solved, self.place = merged, place

    def _of_bisimilar(self) -> Question | None:
        """Return a smaller question for alpha > 1, where nothing is asked but pairs at distance 0 and 1.

        Bisimilar states are at distance 0 for every alpha, since it is no more than that at alpha = 1, and
        couplings of bisimilar states prove it.
        """
        if self.alpha == 1 or isinstance(self.model, Worlds):
            return None
        alike = bisimilarity_classes(self.model, deadline=self.deadline)
        kind = np.array(alike)
        near = within_classes(distinguishable_classes(self.model), self.asked)
        if any((kind[first] != kind[second]).any() for first, second in near):
            return None
        with suppress(LimitError):
            return self._prepared(alike)
        self.deadline.check()
        return None

    def _prepared(self, alike: tuple[int, ...] | None = None) -> Question:
        return prepare(
            self.solved,
            self.alpha,
            self._inside(self.directed()),
            ordered=self.ordered,
            alike=alike,
            deadline=self.deadline,
            progress=self.tell,
        )

    def _inside(self, pairs: Sequence[Pair]) -> Sequence[Pair]:
        """Return the pairs of the model that is solved, each once, that stand for some of the one given."""
        if self.place is None:
            return pairs
        if isinstance(pairs, AllPairs):
            return AllPairs(list(dict.fromkeys(self.place[s] for s in pairs.of)))
        return tuple(dict.fromkeys((self.place[s], self.place[t]) for s, t in pairs))

    def _tables(self, width: fmpq | None) -> FlatTables | None:
        """Prove brackets of many pairs at once; None where there are few, or that is not the way.

        Where the width is less than doubles can prove, or 0, they are what they can. Tables that are as
        narrow already stay.
        """
        layout = self.layout
        if layout is None:
            return None
        enough, narrow = self._enough(width), max(SAFETY_NET if width is None else width, layout.finest)
        if isinstance(self.proof, FlatTables) and from_double(self.proof.gap) <= narrow:
            tables: FlatTables | None = self.proof
        else:
            asked = self._inside(self.directed())
            if (not enough and self._few(layout, asked)) or (width is None and layout.memory > ROOM):
                return None
            tables = self._at_once(layout, asked, narrow)
        if tables is not None and width is not None and not enough and layout.pairs > MAX_PAIRS:
            raise LimitError(f"narrower bounds of more than {MAX_PAIRS} pairs are not found")
        return tables

    def _at_once(self, layout: Layout, asked: Sequence[Pair], width: fmpq) -> FlatTables | None:
        """Prove brackets in flat tables and keep them; None where there are none, or from above only."""
        need = f"{layout.pairs} pairs, about {layout.memory >> 20} MiB"
        self.progress(need, 0, None)
        if self.memory is not None and layout.memory > self.memory:
            raise LimitError(f"{need}: more than may be used")
        about = self.solved, self.alpha, asked, layout, width
        try:
            with self._spread(layout) as spread:
                proof = flat_tables(
                    *about, spread=spread, jobs=self.jobs, deadline=self.deadline, progress=self.tell
                )
        except NoBracketError as error:
            self.layout = None
            if error.tables is not None and self.proof is None:
                self.keep(error.tables, "certified upper bound: a pre-fixed point in short rationals")
            return None
        self.keep(proof, "certified bracket: a pre-fixed and a post-fixed point in short rationals")
        return proof

    def _enough(self, width: fmpq | None) -> bool:
        """Tell whether flat tables can prove brackets of a width."""
        return width is not None and self.layout is not None and width >= self.layout.finest

    @contextmanager
    def _spread(self, layout: Layout) -> Iterator[Spread | None]:
        """Open the cluster, where there is one that can share the work."""
        if self.cluster is None or not layout.simple:
            yield None
            return
        from bisimdist.fixpoint.flat_cluster import spread_over  # noqa: PLC0415  (rarely asked for)

        with opened(self.cluster) as cluster:
            yield spread_over(cluster)

    def _few(self, layout: Layout, asked: Sequence[Pair]) -> bool:
        """Tell whether the pairs that matter are few enough to be looked at one by one."""
        if layout.pairs <= FEW or self.alpha != 1:
            return layout.pairs <= FEW
        classes = distinguishable_classes(self.solved)
        try:
            reached_by_pairs(self.solved, classes, asked, self.alpha, limit=FEW, deadline=self.deadline)
        except LimitError:
            self.deadline.check()
            return False
        return True

    def directed(self) -> Sequence[Pair]:
        """Return the pairs that the engine is asked about."""
        if not self.ordered:
            return self.asked
        return tuple(dict.fromkeys(way for pair in self.asked for way in (pair, turned(self.model, pair))))

    def keep(self, proof: Proof | FlatTables, method: str) -> None:
        """Remember a better proof."""
        self.proof, self.method, self._bounds = proof, method, None
        gap = proof.gap
        self.known = f" (bounds within 1e{ceil(log10(gap))} are proved)" if gap else ""

    def tell(self, stage: str, done: int, total: int | None) -> None:
        """Say what is being done, and how close the bounds are that are proved already."""
        self.progress(stage + self.known, done, total)

    def bracket(self, question: Question, guess: Approximation, width: fmpq) -> None:
        """Prove a bracket and keep it."""
        if self._tables(width) is not None and self._enough(width):
            return
        proof = prove_bracket(question, guess, width, deadline=self.deadline, progress=self.tell)
        self.keep(proof, "certified bracket: a pre-fixed and a post-fixed point in short rationals")

    def best(self) -> Best:
        """Return the best that is known."""
        return Best(self.model, self.proof, self.place, self.ordered)

    def bounds(self) -> PairBounds:
        """Return the best bounds known; of an asymmetric distance the larger of both directions."""
        if self._bounds is None:
            self._bounds = PairBounds(self.asked, self.model.called, self.best())
        return self._bounds

    def certificate(self) -> dict[str, object]:
        """Write the proof of the bounds."""
        if isinstance(self.proof, FlatTables):
            self.proof = self.proof.in_detail(progress=self.tell)
        elif self.proof is not None:
            self.proof = self.proof.whole(progress=self.tell)
        if self.proof is not None and self.place is None:
            return certificate_of(self.proof)
        known = self.best()
        bounds = [(pair, *reversed(known.one_way(pair))) for pair in self.directed()]
        if self.proof is not None and self.place is not None:
            return merged_certificate(self.proof, self.model, self.place, bounds)
        return trivial_certificate(self.model, self.distance, self.alpha, bounds)

    def parts(self) -> Iterator[bytes]:
        """Write the proof of the bounds in format 2."""
        if self.proof is None:
            raise UsageError("nothing was proved that a certificate in format 2 could hold")
        asked = Asked(self.model, self.directed(), self.place)
        return compact_certificate(self.proof, asked, progress=self.tell)

    def statistics(self) -> dict[str, int | str]:
        """Return counts of what the question came to."""
        if isinstance(self.proof, FlatTables):
            return {"pairs": self.proof.layout.pairs}
        if self.question is None:
            return {}
        return {
            "pairs": self.question.functional.size,
            "programs": len(self.question.functional.batch),
        }
