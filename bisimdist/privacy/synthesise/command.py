"""The best value of an expression over a parameter for which delta is small enough."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bisimdist.errors import UsageError
from bisimdist.faces.asked import numbers, options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import Option, option
from bisimdist.faces.asked.parameter_options import OVER, parametric_chain, ranges
from bisimdist.faces.asked.question import Group, Question

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flint import fmpq

    from bisimdist.models.parametric import ParametricChain
    from bisimdist.privacy.synthesise.answer import BestAnswer
    from bisimdist.progress import Limits

_SUBJECT = re.compile(r"\s*delta\s*<=\s*(.+?)\s*")


def _subject(flag: str, text: str) -> fmpq:
    match = _SUBJECT.fullmatch(text)
    if match is None:
        raise UsageError(f"{flag} {text[:40]}: expected a bound on delta, such as 'delta <= 1/100'")
    return numbers.numbered(flag, match[1])


PARAMETER = OVER.but(
    name="over",
    flags=("--parameter",),
    help="The parameter to choose: 'p' or 'p in [1/4, 1/2]'; repeatable.",
    required=True,
    repeatable=True,
    read=lambda flag, texts: ranges(flag, texts or ()),
)
MAXIMISE: Option[str] = option(
    "--maximise",
    "EXPR",
    "The expression to maximise, over the parameter.",
    required=True,
    read=lambda _, text: str(text),
)
SUBJECT: Option[fmpq] = option(
    "--subject-to",
    "BOUND",
    "The constraint, such as 'delta <= 1/100'.",
    name="at_most",
    required=True,
    read=_subject,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesise(Question["BestAnswer"]):
    """Find the best value of a parameter while delta stays small.

    The bounds on the largest value of the expression are proved: the answer shows a value of the parameter
    that attains the lower bound, and no value exceeds the upper bound. MODEL is a chain with parameters;
    --set gives values to the other parameters.
    """

    command = "synthesise"
    tabled = "listed"
    group = Group.DELTA
    example = (
        "example:dining-cryptographers,n=4,bias=p --alpha 1 --parameter p --maximise '(1-2*p)^2' "
        "--subject-to 'delta <= 1/100'"
    )
    options: ClassVar[tuple[Option[Any], ...]] = (
        PARAMETER,
        MAXIMISE,
        SUBJECT,
        options.ALPHA.but(required=True),
        options.PAIR,
        options.GAP.but(
            help="Stop when the bounds are at most G apart (1/1000000000; 1/1000 with several parameters)."
        ),
        options.TIMEOUT,
        options.CERTIFICATE,
        options.JSON,
    )
    shown = ("alpha", "parameter", "maximise", "at_most")
    start: ClassVar = {"lower": None, "upper": None, "at": None, "exact": False, "polynomial": None}

    model: ParametricChain
    pairs: tuple[tuple[str, str], ...]
    alpha: fmpq
    parameter: str
    box: Mapping[str, tuple[fmpq, fmpq]]
    maximise: str
    at_most: fmpq
    gap: fmpq | None

    @classmethod
    def read(cls, given: Given) -> Synthesise:
        said = given.fields(cls)
        model = parametric_chain(given, PARAMETER, *cls.offered())
        chosen = given[PARAMETER]
        if set(chosen) != set(model.parameter_names):
            raise UsageError(
                f"--parameter {', '.join(chosen)}: the parameters of the model are "
                f"{', '.join(model.parameter_names)}; expected all of them (--set gives values to others)"
            )
        box = {name: ends for name, ends in chosen.items() if ends is not None}
        return cls(
            model=model, pairs=given.pairs(model), parameter=", ".join(sorted(chosen)), box=box, **said
        )

    def ask(self, limits: Limits) -> BestAnswer:
        from bisimdist.privacy.synthesise.ask import DEFAULT_GAP, ROUGH_GAP, synthesise

        usual = DEFAULT_GAP if len(self.model.parameters) == 1 else ROUGH_GAP
        return self.put(synthesise, limits, gap=usual if self.gap is None else self.gap)
