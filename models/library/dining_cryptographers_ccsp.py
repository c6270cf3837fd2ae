"""The dining cryptographers in the process calculus CCS_p."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from flint import fmpq

from bisimdist.exact.rational import format_rational

Coin = tuple[int, int]  # the two cryptographers who see a coin

SIDES = "ht"


def side_names(coin: Coin) -> tuple[str, str]:
    """Return the actions that show heads and tails of a coin."""
    return f"h{coin[0]}_{coin[1]}", f"t{coin[0]}_{coin[1]}"


def announcement(who: int, payer: int, coins: Sequence[Coin], sides: Sequence[int]) -> str:
    """Return the action by which somebody says whether he sees an odd number of tails, or lies about it."""
    odd = sum(side for coin, side in zip(coins, sides, strict=True) if who in coin) % 2
    return f"say{who}_{odd ^ (who == payer)}"


def together_text(n: int, bias: fmpq, coins: Sequence[Coin], pairs: Sequence[tuple[int, int]]) -> str:
    """Write the cryptographers for whom all coins are tossed at once, and who then announce in turn.

    ``bias``: the probability of heads, strictly between 0 and 1.
    """
    tosses = list(product((0, 1), repeat=len(coins)))
    weight = [
        format_rational(bias ** (len(coins) - heads) * (1 - bias) ** heads) for heads in range(len(coins) + 1)
    ]
    lines = ["# All coins are tossed at once; then everybody announces, one after the other."]
    for payer in range(n):
        names = ["".join(SIDES[side] for side in sides) for sides in tosses]
        branches = [
            f"{weight[sum(sides)]}: Payer{payer}_{name}" for sides, name in zip(tosses, names, strict=True)
        ]
        lines.append(f"Payer{payer} =\n  " + "\n  (+) ".join(branches) + ";")
        for sides, name in zip(tosses, names, strict=True):
            said = [announcement(who, payer, coins, sides) for who in range(n)]
            lines.append(f"Payer{payer}_{name} = {'.'.join(said)}.0;")
    return "\n".join([*lines, *_starts(n, pairs)]) + "\n"


def protocol_text(
    n: int, bias: fmpq, coins: Sequence[Coin], pairs: Sequence[tuple[int, int]], *, turns: bool
) -> str:
    """Write the cryptographers as processes side by side: a master, the cryptographers and the coins.

    ``turns``: whether the master waits for each announcement before he speaks to the next cryptographer;
        otherwise all run freely.
    """
    heads, tails = format_rational(bias), format_rational(1 - bias)
    wait, done = (".said", ".~said") if turns else ("", "")
    lines = [
        "# A coin shows its side to the two who see it.",
        f"Coin(h, t) = {heads}: ~h.~h.0 (+) {tails}: ~t.~t.0;",
        "# The master tells everybody whether he pays" + (", one after the other." if turns else "."),
    ]
    for payer in range(n):
        told = [f"~{'pay' if who == payer else 'free'}{who}" for who in range(n)]
        lines.append(f"Master{payer} = {(wait + '.').join(told)}{wait}.0;")
    lines.append("# Who reads the coins knows whether what he will say is even (0) or odd (1) so far.")
    for who in range(n):
        seen = [coin for coin in coins if who in coin]
        lines.append(f"Cryptographer{who} = pay{who}.Reads{who}_0_1 + free{who}.Reads{who}_0_0;")
        for step, coin in enumerate(seen):
            shown = side_names(coin)
            for odd in (0, 1):
                ways = [f"{shown[side]}.Reads{who}_{step + 1}_{odd ^ side}" for side in (0, 1)]
                lines.append(f"Reads{who}_{step}_{odd} = {' + '.join(ways)};")
        lines += [f"Reads{who}_{len(seen)}_{odd} = say{who}_{odd}{done}.0;" for odd in (0, 1)]
    hidden = [f"{word}{who}" for who in range(n) for word in ("pay", "free")]
    hidden += [name for coin in coins for name in side_names(coin)]
    if turns:
        hidden.append("said")
    table = [f"Cryptographer{who}" for who in range(n)]
    table += [f"Coin({', '.join(side_names(coin))})" for coin in coins]
    lines += [
        f"Payer{payer} = (nu {', '.join(hidden)}) (Master{payer} | {' | '.join(table)});"
        for payer in range(n)
    ]
    return "\n".join([*lines, *_starts(n, pairs)]) + "\n"


def _starts(n: int, pairs: Sequence[tuple[int, int]]) -> list[str]:
    return [
        f"main {', '.join(f'Payer{payer}' for payer in range(n))};",
        *(f"pairs Payer{first}, Payer{second};" for first, second in pairs),
    ]
