"""The coupling of one pair of many, without the proof of all others."""

from __future__ import annotations

from collections.abc import Callable

from flint import fmpq

from bisimdist.distances.bound.certificate import coupling_entry
from bisimdist.distances.bound.witnesses import Coupling
from bisimdist.faces.written.frame import Document
from bisimdist.faces.written.numbers import rational_text
from bisimdist.lp.problem import blocks_of
from bisimdist.lp.solve import solve
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.lmc import LMC


def one_coupling(model: LMC, source: str, target: str, upper: Callable[[tuple[int, int]], fmpq]) -> Document:
    """Return what a certificate at alpha = 1 says of one pair: a coupling that costs no more than its bound.

    upper: upper bounds on all pairs that prove one another (a pre-fixed point).
    """
    s, t = model.index(source), model.index(target)
    classes = distinguishable_classes(model)
    entries: list[Document] = []
    if s != t and classes[s] == classes[t]:
        moves: dict[tuple[int, int], fmpq] = {}
        given_up: dict[int, fmpq] = {}
        supports = [i for row in (model.rows[s], model.rows[t]) for i, _ in row]
        for block in blocks_of(model, classes, s, t, lambda i, j: upper((i, j)), fmpq(1), nodes=supports):
            found = solve(block.problem)
            moves |= {(block.nodes[i], block.nodes[j]): w for (i, j), w in found.moves.items()}
            given_up |= {block.nodes[i]: w for i, w in found.given_up.items()}
        forward = coupling_entry(model.states, Coupling(moves, given_up))
        entries = [_valued(model, pair, upper(pair)) for pair in ((s, t), *moves) if pair[0] != pair[1]]
        entries[0]["forward"] = forward
    row = {model.states[i]: rational_text(p) for i, p in model.rows[s]}
    return {"model": {"transitions": {source: row}}, "upper": {"pairs": entries}}


def _valued(model: LMC, pair: tuple[int, int], value: fmpq) -> Document:
    return {"pair": [model.states[state] for state in pair], "value": rational_text(value)}
