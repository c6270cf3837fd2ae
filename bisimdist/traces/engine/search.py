"""The exact least budget of a pair at a length, without enumerating the sequences.

Newton's method on the ratio: as long as some sequence exceeds the present ratio, take the largest ratio among
those found; there are finitely many ratios and each step raises it, so the last step proves that none is
above. Each step is one run over signed information states (`bisimdist.traces.engine.layers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import LimitError, UsageError
from bisimdist.models.hmm import HMM
from bisimdist.progress import NEVER, UNBOUNDED, Deadline, Limits
from bisimdist.traces.engine.beam import guessed_words
from bisimdist.traces.engine.forward import word_probability
from bisimdist.traces.engine.integers import IntegerModel
from bisimdist.traces.engine.layers import LayerProof, Word, decide_layers, signed_start
from bisimdist.traces.engine.local import improved_word

MAX_SUPPORTS = 20_000
GUESSES = 2

ROUNDINGS = (96, 512, None)
"""To how many bits vectors are rounded, one attempt after the other; None: not at all."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A sequence that is more than `ratio` times as probable from one distribution as from another."""

    first: str
    second: str
    word: Word  # the observations, as indices
    probabilities: tuple[fmpq, fmpq]  # its exact probabilities from the first and from the second

    @property
    def ratio(self) -> fmpq | None:
        """The quotient of the two, None where it is infinite."""
        above, below = self.probabilities
        return None if below == 0 else above / below

    def exceeds(self, ratio: fmpq) -> bool:
        """Tell whether the quotient is more than a ratio."""
        return bool(self.probabilities[0] > ratio * self.probabilities[1])


@dataclass(frozen=True, slots=True)
class DirectedProof:
    """A proof that no sequence is more than `ratio` times as probable from `first` as from `second`."""

    first: str
    second: str
    ratio: fmpq
    proof: LayerProof


@dataclass(frozen=True, slots=True)
class LeastRatio:
    """The least budget of a pair: the value, a sequence that attains it, and why none is above."""

    ratio: fmpq | None  # the value, None where it is infinite
    witness: Violation  # a sequence, in the direction in which it attains the value
    # for each direction a proof for a ratio of at most the value; empty where it is infinite
    proofs: tuple[DirectedProof, ...]
    rounds: int


def _measured(model: HMM, first: str, second: str, word: Word) -> Violation:
    above, below = (word_probability(model, name, word) for name in (first, second))
    return Violation(first, second, word, (above, below))


def possible_word(model: IntegerModel, starts: Sequence[Sequence[fmpq]]) -> Word | None:
    """Return a sequence of the length in question that is possible from one of the distributions."""
    current = {s for start in starts for s, p in enumerate(start) if p and s in model.live[0]}
    word: list[int] = []
    for position in range(model.length):
        makers = [(o, {s for s, _ in model.emissions[o]} & current) for o in range(model.symbols)]
        symbol, makes = max(makers, key=lambda item: len(item[1]))
        if not makes:
            return tuple(word) if model.up_to and word else None
        word.append(symbol)
        if position < model.length - 1:
            current = {t for s in makes for t, _ in model.steps[s] if t in model.live[position + 1]}
    return tuple(word)


def impossible_under_second(
    model: IntegerModel, first: Sequence[fmpq], second: Sequence[fmpq], *, deadline: Deadline = NEVER
) -> Word | None:
    """Return a sequence that is possible from the first distribution but not from the second.

    Only supports are followed; a pair of supports (A, B) needs no successors where another one has a larger
    A and a smaller B.
    """

    def mask(states: Sequence[int] | frozenset[int]) -> int:
        return sum(1 << s for s in states)

    live = [mask(states) for states in model.live]
    makers = [mask([s for s, _ in row]) for row in model.emissions]
    steps = [mask([t for t, _ in row]) for row in model.steps]

    def image(states: int) -> int:
        result = 0
        while states:
            low = states & -states
            result |= steps[low.bit_length() - 1]
            states ^= low
        return result

    start = (
        mask([s for s, p in enumerate(first) if p]) & live[0],
        mask([s for s, p in enumerate(second) if p]) & live[0],
    )
    layer: dict[tuple[int, int], Word] = {start: ()}
    for position in range(model.length):
        following: dict[tuple[int, int], Word] = {}
        for (ahead, behind), word in layer.items():
            deadline.check()
            for symbol, maker in enumerate(makers):
                one, two = ahead & maker, behind & maker
                if not one:
                    continue
                if (model.up_to or position == model.length - 1) and not two:
                    return (*word, symbol)
                if position < model.length - 1:
                    moved = (image(one) & live[position + 1], image(two) & live[position + 1])
                    if moved[0]:
                        following.setdefault(moved, (*word, symbol))
        layer = {}
        for pair in sorted(following, key=lambda p: (-p[0].bit_count(), p[1].bit_count())):
            if not any(a | pair[0] == a and b & pair[1] == b for a, b in layer):
                layer[pair] = following[pair]
            if len(layer) > MAX_SUPPORTS:
                raise LimitError(f"more than {MAX_SUPPORTS} supports at position {position + 1}")
    return None


def decide_ratio(  # noqa: PLR0913
    model: HMM,
    pair: tuple[str, str],
    ratio: fmpq,
    length: int,
    *,
    up_to: bool = False,
    limits: Limits = UNBOUNDED,
) -> Violation | tuple[DirectedProof, ...]:
    """Return a sequence that violates a budget in one of the two directions, or proofs that none does.

    ``length``, ``up_to``: the length of the sequences, and whether shorter ones count too.
    Raises UsageError if no sequence of the length is possible from either distribution: every answer would be
    vacuous.
    """
    resolved = IntegerModel.from_model(model, length, up_to=up_to)
    starts = {name: resolved.start(model.distribution(name)) for name in pair}
    _check_possible(resolved, starts, pair, length)
    search = _Search(model, resolved, starts, limits)
    directions = [pair, pair[::-1]] if pair[0] != pair[1] else [pair]
    guesses = [search.guessed(first, second) for first, second in directions]
    for guess in guesses:
        if guess is not None and guess.exceeds(ratio):
            return guess
    proofs = []
    for (first, second), guess in zip(directions, guesses, strict=True):
        found = search.layers(first, second, ratio, () if guess is None else guess.word)
        if not isinstance(found, LayerProof):
            return _worst(model, first, second, found)
        proofs.append(DirectedProof(first, second, ratio, found))
    return tuple(proofs)


@dataclass(frozen=True, slots=True)
class _Search:
    """A question, resolved into integers."""

    model: HMM
    resolved: IntegerModel
    starts: dict[str, tuple[fmpq, ...]]
    limits: Limits

    def guessed(self, first: str, second: str) -> Violation | None:
        """Return the best sequence that a beam search and exchanges find."""
        best: Violation | None = None
        ahead, behind = self.starts[first], self.starts[second]
        for word in guessed_words(self.resolved, ahead, behind, deadline=self.limits.deadline)[:GUESSES]:
            found = _measured(self.model, first, second, word)
            if found.ratio is not None:
                better = improved_word(self.resolved, ahead, behind, word, deadline=self.limits.deadline)
                found = _measured(self.model, first, second, better)
            if found.ratio is None:
                if found.probabilities[0] > 0:
                    return found
            elif best is None or best.ratio is None or found.ratio > best.ratio:
                best = found
        return best

    def layers(self, first: str, second: str, ratio: fmpq, near: Word) -> tuple[Word, ...] | LayerProof:
        """Return violating words or a proof; in short integers where that is enough."""
        start = signed_start(self.starts[first], self.starts[second], ratio)
        found: tuple[Word, ...] | LayerProof = ()
        for bits in ROUNDINGS:
            found = decide_layers(self.resolved, start, limits=self.limits, bits=bits, exact_word=near)
            if isinstance(found, LayerProof):
                return found
            true = tuple(w for w in found if _measured(self.model, first, second, w).exceeds(ratio))
            if true:
                return true
        return found


def _check_possible(
    resolved: IntegerModel, starts: dict[str, tuple[fmpq, ...]], pair: tuple[str, str], length: int
) -> Word:
    word = possible_word(resolved, list(starts.values()))
    if word is None:
        raise UsageError(
            f"no sequence of {length} observations is possible from {pair[0]!r} or {pair[1]!r}: "
            "every budget would hold, and mean nothing"
        )
    return word


def _worst(model: HMM, first: str, second: str, words: Sequence[Word]) -> Violation:
    best: Violation | None = None
    for word in words:
        found = _measured(model, first, second, word)
        if found.ratio is None:
            return found
        if best is None or best.ratio is None or found.ratio > best.ratio:
            best = found
    if best is None:
        raise UsageError("there is no word to choose from")
    return best


def least_ratio(  # noqa: PLR0913
    model: HMM,
    pair: tuple[str, str],
    length: int,
    *,
    up_to: bool = False,
    start: Word = (),
    limits: Limits = UNBOUNDED,
) -> LeastRatio:
    """Return the least budget that holds for a pair at a length, in both directions.

    ``start``: a sequence whose ratio is looked at first. Other parameters, and errors, are those of
        `decide_ratio`.

    >>> from bisimdist.models.library.hidden_markov import geometric
    >>> least_ratio(geometric(), ("0", "1"), 1).ratio
    2
    """
    resolved = IntegerModel.from_model(model, length, up_to=up_to)
    starts = {name: resolved.start(model.distribution(name)) for name in pair}
    some = start or _check_possible(resolved, starts, pair, length)
    directions = [pair, pair[::-1]] if pair[0] != pair[1] else [pair]
    for first, second in directions:
        word = impossible_under_second(resolved, starts[first], starts[second], deadline=limits.deadline)
        if word is not None:
            return LeastRatio(None, _measured(model, first, second, word), (), 0)
    witness = _measured(model, *pair, some)
    ratio = witness.ratio or fmpq(0)
    if ratio < 1:
        witness = _measured(model, pair[1], pair[0], some)
        ratio = witness.ratio or fmpq(1)
    search = _Search(model, resolved, starts, limits)
    near: dict[str, Word] = {}
    for first, second in directions:
        guess = search.guessed(first, second)
        near[first] = () if guess is None else guess.word
        if guess is not None and guess.ratio is not None and guess.ratio > ratio:
            witness, ratio = guess, guess.ratio
    rounds = 0
    proofs: list[DirectedProof] = []
    for first, second in directions:
        while True:
            rounds += 1
            decided = search.layers(first, second, ratio, near[first])
            if isinstance(decided, LayerProof):
                proofs.append(DirectedProof(first, second, ratio, decided))
                break
            witness = _worst(model, first, second, decided)
            word = improved_word(
                resolved, starts[first], starts[second], witness.word, deadline=limits.deadline
            )
            witness = _worst(model, first, second, (witness.word, word))
            ratio = witness.ratio if witness.ratio is not None else ratio
            near[first] = witness.word
    return LeastRatio(ratio, witness, tuple(proofs), rounds)
