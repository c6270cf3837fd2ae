"""Time the bisimulation metrics: cryptographers with 2^(n(n-1)/2) branches, and random twins.

Run ``python benchmarks/metric.py`` for a table that takes a minute or two; ``--full`` adds the large ones.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator

from flint import fmpq

from bisimdist.analysis.metric import metric
from bisimdist.models.library.dining_cryptographers_pa import dining_cryptographers_pa
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.models.pa import PA, Transition
from bisimdist.progress import Deadline

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


def instances(*, full: bool) -> Iterator[tuple[str, PA]]:
    """Yield what is measured, by name."""
    yield "pin-checking", pin_checking()
    for n in (3, 4, 5, 6) if full else (3, 4, 5):
        yield f"cryptographers, n={n}, bias 1/3", dining_cryptographers_pa(n, "1/3")
    for size in (10, 30, 100, 300, 1000) if full else (10, 30, 100):
        yield f"acyclic twins of {size}", twins(size, seed=1, changed=0.1, cyclic=False)
        yield f"cyclic twins of {size}", twins(size, seed=1, changed=0.1, cyclic=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="measure the large instances too")
    full = parser.parse_args().full
    print("| automaton | states | classes | positions | kind | ratio | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, automaton in instances(full=full):
        for kind in KINDS:
            start = time.process_time()
            answer = metric(automaton, kind, deadline=Deadline.after(300))
            spent = time.process_time() - start
            pair = answer.pairs[0]
            ratio = "inf" if pair.upper is None else str(pair.upper)
            shown = ratio if pair.exact and len(ratio) < 20 else f"{ratio[:20]} ({answer.status.value})"
            counts = answer.statistics
            print(
                f"| {name} | {len(automaton)} | {counts.get('classes', '')} | {counts.get('positions', '')} "
                f"| {kind} | {shown} | {spent:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
