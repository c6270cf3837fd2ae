"""An analyst who asks at most so many actions: the unrolled model."""

from __future__ import annotations

from typing import ClassVar

from bisimdist.checker.core.chain import Chain
from bisimdist.checker.core.counting import counted, joined
from bisimdist.checker.core.reading import fraction_work, natural, spend
from bisimdist.checker.core.shape import key
from bisimdist.checker.steps.step import StepShape, Way, refused

MOST_ROUNDS = 100_000


class Unrolled(Chain):
    """A model in which nobody is asked for ever."""

    ends: ClassVar[bool] = True


class Step(StepShape):
    """That an analyst asks at most so many actions."""

    rounds: int = key(lambda value, where: natural(value, where, MOST_ROUNDS + 1))

    def way(self, chain: Chain) -> Way:
        """Return the model whose states and labels say how many actions are left; none are on offer at 0.

        A state that offers nothing anyway has one copy.
        """
        if not chain.interactive or chain.natural:
            raise refused(self, "an interactive model")

        entries = sum(1 + len(row) for rows in counted(chain.arms.values()) for row in counted(rows.values()))
        spend((self.rounds + 1) * (entries + len(chain.labels)) * fraction_work(0, 2))
        names: dict[str, list[str]] = {}
        labels = {}
        for state, label in counted(chain.labels.items()):
            asked = bool(chain.offered(state))
            ends = [f"@{left}" for left in counted(range(self.rounds + 1))] if asked else ["@"]
            names[state] = [joined(state + end) for end in counted(ends)] * (1 if asked else self.rounds + 1)
            for name, end in counted(zip(names[state], ends, strict=False)):
                labels[name] = joined(label + end)
        arms = {
            action: {
                names[state][left]: {names[target][left - 1]: p for target, p in counted(row.items())}
                for state, row in counted(rows.items())
                for left in counted(range(1, self.rounds + 1))
            }
            for action, rows in counted(chain.arms.items())
        }
        return Way(
            Unrolled(labels, arms, interactive=True),
            lambda found: found.of("delta", "delta of fixed sequences", step="rounds").said(
                rounds=self.rounds
            ),
            lambda states: tuple(names[state][self.rounds] for state in counted(states)),
        )
