"""Every hypothesis strategy for models that tests share."""

from __future__ import annotations

from flint import fmpq
from hypothesis import strategies as st

from bisimdist.models.entries import Parameter, SparseRow
from bisimdist.models.hmm import HMM
from bisimdist.models.interactive import Interactive
from bisimdist.models.intervals import IntervalChain, IntervalRow
from bisimdist.models.lmc import LMC, Row
from bisimdist.models.pa import PA, Transition
from bisimdist.models.parametric import ParametricChain
from bisimdist.models.polynomial import Entry, RationalFunction, parameter_ring, simplified

__all__ = [
    "alphas",
    "automata",
    "hmms",
    "interactives",
    "interval_chains",
    "lmcs",
    "parametric_chains",
    "rows",
    "similar_automata",
    "tangled_automata",
    "weights",
]

ALPHAS = ("1", "5001/5000", "11/10", "3/2", "2")


def alphas(*, include_one: bool = True) -> st.SearchStrategy[fmpq]:
    """Draw alpha from a short list: one, barely more, and large enough to change which states matter."""
    return st.sampled_from([_rational(text) for text in ALPHAS if include_one or text != "1"])


def weights(count: int, *, maximum: int = 4) -> st.SearchStrategy[list[fmpq]]:
    """Draw `count` positive rationals that sum to one; small weights, so that ties are frequent."""
    numerators = st.lists(st.integers(1, maximum), min_size=count, max_size=count)
    return numerators.map(lambda drawn: [fmpq(value, sum(drawn)) for value in drawn])


@st.composite
def rows(draw: st.DrawFn, targets: range, *, max_successors: int = 3) -> Row:
    """Draw a row of a chain whose successors lie in `targets`."""
    most = min(max_successors, len(targets))
    chosen = draw(st.lists(st.sampled_from(targets), min_size=1, max_size=most, unique=True))
    return tuple(zip(sorted(chosen), draw(weights(len(chosen))), strict=True))


@st.composite
def lmcs(
    draw: st.DrawFn,
    max_states: int = 6,
    cyclic: bool = True,
    *,
    min_states: int = 2,
    max_labels: int = 2,
    max_successors: int = 3,
) -> LMC:
    """Draw a chain with states s0, s1, … and labels a, b, …; few labels, so that states can be confused.

    With ``cyclic=False`` every state leads to later states only, but for final ones, which loop.
    The chain carries no pairs.
    """
    size = draw(st.integers(min_states, max_states))
    labels = draw(
        st.lists(
            st.sampled_from([chr(ord("a") + k) for k in range(max_labels)]), min_size=size, max_size=size
        )
    )
    drawn: list[Row] = []
    for index in range(size):
        targets = range(size) if cyclic else range(index + 1, size)
        final = not cyclic and (not targets or draw(st.integers(0, 4)) == 0)
        drawn.append(((index, fmpq(1)),) if final else draw(rows(targets, max_successors=max_successors)))
    return LMC(tuple(f"s{index}" for index in range(size)), tuple(labels), tuple(drawn))


@st.composite
def hmms(draw: st.DrawFn, max_states: int = 3, max_symbols: int = 2, *, ends: bool = True) -> HMM:
    """Draw a hidden Markov model with the distributions pi and tau; some states may end the sequence."""
    states = range(draw(st.integers(1, max_states)))
    symbols = range(draw(st.integers(1, max_symbols)))
    emissions = [draw(rows(symbols)) for _ in states]
    steps = [() if ends and draw(st.integers(0, 3)) == 0 else draw(rows(states)) for _ in states]
    return HMM(
        tuple(f"s{index}" for index in states),
        tuple(f"o{index}" for index in symbols),
        tuple(emissions),
        tuple(steps),
        (("pi", draw(rows(states))), ("tau", draw(rows(states)))),
        (("pi", "tau"),),
    )


HALVES = ("1/2", "1/4", "1/8")
MIXED = ("1/2", "1/3", "1/4", "1/6", "2/3")


@st.composite
def similar_automata(
    draw: st.DrawFn,
    max_states: int = 4,
    *,
    copies: int = 2,
    halves: bool = False,
    deterministic: bool = False,
) -> PA:
    """Draw copies of one automaton that differ in their probabilities alone, each with its own first letter.

    So bijections exist and their ratios matter. With ``halves`` all probabilities are powers of 1/2 and all
    ratios powers of 2; with ``deterministic`` no state has two transitions of one action. Rows need not sum
    to one. The first states of the first two copies are the pair.
    """
    size = draw(st.integers(1, max_states))
    cyclic = draw(st.booleans())
    values = [_rational(text) for text in (HALVES if halves else MIXED)]
    steps: list[Transition] = []
    for source in range(size):
        targets = range(size) if cyclic else range(source + 1, size)
        actions = st.lists(st.sampled_from("ab"), max_size=2, unique=deterministic)
        for action in draw(actions) if targets else []:
            chosen = sorted(draw(st.lists(st.sampled_from(targets), min_size=1, max_size=3, unique=True)))
            drawn: list[fmpq] = []
            for copy in range(copies):
                for _ in range(1 if deterministic else draw(st.sampled_from((1, 1, 1, 2)))):
                    again: bool = draw(st.booleans())
                    if drawn and again:
                        drawn = list(draw(st.permutations(drawn)))
                    else:
                        drawn = [draw(st.sampled_from(values)) for _ in chosen]
                    scale = fmpq(2) if sum(drawn, fmpq(0)) > 1 else fmpq(1)
                    row = tuple(
                        (copy * size + target, p / scale) for target, p in zip(chosen, drawn, strict=True)
                    )
                    steps.append(Transition(copy * size + source, action, row))
    names = tuple(f"{'stuvw'[copy]}{index}" for copy in range(copies) for index in range(size))
    return PA(names, tuple(steps), ((0, size),) if copies > 1 else ())


def _rational(text: str) -> fmpq:
    numerator, _, denominator = text.partition("/")
    return fmpq(int(numerator), int(denominator or 1))


@st.composite
def tangled_automata(draw: st.DrawFn, max_states: int = 3, *, halves: bool = False) -> PA:
    """Draw two similar automata whose transitions lead from one into the other.

    So there are states at distance 0 on both sides, pairs within one copy, and pairs the wrong way round.
    """
    automaton = draw(similar_automata(max_states, halves=halves))
    size = len(automaton) // 2
    steps = []
    for step in automaton.transitions:
        crossed = draw(st.lists(st.booleans(), min_size=len(step.row), max_size=len(step.row)))
        row = [((t + size * cross) % (2 * size), p) for (t, p), cross in zip(step.row, crossed, strict=True)]
        steps.append(Transition(step.source, step.action, tuple(sorted(row))))
    return PA(automaton.states, tuple(steps), automaton.pairs)


@st.composite
def automata(
    draw: st.DrawFn, max_states: int = 5, *, nondeterministic: bool = True, acyclic: bool = False
) -> PA:
    """Draw an automaton with actions a and b, few different masses, some of them below one.

    Without nondeterminism a state has at most one transition of each action.
    """
    size = draw(st.integers(2, max_states))
    steps: list[Transition] = []
    for source in range(size):
        targets = range(source + 1, size) if acyclic else range(size)
        for action in draw(st.lists(st.sampled_from("aab"), max_size=3, unique=not nondeterministic)):
            if not targets or draw(st.integers(0, 9)) == 0:
                row: Row = ()
            else:
                scale = draw(st.sampled_from((fmpq(1), fmpq(1), fmpq(1), fmpq(1, 2))))
                row = tuple((target, p * scale) for target, p in draw(rows(targets)))
            steps.append(Transition(source, action, row))
    return PA(tuple(f"s{index}" for index in range(size)), tuple(steps))


@st.composite
def interval_chains(draw: st.DrawFn, middle: int = 3, cyclic: bool = True) -> IntervalChain:
    """Draw a chain of which most probabilities are not known; the pair is that of s0 and s1.

    Both lead to states in the middle, which can be confused, these to two states that show what they are,
    and with `cyclic` the first of these may lead back.
    """
    labels = ["a", "a", *(draw(st.sampled_from("mn")) for _ in range(middle)), "y", "z"]
    size = len(labels)
    within, ends = range(2, 2 + middle), range(size - 2, size)
    found: list[IntervalRow] = []
    for state in range(size):
        if state in ends and not (cyclic and state == size - 2 and draw(st.booleans())):
            found.append(((state, fmpq(1), fmpq(1)),))
            continue
        targets = (*within, size - 1) if state < 2 else (0, size - 1) if state in ends else ends
        chosen = sorted(draw(st.lists(st.sampled_from(targets), min_size=2, max_size=3, unique=True)))
        width = fmpq(draw(st.sampled_from((0, 1, 1, 2))), 8)
        row = zip(chosen, draw(weights(len(chosen))), strict=True)
        found.append(tuple((t, max(fmpq(0), p - width), min(fmpq(1), p + width)) for t, p in row))
    names = tuple(f"s{number}" for number in range(size))
    return IntervalChain(names, tuple(labels), tuple(found), ((0, 1),))


@st.composite
def parametric_chains(
    draw: st.DrawFn, middle: int = 3, *, cyclic: bool = False, fractions: bool = True
) -> ParametricChain:
    """Draw a chain with the parameter p, between 0 and 1, and the pair of s0 and s1.

    Both lead to states in the middle, which can be confused, these to one another in a row and to two states
    that show what they are; with `cyclic` the middle may also lead back. A row is a mixture of two or three
    rows of numbers, with weights that depend on p.
    """
    labels = ["a", "a", *(draw(st.sampled_from("mn")) for _ in range(middle)), "y", "z"]
    size = len(labels)
    (p,) = (RationalFunction.of(x) for x in parameter_ring(("p",)).gens())
    mixtures = [(p, 1 - p), (p * p, 2 * p * (1 - p), (1 - p) * (1 - p)), (fmpq(1),)]
    if fractions:
        mixtures.append((p / (1 + p), 1 / (1 + p)))
    found: list[SparseRow] = []
    for state in range(size):
        if state >= size - 2:
            found.append(((state, fmpq(1)),))
            continue
        later = range(2, 2 + middle) if state < 2 else range(state + 1, size)
        targets = (*later, *(range(2, size - 2) if cyclic and state >= 2 else ()))
        row: dict[int, Entry] = {}
        for weight in draw(st.sampled_from(mixtures)):
            for target, number in draw(rows(range(len(targets)), max_successors=2)):
                row[targets[target]] = row.get(targets[target], fmpq(0)) + weight * number
        entries = ((target, simplified(entry)) for target, entry in sorted(row.items()))
        found.append(tuple((target, entry) for target, entry in entries if entry))
    names = tuple(f"s{number}" for number in range(size))
    return ParametricChain(names, tuple(labels), tuple(found), (Parameter("p", fmpq(0), fmpq(1)),), ((0, 1),))


@st.composite
def interactives(
    draw: st.DrawFn,
    max_states: int = 4,
    *,
    max_labels: int = 2,
    max_actions: int = 2,
) -> Interactive:
    """Draw an interactive model with states s0, s1, … of which the first two are the pair and share a label.

    The label of the pair offers all actions X, Y, …, every other one some of them or none.
    """
    size = draw(st.integers(2, max_states))
    others = draw(st.lists(st.integers(0, max_labels - 1), min_size=size - 2, max_size=size - 2))
    labels = [0, 0, *others]
    actions = "XYZ"[:max_actions]
    offers = [
        actions if label == 0 else draw(st.sampled_from(("", *actions, actions)))
        for label in range(max_labels)
    ]
    moves = tuple(tuple((a, draw(rows(range(size)))) for a in offers[label]) for label in labels)
    names = tuple(f"s{index}" for index in range(size))
    return Interactive(names, tuple("abc"[label] for label in labels), moves, ((0, 1),))
