"""A chain that is nearly the same, with fewer states: what it loses widens bounds (rule N1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from bisimdist.checker.claims import rules_of
from bisimdist.checker.core.chain import ONLY, Chain, read_chain, read_model
from bisimdist.checker.core.counting import counted
from bisimdist.checker.core.reading import MalformedCertificate, RuleViolation, item, mapping, rational, shown
from bisimdist.checker.core.shape import key, named
from bisimdist.checker.steps.step import Proved, StepShape, Way, refused

MODEL, SMALLER = "model:", "smaller:"
ZERO, ONE = Fraction(0), Fraction(1)


class Step(StepShape):
    """That states of a smaller chain stand for those of the chain; a proof says how far they are apart."""

    smaller: Any = key(read_model)
    classes: Mapping[str, str] = key(named(item))
    proof: Mapping[str, object] = key(mapping)

    def way(self, chain: Chain) -> Way:
        """Return the smaller chain."""
        if chain.interactive or chain.open:
            raise refused(self, "a chain")
        smaller = read_chain(self.smaller)
        chain.known(self.classes, "N1: the step")
        losses = self._losses(_side_by_side(chain, smaller))

        def back(found: Proved) -> Proved:
            lost = max(ZERO, *(_loss(losses, state) for state in counted(found.states)))
            return _wider(found.of("delta", "bd", step="merge"), lost)

        def place(states: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(self.classes.get(state, state) for state in counted(states))

        return Way(smaller, back, place)

    def _losses(self, both: Chain) -> Mapping[str, Fraction]:
        """Return by state how far it is at most from the one that stands for it."""
        frame = {"format": "bisimdist-certificate", "version": 1, "model": both, "digest": ""}
        if not {*frame, "kind"}.isdisjoint(self.proof):
            raise MalformedCertificate(f"the proof of {self.where} has a frame of its own")
        document = {**self.proof, **frame}
        report = rules_of(document).check_document(document)
        if not report.valid:
            raise RuleViolation(f"N1: the smaller chain: {report.reason}")
        found = {}
        for claim in counted(report.plain_claims()):
            source = str(claim.get("from")).removeprefix(MODEL)
            pair = MODEL + source, SMALLER + self.classes.get(source, source)
            about = {name: claim.get(name) for name in ("distance", "alpha", "nature", "rounds")}
            same = about == {"distance": "bd", "alpha": "1", "nature": None, "rounds": None}
            if same and (claim.get("from"), claim.get("to")) == pair:
                found[source] = rational(claim["upper"], "it")
        return found


def _loss(losses: Mapping[str, Fraction], state: str) -> Fraction:
    if state not in losses:
        raise RuleViolation(f"N1: nothing proves how far {shown(state)} is from what stands for it")
    return losses[state]


def _side_by_side(chain: Chain, smaller: Chain) -> Chain:
    """Return both chains as one."""
    parts = ((MODEL, chain), (SMALLER, smaller))
    labels = {mark + s: label for mark, half in counted(parts) for s, label in counted(half.labels.items())}
    rows = {
        mark + s: {mark + t: p for t, p in counted(row.items())}
        for mark, half in counted(parts)
        for s, row in counted(half.rows.items())
    }
    return Chain(labels, {ONLY: rows})


def _wider(found: Proved, lost: Fraction) -> Proved:
    """Widen bounds; a distance above 1 has no triangle inequality, and bounds delta from above only."""
    alpha = max(*found.alphas())
    sides: dict[str, Any] = {"lower": ZERO, **found.sides}
    if found.quantity == "bd" and alpha != 1:
        sides["lower"] = ZERO
        found = replace(found, terms={"quantity": "delta", "alpha": found.terms["alpha"]})
    less, more = sides["lower"] - (1 + alpha) * lost, sides["upper"] + (1 + alpha) * lost
    return replace(found, sides={"lower": max(ZERO, less), "upper": min(ONE, more)})
