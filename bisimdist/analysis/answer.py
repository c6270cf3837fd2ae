"""Answers about a distance: bounds for each pair, how they were found, and their proof.

The bounds of an answer are plain ``fmpq`` under the names `upper` and `lower`, so that a user computes with
them directly; `PairBound.bracket` gives them with their direction in their type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from html import escape

from flint import fmpq

from bisimdist.analysis.proved import CertificateMaker, Proved
from bisimdist.errors import UsageError
from bisimdist.exact.bounds import Bracket, LowerBound, UpperBound
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.models.interactive import System
from bisimdist.verdicts import verdict_word

__all__ = ["DISTANCES", "CertificateMaker", "DistanceAnswer", "PairBound", "Status", "ThresholdAnswer"]

"""Writes the proof of an answer as plain data that ``json`` can write; called when somebody asks for it."""

MAX_ROWS = 200
"""How many pairs a page shows; it says how many it leaves out."""
DISTANCES = ("bd", "lbd")
"""The skewed bisimilarity distance (ATVA 2018), and the asymmetric one (CONCUR 2019)."""

SHORT = 24
DIGITS = 10


class Status(Enum):
    """How the work on an answer ended; the bounds are certified in every case."""

    EXACT = "exact"
    """Every bound is the distance itself."""
    BRACKET = "bracket"
    """The bounds are as close as the precision that was asked for."""
    UPPER = "upper"
    """The upper bounds are the best of direct couplings; the distance itself needs too many pairs."""
    LIMIT = "limit"
    """A limit or an interruption ended the work; the bounds are the best ones known by then."""


@dataclass(frozen=True, slots=True)
class PairBound:
    """Bounds on the distance of an ordered pair of states.

    Parameters
    ----------
    source, target
        The names of the two states.
    upper, lower
        Proved bounds, ``0 <= lower <= upper <= 1``.
    exact
        Whether `upper` is the distance itself, which is so where the bounds meet.
    directions
        For an asymmetric distance its bounds (lower, upper) from `source` and from `target`; the larger of
        both are those of the pair.

    Raises
    ------
    UsageError
        If the bounds contradict each other or what `exact` says.
    """

    source: str
    target: str
    upper: fmpq
    lower: fmpq
    exact: bool
    directions: tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.lower <= self.upper <= 1:
            raise UsageError(
                f"bounds {self.lower} and {self.upper} for the pair ({self.source}, {self.target}); "
                "expected 0 <= lower <= upper <= 1"
            )
        if self.exact != (self.lower == self.upper):
            raise UsageError(
                f"the pair ({self.source}, {self.target}) is exact where its bounds meet, and only there"
            )

    @classmethod
    def from_bracket(cls, source: str, target: str, bracket: Bracket) -> PairBound:
        """Make the bounds of a pair from bounds that carry their direction."""
        return cls(source, target, bracket.upper.value, bracket.lower.value, bracket.exact)

    @property
    def bracket(self) -> Bracket:
        """The two bounds with their direction in their type."""
        return Bracket(LowerBound(self.lower), UpperBound(self.upper))


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceAnswer(Proved):
    """Bounds on a distance for each pair that was asked, with their proof.

    Two answers are equal where they say the same: the way there (`method`, `statistics`) does not count.

    Parameters
    ----------
    model
        The chain, or the interactive model, that the answer is about.
    alpha
        The skew, at least 1.
    distance
        The name of the distance, such as ``"bd"``.
    pairs
        The bounds, in the order in which the pairs were asked.
    status
        How the work ended.
    method
        How the bounds were found, in words.
    statistics
        Counts of what was done (rounds, linear programs, ...), without any timing.
    make_certificate
        Writes the proof when it is asked for.

    References
    ----------
    .. [1] Chistikov, Murawski, Purser, "Bisimilarity Distances for Approximate Differential Privacy",
       ATVA 2018, Definition 12 and Lemma 2.
    """

    model: System
    alpha: fmpq
    distance: str
    pairs: tuple[PairBound, ...]
    status: Status
    method: str = field(default="", compare=False)
    statistics: Mapping[str, int | str] = field(default_factory=dict, compare=False)

    def _repr_html_(self) -> str:
        return _page(self, self.pairs, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdAnswer(Proved):
    """Whether a distance is at most a threshold, with the bounds that decide it.

    Parameters
    ----------
    model, alpha, distance, status, method, statistics, make_certificate
        As in `DistanceAnswer`.
    threshold
        The threshold theta.
    holds
        True where the distance is at most theta, False where it is above, None where that is not decided.
    bound
        The bounds known by then.

    Raises
    ------
    UsageError
        If `holds` is not what the bounds prove.
    """

    model: System
    alpha: fmpq
    distance: str
    threshold: fmpq
    holds: bool | None
    bound: PairBound
    status: Status
    method: str = field(default="", compare=False)
    statistics: Mapping[str, int | str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if self.holds is not self.bound.bracket.at_most(self.threshold):
            raise UsageError(
                f"holds={self.holds} is not what bounds {self.bound.lower} and {self.bound.upper} "
                f"prove about the threshold {self.threshold}"
            )

    @property
    def verdict(self) -> str:
        """The decision as a word: ``holds``, ``violated`` or ``unknown``."""
        return verdict_word(self.holds)

    def _repr_html_(self) -> str:
        return _page(self, (self.bound,), f"; at most {_number(self.threshold)}: <b>{self.verdict}</b>")


def _number(value: fmpq, *, up: bool = True) -> str:
    """Return a rational as HTML: as it is where that is short, else a decimal that says how it is rounded."""
    text = str(value)
    if len(text) <= SHORT:
        return text
    decimal, exact = decimal_above(value, DIGITS) if up else decimal_below(value, DIGITS)
    direction = "" if exact else f" (rounded {'up' if up else 'down'})"
    return f"{decimal}{direction}"


def _page(answer: DistanceAnswer | ThresholdAnswer, pairs: tuple[PairBound, ...], verdict: str) -> str:
    rows = "".join(
        f"<tr><td>{escape(pair.source)}</td><td>{escape(pair.target)}</td>"
        f"<td>{_number(pair.lower, up=pair.exact)}</td><td>{_number(pair.upper)}</td>"
        f"<td>{'yes' if pair.exact else 'no'}</td></tr>"
        for pair in pairs[:MAX_ROWS]
    )
    if len(pairs) > MAX_ROWS:
        rows += f"<tr><td colspan=5>and {len(pairs) - MAX_ROWS} more pairs</td></tr>"
    caption = f"{escape(answer.distance)} at alpha = {_number(answer.alpha)} ({answer.status.value}){verdict}"
    head = "".join(f"<th>{name}</th>" for name in ("from", "to", "lower", "upper", "exact"))
    table = f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    meaning = "(ln alpha, delta)-differentially private for each pair, with delta &le; its upper bound"
    return f"{table}<p>{meaning}</p>"
