"""LWZ22, long version, Examples 6.1 and 6.3: Noisy Max by enumeration of all noisy results."""

from fractions import Fraction
from itertools import product

F = Fraction
NOISE = ((F(2, 3), F(1, 6), F(1, 6)), (F(1, 3), F(1, 3), F(1, 3)), (F(1, 6), F(1, 6), F(2, 3)))
ALL = list(product(range(3), repeat=3))


def noisy_max(results, naive):
    """Return the probability of each answer, 1 to 3: the first of the largest, or any with equal chances."""
    chances = [F(0)] * 3
    for noisy in ALL:
        chance = NOISE[results[0]][noisy[0]] * NOISE[results[1]][noisy[1]] * NOISE[results[2]][noisy[2]]
        best = [k for k in range(3) if noisy[k] == max(noisy)]
        for k in best[:1] if naive else best:
            chances[k] += chance / (1 if naive else len(best))
    return chances


def worst(naive, queries_that_change):
    """Return the largest ratio over neighbours: every result differs by at most one, some number of them at all."""
    laws = {results: noisy_max(results, naive) for results in ALL}
    near = [
        (one, other)
        for one, other in product(ALL, repeat=2)
        if all(abs(a - b) <= 1 for a, b in zip(one, other))
        and sum(a != b for a, b in zip(one, other)) <= queries_that_change
    ]
    return max(p / q for one, other in near for p, q in zip(laws[one], laws[other]))


def contagious(naive, sick):
    """Return the law for two who share disease A; B and C are independent, all with probability 1/2."""
    halves = (F(1, 4), F(1, 2), F(1, 4))
    chances = [F(0)] * 3
    for b, c in product(range(3), repeat=2):
        for k, chance in enumerate(noisy_max((2 if sick else 0, b, c), naive)):
            chances[k] += halves[b] * halves[c] * chance
    return chances


print(f"answers of Noisy Max: {', '.join(str(k + 1) for k, p in enumerate(noisy_max((1, 1, 1), True)) if p)}")
print(f"naive, all queries may change: {worst(True, 3)}")
print(f"naive, one query changes: {worst(True, 1)}")
print(f"improved, all queries may change: {worst(False, 3)}")
for name, naive in (("Algorithm 2", True), ("Algorithm 3", False)):
    ratios = [max(p / q, q / p) for p, q in zip(contagious(naive, True), contagious(naive, False))]
    print(f"Example 6.3, {name}: " + ", ".join(f"answer {k + 1} has {r}" for k, r in enumerate(ratios)))
