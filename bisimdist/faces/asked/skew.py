"""Alpha, or the epsilon that stands for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.errors import UsageError
from bisimdist.faces.asked.options import ALPHA, EPSILON

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.faces.asked.given import Given


@dataclass(frozen=True, slots=True)
class Skew:
    """One of the two, as it was given."""

    alpha: fmpq | None
    epsilon: fmpq | None

    @property
    def said(self) -> dict[str, fmpq | None]:
        """Both, as functions of the package take them."""
        return {"alpha": self.alpha, "epsilon": self.epsilon}

    @property
    def shown_epsilon(self) -> str | None:
        """Epsilon as a text; None where alpha was given."""
        from bisimdist.exact.rational import format_rational

        return None if self.epsilon is None else format_rational(self.epsilon)


def read_skew(given: Given, alpha: str | None = None) -> Skew:
    """Return what was given, or that alpha where nothing is."""
    texts = [given.values.get(option.name) for option in (ALPHA, EPSILON)]
    if texts == [None, None] and alpha is not None:
        return Skew(ALPHA.read(ALPHA.flag, alpha), None)
    if (texts[0] is None) == (texts[1] is None):
        which = "neither" if texts[0] is None else "both"
        raise UsageError(f"{which} of --alpha and --epsilon given; expected one of them")
    return Skew(given[ALPHA], given[EPSILON])


def read_optional_skew(given: Given) -> Skew:
    """Return what was given, which may be nothing."""
    skew = Skew(given[ALPHA], given[EPSILON])
    if None not in (skew.alpha, skew.epsilon):
        raise UsageError("both of --alpha and --epsilon given; expected one of them, or none")
    return skew
