"""Writes certificates of distances with compact tables, a part at a time (docs/certificates/compact.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from bisimdist.distances.bound.certificate import frame_of
from bisimdist.distances.bound.compact_proof import Detailed
from bisimdist.distances.engine.flat_engine import FlatTables
from bisimdist.distances.engine.flat_sweeps import ABSENT
from bisimdist.distances.engine.proof import Proof
from bisimdist.errors import UsageError
from bisimdist.faces.written.numbers import integer_text
from bisimdist.faces.written.packing import json_bytes, numeral, packed, runs, width_of
from bisimdist.models.all_pairs import AllPairs
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.interactive import System
from bisimdist.models.lmc import LMC
from bisimdist.progress import NEVER, Deadline, Progress, silent

MAGIC = b"bisimdist-certificate compact\n"  # what such a certificate begins with

PART = 1 << 20  # tables are written about so many bytes at a time


class Flat:
    """What is written of flat tables."""

    ranked = False

    def __init__(self, proof: FlatTables) -> None:
        self.proof = proof
        self.model, self.distance, self.alpha, self.asked = proof.model, "bd", proof.alpha, proof.asked
        self.denominator = proof.layout.one
        present = proof.state != ABSENT
        self.most = int((proof.upper - proof.lower)[present].max(initial=0.0))

    def row(self, s: int) -> tuple[Any, Any, Any, Sequence[int]]:
        """Return the places of the states that s is listed with, their upper bounds, gaps and ranks."""
        layout = self.proof.layout
        i = int(layout.place[s])
        if i < 0:
            return (), (), (), ()
        first = int(layout.chain.first[i])
        begin = int(layout.chain.base[i]) + first
        row = slice(begin, begin + i - first)
        places = np.flatnonzero(self.proof.state[row] != ABSENT)
        upper = self.proof.upper[row][places]
        return places, upper, upper - self.proof.lower[row][places], ()

    def records(self, deadline: Deadline, progress: Progress) -> Iterator[bytes]:
        """Yield what proves the bounds of the pairs in their order."""
        return self.proof.bases(deadline=deadline, progress=progress)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked: pairs of a model, and the steps from it to the one that the proof is about."""

    model: System
    pairs: Sequence[tuple[int, int]]
    steps: Sequence[Mapping[str, object]] = ()


def _claims(asked: Asked) -> Iterator[bytes]:
    """Yield the claims, many at a time; in a word where they are about all pairs."""
    every = asked.pairs
    if isinstance(every, AllPairs) and list(every.of) == list(range(len(asked.model.states))) and every:
        yield b'"all"'
        return
    yield b"["
    states = cache(lambda s: json.dumps(asked.model.states[s]))
    pairs, comma = iter(asked.pairs), ""
    while part := [f'{{"from":{states(s)},"to":{states(t)}}}' for s, t in islice(pairs, PART >> 8)]:
        yield (comma + ",".join(part)).encode("ascii")
        comma = ","
    yield b"]"


def compact_certificate(
    proof: Proof | FlatTables,
    asked: Asked | None = None,
    *,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> Iterator[bytes]:
    """Yield the certificate of the bounds on the pairs that were asked, a part at a time.

    asked: by default what the proof is about.
    Raises UsageError if the proof is not about a chain.
    """
    model = proof.model if isinstance(proof, FlatTables) else proof.question.model
    if not isinstance(model, LMC):
        raise UsageError("compact tables are about chains; this model has choices")
    if isinstance(proof, Proof):
        proof = proof.whole(deadline=deadline, progress=progress)
    elif proof.layout.ordered:
        proof = proof.in_detail(deadline=deadline, progress=progress)
    told: Flat | Detailed = Flat(proof) if isinstance(proof, FlatTables) else Detailed(proof)
    asked = asked or Asked(model, told.asked)
    width, gap = width_of(told.denominator), width_of(told.most)
    before = frame_of(asked.model, told.distance, told.alpha)
    after = {
        **({"steps": list(asked.steps)} if asked.steps else {}),
        "compact": {
            "denominator": integer_text(told.denominator),
            "width": width,
            "gap": gap,
            "ranks": int(told.ranked),
        },
    }
    yield MAGIC + json_bytes(before)[:-1] + b',"claims":'
    yield from _claims(asked)
    yield b"," + json_bytes(after)[1:] + b"\n"
    classes = distinguishable_classes(model)
    parts: list[bytes] = []
    for s in sorted(range(len(classes)), key=lambda s: (classes[s], s)):
        deadline.check()
        places, upper, gaps, ranks = told.row(s)
        parts += [runs(places), packed(upper, width), packed(gaps, gap), *map(numeral, ranks)]
        if sum(map(len, parts[-3:])) >= PART or len(parts) > PART >> 4:
            yield b"".join(parts)
            parts = []
    yield b"".join(parts)
    yield from told.records(deadline, progress)
