"""The hidden Markov models of the case studies: geometric mechanism, diseases, Noisy Max, Above Threshold.

Source: LWZ22-conference Figure 1, LWZ22-conference Example 2, LWZ22-conference Example 3,
LWZ22-conference Example 4, LWZ22-conference Table 2, LWZ22-conference Figure 2, LWZ22-conference Example 5,
LWZ22-conference Example 6, LWZ22-long Figure 1, LWZ22-long Example 4.3, LWZ22-long Example 4.5,
LWZ22-long Table 2, LWZ22-long Figure 2, LWZ22-long Example 6.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise, product

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.entries import EntryText
from bisimdist.models.hmm import HMM
from bisimdist.models.library.parameters import Choice, Example, Integer, Rational
from bisimdist.models.mechanisms import above_threshold, geometric_mechanism, noisy_max
from bisimdist.models.mechanisms.mechanism import Mechanism, result_name
from bisimdist.models.pufferfish.scenario import DataSet, Scenario, product_prior

MAX_NEIGHBOURS = 20_000


def geometric(alpha: ExactNumber = "1/2", levels: int = 3) -> HMM:
    """Return the truncated geometric mechanism on counts; neighbours differ by one.

    The budget is exactly 1/alpha.

    Examples
    --------
    >>> geometric().pairs
    (('0', '1'), ('1', '2'))
    """
    mechanism = geometric_mechanism(alpha, levels)
    counts = [str(count) for count in range(levels)]
    return HMM.from_mappings(
        dict(mechanism.rows(range(levels))),
        {},
        {count: {count: 1} for count in counts},
        observations=mechanism.answers,
        pairs=list(pairwise(counts)),
    )


def _sick(data: DataSet) -> bool:
    return data[0] == 1


def _healthy(data: DataSet) -> bool:
    return data[0] == 0


def _sum(data: DataSet) -> int:
    return sum(int(value) for value in data)


def _anything(_: DataSet) -> bool:
    return True


def _somebody(data: DataSet) -> bool:
    return _sum(data) > 0


def contagious_disease(together: ExactNumber = 1, alpha: ExactNumber = "1/2") -> HMM:
    """Return the count of the sick in a couple who infect each other, with geometric noise.

    Both are in the same state of health with probability `together`; that is 1 in LWZ22 (long version,
    Example 4.4). What is to be hidden is whether the first of them is sick. The count alone would respect
    the budget 1/alpha; the correlation breaks it, but 1/alpha squared holds for every correlation.

    >>> contagious_disease().pairs
    (('couple|sick', 'couple|healthy'),)
    """
    same = to_fmpq(together)
    if not 0 <= same <= 1:
        raise UsageError(f"together is {same}; expected a number in [0, 1]")
    prior: dict[DataSet, EntryText] = {
        (a, b): (same if a == b else 1 - same) / 2 for a, b in product((0, 1), repeat=2)
    }
    return Scenario(
        priors={"couple": prior},
        secrets={"sick": _sick, "healthy": _healthy},
        pairs=(("sick", "healthy"),),
        query=_sum,
        mechanism=geometric_mechanism(alpha, 3),
    ).model()


_SECRETS: dict[str, dict[str, Callable[[DataSet], bool]]] = {
    "count": {"present": _somebody, "absent": _anything},
    "member": {"sick": _sick, "healthy": _healthy},
}


def independent_disease(members: int = 2, alpha: ExactNumber = "1/2", secret: str = "count") -> HMM:
    """Return the count of the sick among people who fall ill independently with unknown probability p.

    ``members``: how many people there are.
    ``alpha``: the parameter of the geometric noise.
    ``secret``: ``"count"`` as in LWZ22 (long version, Example 4.5): what is expected without the record of
        somebody who is ill, against what is expected with it, when the count is at least 1. ``"member"``:
        whether the first of them is ill.

    >>> independent_disease(secret="member").distribution("independent|healthy")
    ((0, RationalFunction('-p + 1')), (1, RationalFunction('p')))
    """
    if members < 1:
        raise UsageError(f"there are {members} members; expected at least 1")
    secrets = _SECRETS[secret]
    one, other = secrets
    return Scenario(
        priors={"independent": product_prior([{0: "1-p", 1: "p"}] * members, ["p"])},
        secrets=secrets,
        pairs=((one, other),),
        query=_sum,
        mechanism=geometric_mechanism(alpha, members + 1),
        parameters={"p": (0, 1)},
    ).model()


def _ties(variant: str) -> str:
    return "first" if variant == "naive" else "uniform"


def noisy_max_neighbours(
    variant: str = "improved", n: int = 3, levels: int = 3, adjacency: str = "all"
) -> HMM:
    """Return Noisy Max on every tuple of n results, with every neighbouring pair.

    ``variant``: ``"naive"`` (a tie goes to the first) or ``"improved"`` (a tie is broken uniformly).
    ``n``, ``levels``: how many queries, and how many values each may have.
    ``adjacency``: ``"all"``: every result may differ by one; ``"one"``: only one result does.
    Raises UsageError if there are more than 20000 pairs.

    >>> len(noisy_max_neighbours(n=2, adjacency="one").pairs)
    12
    """
    mechanism: Mechanism = noisy_max(n, levels=levels, ties=_ties(variant))
    steps = range(levels)
    near = sum(1 for a in steps for b in steps if abs(a - b) <= 1)
    if (near**n if adjacency == "all" else n * levels**n) > 2 * MAX_NEIGHBOURS:
        raise UsageError(f"n={n}, levels={levels} makes more than the {MAX_NEIGHBOURS} pairs allowed")
    results = list(product(steps, repeat=n))
    pairs = []
    for x in results:
        for y in product(*((v for v in (a, a + 1, a - 1) if 0 <= v < levels) for a in x)):
            distance = sum(a != b for a, b in zip(x, y, strict=True))
            if x < y and (adjacency == "all" or distance == 1):
                pairs.append((result_name(x), result_name(y)))
    names = [result_name(x) for x in results]
    return HMM.from_mappings(
        dict(mechanism.rows(results)),
        {},
        {name: {name: 1} for name in names},
        observations=mechanism.answers,
        pairs=pairs,
    )


_DISEASES = "ABCDE"


def noisy_max_diseases(
    variant: str = "improved",
    n: int = 3,
    prior: str = "independent",
    secret: str = "count",
    known: Mapping[str, ExactNumber] | None = None,
) -> HMM:
    """Return Noisy Max on how many of a couple have each of n diseases, of unknown probabilities pA, pB, ….

    ``variant``: as in `noisy_max_neighbours`.
    ``n``: how many diseases there are, 2 to 5.
    ``prior``: ``"independent"``: all infections are; ``"contagious"``: either both have disease A or none
        has.
    ``secret``: ``"count"`` as in LWZ22 (long version, Example 6.2): one of the couple has disease A, hence
        the count is at least 1, or has not, hence it is at most 1. ``"member"``: whether the first of them
        has it.
    ``known``: probabilities that are known after all, by name, as in LWZ22 (conference version, Example 6).
    Raises UsageError if there are too few or too many diseases, or a probability is named that there is not.

    >>> noisy_max_diseases(known={"pB": "1/2"}).parameter_names
    ('pA', 'pC')
    """
    if not 2 <= n <= len(_DISEASES):
        raise UsageError(f"there are {n} diseases; expected 2 to {len(_DISEASES)}")
    known = known or {}
    names = [f"p{letter}" for letter in _DISEASES[:n]]
    if strange := sorted(set(known) - set(names)):
        raise UsageError(
            f"{strange[0]} is no probability of {n} diseases; expected one of {', '.join(names)}"
        )
    values = [f"({known[name]})" if name in known else name for name in names]
    unknown = [name for name in names if name not in known]
    sick = values[0]
    both = prior == "contagious"
    first = product_prior([{0: f"1-{sick}", 1: sick}] * (1 if both else 2), unknown)
    others = product_prior([{0: f"(1-{p})^2", 1: f"2*{p}*(1-{p})", 2: f"{p}^2"} for p in values[1:]], unknown)
    joint = {
        (data[0], data[-1], *counts): chance * share
        for data, chance in first.items()
        for counts, share in others.items()
    }
    return Scenario(
        priors={prior: joint},
        secrets=_DISEASE_SECRETS[secret],
        pairs=(("sick", "healthy"),),
        query=_counts,
        mechanism=noisy_max(n, ties=_ties(variant)),
        parameters=dict.fromkeys(unknown, (0, 1)),
    ).model()


_DISEASE_SECRETS: dict[str, dict[str, Callable[[DataSet], bool]]] = {
    "count": {"sick": lambda data: _counts(data)[0] >= 1, "healthy": lambda data: _counts(data)[0] <= 1},
    "member": {"sick": _sick, "healthy": _healthy},
}


def _counts(data: DataSet) -> tuple[int, ...]:
    return (int(data[0]) + int(data[1]), *(int(value) for value in data[2:]))


def _noisy_max_diseases(variant: str, n: int, prior: str, secret: str, **chances: fmpq | None) -> HMM:
    known = {name: value for name, value in chances.items() if value is not None}
    return noisy_max_diseases(variant, n, prior, secret, known)


def _above_threshold(levels: int, threshold: int, noise: fmpq, query: fmpq) -> HMM:
    return above_threshold(levels=levels, threshold=threshold, threshold_alpha=noise, query_alpha=query)


_VARIANT = Choice("variant", "improved", ("naive", "improved"))
_SECRET = Choice("secret", "count", ("count", "member"))

EXAMPLES = (
    Example(
        "geometric",
        "a count with truncated geometric noise (hidden Markov model)",
        (Rational("alpha", fmpq(1, 2)), Integer("levels", 3, 2, 200)),
        geometric,
        papers=(
            "LWZ22-conference Figure 1",
            "LWZ22-conference Example 1",
            "LWZ22-conference Example 2",
            "LWZ22-long Figure 1",
            "LWZ22-long Example 4.1",
            "LWZ22-long Example 4.2",
        ),
    ),
    Example(
        "contagious-disease",
        "a noisy count of the sick in a couple who infect each other (hidden Markov model)",
        (Rational("together", fmpq(1)), Rational("alpha", fmpq(1, 2))),
        contagious_disease,
        papers=(
            "LWZ22-conference Example 3",
            "LWZ22-long Example 4.3",
            "LWZ22-long Example 4.4",
        ),
    ),
    Example(
        "independent-disease",
        "a noisy count of the sick, ill independently with unknown probability (hidden Markov model)",
        (Integer("members", 2, 1, 12), Rational("alpha", fmpq(1, 2)), _SECRET),
        independent_disease,
        papers=(
            "LWZ22-conference Example 4",
            "LWZ22-conference Table 1",
            "LWZ22-long Example 4.5",
            "LWZ22-long Table 1",
        ),
    ),
    Example(
        "noisy-max",
        "which of n noisy results is the largest, on all neighbours (hidden Markov model)",
        (
            _VARIANT,
            Integer("n", 3, 1, 7),
            Integer("levels", 3, 2, 10),
            Choice("adjacency", "all", ("all", "one")),
        ),
        noisy_max_neighbours,
        papers=(
            "LWZ22-conference Algorithm 2",
            "LWZ22-conference Figure 2",
            "LWZ22-long Algorithm 2",
            "LWZ22-long Algorithm 3",
            "LWZ22-long Figure 2",
            "LWZ22-long Example 6.1",
        ),
    ),
    Example(
        "noisy-max-diseases",
        "which of n diseases is the most frequent, of unknown probabilities (hidden Markov model)",
        (
            _VARIANT,
            Integer("n", 3, 2, len(_DISEASES)),
            Choice("prior", "independent", ("independent", "contagious")),
            _SECRET,
            *(Rational(f"p{letter}", None) for letter in _DISEASES),
        ),
        _noisy_max_diseases,
        papers=(
            "LWZ22-conference Example 5",
            "LWZ22-conference Example 6",
            "LWZ22-long Example 6.2",
            "LWZ22-long Example 6.3",
        ),
    ),
    Example(
        "above-threshold",
        "queries answered above or below a noisy threshold, two copies (hidden Markov model)",
        (
            Integer("levels", 3, 2, 10),
            Integer("threshold", 1, 0, 9),
            Rational("noise", fmpq(1, 4)),
            Rational("query", fmpq(1, 2)),
        ),
        _above_threshold,
        papers=(
            "LWZ22-conference Algorithm 3",
            "LWZ22-conference Figure 3",
            "LWZ22-long Algorithm 4",
            "LWZ22-long Figure 3",
        ),
    ),
)
