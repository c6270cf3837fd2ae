"""The options of questions about chains with parameters, and what these have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.faces.asked import numbers
from bisimdist.faces.asked.option import Option, option

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.faces.asked.given import Given
    from bisimdist.models.parametric import ParametricChain

Ends = Mapping[str, "tuple[fmpq, fmpq] | None"]
"""By parameter the ends of an interval; None for all of its values."""

_RANGE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:in\s*\[([^],]+),([^],]+)\])?\s*")


def ranges(flag: str, texts: tuple[str, ...]) -> Ends:
    """Return the parameters that texts such as ``p in [1/4, 1/2]``, or ``p``, are about.

    Raises UsageError if a text is none, or there are two of a parameter.
    """
    found: dict[str, tuple[fmpq, fmpq] | None] = {}
    for text in texts:
        match = _RANGE.fullmatch(text)
        if match is None or match[1] in found:
            raise UsageError(
                f"{flag} {text[:40]}: expected a parameter, each once, such as 'p' or 'p in [1/4, 1/2]'"
            )
        low, high = (
            None if end is None else numbers.numbered(flag, end.strip()) for end in match.groups()[1:]
        )
        found[match[1]] = None if low is None or high is None else (low, high)
    return found


FOR_ALL: Option[Ends] = option(
    "--for-all",
    "RANGE",
    "With --threshold: decide for all values of a parameter, 'p' or 'p in [1/4, 1/2]'; repeatable.",
    repeatable=True,
    read=lambda flag, texts: ranges(flag, texts or ()),
)
OVER: Option[Ends] = option(
    "--over",
    "RANGE",
    "Compute delta as a function of a parameter: 'p' or 'p in [1/4, 1/2]'.",
    read=lambda flag, text: ranges(flag, () if text is None else (text,)),
)


def parametric_chain(given: Given, *wanted: Option[Any]) -> ParametricChain:
    """Return the model, which has to be a chain with parameters.

    given: what was given.
    wanted: what is taken of it, the option that asks for all values first; nothing else must be given.
    Raises UsageError if something else is given, or the model has no parameters.
    """
    from bisimdist.models.parametric import ParametricChain

    flags = {wish.name for wish in wanted}
    for other in given.options:
        if other.name not in flags and given.values.get(other.name) not in {None, other.default, ()}:
            raise UsageError(f"{other.flag}: says nothing of all values of a parameter ({wanted[0].flag})")
    model = given.any_model()
    if not isinstance(model, ParametricChain):
        raise UsageError(
            f"{wanted[0].flag}: the model has no parameters; expected a chain (kind lmc) with some"
        )
    return model
