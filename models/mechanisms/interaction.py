"""Mechanisms that are asked again and again: adaptive neighbouring queries, the sparse vector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber
from bisimdist.models.interactive import Interactive
from bisimdist.models.mechanisms.geometric import truncated_geometric


def neighbouring_queries(
    mechanism: Interactive, start: str, queries: Iterable[tuple[str, str]]
) -> Interactive:
    """Return the two worlds of an analyst who chooses pairs of neighbouring queries.

    ``mechanism``: what answers; its actions are queries.
    ``start``: the state in which it begins.
    ``queries``: neighbouring queries (q, q'): the action ``q|q'`` asks q in the first world and q' in the
        second. It is on offer where both queries are.
    returns: with the states ``0:i`` and ``1:i`` for every state i, and the pair of the two starts.
    Raises UsageError if a query is no action of the mechanism.

    >>> rows = {"s": {"0": {"y": "1/4", "n": "3/4"}, "1": {"y": "3/4", "n": "1/4"}}}
    >>> model = Interactive.from_mappings({"s": "a", "y": "yes", "n": "no"}, rows)
    >>> worlds = neighbouring_queries(model, "s", [("0", "1"), ("1", "0")])
    >>> worlds.actions, worlds.row(worlds.index("1:s"), "0|1")
    (('0|1', '1|0'), ((4, 3/4), (5, 1/4)))
    """
    mechanism.index(start)
    asked = list(queries)
    for query in {query for pair in asked for query in pair}:
        if query not in mechanism.actions:
            raise UsageError(f"{query!r} is no query; expected one of {', '.join(mechanism.actions)}")
    size = len(mechanism)
    moves = []
    for world in (0, 1):
        for state in range(size):
            rows = dict(mechanism.moves[state])
            offered = [(f"{q}|{r}", rows[(q, r)[world]]) for q, r in asked if q in rows and r in rows]
            moves.append(
                tuple((action, tuple((t + world * size, p) for t, p in row)) for action, row in offered)
            )
    names = tuple(f"{world}:{name}" for world in (0, 1) for name in mechanism.states)
    first = mechanism.index(start)
    return Interactive(names, mechanism.labels * 2, tuple(moves), ((first, size + first),))


def sparse_vector(
    *,
    levels: int = 3,
    threshold: int = 1,
    threshold_alpha: ExactNumber = "1/4",
    query_alpha: ExactNumber = "1/2",
    answers: int = 1,
) -> Interactive:
    """Return the sparse vector technique, whose queries have results 0, …, levels - 1.

    Noise is added to the threshold once. Each query is answered above or below: whether its result with fresh
    noise is at least the noisy threshold; after so many answers above it ends.

    ``levels``, ``threshold``, ``threshold_alpha``, ``query_alpha``: as in
        `bisimdist.models.mechanisms.above_threshold.above_threshold`.
    ``answers``: how many answers above there are; one is Above Threshold.

    >>> sparse_vector().actions
    ('0', '1', '2')
    """
    if not 2 <= levels <= 10 or not 0 <= threshold < levels or answers < 1:
        raise UsageError("expected 2 to 10 levels, a threshold that is one of them, and at least 1 answer")
    on_threshold = truncated_geometric(threshold_alpha, levels)[threshold]
    on_query = truncated_geometric(query_alpha, levels)
    states = {"start": "start"}
    rows: dict[str, dict[str, dict[str, ExactNumber]]] = {}
    first: dict[str, dict[str, fmpq]] = {str(result): {} for result in range(levels)}
    for noisy, chance in enumerate(on_threshold):
        for left in range(answers, 0, -1):
            after = f"{noisy}:above:{left - 1}" if left > 1 else "end"
            answered = {}
            for result in range(levels):
                below = sum(on_query[result][:noisy], fmpq(0))
                answered[str(result)] = {f"{noisy}:below:{left}": below, after: 1 - below}
            for seen in ("below", "above") if left < answers else ("below",):
                states[f"{noisy}:{seen}:{left}"] = f"{seen}, {left} left"
                rows[f"{noisy}:{seen}:{left}"] = dict(answered)
            for name, row in answered.items() if left == answers else ():
                for target, p in row.items():
                    first[name][target] = first[name].get(target, fmpq(0)) + chance * p
    rows["start"] = dict(first)
    states["end"] = "end"
    return Interactive.from_mappings(states, rows)


def side_by_side(models: Sequence[Interactive], pairs: Sequence[tuple[str, str]]) -> Interactive:
    """Return several models that one analyst asks in turn, in whatever order it likes (concurrently).

    Parameters
    ----------
    models
        The models.
    pairs
        For each of them the state where it is in the first and in the second world.

    Returns
    -------
    Interactive
        Its states are tuples of states, its labels tuples of labels; the action ``k:a`` asks a of the k-th.
    """
    starts = [tuple(m.index(pair[side]) for m, pair in zip(models, pairs, strict=True)) for side in (0, 1)]
    found = dict.fromkeys(starts)
    order = list(found)
    moves: list[list[tuple[str, list[tuple[tuple[int, ...], fmpq]]]]] = []
    for place in order:  # grows
        offered = []
        for k, model in enumerate(models):
            for action, row in model.moves[place[k]]:
                after = [((*place[:k], t, *place[k + 1 :]), p) for t, p in row]
                offered.append((f"{k}:{action}", after))
                for target, _ in after:
                    if target not in found:
                        found[target] = None
                        order.append(target)
        moves.append(offered)
    number = {place: k for k, place in enumerate(order)}

    def joined(place: tuple[int, ...], names: Sequence[Sequence[str]]) -> str:
        return ", ".join(name[state] for name, state in zip(names, place, strict=True))

    return Interactive(
        tuple(joined(place, [m.states for m in models]) for place in order),
        tuple(joined(place, [m.labels for m in models]) for place in order),
        tuple(
            tuple((action, tuple(sorted((number[t], p) for t, p in after))) for action, after in offered)
            for offered in moves
        ),
        ((0, number[starts[1]]),),
    )
