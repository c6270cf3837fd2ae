"""MODEL as it is named: a file, standard input, or a built-in example."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from shlex import quote

from bisimdist.bounded import MAX_BYTES, read_at_most
from bisimdist.errors import Located, ModelError, UsageError
from bisimdist.faces.asked.program_source import program_file
from bisimdist.models.conversions import observed_chain
from bisimdist.models.io.reading import Reading
from bisimdist.models.kinds import HMM, LMC, PA, AnyModel, Interactive, IntervalChain, ParametricChain
from bisimdist.models.pa import chain_as_automaton
from bisimdist.models.visible import only_sight

Note = Callable[[str], None]  # told what a user should know of how the input was taken

EXAMPLE_PREFIX = "example:"
STANDARD_INPUT = "-"
INPUT_NAME = "standard input"


def standard_input(limit: int) -> bytes:
    """Read standard input to its end."""
    if sys.stdin is None:
        raise ModelError("it is closed; expected a text", source=INPUT_NAME)
    content = read_at_most(sys.stdin.buffer, limit)
    if content is None:
        raise ModelError(f"it is larger than the {limit // 2**20} MiB allowed", source=INPUT_NAME)
    return content


def read_any_model(model: str, reading: Reading, *, format: str | None = None) -> AnyModel:
    """Return the model that an argument names, whatever its kind.

    ``model``: a file, ``-`` for standard input, or ``example:NAME``.
    ``reading``: how it is to be taken; its note is told where the model shows nothing.
    ``format``: that of the file; by default what its extension or else its content says.
    """
    if reading.state_limit is not None and reading.state_limit < 1:
        raise UsageError(f"--state-limit {reading.state_limit}: expected at least 1")
    found = _read(model, format, reading)
    sight = only_sight(found)
    if sight is not None:
        what = {
            LMC: "state carries the label",
            IntervalChain: "state carries the label",
            ParametricChain: "state carries the label",
            Interactive: "state carries the label",
            PA: "step is the action",
            HMM: "state shows the observation",
        }
        hint = _what_says_more(model) if _foreign(model, format) else ""
        reading.note(f"every {what[type(found)]} {sight!r}: nothing tells two runs apart{hint}")
    return found


def _what_says_more(model: str) -> str:
    """Return which options say more of a model of another tool: first what the properties beside it name."""
    from bisimdist.models.io.properties import properties_beside

    options = "--label, --observe-variables, --observe-labels and --prism-labels say more"
    beside = None if model == STANDARD_INPUT else properties_beside(Path(model))
    if beside is None:
        return f"; {options}"
    file, atoms = beside
    few = ", ".join(atoms[:5]) + (", ..." if len(atoms) > 5 else "")
    return f"; --properties {quote(str(file))} would show {few}; {options}"


def _foreign(model: str, format: str | None) -> bool:
    """Tell whether a model is one of another tool, as far as its name says."""
    from bisimdist.models.io.formats import format_called, format_of

    known = format_of(Path(model)) if format is None else format_called(format)
    return known is not None and known.foreign


def _read(model: str, format: str | None, reading: Reading) -> AnyModel:
    # Imported here: an example needs no readers of files, and a file no examples.
    if model.startswith(EXAMPLE_PREFIX):
        from bisimdist.models.io.explicit import taken
        from bisimdist.models.library.registry import build_any_example

        unused = format or reading.unused()
        if unused is not None:
            what = f"--format {unused}" if unused == format else unused
            raise UsageError(f"{what}: is for files; {model[:60]} is built in")
        return taken(build_any_example(model.removeprefix(EXAMPLE_PREFIX)), reading)
    from bisimdist.models.io.load import load_model, parse_model

    if model == STANDARD_INPUT:
        content = standard_input(MAX_BYTES)
        return parse_model(content, format=format, source=INPUT_NAME, reading=reading)
    return load_model(model, format=format, reading=reading)


def is_model_file(argument: str) -> bool:
    """Tell whether an argument that may be a name with settings is a file, or standard input."""
    return argument == STANDARD_INPUT or bool(Path(argument.split(",", maxsplit=1)[0]).suffix)


def source_name(model: str) -> str:
    """Return what errors call the model that an argument names."""
    return INPUT_NAME if model == STANDARD_INPUT else model


def files_of_model(model: str, format: str | None = None) -> list[str]:
    """Return the files that make up the model which an argument names, in the format that it is read in."""
    if model == STANDARD_INPUT or model.startswith(EXAMPLE_PREFIX):
        return []
    path = Path(program_file(model))
    if path.suffix.lower() == ".py":  # it may import what lies beside it
        return [str(path), *map(str, path.parent.glob("*.py")), *map(str, path.parent.glob("*/*.py"))]
    from bisimdist.models.io.formats import files_beside

    return [str(path), *map(str, files_beside(path, format))]


def as_chain(found: AnyModel, source: str, note: Note) -> LMC:
    """Return a model as a labelled Markov chain that shows what an observer sees; a note says of what.

    Raises ModelError if it is a nondeterministic automaton, or a hidden Markov model with parameters.
    """
    if isinstance(found, LMC):
        return found
    if isinstance(found, Interactive | IntervalChain | ParametricChain):
        raise unfit(found, source, "a Markov chain")
    with Located(source=source):
        chain = observed_chain(found)
    if isinstance(found, HMM):
        note("the hidden Markov model is taken as a Markov chain that shows its observations")
    else:
        note("the automaton is fully probabilistic: taken as a Markov chain that shows the actions")
    return chain


def as_system(found: AnyModel, source: str, note: Note) -> LMC | Interactive:
    """Return an interactive model as it is, and any other as a chain."""
    return found if isinstance(found, Interactive) else as_chain(found, source, note)


def unfit(found: Interactive | IntervalChain | ParametricChain, source: str, expected: str) -> ModelError:
    """Return the error about a model in which somebody chooses."""
    if isinstance(found, ParametricChain):
        return found.unset().with_source(source)
    what = "an interactive model (kind interactive)"
    if isinstance(found, IntervalChain):
        what = "a chain whose probabilities are only known to lie in intervals"
    return ModelError(f"this is {what}; expected {expected}", source=source)


def as_automaton(found: AnyModel, source: str, note: Note, *, fully_probabilistic: bool = False) -> PA:
    """Return a model as a probabilistic automaton; of a chain, that of its labels, and a note says so.

    Raises ModelError if it is a hidden Markov model; with `fully_probabilistic` also if a state has several
    transitions.
    """
    if isinstance(found, PA):
        if fully_probabilistic and not found.fully_probabilistic:
            raise ModelError(
                "the state has several transitions; expected at most one (a fully probabilistic automaton)",
                place=f"state {_with_choices(found)!r}",
                source=source,
            )
        return found
    if isinstance(found, LMC):
        note("the model is a labelled Markov chain: its labels are taken as actions")
        return chain_as_automaton(found)
    if isinstance(found, Interactive | IntervalChain | ParametricChain):
        raise unfit(found, source, "a probabilistic automaton")
    raise ModelError(
        "this is a hidden Markov model (kind hmm); expected a probabilistic automaton, which "
        "'bisimdist convert MODEL --to pa' makes of it",
        source=source,
    )


def _with_choices(automaton: PA) -> str:
    """Return the first state that has several transitions."""
    seen: set[int] = set()
    for transition in automaton.transitions:
        if transition.source in seen:
            return automaton.states[transition.source]
        seen.add(transition.source)
    return ""


def as_hmm(found: AnyModel, source: str) -> HMM:
    """Return a model as a hidden Markov model, which it has to be."""
    if isinstance(found, HMM):
        return found
    if isinstance(found, Interactive | IntervalChain | ParametricChain):
        raise unfit(found, source, "a hidden Markov model (kind hmm)")
    kind = "a labelled Markov chain" if isinstance(found, LMC) else "a probabilistic automaton"
    raise ModelError(
        f"this is {kind}; expected a hidden Markov model (kind hmm); "
        "'bisimdist convert MODEL --to hmm' makes one of a model without choices",
        source=source,
    )
