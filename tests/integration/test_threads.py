"""Calls in several threads and several processes answer what one call alone does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WORK = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

from flint import fmpq

import bisimdist
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.solve import solve

HALF, THIRD = fmpq(1, 2), fmpq(1, 3)
PROBLEM = SkewedProblem(fmpq(3, 2), (HALF, HALF), (THIRD, 2 * THIRD), ((fmpq(0), HALF), (HALF, fmpq(0))))

def ask(number):
    couple = bisimdist.build_any_example("contagious-disease")
    chain = bisimdist.build_example("randomised-response,k=2,p=3/4")
    lists = bisimdist.build_any_example("above-threshold")
    return (
        bisimdist.verify(couple, 1 + number, length=1, engine="smt").verdict.value,
        [bisimdist.verify(lists, 3, length=2, engine=name).verdict.value for name in ("smt", "exact")],
        [
            (pair.source, measure.name, str(measure.bounds))
            for model in (couple, chain)
            for pair in bisimdist.crosscheck(model, length=2).pairs
            for measure in pair.measures
        ],
        str(bisimdist.exact.alpha_below(f"0.{number + 1}", denominator_bits=20 * (number + 1))),
        bisimdist.exact.log_enclosure(2 + number, 10 * (number + 1)),
        str(solve(PROBLEM, "z3").value),
    )

if __name__ == "__main__":
    alone = [ask(number) for number in range(4)]
    if sys.argv[1] == "threads":
        executor = ThreadPoolExecutor(4)
    else:
        executor = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(sys.argv[1]))
    with executor:
        together = list(executor.map(ask, range(4)))
    assert together == alone, (together, alone)
"""


@pytest.mark.parametrize("kind", ["threads", "spawn", "fork"])
def test_calls_side_by_side_answer_what_one_alone_does(kind: str, tmp_path: Path) -> None:
    program = tmp_path / "work.py"  # a process of its own, because what is shared can crash it
    program.write_text(WORK)
    ended = subprocess.run(
        [sys.executable, str(program), kind], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr
