"""Rewards beside PRISM's explicit transitions: of states (`.srew`) and of transitions (`.trew`).

See the PRISM manual, appendix "Explicit Model Files".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flint import fmpq

from bisimdist.errors import ModelError
from bisimdist.exact.rational import format_rational
from bisimdist.models.io.expect import ProbabilityReader
from bisimdist.models.io.prism_transitions import INDEX, Transitions, content, read_index

_REWARD = re.compile(r'#\s*Reward structure:?\s+"([^"]*)"')


def read_rewards(text: str, count: int) -> tuple[str, list[str]]:
    """Return the name of the rewards of a `.srew` file (``reward`` where it has none), and the rewards."""
    lines = content(text)
    announced = _announced(lines, [count], "states")
    rewards: dict[int, str] = {}
    numbers = ProbabilityReader(bounded=False)
    for number, line in lines:
        fields = line.split()
        if len(fields) != 2:
            raise ModelError(
                f"found {line[:60]!r}; expected a state and its reward, such as 0 2.5", line=number
            )
        state = read_index(fields[0], count, number)
        if state in rewards:
            raise ModelError(
                "the reward is given twice; expected it once", place=f"state {state}", line=number
            )
        rewards[state] = format_rational(numbers.from_text(fields[1], f"state {state}", number))
    _check_number(announced, len(rewards))
    return _name(text), [rewards.get(state, "0") for state in range(count)]


def read_transition_rewards(text: str, transitions: Transitions) -> tuple[str, list[str]]:
    """Return the name of the rewards of a `.trew` file, and for each state that of all its transitions.

    Raises ModelError if two transitions of a state have different rewards: only those of states are seen.
    """
    lines = content(text)
    deterministic = not transitions.nondeterministic
    sizes = [transitions.count] if deterministic else [transitions.count, transitions.chosen]
    announced = _announced(lines, sizes, "states" if deterministic else "states and choices")
    rewards: list[dict[tuple[int, int], fmpq]] = [{} for _ in range(transitions.count)]
    numbers = ProbabilityReader(bounded=False)
    for number, line in lines:
        fields = line.split()
        if len(fields) not in ((3, 4) if deterministic else (4, 5)):
            expected = "a transition and its reward, such as 0 1 2.5"
            raise ModelError(f"found {line[:60]!r}; expected {expected}", line=number)
        state, choice, target = (
            fields[0],
            "0" if deterministic else fields[1],
            fields[1 + (not deterministic)],
        )
        source = read_index(state, transitions.count, number)
        key = (read_index(choice, transitions.chosen, number), read_index(target, transitions.count, number))
        place = f"state {source}"
        if key not in transitions.successors(source) or key in rewards[source]:
            raise ModelError(
                f"found {line[:60]!r}; expected a transition of the .tra file, once", place=place, line=number
            )
        rewards[source][key] = numbers.from_text(fields[2 + (not deterministic)], place, number)
    _check_number(announced, sum(map(len, rewards)))
    found = []
    for index, given in enumerate(rewards):
        values = {given.get(key, fmpq(0)) for key in transitions.successors(index)}
        if len(values) > 1:
            raise ModelError(
                "the rewards of its transitions differ; expected one reward for all of them",
                place=f"state {index}",
            )
        found.append(format_rational(values.pop()))
    return _name(text), found


def _name(text: str) -> str:
    named = _REWARD.search(text)
    return named[1] if named else "reward"


def _announced(lines: Iterator[tuple[int, str]], sizes: list[int], of: str) -> int:
    """Return how many rewards the first line announces, behind sizes of the model."""
    number, header = next(lines, (1, ""))
    *before, last = header.split() or [""]
    if before != list(map(str, sizes)) or not INDEX.fullmatch(last):
        known = " and ".join(map(str, sizes))
        raise ModelError(
            f"the first line is {header[:60]!r}; expected the numbers of {of} ({known}) and of rewards",
            line=number,
        )
    return int(last)


def _check_number(announced: int, count: int) -> None:
    if count != announced:
        raise ModelError(f"{announced} rewards are announced and {count} follow; expected as many of each")
