"""Answers about chains with parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.bernstein import Box
from bisimdist.exact.decimals import decimal_below
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import format_rational, shorten_rational
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.numbers import at_least, at_most
from bisimdist.faces.shown.plain import plain, said
from bisimdist.faces.shown.proved import Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.models.parametric import ParametricChain
from bisimdist.privacy.engine.best import Best
from bisimdist.privacy.engine.pieces import Pieces
from bisimdist.privacy.synthesise.certificate import Claim, parametric_certificate
from bisimdist.verdicts import joint, verdict_word

MakeClaim = Callable[[], Claim]


@dataclass(frozen=True, slots=True)
class PiecesPair(Numbers):
    """Delta of a pair as a function of a parameter."""

    source: str  # source and target: the names of the two states
    target: str
    pieces: Pieces  # the function, with a break wherever some event begins or ceases to be worth it
    claim: MakeClaim = field(repr=False, compare=False)

    def data(self) -> dict[str, object]:
        """Return the function as plain data; pieces that are the same are one."""
        merged = self.pieces.merged()
        return {
            **said(self, "source target"),
            "breaks": [said(root, "polynomial low high") for root in merged.breaks],
            "pieces": [str(value) for value in merged.values],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PiecesAnswer(Shown):
    """Delta of pairs as a function of the parameter of a chain.

    Parameters
    ----------
    model, alpha
        What was asked about.
    interval
        The values of the parameter that were looked at.
    pairs
        The functions.

    Examples
    --------
    >>> import bisimdist
    >>> ring = bisimdist.build_any_example("dining-cryptographers,n=2,bias=p")
    >>> bisimdist.privacy.delta_over(ring, 1).pairs[0].data()["pieces"]
    ['4*p^2 - 4*p + 1']
    """

    command = "delta"

    model: ParametricChain = field(repr=False)
    alpha: Exact
    interval: tuple[Exact, Exact]
    pairs: tuple[PiecesPair, ...]
    status: Status = Status.EXACT

    def report(self) -> Report:
        name = self.model.parameter_names[0]
        low, high = map(shorten_rational, self.interval)
        rows = []
        remarks: list[str] = []
        for pair in self.pairs:
            merged = pair.pieces.merged()
            ends = [low, *(_shown(root.low, root.high) for root in merged.breaks), high]
            for left, right, value in zip(ends, ends[1:], merged.values, strict=False):
                rows.append((pair.source, pair.target, f"{left} to {right}", str(value)))
            roots = dict.fromkeys(str(root.polynomial) for root in merged.breaks if not root.rational)
            if roots:
                zeros = ", ".join(roots)
                remarks.append(
                    f"({pair.source}, {pair.target}): breaks that are rounded are zeros of {zeros}."
                )
        return Report(
            heading=f"delta at alpha = {shorten_rational(self.alpha)} as a function of {name}",
            columns=("from", "to", name, "delta"),
            rows=tuple(rows),
            remarks=tuple(remarks),
        )

    def certificate(self) -> dict[str, object]:
        """Return the proof, as plain data that ``json.dumps`` writes."""
        claims = [pair.claim() for pair in self.pairs]
        return parametric_certificate(self.model, "delta", self.alpha, claims)


UNDECIDED = (
    "a threshold that is nearly attained takes many boxes, and one that is attained may take for ever."
)


@dataclass(frozen=True, slots=True)
class BoxPair(Numbers):
    """Whether a threshold holds for a pair for all values in a box."""

    source: str  # source and target: the names of the two states
    target: str
    holds: bool | None  # None where that is not decided
    # at and value: values of the parameters for which it does not hold, and what delta (or bd) is there, at
    # least
    at: Mapping[str, Exact] | None
    value: Exact | None
    claim: MakeClaim | None = field(default=None, repr=False, compare=False)

    def data(self) -> dict[str, object]:
        return {
            **said(self, "source target"),
            "verdict": verdict_word(self.holds),
            **said(self, "at"),
            "lower": plain(self.value),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxAnswer(Shown):
    """Whether a threshold holds for all values of the parameters in a box.

    Parameters
    ----------
    model, alpha, threshold, box, distance
        What was asked.
    pairs
        The verdicts.

    Examples
    --------
    >>> import bisimdist
    >>> ring = bisimdist.build_any_example("dining-cryptographers,n=2,bias=p")
    >>> bisimdist.privacy.delta_for_all(ring, 1, "1/4", box={"p": ("1/4", "3/4")}).holds
    True
    """

    command = "delta"

    model: ParametricChain = field(repr=False)
    alpha: Exact
    threshold: Exact
    box: Box
    distance: str
    pairs: tuple[BoxPair, ...]

    @property
    def holds(self) -> bool | None:
        """Whether it holds for all pairs; None where that is not decided."""
        return joint([pair.holds for pair in self.pairs])

    def ends(self) -> dict[str, str]:
        """Return the box for a person."""
        return {
            name: f"[{shorten_rational(low)}, {shorten_rational(high)}]"
            for name, (low, high) in zip(self.model.parameter_names, self.box, strict=True)
        }

    def report(self) -> Report:
        box = ", ".join(f"{name} in {ends}" for name, ends in self.ends().items())
        rows, remarks = [], []
        for pair in self.pairs:
            rows.append((pair.source, pair.target, verdict_word(pair.holds)))
            if pair.at is not None and pair.value is not None:
                where = ", ".join(f"{name} = {shorten_rational(x)}" for name, x in pair.at.items())
                remarks.append(f"({pair.source}, {pair.target}): for {where} it is {at_least(pair.value)}.")
            if pair.holds is None:
                remarks.append(f"({pair.source}, {pair.target}): not decided in this time; {UNDECIDED}")
        return Report(
            heading=f"{self.distance} at alpha = {shorten_rational(self.alpha)}: "
            f"at most {shorten_rational(self.threshold)} for all {box}?",
            columns=("from", "to", "verdict"),
            rows=tuple(rows),
            remarks=tuple(remarks),
        )

    def certificate(self) -> dict[str, object]:
        """Return the proof, as plain data that ``json.dumps`` writes.

        Raises
        ------
        UsageError
            If a pair is not decided.
        """
        claims = [pair.claim() for pair in self.pairs if pair.claim is not None and pair.holds is not None]
        if len(claims) < len(self.pairs):
            raise UsageError("a pair is not decided, so there is no proof to write")
        return parametric_certificate(self.model, self.distance, self.alpha, claims)


@dataclass(frozen=True, slots=True)
class BestPair(Numbers):
    """The best value of an expression for a pair."""

    source: str  # source and target: the names of the two states
    target: str
    best: Best  # bounds on the value, and where it nearly is
    # the irreducible polynomial that the value is a zero of, the only one between the bounds, if known
    polynomial: str | None
    claim: MakeClaim = field(repr=False, compare=False)
    # with several parameters their values where the lower bound is attained
    point: Mapping[str, Exact] | None = None

    def data(self) -> dict[str, object]:
        numbers = {"lower": self.best.lower, "upper": self.best.upper, "at": self.best.at}
        point = {} if self.point is None else {"at": {n: format_rational(x) for n, x in self.point.items()}}
        return {
            "from": self.source,
            "to": self.target,
            **{name: None if x is None else format_rational(x) for name, x in numbers.items()},
            **point,
            "exact": self.best.lower is not None and self.best.width == 0,
            "polynomial": self.polynomial,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BestAnswer(Shown):
    """The best value of an expression over the parameter while delta is at most a number, for each pair.

    Parameters
    ----------
    model, alpha, maximise, at_most
        What was asked.
    pairs
        The values.
    status
        Whether the bounds are as close as was asked.

    Examples
    --------
    >>> import bisimdist
    >>> ring = bisimdist.build_any_example("dining-cryptographers,n=2,bias=p")
    >>> bisimdist.synthesise(ring, 1, "p", "1/4").pairs[0].best.upper
    3/4
    """

    command = "synthesise"

    model: ParametricChain = field(repr=False)
    alpha: Exact
    maximise: str
    at_most: Exact
    pairs: tuple[BestPair, ...]
    status: Status

    def report(self) -> Report:
        name = ", ".join(self.model.parameter_names)
        rows, remarks = [], []
        for pair in self.pairs:
            best = pair.best
            if best.upper is None:
                rows.append((pair.source, pair.target, "none", "none", ""))
                remarks.append(f"({pair.source}, {pair.target}): delta is more than that for all values.")
                continue
            lower = "unknown" if best.lower is None else at_least(best.lower)
            at = "" if best.at is None else shorten_rational(best.at)
            if pair.point is not None:
                at = ", ".join(map(shorten_rational, pair.point.values()))
            rows.append((pair.source, pair.target, lower, at_most(best.upper), at))
            if pair.polynomial is not None:
                zero = f"the zero of {pair.polynomial} between them"
                remarks.append(f"({pair.source}, {pair.target}): the best value is {zero}.")
        return Report(
            heading=f"The largest {self.maximise} with delta at alpha = {shorten_rational(self.alpha)} "
            f"at most {shorten_rational(self.at_most)}",
            columns=("from", "to", "at least", "at most", f"attained with {name} ="),
            rows=tuple(rows),
            remarks=tuple(remarks),
        )

    def certificate(self) -> dict[str, object]:
        """Return the proof of both bounds, as plain data that ``json.dumps`` writes."""
        return parametric_certificate(self.model, "delta", self.alpha, [pair.claim() for pair in self.pairs])


def _shown(low: fmpq, high: fmpq) -> str:
    """Return a break for a person: a number, or decimals of an interval."""
    return shorten_rational(low) if low == high else f"{decimal_below(low, 6)[0]}..."
