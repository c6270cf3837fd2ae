"""The dining cryptographers on a ring, with biased coins.

Source: CMP18 Figure 2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.entries import Parameter, SparseRow
from bisimdist.models.kinds import LMC, ParametricChain
from bisimdist.models.library.parameters import Choice, Example, Integer, RationalOrName
from bisimdist.models.polynomial import Entry, RationalFunction, parameter_ring

_SIDE = "ht"
_SAID = ("agree", "disagree")


class _State(NamedTuple):
    """A state of the run; coins are 0 (heads) or 1 (tails), announcements 0 (agree) or 1 (disagree).

    `spoken` counts the announcements made, -1 says that the run is over. `payer` is None as soon as the payer
    has spoken, `first` and `current` are None where no coin is flipped yet or none matters any more.
    """

    spoken: int
    payer: int | None
    first: int | None
    current: int | None
    said: int | None

    def name(self) -> str:
        if self == _DONE:
            return "done"
        if self.first is None or self.current is None:
            return f"payer{self.payer}" if self.said is None else f"said{self.spoken}_{_SAID[self.said]}"
        if self.said is None:
            return f"payer{self.payer}_{_SIDE[self.first]}"
        rest = "" if self.payer is None else f"_payer{self.payer}"
        return f"said{self.spoken}_{_SIDE[self.first]}{_SIDE[self.current]}_{_SAID[self.said]}{rest}"

    def label(self) -> str:
        if self == _DONE:
            return "done"
        if self.said is None:
            return "start" if self.first is None else "flipped"
        return _SAID[self.said]


_DONE = _State(-1, None, None, None, None)


def _steps(state: _State, count: int, coin: tuple[Entry, Entry]) -> Iterator[tuple[_State, Entry]]:
    if state.first is None or state.current is None:
        if state.said is not None or state == _DONE:
            yield _DONE, fmpq(1)
            return
        for side in (0, 1):
            yield _State(0, state.payer, side, side, None), coin[side]
        return
    speaker = state.spoken
    turned = state.payer == speaker
    payer = None if turned else state.payer
    if speaker == count - 1:
        yield _State(count, None, None, None, state.current ^ state.first ^ turned), fmpq(1)
        return
    for side in (0, 1):
        said = state.current ^ side ^ turned
        yield _State(speaker + 1, payer, state.first, side, said), coin[side]


def dining_cryptographers(n: int = 3, bias: ExactNumber = "49/100", pairs: str = "first") -> LMC:
    """Return the chain of n cryptographers at a round table, one of whom has paid.

    Between neighbours a coin is flipped that both see. Each cryptographer announces whether the two coins
    that he sees agree; who has paid says the opposite. With fair coins nobody learns who has paid; with
    biased coins the announcements leak a little. The chain starts in ``payer0``, …, ``payer{n-1}`` (label
    ``start``). The first flip, of the coin between the last cryptographer and number 0, is private (label
    ``flipped``). Then 0, 1, … announce in turn: the step into a state whose label is the announcement flips
    the next coin; the last one sees the coin before and the first one, and needs no further coin. Then the
    run is over (``done``), so that an observer sees how many announcements are still to come.

    ``n``: how many cryptographers; at least 2.
    ``bias``: the probability of heads, in [0, 1].
    ``pairs``: ``"first"`` for the pair (payer0, payer1) alone, or ``"all"`` for every pair of payers.
        Neighbours all have the same delta, because the ring can be turned, but not the same distance, because
        somebody has to begin; pairs farther apart have other values of both.
    returns: 4 n^2 + 3 n - 5 states for a bias strictly between 0 and 1: a state knows the position, the first
        coin, the present coin, the last announcement, and who has paid only until he has announced.
    Sources: Chaum88; CMP18, Section 4, Figure 2 and Figure 3.

    >>> len(dining_cryptographers(3))
    40
    """
    heads = to_fmpq(bias)
    if not 0 <= heads <= 1:
        raise UsageError(f"the bias is {heads}; expected a number in [0, 1]")
    names, labels, rows, asked = _ring(n, heads, pairs)
    return LMC(names, labels, rows, asked)


def parametric_cryptographers(n: int = 3, bias: str = "p", pairs: str = "first") -> ParametricChain:
    """Return the ring of `dining_cryptographers` with a parameter, between 0 and 1, for the bias.

    With u = (1 - 2p)^2 and alpha = 1 delta of the first pair is u for two and three cryptographers, and
    (3u - u^2)/2 for four and five.
    """
    heads = RationalFunction.of(parameter_ring((bias,)).gens()[0])
    names, labels, rows, asked = _ring(n, heads, pairs)
    return ParametricChain(names, labels, rows, (Parameter(bias, fmpq(0), fmpq(1)),), asked)


def _ring(
    n: int, heads: Entry, pairs: str
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[SparseRow, ...], tuple[tuple[int, int], ...]]:
    """Return names, labels, rows and pairs."""
    if n < 2:
        raise UsageError(f"there are {n} cryptographers; expected at least 2")
    if pairs not in ("first", "all"):
        raise UsageError(f"pairs={pairs!r} is not usable; expected first or all")
    coin = (heads, 1 - heads)
    waiting = deque(_State(0, payer, None, None, None) for payer in range(n))
    position = {state: index for index, state in enumerate(waiting)}
    rows = []
    while waiting:
        row: dict[int, Entry] = {}
        for target, probability in _steps(waiting.popleft(), n, coin):
            if probability == 0:
                continue
            if target not in position:
                position[target] = len(position)
                waiting.append(target)
            row[position[target]] = row.get(position[target], fmpq(0)) + probability
        rows.append(tuple(sorted(row.items())))
    everyone = tuple((i, j) for i in range(n) for j in range(i + 1, n))
    names = tuple(state.name() for state in position)
    labels = tuple(state.label() for state in position)
    return names, labels, tuple(rows), everyone if pairs == "all" else everyone[:1]


def _built(n: int, bias: fmpq | str, pairs: str) -> LMC | ParametricChain:
    build = parametric_cryptographers if isinstance(bias, str) else dining_cryptographers
    return build(n, bias, pairs)


EXAMPLE = Example(
    "dining-cryptographers",
    "a ring of cryptographers with biased coins; is it hidden who has paid?",
    (
        Integer("n", 3, 2, 100),
        RationalOrName("bias", fmpq(49, 100)),
        Choice("pairs", "first", ("first", "all")),
    ),
    _built,
    papers=("CMP18 Figure 3", "CMP18 Figure 2"),
)
