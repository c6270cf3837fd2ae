"""What each measure of leakage costs against delta on one model, and the interval against time on chains."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TypeVar

from benchmarks.tables import Size, Table, fine_seconds, ratio
from benchmarks.timing import timed
from bisimdist.checker import check_certificate
from bisimdist.exact.doubles import as_double
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.leaky_retry import leaky_retry
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.leakage.ask import leakage
from bisimdist.progress import Deadline

__all__ = ["leakage_tables"]

MEASURES = ("tv", "chi2", "renyi:8", "kl", "hellinger", "bayes")
ALPHA = "1.0002"
REPEATED = 20
"""Up to this size the least of several times counts."""

CHECKED = 50
"""Up to this size certificates are written and checked."""

Answer = TypeVar("Answer")


def leakage_tables(size: Size) -> Iterator[Table]:
    """Measures of leakage beside delta on rings of cryptographers, and the interval against time."""
    yield _costs(size.pick((10,), (10, 20, 50), (10, 20, 50, 100)), size.pick(1, 3, 5))
    yield _cyclic(size.pick((0.1,), (1.0,), (1.0, 10.0, 60.0)))


def _timed(ask: Callable[[], Answer], times: int) -> tuple[float, Answer]:
    """Return the least CPU seconds of several, and the answer."""
    best, answer = float("inf"), None
    for _ in range(times):
        answer, spent = timed(ask)
        best = min(best, spent)
    assert answer is not None
    return best, answer


def _costs(sizes: tuple[int, ...], repeated: int) -> Table:
    table = Table(
        "Measures of leakage on rings of cryptographers, bias 49/100: CPU seconds",
        ("n", "measure", "nodes", "s", "measure / delta", "check s"),
        (f"delta: at alpha = {ALPHA}. The least of {repeated} times up to n = {REPEATED}.",),
    )
    for n in sizes:
        chain = dining_cryptographers(n, "49/100")
        times = repeated if n <= REPEATED else 1
        base, answer = _timed(lambda: delta(chain, ALPHA), times)  # noqa: B023  (called here)
        table.add(str(n), "delta", str(answer.statistics["nodes"]), fine_seconds(base), "1x", "-")
        for measure in MEASURES:
            spent, found = _timed(lambda: leakage(chain, measure), times)  # noqa: B023  (called here)
            checked = "-"
            if n <= CHECKED:
                text = json.dumps(found.certificate())
                checking, report = _timed(lambda: check_certificate(text), 1)  # noqa: B023  (called here)
                checked = fine_seconds(checking) if report.valid else "REJECTED"
            nodes = str(found.statistics["nodes"])
            table.add(str(n), measure, nodes, fine_seconds(spent), ratio(spent, base), checked)
    return table


def _chains() -> Iterator[tuple[str, LMC]]:
    yield "leaky-retry", leaky_retry()
    for n, successors, labels, seed in (
        (8, 3, 2, 1),
        (12, 3, 2, 0),
        (30, 3, 3, 0),
        (6, 6, 2, 0),
        (10, 10, 2, 0),
    ):
        name = f"random {n}, {successors} each, {labels} labels, seed {seed}"
        yield name, random_lmc(n, successors, labels, seed)


def _cyclic(times: tuple[float, ...]) -> Table:
    table = Table(
        "Cyclic chains: upper - lower of a measure after so many seconds of wall clock",
        ("chain", "measure", *(f"{limit:g} s" for limit in times)),
    )
    for name, chain in _chains():
        for measure in ("tv", "hellinger", "kl", "chi2"):
            cells = []
            for limit in times:
                found = leakage(chain, measure, gap="1e-12", deadline=Deadline.after(limit)).pairs[0]
                if found.lower is None:
                    cells.append("infinite")
                elif found.upper is None:
                    cells.append(f"[{as_double(found.lower):.4g}, inf]")
                else:
                    cells.append(f"{as_double(found.upper - found.lower):.1e}")
            table.add(name, measure, *cells)
    return table
