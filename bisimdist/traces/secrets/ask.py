"""d_X-privacy and weak anonymity: the trace metric of all secrets, against a distance between them.

Source: CCP18 Definition 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import lcm

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.faces.shown.answer import Status
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.ends import Ends
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of
from bisimdist.progress import NEVER, Deadline, Progress, silent
from bisimdist.traces.engine.graph import Effort
from bisimdist.traces.secrets.answer import SecretPair, SecretPrivacyAnswer
from bisimdist.traces.secrets.distances import Distances, Secret, Table, secret_distances
from bisimdist.traces.trace.answer import TraceBound, TraceKind, TraceMetricAnswer
from bisimdist.traces.trace.ask import trace_metric
from bisimdist.traces.trace.events import SINGLE, Of, rest_of

MAX_PAIRS = 200_000
CHECKED_EVERY = 64


@interruptible
def secret_privacy(  # noqa: PLR0913
    model: PA | LMC,
    secrets: Mapping[Secret, str],
    distance: str | Table = "discrete",
    *,
    kind: TraceKind | str = TraceKind.MULTIPLICATIVE,
    of: Of = SINGLE,
    threshold: ExactNumber | None = None,
    every_pair: bool = False,
    ends: Ends | str = Ends.VISIBLE,
    limits: Effort | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> SecretPrivacyAnswer:
    """Compute the least epsilon for which a system is epsilon d_X-private, over a whole set of secrets.

    Source: CABP13.

    Parameters
    ----------
    model
        A fully probabilistic automaton; a labelled Markov chain is taken with its labels as actions.
    secrets
        For each secret the state in which the system starts with it.
    distance
        The distance of secrets: ``"discrete"``, ``"hamming"``, ``"absolute"``, or a table of pairs.
    kind
        ``"multiplicative"`` for d_X-privacy, ``"additive"`` for the additive trace metric in its place.
    of
        For the additive metric: ``"traces"`` compares single traces, ``"sets"`` sets of traces. With sets and
        the discrete distance the least epsilon is that of weak anonymity.
    threshold
        Ask whether this epsilon is enough. For single traces the work ends at the first violated pair. For
        the additive metric the answer has a verdict for single traces and one for sets of traces.
    every_pair
        Whether to examine all pairs, also those that follow from others.
    ends, limits, deadline, progress, on_interrupt
        As in `trace_metric`.

    Returns
    -------
    SecretPrivacyAnswer
        The least epsilon, the worst secrets, and the verdict if there is a threshold.

    Raises
    ------
    UsageError
        If there are fewer than two secrets or too many, the distance is not usable, or the threshold is
        negative.
    ModelError
        If there is no such state, or a state has several transitions.
    LimitError
        If the time is over before the pairs are known.

    Notes
    -----
    All these trace metrics are pseudometrics. So a pair follows from others if there are secrets between its
    two whose distances sum to the distance of the pair. With the Hamming distance on all texts of a length
    the function examines only neighbours.

    Examples
    --------
    >>> from bisimdist.models.library.randomised_response import randomised_response
    >>> answer = secret_privacy(randomised_response(), {"no": "true0", "yes": "true1"})
    >>> answer.lower, answer.epsilon()
    (Budget(ratio=3, distance=1), ('1.0986', '1.0987'))
    >>> secrets = {"no": "true0", "yes": "true1"}
    >>> secret_privacy(randomised_response(), secrets, kind="additive", of="sets", threshold="0.4").verdict
    'violated'
    """
    automaton = automaton_of(model)
    names = list(secrets)
    if len(names) < 2:
        raise UsageError(f"there are {len(names)} secrets; expected at least two")
    if len(names) * (len(names) - 1) // 2 > MAX_PAIRS:
        raise UsageError(f"there are {len(names)} secrets; expected at most {MAX_PAIRS} pairs")
    for state in secrets.values():
        automaton.index(state)
    epsilon = None if threshold is None else to_fmpq(threshold)
    if epsilon is not None and epsilon < 0:
        raise UsageError(f"the threshold is {epsilon}; expected at least 0")
    distances = secret_distances(names, distance)
    chosen = list(distances.values) if every_pair else _direct(distances, deadline)
    closest: dict[tuple[str, str], fmpq] = {}
    for i, j in chosen:  # of secrets with the same states
        states = secrets[names[i]], secrets[names[j]]
        closest[states] = min(closest.get(states, distances.between(i, j)), distances.between(i, j))

    def violated(bound: TraceBound) -> bool:
        return epsilon is not None and bound.at_most(epsilon * closest[bound.source, bound.target]) is False

    def measured(of: Of) -> SecretPrivacyAnswer:
        metric = trace_metric(
            automaton,
            kind,
            of=of,
            pairs=[(secrets[names[i]], secrets[names[j]]) for i, j in chosen],
            ends=ends,
            limits=limits,
            enough=violated,
            deadline=deadline,
            progress=progress,
        )
        pairs = tuple(
            SecretPair(first=names[i], second=names[j], distance=distances.between(i, j), bound=bound)
            for (i, j), bound in zip(chosen, metric.pairs, strict=True)
        )
        return _answer(secrets, distances, pairs, metric, epsilon)

    answer = measured(of)
    rest = rest_of(of)
    if epsilon is None or answer.kind is TraceKind.MULTIPLICATIVE or answer.verdict_of(rest) is not None:
        return answer
    if Ends(ends) is Ends.HIDDEN:  # sets are compared with ends that are seen
        return answer
    return replace(answer, other=measured(rest))


def _answer(
    secrets: Mapping[Secret, str],
    distances: Distances,
    pairs: tuple[SecretPair, ...],
    metric: TraceMetricAnswer,
    threshold: fmpq | None,
) -> SecretPrivacyAnswer:
    lower, upper = pairs[0].lower, pairs[0].upper
    for pair in pairs[1:]:
        lower = pair.lower if lower < pair.lower else lower
        upper = pair.upper if upper < pair.upper else upper
    exact = not lower < upper
    examined = tuple(pair for pair in pairs if pair.bound.examined)
    return SecretPrivacyAnswer(
        model=metric.model,
        states=dict(secrets),
        distances=distances,
        lower=lower,
        upper=lower if exact else upper,
        worst=tuple(pair for pair in examined if not pair.lower < lower),
        pairs=examined,
        saved=len(distances.values) - len(pairs),
        unexamined=len(pairs) - len(examined),
        kind=metric.kind,
        of=metric.of,
        threshold=threshold,
        status=Status.EXACT if exact else Status.LIMIT,
        completed=metric.completed,
        make_certificate=metric.certificate,
    )


def _direct(distances: Distances, deadline: Deadline) -> list[tuple[int, int]]:
    """Return the pairs that do not follow from pairs of smaller distance along a way of the same length.

    A pair (x, z) is left out where some secret y has d(x, y) + d(y, z) = d(x, z) with both parts positive:
    then, by induction over the distances, which are finitely many, what holds for the kept pairs holds for
    (x, y) and (y, z), and for (x, z) by the triangle inequality of the trace metric.
    """
    count = len(distances.secrets)
    if distances.name == "discrete":
        return list(distances.values)
    common = lcm(*(int(value.q) for value in distances.values.values()))
    table = [[0] * count for _ in range(count)]
    for (i, j), value in distances.values.items():
        table[i][j] = table[j][i] = int((value * common).p)
    kept = []
    for number, (i, j) in enumerate(distances.values):
        if number % CHECKED_EVERY == 0:
            deadline.check()
        whole = table[i][j]
        if not any(0 < a < whole and a + b == whole for a, b in zip(table[i], table[j], strict=True)):
            kept.append((i, j))
    return kept
