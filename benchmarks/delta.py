"""How far the two-sided delta gets: rings of cryptographers, and cyclic chains against time."""

from __future__ import annotations

import json
from collections.abc import Iterator

from benchmarks.tables import Size, Table, fine_seconds, seconds
from benchmarks.timing import Clock
from bisimdist.checker import check_certificate
from bisimdist.distances.bound.ask import bound
from bisimdist.exact.doubles import as_double
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.leaky_retry import leaky_retry
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from bisimdist.privacy.delta.ask import delta
from bisimdist.progress import Deadline

__all__ = ["delta_tables"]

ALPHA = "1.0002"
BOUND_LIMIT = 30.0


def delta_tables(size: Size) -> Iterator[Table]:
    """Delta from both sides: rings of cryptographers, and the interval against time on cyclic chains."""
    yield _rings(size.pick((2, 4, 10), (2, 3, 4, 6, 8, 10, 20, 30, 50), (2, 3, 4, 6, 8, 10, 20, 30, 50, 100)))
    yield _cyclic(size.pick((0.1,), (1.0, 3.0), (1.0, 10.0, 60.0)))


def _timed_bound(chain: LMC, alpha: str, limit: float = BOUND_LIMIT) -> tuple[float, float]:
    """Return plain bd and the CPU seconds that it took."""
    clock = Clock.start()
    upper = bound(chain, alpha, precision="1e-6", deadline=Deadline.after(limit)).pairs[0].upper
    return as_double(upper), clock.spent().cpu


def _rings(sizes: tuple[int, ...]) -> Table:
    table = Table(
        f"Exact delta of rings of cryptographers, bias 49/100, alpha {ALPHA}: CPU seconds",
        ("n", "states", "nodes", "delta", "exact", "delta s", "check s", "bd"),
        ("States that agree in proportion are merged. bd: the distance, up to n = 10.",),
    )
    for n in sizes:
        chain = dining_cryptographers(n, "49/100")
        clock = Clock.start()
        answer = delta(chain, ALPHA)
        spent = clock.spent().cpu
        text = json.dumps(answer.certificate())
        clock = Clock.start()
        valid = check_certificate(text).valid
        table.add(
            *(str(n), str(len(chain)), str(answer.statistics["nodes"]), f"{as_double(answer.upper):.10f}"),
            "yes" if answer.pairs[0].exact and valid else "NO",
            *(fine_seconds(spent), fine_seconds(clock.spent().cpu)),
            f"{_timed_bound(chain, ALPHA)[0]:.6f}" if n <= 10 else "-",
        )
    return table


def _cyclic(times: tuple[float, ...]) -> Table:
    shapes = ((8, 2, 1), (12, 2, 0), (30, 3, 0), (60, 4, 0))
    chains = [("leaky-retry", leaky_retry(), "1.01")]
    for n, labels, seed in shapes:
        chains.append((f"random {n}, {labels} labels, seed {seed}", random_lmc(n, 3, labels, seed), "1.1"))
    heads = [f"{given} {limit:g} s" for given in ("with", "without") for limit in times]
    table = Table(
        "Cyclic chains: upper - lower of delta after so many seconds of wall clock",
        ("chain", "alpha", "lower", "upper", "bd", "bd s", *heads),
        ("With and without distances at the leaves.",),
    )
    for name, chain, alpha in chains:
        plain, cost = _timed_bound(chain, alpha, max(10 * times[-1], 1.0))
        gaps = []
        for distances in (True, False):
            for limit in times:
                within = Deadline.after(limit)
                answer = delta(chain, alpha, gap=0, deadline=within, distances=distances, memory=4 * 2**30)
                gaps.append(f"{as_double(answer.upper - answer.lower):.2e}")
        bounds = (f"{as_double(answer.lower):.6f}", f"{as_double(answer.upper):.6f}", f"{plain:.6f}")
        table.add(name, alpha, *bounds, seconds(cost), *gaps)
    return table
