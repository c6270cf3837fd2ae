"""Whether delta, or bd, is at most a threshold for all values of parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.parameter_options import FOR_ALL, parametric_chain
from bisimdist.faces.asked.question import Question, Settled, verdict_word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flint import fmpq

    from bisimdist.models.parametric import ParametricChain
    from bisimdist.privacy.synthesise.answer import BoxAnswer
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class ForAll(Question["BoxAnswer"]):
    """Whether a threshold holds for all values of parameters in a box."""

    tabled = "listed"
    options: ClassVar[tuple[Option[Any], ...]] = ()
    shown = ("alpha", "distance", "threshold")
    start: ClassVar = {"verdict": "unknown", "at": None, "lower": None}

    model: ParametricChain
    pairs: tuple[tuple[str, str], ...]
    alpha: fmpq
    threshold: fmpq
    box: Mapping[str, tuple[fmpq, fmpq]]
    distance: str

    @property
    def command(self) -> str:  # type: ignore[override]
        """The command that asks: bound for bd."""
        return "delta" if self.distance == "delta" else "bound"

    @classmethod
    def read(cls, given: Given) -> ForAll:
        alpha, threshold = given[options.ALPHA], given[options.UNIT_THRESHOLD]
        if alpha is None or threshold is None:
            raise UsageError("--for-all: expected an exact alpha (--alpha A) and a --threshold")
        of_bound = any(option.name == options.SKEWED_DISTANCE.name for option in given.options)
        if of_bound and given[options.SKEWED_DISTANCE] != "bd":
            raise UsageError("--for-all: is for the distance bd")
        about = (FOR_ALL, options.ALPHA, options.UNIT_THRESHOLD, options.PAIR, options.TIMEOUT)
        files = (options.CERTIFICATE, options.CSV, options.JSON, options.ALL_PAIRS, options.JOBS)
        model = parametric_chain(given, *about, *files)
        return cls(
            model=model,
            pairs=given.pairs(model),
            alpha=alpha,
            threshold=threshold,
            box={
                name: (ends or model.box[model.parameter_names.index(name)])
                for name, ends in given[FOR_ALL].items()
                if ends is not None or known(model, name)
            },
            distance="bd" if of_bound else "delta",
        )

    def ask(self, limits: Limits) -> BoxAnswer:
        from bisimdist.privacy.synthesise.ask import delta_for_all

        return self.put(delta_for_all, limits)

    def settled(self, answer: BoxAnswer) -> Settled:
        return answer.holds

    def data(self, answer: BoxAnswer) -> dict[str, object]:
        from bisimdist.exact.rational import format_rational

        ends = zip(self.model.parameter_names, answer.box, strict=True)
        box = {name: [format_rational(low), format_rational(high)] for name, (low, high) in ends}
        return {**self.frame(), "for_all": box, "verdict": verdict_word(answer.holds), **answer.data()}


def known(model: ParametricChain, name: str) -> bool:
    """Demand that a name is that of a parameter. Raises UsageError if it is not."""
    if name not in model.parameter_names:
        raise UsageError(f"--for-all {name}: the parameters are {', '.join(model.parameter_names)}")
    return True
