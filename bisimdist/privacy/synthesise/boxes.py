"""Bounds for all chains of a box of parameters, also where runs go on for ever: by interactive models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.distances.bound.ask import BoundProblem
from bisimdist.errors import ENDINGS
from bisimdist.exact.bernstein import Box, halved
from bisimdist.faces.written.numbers import rational_text
from bisimdist.models.interactive import System
from bisimdist.models.lmc import LMC
from bisimdist.models.parametric import ParametricChain, bounding
from bisimdist.privacy.delta.ask import DeltaProblem
from bisimdist.progress import Deadline, Progress

MAX_BOXES = 1_000


@dataclass(frozen=True, slots=True)
class BoxVerdict:
    """Whether a bound holds in a box."""

    holds: bool | None  # None where that is not decided
    # a tree of boxes with a certificate each, or the certificate of the chain at a point
    proof: object = None
    # at and value: a point where the bound does not hold, and a lower bound on what is there
    at: Mapping[str, fmpq] | None = None
    value: fmpq | None = None


@dataclass(slots=True)
class _Part:
    """A box: decided by a certificate, or cut into two."""

    box: Box
    proof: dict[str, object] = field(default_factory=dict)
    cut: tuple[str, fmpq, _Part, _Part] | None = None

    def tree(self) -> dict[str, object]:
        if self.cut is None:
            return self.proof
        name, at, below, above = self.cut
        return {"split": name, "at": rational_text(at), "below": below.tree(), "above": above.tree()}


def proved_by_boxes(  # noqa: PLR0913, PLR0917
    model: ParametricChain,
    pair: tuple[str, str],
    alpha: fmpq,
    level: fmpq,
    box: Box,
    distance: str,
    deadline: Deadline,
    progress: Progress,
) -> BoxVerdict:
    """Decide whether delta, or bd, of a pair is at most a level in a box, by cutting it into smaller ones.

    In a box that is small enough the interactive model of `bisimdist.models.parametric.bounding` has it;
    or the chain in the middle has more.
    """

    def asked(system: System) -> tuple[fmpq, fmpq, dict[str, object] | None]:
        """Return the bounds of a model without parameters, with their proof where they decide.

        The engine takes the model as it is: a proof inside of another one has no steps to a simpler model.
        """
        about = {"pairs": (pair,), "threshold": level, "deadline": deadline}
        answer = (
            DeltaProblem(alpha_lower=alpha, alpha_upper=alpha, **about).engine(system)
            if distance == "delta"
            else BoundProblem(alpha=alpha, distance=distance, **about).engine(system)
        )
        found = answer.pairs[0]
        decided = found.upper <= level or found.lower > level
        return found.lower, found.upper, answer.certificate() if decided else None

    root = _Part(box)
    waiting = [root]
    names = model.parameter_names
    try:
        for number in range(MAX_BOXES):
            if not waiting:
                return BoxVerdict(True, root.tree())
            deadline.check()
            progress("boxes", number, None)
            part = waiting.pop(0)
            middle = dict(zip(names, ((low + high) / 2 for low, high in part.box), strict=True))
            chain = model.at(middle)
            assert isinstance(chain, LMC)
            lower, _, proof = asked(chain)
            if lower > level:
                return BoxVerdict(False, proof, middle, lower)
            system = bounding(model, part.box)
            if system is not None:
                _, upper, proof = asked(system)
                if upper <= level and proof is not None:
                    part.proof = proof
                    continue
            waiting += _halved(part, model)
    except ENDINGS:
        return BoxVerdict(None)
    return BoxVerdict(None)


def _halved(part: _Part, model: ParametricChain) -> tuple[_Part, _Part]:
    """Cut a box in two."""
    axis, at, *boxes = halved(part.box, model.box)
    below, above = map(_Part, boxes)
    part.cut = model.parameter_names[axis], at, below, above
    return below, above
