"""Smaller chains that are nearly the same: states are merged while a proved bound on the loss allows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

from flint import fmpq

from bisimdist.distances.bound.answer import DistanceAnswer
from bisimdist.distances.bound.ask import bound
from bisimdist.errors import ENDINGS, LimitError, UsageError
from bisimdist.exact.number import Exact
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.numbers import at_most
from bisimdist.faces.shown.proved import Proved, Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.bisimilarity import of_classes, quotient
from bisimdist.models.conversions import observed_chain
from bisimdist.models.kinds import KnownModel
from bisimdist.models.lmc import LMC
from bisimdist.models.transform import disjoint_union
from bisimdist.progress import NEVER, Deadline, Progress, silent

MOST_PAIRS = 20_000  # of how many pairs of states the distances are worked out to say what to merge first

FINE = fmpq(1, 10**6)  # how narrow these are; a guess of an order rests on them, and no claim

PREFIXES = ("model:", "smaller:")


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimiseAnswer(Shown, Proved):
    """A smaller chain, and how far it is from the given one.

    Parameters
    ----------
    model, smaller
        The chain that was given, and the one without the states that were merged.
    classes
        For every state the state of the smaller chain that stands for it, by names.
    states
        The states that the loss is about, by names.
    loss
        A proved bound on the distance (bd for alpha = 1) of each of these from the state that stands for it.
        Every delta at alpha changes by at most (1 + alpha) times that.
    status
        ``UPPER``, or ``LIMIT`` where more might have been merged.

    Examples
    --------
    >>> from bisimdist.models.library.figure1 import figure1
    >>> answer = minimise(figure1(), "1/5")
    >>> len(answer.smaller), answer.classes["s1"]
    (3, 's0')
    """

    command = "minimise"

    model: LMC
    smaller: LMC
    classes: dict[str, str]
    states: tuple[str, ...]
    loss: Exact
    status: Status

    def data(self) -> dict[str, object]:
        return {
            "merged": len(self.smaller),
            "loss": format_rational(self.loss),
            "classes": list(self.members().values()),
            "status": self.status.value,
        }

    def members(self) -> dict[str, list[str]]:
        """Return by state of the smaller chain the states that it stands for, itself first."""
        found: dict[str, list[str]] = {}
        for state, name in self.classes.items():
            found.setdefault(name, []).append(state)
        return found

    def report(self) -> Report:
        merged = {name: states for name, states in self.members().items() if len(states) > 1}
        return Report(
            heading=f"{len(self.model)} states become {len(self.smaller)}; the loss is {at_most(self.loss)}",
            columns=("state", "stands for"),
            rows=tuple((name, ", ".join(states)) for name, states in merged.items()),
            remarks=(
                "The loss is the distance (bd for alpha = 1) of each state of a pair from its "
                "representative. delta at alpha changes by at most (1 + alpha) times as much.",
            ),
        )


@interruptible
def minimise(  # noqa: PLR0913
    model: KnownModel,
    loss: ExactNumber,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> MinimiseAnswer:
    """Merge states of a chain, with a proof that the loss stays below a bound.

    Parameters
    ----------
    model
        The chain, or what stands for one.
    loss
        The largest allowed loss, from 0 to 1: the distance (bd for alpha = 1) of every state of a pair from
        the state that stands for it. With 0 the function merges bisimilar states, and no others.
    pairs
        Pairs of names of states that matter; by default those of the model, or all states if it has none.
    deadline, memory
        When to give up, and how many bytes the process may hold: the best that is proved by then is returned.
    progress, on_interrupt
        As for `bisimdist.bound`.

    Returns
    -------
    MinimiseAnswer
        The smaller chain, which state stands for which, and the bound on the loss.

    Raises
    ------
    UsageError
        If the loss is out of range.
    ModelError
        If a pair names no state.

    Examples
    --------
    >>> from bisimdist.models.library.figure1 import figure1
    >>> [len(minimise(figure1(), loss).smaller) for loss in ("1/10", "1/5")]
    [4, 3]

    Notes
    -----
    The proofs are in ``docs/theory/quotient.md``.
    """
    most = to_fmpq(loss)
    if not 0 <= most <= 1:
        raise UsageError(f"the loss is {format_rational(most)}; expected a number from 0 to 1")
    chain = observed_chain(model).whole()
    named = [name for pair in pairs or () for name in pair]
    asked = [chain.index(name) for name in named] or [state for pair in chain.pairs for state in pair]
    states = tuple(dict.fromkeys(asked)) or tuple(range(len(chain)))
    work = _Work(chain, most, states, deadline, memory, progress)
    status = Status.LIMIT
    with suppress(*ENDINGS):
        work.run()
        status = Status.UPPER
    return work.answer(status)


@dataclass(slots=True)
class _Work:
    chain: LMC
    most: fmpq
    asked: tuple[int, ...]
    deadline: Deadline
    memory: int | None
    progress: Progress
    best: LMC = field(init=False)
    classes: tuple[int, ...] = field(init=False)
    loss: fmpq = field(default_factory=lambda: fmpq(0))
    proof: DistanceAnswer | None = None

    def __post_init__(self) -> None:
        self.best, self.classes = quotient(self.chain)

    def run(self) -> None:
        """Merge as many of the closest states as the loss allows, found by bisection."""
        merges = self._closest()
        low, high = 0, len(merges)
        first = self.best, self.classes
        while low < high:
            count = (low + high + 1) // 2
            self.deadline.check()
            self.progress("merges that are tried", count, len(merges))
            smaller, place = _merged(first[0], merges[:count])
            classes = tuple(place[kind] for kind in first[1])
            proof = self._proved(smaller, classes)
            if max(pair.upper for pair in proof.pairs) <= self.most:
                low = count
                self.best, self.classes, self.proof = smaller, classes, proof
                self.loss = max(pair.upper for pair in proof.pairs)
            else:
                high = count - 1

    def _closest(self) -> list[tuple[int, int]]:
        """Return pairs of states of the quotient that are close enough to be merged, closest ones first."""
        if not self.most:
            return []
        chain = self.best
        count = sum(comb(states, 2) for states in Counter(chain.labels).values())
        if count > MOST_PAIRS:
            raise LimitError(f"more than {MOST_PAIRS} pairs of states have one label")
        alike = [(s, t) for s, t in combinations(range(len(chain)), 2) if chain.labels[s] == chain.labels[t]]
        if not alike:
            return []
        names = [(chain.states[s], chain.states[t]) for s, t in alike]
        found = self._bound(chain, names, FINE)
        order = sorted((pair.upper, k) for k, pair in enumerate(found.pairs) if pair.lower < 1)
        return [alike[k] for _, k in order]

    def _bound(self, chain: LMC, pairs: Sequence[tuple[str, str]], precision: fmpq | None) -> DistanceAnswer:
        return bound(chain, 1, pairs=pairs, precision=precision, deadline=self.deadline, memory=self.memory)

    def _proved(self, smaller: LMC, classes: Sequence[int]) -> DistanceAnswer:
        """Return the distances of the states that matter from those that stand for them."""
        both = disjoint_union(self.chain, smaller, prefixes=PREFIXES)
        one, other = PREFIXES
        pairs = [(one + self.chain.states[s], other + smaller.states[classes[s]]) for s in self.asked]
        found = self._bound(both, pairs, max(self.most / 1000, fmpq(1, 10**12)))
        if max(pair.upper for pair in found.pairs) > self.most >= max(pair.lower for pair in found.pairs):
            return self._bound(both, pairs, None)  # a tie, or nearly one
        return found

    def answer(self, status: Status) -> MinimiseAnswer:
        """Return the smallest chain that was proved to be near enough."""
        names = self.chain.states
        return MinimiseAnswer(
            model=self.chain,
            smaller=self.best,
            classes={name: self.best.states[kind] for name, kind in zip(names, self.classes, strict=True)},
            states=tuple(names[s] for s in self.asked),
            loss=self.loss,
            status=status,
            make_certificate=self._certificate,
        )

    def _certificate(self) -> dict[str, object]:
        proof = self._proved(self.best, self.classes) if self.proof is None else self.proof
        return proof.certificate()


def _merged(chain: LMC, merges: Sequence[tuple[int, int]]) -> tuple[LMC, list[int]]:
    """Let the first of all states that are merged stand for them; return the chain, and by whom."""
    leader = list(range(len(chain)))

    def first(state: int) -> int:
        while leader[state] != state:
            leader[state] = state = leader[leader[state]]
        return state

    for s, t in merges:
        one, other = sorted((first(s), first(t)))
        leader[other] = one
    kept = [state for state in range(len(chain)) if leader[state] == state]
    place = {state: number for number, state in enumerate(kept)}
    into = [place[first(state)] for state in range(len(chain))]
    return of_classes(chain, into, kept), into
