"""The measures of leakage by name, and what each of them asks of the graph of information states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import fmpq

from bisimdist.errors import UsageError

if TYPE_CHECKING:
    from bisimdist.privacy.engine.leakages import Rows

DIVERGENCES = ("tv", "chi2", "kl", "hellinger", "renyi")
SECRET_MEASURES = ("bayes", "min-entropy", "g")
MOST_ORDER = 1000

_ZERO, _ONE = fmpq(0), fmpq(1)


@dataclass(frozen=True, slots=True)
class LeakageMeasure:
    """A measure: what it is called, with its order or its gains."""

    name: str  # one of `DIVERGENCES` or `SECRET_MEASURES`
    order: int | None = None  # the order of Rényi's divergence
    # for ``g`` the gains of guesses, by guess and secret; secrets that are not named gain nothing
    gains: Mapping[str, Mapping[str, fmpq]] | None = None
    shown: str = ""  # how the answer calls it

    @property
    def of_secrets(self) -> bool:
        """Whether it is about secrets with a prior, and not about ordered pairs."""
        return self.name in SECRET_MEASURES

    @property
    def unbounded(self) -> bool:
        return self.name in ("kl", "chi2", "renyi")

    @property
    def logarithmic(self) -> bool:
        """Whether it is a logarithm: of the bounds (Rényi, min-entropy), or by itself (KL)."""
        return self.name in ("kl", "renyi", "min-entropy")

    @property
    def kind(self) -> tuple[str, int | None]:
        """What the graph sums up, and its order."""
        names = {"chi2": "power", "renyi": "power", "kl": "relative", "hellinger": "affinity"}
        return names.get(self.name, "guesses"), 2 if self.name == "chi2" else self.order

    def worlds(self, states: Sequence[int], secrets: Sequence[str], prior: Sequence[fmpq]) -> Rows:
        """Return the rows of masses that the graph starts from."""
        if self.name == "tv":
            return {}, _added([(states[0], _ONE), (states[1], -_ONE)])
        if not self.of_secrets:
            return {states[0]: _ONE}, {states[1]: _ONE}
        weighted = list(zip(states, secrets, prior, strict=True))
        if self.gains is None:
            return tuple({state: p} for state, _, p in weighted)
        return tuple(
            _added([(state, p * row.get(secret, _ZERO)) for state, secret, p in weighted])
            for row in self.gains.values()
        )

    def transform(self, worlds: Rows) -> tuple[fmpq, fmpq]:
        """Return (offset, factor): the measure is so much plus so often the sum over traces."""
        if self.name == "chi2":
            return -_ONE, _ONE
        if self.name == "hellinger":
            return fmpq(2), fmpq(2)
        if self.name == "min-entropy":
            return _ZERO, 1 / self.before(worlds)
        return _ZERO, _ONE

    @staticmethod
    def before(worlds: Rows) -> fmpq:
        """Return what the best guess gains that is made without seeing a trace."""
        return max(sum(row.values(), _ZERO) for row in worlds)

    @property
    def least(self) -> fmpq | None:
        return None if self.name == "g" else _ONE if self.name in ("renyi", "min-entropy") else _ZERO

    @property
    def most(self) -> fmpq | None:
        return {"tv": _ONE, "hellinger": fmpq(2), "bayes": _ONE}.get(self.name)


def _added(entries: Sequence[tuple[int, fmpq]]) -> Mapping[int, fmpq]:
    row: dict[int, fmpq] = {}
    for state, value in entries:
        row[state] = row.get(state, _ZERO) + value
    return row


def read_measure(text: str, gains: Mapping[str, Mapping[str, fmpq]] | None = None) -> LeakageMeasure:
    """Return the measure that a text names.

    text: ``tv``, ``chi2``, ``kl``, ``hellinger``, ``renyi:BETA`` with an integer of at least 2, ``bayes``,
        ``min-entropy`` or ``g``, which may be followed by a colon and where its gains come from.
    gains: for ``g``: by guess and secret.
    Raises UsageError if there is no such measure.

    >>> read_measure("renyi:3").order
    3
    """
    name, _, rest = text.partition(":")
    if name == "g":
        if not gains:
            raise UsageError(f"{text}: the measure g needs the gains of at least one guess")
        return LeakageMeasure(name, gains=gains, shown=text)
    if name == "renyi":
        if not (rest.isascii() and rest.isdigit()) or not 2 <= int(rest[:9]) <= MOST_ORDER:
            raise UsageError(f"{text}: expected an integer order from 2 to {MOST_ORDER}, such as renyi:2")
        return LeakageMeasure(name, int(rest), shown=f"renyi:{int(rest)}")
    if rest or name not in (*DIVERGENCES, *SECRET_MEASURES):
        known = "tv, chi2, kl, hellinger, renyi:BETA, bayes, min-entropy or g:FILE"
        raise UsageError(f"{text}: there is no such measure; expected {known}")
    return LeakageMeasure(name, shown=name)
