"""What the pages show is what happens: their Python blocks and their command lines are run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bisimdist.faces.cli.main import run
from tests.docs.markdown import ROOT, Block, blocks, commands, failures, pages

RUNNABLE = ("python", "console")
WAIT = "bisimdist: this takes a while."


def runnable() -> list[Path]:
    return [page for page in pages() if any(b.language in RUNNABLE for b in blocks(page.read_text()))]


@pytest.mark.parametrize("page", runnable(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_shows_what_happens(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    namespace: dict[str, object] = {}
    for block in blocks(page.read_text()):
        where = f"{page.relative_to(ROOT)}, line {block.line}"
        if block.caption or (block.language == "yaml" and "kind:" in block.text):
            (tmp_path / (block.caption or "model.yaml")).write_text(block.text)
        elif block.language == "python":
            wrong = failures(block, where, namespace)
            assert not wrong, wrong
        elif block.language == "console":
            check_commands(block, where, capsys)


def check_commands(block: Block, where: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Run the `bisimdist` commands of a console block in this process; other commands are for the reader."""
    previous = 0
    for words, shown in commands(block):
        if words == ["echo", "$?"]:
            assert shown == str(previous), f"{where}: the exit code is {previous}"
            continue
        if not words or words[0] != "bisimdist":
            continue
        capsys.readouterr()
        previous = run(words[1:])
        out, err = capsys.readouterr()
        assert previous in {0, 1, 2, 3}, err
        if shown:
            lines = [line.rstrip() for line in (err + out).splitlines()]
            said = "\n".join(line for line in lines if not line.startswith(WAIT))  # the machine may be busy
            assert matches(shown.rstrip(), said), f"{where}: $ {' '.join(words)}\n{said}"
        else:
            assert previous == 0, f"{where}: $ {' '.join(words)}\n{err}"


def matches(shown: str, said: str) -> bool:
    """Tell whether a command said what is shown; a line that ends in " ..." leaves out what follows it."""
    pattern = "".join(
        re.escape(line.removesuffix(" ...")) + (r"(?:.|\n)*" if line.endswith(" ...") else "") + r"\n"
        for line in shown.splitlines()
    )
    return re.fullmatch(pattern, said + "\n") is not None
