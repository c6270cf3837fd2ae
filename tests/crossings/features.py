"""Features of models and of questions, each with a small random system and what is true of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.crossings import truths
from tests.crossings.cases import (
    AFTER,
    LABELS,
    ONE,
    Case,
    Feature,
    Range,
    document,
    for_ever,
    random_row,
    random_rows,
    row_text,
    true_of_chain,
    without_choice,
    word_laws,
    written,
)
from tests.crossings.logics import System
from tests.programs.wasm.assembly import RANDOM, assembled, call, get, i32


def chain(folder: Path, source: random.Random, question: str = "") -> Case:
    """A chain without cycles."""
    rows = random_rows(source)
    moves = without_choice(rows)
    path = written(folder, "chain.json", document(LABELS, rows))
    return Case((path,), (), *true_of_chain(moves), word_laws(moves), system=for_ever(rows))


def _intervals(folder: Path, source: random.Random) -> tuple[str, dict[str, Any]]:
    """Write a chain of which the rows of two states are open."""
    rows: dict[str, Any] = random_rows(source)
    for state in source.sample(("s", "a", "c", "u", "v"), 2):
        low = Fraction(source.randrange(0, 3), 4)
        high = low + Fraction(source.randrange(1, 5 - int(low * 4)), 4)
        first, second = source.sample(AFTER[state], 2)
        rows[state] = {first: (low, high), second: (1 - high, 1 - low)}
    return written(folder, "intervals.json", document(LABELS, rows)), rows


def _boxes(rows: Mapping[str, Any]) -> dict[str, Any]:
    return {
        state: {t: p if isinstance(p, tuple) else (p, p) for t, p in row.items()}
        for state, row in rows.items()
    }


def each_step(folder: Path, source: random.Random, question: str = "") -> Case:
    """Intervals from which nature picks at every step, in each world on its own."""
    path, rows = _intervals(folder, source)
    labels, moves = truths.in_two_worlds(LABELS, _boxes(rows))
    one, other = (name if name in labels else name[0] for name in ("s1", "t2"))

    def delta(alpha: Fraction) -> Range:
        value = max(
            float(truths.gain(labels, moves, {one: ONE, other: -alpha}, None)),
            float(truths.gain(labels, moves, {other: ONE, one: -alpha}, None)),
        )
        return value, value

    def distance(alpha: Fraction) -> Range:
        def facing(i: str, j: str) -> list[tuple[Any, Any]]:
            here, there = ({str(r): r for r in moves.get(x, {}).values()} for x in (i, j))
            return [(r, q) for r in here.values() for q in there.values()]

        value = truths.distance(labels, (one, other), alpha, facing)
        return value, value

    return Case((path,), (), delta, distance)


def fixed(folder: Path, source: random.Random, question: str = "") -> Case:
    """Intervals from which nature has picked one chain for good: no member is worse than what is true."""
    path, rows = _intervals(folder, source)

    def worst(which: int) -> Callable[[Fraction], Range]:
        def of(alpha: Fraction) -> Range:
            grid = (8, 2)[which]
            found = max(true_of_chain(m)[which](alpha)[0] for m in truths.members(_boxes(rows), grid))
            return found, 2.0  # a member off the grid may be worse; what is claimed of it names it

        return of

    return Case((path,), ("--nature", "fixed"), worst(0), worst(1))


def parameters(folder: Path, source: random.Random, question: str = "") -> Case:
    """A chain with a parameter."""
    rows: dict[str, Any] = random_rows(source)
    rows["s"] = {"a": "p", "c": "1-p"}
    model = document(LABELS, rows, parameters={"p": ["0", "1"]})

    def at(p: Fraction) -> Case:
        moves = without_choice({**rows, "s": {"a": p, "c": 1 - p}})
        return Case((), (), *true_of_chain(moves), word_laws(moves))

    return Case((written(folder, "parameters.json", model),), at=at)


def given_parameters(folder: Path, source: random.Random, question: str = "") -> Case:
    """A chain with a parameter, of which the value is given."""
    rows: dict[str, Any] = random_rows(source)
    rows["s"] = {"a": "p", "c": "1-p"}
    path = written(folder, "parameters.json", document(LABELS, rows, parameters={"p": ["0", "1"]}))
    moves = without_choice({**rows, "s": {"a": Fraction(1, 3), "c": Fraction(2, 3)}})
    system = for_ever({state: row[""] for state, row in moves.items()})
    return Case((path,), ("--set", "p=1/3"), *true_of_chain(moves), word_laws(moves), system=system)


def _interactive(folder: Path, source: random.Random) -> tuple[str, truths.Moves]:
    moves = {state: {act: random_row(source, after) for act in "XY"} for state, after in AFTER.items()}
    steps = {state: {act: row_text(row) for act, row in rows.items()} for state, rows in moves.items()}
    ends: dict[str, object] = {"y": {}, "n": {}}
    model = {"kind": "interactive", "states": LABELS, "transitions": steps | ends, "pairs": [["s", "t"]]}
    return written(folder, "interactive.json", model), moves


def _asked(moves: truths.Moves, rounds: int | None) -> Callable[[Fraction], Range]:
    def delta(alpha: Fraction) -> Range:
        value = float(truths.delta_asked(LABELS, moves, ("s", "t"), alpha, rounds))
        return value, value

    return delta


def _largest(moves: truths.Moves) -> Callable[[Fraction], Range]:
    def distance(alpha: Fraction) -> Range:
        def facing(i: str, j: str) -> list[tuple[Any, Any]]:
            return [(moves[i][a], moves[j][a]) for a in moves.get(i, {})]

        value = truths.distance(LABELS, ("s", "t"), alpha, facing)
        return value, value

    return distance


def interactive(folder: Path, source: random.Random, question: str = "") -> Case:
    """An interactive model."""
    path, moves = _interactive(folder, source)
    return Case((path,), (), _asked(moves, None), _largest(moves), moves=moves)


def rounds(folder: Path, source: random.Random, question: str = "") -> Case:
    """An analyst who may ask twice."""
    path, moves = _interactive(folder, source)
    return Case((path,), ("--rounds", "2"), _asked(moves, 2), _largest(moves))


def fixed_rounds(folder: Path, source: random.Random, question: str = "") -> Case:
    """An analyst who has to say beforehand what it asks."""
    path, moves = _interactive(folder, source)

    def delta(alpha: Fraction) -> Range:
        value = float(truths.delta_fixed(LABELS, moves, ("s", "t"), alpha, 2))
        return value, value

    return Case((path,), ("--rounds", "2", "--fixed"), delta)


WAITING = """\
def f(x, rng):
    n = 0
    while rng.randrange({first} if x else {second}) and n < 1000:
        n += 1
    return n % {modulus}
"""


def cut(folder: Path, source: random.Random, question: str = "") -> Case:
    """A program whose runs are cut off: those given up may go wherever is worst."""
    first, second, modulus = source.choice((2, 3)), source.choice((4, 5)), source.choice((2, 3))
    (folder / "waits.py").write_text(WAITING.format(first=first, second=second, modulus=modulus))

    def law(sides: int) -> list[Fraction]:
        found, left = [Fraction(0)] * modulus, ONE
        for n in range(1000):
            found[n % modulus] += left / sides
            left *= 1 - Fraction(1, sides)
        found[1000 % modulus] += left
        return found

    def delta(alpha: Fraction) -> Range:
        zero, p, q = Fraction(0), law(first), law(second)
        value = float(
            max(
                sum((max(zero, x - alpha * y) for x, y in zip(*two, strict=True)), zero)
                for two in ((p, q), (q, p))
            )
        )
        return value, value

    def distance(alpha: Fraction) -> Range:
        return delta(alpha)[0], 2.0

    given = (f"{folder}/waits.py:f", "--input", "1", "--input", "0")
    return Case(given, ("--cut", "1/8"), delta, distance)


ASKING = """\
def f(x, rng, analyst):
    for _ in range(2):
        bits = analyst.choose([(0, 1), (1, 0)])
        analyst.tell(bits[x] if rng.randrange({sides}) else 1 - bits[x])
"""


def asking(folder: Path, source: random.Random, question: str = "") -> Case:
    """A program that asks an analyst: two randomised responses are all that is seen."""
    sides = source.choice((3, 4, 5))
    (folder / "asks.py").write_text(ASKING.format(sides=sides))
    truth = 1 - Fraction(1, sides)

    def delta(alpha: Fraction) -> Range:
        zero, lie = Fraction(0), 1 - truth
        runs = [(truth**k * lie ** (2 - k), lie**k * truth ** (2 - k), (1, 2, 1)[k]) for k in range(3)]
        value = float(sum((times * max(zero, p - alpha * q) for p, q, times in runs), zero))
        return value, value

    def distance(alpha: Fraction) -> Range:
        return delta(alpha)[0], 2.0

    given = (f"{folder}/asks.py:f", "--input", "0", "--input", "1")
    return Case(given, (), delta, distance, pair=("0", "1"))


COINS = """\
def f(x, rng):
    if rng.getrandbits(1) == 1 or rng.getrandbits(1) == {bit}:
        return x
    return 1 - x
"""


def coins(folder: Path, source: random.Random, question: str = "") -> Case:
    """A program each of whose coins somebody bends, and knows all that came before."""
    (folder / "coins.py").write_text(COINS.format(bit=source.choice((0, 1))))
    gain = Fraction(1, source.choice((3, 5, 9)))

    def delta(alpha: Fraction) -> Range:
        high = (1 + gain) / 2
        rights = [
            1 - a * b for a in (high, 1 - high) for b in (high, 1 - high)
        ]  # the chance of x, if it is 0
        zero = Fraction(0)
        value = float(
            max(max(zero, p - alpha * (1 - q)) + max(zero, 1 - p - alpha * q) for p in rights for q in rights)
        )
        return value, value

    def distance(alpha: Fraction) -> Range:
        return delta(alpha)[0], 2.0

    given = (f"{folder}/coins.py:f", "--input", "0", "--input", "1")
    return Case(given, ("--coins", str(gain)), delta, distance)


def automaton(
    folder: Path, source: random.Random, question: str = "", *, missing: bool = False, seen: bool = True
) -> Case:
    """An automaton without choices; perhaps some mass is missing, and perhaps ends are not seen."""
    rows = random_rows(source)
    if missing:
        rows["a"] = {t: p * Fraction(1, 2) for t, p in rows["a"].items()}
    steps = [{"from": state, "action": LABELS[state], "to": row_text(row)} for state, row in rows.items()]
    model = {"kind": "pa", "states": list(LABELS), "transitions": steps, "pairs": [["s", "t"]]}
    path = written(folder, "automaton.json", model)
    words = word_laws(without_choice(rows), ends=seen)
    system: System = {s: (LABELS[s] if s in rows else None, rows.get(s, {})) for s in LABELS}
    if not seen:
        return Case((path,), words=words, system=system)
    ended = {**LABELS, "y": "end", "n": "end"}
    zero = Fraction(0)
    lost = {s: 1 - sum(row.values(), zero) for s, row in rows.items()}
    whole = {s: {**row, "n": row.get("n", zero) + lost[s]} if lost[s] else row for s, row in rows.items()}
    return Case((path,), (), *true_of_chain(without_choice(whole), ended), words, system=system)


def ends(how: str) -> Callable[[Path, random.Random, str], Case]:
    """Missing mass whose end is seen, or is not."""

    def make(folder: Path, source: random.Random, question: str) -> Case:
        case = automaton(folder, source, missing=True, seen=how == "visible")
        return replace(case, options=("--ends", how))

    return make


def missing(folder: Path, source: random.Random, question: str = "") -> Case:
    """An automaton of which mass is missing."""
    return automaton(folder, source, missing=True)


def beside(*options: str) -> Callable[[Path, random.Random, str], Case]:
    """A chain, and options beside it."""

    def make(folder: Path, source: random.Random, question: str) -> Case:
        case = SUITABLE.get(question, chain)(folder, source, question)
        given = tuple("1/3" if word == "THETA" else word for word in options)
        return replace(case, options=(*case.options, *given))

    return make


TURNING = """\
def f(x, rng):
    return x if rng.randrange({sides}) else 1 - x
"""


def program(folder: Path, source: random.Random, question: str = "") -> Case:
    """A program: randomised response."""
    sides = source.choice((2, 3, 4, 7))
    (folder / "turns.py").write_text(TURNING.format(sides=sides))
    truth = 1 - Fraction(1, sides)

    def delta(alpha: Fraction) -> Range:
        value = float(max(Fraction(0), truth - alpha * (1 - truth), 1 - truth - alpha * truth))
        return value, value

    return Case((f"{folder}/turns.py:f", "--input", "0", "--input", "1"), (), delta)


def module(folder: Path, source: random.Random, question: str = "") -> Case:
    """A program as compiled code: randomised response, by a threshold for a random byte."""
    bound = source.choice((128, 171, 192, 220))
    code = i32(1) + get(0) + b"\x6b" + get(0) + call(0) + i32(bound) + b"\x4f\x1b"
    made = assembled({"f": ((("i32",), ("i32",)), (), code)}, imports=[RANDOM[8]])
    (folder / "turns.wasm").write_bytes(made)
    truth = Fraction(bound, 256)

    def delta(alpha: Fraction) -> Range:
        value = float(max(Fraction(0), truth - alpha * (1 - truth), 1 - truth - alpha * truth))
        return value, value

    rows = {"0": {"0": truth, "1": 1 - truth}, "1": {"0": 1 - truth, "1": truth}}
    system: System = {
        **{x: ("start", {f"return {y}": p for y, p in row.items()}) for x, row in rows.items()},
        **{f"return {y}": (y, {f"return {y}": ONE}) for y in rows},
    }

    def words(state: str) -> Mapping[tuple[str, ...], Fraction]:
        found: dict[tuple[str, ...], Fraction] = {(system[state][0] or "",): ONE}
        return found | {("start", y): p for y, p in rows.get(state, {}).items()}

    given = (f"{folder}/turns.wasm:f", "--input", "0", "--input", "1", "--chance", "env.rnd8")
    return Case(given, (), delta, delta, words, system=system, pair=("0", "1"))


def hidden(folder: Path, source: random.Random, question: str = "") -> Case:
    """A hidden Markov model."""
    rows = random_rows(source)
    model = {
        "kind": "hmm",
        "observations": sorted(set(LABELS.values())),
        "states": {state: {label: "1"} for state, label in LABELS.items()},
        "transitions": {state: row_text(row) for state, row in rows.items()},
        "distributions": {"one": {"s": "1"}, "other": {"t": "1"}},
        "pairs": [["one", "other"]],
    }
    return Case((written(folder, "hidden.json", model),), words=word_laws(without_choice(rows)))


SUITABLE = {
    **dict.fromkeys(("verify", "epsilon", "prove"), hidden),
    "program": program,
    "synthesise": parameters,
}
"""What a question is about, where that is no chain."""

FEATURES = {
    feature.name: feature
    for feature in (
        Feature("nothing else", beside()),
        Feature("intervals, each step", each_step),
        Feature("intervals, fixed", fixed),
        Feature(
            "parameters",
            parameters,
            {
                "delta": ("--over", "p"),
                "bound": ("--for-all", "p in [1/4, 1/2]", "--threshold", "1/2"),
            },
        ),
        Feature("parameters, given", given_parameters),
        Feature("interactive", interactive, {"leakage": ("--ask", "X,Y,X")}),
        Feature("rounds", rounds),
        Feature("fixed rounds", fixed_rounds),
        Feature("cut program", cut),
        Feature("program that asks", asking),
        Feature("compiled code", module),
        Feature("bent coins", coins),
        Feature("automaton", automaton),
        Feature("ends visible", ends("visible")),
        Feature("ends hidden", ends("hidden")),
        Feature("missing mass", missing),
        Feature("merged states", beside("--minimise", "1/50")),
        Feature("compact tables", beside("--certificate-format", "compact")),
        Feature("threshold", beside("--threshold", "1/3")),
        Feature("precision", beside("--precision", "1/50")),
        Feature("gap", beside("--gap", "1/50")),
        Feature("time-out", beside("--timeout", "0")),
    )
}
