"""MODEL on the command line: a file, standard input, or a built-in example."""

from __future__ import annotations

import sys

from bisimdist.cli.failure import note
from bisimdist.errors import ModelError
from bisimdist.models.hmm import HMM
from bisimdist.models.io.load import MAX_BYTES, load_model, parse_model
from bisimdist.models.library.registry import build_any_example
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, action_labelled_lmc

__all__ = ["EXAMPLE_PREFIX", "STANDARD_INPUT", "read_any_model", "read_hmm", "read_model", "standard_input"]

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
        If there is no such model, or it is not usable.
    """
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
    note("the automaton is fully probabilistic: taken as a Markov chain that shows the actions")
    return chain


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
