"""The trace logic: linear formulae, and linear formulae with the probability of their trace.

Source: CCP18 Definition 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import NumberError, NumberTypeError
from bisimdist.exact.rational import format_rational, shorten_rational
from bisimdist.logic.engine.formula_printer import action_text
from bisimdist.models.lmc import check_names

ACTIONS_SHOWN = 24


@dataclass(frozen=True, slots=True)
class LinearFormula:
    """A linear formula ``<a1>...<an>T``; each has exactly one trace, and each trace one formula.

    Source: CCP18.

    Parameters
    ----------
    actions
        The actions in their order; none for ``T``.

    Raises
    ------
    ModelError
        If an action is no text.

    Examples
    --------
    >>> print(LinearFormula(("tau", "go, home")))
    <tau><"go, home">T
    """

    actions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_names(self.actions, "action")

    def __str__(self) -> str:
        return "".join(f"<{action_text(action)}>" for action in self.actions) + "T"

    def __len__(self) -> int:
        return len(self.actions)


@dataclass(frozen=True, slots=True)
class ProbabilisticFormula:
    """A probabilistic formula ``r Phi``: Phi holds, and its trace has the probability r.

    Parameters
    ----------
    probability
        The number r, from 0 to 1.
    linear
        The linear formula Phi.

    Raises
    ------
    NumberError
        If the number is outside its range.
    NumberTypeError
        If it is no exact number.

    Examples
    --------
    >>> print(ProbabilisticFormula(fmpq(3, 4), LinearFormula(("tau", "yes"))))
    3/4 <tau><yes>T
    """

    probability: fmpq
    linear: LinearFormula = LinearFormula()

    def __post_init__(self) -> None:
        if not isinstance(self.probability, fmpq):
            raise NumberTypeError(f"the probability {self.probability!r} is not exact; pass an fmpq")
        if not 0 <= self.probability <= 1:
            shown = shorten_rational(self.probability)
            raise NumberError(f"the probability of a formula is {shown}; expected a number from 0 to 1")

    def __str__(self) -> str:
        return f"{format_rational(self.probability)} {self.linear}"


TraceFormula = LinearFormula | ProbabilisticFormula


def short_formula(trace: Sequence[str]) -> str:
    """Return the formula of a trace for a person; a long one is shortened, and says so.

    >>> short_formula(["a"] * 25)[-23:]
    '<a>... (1 more actions)'
    """
    text = str(LinearFormula(tuple(trace[:ACTIONS_SHOWN])))
    left = len(trace) - ACTIONS_SHOWN
    return text if left <= 0 else f"{text[:-1]}... ({left} more actions)"
