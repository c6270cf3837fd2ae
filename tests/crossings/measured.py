"""Every row of the cross-check against the law of traces, or between two others that bound it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

__all__ = ["false_measures", "true_measures"]

Law = Mapping[tuple[str, ...], Fraction]
Range = tuple[float, float]
SLACK = 1e-7

EQUAL = (
    ("d_plus", "bd_1"),
    ("bd_solver", "bd"),
    ("chi2_profile", "chi2"),
    ("kl_profile", "kl"),
    ("epsilon", "tv_x_length"),
    ("smt", "tv_x_length"),
)
"""Measures that two engines find."""

BETWEEN = {
    "gain": ("", "delta"),
    "gain_trace": ("", "delta"),
    "lbd_quotient": ("delta", "bd"),
    "lbd": ("delta", "bd"),
    "greatest": ("delta", "bd"),
    "bd_quotient": ("delta", "bd"),
    "lbd_1": ("delta_1", "bd_1"),
    "d_plus_depth": ("tv", "bd_1"),
    "d_half": ("", "bd_1"),
    "l_x_depth": ("", ""),
    "l_x": ("tv_x_hidden", ""),
    "m_A": ("tv_x_hidden", ""),
    "m_A_quotient": ("tv_x_hidden", ""),
    "m_D": ("tv_x_hidden", ""),
    "m_D_quotient": ("tv_x_hidden", ""),
    "all_lengths": ("tv_x_length", ""),
    "not_bisimilar": ("traces_differ", ""),
    "kl_length": ("", "kl"),
    "fixed": ("", "delta"),
    "delta_rounds": ("", "delta"),
}
"""By measure one that is at most as large, and one that is at least as large; none where nothing is said."""


def true_measures(
    length: int,
    alpha: Fraction,
    law: tuple[Law, Law] | None,
    asked: Mapping[str, float],
    bounds: Mapping[str, Callable[[Fraction], Range] | None],
) -> Mapping[str, Range]:
    """Return by measure between what it lies; `bounds` are delta and bd, each as a function of alpha."""
    true: dict[str, Range] = {name: (value, value) for name, value in asked.items()}
    for name, of in bounds.items():
        true |= {} if of is None else {name: of(alpha), f"{name}_1": of(Fraction(1))}
    if law is not None:
        true |= {name: (value, value) for name, value in from_law(law, length).items()}
    for one, other in EQUAL:
        true |= {one: true[other]} if other in true else {}
    if "delta_1" in true:
        true["min_entropy"] = (1 + true["delta_1"][0], 1 + true["delta_1"][1])
    for name, (below, above) in BETWEEN.items():
        less, more = true.get(below), true.get(above)
        true.setdefault(name, (0.0 if less is None else less[0], math.inf if more is None else more[1]))
    return true


def false_measures(measures: Iterable[Mapping[str, Any]], true: Mapping[str, Range]) -> Iterator[str]:
    """Hold each measure against what is true of it."""
    for measure in measures:
        name = measure["name"]
        if name not in true:
            continue
        low, high = true[name]
        lower, upper = (math.inf if measure[key] == "inf" else float(Fraction(measure[key])) for key in SIDES)
        fits = lower <= high * (1 + SLACK) + SLACK and upper >= low * (1 - SLACK) - SLACK
        yield "" if fits else f"{name} is {lower} to {upper}, where {low} to {high} is true"


SIDES = ("lower", "upper")


def from_law(words: tuple[Law, Law], length: int) -> Mapping[str, float]:
    """Return the measures that the probabilities of words say."""
    first, second = words
    every = first.keys() | second.keys()
    both = {word: (float(first.get(word, 0)), float(second.get(word, 0))) for word in every}

    def ratio(chosen: Callable[[tuple[str, ...]], bool]) -> float:
        values = [1.0]
        for word, (p, q) in both.items():
            if chosen(word):
                values.append(math.inf if not p or not q else max(p / q, q / p))
        return max(values)

    shown = any(word[-1] == "end" for word in both)
    whole = [
        both[word] for word in both if (word[-1] == "end" if shown else len(word) == max(map(len, both)))
    ]
    ways = [whole, [(q, p) for p, q in whole]]

    def largest(term: Callable[[float, float], float]) -> float:
        return max(sum(math.inf if not q else term(p, q) for p, q in way if p) for way in ways)

    return {
        "tv_x": ratio(lambda word: True),
        "tv_x_hidden": ratio(lambda word: word[-1] != "end"),
        "tv_x_length": ratio(lambda word: len(word) <= length),
        "tv": max(abs(p - q) for p, q in both.values()),
        "renyi_2": largest(lambda p, q: p * p / q),
        "chi2": largest(lambda p, q: p * p / q) - 1,
        "kl": largest(lambda p, q: p * math.log(p / q)),
        "hellinger": 1 - sum(math.sqrt(p * q) for p, q in whole),
        "traces_differ": float(any(p != q for p, q in both.values())),
    }
