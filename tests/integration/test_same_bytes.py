"""The same bytes for the same input: across processes, hash seeds, threads and kinds of kernel."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from flint import fmpq

from bisimdist.distances.bound.ask import bound
from bisimdist.distances.engine.pairs import PairSpace
from bisimdist.distances.engine.programs import build_functional
from bisimdist.lp import batch
from bisimdist.lp.batch import BatchBasis
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from tests.integration.certified import all_pairs

CHAINS = {
    "ties": random_lmc(14, 4, 2, seed=5, uniform=True),
    "random": random_lmc(16, 3, 2, seed=6),
    "detours": random_lmc(9, 3, 2, seed=158, denominator=6),
}

PROGRAM = """
import json, sys
from bisimdist.distances.bound.ask import bound
from bisimdist.models.library.random_chain import random_lmc
from itertools import combinations
for chain in (random_lmc(10, 4, 2, seed=5, uniform=True), random_lmc(9, 3, 2, seed=158, denominator=6)):
    for alpha in ("1", "4/3"):
        for precision in (None, "1e-6"):
            answer = bound(chain, alpha, pairs=list(combinations(chain.states, 2)), precision=precision)
            print(json.dumps(answer.certificate()), answer.status, answer.method, dict(answer.statistics))
"""


def fingerprint(chain: LMC, alpha: str, precision: str | None, jobs: int = 1) -> str:
    answer = bound(chain, alpha, pairs=all_pairs(chain), precision=precision, jobs=jobs)
    text = json.dumps([answer.certificate(), answer.status.value, answer.method, dict(answer.statistics)])
    return hashlib.sha256(text.encode()).hexdigest()


def test_across_processes_and_hash_seeds() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            timeout=120,
        ).stdout
        for seed in ("0", "4242")
    }
    assert len(outputs) == 1
    assert len(next(iter(outputs)).splitlines()) == 8


@pytest.mark.parametrize("precision", [None, "1e-6"])
@pytest.mark.parametrize("alpha", ["1", "4/3"])
@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS.keys())
def test_across_jobs_and_kinds_of_kernel(
    chain: LMC, alpha: str, precision: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled at once, never compiled, and split among threads wherever there are two programs."""
    expected = fingerprint(chain, alpha, precision)
    for interpreted, split, jobs in ((0, 4096, 1), (10**9, 4096, 1), (0, 2, 2), (0, 2, 5), (10**9, 2, 3)):
        monkeypatch.setattr(batch, "INTERPRETED", interpreted)
        monkeypatch.setattr(batch, "SPLIT", split)
        assert fingerprint(chain, alpha, precision, jobs) == expected


@pytest.mark.parametrize("one", [1 << 20, 1 << 48, 1 << 53])
@pytest.mark.parametrize("alpha", [fmpq(1), fmpq(4, 3)])
def test_both_kernels_bit_for_bit(alpha: fmpq, one: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = random_lmc(14, 5, 2, seed=9)
    space = PairSpace.of_classes(distinguishable_classes(chain))
    functional = build_functional(chain, space, alpha)
    programs = np.arange(len(functional.batch))
    found = []
    for interpreted in (0, 10**9):
        monkeypatch.setattr(batch, "INTERPRETED", interpreted)
        basis = BatchBasis.start(functional.batch)
        distance = np.zeros(functional.size, dtype=np.int64)
        pivots = []
        for round_ in range(4):
            pivots.append(basis.solve(functional.batch, programs, distance, one=one))
            flags = basis.undecided(functional.batch, programs, distance, one=one, band=50)
            distance = (distance * 7 + np.arange(functional.size) * (round_ + 3) * one // 31) % (one + 1)
            found.append(
                (
                    basis.parent.tobytes(),
                    basis.flow.tobytes(),
                    basis.potential.tobytes(),
                    basis.value.tobytes(),
                    flags.tobytes(),
                    tuple(pivots),
                )
            )
    assert found[:4] == found[4:]
    assert sum(found[-1][-1]) > 0
