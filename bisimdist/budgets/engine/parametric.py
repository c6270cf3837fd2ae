"""Budgets for all parameter values: one polynomial inequality per observation sequence, proved on a box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from flint import fmpq, fmpq_mpoly

from bisimdist.budgets.engine.cleared import ClearedPair, Difference, differences
from bisimdist.budgets.engine.polynomial_solver import refute_negative
from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.bernstein import (
    Box,
    Monomials,
    Sign,
    SignProof,
    SignResult,
    Square,
    coefficient_count,
    evaluate,
    proof_boxes,
    prove_sign,
)
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.models.hmm import HMM
from bisimdist.models.polynomial import monomials_of
from bisimdist.progress import UNBOUNDED, Limits
from bisimdist.traces.engine.forward import word_probability
from bisimdist.verdicts import verdict_word

QUICK_BOXES = 1  # what every polynomial is tried on first: a single box settles most of them

THOROUGH_BOXES = 4_000


@dataclass(frozen=True, slots=True)
class ProvedPolynomial:
    """A polynomial that is not negative on the box (or positive there), with its proof."""

    monomials: Monomials  # the polynomial
    sign: Sign  # what is proved of it
    proof: SignProof | None  # the tree of boxes; None where only the solver says so


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceVerdict:
    """Where a budget fails: a sequence, the parameters, and both probabilities."""

    word: tuple[str, ...]  # the observations, by name
    parameters: Mapping[str, fmpq]  # a value for each parameter, inside its interval
    # Pr(word | first) and Pr(word | second), of which one is more than the ratio times the other
    probabilities: tuple[fmpq, fmpq]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParametricProof:
    """Whether a budget holds for all parameter values and all sequences of a length."""

    model: HMM
    pair: tuple[str, str]  # the names of the two information states
    ratio: fmpq  # the budget C
    length: int  # how many observations
    # True where it is proved, False where `violation` refutes it, None where neither was found
    holds: bool | None
    violation: SequenceVerdict | None = None  # a counterexample, checked exactly
    polynomials: tuple[ProvedPolynomial, ...] = ()  # the polynomials that were proved, denominators first
    # the common denominators of information states, observations and transitions
    denominators: tuple[Monomials, ...] = ()
    # by what the answer is confirmed: ``bernstein``, ``evaluation``, ``z3``. An answer that Z3 alone confirms
    # has no certificate.
    ways: tuple[str, ...] = ()
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)  # counts of what was done

    @property
    def verdict(self) -> str:
        """The answer as a word: ``holds``, ``violated`` or ``unknown``."""
        return verdict_word(self.holds)

    @property
    def certified(self) -> bool:
        """Whether everything that the answer needs has a proof that can be checked."""
        return self.holds is not None and all(p.proof is not None for p in self.polynomials)


def prove_for_all(  # noqa: PLR0913
    model: HMM,
    pair: tuple[str, str],
    ratio: ExactNumber,
    length: int,
    *,
    max_boxes: int = THOROUGH_BOXES,
    solver: bool = True,
    limits: Limits = UNBOUNDED,
) -> ParametricProof:
    """Decide whether a budget holds for all parameter values and all sequences of exactly some length.

    For every sequence w the polynomials of ``C Pr(w|tau) - Pr(w|pi)`` and ``C Pr(w|pi) - Pr(w|tau)`` must
    not be negative inside the box of the parameters. That is proved by Bernstein coefficients, on the box
    itself or on parts of it; Z3 is asked where that does not end.

    model: the model; one without parameters is a box of dimension zero.
    pair: the names of the two information states.
    ratio: the budget C, at least 1.
    max_boxes: how many boxes a polynomial may need.
    solver: whether Z3 is asked about what is left.
    Raises UsageError if the ratio is below 1, the length below 1, or no sequence of the length is possible at
        all. Raises ModelError if a name is no information state.

    >>> model = HMM.from_mappings(
    ...     {"s": {"x": "2/3", "y": "1/3"}, "t": {"x": "1/3", "y": "2/3"}},
    ...     {},
    ...     {"pi": {"s": "p", "t": "1-p"}, "tau": {"t": 1}},
    ...     parameters={"p": (0, 1)},
    ... )
    >>> prove_for_all(model, ("pi", "tau"), 2, 1).verdict
    'holds'
    """
    budget = to_fmpq(ratio)
    if budget < 1:
        raise UsageError(f"the ratio is {format_rational(budget)}; expected at least 1")
    if length < 1:
        raise UsageError(f"the length is {length}; expected at least 1")
    work = _Work(model, pair, budget, length, max_boxes, solver, limits)
    try:
        return work.run()
    except LimitError:
        return replace(work.answer(None), polynomials=(), ways=())


@dataclass(slots=True)
class _Work:
    model: HMM
    pair: tuple[str, str]
    ratio: fmpq
    length: int
    max_boxes: int
    solver: bool
    limits: Limits
    proved: list[ProvedPolynomial] = field(default_factory=list)
    denominators: tuple[Monomials, ...] = ()
    ways: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def box(self) -> Box:
        return self.model.box

    def answer(self, holds: bool | None, violation: SequenceVerdict | None = None) -> ParametricProof:
        return ParametricProof(
            model=self.model,
            pair=self.pair,
            ratio=self.ratio,
            length=self.length,
            holds=holds,
            violation=violation,
            polynomials=tuple(self.proved) if holds else (),
            denominators=self.denominators,
            ways=tuple(sorted(self.ways)),
            statistics=dict(self.counts),
        )

    def run(self) -> ParametricProof:
        cleared = ClearedPair.of(self.model, *self.pair)
        self.denominators = tuple(monomials_of(denominator) for denominator in cleared.denominators)
        for denominator in cleared.denominators:
            if not denominator.is_constant() and not self.positive(denominator):
                return self.answer(None)
        found = differences(
            cleared, self.ratio, self.length, len(self.model.observations), deadline=self.limits.deadline
        )
        hard: list[Difference] = []
        for polynomials, difference in enumerate(found, 1):
            self.counts["polynomials"] = polynomials
            self.limits.progress("polynomials", polynomials, None)
            result = self.attempt(difference.polynomial, QUICK_BOXES)
            if result.holds is False and result.point is not None:
                return self.violated(difference, result.point)
            if result.holds is None:
                hard.append(difference)
        for place, difference in enumerate(hard):
            self.limits.progress("polynomials that need more boxes", place, len(hard))
            result = self.without_squares(difference.polynomial)
            if result.holds is None:
                result = self.attempt(difference.polynomial, self.max_boxes)
            if result.holds is None and self.solver:
                result = self.asked(difference.polynomial)
            if result.holds is False and result.point is not None:
                return self.violated(difference, result.point)
            if result.holds is None:
                return self.answer(None)
        self.ways = self.ways or {"bernstein"}  # every difference vanishes identically
        return self.answer(True)

    def positive(self, denominator: fmpq_mpoly) -> bool:
        monomials = monomials_of(denominator)
        result = prove_sign(
            monomials, self.box, sign=Sign.POSITIVE, max_boxes=self.max_boxes, deadline=self.limits.deadline
        )
        if result.holds and result.proof is not None:
            self.proved.append(ProvedPolynomial(monomials, Sign.POSITIVE, result.proof))
        return bool(result.holds)

    def attempt(self, polynomial: fmpq_mpoly, max_boxes: int) -> SignResult:
        monomials = monomials_of(polynomial)
        result = prove_sign(monomials, self.box, max_boxes=max_boxes, deadline=self.limits.deadline)
        if result.holds and result.proof is not None:
            self.ways.add("bernstein")
            self.proved.append(ProvedPolynomial(monomials, Sign.NONNEGATIVE, result.proof))
            count = coefficient_count(monomials, len(self.box))
            self.counts["boxes"] = self.counts.get("boxes", 0) + sum(
                1 for _ in proof_boxes(result.proof, self.box)
            )
            self.counts["coefficients"] = self.counts.get("coefficients", 0) + count
        return result

    def without_squares(self, polynomial: fmpq_mpoly) -> SignResult:
        """Take squares out, where there are any: where these vanish inside the box, halving never ends."""
        root, rest = square_and_rest(polynomial)
        if root.is_constant():
            return SignResult(None)
        less = monomials_of(rest)
        result = prove_sign(less, self.box, max_boxes=self.max_boxes, deadline=self.limits.deadline)
        if result.holds and result.proof is not None:
            self.ways.add("bernstein")
            self.proved.append(
                ProvedPolynomial(
                    monomials_of(polynomial),
                    Sign.NONNEGATIVE,
                    Square(monomials_of(root), less, result.proof),
                )
            )
            return result
        if result.point is not None and evaluate(monomials_of(polynomial), result.point) < 0:
            return result
        return SignResult(None)

    def asked(self, polynomial: fmpq_mpoly) -> SignResult:
        """Ask Z3 about a polynomial that no reasonable number of boxes decided."""
        monomials = monomials_of(polynomial)
        result = refute_negative(
            monomials, self.box, self.model.parameter_names, deadline=self.limits.deadline
        )
        if result.holds:
            self.ways.add("z3")
            self.proved.append(ProvedPolynomial(monomials, Sign.NONNEGATIVE, None))
        return result

    def violated(self, difference: Difference, point: tuple[fmpq, ...]) -> ParametricProof:
        values = dict(zip(self.model.parameter_names, point, strict=True))
        fixed = self.model.at(values)
        probabilities = tuple(word_probability(fixed, name, difference.word) for name in self.pair)
        one, two = probabilities[0], probabilities[1]
        if not (one > self.ratio * two or two > self.ratio * one):  # pragma: no cover
            raise LimitError("a counterexample did not survive its exact check")
        self.ways = {"evaluation"}
        return self.answer(
            False,
            SequenceVerdict(
                word=tuple(self.model.observations[symbol] for symbol in difference.word),
                parameters=values,
                probabilities=(one, two),
            ),
        )


def square_and_rest(polynomial: fmpq_mpoly) -> tuple[fmpq_mpoly, fmpq_mpoly]:
    """Return a polynomial g of the largest degree, and h, with polynomial = g^2 h."""
    ring = polynomial.context()
    content, factors = polynomial.factor()
    root, rest = ring.constant(1), ring.constant(content)
    for factor, exponent in factors:
        root *= factor ** (int(exponent) // 2)
        rest *= factor ** (int(exponent) % 2)
    return root, rest
