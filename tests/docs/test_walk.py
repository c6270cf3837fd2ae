"""The walk through the code: each command enters the files of its table, in this order."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from bisimdist.faces.cli.main import run
from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs/walk.md").read_text(encoding="utf-8")
COMMAND = re.compile(r"^`bisimdist ([^`]+)`$", re.MULTILINE)
FILE = re.compile(r"^\| `(bisimdist/[\w/]+\.py)` \|", re.MULTILINE)
PROGRAM = re.compile(r"```python\n(.*?)```", re.DOTALL)


def walks() -> Iterator[tuple[str, list[str]]]:
    for part in PAGE.split("\n## ")[1:]:
        found = COMMAND.search(part)
        assert found
        yield found[1], FILE.findall(part)


def entered(words: list[str]) -> list[str]:
    """Run a command, and return the files that it enters, each once."""
    order: dict[str, None] = {}
    root = str(ROOT)

    def seen(frame: FrameType, event: str, argument: object) -> None:
        del argument
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root) and not code.co_name.startswith("<"):
            order.setdefault(code.co_filename)

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        assert run(words) == 0
    finally:
        sys.setprofile(before)
    names = (Path(file).relative_to(ROOT).as_posix() for file in order)
    return [name if name.startswith("bisimdist/") else f"bisimdist/{name}" for name in names]


def test_each_command_passes_the_files_of_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = PROGRAM.search(PAGE)
    assert found
    (tmp_path / "answers.py").write_text(found[1], encoding="utf-8")
    told = list(walks())
    assert [command.partition(" ")[0] for command, _ in told] == ["delta", "delta", "bound", "check"]
    for command, files in told:
        words = shlex.split(command)
        assert run(words) == 0  # what is done once, such as making the parser, is done here
        order = entered(words)
        assert [file for file in order if file in files] == files, command
    capsys.readouterr()


def test_what_has_no_reduction_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = PROGRAM.search(PAGE)
    assert found
    (tmp_path / "answers.py").write_text(found[1], encoding="utf-8")
    both = "delta answers.py:asked --input 0 --input 1 --alpha 2 --rounds 2 --nature fixed"
    assert run(shlex.split(both)) == 2
    assert "--nature" in capsys.readouterr().err
