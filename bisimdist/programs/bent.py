"""Programs with bent coins from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.intervals import IntervalChain
from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.coins import bent
from bisimdist.programs.front import explored
from bisimdist.programs.request import Request
from bisimdist.progress import NEVER, Deadline


def explore_bent(  # noqa: PLR0913
    function: Callable[..., Any] | str,
    inputs: Iterable[Any] | Mapping[str, Any],
    gain: ExactNumber,
    *,
    observe: str = "output",
    pairs: Sequence[tuple[str, str]] | None = None,
    deadline: Deadline = NEVER,
) -> IntervalChain:
    """Return the chains of a program in which an adversary biases every random bit.

    Parameters
    ----------
    function, inputs, pairs, deadline
        As for `bisimdist.explore`; the program draws single fair bits only.
    gain
        Each bit is one with a probability of (1-g)/2 to (1+g)/2, which may depend on all that came before.
    observe
        ``"output"``, or ``"draws"``: then it is seen, too, that bits are drawn.

    Returns
    -------
    IntervalChain
        The chains.

    Raises
    ------
    UsageError
        If the program draws anything else, or the gain is not from 0 to 1.

    Examples
    --------
    >>> import bisimdist
    >>> def answer(truth, rng):
    ...     if rng.getrandbits(1) == 1 or rng.getrandbits(1) == 1:
    ...         return truth
    ...     return not truth
    >>> chain = explore_bent(answer, [True, False], "1/3")
    >>> bisimdist.delta(chain, 3).upper
    5/9
    """
    if observe not in {"output", "draws"}:
        raise UsageError(f"observe is {observe!r}; expected output or draws")
    chain = explored(function, inputs, Request("draws", deadline=deadline, bits=True), pairs=pairs)
    if not isinstance(chain, ProgramChain):
        raise UsageError("biased coins need a program without an analyst")
    return bent(chain, to_fmpq(gain), seen=observe == "draws")
