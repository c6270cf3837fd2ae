"""Whether an additive trace metric compares single traces or sets of traces, and what one says of the other.

Source: CCP18 Theorem 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from bisimdist.errors import UsageError
from bisimdist.exact.number import Exact
from bisimdist.exact.scale import Scale
from bisimdist.models.ends import Ends
from bisimdist.verdicts import Settled, verdict_word

Of = Literal["traces", "sets"]
SINGLE: Of = "traces"  # the metric compares the probabilities of each single trace
SETS: Of = "sets"
"""The metric compares the probabilities of each set of traces: this is the total variation distance."""
SAID: Mapping[Of, str] = MappingProxyType({SINGLE: "of single traces", SETS: "of sets of traces"})


def checked_of(of: str, kind: Scale, length: int | None, ends: Ends | str) -> Of:
    """Return what a metric compares; refuse sets of traces where they are not compared.

    Raises UsageError if there is nothing of this name; for sets if the metric is multiplicative, a length is
    given, or ends are hidden.
    """
    if of == SINGLE:
        return SINGLE
    if of != SETS:
        raise UsageError(f"the metric is of {of!r}; expected 'traces' or 'sets'")
    if kind is Scale.MULTIPLICATIVE:
        raise UsageError(
            "sets of traces are for the additive metric: the multiplicative one is the same for single traces"
        )
    if length is not None:
        raise UsageError("sets of traces have traces of all lengths; leave the length out")
    if ends in {Ends.HIDDEN, Ends.HIDDEN.value}:
        raise UsageError("a set of traces tells which runs have ended; expected visible ends")
    return SETS


def rest_of(of: Of) -> Of:
    """Return the other one."""
    return SINGLE if of == SETS else SETS


class TwoVerdicts:
    """An answer about single traces or sets of traces that knows a verdict on both.

    It has the fields `of`, `other` (the answer of the other one, or None), `kind` and `threshold`.
    """

    __slots__ = ()

    of: Of
    other: Any
    kind: Scale
    threshold: Exact | None

    def at_most(self, epsilon: Any) -> Settled:
        raise NotImplementedError

    def verdict_of(self, of: Of) -> Settled:
        """Tell whether the distances of single traces, or those of sets of traces, are at most `threshold`.

        A single trace is a set, so the distance of single traces is at most that of sets of traces.

        Returns None where that is not known, or where no threshold was given.
        """
        if self.threshold is None:
            return None
        mine: Settled = self.at_most(self.threshold)
        if self.of == of:
            return mine
        if self.other is not None:
            found: Settled = self.other.at_most(self.threshold)
            return found
        return mine if mine is (of == SINGLE) else None

    @property
    def anonymity(self) -> bool:
        """Whether the question about sets of traces is weak anonymity."""
        return True

    @property
    def verdicts(self) -> dict[str, str]:
        """Both verdicts as words, by `of`; empty where there is but one question."""
        if self.kind is Scale.MULTIPLICATIVE or self.threshold is None:
            return {}
        return {of: verdict_word(self.verdict_of(of)) for of in SAID}

    def both_remarks(self) -> list[str]:
        """Say both verdicts to a person; without a threshold, what else there is to ask."""
        if self.kind is Scale.ADDITIVE and self.threshold is None and self.of == SINGLE:
            return ["Sets of traces can be further apart: see --of sets."]
        names = {SINGLE: "Of single traces", SETS: f"Of sets of traces{' (weak anonymity)' * self.anonymity}"}
        verdicts = zip(names.items(), self.verdicts.values(), strict=False)
        return [f"{name}: {verdict}{self._why(of, verdict)}." for (of, name), verdict in verdicts]

    def _why(self, of: Of, verdict: str) -> str:
        """Return what shows a verdict where the pairs above do not."""
        if of == self.of:
            return ""
        if self.other is None:
            if verdict == "unknown":
                return ", they are compared at all lengths, with ends that are seen"
            return ", since every single trace is a set of traces"
        against: list[str] = self.other.against()
        return f"; {against[0]}" if against else ""
