"""How a model is to be taken: what a reader of a file is told beside the bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq

INITIAL_PAIRS = ("first", "all", "self")
CHOICES = ("automaton", "interactive")
RESOLVE = ("scheduler", "uniform")


def _unheard(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How to read a model.

    Parameters
    ----------
    state_limit
        How many states the model of a CCS_p text, or of another tool, may have; by default what the text
        says, or a limit of the reader.
    prism_labels
        Whether the labels ``init`` and ``deadlock``, which PRISM itself declares, count.
    pairs
        The neighbouring states, in place of those of the model: by name, or by number (``"#3"``); in models
        of other tools also by a valuation that only one state has (``"x=1,y=0"``), or such a label.
    constants
        Values of the constants that a model in PRISM's language, or JANI, leaves open, and of parameters; two
        numbers for an interval, which makes a chain in intervals.
    observe_variables, observe_labels
        Which variables and labels of a model of another tool an observer sees; None for all labels if no
        variables are named, and else for none.
    labels
        Labels to add to a model of another tool, each with its expression in PRISM's language over variables,
        formulas, constants and labels (``{"error": "s=5"}``); they are seen whatever else is. An expression
        that is a number shows its value.
    properties
        Property files of PRISM: their labels, and the atoms of their formulas, are seen as well.
    hide_silent
        Leave steps out that do not change what is seen; what follows them is computed exactly.
    initial_pairs
        Which initial states are neighbours: ``"first"`` (the first one with every other), ``"all"`` (every
        two), or ``"self"`` (each with itself, for two models side by side).
    choices
        Who chooses where the model does not say how: ``"automaton"`` (a scheduler) or ``"interactive"`` (an
        analyst, who sees the labels and chooses the actions).
    resolve
        ``"uniform"``: each choice is drawn at random, all with the same probability, so that a decision
        process is a chain; ``"scheduler"``: it stays as it is.
    observe_time
        Whether an observer of a chain in continuous time sees the exit rates of its states, so that only
        states with equal rates are alike.
    observe_ticks
        The same of the chain made uniform: self-loops give all states the largest rate, and an observer sees
        each time that the chain moves, a self-loop too. It implies `observe_time`.
    observe_rewards
        Names of rewards of a model of another tool: an observer sees what each state gives.
    observe_actions
        Whether an observer of a chain sees the actions that the file names.
    rationalise
        Take the simplest rational within one unit in the last place of each double.
    enclose
        Take all numbers within one unit in the last place of each double: the model is a chain in intervals.
    seconds
        How long another tool may take.
    shared
        Whether this is how several models are taken, so that what one of them does not know is for another.
    note
        Told what a user should know of how the model was taken.

    Raises
    ------
    UsageError
        If one of two words is another.

    Examples
    --------
    >>> import bisimdist
    >>> text = "{kind: lmc, states: {s: a, t: a}, transitions: {s: {s: 1}, t: {t: 1}}}"
    >>> reading = bisimdist.models.Reading(pairs=(("s", "t"),))
    >>> bisimdist.parse_model(text, reading=reading).pairs
    ((0, 1),)
    """

    state_limit: int | None = None
    prism_labels: bool = False
    pairs: Sequence[tuple[str, str]] = ()
    constants: Mapping[str, ExactNumber | bool | tuple[ExactNumber, ExactNumber]] = field(
        default_factory=dict
    )
    observe_variables: Sequence[str] | None = None
    observe_labels: Sequence[str] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    properties: Sequence[str] = ()
    hide_silent: bool = False
    initial_pairs: str = "first"
    choices: str = "automaton"
    resolve: str = "scheduler"
    observe_time: bool = False
    observe_ticks: bool = False
    observe_rewards: Sequence[str] = ()
    observe_actions: bool = False
    rationalise: bool = False
    enclose: bool = False
    seconds: float | None = None
    shared: bool = False
    note: Callable[[str], None] = _unheard

    def __post_init__(self) -> None:
        for name, value, words in (
            ("initial pairs", self.initial_pairs, INITIAL_PAIRS),
            ("choices", self.choices, CHOICES),
            ("resolved choices", self.resolve, RESOLVE),
        ):
            if value not in words:
                raise UsageError(f"{name} are {value!r}; expected {' or '.join(words)}")
        if self.observe_ticks:
            object.__setattr__(self, "observe_time", True)

    def ends(self) -> dict[str, tuple[fmpq, fmpq]]:
        """Return the intervals of the constants that have some."""
        return {
            name: (to_fmpq(value[0]), to_fmpq(value[1]))
            for name, value in self.constants.items()
            if isinstance(value, tuple)
        }

    def observes_all(self) -> bool:
        """Tell whether nothing says which labels and variables of the model itself are seen."""
        return self.observe_variables is None and self.observe_labels is None

    def unused(self) -> str | None:
        """Return what was asked that only models of other tools understand; None where nothing was."""
        asked = {
            "rationalise": self.rationalise,
            "enclose": self.enclose,
            "observe variables": self.observe_variables is not None,
            "observe labels": self.observe_labels is not None,
            "label": bool(self.labels),
            "properties": bool(self.properties),
            "initial pairs": self.initial_pairs == "all",
            "choices": self.choices != "automaton",
            "resolve": self.resolve != "scheduler",
            "observe time": self.observe_time,
            "observe rewards": bool(self.observe_rewards),
            "observe actions": self.observe_actions,
        }
        return next((name for name, given in asked.items() if given), None)
