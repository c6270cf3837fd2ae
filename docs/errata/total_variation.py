"""CCP18, Proposition 4 and Theorem 3: single traces against sets of traces, by the definitions alone."""

from fractions import Fraction
from itertools import combinations

FIRST = {letter: Fraction(1, 4) for letter in "abcd"}
SECOND = {letter: Fraction(1, 4) for letter in "efgh"}
TRACES = sorted(FIRST | SECOND)


def difference(event: tuple[str, ...]) -> Fraction:
    """Return by how much the probabilities of a set of traces differ."""
    return abs(sum(FIRST.get(t, Fraction(0)) - SECOND.get(t, Fraction(0)) for t in event))


single = max(difference((trace,)) for trace in TRACES)
sets = max(difference(event) for size in range(9) for event in combinations(TRACES, size))
print(f"largest difference of values of linear formulae: {single}")
print(f"total variation: {sets}")
