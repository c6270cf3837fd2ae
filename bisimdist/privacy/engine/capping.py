"""Upper bounds on delta by distances: for all that is still open, and at last for the pairs themselves.

Delta is at most the distance, so no answer has to be above a distance that could be worked out meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from flint import fmpq

from bisimdist.errors import ENDINGS, LimitError
from bisimdist.linear import SingularSystemError
from bisimdist.privacy.engine.closure import Closure
from bisimdist.privacy.engine.directions import PairQuestion, TwoSided
from bisimdist.privacy.engine.leaf_distances import FINE_PAIRS, leaf_distances
from bisimdist.privacy.engine.refinement import Root
from bisimdist.progress import Deadline, Progress

LEAST = 5.0  # so many seconds are worth it anyway, once distances are known to be near

NEAR = fmpq(1, 1000)
"""Distances that are known to be above the bounds by more, as a part, are not worked out again."""


def cap_leaves(
    two: TwoSided, questions: Sequence[PairQuestion], deadline: Deadline, progress: Progress
) -> int:
    """Let distances bound what is left open; return of how many pairs of states they are, 0 for none."""
    asked = [question.pair for question in questions if question.below]
    try:
        found = leaf_distances(two.model, two.alpha_upper, asked, deadline, progress)
    except (LimitError, SingularSystemError):
        deadline.check()
        return 0
    if found is None:
        return 0
    two.refinement.ceiling = found
    for root in _roots(two, questions):
        two.refinement.bound(two.refinement.nodes[root.node])
    return found.pairs


def sharpen(  # noqa: PLR0913
    two: TwoSided,
    questions: Sequence[PairQuestion],
    closure: Closure,
    *,
    begun: float,
    deadline: Deadline,
    progress: Progress,
) -> bool:
    """Bound the pairs by their distances as sharply as can be, in as much time as was taken before.

    closure: the bounds so far.
    begun: when the work began, by ``time.monotonic``.
    Returns: whether a bound may have become better, so that all have to be worked out again.
    """
    refinement = two.refinement
    loose = [question for question in questions if _may_be_better(two, question, closure)]
    if not loose:
        return False
    taken = max(LEAST, time.monotonic() - begun)
    soon = deadline.part(0.5).within(taken)
    asked = [question.pair for question in questions if question.below]
    known = {
        pair: closure.upper[root.node] / root.divisor
        for question in loose
        for pair, root in two.above(question)
        if root.node in closure.upper
    }
    try:
        found = leaf_distances(two.model, two.alpha_upper, asked, soon, progress, sharp=known)
    except (*ENDINGS, SingularSystemError):
        return False
    if found is None:
        return False
    roots = [refinement.nodes[root.node] for root in _roots(two, questions)]
    values = {node.index: found.at(node.vector) for node in roots}
    if all(value >= closure.upper.get(number, value) for number, value in values.items()):
        return False
    refinement.ceiling = found
    narrower = found.pairs <= FINE_PAIRS  # distances are below all brackets, which one bracket may not be
    for node in roots if narrower else [*(node for node in refinement.nodes if node.cap is not None), *roots]:
        node.asked, node.cap = False, None
        refinement.bound(node)
    return True


def _roots(two: TwoSided, questions: Sequence[PairQuestion]) -> list[Root]:
    return [root for question in questions for _, root in (*question.below, *two.above(question))]


def _may_be_better(two: TwoSided, question: PairQuestion, closure: Closure) -> bool:
    """Tell whether the distance of a pair may be below its upper bound, which is not delta itself."""
    lower, upper, _ = two.bounds(question, closure)
    if lower == upper:
        return False
    caps = [(two.refinement.nodes[root.node].cap, root.divisor) for _, root in two.above(question)]
    known = [cap / divisor for cap, divisor in caps if cap is not None]
    return not known or max(known) <= upper + max(upper, NEAR) * NEAR
