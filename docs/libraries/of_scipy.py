"""Laws of SciPy, drawn by their `rvs`."""

from scipy import stats


def bernoulli(x):
    """Randomised response by `bernoulli`, truth with probability 3/4."""
    return int(x) if stats.bernoulli.rvs(0.75) else 1 - int(x)


def laplace(x):
    """A count with Laplace noise of scale 1, rounded."""
    return round(float(x + stats.laplace.rvs(0, 1)))
