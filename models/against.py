"""Two models side by side, so that states of one can be held against states of the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import shorten_rational
from bisimdist.models.conversions import hmm_as_lmc
from bisimdist.models.entries import Parameter, SparseRow, read_entry
from bisimdist.models.kinds import HMM, LMC, PA, AnyModel, Interactive, IntervalChain, ParametricChain
from bisimdist.models.model import check_model
from bisimdist.models.pa import automaton_of

PREFIXES = ("first:", "second:")  # what is put before the names of the states

Start = TypeVar("Start")
Chain: TypeAlias = LMC | IntervalChain | ParametricChain
_Stated: TypeAlias = Chain | PA | Interactive


def side_by_side(first: AnyModel, second: AnyModel) -> Chain | PA | HMM | Interactive:
    """Put two models beside each other, paired by the first states of their pairs, in order.

    Parameters
    ----------
    first, second
        Two models of kinds that have something in common. A model without pairs is taken from its first
        state.

    Returns
    -------
    LMC, IntervalChain, ParametricChain, PA, HMM or Interactive
        The states of both (and distributions), with `PREFIXES` before their names; an automaton, or a chain
        in intervals or with parameters, if one of the two is, a hidden Markov model or an interactive model
        if both are.

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
    if isinstance(first, Interactive) and isinstance(second, Interactive):
        return _interactive(first, second)
    if isinstance(first, PA) or isinstance(second, PA):
        return _automata(_automaton(first), _automaton(second))
    return _chains(_chain(first), _chain(second))


def _chains(left: Chain, right: Chain) -> Chain:
    """Return the union of two chains, over the parameters of both, or in intervals where one of them is."""
    both = left, right
    about = _names(left, right), (*left.labels, *right.labels)
    pairs = _pairs(left, right)
    rough = [half for half in both if isinstance(half, IntervalChain)]
    opened = [half for half in both if isinstance(half, ParametricChain)]

    def rows(change: Callable[[Sequence[Any]], Sequence[Any]]) -> Any:
        found = ((shift, row) for shift, half in zip((0, len(left)), both, strict=True) for row in half.rows)
        return tuple(tuple((t + shift, *change(known)) for t, *known in row) for shift, row in found)

    if rough and opened:
        raise UsageError("one of the two models has parameters, the other intervals; expected values (--set)")
    if rough:
        return IntervalChain(*about, rows(lambda p: (p[0], p[-1])), pairs, _confidence(rough))
    if opened:
        parameters = _parameters(opened)
        names = [parameter.name for parameter in parameters]
        return ParametricChain(*about, rows(lambda p: [read_entry(str(p[0]), names)]), parameters, pairs)
    return LMC(*about, rows(lambda p: p), pairs)


def _confidence(learned: Iterable[IntervalChain]) -> fmpq | None:
    """Return with what probability the true chains are within the intervals of all."""
    said = [half.confidence for half in learned if half.confidence is not None]
    if not said:
        return None
    sure = 1 - sum((1 - confidence for confidence in said), fmpq(0))
    if sure <= 0:
        raise UsageError(
            "two models were learned, and both are right with confidence 0; expected more of each"
        )
    return sure


def _parameters(opened: Iterable[ParametricChain]) -> tuple[Parameter, ...]:
    """Return the parameters of all, by name: one that several have is the same in them."""
    found: dict[str, Parameter] = {}
    for here in (parameter for half in opened for parameter in half.parameters):
        there = found.setdefault(here.name, here)
        if there != here:
            one, other = (
                f"between {shorten_rational(p.low)} and {shorten_rational(p.high)}" for p in (there, here)
            )
            raise UsageError(
                f"the parameter {here.name!r} is {one} in one model and {other} in the other; expected one "
                "interval, or two names"
            )
    return tuple(found[name] for name in sorted(found))


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
    return PA(_names(left, right), (*left.transitions, *moved), _pairs(left, right))


def _interactive(left: Interactive, right: Interactive) -> Interactive:
    shift = len(left)
    moved = (
        tuple((action, tuple((t + shift, p) for t, p in row)) for action, row in moves)
        for moves in right.moves
    )
    labels = (*left.labels, *right.labels)
    return Interactive(_names(left, right), labels, (*left.moves, *moved), _pairs(left, right))


def _names(left: _Stated, right: _Stated) -> tuple[str, ...]:
    both = zip(PREFIXES, (left, right), strict=True)
    return tuple(prefix + name for prefix, half in both for name in half.states)


def _pairs(left: _Stated, right: _Stated) -> tuple[tuple[int, int], ...]:
    starts = [list(dict.fromkeys(s for s, _ in model.pairs)) or [0] for model in (left, right)]
    return tuple((s, t + len(left)) for s, t in _paired(*starts))


def _paired(left: list[Start], right: list[Start]) -> Iterable[tuple[Start, Start]]:
    if len(left) != len(right):
        raise UsageError(
            f"the models differ in how many states they start from, {len(left)} and {len(right)}; say which "
            "to compare with --pair S T, a state of each"
        )
    return zip(left, right, strict=True)


def _chain(model: AnyModel) -> Chain:
    if isinstance(model, HMM):
        return hmm_as_lmc(model)
    if isinstance(model, LMC | IntervalChain | ParametricChain):
        return model
    check_model(model)
    raise UsageError("an interactive model can only be compared with an interactive model")


def _automaton(model: AnyModel) -> PA:
    if isinstance(model, LMC | PA):
        return automaton_of(model)
    raise UsageError("an automaton can only be compared with an automaton or a chain")
