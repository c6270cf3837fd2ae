"""Programs over integers as flowcharts: their forms, and their paths from one place to the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    hold,
    integer,
    item,
    items,
    mapping,
    record,
    spend,
)
from bisimdist.checker.core.shape import Shape, flag, key, listed, named, one_of, raw

_LAWS = ("two-sided", "one-sided", "coin")
_STEPS = ("set", "draw", "tell", "if", "choose", "read", "go", "return")
ELEMENT = "@element"  # the next element of the input
NEXT = "@next"  # how much it differs
GUESS = "@guess"  # what a test of noise says that waits for the end

Form = Mapping[str, int]  # an affine form: by variable its factor, the constant under the empty name
Env = Mapping[str, Form]


def form_of(value: object, where: str) -> dict[str, int]:
    """Read a form."""
    return {name: n for name, n in counted(named(integer)(value, where).items()) if n}


def reserved(name: str) -> bool:
    """Tell whether a name is none of a program: the rules, or the second run, use it."""
    return name.startswith(("@", "#")) or name.endswith("'")


def passing(name: str) -> bool:
    """Tell whether a name stands for something else in each path: noise, or the element that is read."""
    return name.startswith("#") or name.rstrip("'") in {ELEMENT, NEXT}


def own_form(value: object, where: str) -> dict[str, int]:
    """Read a form of the program, which names its variables only."""
    form = form_of(value, where)
    if any(reserved(name) for name in counted(form)):
        raise MalformedCertificate(f"{where} has a form with a name that the rules use")
    return form


def shown_part(value: object, where: str) -> Form | str:
    """Read what an observer sees: a form, or a text."""
    return value if isinstance(value, str) else own_form(value, where)


def plus(one: Form, other: Form, factor: int = 1) -> dict[str, int]:
    """Return a form plus another one times a factor."""
    made = dict(all_of(one))
    for name, value in counted(other.items()):
        made[name] = made.get(name, 0) + factor * value
        spend(made[name].bit_length() // 30 + factor.bit_length())
        if not made[name]:
            del made[name]
    hold(200 * (1 + len(made)))
    return made


def at(form: Form, env: Env) -> dict[str, int]:
    """Return a form with variables replaced by forms."""
    made: dict[str, int] = {}
    for name, factor in counted(form.items()):
        made = plus(made, env.get(name, {name: 1}), factor)
    return made


def other_side(form: Form) -> dict[str, int]:
    """Return what is at least 0 where a form is not: its values are integers."""
    return plus({"": -1}, form, -1)


class Flowchart(Shape):
    """A program over integers."""

    kind: str = key(one_of("flowchart"))
    parameters: list[str] = key(listed(item))
    neighbours: str = key(one_of("one", "all"))
    low: int | None = key(integer, default=None)
    high: int | None = key(integer, default=None)
    places: Mapping[str, Any] = key(named(raw))


@dataclass(frozen=True)
class Draw:
    """Noise with the ratio ``base**weight``; of a coin the odds."""

    law: str
    base: str
    weight: Form


@dataclass(frozen=True)
class Path:
    """What a run does from one place to the next; a lost run ends, and shows nothing."""

    guards: tuple[Form, ...] = ()
    tests: tuple[bool, ...] = ()  # of each guard how its test comes out
    draws: tuple[Draw, ...] = ()
    told: tuple[Form | str, ...] = ()
    chosen: tuple[tuple[str, bool], ...] = ()
    read: bool | None = None
    target: str | None = None
    returned: tuple[Form | str, ...] = ()
    env: Env = field(default_factory=dict)
    lost: bool = False


def paths(step: object, path: Path, where: str) -> Iterator[Path]:
    """Yield the paths of a step to the next place, or to the end."""
    kind = next((k for k in _STEPS if k in mapping(step, where)), None)
    if kind is None:
        raise MalformedCertificate(f"{where} has a step that is none of {', '.join(_STEPS)}")
    more = {"draw": ("law", "base", "weight", "then"), "if": ("then", "else"), "choose": ("then", "else")}
    more |= {"read": ("first", "then"), "set": ("then",), "tell": ("then",)}
    said = record(step, where, (kind, *more.get(kind, ())))
    hold(500 * (1 + len(path.env) + len(path.guards)))
    value, env = said[kind], path.env
    if kind == "go":
        yield replace(path, target=item(value, where))
    elif kind == "return":
        parts = (shown_part(part, where) for part in counted(items(value, where)))
        yield replace(path, returned=tuple(p if isinstance(p, str) else at(p, env) for p in counted(parts)))
    elif path.read is not None:
        raise MalformedCertificate(f"{where}: after an element is read, the path ends")
    elif kind == "set":
        changed = {v: at(own_form(f, where), env) for v, f in counted(mapping(value, where).items())}
        yield from paths(said["then"], replace(path, env={**env, **changed}), where)
    elif kind == "draw":
        law = one_of(*_LAWS)(said["law"], where)
        made = Draw(law, item(said["base"], where), at(own_form(said["weight"], where), env))
        env = {**env, item(value, where): {f"#{len(path.draws)}": 1}}
        yield from paths(said["then"], replace(path, env=env, draws=(*path.draws, made)), where)
    elif kind == "tell":
        part = shown_part(value, where)
        told = (*path.told, part if isinstance(part, str) else at(part, env))
        yield from paths(said["then"], replace(path, told=told), where)
    elif kind == "read":
        env = {**env, item(value, where): {ELEMENT: 1}}
        yield from paths(said["then"], replace(path, env=env, read=flag(said["first"], where)), where)
    elif kind == "choose":
        for way, taken in (("then", True), ("else", False)):
            chosen = (*path.chosen, (item(value, where), taken))
            yield from paths(said[way], replace(path, chosen=chosen), where)
    else:
        guard = at(own_form(value, where), env)
        for way, form, taken in (("then", guard, True), ("else", other_side(guard), False)):
            after = replace(path, guards=(*path.guards, form), tests=(*path.tests, taken))
            yield from paths(said[way], after, where)


def agreeable(path: Path, other: Path) -> bool:
    """Tell whether what runs have in common is the same on two paths, each time it is asked."""
    asked: dict[str, list[bool]] = {}
    for name, taken in counted(path.chosen):
        asked.setdefault(name, []).append(taken)
    times = dict.fromkeys(asked, 0)
    for name, taken in counted(other.chosen):
        number = times.get(name, 0)
        if number < len(asked.get(name, ())) and asked[name][number] != taken:
            return False
        times[name] = number + 1
    return True


def guessed(path: Path) -> int:
    """Return how many tests of noise that waits are on a path."""
    return sum(1 for name, _ in counted(path.chosen) if name == GUESS)


def noise_of(shifts: Sequence[Form | str]) -> dict[str, Form]:
    """Return what the noise of the second run is."""
    made: dict[str, Form] = {}
    for n, shift in counted(enumerate(shifts)):
        same: Form = {f"#{n}": 1}
        turned: Form = {"": 1, f"#{n}": -1}
        made[f"#{n}'"] = (
            plus(same, shift) if not isinstance(shift, str) else same if shift == "keep" else turned
        )
    return made
