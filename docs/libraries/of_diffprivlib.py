"""Mechanisms of diffprivlib, unmodified."""

from diffprivlib import mechanisms


def binary(x):
    return mechanisms.Binary(epsilon=1.0, value0="no", value1="yes").randomise("yes" if x else "no")


def geometric(x):
    return mechanisms.Geometric(epsilon=1.0).randomise(x)


def geometric_truncated(x):
    return mechanisms.GeometricTruncated(epsilon=1.0, lower=0, upper=10).randomise(x)


