"""The half of the reader of other tools' formats that runs in a process of its own: with Storm, or umbi.

Storm is a large program in C++: it cannot be interrupted, and what a stranger wrote may make it take all
memory, or crash; umbi believes the sizes that a file states. So they run here, under limits, and what they
made is written as one JSON object. This file is run as a script, by its path, and imports nothing of the
package.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

KINDS = {"DTMC": "dtmc", "CTMC": "ctmc", "MDP": "mdp"}


class RefusedError(Exception):
    """What the model lacks, in words."""


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Return the model that a request names as plain data, or why there is none."""
    tool = "umbi" if request["language"] == "umb" else "Storm"
    try:
        if tool == "umbi":
            return _umb(request)
        import stormpy  # noqa: PLC0415

        return _data(_built(stormpy, request), request["state_limit"])
    except RefusedError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": f"the model takes more memory than the {request['memory'] >> 30} GiB allowed"}
    except Exception as error:
        return {"error": f"{str(error).strip() or type(error).__name__} (said by {tool})"}


def _umb(request: dict[str, Any]) -> dict[str, Any]:
    """Return the model of a UMB file."""
    from umbi import umb  # noqa: PLC0415

    found = umb.read(request["path"])
    system = found.index.transition_system
    kind = {("discrete", 0): "dtmc", ("discrete", 1): "mdp", ("stochastic", 0): "jumps"}.get(
        (system.time, system.num_players)
    )
    if kind is None:
        raise RefusedError(
            f"time is {system.time}, and there are {system.num_players} players; expected a DTMC, CTMC or MDP"
        )
    count = system.num_states
    _check_states(count, request["state_limit"])
    values: dict[str, int] = {}
    doubles = False
    rows = []
    ends = found.choice_to_branches or [0]
    for first, last in pairwise(ends):
        row = []
        for branch in range(first, last):
            p = 1 if found.branch_to_probability is None else found.branch_to_probability[branch]
            doubles = doubles or isinstance(p, float)
            text = repr(p) if isinstance(p, float) else str(p)
            row.append((found.branch_to_target[branch], values.setdefault(text, len(values))))
        rows.append(sorted(row))
    choices = found.state_to_choices or list(range(count + 1))
    actions = [""] * len(rows)
    if system.num_choice_actions > 0:
        names = found.choice_action_to_string
        actions = [names[k] if names else str(k) for k in found.choice_to_choice_action]
    labels = {}
    for name, described in ((found.index.annotations or {}).get("aps") or {}).items():
        carried = found.annotations["aps"][name].get("states")
        if carried is not None:
            labels[described.alias or name] = [state for state, holds in enumerate(carried) if holds]
    valuations = (found.valuations or {}).get("states") or []
    file_data = found.index.file_data
    own = file_data.parameters if file_data is not None and file_data.tool == "bisimdist" else None
    made = {
        "kind": kind,
        "states": count,
        "rows": rows,
        "groups": [[choices[state], choices[state + 1]] for state in range(count)],
        "actions": actions,
        "values": list(values),
        "doubles": doubles,
        "initial": [state for state, first in enumerate(found.state_is_initial) if first],
        "labels": labels,
        "variables": {name: [_text(one[name]) for one in valuations] for name in (valuations or [{}])[0]},
        "own": own,
    }
    _check(made)
    return made


def _check(made: dict[str, Any]) -> None:
    """Refuse a file whose parts contradict one another."""
    count, rows, groups = made["states"], made["rows"], made["groups"]
    states = set(range(count))
    numbered = [first for first, _ in groups] + [last for _, last in groups[-1:]]
    fits = (
        numbered == sorted(numbered)
        and numbered[:1] == [0] * bool(count)
        and numbered[-1:] == [len(rows)] * bool(count)
        and len(made["actions"]) == len(rows)
        and all(target in states for row in rows for target, _ in row)
        and states.issuperset(made["initial"])
        and all(states.issuperset(carried) for carried in made["labels"].values())
        and all(len(values) == count for values in made["variables"].values())
    )
    own = made["own"]
    if own is not None and fits:
        names, pairs = own.get("states"), own.get("pairs")
        fits = (
            isinstance(names, list)
            and len(names) == count
            and all(isinstance(name, str) for name in names)
            and isinstance(pairs, list)
            and all(isinstance(pair, list) and len(pair) == 2 and states.issuperset(pair) for pair in pairs)
        )
    if not fits:
        raise RefusedError("the parts of the file contradict one another")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check_states(count: int, limit: int) -> None:
    if count > limit:
        raise RefusedError(f"the model has {count} states; allowed are {limit} (--state-limit)")


def _built(stormpy: Any, request: dict[str, Any]) -> Any:
    path, language = request["path"], request["language"]
    exact = stormpy.Rational
    if language == "drn":
        return stormpy.build_model_from_drn[exact](path)
    if language == "jani":
        program, _ = stormpy.parse_jani_model(path)
    else:
        program = stormpy.parse_prism_program(path, prism_compatibility=True)
    undefined = {constant.name for constant in program.constants if not constant.defined}
    real = {constant.name for constant in program.constants if constant.type.is_rational}
    constants = {
        name: exact(value) if isinstance(value, str) else value
        for name, value in request["constants"].items()
    }
    if request["shared"]:
        constants = {name: value for name, value in constants.items() if name in undefined}
    for name in sorted(constants.keys() - undefined):
        raise RefusedError(f"there is no constant {name!r} to give a value to; open are {_listed(undefined)}")
    missing = sorted(undefined - constants.keys() - real)
    if missing:
        raise RefusedError(
            f"the constants {_listed(missing)} have no value; give one, such as --constants {missing[0]}=5"
        )
    if constants:
        program, _ = stormpy.instantiate_constants(program, constants)
    options = stormpy.BuilderOptions()
    options.set_build_all_labels()
    options.set_build_state_valuations()
    options.set_build_choice_labels()
    if undefined - constants.keys():
        return stormpy.build_model[stormpy.RationalFunction](program, options=options)
    try:
        return stormpy.build_model[exact](program, options=options)
    except Exception as error:
        if "interval updates" not in str(error):
            raise
    return stormpy.build_model[stormpy.RationalInterval](program, options=options)


def _listed(names: Any) -> str:
    return ", ".join(sorted(names)[:20]) or "none"


def _data(model: Any, limit: int) -> dict[str, Any]:
    kind = KINDS.get(model.model_type.name)
    if kind is None:
        raise RefusedError(f"this is a {model.model_type.name}; expected a DTMC, a CTMC or an MDP")
    _check_states(model.nr_states, limit)
    matrix, labels = model.transition_matrix, model.labeling
    values: dict[str, int] = {}
    rows = [
        [(entry.column, values.setdefault(str(entry.value), len(values))) for entry in matrix.get_row(row)]
        for row in range(matrix.nr_rows)
    ]
    groups = [
        [matrix.get_row_group_start(state), matrix.get_row_group_end(state)]
        for state in range(model.nr_states)
    ]
    actions = [""] * matrix.nr_rows
    if kind == "mdp" and model.has_choice_labeling():
        for row in range(matrix.nr_rows):
            actions[row] = ",".join(sorted(model.choice_labeling.get_labels_of_choice(row)))
    return {
        "kind": kind,
        "states": model.nr_states,
        "rows": rows,
        "groups": groups,
        "actions": actions,
        "values": list(values),
        "initial": list(model.initial_states),
        "labels": {name: list(labels.get_states(name)) for name in sorted(labels.get_labels())},
        "parameters": _parameters(model),
        "variables": _valuations(model) if model.has_state_valuations() else {},
    }


def _parameters(model: Any) -> list[str]:
    """Return the constants that were left open and that probabilities depend on."""
    if not hasattr(model, "collect_probability_parameters"):
        return []
    if model.model_type.name != "DTMC":
        raise RefusedError("constants are left open in Markov chains (dtmc) only; give values (--constants)")
    return sorted(variable.name for variable in model.collect_probability_parameters())


def _valuations(model: Any) -> dict[str, list[str]]:
    """Return the values of each variable in all states, in the order in which variables are declared."""
    found = model.state_valuations
    states = range(model.nr_states)
    columns = {}
    for variable in sorted(found.get_all_variables(), key=lambda variable: variable.index):
        if variable.has_boolean_type():
            true = set(found.get_boolean_values(variable))  # it lists the states where it holds
            columns[variable.name] = ["true" if state in true else "false" for state in states]
        elif variable.has_integer_type():
            columns[variable.name] = [str(value) for value in found.get_int64_values(variable)]
        else:
            columns[variable.name] = [str(found.get_value(state, variable)) for state in states]
    return columns


def _limit(request: dict[str, Any]) -> None:
    """Take no more memory and time than allowed, where the system can see to that."""
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = request["memory"]
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    seconds = int(request["seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def main() -> None:
    """Read the request, write the answer beside it."""
    folder = Path(sys.argv[1])
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    _limit(request)
    answer = work(request)
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
