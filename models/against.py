"""Two models side by side, so that states of one can be held against states of the other."""

from __future__ import annotations

from bisimdist.errors import ModelError, UsageError
from bisimdist.models.conversions import hmm_as_lmc
from bisimdist.models.hmm import HMM
from bisimdist.models.kinds import AnyModel
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, Transition, automaton_of
from bisimdist.models.transform import disjoint_union

__all__ = ["PREFIXES", "side_by_side"]

PREFIXES = ("first:", "second:")
"""What is put before the names of the states."""


def side_by_side(first: AnyModel, second: AnyModel) -> LMC | PA:
    """Put two models beside each other, paired by the first states of their pairs, in order.

    Parameters
    ----------
    first, second
        Chains, hidden Markov models or automata. A model without pairs is taken from its first state.

    Returns
    -------
    LMC or PA
        The states of both, with `PREFIXES` before their names; an automaton if one of the two is.

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
    if isinstance(first, PA) or isinstance(second, PA):
        return _automata(_automaton(first), _automaton(second))
    left, right = _chain(first), _chain(second)
    union = disjoint_union(left, right, prefixes=PREFIXES)
    return LMC(union.states, union.labels, union.rows, _pairs(left, right))


def _automata(left: PA, right: PA) -> PA:
    shift = len(left)
    moved = (
        Transition(step.source + shift, step.action, tuple((target + shift, p) for target, p in step.row))
        for step in right.transitions
    )
    both = zip(PREFIXES, (left, right), strict=True)
    names = tuple(prefix + name for prefix, half in both for name in half.states)
    return PA(names, (*left.transitions, *moved), _pairs(left, right))


def _pairs(left: LMC | PA, right: LMC | PA) -> tuple[tuple[int, int], ...]:
    starts = [list(dict.fromkeys(s for s, _ in model.pairs)) or [0] for model in (left, right)]
    if len(starts[0]) != len(starts[1]):
        raise UsageError(
            f"one model starts from {len(starts[0])} states and the other from {len(starts[1])}; say which "
            "to compare with --pair S T, a state of each"
        )
    return tuple((s, t + len(left)) for s, t in zip(*starts, strict=True))


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
