"""Paths through a flowchart from one place to the next, and the same paths of a coupled second run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from flint import fmpq

from bisimdist.budgets.engine.halfspaces import Form, plus
from bisimdist.models.flowchart import Step

USED, NOW, NEXT = (
    "@used",
    "@now",
    "@next",
)  # how much the elements differed before, and this one, and the next
ELEMENT = "@element"
GUESS = "@guess"  # how a comparison with noise that waits comes out

Env = Mapping[str, Form]
Shift = Form | str  # what is added to the noise of the first run; of a coin: keep or swap


def out(number: int) -> str:
    """Return the name of a number that the observer saw at the end of the first run."""
    return f"@out {number}"


def cost(base: str) -> str:
    """Return the name of the price so far, in powers of a base."""
    return f"@cost {base}"


@dataclass(frozen=True, slots=True)
class Draw:
    """Noise: its name on the path, and its law."""

    name: str
    law: str
    base: str
    weight: Form
    site: str  # how the flowchart calls it

    @property
    def kind(self) -> tuple[object, ...]:
        """What noise must have in common to be coupled."""
        return self.law, self.base, tuple(sorted(self.weight.items()))


@dataclass(frozen=True, slots=True)
class Path:
    """What a run does from a place on, in terms of the variables there, noise and the next element."""

    guards: tuple[Form, ...] = ()
    draws: tuple[Draw, ...] = ()
    told: tuple[Form | str, ...] = ()
    chosen: tuple[tuple[str, bool], ...] = ()
    read: bool | None = None  # whether it reads the first element, or another one
    target: str | None = None  # where it ends; None at the end of the run
    returned: tuple[Form | str, ...] = ()
    env: Env = field(default_factory=dict)
    tests: tuple[bool, ...] = ()  # of each guard whether its test comes out
    lost: bool = False  # whether the run is given up at the end


def at(form: Form, env: Env) -> dict[str, int]:
    """Return a form with variables replaced by forms."""
    made: dict[str, int] = {}
    for name, factor in form.items():
        made = plus(made, env.get(name, {name: 1}), factor)
    return made


def _part(value: Any, env: Env) -> Form | str:
    return value if isinstance(value, str) else at(value, env)


def paths(step: Step, path: Path | None = None) -> Iterator[Path]:
    """Yield all paths of a step to the next place, or to the end."""
    path = path or Path()
    env = path.env
    if "go" in step:
        yield replace(path, target=step["go"])
    elif "return" in step:
        yield replace(path, returned=tuple(_part(part, env) for part in step["return"]))
    elif "set" in step:
        changed = {name: at(form, env) for name, form in step["set"].items()}
        yield from paths(step["then"], replace(path, env={**env, **changed}))
    elif "draw" in step:
        number = len(path.draws)
        made = Draw(f"#{number}", step["law"], step["base"], at(step["weight"], env), step["draw"])
        env = {**env, step["draw"]: {made.name: 1}}
        yield from paths(step["then"], replace(path, env=env, draws=(*path.draws, made)))
    elif "tell" in step:
        told = (*path.told, _part(step["tell"], env))
        yield from paths(step["then"], replace(path, told=told))
    elif "read" in step:
        env = {**env, step["read"]: {ELEMENT: 1}}
        yield from paths(step["then"], replace(path, env=env, read=step["first"]))
    elif "choose" in step:
        for way, taken in (("then", True), ("else", False)):
            chosen = (*path.chosen, (step["choose"], taken))
            yield from paths(step[way], replace(path, chosen=chosen))
    else:
        guard = at(step["if"], env)
        other = plus({"": -1}, guard, -1)
        for way, form, taken in (("then", guard, True), ("else", other, False)):
            guards, tests = (*path.guards, form), (*path.tests, taken)
            yield from paths(step[way], replace(path, guards=guards, tests=tests))


def primed(form: Form, shared: Collection[str]) -> dict[str, int]:
    """Return a form about the second run."""
    return {name if name in shared or not name else f"{name}'": factor for name, factor in form.items()}


def shifted(draws: Sequence[Draw], shifts: Sequence[Shift]) -> dict[str, Form]:
    """Return what the noise of the second run is, of that of the first."""
    made: dict[str, Form] = {}
    for draw, shift in zip(draws, shifts, strict=True):
        if isinstance(shift, str):
            made[f"{draw.name}'"] = {draw.name: 1} if shift == "keep" else {"": 1, draw.name: -1}
        else:
            made[f"{draw.name}'"] = plus({draw.name: 1}, shift)
    return made


def laws(draws: Sequence[Draw]) -> list[Form]:
    """Return what holds of noise."""
    made: list[Form] = []
    for draw in draws:
        if draw.law != "two-sided":
            made.append({draw.name: 1})
        if draw.law == "coin":
            made.append({"": 1, draw.name: -1})
    return made


def reading(path: Path, neighbours: str, low: int | None, high: int | None) -> list[Form]:
    """Return what holds of the next element in both runs."""
    if path.read is None:
        return []
    difference: Form = {f"{ELEMENT}'": 1, ELEMENT: -1}
    back: Form = {f"{ELEMENT}'": -1, ELEMENT: 1}
    made: list[Form] = []
    if neighbours == "one":
        total: Form = {NEXT: -1, "": 1} if path.read else {NEXT: -1, USED: -1, NOW: -1, "": 1}
        made += [{NEXT: 1}, total, plus({NEXT: 1}, back), plus({NEXT: 1}, difference)]
    else:
        made += [plus({"": 1}, back), plus({"": 1}, difference)]
    for name in (ELEMENT, f"{ELEMENT}'"):
        made += [plus({name: 1}, {"": -low})] if low is not None else []
        made += [plus({name: -1}, {"": high})] if high is not None else []
    return made


def prices(
    draws: Sequence[Draw], shifts: Sequence[Shift], signs: Sequence[int]
) -> tuple[dict[str, Form], list[Form]]:
    """Return the price of a coupling by base, and what the signs of its shifts say.

    ``signs``: of each shift that is no number, in order, 1 where it is at least 0 and -1 otherwise.
    """
    total: dict[str, Form] = {}
    said: list[Form] = []
    left = iter(signs)
    for draw, shift in zip(draws, shifts, strict=True):
        amount: Form = {}
        if shift == "swap":
            amount = draw.weight
        elif not isinstance(shift, str):
            if any(shift):
                sign = next(left)
                said.append(shift if sign > 0 else plus({"": -1}, shift, -1))
                amount = plus({}, shift, sign * draw.weight[""])
            else:
                amount = plus({}, draw.weight, abs(shift.get("", 0)))
        total[draw.base] = plus(total.get(draw.base, {}), amount)
    return total, said


def varying(shifts: Sequence[Shift]) -> int:
    """Return how many shifts are no numbers."""
    return sum(1 for shift in shifts if not isinstance(shift, str) and any(shift))


def after(
    path: Path, shared: Collection[str], noise: Env, paid: Mapping[str, Form], second: Path
) -> dict[str, Form]:
    """Return what the variables of both runs are at the end of a pair of paths."""
    made: dict[str, Form] = dict(path.env)
    for name, form in second.env.items():
        made[f"{name}'"] = at(primed(form, shared), noise)
    for base, amount in paid.items():
        made[cost(base)] = plus({cost(base): 1}, amount)
    if path.read is not None:
        made[USED] = {} if path.read else {USED: 1, NOW: 1}
        made[NOW] = {NEXT: 1}
    return made


def ending(way: Path) -> tuple[object, ...]:
    """Return what two paths have in common that end alike."""
    guessed = [key for key, _ in way.chosen].count(GUESS)
    return way.target, way.read, len(way.told), len(way.returned), way.lost, guessed


def whole(number: fmpq) -> int:
    """Return the largest integer that is not above a rational."""
    return int(number.p) // int(number.q)


def both_ways(form: Form) -> tuple[Form, Form]:
    """Return what is at least 0 if a form is 0."""
    return form, plus({}, form, -1)


def agreeable(way: Path, other: Path) -> bool:
    """Tell whether what runs have in common is the same on two paths, each time it is asked."""
    asked = {key for key, _ in way.chosen}
    return all(
        one == two
        for name in asked
        for one, two in zip(
            [taken for key, taken in way.chosen if key == name],
            [taken for key, taken in other.chosen if key == name],
            strict=False,
        )
    )


def forward(draws: Sequence[Draw], shifts: Sequence[Shift], signs: Sequence[int]) -> bool:
    """Tell whether noise that is never negative is only shifted up."""
    left = iter(signs)
    for draw, shift in zip(draws, shifts, strict=True):
        if not isinstance(shift, str):
            sign = next(left) if any(shift) else shift.get("", 0)
            if draw.law == "one-sided" and sign < 0:
                return False
    return True
