"""Two models side by side, so that states of one can be held against states of the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from bisimdist.errors import ModelError, UsageError
from bisimdist.models.conversions import hmm_as_lmc
from bisimdist.models.hmm import HMM, SparseRow
from bisimdist.models.kinds import AnyModel
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of
from bisimdist.models.transform import disjoint_union

__all__ = ["PREFIXES", "side_by_side"]

PREFIXES = ("first:", "second:")
"""What is put before the names of the states."""

Start = TypeVar("Start")


def side_by_side(first: AnyModel, second: AnyModel) -> LMC | PA | HMM:
    """Put two models beside each other, paired by the first states of their pairs, in order.

    Parameters
    ----------
    first, second
        Chains, hidden Markov models or automata. A model without pairs is taken from its first state.

    Returns
    -------
    LMC, PA or HMM
        The states of both (and distributions), with `PREFIXES` before their names; an automaton if one of the
        two is, a hidden Markov model if both are.

    Raises
    ------
    UsageError
        If they are of kinds that have nothing in common, or one has more states to start from.

    Examples
    --------
    >>> one = LMC.from_mappings({"s": "a"}, {"s": {"s": 1}})
    >>> both = side_by_side(one, one)
    >>> both.states, both.pairs
    (('first:s', 'second:s'), ((0, 1),))
    """
    if isinstance(first, HMM) and isinstance(second, HMM):
        return _hidden(first, second)
    if isinstance(first, PA) or isinstance(second, PA):
        return _automata(_automaton(first), _automaton(second))
    left, right = _chain(first), _chain(second)
    union = disjoint_union(left, right, prefixes=PREFIXES)
    return LMC(union.states, union.labels, union.rows, _pairs(left, right))


def _hidden(left: HMM, right: HMM) -> HMM:
    if left.parameters != right.parameters:
        raise UsageError("the two hidden Markov models have different parameters; expected the same")
    observations = tuple(dict.fromkeys((*left.observations, *right.observations)))
    symbol = {name: index for index, name in enumerate(observations)}
    shift = len(left)

    def moved(row: SparseRow) -> SparseRow:
        return tuple((state + shift, entry) for state, entry in row)

    def seen(model: HMM) -> tuple[SparseRow, ...]:
        renamed = [symbol[name] for name in model.observations]
        return tuple(tuple(sorted((renamed[x], p) for x, p in row)) for row in model.emissions)

    starts = [
        list(dict.fromkeys(s for s, _ in model.pairs)) or [model.distributions[0][0]]
        for model in (left, right)
    ]
    one, two = PREFIXES
    return HMM(
        (*(one + name for name in left.states), *(two + name for name in right.states)),
        observations,
        (*seen(left), *seen(right)),
        (*left.rows, *map(moved, right.rows)),
        (
            *((one + name, row) for name, row in left.distributions),
            *((two + name, moved(row)) for name, row in right.distributions),
        ),
        tuple((one + s, two + t) for s, t in _paired(*starts)),
        left.parameters,
    )


def _automata(left: PA, right: PA) -> PA:
    shift = len(left)
    moved = (
        replace(step, source=step.source + shift, row=tuple((target + shift, p) for target, p in step.row))
        for step in right.transitions
    )
    both = zip(PREFIXES, (left, right), strict=True)
    names = tuple(prefix + name for prefix, half in both for name in half.states)
    return PA(names, (*left.transitions, *moved), _pairs(left, right))


def _pairs(left: LMC | PA, right: LMC | PA) -> tuple[tuple[int, int], ...]:
    starts = [list(dict.fromkeys(s for s, _ in model.pairs)) or [0] for model in (left, right)]
    return tuple((s, t + len(left)) for s, t in _paired(*starts))


def _paired(left: list[Start], right: list[Start]) -> Iterable[tuple[Start, Start]]:
    if len(left) != len(right):
        raise UsageError(
            f"one model starts from {len(left)} states and the other from {len(right)}; say which to compare "
            "with --pair S T, a state of each"
        )
    return zip(left, right, strict=True)


def _chain(model: AnyModel) -> LMC:
    if isinstance(model, HMM):
        return hmm_as_lmc(model)
    if isinstance(model, LMC):
        return model
    raise ModelError("this is an interactive model; expected a chain, a hidden Markov model or an automaton")


def _automaton(model: AnyModel) -> PA:
    if isinstance(model, LMC | PA):
        return automaton_of(model)
    raise UsageError("an automaton is held against an automaton or a chain")
