"""MODEL on the command line: a file, standard input, or a built-in example."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bisimdist.cli.failure import note_with_answer
from bisimdist.errors import ModelError, UsageError
from bisimdist.models.hmm import HMM
from bisimdist.models.io.load import MAX_BYTES, load_model, parse_model
from bisimdist.models.library.registry import build_any_example
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, action_labelled_lmc, chain_as_automaton

__all__ = [
    "EXAMPLE_PREFIX",
    "STANDARD_INPUT",
    "named_pairs",
    "read_any_model",
    "read_automaton",
    "read_hmm",
    "read_model",
    "standard_input",
]

EXAMPLE_PREFIX = "example:"
STANDARD_INPUT = "-"
INPUT_NAME = "standard input"


def standard_input(limit: int) -> bytes:
    """Read standard input to its end.

    Raises
    ------
    ModelError
        If there is none, or more than `limit` bytes of it.
    """
    if sys.stdin is None:
        raise ModelError("it is closed; expected a text", source=INPUT_NAME)
    content = sys.stdin.buffer.read(limit + 1)
    if len(content) > limit:
        raise ModelError(f"it is larger than the {limit // 2**20} MiB allowed", source=INPUT_NAME)
    return content


def read_any_model(model: str, *, state_limit: int | None = None) -> LMC | PA | HMM:
    """Return the model that an argument names, whatever its kind.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    state_limit
        How many states the automaton of a CCS_p text may have; by default what the text says.

    Raises
    ------
    BisimdistError
        If there is no such model, or it is not usable, or the limit is less than one.
    """
    if state_limit is not None and state_limit < 1:
        raise UsageError(f"--state-limit {state_limit}: expected at least 1")
    if model == STANDARD_INPUT:
        return parse_model(standard_input(MAX_BYTES), source=INPUT_NAME, state_limit=state_limit)
    if model.startswith(EXAMPLE_PREFIX):
        return build_any_example(model.removeprefix(EXAMPLE_PREFIX))
    return load_model(model, state_limit=state_limit)


def read_model(model: str) -> LMC:
    """Return the labelled Markov chain that an argument names.

    A fully probabilistic automaton is translated, and a note on standard error says so.

    Raises
    ------
    BisimdistError
        If there is no such model, it is not usable, or it is a nondeterministic automaton.
    """
    found = read_any_model(model)
    if isinstance(found, LMC):
        return found
    source = INPUT_NAME if model == STANDARD_INPUT else model
    if isinstance(found, HMM):
        raise ModelError("this is a hidden Markov model (kind hmm); expected a Markov chain", source=source)
    try:
        chain = action_labelled_lmc(found)
    except ModelError as error:
        raise error.with_source(source) from None
    note_with_answer("the automaton is fully probabilistic: taken as a Markov chain that shows the actions")
    return chain


def read_automaton(model: str, *, state_limit: int | None = None, fully_probabilistic: bool = False) -> PA:
    """Return the probabilistic automaton that an argument names; of a chain, that of its labels.

    Raises
    ------
    BisimdistError
        If there is no such model, it is not usable, or it is of another kind; with `fully_probabilistic`
        also if a state has several transitions.
    """
    found = read_any_model(model, state_limit=state_limit)
    source = INPUT_NAME if model == STANDARD_INPUT else model
    if isinstance(found, PA):
        if fully_probabilistic and not found.fully_probabilistic:
            raise ModelError(
                "the state has several transitions; expected at most one (a fully probabilistic automaton)",
                place=f"state {_with_choices(found)!r}",
                source=source,
            )
        return found
    if isinstance(found, LMC):
        note_with_answer("the model is a labelled Markov chain: its labels are taken as actions")
        return chain_as_automaton(found)
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


def read_hmm(model: str) -> HMM:
    """Return the hidden Markov model that an argument names.

    Raises
    ------
    BisimdistError
        If there is no such model, it is not usable, or it is of another kind.
    """
    found = read_any_model(model)
    if isinstance(found, HMM):
        return found
    kind = "a labelled Markov chain" if isinstance(found, LMC) else "a probabilistic automaton"
    raise ModelError(
        f"this is {kind}; expected a hidden Markov model (kind hmm)",
        source=INPUT_NAME if model == STANDARD_INPUT else model,
    )


def named_pairs(model: LMC | PA, pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the pairs that were asked for by name; where none were, those of the model.

    Raises
    ------
    ModelError
        If a name is no state.
    UsageError
        If there are no pairs at all.
    """
    for name in (name for pair in pairs for name in pair):
        model.index(name)
    if pairs:
        return tuple((source, target) for source, target in pairs)
    if not model.pairs:
        raise UsageError("the model has no pairs of its own; say which states to compare with --pair S T")
    return tuple((model.states[s], model.states[t]) for s, t in model.pairs)
