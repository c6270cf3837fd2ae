"""The transitions of PRISM's explicit files (`.tra`).

The first line of a `.tra` file has the number of states, that of choices where there are some, that of
transitions, and that of observations of a POMDP. A line has the state, the number of its choice where there
are some, the successor, a probability (of a CTMC a rate; of what is known roughly an interval), the
observation of the successor where there are some, and the action, which may be left out. In the form by rows
a line has the state, each probability with its successor, such as ``0.5:1``, and the action. In a file of a
POMDP the line ``- - s - o`` says that state s, the initial one, has the observation o.

See the PRISM manual, appendix "Explicit Model Files".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from flint import fmpq

from bisimdist.errors import ModelError
from bisimdist.exact.doubles import Rationaliser
from bisimdist.exact.rational import format_rational, shorten_rational
from bisimdist.models.io.expect import ProbabilityReader
from bisimdist.models.io.explicit import Choice, exit_rate, jumps, uniform
from bisimdist.models.pa import transition_place

INDEX = re.compile(r"[0-9]{1,18}")
_INTERVAL = re.compile(r"\[([^\[\],]*),([^\[\],]*)\]")
_SPACED = re.compile(r"\[\s*([^\[\],\s]*)\s*,\s*([^\[\],\s]*)\s*\]")
_BRANCH = re.compile(r"[^\s:]+:[0-9]{1,18}")
_EXAMPLES = {2: "0 1 0.5", 3: "0 0 1 0.5 action", 4: "0 0 1 0.5 2 action"}  # by the numbers of the first line


def content(text: str) -> Iterator[tuple[int, str]]:
    """Iterate over the lines that say something, with their numbers."""
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield number, stripped


def read_index(text: str, count: int, line: int) -> int:
    """Return the number of a state."""
    if not INDEX.fullmatch(text) or int(text) >= count:
        raise ModelError(f"found {text[:60]!r}; expected the number of a state in 0..{count - 1}", line=line)
    return int(text)


class Transitions:
    """The transitions of a `.tra` file by state and choice; a chain has one choice of each state.

    timed: whether they may be rates of a chain; they are if one of them is above 1, and then if some do not
        add up to 1.
    """

    def __init__(self, text: str, rationaliser: Rationaliser | None, *, timed: bool) -> None:
        lines = list(content(text))
        number, header = lines.pop(0) if lines else (1, "")
        sizes = header.split()
        if len(sizes) not in _EXAMPLES or not all(INDEX.fullmatch(size) for size in sizes):
            raise ModelError(
                f"the first line is {header[:60]!r}; expected the numbers of states and of transitions, with "
                "that of choices between them for an MDP, and that of observations last for a POMDP",
                line=number,
            )
        self.fields = len(sizes)
        self.nondeterministic, self.partial = self.fields > 2, self.fields == 4
        lines = [(at, _SPACED.sub(r"[\1,\2]", line)) for at, line in lines]
        initial = [(at, line) for at, line in lines if self.partial and line.startswith("-")]
        lines = list(
            self._one_by_one(line for line in lines if not (self.partial and line[1].startswith("-")))
        )
        self.count, announced = int(sizes[0]), int(sizes[1 + self.nondeterministic])
        if len(lines) != announced:
            raise ModelError(
                f"{announced} transitions are announced and {len(lines)} follow; expected as many of each",
                line=number,
            )
        if self.count > announced:
            raise ModelError(
                f"{self.count} states have {announced} transitions; expected at least one for each state",
                line=number,
            )
        self.around: dict[fmpq, tuple[fmpq, fmpq]] = {}  # by what stands for an interval its ends
        self.seen: list[str | None] = [None] * self.count  # the observations of the states of a POMDP
        self.timed = False
        self._rows: list[dict[int, dict[int, fmpq]]] = [{} for _ in range(self.count)]
        self._actions: dict[tuple[int, int], str] = {}
        self._first_lines = [number] * self.count
        self._numbers = ProbabilityReader(rationaliser, bounded=False)
        for number, line in initial:
            fields = line.split()
            if len(fields) != 5 or [*fields[:2], fields[3]] != ["-", "-", "-"]:
                raise ModelError(
                    f"found {line[:60]!r}; expected the observation of a state such as - - 0 - 1", line=number
                )
            self._see(read_index(fields[2], self.count, number), fields[4], number)
        for number, line in lines:
            self._take(line, number)
        self.chosen = sum(len(rows) for rows in self._rows)
        if self.nondeterministic and self.chosen != int(sizes[1]):
            raise ModelError(
                f"{sizes[1]} choices are announced and {self.chosen} follow; expected as many of each"
            )
        if timed and not self.nondeterministic and not self.around:
            self.timed |= any(sum(rows[0].values(), fmpq(0)) != 1 for rows in self._rows if rows)
        if self.timed and self.around:
            raise ModelError("some numbers are rates and others intervals; expected probabilities")

    def _one_by_one(self, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        """Yield lines that have one transition each; the choices of rows are numbered in their order."""
        choices: dict[str, int] = {}
        for number, line in lines:
            state, *fields = line.split()
            branches = [field for field in fields if _BRANCH.fullmatch(field)]
            if not branches or self.partial:
                yield number, line
                continue
            action = fields[len(branches) :]
            if fields[: len(branches)] != branches or len(action) > 1:
                raise ModelError(f"found {line[:60]!r}; expected a row such as 0 0.5:1 0.5:2", line=number)
            choice = choices[state] = choices.get(state, -1) + 1
            for branch in branches:
                p, _, target = branch.rpartition(":")
                before = [state, str(choice)] if self.nondeterministic else [state]
                yield number, " ".join([*before, target, p, *action])

    def _take(self, line: str, number: int) -> None:
        fields = line.split()
        least = self.fields + 1 if self.nondeterministic else 3
        if len(fields) not in (least, least + 1):
            raise ModelError(
                f"found {line[:60]!r}; expected a transition such as {_EXAMPLES[self.fields]}", line=number
            )
        action = fields.pop() if len(fields) > least else ""
        state = read_index(fields.pop(0), self.count, number)
        choice = 0
        if self.nondeterministic:
            if not INDEX.fullmatch(fields[0]):
                raise ModelError(f"found {fields[0][:60]!r}; expected the number of a choice", line=number)
            choice = int(fields.pop(0))
        if self._actions.setdefault((state, choice), action) != action:
            what = "choice" if self.nondeterministic else "state"
            raise ModelError(f"the {what} has another action before", place=f"state {state}", line=number)
        target = read_index(fields[0], self.count, number)
        place = f"transition {state} -> {target}"
        if not self._rows[state]:
            self._first_lines[state] = number
        row = self._rows[state].setdefault(choice, {})
        if target in row:
            raise ModelError("the transition is given twice; expected it once", place=place, line=number)
        row[target] = self._value(fields[1], place, number)
        if self.partial:
            self._see(target, fields[2], number)

    def _see(self, state: int, observation: str, line: int) -> None:
        if not INDEX.fullmatch(observation):
            raise ModelError(f"found {observation[:60]!r}; expected the number of an observation", line=line)
        if self.seen[state] not in {None, observation}:
            raise ModelError("the state has another observation before", place=f"state {state}", line=line)
        self.seen[state] = observation

    def _value(self, text: str, place: str, line: int) -> fmpq:
        """Return a probability or a rate, or what stands for an interval."""
        ends = _INTERVAL.fullmatch(text)
        if ends is not None:
            low, high = (self._number(end, place, line) for end in ends.groups())
            if not low <= high <= 1:
                raise ModelError(
                    f"found {text[:60]!r}; expected an interval in [0, 1]", place=place, line=line
                )
            key = fmpq(len(self.around) + 2)
            self.around[key] = low, high
            return key
        value = self._number(text, place, line)
        if value == 0:
            raise ModelError("the probability is 0; expected a positive number", place=place, line=line)
        if value > 1 and self.nondeterministic:
            wrong = f"the probability is {shorten_rational(value)}; expected a number in [0, 1]"
            raise ModelError(wrong, place=place, line=line)
        self.timed |= value > 1
        return value

    def _number(self, written: str, place: str, line: int) -> fmpq:
        # PRISM writes .5 for 0.5.
        return self._numbers.from_text(f"0{written}" if written.startswith(".") else written, place, line)

    def choices(self) -> tuple[tuple[Choice, ...], ...]:
        """Return the choices of each state, in the order of their numbers; of rates the jumps."""
        return tuple(
            tuple(
                Choice(self._actions[state, number], jumps((made,))[0] if self.timed else made)
                for number, row in sorted(rows.items())
                for made in [tuple(sorted(row.items()))]
            )
            for state, rows in enumerate(self._rows)
        )

    def successors(self, state: int) -> set[tuple[int, int]]:
        """Return the choices of a state, each with its successors."""
        return {(choice, target) for choice, row in self._rows[state].items() for target in row}

    def make_uniform(self) -> None:
        """Give all states of a CTMC the largest exit rate, by self-loops."""
        rows = uniform([tuple(sorted(rows.get(0, {}).items())) for rows in self._rows])
        for state, row in enumerate(rows):
            self._rows[state] = {0: dict(row)}
            self._actions.setdefault((state, 0), "")

    def rates(self) -> list[str]:
        """Return the exit rates of the states of a CTMC, as texts."""
        return [format_rational(exit_rate(tuple(rows.get(0, {}).items()))) for rows in self._rows]

    def observations(self) -> list[str]:
        """Return the observations of the states of a POMDP.

        Raises ModelError if the file does not say one.
        """
        for state, seen in enumerate(self.seen):
            if seen is None:
                raise ModelError(
                    "no transition leads there, and so the file does not say its observation; expected one, "
                    "or --observe-variables",
                    place=f"state {state}",
                )
        return [seen or "" for seen in self.seen]

    def places(self, names: Sequence[str]) -> Iterator[tuple[str, int]]:
        """Return what errors of models name, and the line where it begins."""
        place = 0
        for name, line, rows in zip(names, self._first_lines, self._rows, strict=True):
            yield f"state {name!r}", line
            for _ in rows:
                place += 1
                yield transition_place(place, name), line
