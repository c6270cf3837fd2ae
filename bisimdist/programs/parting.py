"""Where two runs of a program part that get the same answers from the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bisimdist.programs.control import ListValues, SplitInterval
from bisimdist.programs.exploration import Exploration
from bisimdist.programs.machine import Ended
from bisimdist.programs.noise import Undecided
from bisimdist.programs.states import Drawing
from bisimdist.programs.texts import text_of

MOST_PAIRS = 5_000
MOST_ANSWERS = 32
MOST_LINES = 5


@dataclass(frozen=True, slots=True)
class Parting:
    """A place where runs part."""

    # line and file: the line of the last draw that they have in common, where there is one, and its file
    line: int | None
    text: str  # what happens there
    file: str = ""


def partings(exploration: Exploration, first: str, second: str) -> tuple[Parting, ...]:
    """Return where two runs with the same answers first differ; the nearest places first."""
    graph = exploration
    begin = graph.starts[first].target, graph.starts[second].target
    found: dict[object, Parting] = {}
    text = _difference(graph, begin, "before the first draw")
    if text:
        return (Parting(None, text),)
    seen = {begin}
    queue = [begin]
    for pair in queue:
        if len(seen) > MOST_PAIRS or len(found) >= MOST_LINES:
            break
        for following in _together(graph, pair):
            text = _difference(graph, following, _place(graph, pair[0]))
            if text:
                file, line = graph.place(pair[0])
                ends = all(isinstance(graph.nodes[number], Ended) for number in following)
                found.setdefault(
                    (line, ends) if ends else text, Parting(line, text, file)
                )  # one for each line is enough
            elif following not in seen and following[0] != following[1]:
                seen.add(following)
                queue.append(following)
    return tuple(found.values())


def _place(graph: Exploration, number: int) -> str:
    where = graph.where(number)
    return f"after the draw {where}" if where else "after a draw"


def _difference(graph: Exploration, pair: tuple[int, int], where: str) -> str:
    """Say what differs between two nodes, where something does that ends their common way."""
    one, other = (graph.nodes[number] for number in pair)
    if isinstance(one, Ended) and isinstance(other, Ended):
        if pair[0] == pair[1]:
            return ""
        if not one.raised and not other.raised:
            return f"{where} one run returns {_short(one)} and the other {_short(other)}"
    if isinstance(one, Ended) or type(one) is not type(other) or graph.place(pair[0]) != graph.place(pair[1]):
        return f"{where} one run {_goes(graph, pair[0])} and the other {_goes(graph, pair[1])}"
    if isinstance(one, Drawing) and isinstance(other, Drawing) and one.request.key != other.request.key:
        return f"{where} the draws {graph.where(pair[0])} are from different ranges"
    return ""


def _short(node: Ended) -> str:
    text = text_of(node.value)
    return text if len(text) <= 40 else text[:37] + "..."


def _goes(graph: Exploration, number: int) -> str:
    node = graph.nodes[number]
    if isinstance(node, Ended):
        return f"raises {_short(node)}" if node.raised else f"returns {_short(node)}"
    what = "draws" if isinstance(node, Drawing) else "announces a value"
    return f"{what} {graph.where(number)}".rstrip()


def _together(graph: Exploration, pair: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield where two nodes lead with the same answers, as far as that was explored."""
    one, other = (graph.nodes[number] for number in pair)
    if graph.edges[pair[0]] is None or graph.edges[pair[1]] is None or isinstance(one, Ended):
        return
    answers = graph.answers(pair[0], MOST_ANSWERS) if isinstance(one, Drawing) else [None]
    for answer in answers:
        targets = []
        for node in (one, other):
            if isinstance(node, Ended):
                return
            try:
                outcome = graph.machine.resume(node.state, answer, {})
                targets.append(graph.number_of(outcome))
            except (SplitInterval, ListValues, Undecided):
                break
        if len(targets) == 2 and targets[0] is not None and targets[1] is not None:
            yield targets[0], targets[1]
