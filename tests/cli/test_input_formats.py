"""Models from pipes, from standard input, and from files of any name; ``--format`` on the command line."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.models.io.test_formats import TEXTS, named


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
@pytest.mark.parametrize("name", ["pipe", "pipe.weird"])
def test_named_pipes(command: Command, tmp_path: Path, name: str) -> None:
    pipe = tmp_path / name
    os.mkfifo(pipe)
    for text, options in ((TEXTS["json"], []), (TEXTS["yaml"], ["--format", "yaml"])):
        writer = threading.Thread(target=pipe.write_text, args=(text,), daemon=True)
        writer.start()
        ended = command("bound", pipe, "--alpha", "1", *options)
        writer.join()
        assert (ended.code, ended.err) == (0, "")


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="there is no /dev/stdin here")
def test_standard_input_as_a_file() -> None:
    ask = [sys.executable, "-m", "bisimdist", "bound", "/dev/stdin", "--alpha", "1", "--format", "yaml"]
    for options in (ask, ask[:-2]):
        ended = subprocess.run(options, input=TEXTS["yaml"], capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")


def test_the_option_on_the_command_line(command: Command, tmp_path: Path) -> None:
    path = named(tmp_path, "yaml", ".json")
    command("bound", path, "--alpha", "1").assert_refused("not valid JSON")
    for option in ("--format", "--input-format"):
        assert command("bound", path, "--alpha", "1", option, "yaml").code == 0
    written = command("show", path, "--input-format", "yaml", "--format", "json")
    assert (written.code, written.out) == (0, TEXTS["json"])
    proof = tmp_path / "proof"
    assert command("bound", path, "--alpha", "1", "--format", "yaml", "--certificate", proof).code == 0
    assert command("check", proof, path, "--format", "yaml").code == 0
    command("check", proof, path).assert_refused("not valid JSON")
    unnamed = named(tmp_path, "json", ".txt")
    assert command("check", proof, unnamed).code == 0
    assert command("check", proof, unnamed, "--format", "json").err == ""
    command("bound", path, "--alpha", "1", "--format", "toml").assert_refused("no format 'toml'")
    command("bound", "example:figure1", "--alpha", "1", "--format", "json").assert_refused("is built in")
    command("delta", f"{tmp_path / 'f.py'}:f", "--alpha", "1", "--format", "json").assert_refused("program")


def test_labels_beside_a_file_of_another_name_are_not_overwritten(command: Command, tmp_path: Path) -> None:
    path, labels = named(tmp_path, "prism", ".txt"), tmp_path / "model.lab"
    before = labels.read_bytes()
    for options in ([], ["--format", "prism"]):
        ask = ["bound", str(path), "--pair", "s0", "s1", "--alpha", "1", *options]
        assert command(*ask).code == 0
        command(*ask, "--certificate", labels).assert_refused("is read by the same command")
    assert labels.read_bytes() == before
