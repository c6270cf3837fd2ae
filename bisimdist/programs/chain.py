"""Markov chains that were made of programs; little is loaded for them, since every command asks for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.interactive import Interactive
from bisimdist.models.lmc import LMC

if TYPE_CHECKING:
    from bisimdist.programs.parting import Parting

OBSERVATIONS = ("output", "draws", "bits", "steps", "trace", "type")
"""What an observer may see beside the returned value."""

COMPILED_OBSERVATIONS = ("output", "draws", "instructions", "memory", "branches")
"""The same for compiled code."""

START = "start"  # the label of a program that has not begun yet

CUT = "cut"


def observed_kinds(observe: str) -> frozenset[str]:
    """Return what is observed, of a text such as ``"output"`` or ``"draws,trace"``.

    Raises UsageError if there is no such thing to observe.
    """
    kinds = _parts(observe, OBSERVATIONS, COMPILED_OBSERVATIONS, "compiled code")
    if {"draws", "bits"} <= kinds:
        raise UsageError("observe='draws,bits': the bits say how many draws there are; expected one of them")
    return kinds


def compiled_kinds(observe: str) -> frozenset[str]:
    """Return what is observed of compiled code, of a text such as ``"draws,memory"``.

    Raises UsageError if there is no such thing to observe.
    """
    return _parts(observe, COMPILED_OBSERVATIONS, OBSERVATIONS, "functions in Python")


def _parts(observe: str, known: Sequence[str], elsewhere: Sequence[str], where: str) -> frozenset[str]:
    kinds = frozenset(part.strip() for part in observe.split(","))
    for unknown in sorted(kinds - set(known)):
        of = f" is for {where}" if unknown in elsewhere else ""
        raise UsageError(f"observe={unknown!r}{of}: expected {', '.join(known)}")
    return kinds


@dataclass(frozen=True, slots=True)
class Replayed:
    """What is to be known of a program that was run in Python, and not compiled."""

    why: str  # what the compiler does not understand
    # runs and checked: how many runs were looked at, and how many were run again in another process
    runs: int = 0
    checked: int = 0
    # by package that the program imports its version, and that of Python and of the functions of C
    versions: Mapping[str, str] = field(default_factory=dict)
    values: str = ""  # a digest of the outputs, which depend on these
    assumed: tuple[str, ...] = ()  # what was assumed of sources of chance
    # by input how many outputs it has, where states of the chain stand for several
    counted: Mapping[str, int] = field(default_factory=dict, compare=False)
    # by pair of inputs outputs that the first has and the second has not, in the same case
    only: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict, compare=False)
    floats: bool = False  # whether floats are released that have too many values to be told apart

    def data(self) -> dict[str, object]:
        found = {
            "versions": ", ".join(f"{name} {version}" for name, version in self.versions.items()),
            "values": self.values,
        }
        return {"replay": found | ({"assumed": "; ".join(self.assumed)} if self.assumed else {})}


@dataclass(frozen=True)
class Origin:
    """Where a chain comes from."""

    function: str  # the name of the function
    observe: str  # what is observed
    sources: Mapping[str, str]  # by file the digest of its bytes
    explored: int = 0  # how many places between draws were found
    # by pair of starts, where the two runs part
    partings: Mapping[tuple[str, str], tuple[Parting, ...]] = field(default_factory=dict)
    ended: bool = False  # whether a limit ended the exploration before the cut was as fine as asked
    # by path of a file the digest of its bytes
    files: Mapping[str, str] = field(default_factory=dict, compare=False)
    # the files and lines that draw
    drawn: frozenset[tuple[str, int]] = field(default=frozenset(), compare=False)
    # explores the program as if none of its noise were clipped, where some is: None if that cannot be done
    unclipped: Callable[[], ProgramChain | None] | None = field(default=None, compare=False, repr=False)
    # whether loops over inputs were looked at in one order, since it is proved that any other is as good
    any_order: bool = False
    replayed: Replayed | None = None  # how it was replayed, if it was; otherwise it was compiled

    def data(self) -> dict[str, object]:
        """Return what identifies the program as plain data."""
        found: dict[str, object] = {
            "function": self.function,
            "observe": self.observe,
            "sources": dict(self.sources),
        }
        return found if self.replayed is None else {**found, **self.replayed.data()}


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

    def whole(self) -> Self:
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
    >>> model = bisimdist.programs.explore_interactive(asked_responses, [0, 1])
    >>> type(model).__name__, len(model.pairs)
    ('ProgramInteractive', 1)
    """

    origin: Origin = field(default_factory=lambda: Origin("", "trace", {}), compare=False)

    def provenance(self) -> dict[str, object]:
        """Return the program, as a model file names it."""
        return self.origin.data() if self.origin.function else {}
