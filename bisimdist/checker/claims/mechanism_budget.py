"""Certificates of kind ``mechanism-budget``: the exact budget of a built-in mechanism.

No symmetry is used here: every pair of neighbours and every answer is compared, in integers. The rules are
named M as in ``docs/certificates/hmm-proofs.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    choice,
    common,
    decimal_rational,
    digest_of,
    fraction_work,
    integer,
    item,
    product_work,
    rational,
    spend,
    text_of,
)
from bisimdist.checker.core.shape import Bound, CheckReport, Shape, bound, key, listed, one_of, raw, row

MAX_PAIRS = 3_000_000
MAX_LEVELS = 1_000

Results = tuple[int, ...]


class _Claim(Shape):
    """A ratio, and neighbours and an answer that attain it."""

    adjacency: str = key(one_of("one", "all"))
    ratio: Bound = key(bound)
    pair: list[list[int]] = key(listed(listed(integer)))
    answer: Any = key(raw)
    probabilities: tuple[str, str] = key(row(item, item))


class _Geometric(Shape):
    kind: str = key(raw)
    levels: int = key(integer)
    noise: Fraction = key(rational)
    queries: int = 1
    ties: str = ""


class _NoisyMax(_Geometric):
    queries: int = key(integer)
    ties: str = key(one_of("first", "uniform"))


class _Document(Shape):
    mechanism: Any = key(raw)
    claims: list[Any] = key(listed(raw))


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of kind ``mechanism-budget``; `model` must be None."""
    whole = _Document.whole(document)
    if len(whole.claims) != 1:
        raise MalformedCertificate("expected one claim")
    claim = _Claim.read(whole.claims[0], "the claim")
    claims: tuple[dict[str, object], ...] = tuple(all_of(whole.claims))
    try:
        if model is not None:
            raise RuleViolation("G2: the certificate is about a mechanism, not about a model")
        mechanism = _Mechanism.read(whole.mechanism)
        said = tuple({**claim, "mechanism": mechanism.settings} for claim in counted(claims))
        kind, digest = mechanism.settings["kind"], mechanism.digest()
        _check(mechanism, claim)
    except RuleViolation as violation:
        return CheckReport(False, (), str(violation), other_claims=claims)
    return CheckReport(True, (), other_claims=said, model_kind=kind, digest=digest)


class _Mechanism:
    """A built-in mechanism on tuples of query results."""

    def __init__(self, count: int, levels: int, noise: Fraction, ties: str) -> None:
        self.count, self.levels, self.ties = count, levels, ties
        queries = {"queries": str(count), "ties": ties} if ties else {}
        self.settings = {
            "kind": "noisy-max" if ties else "geometric",
            "levels": str(levels),
            "noise": decimal_rational(noise),
            **queries,
        }
        self.bits = 2 * levels * max(noise.denominator.bit_length(), 1)
        spend(fraction_work(self.bits, levels * levels))
        end, middle = 1 / (1 + noise), (1 - noise) / (1 + noise)
        self.noise = [
            [(end if y in (0, levels - 1) else middle) * noise ** abs(x - y) for y in counted(range(levels))]
            for x in counted(range(levels))
        ]

    @classmethod
    def read(cls, entry: object) -> _Mechanism:
        shapes: dict[str, type[_Geometric]] = {"noisy-max": _NoisyMax, "geometric": _Geometric}
        kind = entry.get("kind") if isinstance(entry, dict) else None
        data = shapes[choice(kind, "the mechanism", shapes)].read(entry, "the mechanism")
        count, levels, noise, ties = data.queries, data.levels, data.noise, data.ties
        if not (0 < noise < 1 and levels >= 2 and count >= 1):
            raise RuleViolation("M1: the mechanism has no such parameters")
        if count * levels > (64 if ties else MAX_LEVELS) or (3 * levels - 2) ** count > MAX_PAIRS:
            raise RuleViolation("M2: there are too many pairs of neighbours to check")
        return cls(count, levels, noise, ties)

    def digest(self) -> str:
        """Return the SHA-256 of the settings, numbers in lowest terms."""
        return digest_of(self.settings)

    def answers(self) -> list[str]:
        if not self.ties:
            return [str(y) for y in counted(range(self.levels))]
        return [str(i) for i in counted(range(1, self.count + 1))]

    def distribution(self, results: Results) -> list[Fraction]:
        """Return the probabilities of the answers."""
        if not self.ties:
            return list(all_of(self.noise[results[0]]))
        spend(fraction_work(self.bits * self.count, self.levels * self.count**2))
        wins = [Fraction(0)] * self.count
        for top in counted(range(self.levels)):
            less = [sum(all_of(self.noise[r][:top]), Fraction(0)) for r in counted(results)]
            same = [self.noise[r][top] for r in counted(results)]
            if self.ties == "first":
                for winner in counted(range(self.count)):
                    wins[winner] += (
                        same[winner]
                        * prod(less[:winner])
                        * prod(
                            a + b
                            for a, b in counted(zip(less[winner + 1 :], same[winner + 1 :], strict=True))
                        )
                    )
                continue
            for winner in counted(range(self.count)):
                wins[winner] += _shared_win(winner, less, same)
        return wins


def _shared_win(winner: int, less: Sequence[Fraction], same: Sequence[Fraction]) -> Fraction:
    """Return the probability to win where all that tie for the largest value win alike."""
    by_ties = [same[winner]]  # by the number of others that tie
    for other in counted(range(len(less))):
        if other != winner:
            longer = [chance * less[other] for chance in counted(by_ties)] + [Fraction(0)]
            for count, chance in counted(enumerate(by_ties)):
                longer[count + 1] += chance * same[other]
            by_ties = longer
    return sum((chance / (count + 1) for count, chance in counted(enumerate(by_ties))), Fraction(0))


def _check(mechanism: _Mechanism, claim: _Claim) -> None:
    inputs = list(all_of(product(range(mechanism.levels), repeat=mechanism.count)))
    exact = {results: mechanism.distribution(results) for results in counted(inputs)}
    _check_attained(mechanism, exact, claim)
    ratio = claim.ratio
    if ratio is None:
        return
    scale = common(p.denominator for chances in counted(exact.values()) for p in counted(chances))
    whole = {
        results: [int(p * scale) for p in counted(chances)] for results, chances in counted(exact.items())
    }
    above, below = ratio.numerator, ratio.denominator
    length = above.bit_length() + below.bit_length()
    for first in counted(inputs):
        left = [below * p for p in counted(whole[first])]
        for second in counted(_neighbours(mechanism, first, claim.adjacency)):
            spend(product_work(scale.bit_length(), length, len(left)))
            if any(a > above * b for a, b in counted(zip(left, whole[second], strict=True))):
                raise RuleViolation(f"M4: the ratio does not hold for the inputs {first} and {second}")


def _neighbours(mechanism: _Mechanism, first: Results, adjacency: str) -> Sequence[Results]:
    near = [[x for x in (a - 1, a, a + 1) if 0 <= x < mechanism.levels] for a in counted(first)]
    if adjacency == "all":
        return list(all_of(product(*near)))
    return [
        (*first[:k], x, *first[k + 1 :]) for k, options in counted(enumerate(near)) for x in counted(options)
    ]


def _check_attained(mechanism: _Mechanism, exact: Mapping[Results, list[Fraction]], claim: _Claim) -> None:
    pair, ratio = [tuple(all_of(results)) for results in counted(claim.pair)], claim.ratio
    if any(results not in exact for results in counted(pair)):
        raise RuleViolation("M3: the pair has an input that the mechanism does not take")
    if len(pair) != 2 or pair[1] not in _neighbours(mechanism, pair[0], claim.adjacency):
        raise RuleViolation("M3: the pair is none of neighbours")
    answers = mechanism.answers()
    if claim.answer not in answers:
        raise RuleViolation("M3: the mechanism has no such answer")
    one, two = (exact[results][answers.index(claim.answer)] for results in counted(pair))
    if (text_of(one), text_of(two)) != claim.probabilities:
        raise RuleViolation("M3: the probabilities of the answer are others")
    if (one == 0 or two != 0) if ratio is None else one != ratio * two:
        raise RuleViolation("M3: the pair does not attain the ratio")
