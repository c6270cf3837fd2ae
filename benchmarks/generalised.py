"""Generalised metrics of automata with nondeterminism, beside naive iteration with HiGHS."""

from __future__ import annotations

import json
import math
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations

import numpy as np
from flint import fmpq

from benchmarks.foreign import KeptHighs
from benchmarks.metric import twins
from benchmarks.tables import NOT_INSTALLED, Size, Table, bytes_text, fine_seconds, milliseconds, ratio
from benchmarks.timing import timed
from bisimdist.automata.engine.strong import bisimilarity_quotient
from bisimdist.automata.generalised.ask import GeneralisedAnswer, generalised_metric
from bisimdist.checker import check_certificate
from bisimdist.distances.engine.additive_guess import iterate_in_integers
from bisimdist.distances.engine.hausdorff import Arena
from bisimdist.distances.engine.lifting_values import Masses
from bisimdist.distances.engine.liftings import AdditiveLifting, Lifting, MultiplicativeLifting
from bisimdist.errors import BisimdistError
from bisimdist.exact.doubles import as_double
from bisimdist.faces.shown.answer import Status
from bisimdist.models.library.counting_queries import counting_queries
from bisimdist.models.pa import PA, Transition
from bisimdist.progress import Deadline

__all__ = [
    "Question",
    "generalised_tables",
    "kleene_by_highs",
    "layered",
    "question_arena",
    "random_automaton",
]

TOLERANCE = 1e-6
SAMPLE = 40
KINDS = (("additive", "1", None), ("multiplicative", "1", None), ("multiplicative", "1/2", "1e-6"))
"""Kind, discount and precision: with a discount ratios are irrational."""
NEARBY = 0.999
"""What distances of the round before are, of those now."""


def _row(draw: random.Random, targets: Sequence[int], lost: int = 0) -> tuple[tuple[int, fmpq], ...]:
    weights = [draw.randint(1, 4) for _ in targets]
    whole = sum(weights) + lost
    return tuple((target, fmpq(weight, whole)) for target, weight in zip(targets, weights, strict=True))


def random_automaton(size: int, seed: int = 1) -> PA:
    """Each state has a, b or both, with one or two transitions of three successors; asked are all pairs."""
    draw = random.Random(seed)
    steps = [
        Transition(s, action, _row(draw, sorted(draw.sample(range(size), 3))))
        for s in range(size)
        for action in draw.choice(("a", "b", "ab"))
        for _ in range(draw.choice((1, 2)))
    ]
    pairs = tuple((s, t) for s in range(size) for t in range(s))
    return PA(tuple(f"s{s}" for s in range(size)), tuple(steps), pairs)


def layered(width: int, depth: int, seed: int = 1) -> PA:
    """Two transitions from each state to all states of the next layer, which may stop: finite ratios."""
    draw = random.Random(seed)
    steps = []
    for s in range(width * depth):
        first = (s // width + 1) * width
        for _ in range(2):
            steps.append(Transition(s, "a", _row(draw, range(first, first + width), draw.randint(0, 2))))
    size = width * (depth + 1)
    pairs = tuple((s, t) for s in range(width) for t in range(s))
    return PA(tuple(f"s{s}" for s in range(size)), tuple(steps), pairs)


# -- the baseline -----------------------------------------------------------------------------------------


def _float(value: fmpq | None) -> float:
    return math.inf if value is None else as_double(value)


class _Lifted(KeptHighs):
    """One direction of a lifting: the supremum over functions on the two supports."""

    def __init__(self, first: Masses, second: Masses, *, additive: bool) -> None:
        from scipy.sparse import lil_array  # noqa: PLC0415

        self.states, self.additive = sorted({*first, *second}), additive
        size = len(self.states)
        ones, twos = ([_float(side.get(s, fmpq(0))) for s in self.states] for side in (first, second))
        self.apart = list(permutations(range(size), 2))
        count = len(self.apart)
        matrix = lil_array((count + (not additive), size))
        for row, (i, j) in enumerate(self.apart):
            matrix[row, i], matrix[row, j] = 1.0, -1.0
        lower, upper = [-math.inf] * count, [1.0 if additive else 0.0] * count
        if additive:
            costs = [b - a for a, b in zip(ones, twos, strict=True)]
        else:
            costs = [-a for a in ones]
            matrix[[count], :] = twos
            lower, upper = [*lower, 1.0], [*upper, 1.0]
        super().__init__(costs, matrix, lower, upper, 1.0 if additive else math.inf)

    def value(self, distance: Callable[[int, int], float]) -> float:
        distances = [distance(self.states[i], self.states[j]) for i, j in self.apart]
        bounds = np.array(distances) if self.additive else np.zeros(len(distances))
        if not self.additive:
            for row, ((_, j), apart) in enumerate(zip(self.apart, distances, strict=True)):
                if math.isfinite(apart):
                    self.solver.changeCoeff(row, j, -apart)
                else:
                    bounds[row] = math.inf
        rows = np.arange(len(distances), dtype=np.int32)
        self.solver.changeRowsBounds(len(rows), rows, np.full(len(rows), -math.inf), bounds)
        return -self.solve()


class _Duel:
    """The one or two programs of a duel, kept from round to round."""

    def __init__(self, arena: Arena, duel: int) -> None:
        first, second = (arena.rows[row] for row in arena.duels[duel])
        self.additive = arena.lifting.top is not None
        self.discount = _float(arena.lifting.discount)
        self.programs = [_Lifted(first, second, additive=self.additive)]
        if not self.additive or sum(first.values(), fmpq(0)) != sum(second.values(), fmpq(0)):
            self.programs.append(_Lifted(second, first, additive=self.additive))

    def value(self, distance: Callable[[int, int], float]) -> float:
        value = max(program.value(distance) for program in self.programs)
        return self.discount * value if self.additive else value**self.discount


def kleene_by_highs(arena: Arena, rounds: int) -> list[float]:
    """Iterate from zero until no distance (of ratios: no logarithm) moves by more than the tolerance."""
    additive = arena.lifting.top is not None
    zero = 0.0 if additive else 1.0
    values = [zero] * len(arena.positions)
    duels = [_Duel(arena, duel) for duel in range(len(arena.duels))]
    for round_ in range(rounds):
        top = zero if round_ == 0 else _float(arena.lifting.top)

        def distance(s: int, t: int, values: Sequence[float] = values, top: float = top) -> float:
            position = arena.position(s, t)
            return zero if s == t else top if position is None else values[position]

        known = [duel.value(distance) for duel in duels]
        fresh = [
            max(
                (min(zero if d < 0 else known[d] for d, _ in challenge.answers) for challenge in challenges),
                default=zero,
            )
            for challenges in arena.challenges
        ]
        moved = max(
            (abs(a - b) if additive else abs(math.log(a / b)) for a, b in zip(fresh, values, strict=True)),
            default=0.0,
        )
        values = fresh
        if moved <= TOLERANCE and round_ > 0:
            break
    return values


def _rounds(arena: Arena) -> int:
    """Count the rounds of an additive iteration, with our own compiled one."""
    members = range(len(arena.positions))
    start = [arena.lifting.zero] * len(arena.positions)
    before = [0.0] * len(start)
    for round_ in range(1, 1000):
        after = [_float(v) for v in iterate_in_integers(arena, members, start, rounds=round_)]
        if round_ > 1 and max((b - a for a, b in zip(before, after, strict=True)), default=0.0) <= TOLERANCE:
            return round_
        before = after
    return 1000


@dataclass(frozen=True, slots=True)
class Baseline:
    """Naive iteration: counted, with the time of one duel whose programs are kept and warm."""

    duels: int
    each: float
    rounds: int

    @property
    def total(self) -> float:
        return self.duels * self.each * self.rounds

    def text(self) -> str:
        return f"{self.duels} x {milliseconds(self.each)} ms x {self.rounds} = {fine_seconds(self.total)}"


def _baseline(arena: Arena, rounds: int, values: Callable[[int, int], float]) -> Baseline | None:
    if not arena.duels:
        return None
    times = []
    for number in random.Random(1).sample(range(len(arena.duels)), min(SAMPLE, len(arena.duels))):
        duel = _Duel(arena, number)
        duel.value(lambda s, t: NEARBY * values(s, t))
        times.append(timed(partial(duel.value, values))[1])
    return Baseline(len(arena.duels), statistics.median(times), rounds)


# -- ours -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """An automaton, which metric of it, and the rounds of naive iteration (None: count; 0: no end)."""

    name: str
    automaton: PA
    kind: str
    discount: str = "1"
    rounds: int | None = None
    precisions: tuple[str | None, ...] = (None,)


def question_arena(automaton: PA, kind: str, discount: str) -> tuple[Arena, tuple[int, ...]]:
    """Return the pairs that matter, after bisimilar states have been merged, and the class of each state."""
    above, _, below = discount.partition("/")
    factor = fmpq(int(above), int(below or 1))
    lifting: Lifting = AdditiveLifting(factor) if kind == "additive" else MultiplicativeLifting(factor)
    merged, classes = bisimilarity_quotient(automaton)
    return Arena.of(merged, lifting, [(classes[s], classes[t]) for s, t in automaton.pairs]), classes


def _questions(how: Size) -> Iterator[Question]:
    for size in how.pick((20,), (20, 50), (20, 50, 100, 200)):
        automaton = random_automaton(size)
        name = f"random, {size} states, all pairs"
        for discount in ("1", "1/2"):
            yield Question(name, automaton, "additive", discount, precisions=(None, "1e-6"))
        yield Question(name, automaton, "multiplicative", rounds=0)
    for width, depth in how.pick(((5, 4),), ((5, 4), (10, 3)), ((5, 4), (5, 6), (10, 3))):
        name = f"layered, {depth} layers of {width}"
        for kind, discount, asked in KINDS:
            yield Question(name, layered(width, depth), kind, discount, depth, (asked,))
    for n in how.pick((10,), (10, 50), (10, 50)):
        for kind, discount, asked in KINDS:
            yield Question(f"counting queries, n = {n}", counting_queries(n), kind, discount, 4, (asked,))
    for size in how.pick((10,), (30,), (30, 100)):
        automaton = twins(size, seed=1, changed=0.1, cyclic=True)
        for kind in ("additive", "multiplicative"):
            yield Question(
                f"cyclic twins of {size}", automaton, kind, rounds=None if kind == "additive" else 0
            )


def _digits(answer: GeneralisedAnswer) -> int:
    values = [value for pair in answer.pairs for value in (pair.lower, pair.upper) if value is not None]
    return max((int(int(value.q).bit_length() * 0.30103) + 1 for value in values), default=0)


def _ours(question: Question, precision: str | None, limit: float) -> tuple[list[str], float, Status]:
    answer, work = timed(
        lambda: generalised_metric(
            question.automaton,
            question.kind,
            discount=question.discount,
            precision=precision,
            deadline=Deadline.after(limit),
        )
    )
    try:
        text, writing = timed(lambda: json.dumps(answer.certificate()))
    except BisimdistError:
        return [answer.status.value, fine_seconds(work), "-", "-", "-", "-"], work, answer.status
    report, checking = timed(lambda: check_certificate(text))
    cells = [
        answer.status.value,
        fine_seconds(work),
        str(_digits(answer)),
        bytes_text(len(text)),
        fine_seconds(writing),
        fine_seconds(checking) if report.valid else "REJECTED",
    ]
    return cells, work + writing, answer.status


def _add(table: Table, question: Question, *, limit: float) -> None:
    arena, _ = question_arena(question.automaton, question.kind, question.discount)
    baseline: Baseline | None = None
    for precision in question.precisions:
        cells, cost, status = _ours(question, precision, limit)
        if baseline is None and question.rounds != 0 and KeptHighs.installed():
            near = _near(arena, question)
            baseline = _baseline(arena, question.rounds or _rounds(arena), near)
        table.add(
            question.name,
            question.kind,
            question.discount,
            "exact" if precision is None else precision,
            str(len(arena.positions)),
            str(len(arena.duels)),
            *cells,
            _told(baseline, question),
            "-" if baseline is None or status is Status.LIMIT else ratio(baseline.total, cost),
        )


def _told(baseline: Baseline | None, question: Question) -> str:
    if baseline is not None:
        return baseline.text()
    return "-" if KeptHighs.installed() or question.rounds == 0 else NOT_INSTALLED


def _near(arena: Arena, question: Question) -> Callable[[int, int], float]:
    """Return distances like those of the last rounds, for the sample of programs."""
    zero = _float(arena.lifting.zero)
    values = [zero] * len(arena.positions)
    if question.kind == "additive":
        start = [arena.lifting.zero] * len(values)
        values = [_float(v) for v in iterate_in_integers(arena, range(len(values)), start, rounds=10)]
    top = _float(arena.lifting.top)

    def distance(s: int, t: int) -> float:
        position = arena.position(s, t)
        return zero if s == t else top if position is None else values[position]

    return distance


def generalised_tables(how: Size) -> Iterator[Table]:
    """Additive and multiplicative metrics of automata, exact and certified, beside Kleene iteration."""
    limit = how.pick(5.0, 60.0, 300.0)
    generalised_metric(random_automaton(8), "additive")  # loads the compiled code
    table = Table(
        "Generalised metrics: CPU seconds",
        (
            "automaton",
            "kind",
            "discount",
            "asked",
            "pairs",
            "duels",
            "status",
            "bound s",
            "digits",
            "certificate MB",
            "writing s",
            "checking s",
            "Kleene with HiGHS, models kept: duels x each x rounds, s",
            "Kleene / (bound + writing)",
        ),
        (
            "Pairs: of states with the same actions that the question depends on. Duels: pairs of "
            "sub-distributions, each one linear program a round (two where masses or ratios make it "
            "necessary). Kleene: floating point from zero until nothing moves by more than 1e-6, on our "
            f"merged automaton, pairs and supports, which are free: the median of {SAMPLE} duels, whose "
            "models are kept and warm from distances nearby, times their number times the rounds, which our "
            "compiled iteration counts. It certifies nothing, in particular no upper bound; where distances "
            "are infinite by growth it would not end (-). Digits: of the longest denominator.",
        ),
    )
    for question in _questions(how):
        _add(table, question, limit=limit)
    yield table
