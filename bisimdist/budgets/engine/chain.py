"""A hidden Markov model seen as a labelled chain: states (state, observation), labels observations."""

from __future__ import annotations

import json

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.entries import SparseRow
from bisimdist.models.hmm import HMM
from bisimdist.models.lmc import LMC
from bisimdist.models.transform import reached_hidden_states

FIRST, SECOND, END = '["first"]', '["second"]', '["end"]'
"""The states that stand for the two information states, and for the end of the sequence."""


def as_chain(model: HMM, pair: tuple[str, str]) -> LMC:
    """Return a chain whose traces from two states are the observation sequences from two information states.

    A state (s, x) has made the observation x in s; it is called by the JSON array of the two. Where a state
    has no successor, the chain goes on with a label of its own for ever, so that the end is visible.

    Raises UsageError if an entry depends on a parameter.

    >>> model = HMM.from_mappings({"s": {"x": 1}}, {"s": {"s": 1}}, {"pi": {"s": 1}, "tau": {"s": 1}})
    >>> as_chain(model, ("pi", "tau")).states
    ('["first"]', '["second"]', '["s", "x"]')
    """
    if model.parametric:
        raise UsageError("the model has parameters; expected one with numbers only (see HMM.at)")
    starts = [model.distribution(name) for name in pair]
    labels = {FIRST: "start", SECOND: "start"}
    rows: dict[str, dict[str, fmpq]] = {
        name: _spread(model, row) for name, row in zip((FIRST, SECOND), starts, strict=True)
    }
    for state in reached_hidden_states(model, {s for row in starts for s, _ in row}):
        for symbol, _ in model.emissions[state]:
            name = json.dumps([model.states[state], model.observations[symbol]])
            labels[name] = json.dumps(model.observations[symbol])
            rows[name] = _spread(model, model.rows[state]) if model.rows[state] else {END: fmpq(1)}
            if not model.rows[state]:
                labels[END] = "end"
                rows[END] = {END: fmpq(1)}
    return LMC.from_mappings(labels, rows, [(FIRST, SECOND)])


def _spread(model: HMM, row: SparseRow) -> dict[str, fmpq]:
    result = {}
    for state, mass in row:
        for symbol, seen in model.emissions[state]:
            probability = mass * seen
            if isinstance(probability, fmpq):
                result[json.dumps([model.states[state], model.observations[symbol]])] = probability
    return result
