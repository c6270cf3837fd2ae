"""Is the number of every pair at most a threshold: any question whose answer has bounds, decided by them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bisimdist.questions.question import Plain, Question, Settled, joint, verdict_word

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.progress import Limits
    from bisimdist.questions.given import Given
    from bisimdist.report.tables import Report

__all__ = ["AtMost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AtMost(Question[Any]):
    """Whether what another question asks for is at most a threshold, for every pair.

    Parameters
    ----------
    asked
        The other question; its answer has ``pairs`` with ``lower`` and ``upper``, None for infinity.
    threshold
        The threshold; a tie holds.
    logarithmic
        Whether the threshold is one of the logarithm of the bounds.
    """

    asked: Question[Any]
    threshold: fmpq
    logarithmic: bool = False

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        raise NotImplementedError

    @property
    def command(self) -> str:  # type: ignore[override]
        """How the command of the other question is called."""
        return self.asked.command

    def ask(self, limits: Limits) -> Any:
        return self.asked.ask(limits)

    def notes(self, answer: Any) -> list[str]:
        return self.asked.notes(answer)

    def _below(self, bound: fmpq | None) -> bool:
        from bisimdist.exact.thresholds import below_exponential

        if bound is None:
            return False
        return below_exponential(bound, self.threshold) if self.logarithmic else bool(bound <= self.threshold)

    def _verdicts(self, answer: Any) -> list[Settled]:
        return [
            True if self._below(pair.upper) else None if self._below(pair.lower) else False
            for pair in answer.pairs
        ]

    def settled(self, answer: Any) -> Settled:
        return joint(self._verdicts(answer))

    def _decided(self, data: dict[str, Any], verdicts: list[Settled]) -> dict[str, object]:
        from bisimdist.exact.rational import format_rational

        words = [verdict_word(verdict) for verdict in verdicts]
        pairs = [{**pair, "verdict": word} for pair, word in zip(data["pairs"], words, strict=True)]
        first: dict[str, object] = {
            "threshold": format_rational(self.threshold),
            "verdict": verdict_word(joint(verdicts)),
        }
        named: dict[str, object] = {name: data[name] for name in ("command", "model") if name in data}
        return {**named, **first, **data, "pairs": pairs}

    def unknown(self, reason: str) -> Plain | None:
        known = self.asked.unknown(reason)
        if known is None:
            return None
        pairs: list[Any] = known.data["pairs"]  # type: ignore[assignment]
        return replace(known, data=self._decided(known.data, [None] * len(pairs)))

    def data(self, answer: Any) -> dict[str, object]:
        data = self.asked.data(answer)
        assert isinstance(data, dict)
        return self._decided(data, self._verdicts(answer))

    def report(self, answer: Any) -> Report | str:
        from bisimdist.exact.rational import format_rational

        report = self.asked.report(answer)
        assert not isinstance(report, str)
        what = f"at most {format_rational(self.threshold)}"
        words = [
            f"({pair.source}, {pair.target}) {what}: {verdict_word(verdict)}."
            for pair, verdict in zip(answer.pairs, self._verdicts(answer), strict=True)
        ]
        return replace(report, remarks=(*words, *report.remarks))

    def content(self, option: Any, path: str, answer: Any) -> str | bytes:
        return self.asked.content(option, path, answer)

    def certificate(self, answer: Any) -> dict[str, object]:
        return self.asked.certificate(answer)
