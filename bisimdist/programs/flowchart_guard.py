"""The guard of flowcharts: plain Python runs the function, and must do what the flowchart does."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from types import CodeType, FunctionType
from typing import Any

from bisimdist.errors import ModelError
from bisimdist.models.flowchart import Flowchart, Step
from bisimdist.programs.flowchart_sources import used
from bisimdist.programs.guard import Scripted, ScriptEnded, replaced
from bisimdist.programs.texts import RAISES, literal, same_text, text_of

RUNS = 250
MOST_DRAWS = 40
MOST_STEPS = 4000  # longer runs of the flowchart are given up
MOST_LINES = 50_000  # longer runs of plain Python differ
RATIOS = (Fraction(1, 2), Fraction(1, 3), Fraction(2, 3))
NAMES = {"two_sided_geometric": "two-sided", "geometric": "one-sided", "flip": "coin"}
MORE = "more elements in "

Asked = Mapping[str, tuple[CodeType, Mapping[str, Mapping[str, int]]]]
"""By the text of a choice its expression, and by the names in it their forms."""


class _Source(Scripted):
    """A source that answers from a script, in which a coin is 1 with the smaller probability."""

    def flip(self, p: Any) -> Any:
        return super().flip(p) != (Fraction(p) > Fraction(1, 2))


@dataclass(slots=True)
class _Run:
    """What the noise was, how it was drawn, what the observer saw, and how the run ended."""

    variables: dict[str, Any]
    noise: list[Any] = field(default_factory=list)
    draws: list[tuple[str, Fraction]] = field(default_factory=list)
    told: list[Any] = field(default_factory=list)
    end: str | None = None  # None where the noise is over, or where the ratio of noise is none

    def at(self, form: Mapping[str, int]) -> Any:
        return sum(factor * (self.variables[name] if name else 1) for name, factor in form.items())

    def seen(self, part: Any) -> Any:
        return part if isinstance(part, str) else self.at(part)


def _first(step: Step) -> bool:
    """Tell whether what is read next begins the input."""
    while "read" not in step:
        step = step["then"]
    begins: bool = step["first"]
    return begins


def run(
    chart: Flowchart, asked: Asked, given: Any, parameters: Mapping[str, Any], chooser: random.Random
) -> _Run | None:
    """Run a flowchart, with noise by chance. Returns None if the run is too long."""
    made = _Run(dict(parameters))
    elements = given if isinstance(given, list) else [given]
    place = -1
    step = chart.places["start"]
    for _ in range(MOST_STEPS):
        if "go" in step:
            step = chart.places[step["go"]]
            continue
        way = "then"
        if "return" in step:
            parts = [*made.told, ..., *(made.seen(part) for part in step["return"])]
            made.end = _end(parts)
            return made
        if "set" in step:
            made.variables |= {name: made.at(form) for name, form in step["set"].items()}
        elif "draw" in step:
            law, exponent = step["law"], made.at(step["weight"])
            base = Fraction(parameters[step["base"]] if step["base"].isidentifier() else step["base"])
            if exponent < (0 if law == "coin" else 1) or len(made.noise) == MOST_DRAWS:
                made.end = None if len(made.noise) == MOST_DRAWS else RAISES
                return made
            low = {"two-sided": chooser.choice((-1, -4)), "one-sided": 0, "coin": 0}[law]
            value = chooser.randint(low, 1 if law == "coin" else max(1, -low))
            made.noise.append(bool(value) if law == "coin" else value)
            made.draws.append((law, base**exponent))
            made.variables[step["draw"]] = value
        elif "tell" in step:
            made.told.append(made.seen(step["tell"]))
        elif "read" in step:
            place = 0 if step["first"] else place + 1
            made.variables[step["read"]] = elements[place]
        elif "choose" in step:
            if step["choose"].startswith(MORE):
                taken = len(elements) > (0 if _first(step["then"]) else place + 1)
            else:
                code, forms = asked[step["choose"]]
                taken = eval(code, {}, {name: made.at(form) for name, form in forms.items()})
            way = "then" if taken else "else"
        else:
            way = "then" if made.at(step["if"]) >= 0 else "else"
        step = step[way]
    return None


def _end(parts: list[Any]) -> str:
    """Return how a run ends for what the observer saw: all that he knows of what is returned."""
    lists: dict[str, list[Any]] = {"": []}
    left = iter(parts)

    def value(part: Any) -> Any:
        if not isinstance(part, str):
            return part
        if part.startswith("the list "):
            return lists[part.removeprefix("the list ")]
        for words, copied in (("a list of ", list), ("a tuple of ", tuple)):
            if part.startswith(words):
                return copied(lists[part.removeprefix(words)])
        for words, kind in ((" values", tuple), (" elements", list)):
            number = part.removesuffix(words)
            if number.isdecimal() and number != part:
                return kind(value(next(left)) for _ in range(int(number)))
        return literal(part)

    for part in left:
        if part is ...:
            break
        what, _, name = part.partition(" ")
        if what == "new":
            lists[name] = []
        else:
            lists[name].append(value(next(left)))
    last = next(left)
    return last if isinstance(last, str) and last.startswith(RAISES) else same_text(value(last))


@contextmanager
def _limited() -> Iterator[None]:
    """Let runs of plain Python end."""
    left = MOST_LINES
    before = sys.gettrace()

    def count(*_: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise ScriptEnded
        return count

    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before)


def _drawn(asked: tuple[object, ...]) -> tuple[object, object]:
    """Return the law and the ratio of noise as flowcharts write them."""
    kind, *ratio = asked
    if len(ratio) != 2 or kind not in NAMES:
        return asked, None
    part = Fraction(*ratio)  # type: ignore[call-overload]
    return NAMES[str(kind)], part if kind != "flip" else min(part / (1 - part), (1 - part) / part)


def guard(
    chart: Flowchart,
    function: FunctionType,
    keywords: Mapping[str, Any],
    asked: Asked,
    *,
    length: int | None,
    listed: bool,
    spaces: Sequence[dict[str, Any]] = (),
    runs: int = RUNS,
) -> None:
    """Run a function in plain Python and as a flowchart, and compare what they draw and return.

    ``keywords``: arguments that are fixed.
    ``asked``: what the choices of the flowchart ask.
    ``spaces``: the globals of all functions that are called.
    Raises ModelError if they differ.
    """
    chooser = random.Random(0)
    ratios, _ = used(chart.places)
    low = -3 if chart.low is None else chart.low
    high = max(low, 3) if chart.high is None else chart.high
    low = min(low, high)
    for number in range(runs):
        most = min(high, low + 6) if number % 2 else high
        size = length if length is not None else chooser.choice((0, 1, 2, 3, 4, 5))
        elements = [chooser.randint(low, most) for _ in range(size)]
        given: Any = elements if listed else chooser.randint(low, most)
        parameters = {
            name: chooser.choice(RATIOS)
            if name in ratios
            else chooser.choice((-2, -1, 0, 1, 1, 2, 2, 3, 4, 5))
            for name in chart.parameters
        }
        made = run(chart, asked, given, parameters, chooser)
        if made is not None:
            _compare(made, function, given, {**keywords, **parameters}, spaces)


def _compare(
    made: _Run, function: Callable[..., Any], given: Any, keywords: dict[str, Any], spaces: Sequence[Any]
) -> None:
    source = _Source(made.noise)
    shown = {name: value for name, value in keywords.items() if name != "rng"}
    if "rng" in keywords:
        keywords = {**keywords, "rng": source}
    end: str | None
    with replaced(source, spaces):
        try:
            with _limited():
                found = function(list(given) if isinstance(given, list) else given, **keywords)
            end = same_text(found)
        except ScriptEnded:
            end = None
        except Exception as error:
            end = RAISES + text_of(error)
    draws = [_drawn(asked) for asked in source.asked]
    said = f"{made.end or 'nothing'}".removesuffix(")")  # an assertion may be told more by what runs tests
    raised = said in (RAISES, f"{RAISES}AssertionError(") and end is not None and end.startswith(said)
    if draws == made.draws and (end == made.end or raised) and not (end is None and not source.over):
        return
    raise ModelError(
        f"plain Python and the flowchart differ for the input {given}, {shown} and the noise {made.noise}: "
        f"plain Python draws {len(draws)} times and ends with {end}, "
        f"the flowchart draws {len(made.draws)} times and ends with {made.end}; no answer is given",
        place=function.__qualname__,
    )
