"""Chains in intervals become models that nature asks.

A claim from above comes back as it is: nature may do what every chain in the intervals does. A claim from
below comes back as it is where nature picks at every step, and through a chain that is named where it has
picked one for good: in the model with one world it may still change its mind. See docs/theory/intervals.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from bisimdist.errors import ENDINGS, UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.lmc import LMC
from bisimdist.models.worlds import EACH_STEP, FIXED, NATURES, Worlds, picking, worlds
from bisimdist.progress import Deadline
from bisimdist.reductions.claim import Claim
from bisimdist.reductions.step import Kind, Problem, Step, Ways

A = TypeVar("A")

TRIALS = 200  # how many chains are looked at for a pair


@dataclass(frozen=True, slots=True)
class Picked(Step):
    """The interactive model that nature asks."""

    name: ClassVar[str] = "nature"
    before: IntervalChain  # the chains
    model: Worlds
    kind: str  # one of `bisimdist.models.worlds.NATURES`

    def place(self, states: tuple[str, ...]) -> tuple[str, ...]:
        if self.kind == FIXED:
            return states
        if len(states) > 2:
            raise UsageError(
                f"{len(states)} secrets are as many worlds, and nature of each step is there for two; "
                "expected two secrets, or nature 'fixed'"
            )
        first, second = (self.before.index(name) for name in states)
        return states[0], self.model.states[self.model.placed((first, second))[1]]

    def back(self, claim: Claim) -> Claim:
        return claim if self.kind == EACH_STEP else replace(claim, below=None)

    def data(self) -> dict[str, object]:
        return {"nature": self.kind}

    def terms(self) -> dict[str, object]:
        return {"nature": self.kind}

    def shown(self, witness: Any) -> Any:
        return replace(witness, spelt=self.model.spelt)


@dataclass(frozen=True, slots=True)
class Widened(Step):
    """Wider intervals, where rows have very many vertices."""

    name: ClassVar[str] = "widen"
    before: IntervalChain
    model: IntervalChain

    def back(self, claim: Claim) -> Claim:
        return replace(claim, below=None)

    def data(self) -> dict[str, object]:
        rows = zip(self.before.states, self.before.rows, self.model.rows, strict=True)
        named = self.model.states
        return {
            "rows": {
                name: {named[t]: [format_rational(low), format_rational(high)] for t, low, high in wide}
                for name, row, wide in rows
                if row != wide
            }
        }


@dataclass(frozen=True, slots=True)
class Member(Step):
    """One chain in the intervals, which nature may have picked for good."""

    name: ClassVar[str] = "member"
    before: IntervalChain
    model: LMC

    def back(self, claim: Claim) -> Claim:
        return replace(claim, above=None)

    def data(self) -> dict[str, object]:
        return {"rows": self.open_rows()}

    def terms(self) -> dict[str, object]:
        return {"nature": FIXED}

    def beside(self, states: tuple[str, ...]) -> Mapping[str, Any]:
        return {"member": self.open_rows()}

    def shown(self, witness: Any) -> Any:
        return replace(witness, member=self.open_rows())

    def open_rows(self) -> dict[str, dict[str, str]]:
        """Return the rows of the chain that the intervals leave open."""
        chain = self.model
        return {
            chain.states[s]: {chain.states[t]: format_rational(p) for t, p in chain.rows[s]}
            for s, row in enumerate(self.before.rows)
            if any(low != high for _, low, high in row)
        }


@dataclass(frozen=True, slots=True)
class _Members:
    """Looks for chains in the intervals of which much is claimed: what nature picks, mended by states."""

    chain: IntervalChain
    model: Worlds  # what nature may pick from

    def best(self, asked: Problem[A], above: A, below: A) -> Sequence[tuple[A, int]]:
        """Return by pair an answer about a chain that is named, in which much is claimed of the pair."""
        return [(self._best(asked, above, below, number), 0) for number in range(len(asked.pairs))]

    def _best(self, asked: Problem[A], above: A, below: A, number: int) -> A:
        most = asked.sides(above, number)
        one = replace(asked, pairs=(asked.pairs[number],))

        def ask(member: LMC) -> A:
            return one.back(one.engine(member), Member(self.chain, member))

        return self.search(
            asked.picked(below, number),
            ask,
            lambda best, other: _more(one.sides(best, 0), one.sides(other, 0)),
            lambda best: asked.enough(most, one.sides(best, 0)),
            asked.deadline,
        )

    def search(
        self,
        actions: Iterable[str | None],
        ask: Callable[[LMC], A],
        better: Callable[[A, A], bool],
        enough: Callable[[A], bool],
        deadline: Deadline,
    ) -> A:
        """Return the best answer about a chain; one is looked at anyway.

        actions: what nature picks; where that is several vertices of one state, the first counts.
        ask: answers a question about one chain.
        better: whether the second of two answers is more.
        enough: whether no other chain can be better.
        """
        model = self.model

        def made(chosen: Mapping[int, int]) -> A:
            rows = [moves[chosen.get(state, 0)][1] for state, moves in enumerate(model.moves)]
            return ask(self.chain.member(rows))

        chosen: dict[int, int] = {}
        for action in actions:
            for state, number in model.numbers(action).items():
                chosen.setdefault(state, number)
        best = made(chosen)
        turns = [
            (state, k) for state, moves in enumerate(model.moves) if len(moves) > 1 for k in range(len(moves))
        ]
        left, idle, turn = TRIALS, 0, 0
        try:
            while left and idle < len(turns) and not enough(best):
                state, number = turns[turn % len(turns)]
                turn, idle = turn + 1, idle + 1
                if chosen.get(state, 0) == number:
                    continue
                deadline.check()
                left -= 1
                other = made({**chosen, state: number})
                if better(best, other):
                    best, chosen[state], idle = other, number, 0
        except ENDINGS:
            pass
        return best


def _more(best: Claim, other: Claim) -> bool:
    """Tell whether the bound from below of the second of two claims is larger."""
    if best.below is None or other.below is None:
        return best.below is None
    if best.below.value is None or other.below.value is None:
        return best.below.value is not None
    return bool(other.below.value > best.below.value)


class _NatureReduction:
    """Lets nature ask, where probabilities are only known to lie in intervals."""

    name, option = "nature", "nature"
    unfit = "the probabilities of this model are known, or an analyst asks, and nature picks at every step"
    makes: ClassVar[Mapping[Kind, Kind]] = {Kind.INTERVALS: Kind.WORLDS}

    def accepts(self, model: Any, asked: Problem[Any]) -> bool:
        if asked.nature not in NATURES:
            raise UsageError(f"nature cannot do {asked.nature!r}; expected {' or '.join(NATURES)}")
        return isinstance(model, IntervalChain)

    def apply(self, model: IntervalChain, asked: Problem[Any]) -> Ways:
        apart = asked.nature == EACH_STEP
        wide = model.relaxed()
        above: tuple[Step, ...] = (Picked(wide, worlds(wide, apart=apart), asked.nature),)
        below = above
        if wide is not model:
            above = (Widened(model, wide), *above)
            below = (Picked(model, picking(model, apart=apart), asked.nature),)
        last = below[-1]
        assert isinstance(last, Picked)
        return Ways(above, below, None if apart else _Members(model, last.model))


NATURE = _NatureReduction()
