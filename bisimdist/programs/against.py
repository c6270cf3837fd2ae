"""Two programs side by side: what one makes of an input, held against what the other makes of it."""

from __future__ import annotations

from bisimdist.errors import UsageError
from bisimdist.models.against import PREFIXES, side_by_side
from bisimdist.models.lmc import LMC
from bisimdist.programs.chain import Origin, ProgramChain

__all__ = ["programs_side_by_side"]


def programs_side_by_side(first: ProgramChain, second: ProgramChain) -> ProgramChain:
    """Put the chains of two programs beside each other, paired by the first inputs of their pairs.

    Parameters
    ----------
    first, second
        The chains; what is cut off from each of them goes on being so.

    Raises
    ------
    UsageError
        If different things are seen of them, or one has more inputs.
    """
    both = side_by_side(first, second)
    one, other = first.origin, second.origin
    if not isinstance(both, LMC) or one.observe != other.observe:
        raise UsageError("different things are seen of the two programs; expected the same")
    origin = Origin(
        f"{one.function} against {other.function}",
        one.observe,
        {
            prefix + name: digest
            for prefix, part in zip(PREFIXES, (one, other), strict=True)
            for name, digest in part.sources.items()
        },
        one.explored + other.explored,
        ended=one.ended or other.ended,
        files={**one.files, **other.files},
        drawn=one.drawn | other.drawn,
    )
    cut = {**first.cut, **{state + len(first): p for state, p in second.cut.items()}}
    return ProgramChain(both.states, both.labels, both.rows, both.pairs, origin, cut)
