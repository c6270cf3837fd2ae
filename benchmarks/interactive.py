"""How far the best analyst is found: above threshold under adaptive neighbouring queries, round by round.

Beside the nodes of the graph stands how many there would be if information states in proportion were not
merged.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.tables import Size, Table, fine_seconds
from benchmarks.timing import Clock
from bisimdist.exact.doubles import as_double
from bisimdist.faces.shown.answer import Status
from bisimdist.models.library.interactive import adaptive_above_threshold
from bisimdist.privacy.delta.ask import delta
from bisimdist.progress import Deadline

__all__ = ["interactive_tables"]

ALPHAS = ("1", "3/2", "2", "4", "8")
ROUNDS = (2, 4, 6, 8, 10, 12, 16, 20, 24, 32)


def interactive_tables(size: Size) -> Iterator[Table]:
    """Above threshold under adaptive queries, round by round."""
    model = adaptive_above_threshold()
    queries = len(model.actions)
    clock = Clock.start()
    for alpha in ALPHAS:
        delta(model, alpha, rounds=6)
    table = Table(
        f"Above threshold, {queries} pairs of queries a round, alpha = 2: CPU seconds",
        ("rounds", "nodes", "unmerged", "delta", "s"),
        (f"6 rounds at {len(ALPHAS)} alphas took {fine_seconds(clock.spent().cpu)} s together.",),
    )
    limit = size.pick(2.0, 20.0, 60.0)
    for rounds in ROUNDS[: size.pick(4, 10, 10)]:
        clock = Clock.start()
        answer = delta(model, 2, rounds=rounds, deadline=Deadline.after(limit))
        spent = clock.spent().cpu
        tree = 2 * (1 + 2 * sum(queries**k for k in range(1, rounds + 1)))  # of both directions
        shown = f"{as_double(answer.upper):.8f}"
        table.add(str(rounds), str(answer.statistics["nodes"]), f"{tree:.2g}", shown, fine_seconds(spent))
        if answer.status is Status.LIMIT:
            break
    yield table
