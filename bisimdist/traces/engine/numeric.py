"""The probabilities of an observation sequence as a function of the state, computed backwards.

``h_w(s) = Pr(w | s)`` with ``h_x(s) = o(s, x)`` and ``h_xw(s) = o(s, x) sum_s' p(s, s') h_w(s')``. An
information state pi gives ``Pr(w | pi) = sum_s pi(s) h_w(s)``, whatever pi is; so what is known of all h_w
serves every pair of information states at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.entries import SparseRow
from bisimdist.models.hmm import HMM
from bisimdist.models.transform import reached_hidden_states

Function = tuple[fmpq, ...]  # a number for each state of a `NumericModel`

Row = tuple[tuple[int, fmpq], ...]

_ZERO = fmpq(0)


@dataclass(frozen=True, slots=True)
class NumericModel:
    """A model without parameters, restricted to the states that a pair of information states can reach."""

    model: HMM
    states: tuple[int, ...]  # the indices of its states there
    rows: tuple[Row, ...]  # the transitions between them, by positions in `states`
    emissions: tuple[dict[int, fmpq], ...]  # for each of them the probabilities of the observations
    first: Function
    second: Function

    @classmethod
    def of(cls, model: HMM, pair: tuple[str, str]) -> NumericModel:
        """Restrict a model to what a pair can reach."""
        if model.parametric:
            raise UsageError("the model has parameters; expected one with numbers only (see HMM.at)")
        one, two = (_numbers(model.distribution(name)) for name in pair)
        states = reached_hidden_states(model, {s for s, _ in (*one, *two)})
        position = {state: place for place, state in enumerate(states)}
        return cls(
            model,
            tuple(states),
            tuple(tuple((position[t], p) for t, p in _numbers(model.rows[s])) for s in states),
            tuple(dict(_numbers(model.emissions[s])) for s in states),
            _dense(one, states),
            _dense(two, states),
        )

    def __len__(self) -> int:
        return len(self.states)

    @property
    def symbols(self) -> range:
        return range(len(self.model.observations))

    def seen(self, symbol: int) -> Function:
        """Return h_x: how probable each state makes an observation."""
        return tuple(emission.get(symbol, _ZERO) for emission in self.emissions)

    def before(self, symbol: int, function: Function) -> Function:
        """Return h_xw for the function h_w."""
        result = []
        for emission, row in zip(self.emissions, self.rows, strict=True):
            seen = emission.get(symbol)
            result.append(_ZERO if seen is None else seen * sum((p * function[t] for t, p in row), _ZERO))
        return tuple(result)

    def of_word(self, word: tuple[int, ...]) -> Function:
        """Return h_w of a sequence of at least one observation."""
        function = self.seen(word[-1])
        for symbol in reversed(word[:-1]):
            function = self.before(symbol, function)
        return function

    def probabilities(self, function: Function) -> tuple[fmpq, fmpq]:
        """Return the expectation of a function under both information states."""
        one = sum((p * h for p, h in zip(self.first, function, strict=True)), _ZERO)
        two = sum((p * h for p, h in zip(self.second, function, strict=True)), _ZERO)
        return one, two


def _numbers(row: SparseRow) -> Row:
    return tuple((index, entry) for index, entry in row if isinstance(entry, fmpq))


def _dense(row: Row, states: list[int]) -> Function:
    masses = dict(row)
    return tuple(masses.get(state, _ZERO) for state in states)
