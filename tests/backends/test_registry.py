from __future__ import annotations

import subprocess
import sys

import pytest

from bisimdist.errors import LimitError, LinearProgramError, UsageError
from bisimdist.lp.backends import base
from bisimdist.lp.backends.base import (
    SolverStatus,
    backend_names,
    get_backend,
    register_backend,
    require_optimal,
)
from bisimdist.lp.backends.simplex_backend import SimplexBackend
from bisimdist.lp.solve import solve
from tests.backends.problems import make_problem


def test_an_unknown_backend_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"'cplexx'.*networkx, pulp, scipy, simplex.*z3"):
        get_backend("cplexx")


@pytest.mark.parametrize("name", ["simplex:fast", "z3:x", "scipy:x", "networkx:x"])
def test_an_option_that_means_nothing_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="takes no option"):
        get_backend(name)


def test_the_names_and_flags() -> None:
    for name in backend_names():
        backend = get_backend(name)
        assert backend.name == name
        assert backend.exact == (name not in {"pulp", "scipy"})


def test_a_registered_backend_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_FACTORIES", {})
    register_backend("mine", lambda option: SimplexBackend(name=f"mine/{option}"))
    assert get_backend("mine:a").name == "mine/a"
    assert "mine" in backend_names()
    assert solve(make_problem(1, [1], [0], 0), "mine").value == 1
    with pytest.raises(UsageError, match="already"):
        register_backend("mine", lambda option: SimplexBackend())
    with pytest.raises(UsageError, match="already"):
        register_backend("z3", lambda option: SimplexBackend())
    with pytest.raises(UsageError, match="without a colon"):
        register_backend("a:b", lambda option: SimplexBackend())


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_FACTORIES", {})
    monkeypatch.setitem(base._MODULES, "absent", "bisimdist.lp.backends.absent_backend")
    with pytest.raises(LinearProgramError, match=r"'absent' cannot be loaded.*absent_backend"):
        get_backend("absent")


def test_status_maps_to_errors() -> None:
    require_optimal(SolverStatus.OPTIMAL, "x")
    with pytest.raises(LimitError, match="'x' reached the time limit"):
        require_optimal(SolverStatus.LIMIT, "x")
    for status in (SolverStatus.INFEASIBLE, SolverStatus.UNBOUNDED, SolverStatus.UNKNOWN):
        with pytest.raises(LinearProgramError, match=status.value):
            require_optimal(status, "x")


def test_foreign_solvers_are_imported_only_when_asked_for() -> None:
    code = (
        "import sys, bisimdist.lp.solve; "
        "assert not {'pulp', 'z3', 'networkx', 'scipy'} & sys.modules.keys(), 'imported too early'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
