"""Mechanisms as tables: the exact distribution of the output of each input, and who are neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

from bisimdist.models.entries import EntryText
from bisimdist.models.hmm import HMM


def mechanism_model(
    inputs: Mapping[str, Mapping[str, EntryText]],
    adjacency: Iterable[tuple[str, str]] | None = None,
    *,
    outputs: Iterable[str] | None = None,
) -> HMM:
    """Return a mechanism that answers once as a hidden Markov model that makes one observation.

    Parameters
    ----------
    inputs
        For each input the probabilities of the outputs.
    adjacency
        Which inputs are neighbours; by default every two.
    outputs
        The outputs; by default those of the table, in the order in which they occur.

    Returns
    -------
    HMM
        Each input is an information state, each output a hidden state that is observed as itself and ends the
        sequence. So `bisimdist.delta` and `bisimdist.profile` answer for the mechanism, and the least budget
        for one observation is its budget.

    Raises
    ------
    ModelError
        If a row does not sum to one, a name is unknown or a number is not exact.

    Examples
    --------
    >>> from bisimdist.budgets.verify.ask import epsilon
    >>> table = {"yes": {"y": "3/4", "n": "1/4"}, "no": {"y": "1/4", "n": "3/4"}}
    >>> epsilon(mechanism_model(table), length=1).pairs[0].ratio
    3
    """
    seen = dict.fromkeys(y for row in inputs.values() for y in row) if outputs is None else outputs
    names = tuple(seen)
    return HMM.from_mappings(
        {name: {name: 1} for name in names},
        {},
        inputs,
        observations=names,
        pairs=combinations(inputs, 2) if adjacency is None else adjacency,
    )
