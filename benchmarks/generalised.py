"""Generalised metrics of automata with nondeterminism, beside naive iteration with SciPy's HiGHS."""

from __future__ import annotations

import json
import math
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations

from flint import fmpq

from benchmarks.metric import twins
from benchmarks.tables import Table, bytes_text, fine_seconds, milliseconds, ratio
from benchmarks.timing import spent_by
from bisimdist.analysis.answer import Status
from bisimdist.analysis.generalised import GeneralisedAnswer, generalised_metric
from bisimdist.bisimulation.strong import bisimilarity_quotient
from bisimdist.checker import check_certificate
from bisimdist.errors import BisimdistError
from bisimdist.fixpoint.additive_guess import iterate_in_integers
from bisimdist.fixpoint.hausdorff import Arena
from bisimdist.fixpoint.liftings import AdditiveLifting, Lifting, Masses, MultiplicativeLifting
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
RUN_FOR_REAL = 20.0
"""Baselines that take longer than so many seconds are extrapolated."""


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
    return math.inf if value is None else int(value.p) / int(value.q)


def _lifted(first: Masses, second: Masses, distance: Callable[[int, int], float], *, additive: bool) -> float:
    """Return one direction of a lifting: the supremum over functions on the two supports."""
    from scipy.optimize import linprog  # noqa: PLC0415

    states = sorted({*first, *second})
    ones, twos = ([_float(side.get(s, fmpq(0))) for s in states] for side in (first, second))
    rows, bounds = [], []
    for i, j in permutations(range(len(states)), 2):
        apart = distance(states[i], states[j])
        if math.isfinite(apart):
            row = [0.0] * len(states)
            row[i], row[j] = 1.0, -1.0 if additive else -apart
            rows.append(row)
            bounds.append(apart if additive else 0.0)
    if additive:
        gains = [b - a for a, b in zip(ones, twos, strict=True)]
        found = linprog(gains, A_ub=rows or None, b_ub=bounds or None, bounds=(0, 1), method="highs")
        return -float(found.fun)
    found = linprog(
        [-a for a in ones],
        A_ub=rows or None,
        b_ub=bounds or None,
        A_eq=[twos],
        b_eq=[1.0],
        method="highs",
    )
    return math.inf if found.status == 3 else -float(found.fun)


def _duel(arena: Arena, duel: int, distance: Callable[[int, int], float]) -> float:
    first, second = (arena.rows[row] for row in arena.duels[duel])
    additive = arena.lifting.top is not None
    value = _lifted(first, second, distance, additive=additive)
    if not additive or sum(first.values(), fmpq(0)) != sum(second.values(), fmpq(0)):
        value = max(value, _lifted(second, first, distance, additive=additive))
    discount = _float(arena.lifting.discount)
    return discount * value if additive else value**discount


def kleene_by_highs(arena: Arena, rounds: int) -> list[float]:
    """Iterate from zero until no distance (of ratios: no logarithm) moves by more than the tolerance."""
    additive = arena.lifting.top is not None
    zero = 0.0 if additive else 1.0
    values = [zero] * len(arena.positions)
    for round_ in range(rounds):
        top = zero if round_ == 0 else _float(arena.lifting.top)

        def distance(s: int, t: int, values: Sequence[float] = values, top: float = top) -> float:
            position = arena.position(s, t)
            return zero if s == t else top if position is None else values[position]

        known = [_duel(arena, duel, distance) for duel in range(len(arena.duels))]
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
    """Naive iteration: counted, with the time of one program, run or extrapolated."""

    programs: int
    each: float
    rounds: int
    total: float
    ran: bool

    def text(self) -> str:
        product = f"{self.programs} x {milliseconds(self.each)} ms x {self.rounds}"
        return f"{product} {'=' if self.ran else '≈'} {fine_seconds(self.total)}"


def _baseline(arena: Arena, rounds: int, values: Callable[[int, int], float]) -> Baseline | None:
    if not arena.duels:
        return None
    chosen = random.Random(1).sample(range(len(arena.duels)), min(SAMPLE, len(arena.duels)))
    times = [spent_by(partial(_duel, arena, duel, values)).cpu for duel in chosen]
    each, duels = statistics.median(times), len(arena.duels)
    if each * duels * rounds > RUN_FOR_REAL:
        return Baseline(duels, each, rounds, each * duels * rounds, False)
    total = spent_by(lambda: kleene_by_highs(arena, rounds)).cpu
    return Baseline(duels, total / duels / rounds, rounds, total, True)


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


def _questions(*, full: bool) -> Iterator[Question]:
    for size in (20, 50, 100, 200) if full else (20, 50):
        automaton = random_automaton(size)
        name = f"random, {size} states, all pairs"
        for discount in ("1", "1/2"):
            yield Question(name, automaton, "additive", discount, precisions=(None, "1e-6"))
        yield Question(name, automaton, "multiplicative", rounds=0)
    for width, depth in ((5, 4), (5, 6), (10, 3)) if full else ((5, 4), (10, 3)):
        name = f"layered, {depth} layers of {width}"
        for kind, discount, asked in KINDS:
            yield Question(name, layered(width, depth), kind, discount, depth, (asked,))
    for n in (10, 50):
        for kind, discount, asked in KINDS:
            yield Question(f"counting queries, n = {n}", counting_queries(n), kind, discount, 4, (asked,))
    for size in (30, 100) if full else (30,):
        automaton = twins(size, seed=1, changed=0.1, cyclic=True)
        for kind in ("additive", "multiplicative"):
            yield Question(
                f"cyclic twins of {size}", automaton, kind, rounds=None if kind == "additive" else 0
            )


def _digits(answer: GeneralisedAnswer) -> int:
    values = [value for pair in answer.pairs for value in (pair.lower, pair.upper) if value is not None]
    return max((int(int(value.q).bit_length() * 0.30103) + 1 for value in values), default=0)


def _ours(question: Question, precision: str | None, limit: float) -> tuple[list[str], float, Status]:
    found: list[GeneralisedAnswer] = []
    work = spent_by(
        lambda: found.append(
            generalised_metric(
                question.automaton,
                question.kind,
                discount=question.discount,
                precision=precision,
                deadline=Deadline.after(limit),
            )
        )
    )
    answer, text = found[0], ""

    def write() -> None:
        nonlocal text
        text = json.dumps(answer.certificate())

    try:
        writing = spent_by(write)
    except BisimdistError:
        return [answer.status.value, fine_seconds(work.cpu), "-", "-", "-", "-"], work.cpu, answer.status
    valid = []
    checking = spent_by(lambda: valid.append(check_certificate(text).valid))
    cells = [
        answer.status.value,
        fine_seconds(work.cpu),
        str(_digits(answer)),
        bytes_text(len(text)),
        fine_seconds(writing.cpu),
        fine_seconds(checking.cpu) if valid[0] else "REJECTED",
    ]
    return cells, work.cpu + writing.cpu, answer.status


def _add(table: Table, question: Question, *, limit: float) -> None:
    arena, _ = question_arena(question.automaton, question.kind, question.discount)
    baseline: Baseline | None = None
    for precision in question.precisions:
        cells, cost, status = _ours(question, precision, limit)
        if baseline is None and question.rounds != 0:
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
            "-" if baseline is None else baseline.text(),
            "-" if baseline is None or status is Status.LIMIT else ratio(baseline.total, cost),
        )


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


def generalised_tables(*, full: bool = False) -> Iterator[Table]:
    """Yield the table."""
    limit = 300.0 if full else 60.0
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
            "Kleene with SciPy's HiGHS: duels x each x rounds, s",
            "Kleene / (bound + writing)",
        ),
        (
            "Pairs: of states with the same actions that the question depends on. Duels: pairs of "
            "sub-distributions, each one linear program a round (two where masses or ratios make it "
            "necessary). Kleene: floating point from zero until nothing moves by more than 1e-6, on our "
            "merged automaton, pairs and supports, which are free; run where `=` stands, else (≈) the median "
            f"of {SAMPLE} programs times their number times the rounds, which our compiled iteration counts. "
            "It certifies nothing, in particular no upper bound; where distances are infinite by growth it "
            "would not end (-). Digits: of the longest denominator.",
        ),
    )
    for question in _questions(full=full):
        _add(table, question, limit=limit)
    yield table
