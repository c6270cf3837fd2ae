"""One question about a distance on its way: the best proof so far, whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from math import ceil, log10

import numpy as np
from flint import fmpq

from bisimdist.cluster import opened
from bisimdist.distances.bound.best import Best, turned
from bisimdist.distances.bound.certificate import certificate_of, trivial_certificate
from bisimdist.distances.bound.compact import Asked, compact_certificate
from bisimdist.distances.bound.lockstep import lockstep_certificate
from bisimdist.distances.engine.blocks import within_classes
from bisimdist.distances.engine.digit_brackets import prove_bracket
from bisimdist.distances.engine.exact_engine import approximate
from bisimdist.distances.engine.flat_engine import FlatTables, NoBracketError, Spread, flat_tables
from bisimdist.distances.engine.flat_layout import Layout
from bisimdist.distances.engine.iteration import Approximation
from bisimdist.distances.engine.lockstep import SAID, Lockstep, large, lockstep
from bisimdist.distances.engine.pairs import reached_by_pairs
from bisimdist.distances.engine.proof import Proof
from bisimdist.distances.engine.question import MAX_PAIRS, Question, prepare
from bisimdist.distances.engine.reached import prove_reached
from bisimdist.errors import ENDINGS, Interruption, LimitError, StoppedError, UsageError
from bisimdist.exact.doubles import from_double
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.asked_pairs import indexed
from bisimdist.faces.shown.pair_bounds import PairBounds
from bisimdist.linear import SingularSystemError
from bisimdist.lp.backends.base import Backend
from bisimdist.models.bisimilarity import bisimilarity_classes
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.interactive import System
from bisimdist.models.worlds import Worlds
from bisimdist.progress import Deadline, Progress

Pair = tuple[int, int]

FEW = 5_000  # exact work on up to so many pairs begins without a bracket

WORKING = 0.7  # the part of the time after which a large chain is left to `lockstep_bounds`

ASKED = 1_000  # so many pairs may be asked about then

SAFETY_NET = fmpq(1, 10**9)
"""The width of brackets of many pairs that are proved before exact work begins, which starts from them,"""

ROOM = 1 << 29  # if that takes no more than so many bytes


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
    cluster: str | None = None  # where the workers are that make the plans of many pairs
    question: Question | None = None
    proof: Proof | FlatTables | None = None
    method: str = "no bound was proved"
    layout: Layout | None = None
    """How pairs stand in flat tables, where these may lead to brackets and have not failed."""
    reason: str = ""  # which limit ended the work
    known: str = ""  # how close the bounds are that are proved so far
    coupled: Lockstep | None = None  # what is known where nothing is proved
    _bounds: PairBounds | None = None

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
        whole = self.deadline
        if large(self.model):
            self.deadline = whole.part(WORKING)
        try:
            self.question = self._of_bisimilar()
            if self.backend is None and self.question is None:
                asked = self.directed()
                self.layout = Layout.of(self.model, self.alpha, asked, ordered=self.ordered)
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
            self.reason = str(error)
            self.deadline = whole
            if not isinstance(error, Interruption | StoppedError):
                self._couple()
        return Status.LIMIT

    def _couple(self) -> None:
        """Say something cheap of a few pairs of a chain, where nothing else is proved."""
        if self.proof is None and large(self.model) and len(self.asked) <= ASKED:
            self.coupled = lockstep(self.model, self.asked, deadline=self.deadline)
            self._bounds = None
            if self.coupled is not None and any(value < 1 for value in self.coupled.bounds.values()):
                self.method = SAID
                self.reason = f"{self.reason}; {SAID}"

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
            self.model,
            self.alpha,
            self.directed(),
            ordered=self.ordered,
            alike=alike,
            deadline=self.deadline,
            progress=self.tell,
        )

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
            asked = self.directed()
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
        about = self.model, self.alpha, asked, layout, width
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
        from bisimdist.distances.engine.flat_cluster import spread_over  # noqa: PLC0415  (rarely asked for)

        with opened(self.cluster) as cluster:
            yield spread_over(cluster)

    def _few(self, layout: Layout, asked: Sequence[Pair]) -> bool:
        """Tell whether the pairs that matter are few enough to be looked at one by one."""
        if layout.pairs <= FEW or self.alpha != 1:
            return layout.pairs <= FEW
        classes = distinguishable_classes(self.model)
        try:
            reached_by_pairs(self.model, classes, asked, self.alpha, limit=FEW, deadline=self.deadline)
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
        known = {} if self.coupled is None else self.coupled.bounds
        return Best(self.model, self.proof, None, self.ordered, known)

    def bounds(self) -> PairBounds:
        """Return the best bounds known; of an asymmetric distance the larger of both directions."""
        if self._bounds is None:
            self._bounds = PairBounds(self.asked, self.model.called, self.best())
        return self._bounds

    def certificate(self, about: Sequence[tuple[str, str]] | None = None) -> dict[str, object]:
        """Write the proof of the bounds, on pairs of names, or on the pairs that were asked."""
        if isinstance(self.proof, FlatTables):
            self.proof = self.proof.in_detail(progress=self.tell)
        elif self.proof is not None:
            self.proof = self.proof.whole(progress=self.tell)
        pairs = self.directed() if about is None else indexed(self.model, about)
        if self.proof is not None:
            return certificate_of(self.proof, pairs)
        if self.coupled is not None:
            with suppress(LimitError):  # then only what needs no proof is claimed
                return lockstep_certificate(self.coupled, self.distance, self.alpha, pairs)
        known = replace(self.best(), lockstep={})
        bounds = [(pair, *reversed(known.one_way(pair))) for pair in pairs]
        return trivial_certificate(self.model, self.distance, self.alpha, bounds)

    def parts(self, asked: Asked | None = None) -> Iterator[bytes]:
        """Write the proof with compact tables, about a model before some steps if there are any."""
        if self.proof is None:
            raise UsageError("nothing was proved that compact tables could hold")
        asked = asked or Asked(self.model, self.directed())
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
