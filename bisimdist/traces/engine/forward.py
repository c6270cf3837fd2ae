"""The forward algorithm: the exact probability of an observation sequence.

Source: LWZ22-conference Table 1, LWZ22-long Table 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.entries import SparseRow
from bisimdist.models.hmm import HMM
from bisimdist.models.polynomial import Entry
from bisimdist.progress import NEVER, Deadline


def sequence_indices(model: HMM, sequence: Sequence[str]) -> tuple[int, ...]:
    """Return the indices of named observations."""
    return tuple(model.observation(name) for name in sequence)


def joint_states(
    model: HMM, start: SparseRow, word: Sequence[int], *, deadline: Deadline = NEVER
) -> dict[int, Entry]:
    """Return for each state s the probability of making the word and making its last symbol in s.

    ``model``: the model; its entries may depend on parameters.
    ``start``: the distribution of the first state.
    ``word``: indices of observations, at least one.
    Raises UsageError if the word is empty, or holds anything but indices of observations, such as their
    names.
    Source: Rabiner, "A tutorial on hidden Markov models", Proceedings of the IEEE 77, 1989, Section III.
    """
    if not word:
        raise UsageError("the observation sequence is empty; expected at least one observation")
    last = len(model.observations) - 1
    for symbol in word:
        if not isinstance(symbol, int) or not 0 <= symbol <= last:
            raise UsageError(
                f"the word holds {symbol!r}; expected indices of observations, 0..{last} "
                "(sequence_indices makes them of names)"
            )
    emissions = [dict(row) for row in model.emissions]
    current: dict[int, Entry] = dict(start)
    for position, symbol in enumerate(word):
        deadline.check()
        if position:
            moved: dict[int, Entry] = {}
            for state, mass in current.items():
                for target, chance in model.rows[state]:
                    if symbol in emissions[target]:
                        moved[target] = moved.get(target, fmpq(0)) + mass * chance
            current = moved
        current = {
            state: mass * emissions[state][symbol]
            for state, mass in current.items()
            if symbol in emissions[state] and mass
        }
    return current


def probability(model: HMM, start: SparseRow, word: Sequence[int], *, deadline: Deadline = NEVER) -> Entry:
    """Return Pr(word | start), a function of the parameters where the model has some.

    Parameters and errors are those of `joint_states`.

    >>> from bisimdist.models.library.hidden_markov import geometric
    >>> model = geometric()
    >>> probability(model, model.distribution("0"), [2])
    1/6
    """
    total: Entry = fmpq(0)
    for mass in joint_states(model, start, word, deadline=deadline).values():
        total = total + mass
    return total


def word_probability(model: HMM, name: str, word: Sequence[int], *, deadline: Deadline = NEVER) -> fmpq:
    """Return Pr(word | an information state), of a model without parameters."""
    found = probability(model, model.distribution(name), word, deadline=deadline)
    if not isinstance(found, fmpq):
        raise UsageError("the model has parameters; expected one without (give them values)")
    return found


def is_possible(model: HMM, starts: Sequence[SparseRow], length: int) -> bool:
    """Tell whether some sequence of a length can be made, for some values of the parameters at least.

    Every state makes an observation, so that only the states that end the sequence matter.

    >>> from bisimdist.models.library.hidden_markov import geometric
    >>> model = geometric()
    >>> is_possible(model, [model.distribution("0")], 1), is_possible(model, [model.distribution("0")], 2)
    (True, False)
    """
    current = {state for start in starts for state, _ in start}
    seen = set()
    for _ in range(length - 1):
        current = {target for state in current for target, _ in model.rows[state]}
        if frozenset(current) in seen:
            return True  # a cycle of non-empty sets of states
        if not current:
            return False
        seen.add(frozenset(current))
    return True
