"""Distances of the pairs of states that leaves of the graph may ask for: bounds on what couplings move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import permutations

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.fixpoint.digit_brackets import prove_bracket
from bisimdist.fixpoint.exact_engine import approximate, prove_exactly
from bisimdist.fixpoint.flat_engine import NoBracketError, flat_tables
from bisimdist.fixpoint.flat_layout import Layout
from bisimdist.fixpoint.pairs import reached_by_classes
from bisimdist.fixpoint.proof import Proof
from bisimdist.fixpoint.question import prepare
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.interactive import System
from bisimdist.progress import Deadline, Progress

__all__ = ["leaf_distances"]

EXACT_PAIRS = 400
"""Up to so many pairs the exact distances are used, beyond it a bracket in short rationals."""

MAX_CEILING_PAIRS = 50_000
"""With more pairs the distances cost more than they gain."""

DISTANCE_PRECISION = fmpq(1, 10**9)


def leaf_distances(
    merged: System, alpha: fmpq, asked: Sequence[tuple[int, int]], deadline: Deadline, progress: Progress
) -> Proof | None:
    """Bound the distances of all pairs that can be reached from some; None where these are too many.

    Raises
    ------
    LimitError
        If the deadline passes, or a bracket is not found and the distance is not either.
    """
    classes = distinguishable_classes(merged)
    wanted = sorted(reached_by_classes(merged, classes, asked))
    size = Counter(classes)
    if not 0 < sum(size[kind] * (size[kind] - 1) for kind in wanted) <= MAX_CEILING_PAIRS:
        return None
    pairs = tuple(
        pair for kind in wanted for pair in permutations([i for i, k in enumerate(classes) if k == kind], 2)
    )
    # one direction at a time is tighter; at alpha = 1 both distances are one
    ordered = bool(alpha != 1)
    layout = Layout.of(merged, alpha, pairs, ordered=ordered)
    if layout is not None and layout.pairs > EXACT_PAIRS:
        with suppress(NoBracketError):
            tables = flat_tables(
                merged, alpha, pairs, layout, DISTANCE_PRECISION, deadline=deadline, progress=progress
            )
            return tables.in_detail(deadline=deadline, progress=progress)
    question = prepare(
        merged,
        alpha,
        pairs,
        ordered=ordered,
        deadline=deadline,
        progress=progress,
    )
    guess = approximate(question, deadline=deadline, progress=progress)
    if question.functional.size > EXACT_PAIRS:
        try:
            return prove_bracket(
                question, guess, DISTANCE_PRECISION, long=False, deadline=deadline, progress=progress
            )
        except LimitError:  # where mass goes round for long the distance itself is often a short number
            deadline.check()
    return prove_exactly(question, guess, deadline=deadline, progress=progress)
