"""The options that say how a model is read, which every command has that takes one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.faces.asked import numbers
from bisimdist.faces.asked.option import Option, choice, option, switch
from bisimdist.faces.asked.options import INPUT_FORMAT, PRISM_LABELS, PROGRAM_OPTIONS, STATE_LIMIT

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


def _labels(flag: str, texts: Any) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for text in texts or ():
        name, colon, expression = (piece.strip() for piece in text.partition(":"))
        name = name.strip('"')
        if not (name and colon and expression) or name in found:
            raise UsageError(
                f"{flag} {text}: expected a name, a colon and an expression, such as 'error: s=5'; "
                "each name once"
            )
        found[name] = expression
    return found


CONSTANTS = option(
    "--constants",
    "N=5,...",
    "Values for open parameters, and for constants of PRISM and JANI models: N=5,p=[1/4,1/2].",
    flags=("--constants", "--set"),
    read=_constants,
)
OBSERVE_VARIABLES = option(
    "--observe-variables",
    "X,...",
    "Models of other tools: the variables that an observer sees, in place of labels.",
    read=_listed,
)
OBSERVE_LABELS = option(
    "--observe-labels",
    "L,...",
    "Models of other tools: the labels that an observer sees (by default all).",
    read=_listed,
)
LABEL = option(
    "--label",
    "'NAME: EXPR'",
    "Models of other tools: a label to add, such as 'error: s=5'; may be repeated.",
    repeatable=True,
    read=_labels,
)
PROPERTIES = option(
    "--properties",
    "FILE",
    "Models of other tools: add the labels and atoms of a property file of PRISM; may be repeated.",
    repeatable=True,
    read=lambda _, files: tuple(files or ()),
)
HIDE_SILENT = switch("--hide-silent", "Leave out steps that do not change what an observer sees.")
INITIAL_PAIRS = choice(
    "--initial-pairs",
    "WHICH",
    "The pairs of initial states: first (the first with every other) or all.",
    "first",
    "all",
    what="no such choice of pairs",
    default="first",
)
CHOICES = choice(
    "--choices",
    "KIND",
    "Read an MDP of another tool as automaton or interactive model.",
    "automaton",
    "interactive",
    what="no such kind",
    default="automaton",
)
RESOLVE = choice(
    "--resolve",
    "HOW",
    "Who makes the choices of an MDP of another tool: scheduler, or uniform (chance, for a chain).",
    "scheduler",
    "uniform",
    what="no such way to resolve choices",
    default="scheduler",
)
OBSERVE_REWARDS = option(
    "--observe-rewards",
    "R,...",
    "Models of other tools: the rewards that an observer sees, state by state.",
    read=lambda flag, text: _listed(flag, text) or (),
)
OBSERVE_ACTIONS = switch(
    "--observe-actions", "Models of other tools: an observer of a chain sees the actions too."
)
RATIONALISE = switch(
    "--rationalise", "Replace each double by the simplest rational within a unit in its last place."
)
ENCLOSE = switch("--enclose", "Replace each double by the interval within a unit in its last place.")
AGAINST = option("--against", "OTHER", "Compare MODEL with another model; --pair names a state of each.")
AGAINST_CONSTANTS = CONSTANTS.but(
    name="against_constants",
    flags=("--against-constants",),
    help="Constants of OTHER that differ from those of MODEL.",
)
READING_OPTIONS: tuple[Option[Any], ...] = (
    INPUT_FORMAT,
    STATE_LIMIT,
    PRISM_LABELS,
    CONSTANTS,
    OBSERVE_VARIABLES,
    OBSERVE_LABELS,
    LABEL,
    PROPERTIES,
    HIDE_SILENT,
    INITIAL_PAIRS,
    CHOICES,
    RESOLVE,
    OBSERVE_REWARDS,
    OBSERVE_ACTIONS,
    RATIONALISE,
    ENCLOSE,
    AGAINST,
    AGAINST_CONSTANTS,
)  # how the file of a model is read
MODEL_OPTIONS: tuple[Option[Any], ...] = (*READING_OPTIONS, *PROGRAM_OPTIONS)
"""What every command that takes a model says of how it is read."""
