"""Whole problems, each measured in a process of its own: time by stage, memory, proof, independent check."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Any
from unittest.mock import patch

from benchmarks.timing import Clock, Spent, peak_memory, run_apart
from bisimdist.checker import check_certificate
from bisimdist.distances.bound import ask as distances
from bisimdist.distances.bound import work
from bisimdist.distances.bound.ask import bound
from bisimdist.distances.engine import exact_engine, strategy
from bisimdist.exact.rational import parse_rational
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.library.registry import build_example
from bisimdist.models.lmc import LMC
from bisimdist.progress import Deadline

__all__ = ["Case", "Outcome", "measure", "random_case", "warm_up"]

STAGES: dict[str, tuple[tuple[Any, str], ...]] = {
    "programs": ((work, "prepare"),),
    "iteration": ((work, "approximate"),),
    "bracket": ((work, "flat_tables"), (work, "prove_bracket")),
    "linear systems": ((strategy, "solve_exact"),),
    "ranking": ((exact_engine, "rank_pairs"),),
    "strategies": ((distances, "prove_exactly"),),
}
"""What each stage is made of; the time of `prove_exactly` includes linear systems and ranking."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question."""

    title: str
    model: str
    """An example of the library by name, or ``random:STATES:SUCCESSORS:LABELS:SEED``."""
    alpha: str
    precision: str | None = None
    limit: float | None = None
    """Seconds after which the work ends with what it has."""
    proof: bool = True
    """Whether to write the certificate and to check it."""
    proof_limit: float = 900.0
    """Seconds that writing and that checking may take."""
    loaded: bool = False
    """Whether to answer a small question first, so that all code is loaded when the measurement begins."""

    def built(self) -> tuple[LMC, list[tuple[str, str]]]:
        """Return the chain and the pairs that are asked: all of a random chain, else those of the example."""
        if not self.model.startswith("random:"):
            lmc = build_example(self.model)
            return lmc, [(lmc.states[s], lmc.states[t]) for s, t in lmc.pairs]
        states, successors, labels, seed = map(int, self.model.split(":")[1:])
        lmc = random_lmc(states, successors, labels, seed)
        return lmc, list(combinations(lmc.states, 2))


@dataclass(slots=True)
class Outcome:
    """What a case took and came to."""

    status: str
    pairs: int
    programs: int
    total: Spent
    memory: float
    """MB, of the bound alone."""
    memory_before: float
    """MB, before the work began: interpreter, libraries, the chain."""
    digits: int
    """Decimal digits of the longest denominator among the upper bounds."""
    width: float
    """The widest bracket."""
    stages: dict[str, Spent] = field(default_factory=dict)
    writing: Spent | None = None
    checking: Spent | None = None
    certificate: int = 0
    """Bytes."""
    valid: bool | None = None

    @property
    def certified(self) -> Spent:
        """Time of the answer with its certificate as a JSON text."""
        written = self.writing or Spent(0.0, 0.0)
        return Spent(self.total.wall + written.wall, self.total.cpu + written.cpu)


def random_case(
    states: int, successors: int, labels: int, alpha: str, *, seed: int = 1, **options: Any
) -> Case:
    title = f"random, {states} states, {successors} successors, {labels} labels"
    return Case(title, f"random:{states}:{successors}:{labels}:{seed}", alpha, **options)


@contextmanager
def _timed_stages() -> Iterator[dict[str, Spent]]:
    stages: dict[str, Spent] = {}

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            clock = Clock.start()
            try:
                return function(*arguments, **options)
            finally:
                spent, before = clock.spent(), stages.get(name, Spent(0.0, 0.0))
                stages[name] = Spent(before.wall + spent.wall, before.cpu + spent.cpu)

        return run

    with ExitStack() as stack:
        for name, places in STAGES.items():
            for module, attribute in places:
                wrapped = timed(name, getattr(module, attribute))
                stack.enter_context(patch.object(module, attribute, wrapped))
        yield stages


def _run(case: Case) -> Iterator[Outcome]:
    """Answer, write and check, in this process; yield what is known after each."""
    lmc, pairs = case.built()
    if case.loaded:
        small = random_lmc(60, 5, 3, 1)
        bound(small, parse_rational(case.alpha), pairs=list(combinations(small.states, 2)))
    before = peak_memory()
    with _timed_stages() as stages:
        clock = Clock.start()
        answer = bound(
            lmc,
            parse_rational(case.alpha),
            pairs=pairs,
            precision=None if case.precision is None else parse_rational(case.precision),
            deadline=Deadline.after(case.limit),
        )
        total = clock.spent()
    if "strategies" in stages:  # what is left of it
        for part in ("linear systems", "ranking"):
            spent, whole = stages.get(part, Spent(0.0, 0.0)), stages["strategies"]
            stages["strategies"] = Spent(whole.wall - spent.wall, whole.cpu - spent.cpu)
    outcome = Outcome(
        answer.status.value,
        int(answer.statistics["pairs"]),
        int(answer.statistics.get("programs", 0)),
        total,
        peak_memory(),
        before,
        int(max(int(pair.upper.q).bit_length() for pair in answer.pairs) * 0.30103) + 1,
        max(float(pair.upper - pair.lower) for pair in answer.pairs),
        stages,
    )
    yield outcome
    if case.proof:
        clock = Clock.start()
        text = json.dumps(answer.certificate(), separators=(",", ":"))
        outcome.writing, outcome.certificate = clock.spent(), len(text)
        del answer
        gc.collect()
        yield outcome
        clock = Clock.start()
        outcome.valid = check_certificate(text).valid
        outcome.checking = clock.spent()
        yield outcome


def measure(case: Case) -> Outcome | None:
    """Measure a case in a fresh process; None where it ends without an answer."""
    limit = None if case.limit is None else 5 * case.limit + 300
    found: Outcome | None = run_apart(_run, case, limit=limit, rest=case.proof_limit)
    told = "no answer" if found is None else f"{found.status}, {found.total.wall:.1f} s"
    print(f"{case.title}, alpha {case.alpha}: {told}", file=sys.stderr, flush=True)
    return found


@cache
def warm_up() -> None:
    """Have the machine code of the kernel compiled and kept, so that no process that is measured does it."""
    measure(random_case(60, 5, 3, "3/2", proof=False))
    measure(random_case(60, 5, 3, "3/2", precision="1/1000000", proof=False))
