"""LWZ22, long version, Table 2 and Section 7.2.2: printed sequences of Above Threshold, run by run."""

from fractions import Fraction

F = Fraction
HALF = ((F(2, 3), F(1, 6), F(1, 6)), (F(1, 3), F(1, 3), F(1, 3)), (F(1, 6), F(1, 6), F(2, 3)))
QUARTER = ((F(4, 5), F(3, 20), F(1, 20)), (F(1, 5), F(3, 5), F(1, 5)), (F(1, 20), F(3, 20), F(4, 5)))


def probability(results, threshold):
    """Return the probability that all answers but the last are bottom, and the last is top."""
    total = F(0)
    for noisy, chance in enumerate(QUARTER[threshold]):
        for place, result in enumerate(results):
            below = sum(HALF[result][:noisy], F(0))
            chance *= below if place < len(results) - 1 else 1 - below
        total += chance
    return total


def ratios(queries):
    """Return the ratio for each threshold."""
    one, other = ([int(query[side]) for query in queries] for side in (0, 1))
    return [probability(one, t) / probability(other, t) for t in range(3)]


print("01 12 12 12 21:", *ratios(["01", "12", "12", "12", "21"]))
print("01 12 12 12 01:", *ratios(["01", "12", "12", "12", "01"]))
print("12 12 12 12 10:", *ratios(["12", "12", "12", "12", "10"]))
