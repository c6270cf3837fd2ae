"""Two programs side by side: what one makes of an input, held against what the other makes of it."""

from __future__ import annotations

from bisimdist.errors import UsageError
from bisimdist.models.against import PREFIXES, side_by_side
from bisimdist.models.interactive import Interactive
from bisimdist.models.lmc import LMC
from bisimdist.programs.chain import Origin, ProgramChain, ProgramInteractive

_Program = ProgramChain | ProgramInteractive


def programs_side_by_side(first: _Program, second: _Program) -> _Program:
    """Put the models of two programs beside each other, paired by the first inputs of their pairs.

    first, second: the models; what is cut off from each chain goes on being so.
    Raises UsageError if different things are seen of them, one asks an analyst and the other does not, or one
        has more inputs.
    """
    both = side_by_side(first, second)
    one, other = first.origin, second.origin
    if one.observe != other.observe:
        raise UsageError("an observer sees different things of the two programs; expected the same")
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
    if isinstance(both, Interactive):
        return ProgramInteractive(both.states, both.labels, both.moves, both.pairs, origin)
    assert isinstance(both, LMC) and isinstance(first, ProgramChain) and isinstance(second, ProgramChain)
    cut = {**first.cut, **{state + len(first): p for state, p in second.cut.items()}}
    return ProgramChain(both.states, both.labels, both.rows, both.pairs, origin, cut)
