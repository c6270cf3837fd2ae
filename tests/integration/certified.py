"""Questions to the engine whose answers count only with a proof that the independent checker accepts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from flint import fmpq

from bisimdist.checker import check_certificate
from bisimdist.distances.bound.answer import DistanceAnswer
from bisimdist.distances.bound.ask import bound
from bisimdist.exact.rational import ExactNumber
from bisimdist.faces.shown.answer import Status
from bisimdist.models.lmc import LMC
from bisimdist.progress import NEVER, Deadline
from tests.reference.bd_oracle import Distance, make_distance

__all__ = [
    "all_pairs",
    "certified",
    "check_answer",
    "exact_distance",
    "refusal",
    "upper_bounds",
]

Pairs = Sequence[tuple[str, str]]


def all_pairs(lmc: LMC) -> list[tuple[str, str]]:
    """Return all pairs of different states."""
    return list(combinations(lmc.states, 2))


def fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def refusal(certificate: dict[str, object]) -> str:
    """Return why the checker refuses a certificate, as JSON; empty where it accepts it."""
    return check_certificate(json.dumps(certificate)).reason


def check_answer(answer: DistanceAnswer) -> None:
    """Demand that the answer's certificate is valid and claims what the answer says, no less and no more."""
    report = check_certificate(json.dumps(answer.certificate()), json.dumps(answer.model.canonical()))
    assert report.valid, report.reason
    alpha = fraction(answer.alpha)
    said = [(p.source, p.target, fraction(p.upper), fraction(p.lower), alpha) for p in answer.pairs]
    claimed = [(c.source, c.target, c.upper, c.lower, c.alpha) for c in report.claims]
    assert claimed in (said, list(dict.fromkeys(said)))  # behind steps a pair is claimed something of once


def certified(
    lmc: LMC,
    alpha: ExactNumber,
    pairs: Pairs | None = None,
    *,
    precision: ExactNumber | None = None,
    deadline: Deadline = NEVER,
    jobs: int = 1,
) -> DistanceAnswer:
    """Answer for the given pairs (by default all), and demand the proof of the answer."""
    chosen = all_pairs(lmc) if pairs is None else pairs
    answer = bound(lmc, alpha, pairs=chosen, precision=precision, deadline=deadline, jobs=jobs)
    check_answer(answer)
    return answer


def upper_bounds(answer: DistanceAnswer) -> dict[tuple[str, str], fmpq]:
    """Return the upper bounds by pair."""
    return {(pair.source, pair.target): pair.upper for pair in answer.pairs}


def exact_distance(lmc: LMC, alpha: ExactNumber) -> Distance:
    """Return bd_alpha of all pairs as a matrix, demanding that every entry is exact and proved."""
    answer = certified(lmc, alpha)
    assert answer.status is Status.EXACT, answer.method
    assert all(pair.exact for pair in answer.pairs)
    values = {(lmc.index(pair.source), lmc.index(pair.target)): pair.upper for pair in answer.pairs}
    d = make_distance(lmc, lambda i, j: values[min(i, j), max(i, j)])
    assert all(d[i][j] == value for (i, j), value in values.items())
    return d
