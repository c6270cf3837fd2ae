"""Models that other packages hold in memory: those of stormpy and of stormvogel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from numbers import Real
from typing import Any

from bisimdist.errors import ModelError
from bisimdist.extras import needed
from bisimdist.models.expression import PARAMETER_NAME
from bisimdist.models.io.explicit import taken
from bisimdist.models.io.reading import Reading
from bisimdist.models.io.tool_worker import RefusedError, check_states, data_of, numbered, value_text, written
from bisimdist.models.io.tools import STATES, read_written, taken_data
from bisimdist.models.kinds import AnyModel


def from_stormpy(model: Any, *, reading: Reading | None = None, **options: Any) -> AnyModel:
    """Return the model that a sparse model of stormpy is, as `load_model` reads it from a file.

    A model over rationals is taken exactly, one over rational functions as a chain with parameters, one over
    rational intervals as a chain in intervals. Doubles need ``rationalise=True`` or ``enclose=True``. An
    observer sees the labels, unless the reading says otherwise.

    Source: Hensel, Junges, Katoen, Quatmann, Volk, "The probabilistic model checker Storm", STTT 2022.

    Parameters
    ----------
    model
        A DTMC, a CTMC (the chain of its jumps), an MDP or a POMDP.
    reading, options
        How it is to be taken: the fields of `bisimdist.models.Reading`, all at once or one by one. The
        ``constants`` are values, or intervals, of parameters.

    Returns
    -------
    LMC, PA, Interactive, IntervalChain or ParametricChain
        The model.

    Raises
    ------
    UsageError
        If stormpy is not installed, or the reading does not fit the model.
    ModelError
        If this is no model of stormpy, or one of another type.

    Examples
    --------
    >>> import bisimdist
    >>> def read(path):
    ...     import stormpy
    ...     program = stormpy.parse_prism_program(path)
    ...     return bisimdist.from_stormpy(stormpy.build_model[stormpy.Rational](program))
    """
    needed("stormpy", "storm")
    if not (hasattr(model, "model_type") and hasattr(model, "transition_matrix")):
        raise ModelError(
            f"this is {_called(model)}; expected a sparse model of stormpy, as stormpy.build_model makes it"
        )
    how = _reading(reading, options)
    limit, actions = how.state_limit or STATES, how.observe_actions
    return _taken(lambda: data_of(model, limit, how.observe_rewards, actions=actions), how)


def from_stormvogel(model: Any, *, reading: Reading | None = None, **options: Any) -> AnyModel:
    """Return the model that a model of stormvogel is, as `load_model` reads it from a file.

    Integers, fractions, intervals and expressions over parameters are taken exactly. Doubles need
    ``rationalise=True`` or ``enclose=True``. A state without transitions stays where it is, and a note says
    so. States are called by their friendly names, if these differ, or else by their numbers.

    Parameters
    ----------
    model
        A DTMC, a CTMC (the chain of its jumps), a hidden Markov model (an observer sees the observations), an
        MDP or a POMDP, of stormvogel 0.13 or later.
    reading, options
        As in `from_stormpy`.

    Returns
    -------
    LMC, PA, Interactive, IntervalChain or ParametricChain
        The model.

    Raises
    ------
    UsageError
        If stormvogel is not installed, or the reading does not fit the model.
    ModelError
        If this is no model of stormvogel, one of another type, or a variable has no value in some state.

    Examples
    --------
    >>> import bisimdist
    >>> def coin():
    ...     from fractions import Fraction
    ...     from stormvogel import new_dtmc
    ...     made = new_dtmc()
    ...     heads, tails = made.new_state("heads"), made.new_state("tails")
    ...     made.initial_state.set_choices([(Fraction(1, 3), heads), (Fraction(2, 3), tails)])
    ...     return bisimdist.from_stormvogel(made)
    """
    if find_spec("stormvogel") is None:
        needed("stormvogel", "stormvogel")
    if not all(hasattr(model, name) for name in ("model_type", "state_labels", "friendly_names")):
        raise ModelError(f"this is {_called(model)}; expected a model of stormvogel 0.13 or later")
    how = _reading(reading, options)
    return _taken(lambda: _vogel(model, how), how)


def _vogel(model: Any, how: Reading) -> dict[str, Any]:
    """Return a model of stormvogel as plain data."""
    kind = model.model_type.name.lower()
    if kind not in {"dtmc", "ctmc", "mdp", "pomdp", "hmm"}:
        raise RefusedError(
            f"this is a {model.model_type.name}; expected a DTMC, a CTMC, an HMM, an MDP or a POMDP"
        )
    states = list(model.states)
    check_states(len(states), how.state_limit or STATES)
    place = {state: index for index, state in enumerate(states)}
    actions: list[str] = []
    rows: list[list[tuple[str, int]]] = []
    starts = [0]
    still = 0
    texts = _Texts()
    for state in states:
        moves = [
            (action.label or "", [(texts.of(p), place[target]) for p, target in branch])
            for action, branch in model.transitions.get(state, ())
        ]
        moves = [(action, positive) for action, row in moves if (positive := [e for e in row if e[0] != "0"])]
        still += not moves
        for action, row in moves or [("", [("1", place[state])])]:
            actions.append(action)
            rows.append(row)
        starts.append(len(rows))
    if still:
        how.note(f"{still} states have no transition: each stays where it is")
    if texts.parameters and kind != "dtmc":
        raise RefusedError("probabilities are expressions in Markov chains (DTMC) only; expected numbers")
    values, numbers = numbered([p for row in rows for p, _ in row])
    names = [model.friendly_names.get(state) or str(place[state]) for state in states]
    if len(set(names)) < len(names):
        names = list(map(str, range(len(names))))
    valuations = [
        {variable.label: value_text(value) for variable, value in model.state_valuations[state].items()}
        for state in states
    ]
    variables = dict.fromkeys(variable for valuation in valuations for variable in valuation)
    for name, valuation in zip(names, valuations, strict=True):
        if missing := variables.keys() - valuation:
            raise ModelError(
                f"the variable {min(missing)!r} has no value; expected one", place=f"state {name!r}"
            )
    return {
        "kind": "pomdp" if kind == "hmm" else kind,
        "states": len(states),
        "lengths": list(map(len, rows)),
        "targets": [target for row in rows for _, target in row],
        "numbers": numbers,
        "choices": starts,
        "actions": actions,
        "values": values,
        "doubles": texts.doubles,
        "initial": sorted(place[state] for state in model.state_labels.get("init", ())),
        "labels": {name: sorted(map(place.__getitem__, found)) for name, found in model.state_labels.items()},
        "parameters": sorted(texts.parameters),
        "observations": _observations(model, states) if kind in {"pomdp", "hmm"} else [],
        "variables": {name: [valuation[name] for valuation in valuations] for name in variables},
        "rewards": {name: _rewards(model, name, states) for name in how.observe_rewards},
        "own": {"states": names},
    }


class _Texts:
    """Makes texts of probabilities, and remembers what they are made of."""

    def __init__(self) -> None:
        self.doubles = False
        self.parameters: set[str] = set()

    def of(self, value: Any) -> str:
        if isinstance(value, int | Fraction):
            return str(value + 0)
        if isinstance(value, Real):
            self.doubles = True
            return repr(float(value)) if value else "0"
        text = str(value)
        interval = hasattr(value, "lower") and hasattr(value, "upper")
        exact = all(
            isinstance(end, int | Fraction) for end in ((value.lower, value.upper) if interval else ())
        )
        if "." in text or not exact:
            raise RefusedError(f"the number {text[:60]!r} holds doubles; expected fractions in it")
        if not interval:
            self.parameters.update(PARAMETER_NAME.findall(text))
        return text


def _observations(model: Any, states: Sequence[Any]) -> list[str]:
    """Return what is seen of each state: the name of its observation, if these differ, or else a number."""
    seen = [model.state_observations[state] for state in states]
    if not all(hasattr(one, "observation_id") for one in seen):
        raise RefusedError("some observations are drawn at random; expected one for each state")
    different = {one: str(number) for number, one in enumerate(dict.fromkeys(seen))}
    aliases = {one: model.observation_aliases[one] for one in different}
    return [(aliases if len(set(aliases.values())) == len(aliases) else different)[one] for one in seen]


def _rewards(model: Any, name: str, states: Sequence[Any]) -> list[str]:
    """Return the rewards of all states."""
    known = {one.name: one for one in model.rewards}
    if name not in known:
        raise RefusedError(f"there are no rewards {name!r}; expected some of {', '.join(known) or 'none'}")
    if known[name].transition_rewards:
        raise RefusedError(f"the rewards {name!r} depend on transitions; expected some of states")
    return [str(known[name].rewards.get(state, 0)) for state in states]


def _taken(made: Callable[[], dict[str, Any]], how: Reading) -> AnyModel:
    try:
        data = made()
    except RefusedError as error:
        raise ModelError(str(error)) from None
    model = taken_data(read_written(b"".join(written(data))), replace(how, constants={}))
    return taken(model, Reading(constants=how.constants, shared=how.shared))


def _reading(reading: Reading | None, options: dict[str, Any]) -> Reading:
    return Reading(**options) if reading is None else replace(reading, **options)


def _called(value: Any) -> str:
    return f"an object of type {type(value).__name__}"
