"""Interactive models in which only so many actions may be asked (docs/certificates/delta.md)."""

from __future__ import annotations

from bisimdist.checker.core.chain import Chain
from bisimdist.checker.core.effort import fraction_work, spend

__all__ = ["unrolled", "with_rounds"]


def with_rounds(model: Chain, name: str, rounds: int) -> str:
    """Return what a state of a model is called where so many actions may still be asked."""
    return f"{name}@{rounds}" if model.offered(name) else f"{name}@"


def unrolled(model: Chain, rounds: int) -> Chain:
    """Return the model whose states and labels say how many actions are left: none are on offer at 0.

    A state that offers nothing anyway has one copy.
    """
    entries = sum(1 + len(row) for rows in model.arms.values() for row in rows.values())
    spend((rounds + 1) * (entries + len(model.labels)) * fraction_work(0, 2))
    labels = {}
    for state, label in model.labels.items():
        for left in range(rounds + 1):
            name = with_rounds(model, state, left)
            labels[name] = label + name[len(state) :]
    arms = {
        action: {
            with_rounds(model, state, left): {
                with_rounds(model, target, left - 1): p for target, p in row.items()
            }
            for state, row in rows.items()
            for left in range(1, rounds + 1)
        }
        for action, rows in model.arms.items()
    }
    return Chain(labels, arms, interactive=True)
