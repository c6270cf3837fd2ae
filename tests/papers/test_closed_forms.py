"""Models of the literature whose probabilities have closed forms, read through PRISM's language, exactly."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from math import comb
from typing import Any

import pytest
from flint import fmpq

from bisimdist import LMC
from bisimdist.models.io.load import parse_model

State = Hashable
Step = Callable[[Any], Mapping[Any, Fraction | int]]

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def text_of(start: State, step: Step) -> str:
    """Return a chain in PRISM's language; states that are texts end it, and are its labels."""
    number: dict[State, int] = {start: 0}
    lines, ends = [], []
    for state in (queue := [start]):  # it grows meanwhile
        if isinstance(state, str):
            ends.append(f'label "{state}" = s={number[state]};')
            lines.append(f"  [] s={number[state]} -> (s'={number[state]});")
            continue
        moves = {target: p for target, p in step(state).items() if p}
        queue += [target for target in moves if target not in number]
        for target in moves:
            number.setdefault(target, len(number))
        right = " + ".join(f"{p}:(s'={number[target]})" for target, p in moves.items())
        lines.append(f"  [] s={number[state]} -> {right};")
    body = "\n".join(lines)
    return f"dtmc\nmodule m\n  s : [0..{len(number) - 1}] init 0;\n{body}\nendmodule\n" + "\n".join(ends)


def _knuth_yao(state: tuple[int, int]) -> dict[Any, Fraction]:
    low, size = state  # outcomes low to low + size - 1 of eight are open; two of them begin again
    if size == 1:
        return {f"face{low + 1}" if low < 6 else (0, 8): Fraction(1)}
    return {(low, size // 2): HALF, (low + size // 2, size // 2): HALF}


def _von_neumann(state: tuple[str, ...]) -> dict[Any, Fraction]:
    if len(state) < 2:
        return {(*state, "h"): THIRD, (*state, "t"): 1 - THIRD}
    return {() if state[0] == state[1] else "heads" if state[0] == "h" else "tails": Fraction(1)}


def _ruin(top: int, p: Fraction) -> Step:
    def step(money: int) -> dict[Any, Fraction]:
        return {"ruin" if money == 1 else money - 1: 1 - p, "rich" if money == top - 1 else money + 1: p}

    return step


def _coupons(state: tuple[int, int]) -> dict[Any, Fraction]:
    got, drawn = state
    if got == 3 or drawn == 5:
        return {"all" if got == 3 else "some": Fraction(1)}
    return {(got + 1, drawn + 1): Fraction(3 - got, 3), (got, drawn + 1): Fraction(got, 3)}


def _birthdays(people: int) -> dict[Any, Fraction]:
    onward = people + 1 if people < 3 else "different"
    return {onward: 1 - Fraction(people, 10), "shared": Fraction(people, 10)}


def _monty_hall(state: tuple[int | None, ...]) -> dict[Any, Fraction]:
    if len(state) < 2:  # where the car is, and what is chosen first
        return {(*state, door): THIRD for door in range(3)}
    if len(state) == 2:
        opened = [door for door in range(3) if door not in state]
        return {(*state, door): Fraction(1, len(opened)) for door in opened}
    car, chosen, opened_door = state
    other = next(door for door in range(3) if door not in {chosen, opened_door})
    return {"car" if other == car else "goat": Fraction(1)}


def _craps(point: int) -> dict[Any, Fraction]:
    found: dict[Any, Fraction] = {}
    for total in range(2, 13):
        if point:
            after: Any = "win" if total == point else "lose" if total == 7 else point
        else:
            after = "win" if total in {7, 11} else "lose" if total in {2, 3, 12} else total
        found[after] = found.get(after, Fraction(0)) + Fraction(6 - abs(7 - total), 36)
    return found


def _crowds(state: str | tuple[str]) -> dict[Any, Fraction]:
    where = state[0]  # ten members, of whom two are corrupt; they forward with probability 4/5
    if where == "chosen":
        return {("forwards",): Fraction(4, 5), "delivered": Fraction(1, 5)}
    seen = "initiator" if where == "start" else None
    if seen:
        return {seen: Fraction(1, 5), ("chosen",): Fraction(4, 5)}
    eighth = Fraction(1, 5) / 8  # whoever forwards is any of the eight others alike
    return {"initiator": eighth, "other": 7 * eighth, ("chosen",): Fraction(4, 5)}


def _zeroconf(probes: int) -> dict[Any, Fraction]:
    if probes < 0:
        return {0: HALF, "fresh": HALF}  # half of the addresses are in use
    return {"taken" if probes == 3 else probes + 1: Fraction(1, 10), -1: Fraction(9, 10)}


def _retransmission(state: tuple[int, int]) -> dict[Any, Fraction]:
    chunk, tries = state
    arrives = Fraction(49, 50) * Fraction(99, 100)
    again: Any = "over" if tries == 2 else (chunk, tries + 1)
    return {"sent" if chunk == 3 else (chunk + 1, 0): arrives, again: 1 - arrives}


def _election(round_: int) -> dict[Any, Fraction]:
    return {"leader": Fraction(3, 4), "none" if round_ == 3 else round_ + 1: Fraction(1, 4)}


def _herman(tokens: int) -> dict[Any, Fraction]:
    return {tokens: Fraction(1, 4), "stable": Fraction(3, 4)} if tokens == 3 else {"stable": Fraction(1)}


def _cycle(state: tuple[int, int, int]) -> dict[Any, Fraction]:
    at, low, high = state  # a walk on a cycle of six; low to high were visited
    found: dict[Any, Fraction] = {}
    for to in (at - 1, at + 1):
        seen = min(low, to), max(high, to)
        after: Any = (to, *seen) if seen[1] - seen[0] < 5 else f"last{to % 6}"
        found[after] = found.get(after, Fraction(0)) + HALF
    return found


def _penney(tail: str) -> Step:
    def step(seen: tuple[str]) -> dict[Any, Fraction]:
        found = {}
        for coin in "HT":
            last = (seen[0] + coin)[-3:]
            found["first" if last == "THH" else "second" if last == tail else (last,)] = HALF
        return found

    return step


def _moran(mutants: int) -> dict[Any, Fraction]:
    up, down = Fraction(2, 3), THIRD  # a mutant is twice as fit; only steps that change something count
    return {"fixed" if mutants == 4 else mutants + 1: up, "lost" if mutants == 1 else mutants - 1: down}


LOST = 1 - Fraction(49, 50) * Fraction(99, 100)
SURJECTIONS = sum((-1) ** k * comb(3, k) * (3 - k) ** 5 for k in range(3))

CASES: list[tuple[str, State, Step, str, Fraction]] = [
    ("Knuth and Yao's die", (0, 8), _knuth_yao, "face4", Fraction(1, 6)),
    ("von Neumann's fair coin of a biased one", (), _von_neumann, "heads", HALF),
    ("the gambler's ruin, fair", 3, _ruin(10, HALF), "rich", Fraction(3, 10)),
    ("the gambler's ruin, 2/3", 2, _ruin(5, 2 * THIRD), "rich", (1 - HALF**2) / (1 - HALF**5)),
    ("coupons", (0, 0), _coupons, "all", Fraction(SURJECTIONS, 3**5)),
    ("birthdays", 1, _birthdays, "different", Fraction(10 * 9 * 8 * 7, 10**4)),
    ("Monty Hall", (), _monty_hall, "car", Fraction(2, 3)),
    ("craps", 0, _craps, "win", Fraction(244, 495)),
    ("crowds", ("start",), _crowds, "initiator", Fraction(1, 5) + (Fraction(5, 9) - Fraction(1, 5)) / 8),
    ("zeroconf", -1, _zeroconf, "taken", Fraction(1, 10001)),
    ("bounded retransmission", (0, 0), _retransmission, "sent", (1 - LOST**3) ** 4),
    ("synchronous leader election", 1, _election, "leader", 1 - Fraction(1, 4) ** 3),
    ("Herman's ring of three", 3, _herman, "stable", Fraction(1)),
    ("the last vertex of a cycle", (0, 0, 0), _cycle, "last3", Fraction(1, 5)),
    ("Penney's game against HHH", ("",), _penney("HHH"), "first", Fraction(7, 8)),
    ("Moran's process", 1, _moran, "fixed", (1 - HALF) / (1 - HALF**5)),
]


@pytest.mark.extra("storm")
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_what_is_seen_first_has_its_probability(case: tuple[str, State, Step, str, Fraction]) -> None:
    _, start, step, goal, value = case
    model = parse_model(text_of(start, step), format="prism-language", hide_silent=True)
    assert isinstance(model, LMC)
    goals = {state for state, label in enumerate(model.labels) if label == goal}
    found = sum((p for target, p in model.rows[0] if target in goals), fmpq(0))
    assert found == fmpq(value.numerator, value.denominator)
