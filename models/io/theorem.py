"""Laws of finite systems as tables, of which theorems are made: one file a proof assistant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.lmc import LMC

MOST_INPUTS = 500
MOST_ENTRIES = 20_000
MOST_STEPS = 500


@dataclass(frozen=True, slots=True)
class Laws:
    """The laws of the outputs of a system, one for each input, and a bound on their ratios.

    Raises UsageError if the table is longer than a proof assistant should be asked to look at.
    """

    name: str  # what the system is called
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    rows: tuple[tuple[fmpq, ...], ...]  # by input the probability of each output
    neighbours: tuple[tuple[int, int], ...] = ()  # pairs of inputs that the bound is about, in either order
    ratio: fmpq | None = (
        None  # the largest ratio of an output from neighbours; None where nothing is said of it
    )

    def __post_init__(self) -> None:
        check_size(len(self.inputs), len(self.outputs), len(self.neighbours))

    def identifier(self) -> str:
        """Return the name of the law as an identifier of any proof assistant."""
        return "law_of_" + (re.sub(r"[^A-Za-z0-9]+", "_", self.name).strip("_") or "chain")

    def attained(self) -> tuple[int, int, int]:
        """Return two inputs and an output whose probabilities have the ratio, the larger one first."""
        for pair in self.neighbours:
            for i, j in (pair, pair[::-1]):
                for o, (p, q) in enumerate(zip(self.rows[i], self.rows[j], strict=True)):
                    if p and p == self.ratio * q:
                        return i, j, o
        raise ValueError(f"no output attains {self.ratio}")


def check_size(inputs: int, outputs: int, neighbours: int = 0) -> None:
    """Raise UsageError if laws are longer than a proof assistant should be asked to look at."""
    for found, most, what in (
        (inputs, MOST_INPUTS, "inputs"),
        (inputs * outputs, MOST_ENTRIES, "probabilities"),
        (neighbours, MOST_ENTRIES, "pairs of neighbours"),
    ):
        if found > most:
            raise UsageError(f"the law has {found} {what}; a theorem is written of at most {most}")


def laws(
    name: str,
    laws: Mapping[str, Mapping[str, fmpq]],
    neighbours: Iterable[tuple[str, str]] = (),
    ratio: fmpq | None = None,
) -> Laws:
    """Return laws that are given by names; a pair of neighbours counts once, in whatever order."""
    inputs = tuple(laws)
    outputs = tuple(dict.fromkeys(output for law in laws.values() for output in law))
    check_size(len(inputs), len(outputs))
    position = {name: index for index, name in enumerate(inputs)}
    pairs = dict.fromkeys(
        (min(i, j), max(i, j)) for i, j in ((position[s], position[t]) for s, t in neighbours) if i != j
    )
    zero = fmpq(0)
    rows = tuple(tuple(law.get(output, zero) for output in outputs) for law in laws.values())
    return Laws(name, inputs, outputs, rows, tuple(pairs), ratio)


def laws_of_chain(chain: LMC, neighbours: Iterable[tuple[str, str]] = (), ratio: fmpq | None = None) -> Laws:
    """Return what an observer of the labels of a chain sees of its runs, and how likely.

    The inputs are the states in its pairs; without pairs those that no other state leads to, or the first
    state. What is seen is a word of labels, of which the last one goes on for ever. If every run makes one
    step, from states with one label, that step's label is enough.

    Raises UsageError if runs need not end within some 500 steps, or the table is too long.
    """
    starts = list(dict.fromkeys(state for pair in chain.pairs for state in pair))
    if not starts:
        led = {target for state, row in enumerate(chain.rows) for target, _ in row if target != state}
        starts = [state for state in range(len(chain)) if state not in led] or [0]
    words = {chain.states[state]: _words(chain, state) for state in starts}
    seen = [word for law in words.values() for word in law]
    short = len({word[0] for word in seen}) == 1 and all(len(word) <= 2 for word in seen)
    named = {
        start: {word[-1] if short else json.dumps(word, ensure_ascii=False): p for word, p in law.items()}
        for start, law in words.items()
    }
    return laws(str(chain.provenance().get("function", "")), named, neighbours, ratio)


def _words(chain: LMC, start: int) -> dict[tuple[str, ...], fmpq]:
    zero, found = fmpq(0), dict[tuple[str, ...], fmpq]()
    runs: dict[tuple[tuple[str, ...], int], fmpq] = {((chain.labels[start],), start): fmpq(1)}
    for _ in range(MOST_STEPS):
        further = dict[tuple[tuple[str, ...], int], fmpq]()
        for (word, state), mass in runs.items():
            if chain.rows[state] == ((state, 1),):
                last = next((k for k, label in enumerate(word[::-1]) if label != word[-1]), len(word))
                seen = word[: len(word) - last + 1]
                found[seen] = found.get(seen, zero) + mass
                continue
            for target, p in chain.rows[state]:
                key = (*word, chain.labels[target]), target
                further[key] = further.get(key, zero) + mass * p
        if not further:
            return found
        if len(further) + len(found) > MOST_ENTRIES:
            raise UsageError(
                f"the law of {chain.states[start]!r} has more than {MOST_ENTRIES} words of labels; "
                "a theorem is written of at most so many"
            )
        runs = further
    raise UsageError(
        f"runs from {chain.states[start]!r} go on after {MOST_STEPS} steps; a theorem is written of chains "
        "whose runs end, in states that lead to themselves alone"
    )


def plain(text: str) -> str:
    """Return a name with what cannot be printed written out."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
