"""What is asked: pairs of states by name, turned into a functional on the pairs that matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.distances.engine.iteration import Stage, stages
from bisimdist.distances.engine.pairs import (
    PairSpace,
    components_bottom_up,
    reached_by_classes,
    reached_by_pairs,
)
from bisimdist.distances.engine.programs import Functional, build_functional
from bisimdist.errors import UsageError
from bisimdist.exact.logarithm import alpha_below
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.interactive import System
from bisimdist.progress import NEVER, Deadline, Progress, silent

MAX_ALPHA = fmpq(1 << 1020)  # larger skews are refused: their doubles, which guide the search, would overflow

MAX_PAIRS = 600_000
"""More pairs than this do not fit the memory of an ordinary machine: they take 5 to 10 kB each."""


@dataclass(frozen=True, slots=True)
class Question:
    """The pairs that were asked, and all that their distances depend on."""

    model: System
    alpha: fmpq
    asked: Sequence[tuple[int, int]]
    functional: Functional
    stages: tuple[Stage, ...]

    @property
    def distance(self) -> str:
        """The name of the distance: ``"bd"``, or ``"lbd"`` where pairs are ordered."""
        return "lbd" if self.functional.space.ordered else "bd"

    @property
    def sharp(self) -> bool:
        """Whether the functional is that of the distance and not only an upper bound of it."""
        return bool(self.alpha == 1) or self.functional.detours

    def number(self, pair: tuple[int, int]) -> int | None:
        """Return the number of a pair, or None where its distance is 0 or 1 without any computation."""
        s, t = pair
        space = self.functional.space
        return None if s == t or space.classes[s] != space.classes[t] else space.number(s, t)


def checked_alpha(alpha: ExactNumber) -> fmpq:
    """Return alpha as a rational."""
    value = to_fmpq(alpha)
    if value < 1:
        raise UsageError(
            f"alpha is {format_rational(value)}; expected at least 1 (alpha = e^epsilon with epsilon >= 0)"
        )
    if value > MAX_ALPHA:
        raise UsageError(
            f"alpha is more than 2^{MAX_ALPHA.p.bit_length() - 1}; no epsilon of use is so large"
        )
    return value


def checked_skew(alpha: ExactNumber | None, epsilon: ExactNumber | None) -> fmpq:
    """Return alpha as a rational: as it is given, or e^epsilon rounded down, for bounds from above."""
    if (alpha is None) == (epsilon is None):
        raise UsageError("expected one of alpha and epsilon")
    if alpha is not None:
        return checked_alpha(alpha)
    return checked_alpha(to_fmpq(alpha_below(epsilon)))


def prepare(  # noqa: PLR0913
    model: System,
    alpha: fmpq,
    asked: Sequence[tuple[int, int]],
    *,
    ordered: bool = False,
    alike: Sequence[int] | None = None,
    direct: bool = False,
    max_pairs: int = MAX_PAIRS,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> Question:
    """Find the pairs that matter and make their linear programs: of bd, or of lbd where they are ordered.

    At alpha = 1 these are the pairs that direct couplings reach. For alpha > 1 every pair of a class counts
    as soon as one of its states can be entered, since the supremum is over functions on all states; where
    that would be too many, only the pairs that direct couplings reach are taken, which makes the question
    one for upper bounds only (`Question.sharp` is false). It is that too where no more is wanted (`direct`),
    and where only states of one class of a partition, by state, are `alike` enough to be coupled.
    """
    classes = distinguishable_classes(model) if alike is None else alike
    deadline.check()
    kinds = reached_by_classes(model, classes, asked)
    size = Counter(classes)
    count = sum(size[kind] * (size[kind] - 1) for kind in kinds)
    if alpha != 1 and not direct and alike is None and (count if ordered else count // 2) <= max_pairs:
        space = PairSpace.of_classes(classes, kinds, ordered=ordered)
    else:
        found = reached_by_pairs(
            model, classes, asked, alpha, limit=max_pairs, ordered=ordered, deadline=deadline
        )
        space = PairSpace.of_pairs(classes, found, ordered=ordered)
    functional = build_functional(model, space, alpha, deadline=deadline, progress=progress)
    order = stages(functional, components_bottom_up(model, classes))
    return Question(model, alpha, asked, functional, tuple(order))
