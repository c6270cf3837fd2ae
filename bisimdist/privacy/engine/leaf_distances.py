"""Distances of the pairs of states that leaves of the graph may ask for: bounds on what couplings move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import permutations

from flint import fmpq

from bisimdist.distances.engine.digit_brackets import prove_bracket
from bisimdist.distances.engine.exact_engine import approximate, prove_exactly
from bisimdist.distances.engine.flat_engine import NoBracketError, flat_tables
from bisimdist.distances.engine.flat_layout import Layout
from bisimdist.distances.engine.iteration import ONE, Approximation
from bisimdist.distances.engine.pairs import reached_by_classes
from bisimdist.distances.engine.proof import Proof
from bisimdist.distances.engine.question import Question, prepare
from bisimdist.errors import LimitError
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.interactive import System
from bisimdist.privacy.engine.ceiling import Ceiling, ceiling_of, ceiling_of_tables
from bisimdist.progress import Deadline, Progress

EXACT_PAIRS = 400  # up to so many pairs the exact distances are used, beyond it a bracket in short rationals

FINE_PAIRS = 50_000  # up to so many ordered pairs the bracket is narrow; with more it is what comes soon

MOST_PAIRS = 8_000_000  # with more ordered pairs the distances cost more than they gain

ROUNDING = 1 << 8  # so many units a guess may be too large for its rounding

DISTANCE_PRECISION, COARSE = fmpq(1, 10**9), fmpq(1, 1000)


def leaf_distances(  # noqa: PLR0913
    merged: System,
    alpha: fmpq,
    asked: Sequence[tuple[int, int]],
    deadline: Deadline,
    progress: Progress,
    *,
    sharp: Mapping[tuple[int, int], fmpq] | None = None,
) -> Ceiling | None:
    """Bound the distances of all pairs that can be reached from some; None where these are too many.

    Many pairs get a coarse bracket: an upper bound on delta that soon is there. With `sharp`, by pair what
    is known already, few pairs get the distances themselves, if one can be less, and many a narrow bracket.

    Raises LimitError if the deadline passes, or a bracket is not found and the distance is not either.
    """
    classes = distinguishable_classes(merged)
    wanted = sorted(reached_by_classes(merged, classes, asked))
    size = Counter(classes)
    count = sum(size[kind] * (size[kind] - 1) for kind in wanted)
    if not 0 < count <= MOST_PAIRS:
        return None
    # one direction at a time is tighter; at alpha = 1 both distances are one
    ordered = bool(alpha != 1)
    if count > FINE_PAIRS:
        layout = Layout.of(merged, alpha, asked, ordered=ordered)
        with suppress(NoBracketError):
            if layout is not None:
                about = merged, alpha, tuple(asked), layout, COARSE if sharp is None else DISTANCE_PRECISION
                return ceiling_of_tables(flat_tables(*about, deadline=deadline, progress=progress))
        return None
    pairs = tuple(
        pair for kind in wanted for pair in permutations([i for i, k in enumerate(classes) if k == kind], 2)
    )
    proof = _few(merged, alpha, pairs, deadline, progress, ordered=ordered, sharp=sharp)
    return ceiling_of(proof, rounded=sharp is None)


def _few(  # noqa: PLR0913
    merged: System,
    alpha: fmpq,
    pairs: Sequence[tuple[int, int]],
    deadline: Deadline,
    progress: Progress,
    *,
    ordered: bool,
    sharp: Mapping[tuple[int, int], fmpq] | None,
) -> Proof:
    """Prove narrow bounds on the distances of few pairs."""
    layout = None if sharp is not None else Layout.of(merged, alpha, pairs, ordered=ordered)
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
    if sharp is not None and all(_about(question, guess, pair) > known for pair, known in sharp.items()):
        raise LimitError("the distances say no more")
    if question.functional.size > EXACT_PAIRS and sharp is None:
        try:
            return prove_bracket(
                question, guess, DISTANCE_PRECISION, long=False, deadline=deadline, progress=progress
            )
        except LimitError:  # where mass goes round for long the distance itself is often a short number
            deadline.check()
    return prove_exactly(question, guess, deadline=deadline, progress=progress)


def _about(question: Question, guess: Approximation, pair: tuple[int, int]) -> fmpq:
    """Return about the distance of a pair, rather less."""
    number = question.number(pair)
    return fmpq(1) if number is None else fmpq(int(guess.distance[number]) - ROUNDING, ONE)
