"""d_X-privacy and weak anonymity: the trace metric of all secrets, against a distance between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import lcm

from flint import fmpq

from bisimdist.analysis.answer import Status
from bisimdist.analysis.budgets import AdditiveBudget, Budget
from bisimdist.analysis.proved import AboutTraces
from bisimdist.analysis.secret_distances import Distances, Secret, Table, secret_distances
from bisimdist.analysis.trace_metric import trace_metric
from bisimdist.analysis.trace_metric_answer import TraceBound, TraceKind, TraceMetricAnswer
from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.ends import Ends
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of
from bisimdist.progress import NEVER, Deadline, Progress, silent
from bisimdist.report.tables import html_table
from bisimdist.words.graph import Effort

__all__ = ["AdditiveBudget", "Budget", "SecretPair", "SecretPrivacyAnswer", "secret_privacy"]

MAX_PAIRS = 200_000
CHECKED_EVERY = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretPair:
    """Two secrets, their distance, and how far apart the system behaves for them.

    Parameters
    ----------
    first, second
        The secrets.
    distance
        Their distance.
    bound
        Bounds on the trace metric of their states.
    """

    first: Secret
    second: Secret
    distance: fmpq
    bound: TraceBound

    @property
    def lower(self) -> Budget | AdditiveBudget:
        """What epsilon has to be at least, for this pair."""
        return self._budget(self.bound.lower)

    @property
    def upper(self) -> Budget | AdditiveBudget:
        """An epsilon that is enough for this pair."""
        return self._budget(self.bound.upper)

    def _budget(self, bound: fmpq | None) -> Budget | AdditiveBudget:
        if self.bound.kind is TraceKind.MULTIPLICATIVE:
            return Budget(bound, self.distance)
        return AdditiveBudget(fmpq(1) if bound is None else bound, self.distance)

    def at_most(self, epsilon: ExactNumber) -> bool | None:
        """Tell whether epsilon is enough for this pair; None where the bounds do not decide that."""
        return self.bound.at_most(to_fmpq(epsilon) * self.distance)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretPrivacyAnswer(AboutTraces):
    """The least epsilon such that the trace metric is at most epsilon times the distance of the secrets.

    Parameters
    ----------
    model
        The automaton.
    states
        For each secret its state.
    distances
        The distances of the secrets.
    lower, upper
        The least epsilon is between these; equal where it is known.
    worst
        The pairs that need `lower`.
    pairs
        All pairs that were examined.
    saved
        How many pairs follow from the others by the triangle inequality and were not examined.
    unexamined
        How many more pairs were not examined: the time was over, or a pair was enough to know the verdict.
    kind
        ``MULTIPLICATIVE``, or ``ADDITIVE``: the metric is then divided by the distance as it is, which with
        the discrete distance is weak anonymity.
    threshold
        The epsilon that was asked about; None where the least one was.
    status
        ``EXACT``, or ``LIMIT`` where the least epsilon is not known exactly.
    completed
        The automaton as the observer sees it; `ends` says whether that includes the end of a run.
    make_certificate
        Writes the proof of the trace metrics when it is asked for.

    References
    ----------
    .. [1] Chatzikokolakis, Andrés, Bordenabe, Palamidessi, "Broadening the scope of differential privacy
       using metrics", PETS 2013 (d_X-privacy).
    .. [2] Castiglioni, Chatzikokolakis, Palamidessi, "A Logical Characterization of Differential Privacy
       via Behavioral Metrics", FACS 2018.
    """

    model: PA
    states: Mapping[Secret, str]
    distances: Distances
    lower: Budget | AdditiveBudget
    upper: Budget | AdditiveBudget
    worst: tuple[SecretPair, ...]
    pairs: tuple[SecretPair, ...]
    saved: int
    status: Status
    unexamined: int = 0
    kind: TraceKind = TraceKind.MULTIPLICATIVE
    threshold: fmpq | None = None

    @property
    def exact(self) -> bool:
        """Whether the least epsilon is known."""
        return not self.lower < self.upper and not self.upper < self.lower

    def epsilon(self, digits: int = 5) -> tuple[str, str]:
        """Return decimals below and above the least epsilon."""
        return self.lower.epsilon(digits)[0], self.upper.epsilon(digits)[1]

    def at_most(self, epsilon: ExactNumber) -> bool | None:
        """Tell whether epsilon is enough for all secrets; None where the bounds do not decide that.

        Exactly: a rational is never equal to a power of e but for 1.
        """
        value = to_fmpq(epsilon)
        verdicts = [pair.at_most(value) for pair in self.pairs]
        if False in verdicts:
            return False
        return None if None in verdicts or self.unexamined else True

    @property
    def holds(self) -> bool | None:
        """Whether `threshold` is enough; None where that is not decided, or none was asked about."""
        return None if self.threshold is None else self.at_most(self.threshold)

    @property
    def verdict(self) -> str:
        """The decision about `threshold` as a word: ``holds``, ``violated`` or ``unknown``."""
        holds = self.holds
        return "unknown" if holds is None else "holds" if holds else "violated"

    @property
    def title(self) -> str:
        """What the answer is about."""
        if self.kind is TraceKind.MULTIPLICATIVE:
            return f"d_X-privacy with the {self.distances.name} distance of secrets"
        if self.distances.name == "discrete":
            return "weak anonymity of all secrets"
        return f"additive d_X-privacy with the {self.distances.name} distance of secrets"

    def _repr_html_(self) -> str:
        threshold = self.threshold
        rows = (
            (
                str(pair.first),
                str(pair.second),
                str(pair.distance),
                " .. ".join(pair.bound.epsilon()),
                f"{pair.lower.epsilon()[0]} .. {pair.upper.epsilon()[1]}",
                *(() if threshold is None else (_VERDICTS[pair.at_most(threshold)],)),
            )
            for pair in self.pairs
        )
        low, high = self.epsilon()
        ends = f", ends {self.ends.value}" if self.missing else ""
        caption = f"{self.title}{ends}: epsilon in [{low}, {high}]"
        head = ["secret", "secret", "distance", "trace metric", "epsilon"]
        if threshold is not None:
            caption += f"; with epsilon = {threshold}: {self.verdict}"
            head.append("verdict")
        return html_table(caption, head, rows)


_VERDICTS = {None: "unknown", False: "violated", True: "holds"}


@interruptible
def secret_privacy(  # noqa: PLR0913
    model: PA | LMC,
    secrets: Mapping[Secret, str],
    distance: str | Table = "discrete",
    *,
    kind: TraceKind | str = TraceKind.MULTIPLICATIVE,
    threshold: ExactNumber | None = None,
    every_pair: bool = False,
    ends: Ends | str = Ends.VISIBLE,
    limits: Effort | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> SecretPrivacyAnswer:
    """Compute the least epsilon for which a system is epsilon d_X-private, over a whole set of secrets.

    Parameters
    ----------
    model
        A fully probabilistic automaton; a labelled Markov chain is taken with its labels as actions.
    secrets
        For each secret the state in which the system starts with it.
    distance
        How far secrets are apart: ``"discrete"``, ``"hamming"``, ``"absolute"``, or a table of pairs.
    kind
        ``"multiplicative"`` for d_X-privacy, ``"additive"`` for the additive trace metric in its place: with
        the discrete distance its least epsilon is that of weak anonymity.
    threshold
        Ask whether this epsilon is enough; nothing more is examined once a pair says no.
    every_pair
        Whether to examine all pairs, also those that follow from others.
    ends
        Whether an observer sees that a run has ended: ``"visible"`` or ``"hidden"``, as in `trace_metric`.
    limits
        How far to look for each pair.
    deadline
        When to give up; what is proved by then is returned with ``Status.LIMIT``.
    progress
        Told what is being done.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

    Raises
    ------
    UsageError
        If there are less than two secrets or too many, the distance is not usable, or the threshold is
        negative.
    ModelError
        If there is no such state, or a state has several transitions.
    LimitError
        If the time is over before the pairs are known.

    Notes
    -----
    Both trace metrics are pseudometrics. So a pair follows from others where the set has a way of secrets
    between its two along which the distances sum up to that of the pair: with the Hamming distance on all
    texts of a length only neighbours are examined.

    Examples
    --------
    >>> from bisimdist.models.library.randomised_response import randomised_response
    >>> answer = secret_privacy(randomised_response(), {"no": "true0", "yes": "true1"})
    >>> answer.lower, answer.epsilon()
    (Budget(ratio=3, distance=1), ('1.0986', '1.0987'))
    >>> secrets = {"no": "true0", "yes": "true1"}
    >>> secret_privacy(randomised_response(), secrets, kind="additive", threshold="0.4").verdict
    'violated'

    References
    ----------
    .. [1] Chatzikokolakis, Andrés, Bordenabe, Palamidessi, "Broadening the scope of differential privacy
       using metrics", PETS 2013.
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

    metric = trace_metric(
        automaton,
        kind,
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
