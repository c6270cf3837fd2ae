"""The half of the reader of other tools' formats that runs in a process of its own: with Storm, or umbi.

Storm is a large program in C++: it cannot be interrupted, and what a stranger wrote may make it take all
memory, or crash; umbi believes the sizes that a file states. So they run here, under limits, and what they
made is written as one JSON object and, after it, the long lists as arrays of integers (`written`). This file
is run as a script, by its path, and imports nothing of the package.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

KINDS = {"DTMC": "dtmc", "CTMC": "ctmc", "MDP": "mdp", "POMDP": "pomdp"}
CHAINS = {"dtmc", "ctmc"}
EXPECTED = "expected a DTMC, a CTMC, an MDP or a POMDP"


class RefusedError(Exception):
    """What the model lacks, in words."""


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Return the model that a request names as plain data, or why there is none."""
    tool = "umbi" if request["language"] == "umb" else "Storm"
    try:
        if tool == "umbi":
            return _umb(request)
        import stormpy  # noqa: PLC0415

        try:
            model = _built(stormpy, request)
        except Exception as error:
            if request["language"] != "jani" or "valuations for transient variables" not in str(error):
                raise
            model = _built(stormpy, request, transient=False)
        return data_of(model, request["state_limit"], request["rewards"], actions=request["actions"])
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
    check_states(count, request["state_limit"])
    ends = found.choice_to_branches or [0]
    branches = range(ends[0], ends[-1])
    chances = found.branch_to_probability
    entries = [1] * len(branches) if chances is None else [chances[branch] for branch in branches]
    texts = [repr(p) if isinstance(p, float) else str(p) for p in entries]
    values, numbers = numbered(texts)
    rows = len(ends) - 1
    actions: list[str] | None = None
    if system.num_choice_actions > 0:
        names = found.choice_action_to_string
        actions = [names[k] if names else str(k) for k in found.choice_to_choice_action]
    labels = {}
    for name, described in ((found.index.annotations or {}).get("aps") or {}).items():
        carried = found.annotations["aps"][name].get("states")
        if carried is not None:
            labels[described.alias or name] = [state for state, holds in enumerate(carried) if holds]
    valuations = (found.valuations or {}).get("states") or []
    applies, seen = system.observations_apply_to, found.entity_to_observation or []
    file_data = found.index.file_data
    own = file_data.parameters if file_data is not None and file_data.tool == "bisimdist" else None
    made = {
        "kind": kind,
        "states": count,
        "lengths": [last - first for first, last in pairwise(ends)],
        "targets": [found.branch_to_target[branch] for branch in branches],
        "numbers": numbers,
        "choices": list(found.state_to_choices) if found.state_to_choices else list(range(count + 1)),
        "actions": actions,
        "values": values,
        "doubles": any(isinstance(p, float) for p in entries),
        "initial": [state for state, first in enumerate(found.state_is_initial) if first],
        "labels": labels,
        "variables": {
            name: [value_text(one[name]) for one in valuations] for name in (valuations or [{}])[0]
        },
        "observations": [str(one) for one in seen] if applies == "states" else [],
        "observed": applies,
        "own": own,
    }
    _check(made, rows)
    return made


def _check(made: dict[str, Any], rows: int) -> None:
    """Refuse a file whose parts contradict one another."""
    count, choices = made["states"], made["choices"]
    states = set(range(count))
    fits = (
        len(choices) == count + 1
        and choices == sorted(choices)
        and choices[0] == 0
        and choices[-1] == rows
        and (made["actions"] is None or len(made["actions"]) == rows)
        and all(length >= 0 for length in made["lengths"])
        and states.issuperset(made["targets"])
        and states.issuperset(made["initial"])
        and all(states.issuperset(carried) for carried in made["labels"].values())
        and all(len(values) == count for values in made["variables"].values())
        and len(made["observations"]) in ((count,) if made["observed"] == "states" else (0,))
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


def value_text(value: Any) -> str:
    """Return the value of a variable as a text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_states(count: int, limit: int) -> None:
    """Refuse a model that is too large."""
    if count > limit:
        raise RefusedError(f"the model has {count} states; allowed are {limit} (--state-limit)")


def _without_transient(model: Any) -> Any:
    """Return a JANI model without transient variables (rewards, mostly), and what speaks of them.

    Storm lists no values of transient reals where there are parameters. If a guard reads one, Storm refuses
    what is left.
    """
    local = (one.get("variables", ()) for one in model["automata"])
    declared = chain(model.get("variables", ()), chain.from_iterable(local))
    gone = {one["name"] for one in declared if one.get("transient")}

    def speaks(part: dict[str, Any]) -> bool:
        return bool(part.get("transient")) or part.get("ref") in gone

    def kept(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: kept(value) for key, value in part.items() if key != "properties"}
        if isinstance(part, list):
            return [kept(one) for one in part if not (isinstance(one, dict) and speaks(one))]
        return part

    return kept(model)


def _built(stormpy: Any, request: dict[str, Any], *, transient: bool = True) -> Any:
    path, language = request["path"], request["language"]
    exact = stormpy.Rational
    if language == "drn":
        return _either(stormpy.build_model_from_drn, stormpy, "-interval'", path)
    if not transient:
        given = _without_transient(json.loads(Path(path).read_text(encoding="utf-8-sig")))
        program, _ = stormpy.parse_jani_model_from_string(json.dumps(given))
    elif language == "jani":
        program, _ = stormpy.parse_jani_model(path)
    else:
        program = stormpy.parse_prism_program(path, prism_compatibility=True)
    kind = _kind(program)
    undefined = {constant.name for constant in program.constants if not constant.defined}
    real = {constant.name for constant in program.constants if constant.type.is_rational}
    constants = {
        name: exact(str(value)) if isinstance(value, str) or name in real else value
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
    if request["actions"] or KINDS[kind] not in CHAINS:
        options.set_build_choice_labels()
    if request["rewards"]:
        options.set_build_all_reward_models()
    if left := undefined - constants.keys():
        if kind != "DTMC":
            raise RefusedError(
                f"constants are left open in Markov chains (dtmc) only; give values to {_listed(left)} "
                "(--constants)"
            )
        return stormpy.build_model[stormpy.RationalFunction](program, options=options)
    return _either(stormpy.build_model, stormpy, "interval updates", program, options=options)


def _kind(program: Any) -> str:
    """Return what kind of model a program is; others than ours are refused before they are built."""
    try:
        kind = str(program.model_type.name)
    except ValueError:  # stormpy has no name for it
        kind = "timed automaton or a game"
    if kind not in KINDS:
        raise RefusedError(f"this is a {kind}; {EXPECTED}")
    return kind


def _either(build: Any, stormpy: Any, said: str, *given: Any, **options: Any) -> Any:
    """Return a model over rationals, or over intervals where Storm says that there are some."""
    try:
        return build[stormpy.Rational](*given, **options)
    except Exception as error:
        if said not in str(error):
            raise
    return build[stormpy.RationalInterval](*given, **options)


def _listed(names: Any) -> str:
    return ", ".join(sorted(names)[:20]) or "none"


def data_of(model: Any, limit: int, rewards: Sequence[str], *, actions: bool) -> dict[str, Any]:
    """Return a model of Storm as plain data, with the rewards that are named.

    ``actions``: whether actions of chains are wanted, too.
    """
    kind = KINDS.get(model.model_type.name)
    if kind is None:
        raise RefusedError(f"this is a {model.model_type.name}; {EXPECTED}")
    check_states(model.nr_states, limit)
    actions = actions or kind not in CHAINS
    matrix, labels = model.transition_matrix, model.labeling
    targets = array("q", bytes(8 * matrix.nr_entries))

    def found() -> Iterator[Any]:
        for place, entry in enumerate(_entries(matrix)):
            targets[place] = entry.column
            yield entry.value

    values, numbers = numbered(map(str, found()) if model.supports_uncertainty else found())
    if any(isinstance(value, str) and "." in value for value in values):
        raise RefusedError("the ends of intervals are doubles; expected stormpy.RationalInterval")
    named = actions and model.has_choice_labeling()
    starts = matrix.get_row_group_start
    return {
        "kind": kind,
        "states": model.nr_states,
        "lengths": array("q", [len(matrix.get_row(row)) for row in range(matrix.nr_rows)]),
        "targets": targets,
        "numbers": numbers,
        "choices": [*map(starts, range(model.nr_states)), matrix.nr_rows],
        "actions": _actions(model.choice_labeling, matrix.nr_rows) if named else None,
        "values": [str(value) for value in values],
        "doubles": any(isinstance(value, float) for value in values),
        "initial": list(model.initial_states),
        "labels": {name: list(labels.get_states(name)) for name in sorted(labels.get_labels())},
        "parameters": _parameters(model),
        "observations": [str(seen) for seen in model.observations] if kind == "pomdp" else [],
        "variables": _valuations(model) if model.has_state_valuations() else {},
        "rewards": {name: _rewards(model, name) for name in rewards},
    }


def _entries(matrix: Any) -> Iterator[Any]:
    return iter(matrix.row_iter(0, matrix.nr_rows - 1) if matrix.nr_rows else ())


def _actions(labeling: Any, rows: int) -> tuple[array[int], list[str]]:
    """Return by choice the number of its actions, and their texts."""
    names: list[tuple[str, ...]] = [()] * rows
    for name in sorted(labeling.get_labels()):
        for row in labeling.get_choices(name):
            names[row] += (name,)
    different, numbers = numbered(names)
    return numbers, [",".join(one) for one in different]


def numbered(entries: Iterable[Any]) -> tuple[list[Any], array[int]]:
    """Return the different ones among entries, and for each its number."""
    known: dict[Any, int] = {}
    numbers = array("q", [known.setdefault(entry, len(known)) for entry in entries])
    return list(known), numbers


def _parameters(model: Any) -> list[str]:
    """Return the constants that were left open and that probabilities depend on."""
    if not hasattr(model, "collect_probability_parameters"):
        return []
    if model.model_type.name != "DTMC":
        raise RefusedError("parameters are read in Markov chains (dtmc) only; give values to them")
    return sorted(variable.name for variable in model.collect_probability_parameters())


def _rewards(model: Any, name: str) -> list[str]:
    """Return the rewards of all states, for the state and for its one choice."""
    if name not in model.reward_models:
        raise RefusedError(f"there are no rewards {name!r}; expected some of {_listed(model.reward_models)}")
    found = model.reward_models[name]
    if found.has_transition_rewards or (
        found.has_state_action_rewards and model.nr_choices > model.nr_states
    ):
        raise RefusedError(
            f"the rewards {name!r} depend on choices or on transitions; expected some of states"
        )
    parts = []
    if found.has_state_rewards:
        parts.append(list(found.state_rewards))
    if found.has_state_action_rewards:
        parts.append(list(found.state_action_rewards))
    if not parts:
        return ["0"] * model.nr_states
    return [str(sum(both[1:], both[0])) for both in zip(*parts, strict=True)]


def _valuations(model: Any) -> dict[str, Any]:
    """Return the values of each variable in all states, in the order in which variables are declared."""
    found = model.state_valuations
    states = range(model.nr_states)
    columns: dict[str, Any] = {}
    for variable in sorted(found.get_all_variables(), key=lambda variable: variable.index):
        if variable.has_boolean_type():
            truths = array("q", bytes(8 * model.nr_states))
            for state in found.get_boolean_values(variable):  # it lists the states where it holds
                truths[state] = 1
            columns[variable.name] = truths, ["false", "true"]
        elif variable.has_integer_type():
            columns[variable.name] = array("q", found.get_int64_values(variable))
        else:
            columns[variable.name] = [str(found.get_value(state, variable)) for state in states]
    return columns


def written(answer: dict[str, Any]) -> Iterator[bytes]:
    """Yield an answer: a line of JSON, and then the long lists, of which JSON has the lengths.

    A list of texts becomes numbers of the different ones, unless it is numbers and texts already; one of
    integers is written as it is.
    """
    lists: list[array[int]] = []

    def place(values: Sequence[int]) -> int:
        lists.append(values if isinstance(values, array) else array("q", values))
        return len(lists) - 1

    def column(values: Any) -> dict[str, Any]:
        if isinstance(values, tuple):
            return {"place": place(values[0]), "texts": values[1]}
        if isinstance(values, array) or {*map(type, values)} <= {int}:
            return {"place": place(values)}
        texts, numbers = numbered(values)
        return {"place": place(numbers), "texts": texts}

    head = {**answer}
    if "error" not in answer:
        for key in ("lengths", "targets", "numbers", "choices"):
            head[key] = place(answer[key])
        head["actions"] = None if answer["actions"] is None else column(answer["actions"])
        head["observations"] = column(answer.get("observations", ()))
        head["rewards"] = {name: column(values) for name, values in answer.get("rewards", {}).items()}
        head["labels"] = {name: place(states) for name, states in answer["labels"].items()}
        head["variables"] = {name: column(values) for name, values in answer["variables"].items()}
        head["lists"] = [len(values) for values in lists]
    yield json.dumps(head).encode() + b"\n"
    for values in lists:
        yield values.tobytes()


def _limit(request: dict[str, Any]) -> None:
    """Take no more memory and time than allowed, where the system can see to that."""
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return
    wanted = {resource.RLIMIT_AS: request["memory"], resource.RLIMIT_CPU: int(request["seconds"]) + 1}
    for limit, most in wanted.items():
        _, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def main() -> None:
    """Read the request and the model from standard input, write the answer to standard output."""
    request = json.loads(sys.stdin.buffer.readline())
    content = sys.stdin.buffer.read()
    _limit(request)
    gc.disable()  # what is made here holds no cycles, and is written at once
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the tool prints is no answer
        with _file(content, request["language"]) as path:
            answer = work({**request, "path": path})
        for part in written(answer):
            output.write(part)


@contextmanager
def _file(content: bytes, language: str) -> Iterator[str]:
    """Yield a path for the tools to read; nothing is left of it, however this process ends."""
    if Path("/dev/fd").exists():
        folder = os.environ.get("TMPDIR", "/tmp")  # to try folders out would leave a file
        with TemporaryFile(dir=folder if os.access(folder, os.W_OK) else None) as file:
            file.write(content)
            file.seek(0)
            yield f"/dev/fd/{file.fileno()}"
        return
    with TemporaryDirectory(prefix="bisimdist-") as name:
        source = Path(name) / f"model.{language}"
        source.write_bytes(content)
        yield str(source)


if __name__ == "__main__":
    main()
