"""Which bisimilar states stay close when all probabilities move a little, and which jump apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from flint import fmpq

from bisimdist.automata.engine.robust import coupled, robust_classes, steps_together
from bisimdist.distances.bound.ask import bound
from bisimdist.errors import ENDINGS, UsageError
from bisimdist.exact.number import Exact, Numbers
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.asked_pairs import asked_states
from bisimdist.faces.shown.numbers import at_least, at_most
from bisimdist.faces.shown.plain import said
from bisimdist.faces.shown.proved import Proved, Shown, no_certificate
from bisimdist.faces.shown.tables import Report
from bisimdist.faces.written.frame import Document, document
from bisimdist.faces.written.numbers import rational_text
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.bisimilarity import bisimilarity_classes
from bisimdist.models.conversions import observed_chain
from bisimdist.models.kinds import KnownModel
from bisimdist.models.lmc import LMC, Row
from bisimdist.models.reach import all_reached
from bisimdist.progress import NEVER, Deadline, Progress, silent

Pair = tuple[int, int]

MOVED = fmpq(1, 10**6)  # by how much one row is moved to see what that does

PRECISION = fmpq(1, 1000)
FAR = fmpq(1, 2)
TRIALS = 40
SMALL = 60  # a jump is looked for in chains of so many states, in so many ways, until the distance is this


@dataclass(frozen=True, slots=True)
class Jump(Numbers):
    """A chain near the one that was asked about, in which states are far apart that are bisimilar there."""

    state: str  # the one state whose row is another
    row: Mapping[str, Exact]
    moved: Exact  # how far that is in total variation
    distance: Exact  # a lower bound on the distance of the pair, for alpha = 1

    def data(self) -> dict[str, object]:
        """Return the chain, as what has changed, and the distance as plain data."""
        return said(self, "state row moved distance")


@dataclass(frozen=True, slots=True, kw_only=True)
class Robustness(Numbers):
    """Whether two states stay close when all probabilities move a little."""

    source: str
    target: str
    # bisimilar and robust: whether they are bisimilar, and robustly so; None where that is not decided
    bisimilar: bool | None = None
    robust: bool | None = None
    # where they are: in the mean after so many steps coupled runs are one. If every row moves by at most e in
    # total variation, their distance (and so delta) is at most 2 e times that.
    steps: Exact | None = None
    # where they are bisimilar and not robustly so, a chain nearby that shows it, if one was found
    jump: Jump | None = None

    def data(self) -> dict[str, object]:
        """Return what is known of the pair as plain data."""
        return said(self, "source target bisimilar robust steps jump")

    @property
    def row(self) -> tuple[str, ...]:
        words = {None: "not decided", True: "yes", False: "no"}
        steps = "" if self.steps is None else at_most(2 * self.steps)
        return self.source, self.target, words[self.bisimilar], words[self.robust], steps

    @property
    def remarks(self) -> list[str]:
        """What shows that the pair is not robust."""
        if self.jump is None:
            return []
        row = ", ".join(f"{name} {p}" for name, p in self.jump.row.items())
        return [
            f"({self.source}, {self.target}) jumps: with the row {row} of {self.jump.state}, which is "
            f"{self.jump.moved} away, and no other change their distance is {at_least(self.jump.distance)}."
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessAnswer(Shown, Proved):
    """For each pair in question whether it is robustly bisimilar.

    Parameters
    ----------
    model
        The chain.
    pairs
        What is known of the pairs, in the order in which they were asked.
    status
        ``EXACT``, or ``LIMIT`` where some pair is not decided.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> bisimdist.automata.robustness(chain).pairs[0].bisimilar
    False
    """

    command = "logic explain"

    model: LMC
    pairs: tuple[Robustness, ...]
    status: Status

    def report(self) -> Report:
        return Report(
            heading="robust bisimilarity: which states stay close when all probabilities move a little",
            columns=("from", "to", "bisimilar", "robustly", "distance by what rows move"),
            rows=tuple(pair.row for pair in self.pairs),
            remarks=(
                "If every row moves by at most e in total variation, the distance of a robust pair, and "
                "delta, is at most e times the last column.",
                *(remark for pair in self.pairs for remark in pair.remarks),
            ),
        )


@interruptible
def robustness(
    model: KnownModel,
    pairs: Sequence[tuple[str, str]] | None = None,
    *,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> RobustnessAnswer:
    """Decide robust bisimilarity of pairs of states, and how fast the distances of robust pairs grow.

    Source: FKPB25.

    Parameters
    ----------
    model
        The chain, or what stands for one.
    pairs
        Pairs of names of states; by default those of the model.
    deadline
        When to give up; pairs that are not decided by then are returned as such.
    progress, on_interrupt
        As for `bisimdist.bound`.

    Returns
    -------
    RobustnessAnswer
        For each pair whether it is robustly bisimilar, or how fast its distance grows.

    Raises
    ------
    UsageError
        If there is no pair.
    ModelError
        If a pair names no state.

    Examples
    --------
    >>> chain = LMC.from_mappings({"s": "a", "t": "a", "u": "b"},
    ...     {"s": {"t": 1}, "t": {"t": "1/2", "u": "1/2"}, "u": {"u": 1}}, [("s", "t")])
    >>> robustness(chain).pairs[0].bisimilar
    False

    Notes
    -----
    The proofs are in ``docs/theory/robust.md``.
    """
    chain = observed_chain(model).whole()
    asked = asked_states(chain, pairs)
    names = [(chain.states[s], chain.states[t]) for s, t in asked]
    found = [Robustness(source=s, target=t) for s, t in names]
    status, make = Status.LIMIT, no_certificate
    with suppress(*ENDINGS):
        kinds, classes = bisimilarity_classes(chain), robust_classes(chain, deadline=deadline)
        robust = [pair for pair in asked if classes[pair[0]] == classes[pair[1]]]
        steps = steps_together(chain, classes, [p for p in robust if p[0] != p[1]], deadline=deadline)
        make = partial(_certificate, chain, classes, steps, robust)
        for number, (s, t) in enumerate(asked):
            alike, close = kinds[s] == kinds[t], classes[s] == classes[t]
            count = steps.get((s, t), fmpq(0)) if close else None
            found[number] = Robustness(
                source=names[number][0], target=names[number][1], bisimilar=alike, robust=close, steps=count
            )
        status = Status.EXACT
    return RobustnessAnswer(
        model=chain,
        pairs=tuple(_with_jump(chain, pair, deadline, progress) for pair in found),
        status=status,
        make_certificate=make,
    )


def _with_jump(chain: LMC, pair: Robustness, deadline: Deadline, progress: Progress) -> Robustness:
    """Return what is known of a pair with a chain nearby in which it is far apart, where one is found."""
    if not pair.bisimilar or pair.robust or len(chain) > SMALL:
        return pair
    best: Jump | None = None
    asked = pair.source, pair.target
    with suppress(*ENDINGS):
        for number, (state, row) in enumerate(_moved(chain, [chain.index(name) for name in asked])):
            if number == TRIALS or (best is not None and best.distance >= FAR):
                break
            deadline.check()
            progress("chains nearby", number, TRIALS)
            rows = (*chain.rows[:state], row, *chain.rows[state + 1 :])
            near = LMC(chain.states, chain.labels, rows)
            lower = bound(near, 1, pairs=[asked], precision=PRECISION, deadline=deadline).pairs[0].lower
            if lower > PRECISION and (best is None or lower > best.distance):
                best = Jump(chain.states[state], {chain.states[t]: p for t, p in row}, MOVED, lower)
    return replace(pair, jump=best)


def _moved(chain: LMC, starts: Sequence[int]) -> Iterator[tuple[int, Row]]:
    """Yield a state that is reached and a row near its own, which leads a little to another label."""
    first = {label: state for state, label in reversed(list(enumerate(chain.labels)))}
    for state in sorted(all_reached(starts, lambda k: [target for target, _ in chain.rows[k]])):
        for label, target in first.items():
            if label != chain.labels[state]:
                row = {k: p * (1 - MOVED) for k, p in chain.rows[state]}
                row[target] = row.get(target, fmpq(0)) + MOVED
                yield state, tuple(sorted(row.items()))


def _certificate(
    chain: LMC, classes: Sequence[int], steps: Mapping[Pair, fmpq], robust: Sequence[Pair]
) -> Document:
    """Return the proof that pairs are robust: couplings of runs that meet."""
    if not robust:
        raise UsageError("no pair is robustly bisimilar, so there is no proof to write")
    names = chain.states
    listed = []
    for (s, t), count in steps.items():
        shared = sorted(coupled(chain, classes, s, t).items())
        coupling = [[names[u], names[v], rational_text(p)] for (u, v), p in shared]
        listed.append({"pair": [names[s], names[t]], "steps": rational_text(count), "coupling": coupling})
    claims = [
        {"from": names[s], "to": names[t], "steps": rational_text(steps.get((s, t), fmpq(0)))}
        for s, t in robust
    ]
    return document("robust-bisimilarity", chain, claims=claims, pairs=listed)
