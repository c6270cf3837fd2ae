"""Is this tree slower than another revision? Both answer the same questions in turns on one machine.

``python -m benchmarks --compare REV``. Each turn is a fresh process, which answers every question; what is
compared is CPU time of the answer alone, turn by turn, so that it matters little if the machine changes its
pace. The questions are asked by this tree's code of the other's engines.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path

from benchmarks.tables import Table, fine_seconds
from bisimdist import bound, build_any_example, delta, leakage
from bisimdist.checker import check_certificate
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.privacy import delta_over

__all__ = ["QUESTIONS", "RUNS", "comparison"]

ROOT = Path(__file__).resolve().parents[1]
RUNS = 5
LEAST, OFTEN = 0.3, 3
"""A question is asked anew until it has taken so many seconds, and so many times; the least time counts."""
SLOWER = 1.05

Work = Callable[[], object]


def _bound(states: int, successors: int, alpha: str, precision: str | None = None) -> Work:
    chain = random_lmc(states, successors, 3, 1)
    pairs = list(combinations(chain.states, 2))
    return partial(bound, chain, alpha, pairs=pairs, precision=precision)


def _example(ask: Callable[..., object], name: str, *arguments: object, **options: object) -> Work:
    return partial(ask, build_any_example(name), *arguments, **options)


def _ring(ask: Callable[..., object], n: int, *arguments: object) -> Work:
    return _example(ask, f"dining-cryptographers,n={n}", *arguments)


def _check(states: int, successors: int, alpha: str) -> Work:
    answer = _bound(states, successors, alpha, "1e-9")()
    certificate = b"".join(answer.compact_certificate())  # type: ignore[attr-defined]
    return partial(check_certificate, certificate)


def _format_1(states: int) -> Work:
    answer = _bound(states, 5, "3/2")()

    def work() -> None:
        assert check_certificate(json.dumps(answer.certificate())).valid  # type: ignore[attr-defined]

    return work


def _random_delta(states: int) -> Work:
    chain = random_lmc(states, 3, 3, 0)
    return partial(delta, chain, "1.1", pairs=[(chain.states[0], chain.states[1])], gap="1/1000")


def _single(size: int) -> Work:
    from benchmarks.instances import make_batch  # noqa: PLC0415
    from bisimdist.lp.solve import solve  # noqa: PLC0415

    batch = make_batch("random", size, 5, 1)
    problems = [batch.problem(0, index) for index in range(5)]
    return lambda: [solve(problem, "transport") for problem in problems]


def _kernel(family: str, size: int, count: int) -> Work:
    from benchmarks import lp  # noqa: PLC0415
    from benchmarks.instances import make_batch  # noqa: PLC0415

    batch = make_batch(family, size, count, 2)
    return lambda: lp._kernel(batch, lp.Column(size))


def _metric(size: int) -> Work:
    from benchmarks.metric import twins  # noqa: PLC0415
    from bisimdist.automata.metric.ask import metric  # noqa: PLC0415

    automaton = twins(size, seed=1, changed=0.1, cyclic=True)
    return lambda: [metric(automaton, kind) for kind in ("accumulative", "amortised")]


def _generalised(size: int, kind: str) -> Work:
    from benchmarks.generalised import layered, random_automaton  # noqa: PLC0415
    from bisimdist.automata import generalised_metric  # noqa: PLC0415

    return partial(generalised_metric, random_automaton(size) if kind == "additive" else layered(5, 5), kind)


def _lifting(size: int) -> Work:
    from benchmarks.lifting import make_problem  # noqa: PLC0415
    from bisimdist.lp.multiplicative import lift_ratio  # noqa: PLC0415

    problems = [make_problem("random", size, seed).arguments() for seed in range(10)]
    return lambda: [lift_ratio(*problem) for problem in problems]


def _equivalence(size: int) -> Work:
    from benchmarks.traces import mixed_copies  # noqa: PLC0415
    from bisimdist.traces import trace_equivalence  # noqa: PLC0415

    return partial(trace_equivalence, mixed_copies(size, 1))


def _formulae(size: int) -> Work:
    from benchmarks.generalised import random_automaton  # noqa: PLC0415
    from bisimdist.logic.engine.mimicking import mimicking_formulae  # noqa: PLC0415

    return partial(mimicking_formulae, random_automaton(size), 50)


def _trace_metric(n: int) -> Work:
    from bisimdist import trace_metric  # noqa: PLC0415

    return _ring(trace_metric, n)


def _least_budget(length: int) -> Work:
    from bisimdist import epsilon  # noqa: PLC0415

    return _example(epsilon, "above-threshold", length=length)


def _noisy_max(n: int) -> Work:
    from bisimdist.budgets.budget.ask import mechanism_budget  # noqa: PLC0415
    from bisimdist.budgets.engine.budget import Adjacency, noisy_max_family  # noqa: PLC0415

    return lambda: [mechanism_budget(noisy_max_family(n, ties="uniform"), near) for near in Adjacency]


def _program(queries: int) -> Work:
    from benchmarks.programs import explored  # noqa: PLC0415
    from bisimdist.models.library.programs import sparse_vector  # noqa: PLC0415

    return partial(explored, sparse_vector.svt_stops_clipped, [(0,) * queries, (1,) * queries], None)


def _crosscheck(name: str) -> Work:
    from bisimdist import crosscheck  # noqa: PLC0415

    return _example(crosscheck, name, seconds=5)


QUESTIONS: dict[str, tuple[Callable[[], Work], Callable[[], Work]]] = {
    name: (partial(make, *small), partial(make, *large))
    for name, make, small, large in (
        ("lp: a batch, k = 4", _kernel, ("random", 4, 20), ("random", 4, 2000)),
        ("lp: a batch, k = 30, close", _kernel, ("close", 10, 20), ("close", 30, 40)),
        ("lp: `lp.solve`, k = 30", _single, (10,), (30,)),
        ("problems: exact, 50 states, 5 successors, 3/2", _bound, (20, 5, "3/2"), (50, 5, "3/2")),
        ("problems: cryptographers, 10", _ring, (bound, 3, "1.0002"), (bound, 10, "1.0002")),
        ("problems: certificate written and checked", _format_1, (20,), (40,)),
        ("classical: exact, 150 states, 2 successors", _bound, (50, 2, "1"), (150, 2, "1")),
        ("brackets: 600 states, 2 successors, 1", _bound, (200, 2, "1", "1e-9"), (600, 2, "1", "1e-9")),
        ("brackets: 300 states, 5 successors, 3/2", _bound, (100, 5, "3/2", "1e-9"), (300, 5, "3/2", "1e-9")),
        ("brackets: checked, 200 states, 21/20", _check, (50, 2, "21/20"), (200, 2, "21/20")),
        ("delta: cryptographers, 20", _ring, (delta, 4, "1.0002"), (delta, 20, "1.0002")),
        ("delta: 30 random states up to 1/1000", _random_delta, (8,), (30,)),
        ("leakage: cryptographers, 20, kl", _ring, (leakage, 4, "kl"), (leakage, 20, "kl")),
        (
            "rough: delta over a parameter",
            _example,
            (delta_over, "dining-cryptographers,n=3,bias=p", "11/10"),
            (delta_over, "dining-cryptographers,n=6,bias=p", "11/10"),
        ),
        ("programs: sparse vector, 30 queries", _program, (3,), (30,)),
        ("metric: twins of 30", _metric, (10,), (30,)),
        ("hmm: above threshold, length 10", _least_budget, (2,), (10,)),
        ("hmm-proofs: noisy max, 5", _noisy_max, (3,), (5,)),
        ("lifting: k = 30", _lifting, (4,), (30,)),
        ("generalised: additive, 50 states", _generalised, (10, "additive"), (50, "additive")),
        ("generalised: multiplicative, layers", _generalised, (0, "multiplicative"), (0, "multiplicative")),
        ("equivalence: mixed, 200", _equivalence, (20,), (100,)),
        ("trace-metric: cryptographers, 18", _trace_metric, (3,), (18,)),
        ("formulae: 100 states", _formulae, (10,), (100,)),
        ("crosscheck: figure1", _crosscheck, ("figure1",), ("figure1",)),
    )
}
"""By name: what is asked once so that code is loaded, and what is measured; with the table that it is of."""


def _answer(names: Sequence[str]) -> None:
    """Print the CPU seconds of questions, or what went wrong, as JSON; this is a process of its own."""
    found: dict[str, float | str] = {}
    for name in names:
        small, large = QUESTIONS[name]
        try:
            small()()
            times: list[float] = []
            while sum(times) < LEAST or len(times) < OFTEN:
                work = large()
                begun = time.process_time()
                work()
                times.append(time.process_time() - begun)
            found[name] = min(times)
        except Exception as error:  # another revision may not know what is asked
            found[name] = type(error).__name__
    print(json.dumps(found))


def _turn(tree: Path, names: Sequence[str]) -> dict[str, float | str]:
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from benchmarks.compare import _answer; _answer(sys.argv[1:])",
            *names,
        ],
        cwd=tree,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float | str] = json.loads(ended.stdout.splitlines()[-1])
    return found


def _checked_out(revision: str, folder: Path) -> Path:
    """Write the engines of a revision, and this tree's benchmarks beside them."""
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", revision, "bisimdist", "lp", "models"],
        capture_output=True,
        check=True,
    ).stdout
    subprocess.run(["tar", "x", "-C", str(folder)], input=archive, check=True)
    shutil.copytree(ROOT / "benchmarks", folder / "benchmarks")
    return folder


def comparison(revision: str, runs: int = RUNS, tables: Sequence[str] = ()) -> Table:
    """Return our times beside those of another revision, by turns: of some tables, or all."""
    names = [name for name in QUESTIONS if not tables or name.partition(":")[0] in tables]
    table = Table(
        f"This tree beside {revision}: CPU seconds, medians of {runs} turns",
        ("question", f"s at {revision}", "s here", "here / there", "least .. most", "slower"),
        (
            f"The ratio is the median of those of the turns, between the least and the most; YES where it "
            f"is above {SLOWER} and no turn was faster here.",
        ),
    )
    with tempfile.TemporaryDirectory() as folder:
        other = _checked_out(revision, Path(folder))
        sides: tuple[list[dict[str, float | str]], ...] = ([], [])
        for turn in range(runs + 1):  # the first compiles
            for side, tree in zip(sides, (other, ROOT), strict=True):
                side.append(_turn(tree, names))
            print(f"turn {turn} of {runs}", file=sys.stderr, flush=True)
    for name in names:
        there, here = ([turn[name] for turn in side[1:]] for side in sides)
        broken = [str(value) for value in (*there, *here) if isinstance(value, str)]
        if broken:
            table.add(name, broken[0], *["-"] * 4)
            continue
        ratios = [float(b) / float(a) for a, b in zip(there, here, strict=True)]
        middle = statistics.median(ratios)
        table.add(
            *(name, *(fine_seconds(statistics.median(map(float, side))) for side in (there, here))),
            *(f"{middle:.2f}", f"{min(ratios):.2f} .. {max(ratios):.2f}"),
            "YES" if middle > SLOWER and min(ratios) > 1 else "no",
        )
    return table
