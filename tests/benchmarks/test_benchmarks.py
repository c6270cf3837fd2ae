"""The benchmarks run: every figure in them comes from code that works today."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import lp
from benchmarks.__main__ import TABLES, main
from benchmarks.cases import Case, measure, random_case
from benchmarks.foreign import foreign_solvers
from benchmarks.instances import FAMILIES, make_batch
from benchmarks.kleene import kleene_baseline
from bisimdist.lp.optimum import verify
from bisimdist.lp.solve import solve


@pytest.mark.parametrize("family", FAMILIES)
def test_batches_are_the_same_every_time_and_their_programs_those_of_the_problems(family: str) -> None:
    batch = make_batch(family, 3, 6, 2)
    assert batch == make_batch(family, 3, 6, 2)
    column = lp.Column(4)
    values = lp._kernel(batch, column)
    for round_ in (0, 1):
        for index in range(6):
            problem = batch.problem(round_, index)
            optimum = solve(problem, "simplex")
            verify(problem, optimum)
            assert optimum.value == values[round_][index]


def test_every_solver_finds_the_optimum_of_the_kernel() -> None:
    batch = make_batch("random", 4, 4, 2)
    column = lp.Column(4)
    values = lp._kernel(batch, column)
    solvers = foreign_solvers()
    for solver in solvers:  # raises where one disagrees
        lp._foreign(solver, batch, column, values, full=False)
        assert column.spent[solver.name].wall > 0
    assert {"scipy HiGHS", "Z3 Optimize"} <= {solver.name for solver in solvers}


def test_a_case_is_measured_with_its_stages_and_its_certificate_checked() -> None:
    outcome = measure(Case("two", "dining-cryptographers,n=2", "5001/5000"))
    assert outcome is not None
    assert outcome.status == "exact"
    assert outcome.valid
    assert outcome.certificate > 0
    assert {"programs", "iteration", "linear systems", "ranking", "strategies"} <= outcome.stages.keys()
    assert 0 < outcome.memory_before <= outcome.memory


def test_the_baseline_counts_every_pair_in_each_direction() -> None:
    for alpha, directions in (("1", 1), ("3/2", 2)):
        (baseline,) = kleene_baseline(random_case(8, 3, 2, alpha), 2)
        assert baseline.programs % directions == 0
        assert baseline.rounds > 1
        assert baseline.total.wall > 0


def test_unknown_tables_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["nothing"])
    assert caught.value.code == 2
    assert "problems" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_the_quick_tables_are_printed_and_written(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "tables.md"
    assert main([table, "--output", str(written)]) == 0
    text = written.read_text(encoding="utf-8")
    assert text.strip() == capsys.readouterr().out.strip()
    assert "no answer" not in text
    assert "REJECTED" not in text
