"""A smaller chain that is nearly the same: bounds allow for what merging lost (docs/theory/quotient.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from flint import fmpq

from bisimdist.models.lmc import LMC
from bisimdist.reductions.claim import Above, Below, Claim
from bisimdist.reductions.step import Step

FRAME = ("format", "version", "model", "digest", "program")


@dataclass(frozen=True, slots=True)
class Merged(Step):
    """A chain some states of which stand for others."""

    name: ClassVar[str] = "merge"
    quantities: ClassVar[frozenset[str]] = frozenset({"delta", "bd"})
    before: LMC  # before and model: the chain, and the smaller one
    model: LMC
    classes: Mapping[str, str]  # for every state the one that stands for it, by names
    # a proved bound on the distance (bd for alpha = 1) of the states that are asked about from these
    loss: fmpq
    proof: Callable[[], dict[str, object]]  # writes the certificate of that, about both chains side by side

    def place(self, states: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.classes[state] for state in states)

    def back(self, claim: Claim) -> Claim:
        lost = (1 + max(claim.alphas)) * self.loss
        below, above = claim.below, claim.above
        quantity = claim.quantity
        if quantity != "delta" and max(claim.alphas) != 1:
            below = None  # there is no triangle inequality, and what comes back bounds delta
            quantity = "delta" if quantity == "bd" else quantity
        if below is not None and below.value is not None:
            below = Below(max(fmpq(0), below.value - lost))
        if above is not None and above.value is not None:
            above = Above(min(fmpq(1), above.value + lost))
        return replace(claim, quantity=quantity, below=below, above=above)

    def data(self) -> dict[str, object]:
        proof = {name: part for name, part in self.proof().items() if name not in FRAME}
        return {"smaller": self.model.canonical(), "classes": dict(self.classes), "proof": proof}

    def shown(self, witness: Any) -> Any:
        return replace(
            witness,
            probability_from=max(fmpq(0), witness.probability_from - self.loss),
            probability_to=min(fmpq(1), witness.probability_to + self.loss),
        )

    def refusal(self, quantity: str) -> str:
        return f"--minimise: no certificate proves {quantity} through a smaller chain; bd and delta have one"
