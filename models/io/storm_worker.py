"""The half of the reader of other tools' languages that runs in a process of its own, with Storm.

Storm is a large program in C++: it cannot be interrupted, and what a stranger wrote may make it take all
memory, or crash. So it runs here, under limits, and writes what it made as one JSON object. This file is run
as a script, by its path, and imports nothing of the package.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

KINDS = {"DTMC": "dtmc", "CTMC": "ctmc", "MDP": "mdp"}


class RefusedError(Exception):
    """What the model lacks, in words."""


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Return the model that a request names as plain data, or why there is none."""
    import stormpy  # noqa: PLC0415

    try:
        return _data(_built(stormpy, request), request["state_limit"])
    except RefusedError as error:
        return {"error": str(error)}
    except Exception as error:
        return {"error": f"{str(error).strip() or type(error).__name__} (said by Storm)"}


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
    constants = {
        name: exact(value) if isinstance(value, str) else value
        for name, value in request["constants"].items()
    }
    if request["shared"]:
        constants = {name: value for name, value in constants.items() if name in undefined}
    for name in sorted(constants.keys() - undefined):
        raise RefusedError(f"there is no constant {name!r} to give a value to; open are {_listed(undefined)}")
    missing = sorted(undefined - constants.keys())
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
    return stormpy.build_model[exact](program, options=options)


def _listed(names: Any) -> str:
    return ", ".join(sorted(names)[:20]) or "none"


def _data(model: Any, limit: int) -> dict[str, Any]:
    kind = KINDS.get(model.model_type.name)
    if kind is None:
        raise RefusedError(f"this is a {model.model_type.name}; expected a DTMC, a CTMC or an MDP")
    if model.nr_states > limit:
        raise RefusedError(f"the model has {model.nr_states} states; allowed are {limit} (--state-limit)")
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
        "variables": _valuations(model) if model.has_state_valuations() else {},
    }


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
    """Take no more memory than allowed, where the system can see to that."""
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = request["memory"]
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def main() -> None:
    """Read the request, write the answer beside it."""
    folder = Path(sys.argv[1])
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    _limit(request)
    answer = work(request)
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
