"""The bisimulation metrics: cryptographers with 2^(n(n-1)/2) branches, and random twins."""

from __future__ import annotations

import random
from collections.abc import Iterator

from flint import fmpq

from benchmarks.tables import Size, Table, fine_seconds
from benchmarks.timing import Clock
from bisimdist.automata.metric.ask import metric
from bisimdist.models.library.dining_cryptographers_pa import dining_cryptographers_pa
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.models.pa import PA, Transition
from bisimdist.progress import Deadline

__all__ = ["metric_tables", "twins"]

KINDS = ("accumulative", "amortised")


def twins(size: int, *, seed: int, changed: float, cyclic: bool) -> PA:
    """Two copies of a random automaton; in some rows the probabilities trade places between successors."""
    generator = random.Random(seed)
    steps = []
    for source in range(size):
        targets = range(size) if cyclic else range(source + 1, size)
        for action in "ab":
            chosen = sorted(generator.sample(targets, min(len(targets), generator.choice((1, 2, 3)))))
            parts = [generator.choice((1, 2, 3)) for _ in chosen]
            name = f"{action}{source % 5}"
            for copy in (0, size):
                here = list(parts)
                if generator.random() < changed:
                    generator.shuffle(here)
                row = tuple(
                    (copy + target, fmpq(part, sum(here))) for target, part in zip(chosen, here, strict=True)
                )
                steps.append(Transition(copy + source, name, row))
    names = tuple(f"{'st'[index // size]}{index % size}" for index in range(2 * size))
    return PA(names, tuple(steps), ((0, size),))


def _instances(size: Size) -> Iterator[tuple[str, PA]]:
    yield "pin-checking", pin_checking()
    for n in size.pick((3,), (3, 4, 5), (3, 4, 5, 6)):
        yield f"cryptographers, n={n}, bias 1/3", dining_cryptographers_pa(n, "1/3")
    for states in size.pick((10, 30), (10, 30, 100), (10, 30, 100, 300, 1000)):
        yield f"acyclic twins of {states}", twins(states, seed=1, changed=0.1, cyclic=False)
        yield f"cyclic twins of {states}", twins(states, seed=1, changed=0.1, cyclic=True)


def metric_tables(size: Size) -> Iterator[Table]:
    """Bisimulation metrics of automata: cryptographers, and random twins."""
    limit = size.pick(2.0, 20.0, 300.0)
    table = Table(
        "Bisimulation metrics: CPU seconds",
        ("automaton", "states", "classes", "positions", "kind", "ratio", "s"),
        (f"At most {limit:g} s wall.",),
    )
    for name, automaton in _instances(size):
        for kind in KINDS:
            clock = Clock.start()
            answer = metric(automaton, kind, deadline=Deadline.after(limit))
            spent = clock.spent().cpu
            pair = answer.pairs[0]
            ratio = "inf" if pair.upper is None else str(pair.upper)
            shown = ratio if pair.exact and len(ratio) < 20 else f"{ratio[:20]} ({answer.status.value})"
            counts = [str(answer.statistics.get(key, "")) for key in ("classes", "positions")]
            table.add(name, str(len(automaton)), *counts, kind, shown, fine_seconds(spent))
    yield table
