"""Trace equivalence beside Tzeng's algorithm, and the trace metric beside enumeration."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from flint import fmpq

from benchmarks.foreign import as_fraction
from benchmarks.tables import Size, Table, bytes_text, fine_seconds, ratio
from benchmarks.timing import timed
from bisimdist.budgets.verify.ask import epsilon
from bisimdist.checker import check_certificate
from bisimdist.errors import LimitError
from bisimdist.exact.doubles import as_double
from bisimdist.models.conversions import lmc_as_hmm
from bisimdist.models.ends import Ends, completed
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.leaky_retry import leaky_retry
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.library.randomised_response import randomised_response
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, Transition, chain_as_automaton
from bisimdist.progress import NEVER, Deadline
from bisimdist.traces.equivalence.ask import trace_equivalence
from bisimdist.traces.trace.answer import TraceMetricAnswer
from bisimdist.traces.trace.ask import trace_metric

__all__ = [
    "deferred_pairs",
    "enumerate_traces",
    "equivalence_tables",
    "mixed_copies",
    "trace_metric_tables",
    "tzeng",
]


def _written(certificate: Callable[[], object]) -> str:
    return json.dumps(certificate())


def _valid(text: str) -> bool:
    return check_certificate(text).valid


# -- trace equivalence ------------------------------------------------------------------------------------


def deferred_pairs(states: int, pairs: int, seed: int = 1) -> PA:
    """Return a random automaton with pairs in front of it that are trace equivalent, but not bisimilar.

    One side chooses at once between two states that it reaches in two steps, the other one step later.
    """
    draw = random.Random(seed)
    steps = []
    for s in range(states):
        targets = sorted(draw.sample(range(states), 3))
        weights = [draw.randint(1, 6) for _ in targets]
        whole = sum(weights) + draw.randint(0, 2)
        row = tuple((t, fmpq(w, whole)) for t, w in zip(targets, weights, strict=True))
        steps.append(Transition(s, draw.choice("abc"), row))
    half, one = fmpq(1, 2), fmpq(1)
    asked = []
    for first in range(states, states + 5 * pairs, 5):
        early, late, left, right, both = range(first, first + 5)
        x, y = sorted(draw.sample(range(states), 2))
        steps += [
            Transition(early, "a", ((left, half), (right, half))),
            Transition(late, "a", ((both, one),)),
            Transition(left, "b", ((x, one),)),
            Transition(right, "b", ((y, one),)),
            Transition(both, "b", ((x, half), (y, half))),
        ]
        asked.append((early, late))
    return PA(tuple(f"s{s}" for s in range(states + 5 * pairs)), tuple(steps), tuple(asked))


def mixed_copies(states: int, pairs: int, seed: int = 1) -> PA:
    """Return two random automata that are trace equivalent state by state, but hardly anywhere bisimilar.

    A third of the states do what two others of the same action do on the toss of a coin; the second automaton
    tosses the coin one step earlier wherever the first one goes to such a state. So the differences of
    equivalent states never end, and span about as many dimensions as there are states.
    """
    draw = random.Random(seed)
    mixed = states // 3
    actions = "".join(draw.choice("abc") for _ in range(states - mixed))
    rows = []
    for _ in range(states - mixed):
        targets = sorted(draw.sample(range(states), 3))
        weights = [draw.randint(1, 6) for _ in targets]
        whole = sum(weights) + draw.randint(0, 2)
        rows.append({t: fmpq(w, whole) for t, w in zip(targets, weights, strict=True)})
    halves: dict[int, tuple[int, int]] = {}
    for d in range(states - mixed, states):
        one = draw.randrange(states - mixed)
        other = draw.choice([s for s in range(states - mixed) if actions[s] == actions[one]])
        halves[d] = (one, other)
        actions += actions[one]
        rows.append(_sum((fmpq(1, 2), rows[one]), (fmpq(1, 2), rows[other])))
    steps = [Transition(s, actions[s], tuple(sorted(rows[s].items()))) for s in range(states)]
    for s in range(states):
        parts = [
            (mass / 2 if t in halves else mass, {states + u: fmpq(1)})
            for t, mass in rows[s].items()
            for u in halves.get(t, (t,))
        ]
        steps.append(Transition(states + s, actions[s], tuple(sorted(_sum(*parts).items()))))
    names = tuple(f"{side}{s}" for side in "st" for s in range(states))
    return PA(names, tuple(steps), tuple((s, states + s) for s in range(pairs)))


def _sum(*parts: tuple[fmpq, Mapping[int, fmpq]]) -> dict[int, fmpq]:
    total: dict[int, fmpq] = {}
    for factor, row in parts:
        for target, mass in row.items():
            total[target] = total.get(target, fmpq(0)) + factor * mass
    return total


def tzeng(
    automaton: PA, first: int, second: int, number: Callable[[fmpq], Any], deadline: Deadline = NEVER
) -> tuple[str, ...] | None:
    """Return a shortest trace of different probabilities, by Tzeng's algorithm in the numbers that are given.

    The differences of the two sub-distributions after each trace are kept in echelon form; those that depend
    on earlier ones are not followed.
    """
    whole = completed(automaton, Ends.HIDDEN)
    step = {s.source: (s.action, [(t, number(p)) for t, p in s.row]) for s in whole.transitions}
    basis: dict[int, dict[int, Any]] = {}
    waiting: list[tuple[tuple[str, ...], dict[int, Any]]] = [
        ((), {first: number(fmpq(1)), second: number(fmpq(-1))})
    ]
    for word, vector in waiting:  # grows
        deadline.check()
        if sum(vector.values()) != 0:
            return word
        rest = dict(vector)
        while rest:
            pivot = min(rest)
            if pivot not in basis:
                basis[pivot] = rest
                break
            factor = rest[pivot] / basis[pivot][pivot]
            for state, entry in basis[pivot].items():
                value = rest.get(state, 0) - factor * entry
                if value:
                    rest[state] = value
                else:
                    rest.pop(state, None)
        else:
            continue
        after: dict[str, dict[int, Any]] = {}
        for state, entry in vector.items():
            action, row = step.get(state, ("", []))
            reached = after.setdefault(action, {})
            for target, p in row:
                reached[target] = reached.get(target, 0) + entry * p
        for action in sorted(after):
            moved = {state: entry for state, entry in after[action].items() if entry}
            if moved:
                waiting.append(((*word, action), moved))
    return None


NUMBERS: Mapping[str, Callable[[fmpq], Any]] = {"fmpq": lambda value: value, "Fraction": as_fraction}


def _tzeng_seconds(automaton: PA, kind: str, limit: float) -> tuple[float, bool]:
    """Return the CPU seconds for all pairs, and whether it came to an end."""
    deadline = Deadline.after(limit)

    def work() -> bool:
        try:
            words = [tzeng(automaton, s, t, NUMBERS[kind], deadline) for s, t in automaton.pairs]
        except LimitError:
            return False
        if any(word is not None for word in words):
            raise AssertionError("Tzeng's algorithm tells apart what is equivalent")
        return True

    ended, spent = timed(work)
    return spent, ended


def _equivalence_cases(size: Size) -> Iterator[tuple[str, Callable[[int, int], PA], int, int]]:
    full = size is Size.FULL
    sizes = [(100, 1), (100, 5), (300, 5), (1000, 1), *([(1000, 20)] if full else [])]
    for states, pairs in sizes[: size.pick(2, 4, 5)]:
        yield "deferred", deferred_pairs, states, pairs
    sizes = [(20, 1), (50, 1), (50, 5), (100, 1), *([(150, 5), (500, 1), (500, 5)] if full else [])]
    for states, pairs in sizes:
        yield "mixed", mixed_copies, states, pairs


def equivalence_tables(size: Size) -> Iterator[Table]:
    """Trace equivalence of pairs that are equivalent, but not bisimilar, beside Tzeng's algorithm."""
    table = Table(
        "Trace equivalence of pairs that are equivalent, but not bisimilar: CPU seconds",
        (
            "family",
            "states",
            "pairs",
            "answer",
            "ours s",
            "certificate MB",
            "writing s",
            "checking s",
            "Tzeng, fmpq s",
            "Tzeng / ours",
            "Tzeng, Fraction s",
            "Tzeng / ours",
        ),
    )
    limit = size.pick(2.0, 10.0, 60.0)
    trace_equivalence(deferred_pairs(10, 1))
    for name, make, states, pairs in _equivalence_cases(size):
        automaton = make(states, pairs)
        answer, ours = timed(partial(trace_equivalence, automaton))
        text, writing = timed(partial(_written, answer.certificate))
        valid, checking = timed(partial(_valid, text))
        cells = []
        for kind in NUMBERS:
            spent, ended = _tzeng_seconds(automaton, kind, limit)
            more = "" if ended else "> "
            cells += [more + fine_seconds(spent), more + ratio(spent, ours)]
        table.add(
            name,
            str(len(automaton)),
            str(pairs),
            "equivalent" if answer.equivalent else "WRONG",
            fine_seconds(ours),
            bytes_text(len(text)),
            fine_seconds(writing),
            fine_seconds(checking) if valid else "REJECTED",
            *cells,
        )
    table.remarks = (
        "Random automata with three successors a state, three actions and some lost mass. deferred: in "
        "front of "
        "one of them pairs that choose now or one step later, whose differences are gone after two steps. "
        "mixed: "
        "two of them, equivalent state by state because one tosses coins a step earlier, so that differences "
        "never end. Tzeng: forward, differences of sub-distributions in echelon form, pair by pair, in "
        "rationals; "
        f"> means that it was stopped after {limit:.0f} s wall for all pairs of the row.",
    )
    yield table


# -- trace metric -----------------------------------------------------------------------------------------


def enumerate_traces(automaton: PA, length: int, deadline: Deadline = NEVER) -> tuple[fmpq | None, fmpq, int]:
    """Return the largest ratio (None: infinite) and difference of all traces, and how many there are."""
    step = {s.source: (s.action, s.row) for s in completed(automaton, Ends.VISIBLE).transitions}
    s, t = automaton.pairs[0]
    largest: fmpq | None = fmpq(1)
    difference, count = fmpq(0), 0
    stack = [(0, {s: fmpq(1)}, {t: fmpq(1)})]
    while stack:
        depth, *sides = stack.pop()
        count += 1
        if count % 256 == 0:
            deadline.check()
        low, high = sorted(sum(side.values(), fmpq(0)) for side in sides)
        difference = max(difference, high - low)
        largest = None if low == 0 or largest is None else max(largest, high / low)
        if depth == length:
            continue
        after: dict[str, tuple[dict[int, fmpq], dict[int, fmpq]]] = {}
        for place, side in enumerate(sides):
            for state, mass in side.items():
                action, row = step.get(state, ("", ()))
                for target, p in row:
                    reached = after.setdefault(action, ({}, {}))[place]
                    reached[target] = reached.get(target, fmpq(0)) + mass * p
        stack += [(depth + 1, *moved) for moved in after.values()]
    return largest, difference, count


def _layered_chain(width: int, depth: int, seed: int = 1) -> LMC:
    """Return a chain in which layer follows layer, each of two labels: ratios are finite."""
    draw = random.Random(seed)
    names = [f"s{n}" for n in range(width * depth)] + ["end"]
    labels = {name: "a" if n < width else "ab"[n % 2] for n, name in enumerate(names)} | {"end": "end"}
    rows = {}
    for n, name in enumerate(names[:-1]):
        first = (n // width + 1) * width
        targets = names[first : first + width] if first < width * depth else ["end"]
        weights = [draw.randint(1, 9) for _ in targets]
        rows[name] = {target: fmpq(w, sum(weights)) for target, w in zip(targets, weights, strict=True)}
    return LMC.from_mappings(labels, rows | {"end": {"end": fmpq(1)}}, [("s0", "s1")])


def _dense_chain(size: int, seed: int = 1) -> LMC:
    """Return a chain with full rows and two labels, hence an ever growing set of beliefs."""
    draw = random.Random(seed)
    names = [f"s{n}" for n in range(size)]
    rows = {}
    for name in names:
        weights = [draw.randint(4, 6) for _ in names]
        rows[name] = {target: fmpq(w, sum(weights)) for target, w in zip(names, weights, strict=True)}
    labels = {name: "a" if n < 2 else "ab"[n % 2] for n, name in enumerate(names)}
    return LMC.from_mappings(labels, rows, [("s0", "s1")])


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    chain: LMC
    lengths: tuple[int, ...]
    """To which the others go; where the last one is the longest trace that matters, they find the same."""


def _cases(size: Size) -> Iterator[_Case]:
    for n in size.pick((6,), (6, 8, 10, 14), (6, 8, 10, 14, 18)):
        yield _Case(f"dining cryptographers, n = {n}", dining_cryptographers(n), (n + 1,))
    for rounds in size.pick((4,), (4, 16), (4, 16, 64)):
        chain = randomised_response(2, "3/4", rounds)
        yield _Case(f"randomised response, {rounds} rounds", chain, (min(rounds + 1, 17),))
    yield _Case("randomised response, 3 answers, 6 rounds", randomised_response(3, "1/2", 6), (7,))
    yield _Case("leaky retry", leaky_retry(), (10, 50))
    far = size.pick((5,), (5, 10), (5, 10))
    yield _Case("random, 100 states, 5 successors, 3 labels", random_lmc(100, 5, 3, 0), far)
    for width, depth in size.pick((), ((4, 8),), ((4, 8), (6, 12))):
        yield _Case(f"random layers, {depth} of {width}", _layered_chain(width, depth), (depth,))
    for states in size.pick((), (4,), (4, 8)):
        yield _Case(f"random, {states} states, full rows", _dense_chain(states), (8, 12))


def _number(value: fmpq | None) -> str:
    return "inf" if value is None else f"{as_double(value):.6g}"


def _bounds(answer: TraceMetricAnswer) -> str:
    pair = answer.pairs[0]
    lower, upper = _number(pair.lower), _number(pair.upper)
    return lower if pair.exact else f"{lower} .. {upper}"


def _enumerated(automaton: PA, length: int, limit: float) -> tuple[str, float, bool]:
    def work() -> tuple[fmpq | None, fmpq, int] | None:
        try:
            return enumerate_traces(automaton, length, Deadline.after(limit))
        except LimitError:
            return None

    found, spent = timed(work)
    if found is None:
        return f"> {fine_seconds(spent)}", spent, False
    largest, difference, count = found
    return f"{fine_seconds(spent)} ({count}: {_number(largest)}, {_number(difference)})", spent, True


def _hidden(chain: LMC, length: int, limit: float) -> tuple[str, float, bool]:
    model = lmc_as_hmm(chain)
    answer, spent = timed(
        lambda: epsilon(
            model, length=length, up_to=True, pairs=model.pairs[:1], deadline=Deadline.after(limit)
        )
    )
    budget = answer.pairs[0]
    if not budget.exact:
        return f"> {fine_seconds(spent)}", spent, False
    return f"{fine_seconds(spent)} ({_number(budget.ratio)})", spent, True


def _trace_row(table: Table, case: _Case, kind: str, limit: float) -> None:
    automaton = chain_as_automaton(case.chain)
    answer, ours = timed(lambda: trace_metric(case.chain, kind, deadline=Deadline.after(limit)))
    text, writing = timed(partial(_written, answer.certificate))
    valid, checking = timed(partial(_valid, text))
    for length in case.lengths if kind == "multiplicative" else case.lengths[-1:]:
        enumerated, spent, ended = _enumerated(automaton, length, limit)
        hidden, alternative, decided = (
            ("-", 0.0, True) if kind == "additive" else _hidden(case.chain, length, limit)
        )
        table.add(
            case.name,
            str(len(case.chain)),
            kind,
            _bounds(answer),
            str(answer.statistics["nodes"]),
            fine_seconds(ours),
            fine_seconds(writing),
            fine_seconds(checking) if valid else "REJECTED",
            str(length),
            enumerated,
            ("" if ended else "> ") + ratio(spent, ours),
            hidden,
            "-" if kind == "additive" else ("" if decided else "> ") + ratio(alternative, ours),
        )


def trace_metric_tables(size: Size) -> Iterator[Table]:
    """The trace metric of all lengths beside enumeration and `epsilon --length`."""
    limit = size.pick(1.0, 8.0, 60.0)
    table = Table(
        "Trace metric of all lengths: CPU seconds",
        (
            "chain",
            "states",
            "kind",
            "value",
            "beliefs",
            "ours s",
            "writing s",
            "checking s",
            "length of the others",
            "enumeration s (traces: ratio, difference)",
            "enumeration / ours",
            "`epsilon --length` s (ratio)",
            "epsilon / ours",
        ),
        (
            "Ours is for traces of every length and proved; the others are for traces up to a length, and "
            "bound "
            "the value from below. Enumeration: one search through all traces, information states in "
            "rationals. "
            "`epsilon --length`: our search for hidden Markov models on the converted chain. Values of kind "
            f"multiplicative are ratios. > means stopped after {limit:.0f} s wall; so is ours where it has "
            f"two "
            "bounds and took as long.",
        ),
    )
    trace_metric(leaky_retry())
    for case in _cases(size):
        for kind in ("multiplicative", "additive"):
            _trace_row(table, case, kind, limit)
    yield table
