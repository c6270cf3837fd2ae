"""Markov chains that were made of programs; little is loaded for them, since every command asks for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.interactive import Interactive
from bisimdist.models.lmc import LMC

if TYPE_CHECKING:
    from bisimdist.programs.parting import Parting

__all__ = ["CUT", "OBSERVATIONS", "START", "Origin", "ProgramChain", "ProgramInteractive", "observed_kinds"]

OBSERVATIONS = ("output", "draws", "bits", "steps", "trace")
"""What an observer may see beside the returned value."""

START = "start"
"""The label of a program that has not begun yet."""

CUT = "cut"


def observed_kinds(observe: str) -> frozenset[str]:
    """Return what is observed, of a text such as ``"output"`` or ``"draws,trace"``.

    Raises
    ------
    UsageError
        If there is no such thing to observe.
    """
    kinds = frozenset(part.strip() for part in observe.split(","))
    unknown = sorted(kinds - set(OBSERVATIONS))
    if unknown:
        raise UsageError(f"observe={unknown[0]!r}: expected {', '.join(OBSERVATIONS)}")
    if {"draws", "bits"} <= kinds:
        raise UsageError("observe='draws,bits': the bits say how many draws there are; expected one of them")
    return kinds


@dataclass(frozen=True)
class Origin:
    """Where a chain comes from.

    Parameters
    ----------
    function
        The name of the function.
    observe
        What is observed.
    sources
        By file the digest of its bytes.
    explored
        How many places between draws were found.
    ended
        Whether a limit ended the exploration before the cut was as fine as asked.
    partings
        By pair of starts, where the two runs part.
    files
        By path of a file the digest of its bytes.
    drawn
        The files and lines that draw.
    unclipped
        Explores the program as if none of its noise were clipped, where some is: None if that cannot be done.
    any_order
        Whether loops over inputs were looked at in one order, since it is proved that any other is as good.
    """

    function: str
    observe: str
    sources: Mapping[str, str]
    explored: int = 0
    partings: Mapping[tuple[str, str], tuple[Parting, ...]] = field(default_factory=dict)
    ended: bool = False
    files: Mapping[str, str] = field(default_factory=dict, compare=False)
    drawn: frozenset[tuple[str, int]] = field(default=frozenset(), compare=False)
    unclipped: Callable[[], ProgramChain | None] | None = field(default=None, compare=False, repr=False)
    any_order: bool = False

    def data(self) -> dict[str, object]:
        """Return what identifies the program as plain data."""
        return {"function": self.function, "observe": self.observe, "sources": dict(self.sources)}


@dataclass(frozen=True, slots=True, repr=False)
class ProgramChain(LMC):
    """A chain that was made of a program.

    Parameters
    ----------
    origin
        The program.
    cut
        By state the exact probability that a run from there is cut off, where that is not 0.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.explore(start=0, step=lambda n: {1: "1/2", 2: "1/2"} if n < 1 else None, label=str)
    >>> type(chain).__name__, len(chain)
    ('ProgramChain', 3)
    """

    origin: Origin = field(default_factory=lambda: Origin("", "output", {}), compare=False)
    cut: Mapping[int, fmpq] = field(default_factory=dict, compare=False)

    def provenance(self) -> dict[str, object]:
        """Return the program, as a model file names it."""
        return self.origin.data() if self.origin.function else {}

    def whole(self) -> LMC:
        """Return the chain, if no run is cut off."""
        if self.cut:
            raise UsageError(
                "runs of this program are cut off, which only bounds on delta and leakages allow for; "
                "explore it without a cut"
            )
        return self

    def cut_from(self, name: str) -> fmpq:
        """Return the exact probability that a run from a state is cut off.

        Raises
        ------
        ModelError
            If there is no such state.
        """
        return self.cut.get(self.index(name), fmpq(0))


@dataclass(frozen=True, slots=True, repr=False)
class ProgramInteractive(Interactive):
    """An interactive model that was made of a program.

    Parameters
    ----------
    origin
        The program.

    Examples
    --------
    >>> import bisimdist
    >>> from bisimdist.models.library.programs.asked import asked_responses
    >>> model = bisimdist.explore_interactive(asked_responses, [0, 1])
    >>> type(model).__name__, len(model.pairs)
    ('ProgramInteractive', 1)
    """

    origin: Origin = field(default_factory=lambda: Origin("", "trace", {}), compare=False)

    def provenance(self) -> dict[str, object]:
        """Return the program, as a model file names it."""
        return self.origin.data() if self.origin.function else {}
