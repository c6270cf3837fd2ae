"""What every answer says of itself: in what form it is written, and how the work on it ended."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import Protocol

FORMAT: dict[str, object] = {"schema": "bisimdist-answer", "version": 1}
"""What stands at the end of every JSON object; fields may be added without another version."""


class Model(Protocol):
    """What an answer says of the model that it is about."""

    def digest(self) -> str: ...

    def __len__(self) -> int: ...


def identity(model: Model) -> dict[str, object]:
    """Return how JSON answers name a model."""
    return {"digest": model.digest(), "states": len(model)}


class Status(Enum):
    """How the work on an answer ended; the bounds are certified in every case.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> bisimdist.bound(chain, 1).status
    <Status.EXACT: 'exact'>
    """

    EXACT = "exact"
    """Every bound is the distance itself."""
    BRACKET = "bracket"
    """The bounds are as close as the precision that was asked for."""
    UPPER = "upper"
    """The upper bounds are the best of direct couplings; the distance itself needs too many pairs."""
    LIMIT = "limit"
    """A limit or an interruption ended the work; the bounds are the best ones known by then."""

    def of_bounds(self, *, exact: bool) -> Status:
        """Return the status where other bounds take the place of some: exact only if these are, too."""
        return Status.BRACKET if self is Status.EXACT and not exact else self


def together(statuses: Collection[Status], *, exact: bool) -> Status:
    """Return the status of bounds that come from several answers: exact wherever they meet."""
    return Status.EXACT if exact else common_status([Status.BRACKET, *statuses])


def ended(status: Status, reason: str) -> dict[str, object]:
    """Return what JSON says of the end of the work: its status, and which limit it was, if one is known."""
    return {"status": status.value, **({"reason": reason} if reason and status is Status.LIMIT else {})}


def ending(sentences: Mapping[Status, str], status: Status, reason: str) -> tuple[str, ...]:
    """Return what a person is told of the end of the work, and which limit it was, where that is known."""
    if status not in sentences:
        return ()
    limit = (f"{reason[0].upper()}{reason[1:]}.",) if reason and status is Status.LIMIT else ()
    return sentences[status], *limit


def common_status(statuses: Collection[Status]) -> Status:
    """Return the weakest of the statuses, which is that of all of them together."""
    for status in (Status.LIMIT, Status.UPPER, Status.BRACKET):
        if status in statuses:
            return status
    return Status.EXACT
