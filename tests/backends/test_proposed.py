"""Other solvers propose the couplings of a distance: the answer stays what it is."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pulp
import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bisimdist
from bisimdist.checker import check_certificate
from bisimdist.errors import UsageError
from bisimdist.lp.backends import base
from bisimdist.lp.backends.base import Backend, get_backend, register_backend
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.refinement import Proposal
from bisimdist.lp.solve import ask, solve
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.lmc import LMC
from bisimdist.progress import NEVER, Deadline
from tests.backends.problems import EACH
from tests.cli.conftest import Command, command
from tests.strategies import alphas, lmcs

__all__ = ["command"]

CHAIN = bisimdist.build_example("random,states=5")


@pytest.mark.parametrize("backend", EACH)
def test_every_backend_leads_to_the_distance(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not get_backend(backend).available():
        pytest.skip("the solver is not there")
    asked: list[SkewedProblem] = []

    def counted(problem: SkewedProblem, solver: Backend, *, deadline: Deadline) -> SkewedOptimum | Proposal:
        asked.append(problem)
        return ask(problem, solver, deadline=deadline)

    monkeypatch.setattr("bisimdist.distances.engine.proposed.ask", counted)
    answer = bisimdist.bound(CHAIN, "11/10", pairs=[("s0", "s1")], backend=backend)
    assert len(asked) > 5
    plain = bisimdist.bound(CHAIN, "11/10", pairs=[("s0", "s1")])
    assert (answer.pairs, answer.status) == (plain.pairs, plain.status)
    assert answer.method.endswith(f"; couplings proposed by {backend}")
    assert check_certificate(json.dumps(answer.certificate()).encode()).valid


@settings(max_examples=25, deadline=None)
@given(lmcs(max_states=5), alphas(), st.sampled_from(["simplex", "scipy"]))
def test_random_chains(chain: LMC, alpha: fmpq, backend: str) -> None:
    pairs = [("s0", name) for name in chain.states[1:]]
    plain = bisimdist.bound(chain, alpha, pairs=pairs)
    assert bisimdist.bound(chain, alpha, pairs=pairs, backend=backend).pairs == plain.pairs


class Liar:
    """Proposes what is infeasible, or not a number, or on arcs that do not pay."""

    name = "liar"
    exact = False

    def available(self) -> bool:
        return True

    def propose(self, problem: SkewedProblem, *, deadline: Deadline = NEVER) -> Proposal:
        n = len(problem)
        moves = {(i, j): float(i + j) for i in range(n) for j in range(n) if i != j}
        return Proposal(moves | {(0, n - 1): float("nan")}, {0: 7.0})


@pytest.fixture
def liar(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(base, "_FACTORIES", dict(base._FACTORIES))
    register_backend("liar", lambda _: Liar())
    return "liar"


@pytest.mark.parametrize("alpha", ["1", "11/10"])
def test_a_solver_that_is_wrong_costs_time_only(liar: str, alpha: str) -> None:
    plain = bisimdist.bound(CHAIN, alpha, pairs=[("s0", "s1")])
    assert bisimdist.bound(CHAIN, alpha, pairs=[("s0", "s1")], backend=liar).pairs == plain.pairs


def test_a_solver_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulp.GLPK_CMD, "available", lambda self: False)
    with pytest.raises(UsageError, match="finds no such solver"):
        bisimdist.bound(CHAIN, 2, pairs=[("s0", "s1")], backend="pulp:GLPK_CMD")


def test_the_command(command: Command) -> None:
    words = ("bound", "example:random,states=5", "--alpha", "11/10", "--pair", "s0", "s1", "--json")
    plain, other = command(*words), command(*words, "--backend", "scipy")
    assert json.loads(other.out) == json.loads(plain.out) | {"backend": "scipy"}
    command(*words, "--backend", "cplexx").assert_refused("cplexx", "scipy")


@settings(max_examples=15, deadline=None)
@given(lmcs(max_states=5), alphas())
def test_the_program_of_a_pair_has_its_distance_for_optimum(chain: LMC, alpha: fmpq) -> None:
    classes = distinguishable_classes(chain)
    assume(classes[0] == classes[1])
    program = bisimdist.distances.pair_program(chain, alpha, "s0", "s1")
    (pair,) = bisimdist.bound(chain, alpha, pairs=[("s0", "s1")]).pairs
    assert pair.exact
    assert program.optimum == pair.upper == solve(program.problem, "simplex").value
    assert solve(program.problem.swapped(), "simplex").value <= pair.upper


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what PuLP 4 will rename
def test_what_is_written_is_that_program(command: Command, tmp_path: Path) -> None:
    if not pulp.PULP_CBC_CMD(msg=False).available():
        pytest.skip("PuLP comes without CBC")
    path = tmp_path / "program.mps"
    words = ("bound", "example:random,states=6", "--alpha", "11/10", "--pair", "s0", "s1", "--json")
    (pair,) = json.loads(command(*words, "--lp", path).out)["pairs"]
    _, read = pulp.LpProblem.fromMPS(str(path), sense=pulp.LpMinimize)
    read.solve(pulp.PULP_CBC_CMD(msg=False))
    assert pulp.value(read.objective) == pytest.approx(float(Fraction(pair["upper"])), abs=1e-9)
    other = tmp_path / "program.lp"
    command(*words, "--lp", other)
    shown = other.read_text()
    assert f"\\ the optimum is {pair['upper']}" in shown
    assert "Minimize" in shown


def test_it_refuses_what_has_no_program(command: Command, tmp_path: Path) -> None:
    lp = tmp_path / "program.lp"
    asked = ("bound", "example:figure1", "--alpha", "1", "--lp", lp)
    command(*asked, "--pair", "s0", "s2").assert_refused("distance 1")
    command(*asked, "--pair", "s0", "s0").assert_refused("distance 0")
    command(*asked, "--pair", "s0", "s1", "--pair", "s1", "s0").assert_refused("one pair")
    assert not lp.exists()
