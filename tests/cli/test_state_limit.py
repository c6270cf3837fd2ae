"""The limits of reading hold in every command that takes a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Command

SPECIFICATION = "pairs X, a.c.d.0;\nX = a.c.d.0;\n"


@pytest.mark.parametrize(
    "words",
    [("show",), ("convert", "--to", "hmm"), ("delta", "--alpha", "1"), ("classes",), ("same",)],
)
def test_states_are_counted_while_they_are_built(
    command: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    file = tmp_path / "three.ccsp"
    file.write_text(SPECIFICATION, encoding="utf-8")
    others = [str(file)] if words[0] == "same" else []
    command(words[0], str(file), *others, *words[1:], "--state-limit", "2").assert_refused("state")


@pytest.mark.parametrize("words", [("show",), ("convert", "--to", "hmm")])
def test_readers_take_a_time_limit(command: Command, words: tuple[str, ...]) -> None:
    assert command(words[0], "example:figure1", *words[1:], "--timeout", "60").code == 0
