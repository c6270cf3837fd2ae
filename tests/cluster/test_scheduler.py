"""A scheduler and workers as anybody starts them, and the command line that is told where they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.extra("cluster")]

ROOT = Path(__file__).parents[2]
CHAIN = "example:random,states=600,successors=4,labels=2,seed=1"
ASKED = ("--alpha", "21/20", "--precision", "1e-9", "--json")
ALL = ("--all-pairs", "--certificate-format", "compact", "--certificate")
SOME = tuple(word for k in range(1, 9) for word in ("--pair", "s0", f"s{k}"))


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-m", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start ``dask scheduler`` and ``dask worker`` twice, one of them with two threads."""
    file = folder / "scheduler.json"
    told = "--scheduler-file", str(file), "--no-dashboard"
    with ExitStack() as stack:
        scheduler = stack.enter_context(
            running("dask", "scheduler", "--host", "127.0.0.1", "--port", "0", *told)
        )
        address = json.loads(_written(file))["address"]
        for threads in ("1", "2"):
            about = "--nthreads", threads, "--local-directory", str(folder), "--no-nanny"
            stack.enter_context(running("dask", "worker", *told, *about))
        yield address, scheduler


def _written(file: Path) -> str:
    for _ in range(300):
        if file.exists() and file.read_text(encoding="utf-8").endswith("}"):
            return file.read_text(encoding="utf-8")
        time.sleep(0.1)
    raise TimeoutError(file)


def bound(*words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "bisimdist", "bound", *words], cwd=ROOT, capture_output=True, check=False
    )


def test_the_command_line_and_a_scheduler(tmp_path: Path) -> None:
    proofs = [tmp_path / name for name in ("alone", "shared")]
    alone = bound(CHAIN, *ASKED, *ALL, str(proofs[0]))
    with cluster(tmp_path) as (address, scheduler):
        shared = bound(CHAIN, *ASKED, *ALL, str(proofs[1]), "--cluster", address)
        assert (alone.returncode, shared.returncode) == (0, 0), shared.stderr
        assert shared.stdout == alone.stdout
        assert proofs[1].read_bytes() == proofs[0].read_bytes()
        larger = CHAIN.replace("600", "3000")
        with running("bisimdist", "bound", larger, *ASKED, *SOME, "--cluster", address) as asked:
            time.sleep(6)  # it takes at least ten
            scheduler.kill()
            said, complaints = asked.communicate(timeout=60)
    assert asked.returncode == 3, complaints
    assert b"internal error" not in complaints
    assert b"Traceback" not in complaints
    known = json.loads(said)
    assert known["status"] == "limit"
    assert {(pair["lower"], pair["upper"]) for pair in known["pairs"]} <= {("0", "1"), ("1", "1")}
