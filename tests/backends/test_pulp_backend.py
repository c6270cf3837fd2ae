from __future__ import annotations

import tempfile
from pathlib import Path

import pulp
import pytest

from bisimdist.errors import LinearProgramError, UsageError
from bisimdist.lp.backends.base import get_backend
from bisimdist.lp.backends.pulp_backend import PulpBackend
from bisimdist.lp.solve import solve
from tests.backends.problems import EACH, INSTANCES, make_problem


@pytest.mark.parametrize("backend", [backend for backend in EACH if "pulp" in str(backend.values[0])])
def test_nothing_is_printed_and_no_file_is_left(
    backend: str, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not get_backend(backend).available():
        pytest.skip("the solver is not there")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    for name in ("TMPDIR", "TMP", "TEMP"):
        monkeypatch.setenv(name, str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.chdir(tmp_path)
    for example in INSTANCES:
        assert solve(example.problem, backend).value == example.optimum.value
    assert capfd.readouterr() == ("", "")
    assert list(scratch.iterdir()) == []
    assert list(tmp_path.iterdir()) == [scratch]


def test_solver_names_are_checked_at_once() -> None:
    with pytest.raises(UsageError, match=r"no solver 'Simplicissimus'.*HiGHS"):
        get_backend("pulp:Simplicissimus")
    assert get_backend("pulp:highs").name == "pulp:HiGHS"
    assert get_backend("pulp:GLPK").name == "pulp:GLPK_CMD"
    assert get_backend("pulp:cbc") == get_backend("pulp")


def test_a_solver_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulp.GLPK_CMD, "available", lambda self: False)
    backend = PulpBackend("GLPK_CMD")
    assert not backend.available()
    with pytest.raises(LinearProgramError, match="finds no such solver"):
        backend.propose(make_problem(1, [1], [0], 0))


def test_a_solver_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object, program: object) -> int:
        raise IndexError("no such row")

    monkeypatch.setattr(pulp.PULP_CBC_CMD, "actualSolve", fail)
    backend = PulpBackend("PULP_CBC_CMD")
    if not backend.available():
        pytest.skip("PuLP comes without CBC")
    with pytest.raises(LinearProgramError, match=r"'pulp:PULP_CBC_CMD' failed: no such row"):
        backend.propose(make_problem(1, [1], [0], 0))


@pytest.mark.parametrize(
    ("status", "error"),
    [(pulp.LpStatusInfeasible, LinearProgramError), (pulp.LpStatusNotSolved, LinearProgramError)],
)
def test_a_solver_that_finds_nothing_is_told(
    monkeypatch: pytest.MonkeyPatch, status: int, error: type[Exception]
) -> None:
    monkeypatch.setattr(pulp.PULP_CBC_CMD, "actualSolve", lambda self, program: status)
    backend = PulpBackend("PULP_CBC_CMD")
    if not backend.available():
        pytest.skip("PuLP comes without CBC")
    with pytest.raises(error, match="found no optimum"):
        backend.propose(make_problem(1, [1], [0], 0))
