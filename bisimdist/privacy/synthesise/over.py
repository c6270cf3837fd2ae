"""Delta as a function of a parameter of a chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.options import PLOT
from bisimdist.faces.asked.parameter_options import OVER, parametric_chain
from bisimdist.faces.asked.question import Question

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.models.parametric import ParametricChain
    from bisimdist.privacy.synthesise.answer import PiecesAnswer
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Over(Question["PiecesAnswer"]):
    """What delta is for all values of the one parameter of a chain."""

    command = "delta"
    tabled = "listed"
    options: ClassVar[tuple[Option[Any], ...]] = ()
    shown = ("alpha", "over")
    start: ClassVar = {"breaks": None, "pieces": None}

    model: ParametricChain
    pairs: tuple[tuple[str, str], ...]
    alpha: fmpq
    over: str
    interval: tuple[fmpq, fmpq] | None

    @classmethod
    def read(cls, given: Given) -> Over:
        if given[options.ALPHA] is None:
            raise UsageError("--over: expected an exact alpha (--alpha A)")
        about = (OVER, options.ALPHA, options.PAIR, options.TIMEOUT)
        files = (options.CERTIFICATE, options.CSV, PLOT, options.JSON, options.ALL_PAIRS)
        model = parametric_chain(given, *about, *files)
        ((name, interval),) = given[OVER].items()
        if (name,) != model.parameter_names:
            raise UsageError(
                f"--over {name}: the parameters of the model are {', '.join(model.parameter_names)}; "
                "expected the only one (--set gives values to others)"
            )
        return cls(
            model=model, pairs=given.pairs(model), alpha=given[options.ALPHA], over=name, interval=interval
        )

    def ask(self, limits: Limits) -> PiecesAnswer:
        from bisimdist.privacy.synthesise.ask import delta_over

        return self.put(delta_over, limits)

    def data(self, answer: PiecesAnswer) -> dict[str, object]:
        from bisimdist.exact.rational import format_rational

        return {**self.frame(), "range": list(map(format_rational, answer.interval)), **answer.data()}

    def figure(self, answer: PiecesAnswer) -> Any:
        from bisimdist.privacy.synthesise.page import pieces_figure

        return pieces_figure(answer)
