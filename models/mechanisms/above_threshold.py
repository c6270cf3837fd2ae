"""Discrete Above Threshold as a hidden Markov model of two synchronised copies.

Source: LWZ22-conference Algorithm 3, LWZ22-conference Lemma 1, LWZ22-long Algorithm 4,
LWZ22-long Lemma 10.1.
"""

from __future__ import annotations

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber
from bisimdist.models.entries import EntryText
from bisimdist.models.hmm import HMM
from bisimdist.models.mechanisms.geometric import truncated_geometric

PADDING = ("spade", "heart", "diamond", "club")
"""What is observed after the end, each with the same probability and without any meaning."""


def above_threshold(
    *,
    levels: int = 3,
    threshold: int = 1,
    threshold_alpha: ExactNumber = "1/4",
    query_alpha: ExactNumber = "1/2",
) -> HMM:
    r"""Return Above Threshold on two neighbouring data sets at once.

    The mechanism adds noise to its threshold once; then, query after query, it adds noise to the result and
    answers bottom while that is below the noisy threshold, and top, which ends it, as soon as it is not.
    Which queries are asked is not known; hence each observed symbol ``ab`` stands for a query whose result
    is a on the first data set and b on the second, with :math:`|a - b| \le 1`, and all of them are equally
    probable. The two copies make the same symbols; the first uses a, the second b. A run is observed as
    ``start``, then a query and its answer in turn, then padding symbols for ever.

    ``levels``: results are 0, …, levels - 1; at least 2 and, so that a symbol has two digits, at most 10.
    ``threshold``: the threshold before noise, one of the possible results.
    ``threshold_alpha``, ``query_alpha``: the truncated geometric noise on the threshold and on each result.
    returns: with the distributions ``first`` and ``second`` and the pair of them. For the default levels the
        observations are start, bottom, top, 00, 01, 10, 11, 12, 21, 22 and four padding symbols.
    Sources: Dwork, Roth, "The Algorithmic Foundations of Differential Privacy", 2014, Section 3.6; LWZ22,
    Section 6.

    >>> model = above_threshold()
    >>> len(model), len(model.observations)
    (52, 14)
    """
    if not 2 <= levels <= 10:
        raise UsageError(f"there are {levels} levels; expected 2 to 10")
    if not 0 <= threshold < levels:
        raise UsageError(f"the threshold is {threshold}; expected an integer from 0 to {levels - 1}")
    on_threshold = truncated_geometric(threshold_alpha, levels)[threshold]
    on_query = truncated_geometric(query_alpha, levels)
    queries = [(a, b) for a in range(levels) for b in range(levels) if abs(a - b) <= 1]
    share = fmpq(1, len(queries))
    states: dict[str, dict[str, EntryText]] = {}
    rows: dict[str, dict[str, EntryText]] = {}
    for copy, side in enumerate(("first", "second")):
        states[f"{side}:start"] = {"start": 1}
        rows[f"{side}:start"] = {
            f"{side}:{noisy}:{a}{b}": chance * share
            for noisy, chance in enumerate(on_threshold)
            for a, b in queries
        }
        for noisy in range(levels):
            states[f"{side}:{noisy}:bottom"] = {"bottom": 1}
            rows[f"{side}:{noisy}:bottom"] = {f"{side}:{noisy}:{a}{b}": share for a, b in queries}
            for query in queries:
                name = f"{side}:{noisy}:{query[0]}{query[1]}"
                below = sum(on_query[query[copy]][:noisy], fmpq(0))
                states[name] = {f"{query[0]}{query[1]}": 1}
                rows[name] = {f"{side}:{noisy}:bottom": below, "top": 1 - below}
    states["top"] = {"top": 1}
    rows["top"] = {"end": 1}
    states["end"] = {symbol: fmpq(1, len(PADDING)) for symbol in PADDING}
    rows["end"] = {"end": 1}
    symbols = ["start", "bottom", "top", *(f"{a}{b}" for a, b in queries), *PADDING]
    return HMM.from_mappings(
        states,
        rows,
        {side: {f"{side}:start": 1} for side in ("first", "second")},
        observations=symbols,
        pairs=[("first", "second")],
    )
