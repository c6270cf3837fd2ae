"""Is the number of every pair at most a threshold: any question whose answer has bounds, decided by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bisimdist.faces.asked.options import CSV, MATRIX
from bisimdist.faces.asked.question import Content, Plain, Question, Settled, joint

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.faces.asked.given import Given
    from bisimdist.faces.shown.tables import Report
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class AtMost(Question[Any]):
    """Whether what another question asks for is at most a threshold, for every pair."""

    # the other question; its answer has ``pairs`` with ``lower`` and ``upper``, None for infinity
    asked: Question[Any]
    threshold: fmpq  # the threshold; a tie holds
    logarithmic: bool = False  # whether the threshold is one of the logarithm of the bounds

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        raise NotImplementedError

    @property
    def command(self) -> str:  # type: ignore[override]
        """How the command of the other question is called."""
        return self.asked.command

    @property
    def tabled(self) -> Any:  # type: ignore[override]
        """What the pairs of the other question have."""
        return self.asked.tabled

    def hint(self) -> str:
        return self.asked.hint()

    def ask(self, limits: Limits) -> Any:
        return self.asked.ask(limits)

    def notes(self, answer: Any) -> list[str]:
        return self.asked.notes(answer)

    def _verdict(self, lower: fmpq | None, upper: fmpq | None) -> Settled:
        from bisimdist.exact.thresholds import below_exponential

        def below(bound: fmpq | None) -> bool:
            if bound is None or not self.logarithmic:
                return bound is not None and bool(bound <= self.threshold)
            return below_exponential(bound, self.threshold)

        return True if below(upper) else None if below(lower) else False

    def _verdicts(self, answer: Any) -> list[Settled]:
        return [self._verdict(pair.lower, pair.upper) for pair in answer.pairs]

    def settled(self, answer: Any) -> Settled:
        return joint(self._verdicts(answer))

    def unknown(self, reason: str) -> Plain | None:
        from bisimdist.faces.shown.bounds import decided_data

        known = self.asked.unknown(reason)
        if known is None:
            return None
        pairs: list[Any] = known.data["pairs"]  # type: ignore[assignment]
        verdicts = [self._verdict(None, _number(pair.get("upper"))) or None for pair in pairs]
        data = decided_data(known.data, self.threshold, verdicts)
        return replace(known, data=data, settled=joint(verdicts))

    def data(self, answer: Any) -> dict[str, object]:
        from bisimdist.faces.shown.bounds import decided_data

        data = self.asked.data(answer)
        assert isinstance(data, dict)
        return decided_data(data, self.threshold, self._verdicts(answer))

    def report(self, answer: Any) -> Report | str:
        from bisimdist.faces.shown.bounds import decided

        report = self.asked.report(answer)
        assert not isinstance(report, str)
        return decided(report, self.threshold, self._verdicts(answer))

    def report_of(self, answer: Any, places: Sequence[int], every: Sequence[Mapping[str, Any]]) -> Report:
        from bisimdist.faces.shown.bounds import decided

        verdicts = self._verdicts(answer)
        report = self.asked.report_of(answer, places, every)
        return decided(report, self.threshold, [verdicts[k] for k in places])

    def content(self, option: Any, path: str, answer: Any) -> Content:
        if option.name in {CSV.name, MATRIX.name}:
            return super(AtMost, self).content(option, path, answer)
        return self.asked.content(option, path, answer)

    def certificate(self, answer: Any) -> dict[str, object]:
        return self.asked.certificate(answer)


def _number(text: str | None) -> fmpq | None:
    """Return the number that a field of a JSON object names; None for infinity, or where there is none."""
    from bisimdist.exact.rational import to_fmpq

    return None if text in {None, "inf"} else to_fmpq(str(text))
