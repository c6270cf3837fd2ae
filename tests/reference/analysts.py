"""Interactive models by brute force: every analyst, every trace, in plain fractions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

from bisimdist.models.interactive import Interactive

__all__ = ["Analyst", "analysts", "best_adaptive", "best_fixed", "gain", "sequence_as_analyst"]

Analyst = tuple[str, Mapping[str, "Analyst"]] | None
"""After what it has seen: None stops; else what it asks, and by label that answers what it is then."""


def _rows(model: Interactive) -> dict[str, dict[str, dict[str, Fraction]]]:
    return {
        state: {
            action: {model.states[t]: Fraction(int(p.p), int(p.q)) for t, p in row} for action, row in moves
        }
        for state, moves in zip(model.states, model.moves, strict=True)
    }


def _offers(model: Interactive) -> dict[str, tuple[str, ...]]:
    return {
        label: tuple(action for action, _ in moves)
        for label, moves in zip(model.labels, model.moves, strict=True)
    }


def analysts(model: Interactive, label: str, rounds: int) -> Iterator[Analyst]:
    """Yield every deterministic analyst of so many rounds who sees a label now."""
    offers = _offers(model)
    yield None
    if rounds:
        for action in offers[label]:
            after = [list(analysts(model, seen, rounds - 1)) for seen in offers]
            for chosen in product(*after):
                yield action, dict(zip(offers, chosen, strict=True))


def traces(model: Interactive, analyst: Analyst, start: str) -> dict[tuple[str, ...], Fraction]:
    """Return how probable each sequence of labels is that an analyst may see after the first."""
    labels = dict(zip(model.states, model.labels, strict=True))
    rows = _rows(model)
    found: dict[tuple[str, ...], Fraction] = {}
    stack: list[tuple[Analyst, str, tuple[str, ...], Fraction]] = [(analyst, start, (), Fraction(1))]
    while stack:
        plan, state, seen, mass = stack.pop()
        if plan is None:
            found[seen] = found.get(seen, Fraction(0)) + mass
            continue
        action, after = plan
        for target, p in rows[state][action].items():
            stack.append((after[labels[target]], target, (*seen, labels[target]), mass * p))
    return found


def gain(model: Interactive, analyst: Analyst, s: str, t: str, alpha: Fraction) -> Fraction:
    """Return the best nu_s(E) - alpha nu_t(E) of an analyst: the sum of what is positive."""
    here, there = traces(model, analyst, s), traces(model, analyst, t)
    return sum(
        (max(Fraction(0), p - alpha * there.get(seen, Fraction(0))) for seen, p in here.items()), Fraction(0)
    )


def best_adaptive(model: Interactive, s: str, t: str, alpha: Fraction, rounds: int) -> Fraction:
    """Return lv_adv from s against t: the best of all analysts."""
    label = model.labels[model.index(s)]
    assert label == model.labels[model.index(t)]
    return max(gain(model, analyst, s, t, alpha) for analyst in analysts(model, label, rounds))


def sequence_as_analyst(model: Interactive, label: str, sequence: Sequence[str]) -> Analyst:
    """Return who asks a fixed sequence, and ends where the next of it is not on offer."""
    offers = _offers(model)
    if not sequence or sequence[0] not in offers[label]:
        return None
    return sequence[0], {seen: sequence_as_analyst(model, seen, sequence[1:]) for seen in offers}


def best_fixed(model: Interactive, s: str, t: str, alpha: Fraction, rounds: int) -> Fraction:
    """Return the best of all sequences of actions that are fixed beforehand."""
    label = model.labels[model.index(s)]
    return max(
        gain(model, sequence_as_analyst(model, label, sequence), s, t, alpha)
        for sequence in product(model.actions, repeat=rounds)
    )
