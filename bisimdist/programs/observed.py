"""From the graph of a program to a Markov chain that shows what an observer sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from flint import fmpq, fmpz

from bisimdist.models.elimination import FOREVER, eliminated
from bisimdist.models.lmc import Row
from bisimdist.models.reach import all_reached
from bisimdist.programs.chain import CUT, START, Origin, ProgramChain
from bisimdist.programs.control import Outside
from bisimdist.programs.exploration import Exploration, rows_of
from bisimdist.programs.machine import Announced, Ended
from bisimdist.programs.outcomes import classes_of
from bisimdist.programs.states import Drawing
from bisimdist.programs.texts import RAISES, labels_of, same_text, text_of
from bisimdist.progress import NEVER, Deadline, Progress, silent

View: TypeAlias = "Callable[[Exploration, frozenset[str]], Observed]"  # makes states of what is observed

_CUT_END = "\0cut"

SHORT_BITS = 320  # where runs are cut off anyway, longer probabilities are rounded down; the rest is cut off


def chain_of(  # noqa: PLR0913
    exploration: Exploration,
    kinds: frozenset[str],
    pairs: Sequence[tuple[str, str]],
    origin: Origin,
    *,
    beyond: fmpq | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    view: View | None = None,
) -> ProgramChain:
    """Return the chain of what is observed; nodes that were not expanded are where runs are cut off.

    beyond: values of noise that are less likely may be cut off.
    view: makes the states of what is observed; by default those of a program in Python.
    """
    work = (view or Observed)(exploration, kinds)
    work.build(beyond)
    rows = eliminated(work.rows, work.hidden, deadline=deadline, progress=progress)
    return work.finish(rows, pairs, origin)


def cut_masses(
    exploration: Exploration, most: float, *, deadline: Deadline = NEVER, progress: Progress = silent
) -> dict[str, fmpq]:
    """Return for every start the exact probability that its run is cut off, if paths of more bits are."""
    known = exploration.known(most)
    rows = rows_of(known)
    first = len(exploration.nodes)
    inner = list(rows)
    names = list(exploration.starts)
    for k, name in enumerate(names):
        rows[first + k] = {exploration.starts[name].target: fmpq(1)}
    found = eliminated(rows, inner, deadline=deadline, progress=progress)
    return {
        name: sum(
            (p for goal, p in found[first + k].items() if goal >= 0 and known[goal] is None),
            fmpq(0),
        )
        for k, name in enumerate(names)
    }


class Observed:
    """States of the chain by number: those of the graph first, then what is added."""

    def __init__(self, exploration: Exploration, kinds: frozenset[str]) -> None:
        self.exploration = exploration
        self.kinds = kinds
        self.rows: dict[int, dict[int, fmpq]] = {}
        self.hidden: set[int] = set()
        self.names: dict[int, tuple[str, str]] = {}
        self._next = len(exploration.nodes)
        self._waits: dict[tuple[int, int], int] = {}
        self._ends: dict[str, int] = {}
        self.starts: dict[str, int] = {}

    def new(self, name: str, label: str) -> int:
        """Add a state."""
        number = self._next
        self._next += 1
        self.names[number] = f"{name} #{number}" if name else f"#{number}", label
        return number

    def build(self, beyond: fmpq | None = None) -> None:
        """Make the rows, of hidden states as well."""
        graph = self.exploration
        ends = {
            number: node.value
            for number, node in enumerate(graph.nodes)
            if isinstance(node, Ended) and not node.raised
        }
        noisy = classes_of(ends, beyond)
        labels = self._end_labels(number for number in range(len(graph.nodes)) if number not in noisy)
        for number, node in enumerate(graph.nodes):
            edges = graph.edges[number]
            if number in noisy:
                self.names[number] = "", f"#{number}"
                self._ends[f"#{number}"] = number
                self.hidden.add(number)
            elif isinstance(node, Ended):
                text = labels[number]
                self._ends.setdefault(text, number)
                self.names[number] = f"return {text}" if not node.raised else text, text
            elif edges is None:
                self.names[number] = CUT, CUT
        for number, row in noisy.items():
            self.rows[number] = {self._end(text): p for text, p in row.items()}
        for number, node in enumerate(graph.nodes):
            if graph.edges[number] and not isinstance(node, Ended):
                self.node(number, node)
        for name, edge in graph.starts.items():
            start = self.new("", START)
            self.names[start] = name, START
            self.starts[name] = start
            self.rows[start] = {self.after(edge.target, edge.steps): fmpq(1)}

    def _end_labels(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the label of each end: equal values have one, unless types are seen."""
        ends = {}
        for number in numbers:
            node = self.exploration.nodes[number]
            if isinstance(node, Ended):
                text = (RAISES if node.raised else "") + text_of(node.value)
                alike = text if node.raised or "type" in self.kinds else same_text(node.value)
                ends[number] = text, alike
        labels = labels_of(ends.values())
        return {number: labels[end] for number, end in ends.items()}

    def _end(self, text: str | None) -> int:
        """Return the state in which a run ends with a value, or is cut off."""
        name, label = (CUT, CUT) if text is None else (f"return {text}", text)
        key = _CUT_END if text is None else text
        if key not in self._ends:
            self._ends[key] = self.new(name, label)
            self.names[self._ends[key]] = name, label
        return self._ends[key]

    def node(self, number: int, node: Drawing | Announced) -> None:
        row: dict[int, fmpq] = {}
        for edge in self.exploration.edges[number] or ():
            target = self.after(edge.target, edge.steps)
            row[target] = row.get(target, fmpq(0)) + edge.probability
        place = self.place(number)
        if isinstance(node, Announced):
            text = text_of(node.value)
            self.names[number] = f"observe {text} #{number}", f"observe {text}"
            if "trace" not in self.kinds:
                self.hidden.add(number)
        elif "draws" in self.kinds:
            self.names[number] = f"{place} #{number}", "draw"
        elif "bits" in self.kinds:
            self._bits(number, node, row, place)
            return
        else:
            self.hidden.add(number)
        self.rows[number] = row

    def place(self, number: int) -> str:
        """Return the place of a draw, for people."""
        line = self.exploration.place(number)[1]
        return f"line {line}" if line else "draw"

    def _bits(self, number: int, node: Drawing, row: dict[int, fmpq], place: str) -> None:
        """Let a draw ask for bits until they make one of its values, as Python does."""
        if node.request.noise:
            raise Outside(
                "how many random bits noise without bounds takes is not defined",
                "draw it in a loop of rng.flip(a)",
            )
        count = node.request.count
        exact = node.request.key[0] == "bits"
        size = count.bit_length() - exact
        self.names[number] = f"{place} #{number}", "bit"
        if size == 0:
            self.hidden.add(number)
            self.rows[number] = row
            return
        current = number
        for _ in range(size - 1):
            following = self.new(place, "bit")
            self.rows[current] = {following: fmpq(1)}
            current = following
        accepted = fmpq(count, 1 << size)
        made = {target: p * accepted for target, p in row.items()}
        if accepted != 1:
            made[number] = made.get(number, fmpq(0)) + 1 - accepted
        self.rows[current] = made

    def after(self, target: int, steps: int) -> int:
        """Return the state that shows so many steps and then is the target."""
        target = self.shown(target)
        if "steps" not in self.kinds:
            return target
        for k in range(1, steps + 1):
            if (target, k) not in self._waits:
                state = self._waits[target, k] = self.new("step", "step")
                self.rows[state] = {self._waits[target, k - 1] if k > 1 else target: fmpq(1)}
        return self._waits[target, steps] if steps else target

    def shown(self, target: int) -> int:
        """Return the state of a node: one for all nodes where runs end alike, or are cut off."""
        if isinstance(self.exploration.nodes[target], Ended):
            return self._ends[self.names[target][1]]
        return (
            target if self.exploration.edges[target] is not None else self._ends.setdefault(_CUT_END, target)
        )

    def finish(
        self,
        rows: Mapping[int, Mapping[int, fmpq]],
        pairs: Sequence[tuple[str, str]],
        origin: Origin,
    ) -> ProgramChain:
        """Return the chain of what can be reached."""
        order = list(self.starts.values())
        cut = self._ends.get(_CUT_END)
        if cut is not None:
            rows = {state: _shortened(row, cut) for state, row in rows.items()}
        place = {state: k for k, state in enumerate(order)}
        for state in order:
            for target in rows.get(state, ()):
                if target not in place:
                    place[target] = len(order)
                    order.append(target)
        made: list[Row] = []
        for state in order:
            row = rows.get(state) or {state: fmpq(1)}
            made.append(tuple(sorted((place[target], p) for target, p in row.items())))
        self.names[FOREVER] = "runs for ever", "runs for ever"
        return ProgramChain(
            tuple(self.unique([self.names[state][0] for state in order])),
            tuple(self.names[state][1] for state in order),
            tuple(made),
            tuple((place[self.starts[s]], place[self.starts[t]]) for s, t in pairs),
            origin,
            {} if cut not in place else reaching(made, place[cut]),
        )

    def unique(self, names: Sequence[str]) -> list[str]:
        seen: set[str] = set()
        result = []
        for name in names:
            while name in seen:
                name += "'"  # noqa: PLW2901
            seen.add(name)
            result.append(name)
        return result


def _shortened(row: Mapping[int, fmpq], cut: int) -> dict[int, fmpq]:
    """Round long probabilities down, and let the rest be cut off."""
    if all(p.q.bit_length() <= SHORT_BITS for p in row.values()):
        return dict(row)
    scale = fmpz(1) << SHORT_BITS
    made = {target: fmpq((p * scale).floor(), scale) for target, p in row.items() if target != cut}
    made = {target: p for target, p in made.items() if p}
    made[cut] = 1 - sum(made.values(), fmpq(0))
    return made


def reaching(rows: Sequence[Row], goal: int) -> dict[int, fmpq]:
    """Return for every state from which a state can be reached the exact probability of that."""
    before: dict[int, list[int]] = {}
    for state, row in enumerate(rows):
        for target, _ in row:
            before.setdefault(target, []).append(state)
    near = set(all_reached([goal], lambda state: before.get(state, ())))
    equations: dict[int, dict[int, fmpq]] = {}
    for state in near - {goal}:
        row_of = equations[state] = {}
        for target, p in rows[state]:
            kept = target if target in near else FOREVER
            row_of[kept] = row_of.get(kept, fmpq(0)) + p
    removed: list[tuple[int, dict[int, fmpq]]] = []
    eliminated(equations, equations.keys(), removed=removed)
    found = {goal: fmpq(1), FOREVER: fmpq(0)}
    for state, last in reversed(removed):
        found[state] = sum((p * found[target] for target, p in last.items()), fmpq(0))
    del found[FOREVER]
    return found
