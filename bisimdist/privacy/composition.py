"""Several independent runs of a protocol, as one chain."""

from __future__ import annotations

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.lmc import LMC

__all__ = ["longest_run", "repeated_runs"]


def longest_run(model: LMC, *starts: int) -> int:
    """Return after how many steps every run from the states rests in a state that it never leaves.

    Raises
    ------
    UsageError
        If some run goes on for ever.
    """
    longest: dict[int, int] = {}
    path: set[int] = set()
    for start in starts:
        stack = [(start, False)]
        while stack:
            state, left = stack.pop()
            targets = [target for target, _ in model.rows[state]]
            resting = targets == [state]
            if left:
                path.discard(state)
                longest[state] = 0 if resting else 1 + max(longest[target] for target in targets)
                continue
            if state in longest:
                continue
            if state in path:
                raise UsageError("some runs never come to rest; expected an acyclic chain with final states")
            path.add(state)
            stack.append((state, True))
            if not resting:
                for target in targets:
                    if target in path:
                        raise UsageError(
                            "some runs never come to rest; expected an acyclic chain with final states"
                        )
                    stack.append((target, False))
    return max(longest[start] for start in starts)


def repeated_runs(model: LMC, source: str, target: str, runs: int) -> LMC:
    """Return the chain of so many runs, one after the other, all with the same secret.

    Every run lasts as many steps as the longest one, and the labels count the runs, so that a trace is a
    sequence of independent traces of the chain.

    Parameters
    ----------
    model
        A chain whose runs all come to rest.
    source, target
        The two secrets.
    runs
        How many; at least 1.

    Returns
    -------
    LMC
        With the pair of the two secrets.

    Raises
    ------
    UsageError
        If there are less than one run, or a run goes on for ever.

    Examples
    --------
    >>> from bisimdist.models.library.figure1 import figure1
    >>> twice = repeated_runs(figure1(), "s0", "s1", 2)
    >>> twice.labels[twice.pairs[0][0]]
    'run 1: a'
    """
    if runs < 1:
        raise UsageError(f"{runs} runs were asked for; expected at least 1")
    secrets = (model.index(source), model.index(target))
    length = longest_run(model, *secrets) + 1
    names: dict[tuple[int, int, int, int], int] = {}
    labels: list[str] = []
    rows: list[tuple[tuple[int, fmpq], ...]] = []
    queue: list[tuple[int, int, int, int]] = []

    def number(run: int, step: int, secret: int, state: int) -> int:
        key = (run, step, secret, state)
        if key not in names:
            names[key] = len(names)
            labels.append(f"run {run}: {model.labels[state]}" if run <= runs else "end")
            queue.append(key)
        return names[key]

    pair = (number(1, 0, 0, secrets[0]), number(1, 0, 1, secrets[1]))
    for run, step, secret, state in queue:
        here = names[run, step, secret, state]
        if run > runs:
            rows.append(((here, fmpq(1)),))
        elif step + 1 < length:
            following = [(number(run, step + 1, secret, target), p) for target, p in model.rows[state]]
            rows.append(tuple(sorted(following)))
        elif run < runs:
            rows.append(((number(run + 1, 0, secret, secrets[secret]), fmpq(1)),))
        else:
            rows.append(((number(run + 1, 0, 0, 0), fmpq(1)),))
    states = tuple(
        f"end{step}"
        if run > runs
        else f"run{run}_step{step}_{(source, target)[secret]}_{model.states[state]}"
        for run, step, secret, state in names
    )
    if len(set(states)) < len(states):
        states = tuple(f"{k}_{name}" for k, name in enumerate(states))
    return LMC(states, tuple(labels), tuple(rows), (pair,))
