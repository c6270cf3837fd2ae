"""The tables of whole problems: exact and certified, in brackets, and what they hold in memory."""

from __future__ import annotations

from benchmarks.cases import Case, Outcome, measure, random_case, warm_up
from benchmarks.foreign import KeptHighs
from benchmarks.kleene import Kleene, kleene_baseline
from benchmarks.tables import NOT_INSTALLED, Size, Table, bytes_text, ratio, seconds, spent_text
from benchmarks.timing import Spent, run_apart

__all__ = ["classical_tables", "memory_tables", "problem_tables"]

SKEW = "5001/5000"
BOTH = ("1", "3/2")
NOTHING = Spent(0.0, 0.0)
STAGE_NAMES = ("programs", "iteration", "bracket", "strategies", "linear systems", "ranking")
PROOF_COLUMNS = ("digits", "certificate MB", "writing s", "checking s")
CLOCKS = "Seconds are wall (CPU)."
NO_ANSWER = "no answer"


def _proof_cells(outcome: Outcome) -> list[str]:
    """Return the cells of `PROOF_COLUMNS`."""
    unfinished = "not in time"
    return [
        str(outcome.digits),
        "-" if outcome.writing is None else bytes_text(outcome.certificate),
        unfinished if outcome.writing is None else spent_text(outcome.writing),
        "REJECTED"
        if outcome.valid is False
        else (unfinished if outcome.checking is None else spent_text(outcome.checking)),
    ]


def _baseline_cells(baseline: Kleene | None, outcome: Outcome) -> list[str]:
    if baseline is None:
        return [NOT_INSTALLED, "-"]
    total = baseline.total.cpu
    formula = f"{baseline.programs} x {baseline.program.cpu * 1e3:.2g} ms x {baseline.rounds}"
    return [f"{formula} = {seconds(total)}", ratio(total, outcome.certified.cpu)]


def problem_tables(how: Size) -> list[Table]:
    """Dining cryptographers for one pair, and random cyclic chains for all pairs, exact and certified."""
    warm_up()
    cases: list[Case] = []
    for n in how.pick((3,), (3, 5, 10, 20), (3, 5, 10, 20)):
        cases.append(Case(f"dining cryptographers, {n}", f"dining-cryptographers,n={n}", SKEW))
    for size in how.pick((30,), (50, 100), (50, 100, 200)):
        cases.extend(random_case(size, 5, 3, alpha) for alpha in how.pick(("1",), BOTH, BOTH))
    columns = ("problem", "alpha", "states", "pairs", "LPs", "status", "bound s", "MB", *PROOF_COLUMNS)
    table = Table(
        "Whole problems, exact and certified",
        (*columns, "HiGHS: LPs x each x rounds, CPU s", "ratio"),
        [
            f"{CLOCKS} MB: peak resident memory of the bound in a process of its own, libraries included. "
            "Digits: of the longest denominator. Checking: by the independent checker in plain Python. The "
            "baseline is Kleene iteration in floating point until nothing moves by more than 1e-9, with "
            "HiGHS on the supports, each model kept and warm: rounds counted, one LP timed on a sample of at "
            "most 40, the rest extrapolated; it bounds delta by nothing. Ratio: its CPU time over that of "
            "bound and certificate together.",
        ],
    )
    stages = _stage_table("Where the time of whole problems goes")
    for case in cases:
        outcome = measure(case)
        if outcome is None:
            table.add(case.title, case.alpha, *[NO_ANSWER] * (len(table.columns) - 2))
            continue
        baseline: Kleene | None = run_apart(kleene_baseline, case) if KeptHighs.installed() else None
        states = str(len(case.built()[0]))
        table.add(
            case.title,
            case.alpha,
            states,
            str(outcome.pairs),
            str(outcome.programs or "-"),
            outcome.status,
            spent_text(outcome.total),
            f"{outcome.memory:.0f}",
            *_proof_cells(outcome),
            *_baseline_cells(baseline, outcome),
        )
        _add_stages(stages, case, outcome)
    return [table, stages]


def _stage_table(title: str) -> Table:
    return Table(
        title,
        ("problem", "alpha", "total", *STAGE_NAMES, "rest", "certificate", "check"),
        [
            "CPU seconds. Programs: pairs that matter and their linear programs. Iteration: distance 0, and "
            "value iteration in fixed point. Bracket: the certified one that is kept in hand. Strategies: "
            "their improvement and the exact proof that they are optimal. Linear systems: their exact "
            "solution. Ranking: the proof of leastness."
        ],
    )


def _add_stages(table: Table, case: Case, outcome: Outcome) -> None:
    cells = [outcome.stages.get(name, NOTHING).cpu for name in STAGE_NAMES]
    proof = [(spent or NOTHING).cpu for spent in (outcome.writing, outcome.checking)]
    rest = outcome.total.cpu - sum(cells)
    table.add(case.title, case.alpha, *map(seconds, (outcome.total.cpu, *cells, max(rest, 0.0), *proof)))


PUBLISHED = {
    (3, 24): "Go, on the fly: 620; Java, policy iteration: 52; prototype: 0.8",
    (3, 28): "Go: fails from 26 states; Java: over 120; prototype: 1.9",
    (2, 100): "Go, on the fly: 0.29",
    (2, 150): "prototype: 61",
    (2, 500): "Go, on the fly: 102",
    (2, 1000): "Go, on the fly: 1900",
}


def classical_tables(how: Size) -> list[Table]:
    """Random chains at alpha = 1, all pairs, beside what was published for floating point."""
    warm_up()
    sizes = [(3, n) for n in how.pick((24,), (24, 28, 50, 100), (24, 28, 50, 100))]
    sizes += [(2, n) for n in how.pick((50,), (100, 150, 300), (100, 150, 300, 500))]
    table = Table(
        "alpha = 1, the classical bisimilarity pseudometric, all pairs, exact and certified",
        ("successors", "states", "pairs", "status", "bound s", "MB", *PROOF_COLUMNS, "published, s"),
        [
            f"{CLOCKS} Two labels. Published times are those of their authors' machines: the Go and Java "
            "programs compute in floating point and prove nothing; the prototype is a hundred lines of "
            "exact Python. Their random chains are of the same shape, not the same chains.",
        ],
    )
    stages = _stage_table("Where the time of classical distances goes")
    brackets: list[tuple[int, int]] = []
    for successors, states in sizes:
        case = random_case(states, successors, 2, "1", limit=1800.0 if states >= 500 else None)
        outcome = measure(case)
        if outcome is None or outcome.status != "exact":
            brackets.append((successors, states))
        _classical_row(table, successors, states, outcome)
        if outcome is not None:
            _add_stages(stages, case, outcome)
    if how is not Size.QUICK:
        brackets += [(2, 500), (2, 1000)]
    for successors, states in brackets:  # where exact does not finish, what there is instead
        case = random_case(states, successors, 2, "1", precision="1/1000000000")
        _classical_row(table, successors, states, measure(case))
    return [table, stages]


def _classical_row(table: Table, successors: int, states: int, outcome: Outcome | None) -> None:
    published = PUBLISHED.get((successors, states), "-")
    if outcome is None:
        cells = ["-", NO_ANSWER, *["-"] * (len(table.columns) - 5)]
    else:
        status = (
            outcome.status if outcome.status == "exact" else f"{outcome.status}, {outcome.width:.1e} wide"
        )
        cells = [str(outcome.pairs), status, spent_text(outcome.total), f"{outcome.memory:.0f}"]
        cells += _proof_cells(outcome)
    table.add(str(successors), str(states), *cells, published)


def memory_tables(how: Size) -> list[Table]:
    """Peak memory by size, exact and in brackets, without certificate."""
    warm_up()
    table = Table(
        "Memory: random cyclic chains (5 successors, 3 labels), all pairs, alpha 3/2",
        ("states", "pairs", "LPs", "what", "MB before", "MB at most", "KB a pair", "bytes an LP"),
        [
            "Before: interpreter, libraries, machine code of the kernel and the chain. At most: the largest "
            "resident size of the process at the end of the bound, without certificate. The rest: the "
            "difference over the pairs and over the linear programs.",
        ],
    )
    for states in how.pick((50,), (50, 100, 200), (50, 100, 200, 400)):
        for precision, name in ((None, "exact"), ("1/1000000000", "bracket 1e-9")):
            if precision is None and states > 200:
                continue
            outcome = measure(random_case(states, 5, 3, "3/2", precision=precision, proof=False, loaded=True))
            if outcome is None:
                table.add(str(states), "-", "-", name, *[NO_ANSWER] * 4)
                continue
            grown = (outcome.memory - outcome.memory_before) * 2**20
            table.add(
                str(states),
                str(outcome.pairs),
                str(outcome.programs or "-"),
                name,
                f"{outcome.memory_before:.0f}",
                f"{outcome.memory:.0f}",
                f"{grown / outcome.pairs / 1024:.1f}",
                f"{grown / outcome.programs:.0f}" if outcome.programs else "-",
            )
    return [table]
