"""Answers about a distance: bounds for each pair, how they were found, their proof, and how they are shown.

The bounds of an answer are plain ``fmpq`` under the names `upper` and `lower`, so that a user computes with
them directly; `PairBound.bracket` gives them with their direction in their type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from flint import fmpq

from bisimdist.errors import BisimdistError
from bisimdist.exact.number import Exact
from bisimdist.faces.shown.answer import Status, ended, ending
from bisimdist.faces.shown.bounds import bounds_table, decided, decided_data, long_hint, privacy_level
from bisimdist.faces.shown.numbers import at_most, interval, short_rational
from bisimdist.faces.shown.pair_bounds import Names, PairBound, PairBounds
from bisimdist.faces.shown.pair_rows import PairRows
from bisimdist.faces.shown.pair_table import largest
from bisimdist.faces.shown.proved import OnlyHere, Proved, Shown, no_parts
from bisimdist.faces.shown.tables import Report, beginning, not_shown
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.kinds import StateModel
from bisimdist.models.lmc import LMC
from bisimdist.reductions.chain import straight
from bisimdist.verdicts import verdict_word

if TYPE_CHECKING:
    from bisimdist.faces.shown.proof_pictures import Picture

DISTANCES = ("bd", "lbd")
"""The skewed bisimilarity distance (ATVA 2018), and the asymmetric one (CONCUR 2019)."""

MAX_DRAWN = 2_000  # where a distance rests on more pairs, a coupling is drawn only for who asks for it

ALL_PAIRS = "--json and --csv have all, --top N the largest"

MAX_DIRECTIONS = 10
"""For so many pairs a person is told both directions of an asymmetric distance; JSON has all."""

ENDINGS = {
    Status.BRACKET: "The bounds are certified and as close to the distances as you asked.",
    Status.UPPER: "The upper bounds are certified; that they are attained is not known.",
    Status.LIMIT: "A limit ended the work before the distances were known; what is shown is certified.",
}


Named: TypeAlias = "Sequence[tuple[PairBound, tuple[str, str]]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceAnswer(Shown, Proved):
    """Bounds on a distance for each pair in question, with their proof.

    Two answers are equal where they say the same: the way there (`method`, `statistics`) does not count.

    Source: CMP18, Definition 12 and Lemma 2.

    Parameters
    ----------
    model
        The chain, or the interactive model, that the answer is about.
    alpha
        The skew, at least 1.
    distance
        The name of the distance, such as ``"bd"``.
    pairs
        The bounds, in the order in which the pairs were asked; each is made where it is looked at.
    status
        How the work ended.
    method
        How the bounds were found, in words.
    statistics
        Counts of what was done (rounds, linear programs, ...), without any timing.
    reason
        Which limit ended the work, where one did and it is known.
    make_certificate
        Writes the proof when it is asked for.
    make_parts
        Writes it with compact tables, part by part.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> answer = bisimdist.bound(chain, "11/10")
    >>> answer.pairs[0].upper, answer.status.value
    (4/25, 'exact')
    """

    command = "bound"

    model: StateModel
    alpha: Exact
    distance: str
    pairs: Sequence[PairBound]
    status: Status
    method: str = field(default="", compare=False)
    statistics: Mapping[str, int | str] = field(default_factory=dict, compare=False)
    reason: str = field(default="", compare=False)
    make_parts: Callable[..., Iterator[bytes]] = field(default=no_parts, repr=False, compare=False)

    def __post_init__(self) -> None:
        Proved.__post_init__(self)
        object.__setattr__(self, "make_parts", OnlyHere(self.make_parts))

    def compact_certificate(self) -> Iterator[bytes]:
        """Return the proof of the answer with compact tables, part by part: for tables of many pairs.

        Raises
        ------
        UsageError
            If there is none, or the answer comes from another process.
        """
        return self.make_parts()

    def coupling(self, source: str | None = None, target: str | None = None) -> Picture:
        """Draw the coupling behind the bound on a pair: what its cost is made of.

        Parameters
        ----------
        source, target
            Two states that the proof speaks of; by default the pair with the largest bound, of those that
            labels alone do not settle.

        Raises
        ------
        UsageError
            If there is no coupling: nothing has to be moved, or nothing may be.
        """
        from bisimdist.distances.bound.one_coupling import one_coupling  # noqa: PLC0415 (most answers are not drawn)
        from bisimdist.faces.shown.proof_pictures import Picture, coupling_svg  # noqa: PLC0415

        worst = self._worst()
        names = source or worst.source, target or worst.target
        pairs, simple = self.pairs, self.alpha == 1 and self.distance == "bd" and type(self.model) is LMC
        if self._many and simple and isinstance(pairs, PairBounds) and isinstance(self.model, LMC):
            proof = one_coupling(self.model, *names, lambda pair: pairs.known.bounds(pair)[1])
        else:
            proof = self.certificate()
        return Picture(coupling_svg(proof, *names))

    def _worst(self) -> PairBound:
        """Return the pair with the largest bound, if it can be one that labels alone do not settle."""
        rows, pairs = self.rows(), self.pairs
        (place,) = largest(rows, 1)
        if isinstance(pairs, PairBounds) and isinstance(self.model, LMC) and pairs[place].upper == 1:
            classes = distinguishable_classes(self.model)
            near = (k for k in largest(rows, len(rows)) if len({classes[s] for s in pairs.asked[k]}) == 1)
            place = next(near, place)
        return pairs[place]

    @property
    def _many(self) -> bool:
        """Whether the distance rests on so many pairs that their proof takes long to write."""
        pairs = self.statistics.get("pairs", MAX_DRAWN + 1)
        return not isinstance(pairs, int) or pairs > MAX_DRAWN

    def picture(self) -> str:
        if self._many:
            return ""
        with suppress(BisimdistError):
            return self.coupling().svg
        return ""

    def names(self) -> Names:
        """Return the names of the pairs."""
        if isinstance(self.pairs, PairBounds):
            return self.pairs.names()
        return [(pair.source, pair.target) for pair in self.pairs]

    def rows(self, asked: Names | None = None, more: Sequence[Mapping[str, object]] = ()) -> PairRows:
        """Return what JSON says of each pair, under the names by which the pairs were asked."""
        return PairRows(self.pairs, self.distance, self.names() if asked is None else asked, more)

    def data(self, asked: Names | None = None) -> dict[str, object]:
        """Return the answer as plain data, under the names by which the pairs were asked."""
        return {"pairs": list(self.rows(asked)), **ended(self.status, self.reason)}

    def _unmade(self) -> dict[str, object]:
        return {"pairs": self.rows(), **ended(self.status, self.reason)}

    def report(
        self, asked: Names | None = None, epsilon: str | None = None, places: Sequence[int] | None = None
    ) -> Report:
        """Return the answer for a person, and what it means.

        Parameters
        ----------
        asked
            The names by which the pairs were asked.
        epsilon
            What was asked instead of alpha, where it was.
        places
            Which of the pairs are shown; by default the first ones.
        """
        names = self.names() if asked is None else asked
        count = len(self.pairs)
        chosen = beginning(range(count)) if places is None else places
        named = [(self.pairs[k], names[k]) for k in chosen]
        table = [(*names, pair.lower, pair.upper) for pair, names in named]
        columns, rows = bounds_table(self.distance, table)
        return Report(
            heading=_heading(self.distance, self.alpha, epsilon),
            columns=columns,
            rows=rows,
            remarks=(
                _meaning(self.alpha, epsilon, named),
                *_directions(named, self.distance),
                *ending(ENDINGS, self.status, self.reason),
                *(not_shown(count, "pairs", ALL_PAIRS) if places is None else ()),
                *(line for step in straight(self.model)[1] for line in step.said(self.distance)),
                *long_hint([self.alpha, *(bound for *_, low, high in table for bound in (low, high))]),
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdAnswer(DistanceAnswer):
    """Whether the distance of one pair is at most a threshold, with the bounds that decide it.

    Parameters
    ----------
    threshold
        The threshold theta; all else is as in `DistanceAnswer`.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> bisimdist.distances.bd_threshold(chain, 1, "s0", "s1", "1/10").verdict
    'violated'
    """

    threshold: Exact

    @property
    def bound(self) -> PairBound:
        """The bounds known by then."""
        return self.pairs[0]

    @property
    def holds(self) -> bool | None:
        """Whether the distance is at most theta; None where that is not decided."""
        return self.bound.bracket.at_most(self.threshold)

    @property
    def verdict(self) -> str:
        """The decision as a word: ``holds``, ``violated`` or ``unknown``."""
        return verdict_word(self.holds)

    def data(self, asked: Names | None = None) -> dict[str, object]:
        return decided_data({"pairs": list(self.rows(asked))}, self.threshold, [self.holds])

    def _unmade(self) -> dict[str, object]:
        return self.data()

    def report(
        self, asked: Names | None = None, epsilon: str | None = None, places: Sequence[int] | None = None
    ) -> Report:
        report = DistanceAnswer.report(self, asked, epsilon, places)
        return decided(report, self.threshold, [self.holds])


def _meaning(alpha: fmpq, epsilon: str | None, named: Named) -> str:
    """Say in words what the upper bounds mean."""
    level, value = privacy_level(alpha, epsilon)
    where, delta = "for each pair", "its upper bound"
    if len(named) == 1:
        ((pair, names),) = named
        where, delta = f"for the pair ({', '.join(names)})", at_most(pair.upper).removeprefix("<= ")
    return f"The model is ({level}, delta)-differentially private {where} with delta <= {delta}{value}."


def _heading(distance: str, alpha: fmpq, epsilon: str | None) -> str:
    rounded = "" if epsilon is None else f", which is e^({epsilon}) rounded down"
    return f"{distance} at alpha = {short_rational(alpha)}{rounded}"


def _directions(named: Named, distance: str) -> list[str]:
    """Say how an asymmetric distance differs by direction; of many pairs, of none."""
    if len(named) > MAX_DIRECTIONS:
        return []
    lines = []
    for pair, (source, target) in named:
        if pair.directions is not None:
            there, back = (
                at_most(high) if low == high else interval(low, high) for low, high in pair.directions
            )
            ways = f"from {source} to {target} it is {there}, from {target} to {source} {back}"
            lines.append(f"{distance} is asymmetric: {ways}; the larger counts.")
    return lines
