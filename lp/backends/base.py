"""The protocol of the back-ends and their registry."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from enum import Enum
from typing import Protocol, runtime_checkable

from bisimdist.errors import LimitError, LinearProgramError, UsageError
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.refinement import Proposal
from bisimdist.progress import NEVER, Deadline


class SolverStatus(Enum):
    """How a foreign solver says that it ended; each back-end maps its solver's codes to these."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    LIMIT = "limit"
    UNKNOWN = "unknown"


class Backend(Protocol):
    """A solver of skewed problems.

    ``name``: what `get_backend` knows it as, with its option where it has one.
    ``exact``: whether it solves exactly (`ExactBackend`) or only proposes (`ProposingBackend`).
    """

    @property
    def name(self) -> str:
        """The name."""
        ...

    @property
    def exact(self) -> bool:
        """Whether results are exact."""
        ...

    def available(self) -> bool:
        """Tell whether the solver can be run on this machine: by default always, once it is imported."""
        return True


@runtime_checkable
class ExactBackend(Backend, Protocol):
    """A back-end whose results are exact."""

    def solve(self, problem: SkewedProblem, *, deadline: Deadline = NEVER) -> SkewedOptimum:
        """Return the exact optimum with both witnesses."""
        ...


@runtime_checkable
class ProposingBackend(Backend, Protocol):
    """A back-end that works in floating point: its results are only where exact work begins."""

    def propose(self, problem: SkewedProblem, *, deadline: Deadline = NEVER) -> Proposal:
        """Return a guess of the optimum."""
        ...


BackendFactory = Callable[[str], Backend]
"""Makes a back-end from the option behind the colon of its name, empty where there is none."""

# Modules with a function ``make(option)``, imported when the back-end is first asked for.
_MODULES = {
    "networkx": "bisimdist.lp.backends.networkx_backend",
    "pulp": "bisimdist.lp.backends.pulp_backend",
    "scipy": "bisimdist.lp.backends.scipy_backend",
    "simplex": "bisimdist.lp.backends.simplex_backend",
    "transport": "bisimdist.lp.backends.transport_backend",
    "z3": "bisimdist.lp.backends.z3_backend",
}
_FACTORIES: dict[str, BackendFactory] = {}


def register_backend(name: str, factory: BackendFactory) -> None:
    """Make a back-end known under a name.

    Raises UsageError if the name is taken, or holds the colon that separates a name from its option.
    """
    if ":" in name or not name:
        raise UsageError(f"{name!r} is no name for a back-end; expected one without a colon")
    if name in _MODULES or name in _FACTORIES:
        raise UsageError(f"there is a back-end {name!r} already")
    _FACTORIES[name] = factory


def backend_names() -> tuple[str, ...]:
    """Return the names of the known back-ends, in alphabetical order."""
    return tuple(sorted(_MODULES.keys() | _FACTORIES.keys()))


def get_backend(name: str) -> Backend:
    """Return a back-end by its name, such as ``"simplex"``, ``"z3"``, ``"pulp"`` or ``"pulp:HiGHS"``.

    Raises LinearProgramError if the package that it needs is not installed.
    """
    base, _, option = name.partition(":")
    factory = _FACTORIES.get(base)
    if factory is None:
        if base not in _MODULES:
            raise UsageError(f"there is no back-end {name!r}; expected one of {', '.join(backend_names())}")
        try:
            factory = importlib.import_module(_MODULES[base]).make
        except ImportError as error:
            raise LinearProgramError(f"the back-end {base!r} cannot be loaded: {error}") from error
        _FACTORIES[base] = factory
    return factory(option)


def without_option(made: Callable[[], Backend]) -> BackendFactory:
    """Return the factory of a back-end that takes no option."""

    def make(option: str) -> Backend:
        backend = made()
        if option:
            raise UsageError(f"the back-end {backend.name!r} takes no option, but {option!r} was given")
        return backend

    return make


def remaining_seconds(deadline: Deadline) -> float | None:
    """Return how long a foreign solver may take, at least a millisecond; None for ever."""
    deadline.check()
    if deadline.moment is None:
        return None
    return max(deadline.moment - time.monotonic(), 0.001)


def require_optimal(status: SolverStatus, name: str) -> None:
    """Raise unless a solver says that it found an optimum, which every skewed problem has."""
    if status is SolverStatus.LIMIT:
        raise LimitError(f"the back-end {name!r} reached the time limit")
    if status is not SolverStatus.OPTIMAL:
        raise LinearProgramError(f"the back-end {name!r} found no optimum: {status.value}")
