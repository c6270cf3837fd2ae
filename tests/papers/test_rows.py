"""The commands of the papers' rows print what the papers say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bisimdist.errors import UsageError
from bisimdist.faces.cli.main import run
from bisimdist.modelling.paper.lookup import chosen
from bisimdist.modelling.paper.rows import Row, Run, papers
from tests.cli.conftest import Command, command

__all__ = ["command"]

RUNS: dict[str, list[tuple[Row, Run]]] = {}
for row in chosen([]):
    for one in row.runs:
        RUNS.setdefault(one.command, []).append((row, one))


@pytest.mark.parametrize("runs", RUNS.values(), ids=RUNS)
def test_a_command_as_printed(
    runs: list[tuple[Row, Run]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is run once, and has to print what all rows with it expect."""
    row, first = runs[0]
    with row.folder() as folder:
        monkeypatch.chdir(folder)
        assert run(first.words) in {0, 1}
    printed = capsys.readouterr().out
    for row, one in runs:
        assert one.values_in(printed) == one.values, (row.name, printed)


def test_the_command_shows_what_is_expected_beside_what_is_found(command: Command) -> None:
    ended = command("paper", "CMP18", "Figure", "3")
    (row,) = chosen(["CMP18", "Figure", "3"])
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert f"in the paper:  {row.runs[0].printed}" in lines
    assert f"found:         {row.runs[0].sentence}" in lines
    assert "agrees with:   the paper" in lines
    assert f"bisimdist {row.runs[0].command}" in lines


def test_a_statement_without_a_command_is_told_in_words(command: Command) -> None:
    ended = command("paper", "XCL14", "Proposition", "2")
    assert (ended.code, "found:" in ended.out) == (0, False)
    assert "No command for this one. On random automata a test" in ended.out
    assert "See bisimdist paper XCL14 Figure 1" in ended.out
    assert "Proof: documentation, theory/metric" in ended.out


@pytest.mark.parametrize("row", [row for paper in papers() for row in paper.rows], ids=lambda row: row.name)
def test_details_are_for_readers_of_the_paper(row: Row) -> None:
    """No file of the repository is named, and another statement that is named has a command."""
    assert row.runs or len(row.words.split()) >= 6
    assert not set("/`") & set(row.words)
    assert not row.see or chosen(row.see.split())[0].runs
    assert all(run.values and run.sentence.count("{") == 0 for run in row.runs)


def test_lines_to_paste_write_the_files_that_they_read(tmp_path: Path) -> None:
    (row,) = chosen(["XCL14", "Proposition", "4"])
    script = "\n".join(
        f"{sys.executable} -m {line}" if line.startswith("bisimdist") else line for line in row.script()
    )
    ended = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert row.runs[0].values_in(ended.stdout) == row.runs[0].values
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict(row.files)


def test_all_statements_are_listed_at_once(command: Command) -> None:
    ended = command("paper", "--json")
    said = json.loads(ended.out)["statements"]
    rows = [row for paper in papers() for row in paper.rows]
    assert [(one["paper"], one["number"]) for one in said] == [(row.key, row.number) for row in rows]
    assert sum(len(one["commands"]) for one in said) == sum(len(row.runs) for row in rows)
    lines = command("paper").out.splitlines()
    place = next(k for k, line in enumerate(lines) if line.startswith("  Fact 1: "))
    assert lines[place + 1].split()[:2] == ["bisimdist", "delta"]
    assert any(line.strip() == "no command for this one; see XCL14 Definition 3" for line in lines)
    assert "bisimdist paper --all" in lines[-1]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("cmp18 figure 3", "CMP18 Figure 3"),
        ("cmp Fig. 3", "CMP18 Figure 3"),
        ("CMP18 fig3", "CMP18 Figure 3"),
        ("Cmp18 FIGURE 3.", "CMP18 Figure 3"),
        ("xcl14 Thm 1", "XCL14 Theorem 1"),
        ("Chatzikokolakis prop 6", ""),
        ("castiglioni Prop. 6", "CCP18 Proposition 6"),
        ("cmp18 cor", "CMP18 Corollary 1"),
        ("cmp18 fact 1", "CMP18 Fact 1"),
        ("lwz22 ex. 4.2", "LWZ22-long Example 4.2"),
        ("lwz22-c alg 4", "LWZ22-conference Algorithm 4"),
        ("ccp18 dfn 10", "CCP18 Definition 10"),
    ],
)
def test_keys_and_numbers_as_readers_write_them(written: str, meant: str) -> None:
    if meant:
        assert [row.name for row in chosen(written.split())] == [meant]
    else:
        with pytest.raises(UsageError, match="say which"):
            chosen(written.split())


def test_parts_of_a_table_have_a_line_each(command: Command) -> None:
    ended = command("paper", "LWZ22-long", "Table", "1", "--json")
    said = json.loads(ended.out)["statements"]
    assert [(part["what"], part["agrees"]) for part in said] == [
        ("answers without John's record", True),
        ("answers with John's record", True),
    ]
    assert all(part["place"] and float(part["seconds"]) > 0 for part in said)


def test_what_differs_is_said(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Run("bound example:figure1 --alpha 1", "s0 s1 {1/7}", "bd(s0, s1) = {}")
    other = Row("CMP18", "Figure 3", "a wrong number", (wrong,))
    monkeypatch.setattr("bisimdist.modelling.paper.lookup.chosen", lambda words: (other,))
    ended = command("paper", "CMP18", "Figure", "3")
    assert (ended.code, "agrees with:   NO" in ended.out) == (1, True)
    assert "found:         bd(s0, s1) = 1/5" in ended.out
    assert "expected was: bd(s0, s1) = 1/7" in ended.out


@pytest.mark.parametrize("line", ["s t 4/3 yes", "s t", "ss t 4 yes", "s t 44"])
def test_values_are_whole_words(line: str) -> None:
    run = Run("", "s t {4}", "d(s, t) = {}")
    assert run.values_in("s   t   4  yes") == ("4",)
    assert run.values_in(line) != ("4",)


def test_without_time_no_row_is_run(command: Command) -> None:
    ended = command("paper", "CMP18", "--timeout", "0", "--json")
    assert (ended.code, json.loads(ended.out)["statements"]) == (3, [])


def test_unknown_numbers_are_refused_with_the_nearest(command: Command) -> None:
    command("paper", "CMP19").assert_refused("there is no paper 'CMP19'; nearest: CMP18", "XCL14")
    command("paper", "CMP18", "Figure", "9").assert_refused(
        "CMP18 has no 'Figure 9'; nearest: Figure", "Figure 1"
    )
    command("paper", "CMP18", "Section", "4").assert_refused("CMP18 has no 'Section 4'")
    command("paper", "LWZ22", "Table", "2").assert_refused("LWZ22-conference or LWZ22-long")
    command("paper", "CMP18", "Fig").assert_refused("several: Figure 1, Figure 2")
    command("paper", "CMP18", "--all").assert_refused("expected no KEY")
