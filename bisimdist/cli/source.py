"""Models for commands that are no questions yet."""

from __future__ import annotations

from collections.abc import Sequence

from bisimdist.cli.common_options import keeps_prism_labels
from bisimdist.cli.failure import note_with_answer
from bisimdist.models.hmm import HMM
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA
from bisimdist.questions.given import Given
from bisimdist.questions.source import (
    EXAMPLE_PREFIX,
    INPUT_NAME,
    STANDARD_INPUT,
    standard_input,
)

__all__ = [
    "EXAMPLE_PREFIX",
    "INPUT_NAME",
    "STANDARD_INPUT",
    "named_pairs",
    "read_any_model",
    "read_automaton",
    "read_hmm",
    "read_model",
    "standard_input",
]


def _given(model: str, **values: object) -> Given:
    values = {"argument": model, "prism_labels": keeps_prism_labels(), **values}
    return Given(values, note_with_answer)


def read_any_model(model: str, *, state_limit: int | None = None) -> LMC | PA | HMM:
    """Return the model, whatever its kind."""
    return _given(model, state_limit=state_limit).any_model()


def read_model(model: str) -> LMC:
    """Return the chain."""
    return _given(model).chain()


def read_automaton(model: str, *, state_limit: int | None = None, fully_probabilistic: bool = False) -> PA:
    """Return the automaton."""
    return _given(model, state_limit=state_limit).automaton(fully_probabilistic=fully_probabilistic)


def read_hmm(model: str) -> HMM:
    """Return the hidden Markov model."""
    return _given(model).hmm()


def named_pairs(model: LMC | PA, pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the pairs."""
    return _given("", pairs=pairs).pairs(model)
