"""d_X-privacy: the trace metric of all pairs of secrets, against a distance between the secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import lcm

from flint import arb, ctx, fmpq, fmpz

from bisimdist.analysis.answer import Status
from bisimdist.analysis.proved import Proved, html_table
from bisimdist.analysis.secret_distances import Distances, Secret, Table, secret_distances
from bisimdist.analysis.trace_metric import TraceBound, TraceMetricAnswer, trace_metric
from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.logic.trace_graph import Limits
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, chain_as_automaton
from bisimdist.progress import NEVER, Deadline, Progress, silent

__all__ = ["Budget", "SecretPair", "SecretPrivacyAnswer", "secret_privacy"]

ONE = fmpq(1)
MAX_POWER_BITS = 1 << 22
MAX_PAIRS = 200_000


@dataclass(frozen=True, slots=True)
class Budget:
    """The number ``ln(ratio) / distance``; infinite where the ratio is, or where only the distance is 0.

    Parameters
    ----------
    ratio
        At least 1; None stands for infinity.
    distance
        At least 0. With a ratio of 1 the number is 0 whatever the distance.
    """

    ratio: fmpq | None
    distance: fmpq

    @property
    def infinite(self) -> bool:
        """Whether no finite number is enough."""
        return self.ratio is None or bool(self.distance == 0 and self.ratio != 1)

    def __lt__(self, other: Budget) -> bool:
        """Compare exactly: ``r^q < s^p`` for ``ln(r)/p < ln(s)/q``, with integer exponents."""
        if self.infinite or other.infinite:
            return other.infinite and not self.infinite
        if self.ratio is None or other.ratio is None or other.ratio == 1:
            return False
        if self.ratio == 1:
            return True
        return _power_less(self.ratio, other.distance, other.ratio, self.distance)

    def epsilon(self, digits: int = 5) -> tuple[str, str]:
        """Return decimals below and above the number."""
        if self.infinite or self.ratio is None:
            return "inf", "inf"
        if self.ratio == 1:
            return "0", "0"
        precision = 64 + 4 * digits
        while True:
            with ctx.workprec(precision):
                ball = arb(self.ratio).log() / arb(self.distance)
            low, high = ball.lower().fmpq(), ball.upper().fmpq()
            if low > 0:
                below, above = decimal_below(low, digits)[0], decimal_above(high, digits)[0]
                if decimal_below(high, digits)[0] == below:  # in the end: the number is irrational
                    return below, above
            precision *= 2


def _power_less(ratio: fmpq, exponent: fmpq, other: fmpq, power: fmpq) -> bool:
    """Tell whether ``ratio^exponent < other^power`` for ratios above 1 and positive rational exponents."""
    for precision in (128, 1024, 8192):
        with ctx.workprec(precision):
            difference = arb(other).log() * arb(power) - arb(ratio).log() * arb(exponent)
        if difference > 0:
            return True
        if difference < 0:
            return False
    # So close that they are equal, or as good as: integer powers decide.
    share = exponent / power
    n, m = int(share.p), int(share.q)
    if max(n, m) * max(_bits(ratio), _bits(other)) > MAX_POWER_BITS:
        raise LimitError(
            "two budgets are too close to each other to be compared: their distances are too long"
        )
    return bool(ratio**n < other**m)


def _bits(value: fmpq) -> int:
    return int(fmpz(value.p).bit_length() + fmpz(value.q).bit_length())


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
        Bounds on the multiplicative trace metric of their states.
    """

    first: Secret
    second: Secret
    distance: fmpq
    bound: TraceBound

    @property
    def lower(self) -> Budget:
        """What epsilon has to be at least, for this pair."""
        return Budget(self.bound.lower, self.distance)

    @property
    def upper(self) -> Budget:
        """An epsilon that is enough for this pair."""
        return Budget(self.bound.upper, self.distance)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretPrivacyAnswer(Proved):
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
    status
        ``EXACT``, or ``LIMIT`` where the least epsilon is not known exactly.
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
    lower: Budget
    upper: Budget
    worst: tuple[SecretPair, ...]
    pairs: tuple[SecretPair, ...]
    saved: int
    status: Status

    @property
    def exact(self) -> bool:
        """Whether the least epsilon is known."""
        return not self.lower < self.upper and not self.upper < self.lower

    def epsilon(self, digits: int = 5) -> tuple[str, str]:
        """Return decimals below and above the least epsilon."""
        return self.lower.epsilon(digits)[0], self.upper.epsilon(digits)[1]

    def _repr_html_(self) -> str:
        rows = (
            (
                str(pair.first),
                str(pair.second),
                str(pair.distance),
                " .. ".join(pair.bound.epsilon()),
                f"{pair.lower.epsilon()[0]} .. {pair.upper.epsilon()[1]}",
            )
            for pair in self.pairs
        )
        low, high = self.epsilon()
        caption = f"d_X-privacy, {self.distances.name} distance: epsilon in [{low}, {high}]"
        return html_table(caption, ("secret", "secret", "distance", "trace metric", "epsilon"), rows)


def secret_privacy(  # noqa: PLR0913
    model: PA | LMC,
    secrets: Mapping[Secret, str],
    distance: str | Table = "discrete",
    *,
    every_pair: bool = False,
    limits: Limits | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
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
    every_pair
        Whether to examine all pairs, also those that follow from others.
    limits
        How far to look for each pair.
    deadline
        When to give up; what is proved by then is returned with ``Status.LIMIT``.
    progress
        Told what is being done.

    Raises
    ------
    UsageError
        If there are less than two secrets, too many, or the distance is not usable.
    ModelError
        If there is no such state, or a state has several transitions.

    Notes
    -----
    The trace metric is a pseudometric. So a pair follows from others where the set has a way of secrets
    between its two along which the distances sum up to that of the pair: with the Hamming distance on all
    texts of a length only neighbours are examined.

    Examples
    --------
    >>> from bisimdist.models.library.randomised_response import randomised_response
    >>> answer = secret_privacy(randomised_response(), {"no": "true0", "yes": "true1"})
    >>> answer.lower, answer.epsilon()
    (Budget(ratio=3, distance=1), ('1.0986', '1.0987'))

    References
    ----------
    .. [1] Chatzikokolakis, Andrés, Bordenabe, Palamidessi, "Broadening the scope of differential privacy
       using metrics", PETS 2013.
    """
    automaton = chain_as_automaton(model) if isinstance(model, LMC) else model
    names = list(secrets)
    if len(names) < 2:
        raise UsageError(f"there are {len(names)} secrets; expected at least two")
    if len(names) * (len(names) - 1) // 2 > MAX_PAIRS:
        raise UsageError(f"there are {len(names)} secrets; expected at most {MAX_PAIRS} pairs")
    for state in secrets.values():
        automaton.index(state)
    distances = secret_distances(names, distance)
    chosen = list(distances.values) if every_pair else _direct(distances)
    metric = trace_metric(
        automaton,
        pairs=[(secrets[names[i]], secrets[names[j]]) for i, j in chosen],
        limits=limits,
        deadline=deadline,
        progress=progress,
    )
    pairs = tuple(
        SecretPair(first=names[i], second=names[j], distance=distances.between(i, j), bound=bound)
        for (i, j), bound in zip(chosen, metric.pairs, strict=True)
    )
    return _answer(automaton, secrets, distances, pairs, metric)


def _answer(
    automaton: PA,
    secrets: Mapping[Secret, str],
    distances: Distances,
    pairs: tuple[SecretPair, ...],
    metric: TraceMetricAnswer,
) -> SecretPrivacyAnswer:
    lower, upper = pairs[0].lower, pairs[0].upper
    for pair in pairs[1:]:
        lower = pair.lower if lower < pair.lower else lower
        upper = pair.upper if upper < pair.upper else upper
    exact = not lower < upper
    return SecretPrivacyAnswer(
        model=automaton,
        states=dict(secrets),
        distances=distances,
        lower=lower,
        upper=lower if exact else upper,
        worst=tuple(pair for pair in pairs if not pair.lower < lower),
        pairs=pairs,
        saved=len(distances.values) - len(pairs),
        status=Status.EXACT if exact else Status.LIMIT,
        make_certificate=metric.certificate,
    )


def _direct(distances: Distances) -> list[tuple[int, int]]:
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
    for i, j in distances.values:
        whole = table[i][j]
        if not any(0 < a < whole and a + b == whole for a, b in zip(table[i], table[j], strict=True)):
            kept.append((i, j))
    return kept
