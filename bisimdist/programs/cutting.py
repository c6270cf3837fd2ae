"""What bounds on a whole program follow from bounds on the runs that are not cut off."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq

from bisimdist.models.lmc import LMC
from bisimdist.programs.chain import ProgramChain

__all__ = ["ended_early", "inner", "masses_of", "widened"]


def inner(model: LMC) -> LMC:
    """Return the chain as such: runs of a program that are cut off end in a state of their own in it."""
    if not isinstance(model, ProgramChain):
        return model
    return replace(model, cut={})


def ended_early(model: object) -> bool:
    """Tell whether a model is a program that a limit kept from being explored as far as was asked."""
    return isinstance(model, ProgramChain) and model.origin.ended


def masses_of(model: object, pair: tuple[int, int]) -> tuple[fmpq, fmpq] | None:
    """Return how likely runs from two states are cut off; None of what is no program, or is whole."""
    if not isinstance(model, ProgramChain) or not model.cut:
        return None
    return model.cut.get(pair[0], fmpq(0)), model.cut.get(pair[1], fmpq(0))


def widened(lower: fmpq, upper: fmpq, alpha: fmpq, masses: tuple[fmpq, fmpq] | None) -> tuple[fmpq, fmpq]:
    """Return bounds on the delta of whole programs, given bounds for the chain in which runs are cut off.

    Parameters
    ----------
    lower, upper
        Bounds on the delta of the chain.
    alpha
        That of the lower bound.
    masses
        The probabilities of a cut from both states; None where there is none.

    Notes
    -----
    The proof is in ``docs/theory/programs.md``.
    """
    if masses is None:
        return lower, upper
    p, q = masses
    lost = max(p + alpha * q, q + alpha * p)
    return max(fmpq(0), lower - lost), min(fmpq(1), upper + max(p, q))
