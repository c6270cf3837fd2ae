"""What a certificate with compact tables says of a proof pair by pair, of the exact distance above all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from flint import fmpq

from bisimdist.distances.bound.certificate import coupling_entry, progress_entry, witness_entry
from bisimdist.distances.bound.witnesses import coupling, witness
from bisimdist.distances.engine.flat_bases import BYTES, NIBBLES, OWN, TURNED
from bisimdist.distances.engine.proof import Proof
from bisimdist.distances.engine.strategy import Strategy
from bisimdist.faces.written.packing import json_bytes, numeral
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.progress import Deadline, Progress

COUPLED, WITNESSED = 4, 8
"""What else a pair may say first: couplings, or a potential, stand there as in JSON."""


class Detailed:
    """What is written of a proof."""

    def __init__(self, proof: Proof) -> None:
        self.proof = proof
        question = proof.question
        self.functional = question.functional
        self.model, self.names = question.model, question.model.states
        self.distance, self.alpha, self.asked = question.distance, question.alpha, question.asked
        self.ranked = proof.ranked is not None
        upper, lower = proof.upper_values, proof.lower_values
        same = lower is upper
        shared = upper.denominator.lcm(lower.denominator)
        self.upper = [x * (shared // upper.denominator) for x in upper.numerators]
        self.lower = self.upper if same else [x * (shared // lower.denominator) for x in lower.numerators]
        self.denominator = int(shared)
        self.most = (
            0 if same else int(max((u - v for u, v in zip(self.upper, self.lower, strict=True)), default=0))
        )
        space = self.functional.space
        self.classes = distinguishable_classes(question.model)
        self.coupled = self.classes == space.classes
        """Whether all states of a class are coupled; else some are not because they are not bisimilar."""
        met: Counter[int] = Counter()
        self.place = []
        """By state its place in its class."""
        for kind in self.classes:
            self.place.append(met[kind])
            met[kind] += 1
        self.partners: dict[int, list[tuple[int, int]]] = {}
        """By state: places of its partners, with the numbers of the pairs."""
        for number, (s, t) in enumerate(space.pairs):
            row, other = (s, t) if space.ordered else (t, s)
            self.partners.setdefault(row, []).append((self.place[other], number))
        for row_ in self.partners.values():
            row_.sort()

    def row(self, s: int) -> tuple[list[int], list[int], list[int], list[int]]:
        """Return the places of the states that s is listed with, their upper bounds, gaps and ranks."""
        partners = self.partners.get(s, [])
        numbers = [number for _, number in partners]
        ranks = [self._rank(number) for number in numbers] if self.ranked else []
        upper = [int(self.upper[number]) for number in numbers]
        gaps = [int(self.upper[number] - self.lower[number]) for number in numbers] if self.most else []
        return [place for place, _ in partners], upper, gaps, ranks

    def _rank(self, number: int) -> int:
        found = self.proof.ranked.get(number) if self.proof.ranked is not None else None
        return 0 if found is None else found.rank

    def records(self, deadline: Deadline, progress: Progress) -> Iterator[bytes]:
        """Yield what proves the bounds of the pairs in their order."""
        for s in sorted(self.partners, key=lambda s: (self.classes[s], s)):
            deadline.check()
            progress("certificate", s, len(self.names))
            yield b"".join(self._record(number) for _, number in self.partners[s])

    def _record(self, pair: int) -> bytes:
        functional, proof = self.functional, self.proof
        start = functional.width * pair
        sides = range(start, start + 2 if functional.both_sides else start + 1)
        flags, parts = 0, [b""]
        if self.upper[pair] < self.denominator:
            strategy = proof.upper_strategy
            bases = [self._basis(strategy, side) for side in sides]
            if None in bases:
                flags |= COUPLED
                names = ("forward", "backward")
                shown = {
                    name: coupling_entry(self.names, coupling(strategy, side))
                    for name, side in zip(names, sides, strict=False)
                }
                parts.append(_text(shown))
            else:
                parts += [basis for basis in bases if basis is not None]
        if self.lower[pair]:
            side = proof.lower_strategy.side(pair)
            turned = side % 2
            flags |= TURNED if turned else 0
            basis = self._basis(proof.lower_strategy, side)
            if basis is None:
                flags |= WITNESSED
                parts.append(
                    _text({"witness": witness_entry(self.names, witness(proof.lower_strategy, side))})
                )
            elif flags & COUPLED or self.upper[pair] == self.denominator or parts[1 + turned] != basis:
                flags |= OWN
                parts.append(basis)
            parts += self._progress(pair, side)
        return bytes((flags,)) + b"".join(parts)

    def _progress(self, pair: int, side: int) -> Iterator[bytes]:
        found = self.proof.ranked.get(pair) if self.proof.ranked is not None else None
        if found is None:
            return
        if found.progress.stuck is not None:
            yield numeral(1 + self._nodes(side).index(found.progress.stuck))
        else:
            yield numeral(0)
            yield _text(progress_entry(self.names, found.progress))

    def _nodes(self, side: int) -> list[int]:
        """Return the states where the rows of a side differ, class by class."""
        left, right = self.functional.rows_of(side)
        c = dict(left)
        for state, p in right:
            c[state] = c.get(state, fmpq(0)) - self.alpha * p
        return sorted((s for s, value in c.items() if value != 0), key=lambda s: (self.classes[s], s))

    def _basis(self, strategy: Strategy, side: int) -> bytes | None:
        """Return the codes of the bases of a side; None where a coupling goes through third states.

        None too where some states of a class are not coupled.
        """
        if not self.coupled:
            return None
        code = dict.fromkeys(self._nodes(side), 0)
        for index in self.functional.programs_of(side):
            if index in strategy.general:
                return None
            program = self.functional.batch.programs[index]
            sources = len(program.sources)
            for v, above in enumerate(strategy.parents(index)):
                if above >= 0:
                    state = program.sources[v] if v < sources else program.sinks[v - sources]
                    code[state] = above - sources + 1 if v < sources else above + 1
        return _coded(list(code.values()))


def _coded(codes: Sequence[int]) -> bytes:
    """Write the codes of a basis: half a byte, a byte, two or four each."""
    count = len(codes)
    if count < NIBBLES:
        return bytes(low | high << 4 for low, high in zip(codes[::2], (*codes[1::2], 0), strict=False))
    width = 1 if count < BYTES else 2 if count < BYTES**2 else 4
    return b"".join(code.to_bytes(width, "little") for code in codes)


def _text(data: object) -> bytes:
    text = json_bytes(data)
    return numeral(len(text)) + text
