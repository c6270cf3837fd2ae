"""The options that say how a model is read, which every command has that takes one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.questions import numbers
from bisimdist.questions.option import Option, choice, option, switch
from bisimdist.questions.options import INPUT_FORMAT, PRISM_LABELS, PROGRAM_OPTIONS

if TYPE_CHECKING:
    from bisimdist.exact.rational import ExactNumber


_PARTS = re.compile(r",(?![^\[]*\])")


def _listed(flag: str, text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    names = tuple(part.strip() for part in text.split(","))
    if not all(names):
        raise UsageError(f"{flag} {text}: expected names with commas between them")
    return names


def _constants(flag: str, text: str | None) -> Mapping[str, Any]:
    found: dict[str, ExactNumber | bool | tuple[ExactNumber, ExactNumber]] = {}
    for part in () if text is None else _PARTS.split(text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals) or name in found:
            raise UsageError(f"{flag} {text}: expected values such as N=5,p=1/2, each constant once")
        if value.startswith("["):
            ends = [numbers.numbered(flag, end.strip()) for end in value[1:-1].split(",")]
            if len(ends) != 2 or not value.endswith("]"):
                raise UsageError(f"{flag} {text}: expected two ends of an interval, such as p=[1/4,1/2]")
            found[name] = ends[0], ends[1]
            continue
        found[name] = value == "true" if value in {"true", "false"} else numbers.numbered(flag, value)
    return found


CONSTANTS = option(
    "--constants",
    "N=5,...",
    "What a model leaves open, parameters or constants of a PRISM or JANI model: N=5,p=[1/4,1/2].",
    flags=("--constants", "--set"),
    read=_constants,
)
OBSERVE_VARIABLES = option(
    "--observe-variables",
    "X,...",
    "Variables of another tool's model that an observer sees (in place of its labels).",
    read=_listed,
)
OBSERVE_LABELS = option(
    "--observe-labels",
    "L,...",
    "Labels of another tool's model that an observer sees (by default all).",
    read=_listed,
)
HIDE_SILENT = switch("--hide-silent", "Leave out steps that do not change what is seen.")
INITIAL_PAIRS = choice(
    "--initial-pairs",
    "WHICH",
    "Pairs of initial states: first (the first with every other) or all.",
    "first",
    "all",
    what="no such choice of pairs",
    default="first",
)
CHOICES = choice(
    "--choices",
    "KIND",
    "An MDP of another tool as an automaton, or as an interactive model.",
    "automaton",
    "interactive",
    what="no such kind",
    default="automaton",
)
RATIONALISE = switch("--rationalise", "Replace doubles by the simplest rationals in reach of rounding.")
ENCLOSE = switch(
    "--enclose", "Replace doubles by intervals: the answer holds for the reals that round to them."
)
AGAINST = option("--against", "OTHER", "Hold MODEL against another one; --pair names a state of each.")
AGAINST_CONSTANTS = CONSTANTS.but(
    name="against_constants",
    flags=("--against-constants",),
    help="Constants of OTHER that differ from those of MODEL.",
)
READING_OPTIONS: tuple[Option[Any], ...] = (
    INPUT_FORMAT,
    PRISM_LABELS,
    CONSTANTS,
    OBSERVE_VARIABLES,
    OBSERVE_LABELS,
    HIDE_SILENT,
    INITIAL_PAIRS,
    CHOICES,
    RATIONALISE,
    ENCLOSE,
    AGAINST,
    AGAINST_CONSTANTS,
)
"""How the file of a model is read."""
MODEL_OPTIONS: tuple[Option[Any], ...] = (*READING_OPTIONS, *PROGRAM_OPTIONS)
"""What every command that takes a model says of how it is read."""
