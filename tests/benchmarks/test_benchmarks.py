"""The benchmarks run: every figure in them comes from code that works today."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flint import fmpq

from benchmarks import foreign, lp, peers, prism, workers
from benchmarks.__main__ import TABLES, _options, main
from benchmarks.cases import Case, measure, random_case
from benchmarks.compare import QUESTIONS, ROOT, comparison
from benchmarks.foreign import foreign_solvers
from benchmarks.instances import FAMILIES, make_batch
from benchmarks.kleene import kleene_baseline
from benchmarks.lifting import ratio_solvers
from benchmarks.tables import NOT_INSTALLED, Size, Table, replace_section
from bisimdist.lp.optimum import verify
from bisimdist.lp.solve import solve

README = ROOT / "benchmarks" / "README.md"


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
        if not solver.installed:
            continue
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


@pytest.mark.extra("highs")
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


def test_the_list_and_the_readme_say_what_every_table_measures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    listed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert listed.keys() == TABLES.keys()
    assert all(listed.values())
    rows = re.findall(r"^\| `([\w-]+)` \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(rows) == TABLES.keys()


def test_solvers_that_are_missing_are_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "_installed", lambda _: False)
    names = {solver.name for solver in foreign_solvers() if not solver.installed}
    assert {"PuLP + CBC", "PuLP + HiGHS", "cddlib (GMP)", "QSopt_ex"} == names
    column = lp.Column(4)
    lp._kernel(make_batch("random", 4, 4, 2), column)
    rows = {row[0]: row[1] for row in lp._table("random", [column]).rows}
    assert {name for name, answer in rows.items() if answer == NOT_INSTALLED} == names | {lp.KEPT}
    assert set(rows) >= names
    told = {solver.name: solver.installed for solver in ratio_solvers()}
    assert told == {"Z3 Optimize": True, "scipy HiGHS": True, "PuLP + CBC": False, "PuLP + HiGHS": False}


def test_missing_models_and_workers_are_said_to_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(prism, "MODELS", tmp_path)
    monkeypatch.setattr(peers, "CHAINS", tmp_path)
    monkeypatch.setattr(prism, "find_spec", lambda _: None)
    (table,) = prism.prism_tables(Size.USUAL)
    assert len(table.rows) == len(prism.USUAL)
    assert {
        row[2] for row in table.rows if not row[0].startswith(("brp", "crypto", "nand", "egl", "haddad"))
    } == {"Storm not installed"}
    assert {"no file haddadu.json", "no file egl5_2.tra"} <= {row[2] for row in table.rows}
    (table,) = peers.peer_tables(Size.USUAL)
    assert all(row[3].startswith("no file") for row in table.rows)
    assert all(len(row) == len(table.columns) for row in table.rows)
    monkeypatch.setattr(workers, "find_spec", lambda _: None)
    (table,) = workers.worker_tables(Size.FULL)
    assert all(row[1] == "Dask not installed" for row in table.rows)
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_chains_of_others_are_read_and_wrong_distances_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "2labels_3states_2bf.lmc"
    path.write_text(
        "States\n1 a\n2 a\n3 b\nEdges\n1 -> 3 1/2\n1 -> 1 1/2\n2 -> 3 100/300\n2 -> 2 200/300\n3 -> 3 1/1\n"
    )
    chain = peers.read_chain(path)
    assert chain.rows[1] == ((1, fmpq(2, 3)), (2, fmpq(1, 3)))
    *_, (cells, known) = peers._ours(path)
    assert "REJECTED" not in cells
    assert known[1, 2] == pytest.approx(1 / 3)
    for said, wrong in ((1 / 3, "0 of 1"), (1.0, "1 of 1")):
        program = tmp_path / "bdsolver"
        program.write_text(f"#!/bin/sh\necho '1 <-> 2 {said}'\n")
        program.chmod(0o755)
        monkeypatch.setattr("shutil.which", lambda _, program=program: str(program))
        assert peers._run("bdsolver", path, known, 5.0)[1] == wrong


def test_a_table_replaces_the_one_of_the_same_heading(tmp_path: Path) -> None:
    path = tmp_path / "results.md"
    path.write_text("# Results\n\nAbout.\n\n### One\n\nold\n\n### Two\n\nkept\n", encoding="utf-8")
    for title in ("One", "Three"):
        table = Table(title, ("a", "b"))
        table.add("1", "2")
        replace_section(path, table.markdown())
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"^#.*", text, re.MULTILINE) == ["# Results", "### One", "### Two", "### Three"]
    assert "kept" in text
    assert "old" not in text
    assert text.count("| 1 | 2 |") == 2


def test_questions_of_a_comparison_belong_to_tables() -> None:
    assert {name.partition(":")[0] for name in QUESTIONS} <= TABLES.keys()


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_a_revision_is_compared_with_itself() -> None:
    table = comparison("HEAD", runs=1, tables=["lifting", "rough"])
    assert [row[0].partition(":")[0] for row in table.rows] == ["rough", "lifting"]
    assert all(float(row[3]) > 0 for row in table.rows)


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_the_quick_tables_are_printed_and_written(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "tables.md"
    assert main([table, "--quick", "--output", str(written)]) == 0
    text = written.read_text(encoding="utf-8")
    assert set(re.findall(r"^[#|].*", capsys.readouterr().out, re.MULTILINE)) <= set(text.splitlines())
    assert not re.search("no answer|REJECTED|WRONG|NOT THE SAME", text)


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", README, *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_commands_on_the_pages_can_be_typed() -> None:
    asked = [
        command
        for page in PAGES
        for command in re.findall(r"python -m benchmarks([^`\n#]*)", page.read_text())
    ]
    assert len(asked) > 10
    for command in asked:
        _options(command.split())
    old = [str(page) for page in PAGES if re.search(r"python benchmarks/|-m benchmarks\.", page.read_text())]
    assert not old


TIME = r"\d[\d.,]* (?:s|ms|seconds|minutes)\b"
MEASURED = re.compile(rf"\b(?:took|takes?|costs)\b[^.|\n]{{0,60}}?\b{TIME}|\b[Ii]n (?:{TIME}|seconds\b)")


def test_what_pages_say_of_time_stands_beside_the_command_that_measures_it() -> None:
    bare = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for section in re.split(r"^#+ ", text, flags=re.MULTILINE):
            if (found := MEASURED.search(section)) and not re.search(r"`(python|bisimdist) ", section):
                bare.append(f"{page.name}: {found[0]}")
    assert not bare
    assert MEASURED.search("187 pairs took 16 s")
    assert MEASURED.search("takes a minute, and minutes with more") is None
