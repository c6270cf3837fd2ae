"""What all reductions have in common: a simpler model, and how a claim about it comes back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from bisimdist.errors import UsageError
from bisimdist.progress import NEVER, Deadline
from bisimdist.reductions.claim import Claim

A = TypeVar("A")
States = tuple[str, ...]


class Kind(Enum):
    """Kinds of models, as reductions and engines tell them apart."""

    CHAIN = "chain"
    INTERACTIVE = "interactive"
    WORLDS = "worlds"
    """What nature asks."""
    INTERVALS = "intervals"
    PARAMETRIC = "parametric"
    PROGRAM = "program"
    OUTPUTS = "outputs"


class Step(ABC):
    """A simpler model in place of a model."""

    name: ClassVar[str]
    """What certificates call it."""
    quantities: ClassVar[frozenset[str] | None] = None
    """Of what the checker knows the way back; None of everything."""
    before: Any  # the model
    model: Any  # the simpler one
    moves: Sequence[int] | None = None
    """By state of the model its state in the simpler one, where claims about states come back as they are."""

    @property
    def trivial(self) -> bool:
        """Whether nothing is changed, so that no certificate speaks of it."""
        return False

    @property
    def unfinished(self) -> bool:
        """Whether a limit ended the work on the simpler model, so that more work would say more."""
        return False

    def place(self, states: States) -> States:
        """Return where states are in the simpler model."""
        return states

    def asked(self, asked: Problem[A]) -> Problem[A]:
        """Return the question about the simpler model."""
        return asked.moved(self)

    def back(self, claim: Claim) -> Claim:
        """Return what a claim about the simpler model says of the model; its states are back already."""
        return claim

    @abstractmethod
    def data(self) -> dict[str, object]:
        """Return what a certificate has to say of the step."""

    def terms(self) -> dict[str, object]:
        """Return what a claim says more after it has come back."""
        return {}

    def beside(self, states: States) -> Mapping[str, Any]:
        """Return what an answer shows beside the bounds."""
        return {}

    def said(self, quantity: str) -> tuple[str, ...]:
        """Return what a person has to know of bounds on a quantity."""
        return ()

    def shown(self, witness: Any) -> Any:
        """Return an event of the simpler model as one of the model."""
        return witness

    def written(self) -> dict[str, object]:
        """Return the step as certificates have it."""
        return {
            "name": self.name,
            **self.data(),
            "before": self.before.digest(),
            "after": self.model.digest(),
        }

    def leading(self, then: Sequence[Mapping[str, Any]]) -> list[dict[str, object]]:
        """Return the step as certificates have it, with those after it."""
        return [self.written(), *map(dict, then)]

    def check_provable(self, quantity: str) -> None:
        """Refuse to prove a claim that the checker does not bring back.

        Raises UsageError if there is no rule for it.
        """
        if self.quantities is not None and quantity not in self.quantities and not self.trivial:
            raise UsageError(self.refusal(quantity))

    def refusal(self, quantity: str) -> str:
        """Say why there is no certificate."""
        return f"no certificate proves {quantity} through the step {self.name!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(ABC, Generic[A]):
    """A question, as reductions see it."""

    kinds: ClassVar[frozenset[Kind]]
    """The kinds of models that the engine answers for."""
    instead: ClassVar[Mapping[Kind, str]] = {}
    """By a kind of models that no reductions lead from to these what to do."""

    pairs: Sequence[States]  # what is asked about: pairs of states, or all secrets, by names
    nature: str = "each-step"  # what nature may do where probabilities are only known roughly
    rounds: int | None = None  # how many actions may be asked; None for any number
    deadline: Deadline = NEVER  # when to stop
    merged: bool = False  # whether bisimilar states are merged already

    @property
    def merges(self) -> bool:
        """Whether bisimilar states may be merged without a change of the answer."""
        return False

    def fits(self, step: Step) -> bool:
        """Tell whether the question can be asked about the simpler model of a step."""
        return True

    @abstractmethod
    def engine(self, model: Any) -> A:
        """Answer the question about a model that the engine understands."""

    @abstractmethod
    def back(self, found: A, step: Step) -> A:
        """Return an answer about the simpler model of a step as one about the model."""

    @abstractmethod
    def joined(self, above: A, below: Sequence[tuple[A, int]], *, proved: bool) -> A:
        """Return the upper bounds of one answer with the lower bounds of others.

        above: the answer that the upper bounds are from.
        below: by pair the answer that its lower bound is from, and the number of the pair there.
        proved: whether certificates know how the lower bounds come back.
        """

    @abstractmethod
    def picked(self, found: A, number: int) -> Sequence[str | None]:
        """Return which actions the lower bound of a pair rests on, where that is known."""

    @abstractmethod
    def sides(self, found: A, number: int) -> Claim:
        """Return the claim about a pair."""

    def enough(self, most: Claim, best: Claim) -> bool:
        """Tell whether no larger lower bound than that of `best` helps; `most` has the upper bound."""
        if best.below is None or best.below.value is None:
            return best.below is not None
        return (
            most.above is not None and most.above.value is not None and best.below.value >= most.above.value
        )

    def moved(self, step: Step) -> Self:
        """Return the same about the simpler model."""
        return replace(self, pairs=tuple(map(step.place, self.pairs)))

    def tighter(self, lost: Sequence[Any]) -> Self:
        """Return what has to be asked so that the answer is as good as wanted when bounds have become wider.

        lost: by pair by how much the bounds become wider from below, and from above.
        """
        return self


class Picks(Protocol):
    """Chains that are named: where nature has picked one for good, any of them gives a lower bound."""

    def best(self, asked: Problem[A], above: A, below: A) -> Sequence[tuple[A, int]]:
        """Return by pair an answer about a chain that is named, in which much is claimed of the pair."""


@dataclass(frozen=True, slots=True)
class Ways:
    """How a model becomes simpler: from above, from below, and which chains may be named from below.

    above, below: steps, one after the other, to the model that the upper and the lower bounds are from.
    members: what names chains for the lower bounds; None where these come back as they are.
    """

    above: Sequence[Step]
    below: Sequence[Step]
    members: Picks | None = None


class Reduction(Protocol):
    """A way to make models simpler."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def makes(self) -> Mapping[Kind, Kind]:
        """By the kinds of models that it may accept what it makes of them."""

    @property
    def option(self) -> str:
        """The option that it alone reads; empty if there is none."""

    @property
    def unfit(self) -> str:
        """What a user is told who gives that option with a model of another kind."""

    def accepts(self, model: Any, asked: Problem[Any]) -> bool:
        """Tell whether it makes this model simpler, for this question."""

    def apply(self, model: Any, asked: Problem[Any]) -> Ways:
        """Make it simpler."""
