"""The command line as a process of its own: streams, signals, imports."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import bisimdist
from bisimdist.faces.asked.registry import HOMES

HEAVY = ("numpy", "scipy", "numba", "z3", "pulp", "networkx", "flint", "yaml", "rich", "click")


def python(*arguments: str, **options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **options},
    )


def loaded_by(statement: str) -> set[str]:
    ended = python("-c", f"{statement}; import sys; print(*sys.modules)")
    assert ended.returncode == 0, ended.stderr
    return set(ended.stdout.split())


def test_importing_the_package_loads_nothing_else() -> None:
    modules = loaded_by("import bisimdist")
    assert not modules.intersection(HEAVY)
    assert not [name for name in modules if name.startswith("bisimdist.")]
    # before the command line hears signals, nothing is loaded that takes long
    assert not (loaded_by("import bisimdist.__main__") - loaded_by("pass")) & {"typing", "re", "json"}


def test_help_loads_nothing_that_computes() -> None:
    modules = loaded_by("import bisimdist.faces.cli.main")
    assert not modules.intersection(set(HEAVY) - {"click"})


def test_the_checker_loads_no_other_module_of_ours() -> None:
    modules = loaded_by("from bisimdist import check_certificate")
    ours = {name for name in modules if name.split(".")[0] == "bisimdist"}
    others = {name for name in ours if not name.startswith("bisimdist.checker")}
    assert others <= {"bisimdist", "bisimdist.lazily"}
    assert not modules.intersection(HEAVY)


def test_every_public_name_is_there() -> None:
    for name in bisimdist.__all__:
        assert getattr(bisimdist, name) is not None
    assert set(bisimdist.__all__) <= set(dir(bisimdist))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        bisimdist.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_help_and_version_are_answers() -> None:
    for arguments in (["--help"], ["-h"], ["bound", "--help"], ["check", "-h"], ["--version"]):
        ended = python("-m", "bisimdist", *arguments)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["--nonsense"],
        ["bound"],
        ["bound", "missing.json", "--alpha", "2"],
        ["bound", "example:figure1", "--alpha", "1/2"],
        ["check", "missing.json"],
        ["show", "--nonsense"],
    ],
)
def test_bad_use_as_a_process(arguments: list[str]) -> None:
    ended = python("-m", "bisimdist", *arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("bisimdist: error: ")
    assert ended.stderr.count("\n") == 1


def test_the_same_input_gives_the_same_bytes_under_every_encoding() -> None:
    command = ("-m", "bisimdist", "show", "example:figure1", "--json")
    answers = {
        python(*command, PYTHONHASHSEED=str(seed), PYTHONIOENCODING=encoding).stdout
        for seed in (1, 2)
        for encoding in ("utf-8", "ascii", "latin-1")
    }
    assert len(answers) == 1
    json.loads(answers.pop())


def test_names_that_the_stream_cannot_carry(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    text = "{kind: lmc, states: {S: a, T: b}, transitions: {S: {T: 1}, T: {T: 1}}, pairs: [[S, S]]}"
    path.write_text(text.replace("S", "\u03c3"), encoding="utf-8")
    ended = python("-m", "bisimdist", "show", str(path), PYTHONIOENCODING="ascii")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "\\u03c3" in ended.stdout


def test_a_reader_that_goes_away_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [sys.executable, "-m", "bisimdist", "example", "random,states=200"],
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_a_full_disk_is_said() -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "bisimdist", "example", "figure1"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )
    assert ended.returncode == 2
    assert ended.stderr.startswith(b"bisimdist: error: ")
    assert ended.stderr.count(b"\n") == 1


def test_a_table_on_a_terminal() -> None:
    parent, child = pty.openpty()
    ended = subprocess.run(
        [sys.executable, "-m", "bisimdist", "show", "example:figure1"],
        stdout=child,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "50"},
    )
    os.close(child)
    shown = os.read(parent, 1 << 16).decode()
    os.close(parent)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert "sha256" in shown
    assert "..." not in shown
    assert "\u2026" not in shown


def test_every_command_stands_in_one_group_of_the_help() -> None:
    listed = [
        line.split()[0]
        for line in python("-m", "bisimdist", "--help").stdout.splitlines()
        if line[:2] == "  " and line[2:3] != " "  # the rest of a summary stands further to the right
    ]
    for name in (*HOMES, "logic", "check"):
        assert listed.count(name) == (0 if " " in name else 1), name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("dleta",), "No such command 'dleta'. (Did you mean 'delta'?)"),
        (("logic", "explian"), "No such command 'explian'. (Did you mean 'explain'?)"),
        (("xyzzy",), "No such command 'xyzzy'; see"),
        (("logic",), "error: Missing command; see 'bisimdist logic --help'"),
    ],
)
def test_a_mistyped_or_missing_command_is_one_line(words: tuple[str, ...], said: str) -> None:
    ended = python("-m", "bisimdist", *words)
    assert ended.returncode == 2
    assert said in ended.stderr


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be held back")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_that_was_held_back_until_the_command_listens(name: str) -> None:
    number = getattr(signal, name)

    def from_the_first_moment() -> None:
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_BLOCK, [number])
        os.kill(os.getpid(), number)

    ended = subprocess.run(
        [sys.executable, "-m", "bisimdist", "bound", "example:figure1", "--alpha", "1.5"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=from_the_first_moment,
    )
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr == "bisimdist: interrupted before anything was known\n"


@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses as on Linux")
@pytest.mark.parametrize("size", [200, 300])
def test_little_memory_is_no_verdict(size: int) -> None:
    """BLAS ends a process with 1, which means violated, unless it is not loaded where there is no room."""
    words = f"ulimit -v {size * 1024}; exec {sys.executable} -m bisimdist crosscheck example:figure1 --json"
    ended = subprocess.run(["bash", "-c", words], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode in {0, 3}, ended.stderr
    assert json.loads(ended.stdout)["pairs"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are as Linux keeps them")
def test_a_small_file_needs_little_memory() -> None:
    proof = Path(__file__).parent.parent / "certificates" / "correct" / "cycle-skewed.json"
    words = f"ulimit -v {250 * 1024}; exec {sys.executable} -m bisimdist check {proof}"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
