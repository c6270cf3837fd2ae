"""The dining cryptographers as probabilistic automata: every two share a coin, or they sit on a ring.

Source: XCL14 Figure 3, XCL14 Figure 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.library.dining_cryptographers_ccsp import (
    SIDES,
    Coin,
    announcement,
    protocol_text,
    together_text,
)
from bisimdist.models.library.dining_cryptographers_protocol import ProtocolRules
from bisimdist.models.library.exploration import Step, explored
from bisimdist.models.library.parameters import Choice, Example, Integer, Rational
from bisimdist.models.pa import PA

STATE_LIMIT = 300_000  # how many states the automaton may have

GRAPHS = ("complete", "ring")
SCHEDULES = ("together", "turns", "free")


def _coins(n: int, graph: str) -> tuple[Coin, ...]:
    if graph == "complete":
        return tuple(combinations(range(n), 2))
    return tuple((who, (who + 1) % n) for who in range(n))


def _checked(
    n: int, bias: ExactNumber, graph: str, schedule: str, pairs: str
) -> tuple[fmpq, tuple[Coin, ...], list[tuple[int, int]]]:
    heads = to_fmpq(bias)
    if n < 2:
        raise UsageError(f"there are {n} cryptographers; expected at least 2")
    if not 0 <= heads <= 1:
        raise UsageError(f"the bias is {heads}; expected a number in [0, 1]")
    for name, word, words in (
        ("graph", graph, GRAPHS),
        ("schedule", schedule, SCHEDULES),
        ("pairs", pairs, ("first", "all")),
    ):
        if word not in words:
            raise UsageError(f"{name}={word!r} is not usable; expected {', '.join(words)}")
    coins = _coins(n, graph)
    if len(coins) > 20 or n * 2 ** len(coins) > STATE_LIMIT:
        raise UsageError(
            f"{n} cryptographers with {len(coins)} coins make n 2^{len(coins)} states or more; "
            f"expected at most {STATE_LIMIT}"
        )
    everyone = list(combinations(range(n), 2))
    return heads, coins, everyone if pairs == "all" else everyone[:1]


def dining_cryptographers_pa(
    n: int = 3,
    bias: ExactNumber = "49/100",
    *,
    graph: str = "complete",
    schedule: str = "together",
    pairs: str = "first",
) -> PA:
    r"""Return the automaton of n cryptographers, one of whom has paid.

    Two who share a coin both see its side. Everybody announces whether he sees an odd number of tails, by
    the action ``say{i}_0`` (even) or ``say{i}_1`` (odd); who has paid says the opposite. Everything else is
    ``tau``. The starting states ``Payer0``, ..., ``Payer{n-1}`` are the secret.

    For payers at distance d in the graph (1 in the complete one) and a bias p strictly between 0 and 1, both
    pseudometrics are

    .. math:: d\,\Bigl|\ln\frac{p}{1-p}\Bigr|

    because who has paid is hidden by turning over the coins on a path from one payer to the other.

    ``n``: how many cryptographers; at least 2.
    ``bias``: the probability of heads, in [0, 1].
    ``graph``: ``"complete"``: every two share a coin, n(n-1)/2 coins in all; ``"ring"``: each shares one with
        the next, n coins.
    ``schedule``: ``"together"``: one ``tau`` tosses all coins, then 0, 1, ... announce in this order; that is
        XCL14, Figure 4. ``"free"``: a master, the cryptographers and the coins run side by side, in every
        order that there is; the master tells each whether he pays, and coins are read one by one.
        ``"turns"``: the same, but the master waits for the announcement of one before he tells the next.
    ``pairs``: ``"first"`` for the pair (Payer0, Payer1) alone, or ``"all"`` for every pair of payers.
    returns: for ``together``, n starting states, n 2^c after the toss of c coins, and 2^n - 1 in which the
        announcements still to come are known.
    Sources: Chaum88; XCL14, Figure 4 and Proposition 6.

    >>> automaton = dining_cryptographers_pa(3)
    >>> len(automaton), automaton.states[3], automaton.states[-2:]
    (34, 'Payer0_hhh', ('say2_1.0', '0'))
    """
    heads, coins, listed = _checked(n, bias, graph, schedule, pairs)
    if schedule == "together":
        secrets: list[_State] = [_Secret(payer) for payer in range(n)]
        return explored(secrets, lambda state: _together(state, n, heads, coins), listed, limit=STATE_LIMIT)
    rules = ProtocolRules(n, heads, coins, turns=schedule == "turns")
    return explored([rules.start(payer) for payer in range(n)], rules.steps, listed, limit=STATE_LIMIT)


def dining_cryptographers_text(
    n: int = 3,
    bias: ExactNumber = "49/100",
    *,
    graph: str = "complete",
    schedule: str = "together",
    pairs: str = "first",
) -> str:
    """Return the same cryptographers as a text of the process calculus CCS_p.

    The automaton of the text is that of `dining_cryptographers_pa` with the same parameters, with its states
    in the same order; only for ``free`` and ``turns`` the states have other names.

    >>> print(dining_cryptographers_text(2, "1/3"), end="")
    # All coins are tossed at once; then everybody announces, one after the other.
    Payer0 =
      1/3: Payer0_h
      (+) 2/3: Payer0_t;
    Payer0_h = say0_1.say1_0.0;
    Payer0_t = say0_0.say1_1.0;
    Payer1 =
      1/3: Payer1_h
      (+) 2/3: Payer1_t;
    Payer1_h = say0_0.say1_1.0;
    Payer1_t = say0_1.say1_0.0;
    main Payer0, Payer1;
    pairs Payer0, Payer1;
    """
    heads, coins, listed = _checked(n, bias, graph, schedule, pairs)
    if schedule == "together":
        return together_text(n, heads, coins, listed)
    return protocol_text(n, heads, coins, listed, turns=schedule == "turns")


# --- all coins at once


class _Secret(NamedTuple):
    """Somebody has paid; nothing has happened yet."""

    payer: int

    def name(self) -> str:
        return f"Payer{self.payer}"


class _Tossed(NamedTuple):
    """All coins have been tossed."""

    payer: int
    sides: tuple[int, ...]

    def name(self) -> str:
        return f"Payer{self.payer}_{''.join(SIDES[side] for side in self.sides)}"


class _Speaking(NamedTuple):
    """These announcements are still to come."""

    rest: tuple[str, ...]

    def name(self) -> str:
        return "".join(f"{said}." for said in self.rest) + "0"


_State = _Secret | _Tossed | _Speaking


def _together(state: _State, n: int, heads: fmpq, coins: Sequence[Coin]) -> Iterator[Step[_State]]:
    one = fmpq(1)
    match state:
        case _Secret(payer=payer):
            count = len(coins)
            weight = [heads ** (count - tails) * (1 - heads) ** tails for tails in range(count + 1)]
            branches = [
                (_Tossed(payer, sides), weight[sum(sides)]) for sides in product((0, 1), repeat=count)
            ]
            yield "tau", [branch for branch in branches if branch[1] != 0]
        case _Tossed(payer=payer, sides=sides):
            said = tuple(announcement(who, payer, coins, sides) for who in range(n))
            yield said[0], [(_Speaking(said[1:]), one)]
        case _Speaking(rest=(first, *rest)):
            yield first, [(_Speaking(tuple(rest)), one)]


EXAMPLE = Example(
    "dining-cryptographers-pa",
    "cryptographers of whom every two (or neighbours) share a biased coin, as an automaton",
    (
        Integer("n", 3, 2, 16),
        Rational("bias", fmpq(49, 100)),
        Choice("graph", "complete", GRAPHS),
        Choice("schedule", "together", SCHEDULES),
        Choice("pairs", "first", ("first", "all")),
    ),
    dining_cryptographers_pa,
    dining_cryptographers_text,
    papers=("XCL14 Figure 4", "XCL14 Figure 3", "XCL14 Proposition 5", "XCL14 Proposition 6"),
)
