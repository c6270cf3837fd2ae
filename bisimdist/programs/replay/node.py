"""Numbers that depend on draws, and how to compute them from ranges of draws."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bisimdist.programs.replay.rules import RULES, Enclosure, corners, squared
from bisimdist.programs.replay.tape import Run


class _Mark:
    def __init__(self, name: str) -> None:
        self.name = name


UNDECIDED, FINE = _Mark("undecided"), _Mark("fine")
"""What is said of numbers whose ranges say nothing yet, and of those that raise no exception."""


class NoValue(Exception):  # noqa: N818 - what it says of a function
    """What a function does not return for a value, since it does not end: the mass is cut off."""


class Raised:
    """An exception that a function raises for some values."""

    def __init__(self, error: Exception | SystemExit) -> None:
        self.error = error
        self.key = type(error), str(error)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Raised) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


FAULTS = (AssertionError, AttributeError, LookupError, NameError)
"""What a mistake in the code of this folder raises, which must not look like what a program raises."""

OURS = str(Path(__file__).parent.parent)
PLAIN = str(Path(OURS, "source.py"))  # what plain Python draws from: its exceptions are those of the program


def raised(error: Exception | SystemExit) -> Raised:
    """Return what a program raises as its outcome. Raises a mistake of ours as it is."""
    if _is_fault(error):
        raise error
    return Raised(error)


def _is_fault(error: BaseException) -> bool:
    """Tell whether an exception is a mistake of ours: it comes from our code, which does not raise it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not isinstance(error, FAULTS):
        return False
    file = trace.tb_frame.f_code.co_filename
    line = linecache.getline(file, trace.tb_lineno).lstrip()
    return file.startswith(OURS) and file != PLAIN and not line.startswith(("raise", "return getattr"))


class Node:
    """A number of which the computation is known: a draw, or a function of other numbers.

    function: what is computed; for a draw, what makes values of the ends of a range.
    arguments: of what; for a draw None.
    draws: the draws that it depends on.
    """

    __slots__ = ("arguments", "draws", "function", "kind", "plan", "run", "scale", "used")

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...] | None,
        draws: tuple[int, ...],
        run: Run,
    ) -> None:
        self.function = function
        self.arguments = arguments
        self.draws = draws
        self.run = run
        self.kind: type | None = None
        self.plan: Plan | None = None
        self.used = False
        self.scale: float | None = None
        """Where the value of a draw is exactly this number times its integer, or times the next one."""

    def enclosure(self) -> Enclosure:
        """Return the least and the greatest value in the run that computed it."""
        return enclosure(self, *self.run.region.hull(self.run.laws))


class Plan:
    """How to compute numbers from ranges of draws, in order; every number once."""

    __slots__ = ("roots", "scales", "slots", "steps")

    def __init__(self, nodes: Sequence[Any]) -> None:
        places: dict[int, int] = {}
        self.slots: list[Enclosure] = []
        self.steps: list[tuple[int, Callable[..., Any], Any, tuple[int, ...]]] = []
        """Where a number goes, the function, its rule, and from where; of a draw no rule, and which draw."""
        self.scales: dict[int, float | None] = {}
        """By place of a draw by how much its value grows, if it is known to grow evenly."""
        self.roots = [self._place(node, places) for node in nodes]

    def _place(self, root: Any, places: dict[int, int]) -> int:
        stack = [root]
        while stack:
            node = stack[-1]
            if id(node) in places:
                stack.pop()
                continue
            lazy = isinstance(node, Node)
            left = [part for part in (node.arguments or ()) if id(part) not in places] if lazy else []
            if left:
                stack += left
                continue
            stack.pop()
            place = places[id(node)] = len(self.slots)
            self.slots.append(None if lazy else (node, node))
            if lazy:
                if node.arguments is None:
                    self.steps.append((place, node.function, DRAW, node.draws))
                    self.scales[place] = node.scale
                else:
                    origin = tuple(places[id(part)] for part in node.arguments)
                    rule = RULES.get(node.function)
                    if rule is corners and len(origin) == 2 and origin[0] == origin[1]:
                        rule = squared
                    self.steps.append((place, node.function, rule, origin))
        return places[id(root)]

    def form(self, draws: Sequence[int]) -> Any:
        """Return what two computations share that do the same with other draws.

        draws: in which order they are taken.
        """
        steps = tuple(
            (place, function, draws.index(origin[0]) if rule is DRAW else origin)
            for place, function, rule, origin in self.steps
        )
        constants = tuple(slot and (type(slot[0]), slot[0]) for slot in self.slots)
        return steps, constants, tuple(self.roots)

    def enclosures(self, lows: Any, highs: Any) -> list[Enclosure]:
        """Return the least and the greatest value of each number while draws are in ranges.

        Raises what a function raises where there is one value of each argument.
        """
        slots = self.slots.copy()
        for place, function, rule, origin in self.steps:
            if rule is DRAW:
                slots[place] = function(lows[origin[0]], highs[origin[0]])
            elif len(origin) == 1:
                one = slots[origin[0]]
                if one is not None:
                    if one[0] is one[1]:
                        value = function(one[0])
                        slots[place] = value, value
                    elif rule is not None:
                        try:  # noqa: SIM105
                            slots[place] = rule(function, (one,))
                        except (ArithmeticError, ValueError, TypeError):
                            pass
            else:
                slots[place] = apply_to(function, [slots[k] for k in origin], rule)
        return [slots[root] for root in self.roots]


def DRAW() -> None:
    """Stand for the rule of a draw."""


def enclosure(node: Any, lows: Any, highs: Any) -> Enclosure:
    """Return the least and the greatest value of a number while its draws are in ranges."""
    if not isinstance(node, Node):
        return node, node
    if node.plan is None:
        node.plan = Plan((node,))
    return node.plan.enclosures(lows, highs)[0]


def outcome_of(plan: Plan, classify: Callable[..., Any], lows: Any, highs: Any) -> Any:
    """Return what enclosures of numbers say, or the exception that a single value raises."""
    try:
        return classify(*plan.enclosures(lows, highs))
    except NoValue:
        return UNDECIDED
    except Exception as error:
        return raised(error)


def apply_to(function: Callable[..., Any], ranges: Sequence[Any], rule: Any = None) -> Enclosure:
    """Return what a function makes of ranges."""
    point = True
    for one in ranges:
        if one is None:
            return None
        if one[0] is not one[1]:
            point = False
    if point:
        value = function(*[one[0] for one in ranges])
        return value, value
    rule = rule or RULES.get(function)
    if rule is None:
        return None
    try:
        found: Enclosure = rule(function, ranges)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return found
