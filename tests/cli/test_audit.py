"""The command ``audit``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)

PROGRAM = """
def response(x, rng):
    return x if rng.randrange(4) else not x

def broken(x, rng):
    return x if rng.randrange(50) else not x
"""
ASKED = ("--input", "True", "--input", "False", "--alpha", "3")


def program(folder: Path) -> str:
    file = folder / "program.py"
    file.write_text(PROGRAM)
    return f"{file}:response"


def samples(folder: Path, name: str, more: int, less: int) -> Path:
    file = folder / name
    file.write_text("True\n" * more + "False\n" * less)
    return file


def test_two_files_of_samples(command: Command, tmp_path: Path) -> None:  # noqa: F811
    named = program(tmp_path)
    good = [samples(tmp_path, "a", 750, 250), samples(tmp_path, "b", 250, 750)]
    ended = command("audit", *good, named, *ASKED, "--json")
    assert ended.code == 0
    answer = json.loads(ended.out)
    assert (answer["verdict"], answer["status"], answer["lower"]) == ("not contradicted", "supported", "0")
    assert answer["model_verdict"] == "not contradicted"
    bad = [samples(tmp_path, "c", 950, 50), samples(tmp_path, "d", 50, 950)]
    proof = tmp_path / "proof.json"
    ended = command("audit", *bad, named, *ASKED, "--json", "--confidence", "0.999", "--certificate", proof)
    answer = json.loads(ended.out)
    assert ended.code == 1
    assert (answer["verdict"], answer["confidence"]) == ("violated", "999/1000")
    assert answer["samples"]["True"]["inside"] == 950
    assert command("check", proof).code == 0
    assert "violate" in command("audit", *bad, named, *ASKED).out


def test_a_function_and_a_command(command: Command, tmp_path: Path) -> None:  # noqa: F811
    named = program(tmp_path)
    assert command("audit", named, named, *ASKED, "--confidence", "0.999999").code == 0
    assert command("audit", named.replace("response", "broken"), named, *ASKED, "--samples", "1000").code == 1
    ended = command("audit", "yes", named, *ASKED, "--samples", "100")
    assert ended.code == 1
    assert "in the event" in ended.out


def test_what_is_not_usable_is_refused(command: Command, tmp_path: Path) -> None:  # noqa: F811
    named, file = program(tmp_path), samples(tmp_path, "a", 1, 1)
    command("audit", named, *ASKED).assert_refused("1 arguments")
    command("audit", file, file, file, named, *ASKED).assert_refused("4 arguments")
    command("audit", file, tmp_path / "none", named, *ASKED).assert_refused("cannot be read")
    command("audit", file, file, named, *ASKED, "--confidence", "1").assert_refused("--confidence")
    command("audit", file, file, named, *ASKED, "--samples", "0").assert_refused("--samples")
    command("audit", file, file, named, *ASKED, "--delta", "2").assert_refused("--delta")
    command("audit", file, file, named, *ASKED, "--certificate", file).assert_refused("read by the same")
    code = named.removesuffix(":response")
    command("audit", named, named, *ASKED, "--certificate", code).assert_refused("read by the same")
    assert file.read_text() == "True\nFalse\n"


def test_a_limit_leaves_what_is_known(command: Command, tmp_path: Path) -> None:  # noqa: F811
    ended = command("audit", "tail -f /dev/null #{}", program(tmp_path), *ASKED, "--timeout", "2", "--json")
    assert ended.code == 3
    assert json.loads(ended.out)["lower"] == "0"
