"""The exact privacy loss distribution of a pair of states, where finitely many losses make it up.

Seen from an observer of the whole trace, the pair (s, t) is the pair of distributions (nu_s, nu_t). All that
matters for privacy is how the two masses of the traces of each likelihood ratio add up: finitely many pairs
(p, q), of which the loss is ln(p/q). With them delta is known for every alpha at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.models.bisimilarity import quotient
from bisimdist.models.lmc import LMC
from bisimdist.privacy.engine.signed import SignedChain, primitive
from bisimdist.progress import NEVER, Deadline

MAX_NODES = 200_000  # more pairs of masses than this in one step are not followed

CYCLIC_WORK = 4000
"""A cyclic chain has finitely many losses only if they soon come to an end: so many nodes are followed."""

CYCLIC_STEPS = 64  # and for so many steps beyond its number of states

Masses = tuple[tuple[int, int, int], ...]
"""(state, mass from s, mass from t), by ascending state; integers without a common factor."""


@dataclass(frozen=True, slots=True)
class LossDistribution:
    """Pairs of masses (p, q) by descending likelihood ratio p/q; the first may have q = 0, the last p = 0."""

    points: tuple[tuple[fmpq, fmpq], ...]  # the masses, not negative and not both zero; both columns sum to 1

    @classmethod
    def from_masses(cls, masses: Iterable[tuple[fmpq, fmpq]]) -> LossDistribution:
        """Add up masses of equal ratio.

        >>> half = fmpq(1, 2)
        >>> LossDistribution.from_masses([(half, half), (half, half)]).points
        ((1, 1),)
        """
        sums: dict[tuple[bool, fmpq], tuple[fmpq, fmpq]] = {}
        for p, q in masses:
            if p or q:
                key = (q == 0, p / q if q else fmpq(0))
                before = sums.get(key, (fmpq(0), fmpq(0)))
                sums[key] = (before[0] + p, before[1] + q)
        return cls(tuple(sums[key] for key in sorted(sums, reverse=True)))

    def swapped(self) -> LossDistribution:
        """Return the distribution of the other direction."""
        return LossDistribution(tuple((q, p) for p, q in reversed(self.points)))

    def one_way(self, alpha: fmpq) -> fmpq:
        """Return lv_alpha(s, t): the most that an event gains in this direction."""
        return sum((p - alpha * q for p, q in self.points if p > alpha * q), fmpq(0))

    def bends(self) -> frozenset[fmpq]:
        """Return the alphas where delta may bend: the likelihood ratios above 1, of both directions."""
        ratios = {p / q for p, q in self.points if p and q}
        return frozenset(max(ratio, 1 / ratio) for ratio in ratios if ratio != 1)

    def delta(self, alpha: fmpq) -> fmpq:
        """Return delta: the larger of both directions.

        >>> LossDistribution(((fmpq(3, 4), fmpq(1, 4)), (fmpq(1, 4), fmpq(3, 4)))).delta(fmpq(2))
        1/4
        """
        return max(self.one_way(alpha), self.swapped().one_way(alpha))

    def ratios(self) -> tuple[fmpq, ...]:
        """Return where delta bends: the finite likelihood ratios of at least one, of both directions."""
        found = {fmpq(1)}
        for p, q in self.points:
            if p and q:
                found.add(max(p / q, q / p))
        return tuple(sorted(found))

    def least_alpha(self, threshold: fmpq) -> fmpq | None:
        candidates = []
        for one_way in (self, self.swapped()):
            found = one_way._least_one_way(threshold)
            if found is None:
                return None
            candidates.append(found)
        return max(candidates)

    def _least_one_way(self, threshold: fmpq) -> fmpq | None:
        certain = sum((p for p, q in self.points if not q), fmpq(0))
        if certain > threshold:
            return None
        p_sum = q_sum = fmpq(0)
        for p, q in self.points:
            # while alpha is at least this ratio, only the points before it count
            if q and q_sum and p_sum - (p / q) * q_sum > threshold:
                break
            p_sum += p
            q_sum += q
        if not q_sum:
            return fmpq(1)
        return max(fmpq(1), (p_sum - threshold) / q_sum)

    def composed(self, other: LossDistribution) -> LossDistribution:
        """Return the distribution of two independent runs, one of this kind and one of the other."""
        return LossDistribution.from_masses(
            (p1 * p2, q1 * q2) for p1, q1 in self.points for p2, q2 in other.points
        )

    def repeated(self, runs: int) -> LossDistribution:
        """Return the distribution of so many independent runs."""
        result = LossDistribution(((fmpq(1), fmpq(1)),))
        base = self
        while runs:
            if runs % 2:
                result = result.composed(base)
            runs //= 2
            if runs:
                base = base.composed(base)
        return result

    def trade_off(self) -> tuple[tuple[fmpq, fmpq], ...]:
        """Return the vertices of the trade-off function T(nu_s, nu_t).

        A test of "the run started in s" against "it started in t" that wrongly rejects s with probability at
        most a has a probability of wrongly accepting s of at least T(a); T is linear between the vertices.

        Returns tuple of (a, T(a)): from a = 0 to a = 1.

        Source: Dong, Roth, Su, "Gaussian differential privacy", JRSS B 84, 2022, Definition 2.1.
        """
        # by Neyman and Pearson, s is rejected first where t is likelier by the largest factor
        wrongly, missed = fmpq(0), fmpq(1)
        vertices = [(wrongly, missed)]
        for p, q in reversed(self.points):
            wrongly += p
            missed -= q
            vertices.append((wrongly, missed))
        # a mass that only t has costs nothing to reject; one that only s has gains nothing
        if len(vertices) > 1 and vertices[1][0] == 0:
            vertices = vertices[1:]
        if vertices[-1][0] < 1:
            vertices.append((fmpq(1), fmpq(0)))
        return tuple(vertices)


def exact_losses(
    model: LMC, s: int, t: int, *, deadline: Deadline = NEVER, limit: int = MAX_NODES
) -> LossDistribution:
    """Return the exact privacy loss distribution of the traces from two states.

    Pairs of masses that agree up to a positive factor are one; where the masses of both sides are in
    proportion, all traces that follow have the same loss.

    Raises LimitError if the losses are not finitely many, as far as can be told, or too many.

    >>> from bisimdist.models.library.figure1 import figure1
    >>> exact_losses(figure1(), 0, 1).points
    ((3/5, 2/5), (2/5, 3/5))
    """
    merged, classes = quotient(model)
    chain = SignedChain.of(merged)
    s, t = classes[s], classes[t]
    if s == t:
        return LossDistribution(((fmpq(1), fmpq(1)),))
    if merged.labels[s] != merged.labels[t]:
        return LossDistribution(((fmpq(1), fmpq(0)), (fmpq(0), fmpq(1))))
    acyclic = chain.acyclic((s, t))
    work, steps = CYCLIC_WORK, len(merged) + CYCLIC_STEPS
    layer: dict[Masses, fmpq] = {((s, 1, 0), (t, 0, 1)) if s < t else ((t, 0, 1), (s, 1, 0)): fmpq(1)}
    done: list[tuple[fmpq, fmpq]] = []
    while layer:
        following: dict[Masses, fmpq] = {}
        for count, (masses, weight) in enumerate(layer.items()):
            if count % 256 == 0:
                deadline.check()
            for factor, after in _steps(chain, masses):
                scaled = weight * factor / chain.denominator
                if _in_proportion(after):
                    done.append(
                        (
                            scaled * sum(first for _, first, _ in after),
                            scaled * sum(second for _, _, second in after),
                        )
                    )
                else:
                    following[after] = following.get(after, fmpq(0)) + scaled
        if len(following) > limit:
            raise LimitError(f"there are more than {limit} pairs of masses to follow")
        if following and not acyclic:
            work -= len(layer)
            steps -= 1
            if min(work, steps) < 0:
                raise LimitError("the chain is cyclic and its losses do not come to an end")
        if len(done) > 4096:
            done = list(LossDistribution.from_masses(done).points)
        layer = following
    return LossDistribution.from_masses(done)


def _steps(chain: SignedChain, masses: Masses) -> list[tuple[int, Masses]]:
    seen: dict[int, dict[int, list[int]]] = {}
    for state, first, second in masses:
        for label, group in chain.moves[state]:
            into = seen.setdefault(label, {})
            for target, weight in group:
                both = into.setdefault(target, [0, 0])
                both[0] += first * weight
                both[1] += second * weight
    return [_primitive(seen[label]) for label in sorted(seen)]


def _primitive(entries: Mapping[int, list[int]]) -> tuple[int, Masses]:
    factor, _ = primitive(
        {2 * state + side: both[side] for state, both in entries.items() for side in (0, 1)}
    )
    return factor, tuple(
        (state, first // factor, second // factor) for state, (first, second) in sorted(entries.items())
    )


def _in_proportion(masses: Masses) -> bool:
    _, first, second = masses[0]
    return all(a * second == b * first for _, a, b in masses)
