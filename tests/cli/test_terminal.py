"""The command line on a terminal: its help, its tables, and what a shell completes."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from bisimdist.faces.asked.options import CERTIFICATE, ENDS, METRIC_KIND
from bisimdist.faces.asked.question import Group
from bisimdist.faces.asked.registry import HOMES, question_of
from bisimdist.faces.cli.main import CHECKED, command_line, run
from bisimdist.faces.shown.tables import Report, plain_text, print_report
from tests.cli.conftest import Command

WIDE = Report(
    heading="the true delta",
    columns=("from", "to", "upper bound"),
    rows=(("s0", "s1", "12345678901234567890123456789/98765432109876543210987654321 = 0.125"),),
    remarks=("The model is (ln(11/10), 12345678901234567890123456789/98765432109876543210)-private.",),
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_number_stands_on_two_lines(width: int) -> None:
    text = plain_text(WIDE, width)
    for number in re.findall(r"\d{10,}(?:/\d+)?", " ".join((*WIDE.rows[0], *WIDE.remarks))):
        assert number in text
    assert ("upper bound:" in text) == (width < 80)


def test_a_table_on_a_terminal_is_that_of_the_tutorials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = Terminal()
    print_report(WIDE, terminal)
    assert terminal.getvalue() == f"\033[1mthe true delta\n\033[0m{plain_text(WIDE).split(chr(10), 1)[1]}"
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    print_report(WIDE, plain)
    assert plain.getvalue() == plain_text(WIDE)


def test_the_help_has_whole_summaries_and_calls_to_try(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = command("--help").out
    assert max(map(len, text.splitlines())) <= 80
    assert "..." not in text.replace("key=value...", "").replace("[ARGS]...", "")
    said = " ".join(text.split())
    for name in HOMES:
        first = (question_of(name).__doc__ or "").partition("\n")[0]
        inside, _, own = name.rpartition(" ")
        shown = " ".join(command(inside, "--help").out.split()) if inside else said
        assert f" {own} {first}" in shown
    assert text.count("Try: bisimdist ") == len(Group)
    assert "Documentation: " in text


def test_the_help_of_a_command_shows_what_belongs_to_it(command: Command) -> None:
    program, check = command("program", "--help").out, command("check", "--help").out
    for shown in ("--input", "--observe", "--neighbours", "--alpha", "--cut"):
        assert f"  {shown} " in program
    assert not any(f"  {left_out}" in program for left_out in ("--constants", "--against", "--pair"))
    assert "--attestation FILE" in check
    assert "--prism-labels" not in check
    assert "bisimdist learn --help-all shows 1 more option." in command("learn", "--help").out
    everything = command("check", "--help-all").out
    assert all(f"  {option.flags[0]}" in everything for option in CHECKED)


@pytest.mark.parametrize("name", HOMES)
def test_the_help_of_a_command_is_short(name: str, command: Command) -> None:
    shown = [line for line in command(*name.split(), "--help").out.splitlines() if re.match("  -", line)]
    assert len(shown) <= 16


def completed(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[tuple[str, str]]:
    """Return what a shell would offer for a line that ends here."""
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - (not words.endswith(" "))))
    monkeypatch.setenv("_BISIMDIST_COMPLETE", "bash_complete")
    with pytest.raises(SystemExit):
        command_line.main(args=[], prog_name="bisimdist", standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    return [(kind, value) for kind, _, value in (line.partition(",") for line in lines)]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("bisimdist equiv", ["equivalence"]),
        ("bisimdist delta example:dining", ["dining-cryptographers", "dining-cryptographers-pa"]),
        ("bisimdist delta example:random,states=3,lab", ["random,states=3,labels="]),
        ("bisimdist delta example:figure1 --pair s0 ", ["s0", "s1", "s2", "s3"]),
        ("bisimdist epsilon example:geometric --pair ", ["0", "1", "2"]),
        ("bisimdist metric x --kind a", ["accumulative", "amortised", "additive"]),
        ("bisimdist trace x --ends ", ["visible", "hidden"]),
        ("bisimdist delta no-such-model --pair ", []),
    ],
)
def test_a_shell_completes(
    words: str, offered: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = completed(words, monkeypatch, capsys)
    assert [value.removeprefix("example:") for _, value in found if value] == offered


def test_a_shell_completes_files(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert completed("bisimdist delta ex", monkeypatch, capsys) == [("file", "ex"), ("plain", "example:")]
    assert completed("bisimdist delta x --certificate p", monkeypatch, capsys) == [("file", "p")]
    model = tmp_path / "model.yaml"
    model.write_text("{kind: pa, states: [left, right], transitions: []}")
    offered = completed(f"bisimdist trace {model} --pair le", monkeypatch, capsys)
    assert offered == [("plain", "left")]


def test_values_are_known_where_they_are_read() -> None:
    assert ENDS.values == ("visible", "hidden")
    assert METRIC_KIND.values == METRIC_KIND.offered
    assert CERTIFICATE.values == ()


@pytest.mark.skipif(sys.platform == "win32", reason="no such shell there")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_BISIMDIST_COMPLETE", f"{shell}_source")
    with pytest.raises(SystemExit):
        run([])
    assert "_BISIMDIST_COMPLETE" in capsys.readouterr().out
