"""Guessing sequences of a large ratio in binary floats: a beam search whose results are measured exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from flint import fmpq

from bisimdist.exact.doubles import as_double
from bisimdist.models.hmm import HMM
from bisimdist.progress import NEVER, Deadline
from bisimdist.traces.engine.integers import IntegerModel
from bisimdist.traces.engine.layers import Word

WIDTH = 48
TINY = 1e-290

_Floats = npt.NDArray[np.float64]


def promising_words(  # noqa: PLR0913
    model: HMM,
    pair: tuple[str, str],
    length: int,
    *,
    up_to: bool,
    best: int,
    width: int = WIDTH,
    deadline: Deadline = NEVER,
) -> Iterator[Word]:
    """Yield the best guesses for a pair of distributions, one direction first; see `guessed_words`."""
    resolved = IntegerModel.from_model(model, length, up_to=up_to)
    first, second = (resolved.start(model.distribution(name)) for name in pair)
    for here, there in ((first, second), (second, first)):
        yield from guessed_words(resolved, here, there, width=width, deadline=deadline)[:best]


def guessed_words(
    model: IntegerModel,
    first: Sequence[fmpq],
    second: Sequence[fmpq],
    *,
    width: int = WIDTH,
    deadline: Deadline = NEVER,
) -> tuple[Word, ...]:
    """Return sequences that are, as far as floats tell, much more probable from the first distribution.

    Half of the beam are the prefixes with the largest ratio so far, half those with the largest ratio in a
    single state, which is what the rest of a sequence can still reach.

    ``width``: how many prefixes are followed.
    returns: at most `width` sequences, the most promising first; of all lengths where shorter ones count.
    """
    steps = np.zeros((model.size, model.size))
    for state, row in enumerate(model.steps):
        total = sum(weight for _, weight in row)
        for target, weight in row:
            steps[state, target] = weight / total
    emissions = np.zeros((model.symbols, model.size))
    for symbol, made in enumerate(model.emissions):
        for state, weight in made:
            emissions[symbol, state] = weight
    emissions /= emissions.sum(axis=0).max()
    ahead = np.array([[as_double(p) for p in first]])
    behind = np.array([[as_double(p) for p in second]])
    words: list[Word] = [()]
    finished: list[tuple[float, Word]] = []
    for position in range(model.length):
        deadline.check()
        live = np.array([state in model.live[position] for state in range(model.size)])
        ahead, behind = ahead * live, behind * live
        one = (ahead[:, None, :] * emissions[None]).reshape(-1, model.size)
        two = (behind[:, None, :] * emissions[None]).reshape(-1, model.size)
        words = [(*word, symbol) for word in words for symbol in range(model.symbols)]
        sums = one.sum(axis=1)
        ratio = np.where(sums > 0, sums / np.maximum(two.sum(axis=1), TINY), -1.0)
        if model.up_to or position == model.length - 1:
            best = np.argsort(-ratio, kind="stable")[:width]
            finished += [(float(ratio[k]), words[k]) for k in best if ratio[k] > 0]
        chosen = _chosen(one, two, ratio, width)
        words = [words[k] for k in chosen]
        scale = (one[chosen].sum(axis=1) + two[chosen].sum(axis=1))[:, None] + TINY
        ahead, behind = (one[chosen] / scale) @ steps, (two[chosen] / scale) @ steps
    finished.sort(key=lambda item: -item[0])
    return tuple(word for _, word in finished[:width])


def _chosen(one: _Floats, two: _Floats, ratio: _Floats, width: int) -> list[int]:
    highest = np.where(one > 0, one / np.maximum(two, TINY), -1.0).max(axis=1)
    picked: dict[int, None] = {}
    for score in (ratio, highest):
        for k in np.argsort(-score, kind="stable")[: width // 2]:
            if ratio[k] > 0:
                picked.setdefault(int(k))
    return list(picked)
