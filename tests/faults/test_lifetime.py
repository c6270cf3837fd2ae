"""A command that is killed leaves no process and no file: nobody can catch ``kill -9``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from bisimdist.lifetime import unnamed
from bisimdist.models.io.tool_worker import _file

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up as on Linux")

MARK = "BISIMDIST_TEST_LIFETIME"
SECONDS = 1.0
"""How long after its parent a process may live."""

POOL = """
import time
from bisimdist.parallel import Pool

def work(shared, job, deadline):
    time.sleep(60)

if __name__ == "__main__":
    with Pool(work, None, jobs=2) as pool:
        list(pool.map([1, 2]))
"""
COMMAND = """
import subprocess
from bisimdist.lifetime import ending_with_us, unnamed
with unnamed(b"text") as (path, passed):
    words = ending_with_us(["tail", "-f", "-n", "+1", path])
    subprocess.run(words, stdout=subprocess.DEVNULL, pass_fds=passed)
"""
SCRIPT = """
import subprocess
from bisimdist.lifetime import ending_with_us
subprocess.run(ending_with_us(["endless.py"]))
"""
ENDLESS = "import re\nre.match('(a|a)*c', 'a' * 60)\n"  # nothing else runs meanwhile: no thread of Python
LARGE = """dtmc
module m
    x : [0..100000000] init 0;
    [] x < 100000000 -> 1/2 : (x' = x + 1) + 1/2 : (x' = 0);
    [] x = 100000000 -> true;
endmodule
"""


def living(mark: str) -> dict[int, str]:
    """Return processes that were started, however far down, with a mark in their environment."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            marked = mark.encode() in (entry / "environ").read_bytes().split(b"\0")
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (OSError, ValueError):
            continue
        if marked and words:  # those that have ended and wait to be asked have no words
            found[int(entry.name)] = words
    return found


def left_of(mark: str) -> dict[int, str]:
    """Return what still lives after the time that it has to end."""
    limit = time.monotonic() + SECONDS
    while (found := living(mark)) and time.monotonic() < limit:
        time.sleep(0.05)
    return found


def assert_nothing_is_left(words: list[str], count: int, work: str, folder: Path) -> None:
    """Start a command, wait until ``count`` processes do the work, kill the command, and look."""
    scratch = folder / "scratch"
    scratch.mkdir()
    mark = f"{MARK}={folder}"
    name, _, value = mark.partition("=")
    environment = os.environ | {"TMPDIR": str(scratch), name: value}
    with subprocess.Popen(words, cwd=folder, env=environment) as started:
        try:
            limit = time.monotonic() + 60
            while sum(work in text for text in living(mark).values()) < count:
                assert time.monotonic() < limit and started.poll() is None, living(mark)
                time.sleep(0.05)
            time.sleep(0.3)
            assert sum(work in text for text in living(mark).values()) >= count
            started.kill()
            assert not left_of(mark)
            assert not list(scratch.iterdir())
        finally:
            for number in living(mark):
                os.kill(number, signal.SIGKILL)


@pytest.mark.parametrize(
    ("script", "count", "work"),
    [(POOL, 2, "spawn_main"), (COMMAND, 1, "tail"), (SCRIPT, 1, "endless.py")],
    ids=["pool", "command", "script"],
)
def test_nothing_is_left(script: str, count: int, work: str, tmp_path: Path) -> None:
    (tmp_path / "starter.py").write_text(script)
    (tmp_path / "endless.py").write_text(ENDLESS)
    assert_nothing_is_left([sys.executable, "starter.py"], count, work, tmp_path)


def test_no_folder_is_tried_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever tries a folder out writes a file there, and leaves it if it is killed meanwhile."""

    def tried() -> str:
        raise AssertionError("a folder is tried out")

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", tried)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with unnamed(b"text") as (path, _), _file(b"text", "pm") as other:
        assert Path(path).read_bytes() == Path(other).read_bytes() == b"text"
        assert not list(tmp_path.iterdir())


@pytest.mark.extra("storm")
def test_nothing_is_left_of_another_tool(tmp_path: Path) -> None:
    (tmp_path / "large.pm").write_text(LARGE)
    command = [sys.executable, "-m", "bisimdist", "show", "large.pm"]
    assert_nothing_is_left(command, 1, "tool_worker", tmp_path)
