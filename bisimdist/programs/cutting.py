"""What bounds on a whole program follow from bounds on the runs that are not cut off."""

from __future__ import annotations

from flint import fmpq

__all__ = ["widened"]


def widened(
    lower: fmpq, upper: fmpq, alphas: tuple[fmpq, fmpq], masses: tuple[fmpq, fmpq]
) -> tuple[fmpq, fmpq]:
    """Return bounds on the delta of whole programs, given bounds for the chain in which runs are cut off.

    Parameters
    ----------
    lower, upper
        Bounds on the delta of the chain.
    alphas
        The alpha of the lower and of the upper bound.
    masses
        The probabilities of a cut from both states.

    Notes
    -----
    The proof is in ``docs/theory/programs.md``.
    """
    p, q = masses
    alpha = alphas[0]
    lost = max(p + alpha * q, q + alpha * p)
    return max(fmpq(0), lower - lost), min(fmpq(1), upper + max(p, q))
