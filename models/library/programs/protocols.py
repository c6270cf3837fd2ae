"""Small protocols: what is seen of them beside their results."""

from __future__ import annotations

from typing import Any


def check_pin(guess: tuple[int, ...], rng: Any, length: int = 2) -> bool:
    """Compare a guess with a random PIN, digit by digit, with an early exit."""
    pin = [rng.randrange(3) for _ in range(length)]
    for digit, guessed in zip(pin, guess, strict=True):  # noqa: SIM110 - the early exit is the point
        if digit != guessed:
            return False
    return True


def dining_cryptographers(payer: int | None, rng: Any, n: int = 3, coin: str = "1/2") -> tuple[bool, ...]:
    """Return what n cryptographers announce, one of whom may pay: fair coins hide who."""
    coins = [rng.flip(coin) for _ in range(n)]
    return tuple((coins[i] != coins[i - 1]) != (i == payer) for i in range(n))


def crowds(initiator: int, rng: Any, honest: int = 4, bad: int = 1, forward: str = "3/4") -> int | None:
    """Return whom the first bad member sees; None if the message arrives without one.

    Source: Reiter, Rubin, "Crowds: Anonymity for Web Transactions", TISSEC 1998.
    """
    holder = initiator
    while True:
        following = rng.randrange(honest + bad)
        if following >= honest:
            return holder
        holder = following
        if not rng.flip(forward):
            return None


def suppressed(ages: tuple[int, ...], rng: Any, k: int = 2) -> tuple[int, ...]:
    """Suppress ages that fewer than k people share, after a shuffle: NOT PRIVATE, the rest is shown."""
    rows = list(ages)
    rng.shuffle(rows)
    return tuple(sorted(age for age in rows if rows.count(age) >= k))
