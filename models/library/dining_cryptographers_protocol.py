"""The dining cryptographers side by side: a master, the cryptographers, and coins that are read one by one.

This says directly what the text in the process calculus says; neither uses the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flint import fmpq

from bisimdist.models.library.dining_cryptographers_ccsp import SIDES, Coin
from bisimdist.models.library.exploration import Step

_WAITS = ""  # what a cryptographer does: he waits, reads with so many coins read and "even" or "odd", ...
_SPOKEN, _FINISHED = "spoken", "finished"
_FRESH, _SPENT = "?", "."  # what a coin does: not tossed, or its side and how many still read it, or spent


class ProtocolState(NamedTuple):
    """How far the master, each cryptographer and each coin have come.

    The payer is None as soon as he has been told: nobody else knows.
    """

    told: int
    payer: int | None
    waits: bool
    people: tuple[str, ...]
    coins: tuple[str, ...]

    def name(self) -> str:
        """Return the name of the state; where nothing has happened yet, who has paid."""
        if self.told == 0 and set(self.coins) == {_FRESH}:
            return f"Payer{self.payer}"
        secret = "" if self.payer is None else f" payer{self.payer}"
        people = " ".join(what or "waiting" for what in self.people)
        master = f"told{self.told}{secret}{' listening' if self.waits else ''}"
        return f"{master} [{people}] {' '.join(self.coins)}"


class ProtocolRules:
    """What may happen, in the order in which the semantics of the text derives it."""

    def __init__(self, n: int, heads: fmpq, coins: Sequence[Coin], *, turns: bool) -> None:
        self.n, self.heads, self.coins, self.turns = n, heads, coins, turns
        self.seen = [[at for at, coin in enumerate(coins) if who in coin] for who in range(n)]

    def start(self, payer: int) -> ProtocolState:
        """Return the state in which nothing has happened yet."""
        return ProtocolState(0, payer, False, (_WAITS,) * self.n, (_FRESH,) * len(self.coins))

    def steps(self, state: ProtocolState) -> Iterator[Step[ProtocolState]]:
        """Iterate over what may happen next."""
        one = fmpq(1)
        for who in range(self.n):
            yield from ((said, [(after, one)]) for said, after in self._announcements(state, who))
        for at, coin in enumerate(state.coins):
            if coin == _FRESH:
                sides = ((SIDES[0], self.heads), (SIDES[1], 1 - self.heads))
                branches = [(_with_coin(state, at, side + "2"), p) for side, p in sides if p != 0]
                yield "tau", branches
        for who in range(self.n):
            yield from (("tau", [(after, one)]) for after in self._meetings(state, who))
        for at in range(len(self.coins)):
            yield from (("tau", [(after, one)]) for after in self._readings(state, at))

    def _announcements(self, state: ProtocolState, who: int) -> Iterator[tuple[str, ProtocolState]]:
        doing = state.people[who]
        if doing[:1].isdigit() and self._step(doing) == len(self.seen[who]):
            after = _SPOKEN if self.turns else _FINISHED
            yield f"say{who}_{int(doing.endswith('odd'))}", _with_person(state, who, after)

    def _meetings(self, state: ProtocolState, who: int) -> Iterator[ProtocolState]:
        """Iterate over what the master and somebody do together."""
        if state.people[who] == _WAITS and state.told == who and not state.waits:
            pays = state.payer == who
            yield _with_person(state, who, "0odd" if pays else "0even")._replace(
                told=who + 1, payer=None if pays else state.payer, waits=self.turns
            )
        if state.people[who] == _SPOKEN and state.waits:
            yield _with_person(state, who, _FINISHED)._replace(waits=False)

    def _readings(self, state: ProtocolState, at: int) -> Iterator[ProtocolState]:
        """Iterate over who may read a coin now."""
        if state.coins[at] in (_FRESH, _SPENT):
            return
        side, left = state.coins[at][0], state.coins[at][1]
        for who in sorted(self.coins[at]):
            doing = state.people[who]
            if not doing[:1].isdigit():
                continue
            step = self._step(doing)
            if step < len(self.seen[who]) and self.seen[who][step] == at:
                odd = doing.endswith("odd") ^ (side == SIDES[1])
                read = _with_person(state, who, f"{step + 1}{'odd' if odd else 'even'}")
                yield _with_coin(read, at, f"{side}1" if left == "2" else _SPENT)

    @staticmethod
    def _step(doing: str) -> int:
        return int(doing.removesuffix("odd").removesuffix("even"))


def _with_person(state: ProtocolState, who: int, doing: str) -> ProtocolState:
    return state._replace(people=(*state.people[:who], doing, *state.people[who + 1 :]))


def _with_coin(state: ProtocolState, at: int, coin: str) -> ProtocolState:
    return state._replace(coins=(*state.coins[:at], coin, *state.coins[at + 1 :]))
