"""The shape of a certificate of kind ``delta``: everything read and typed, nothing of it believed yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.chain import ONLY, read_model
from bisimdist.checker.core.counting import counted
from bisimdist.checker.core.information import COVERS, nodes_of
from bisimdist.checker.core.reading import (
    Amount,
    MalformedCertificate,
    choice,
    integer,
    item,
    items,
    natural,
    rational,
    text_of,
)
from bisimdist.checker.core.shape import Finite, Shape, flag, key, listed, model_kind, named, raw, row, truth

Children = Mapping[str, Mapping[str, int]]


def _target(value: object, where: str) -> int | str:
    return choice(value, where, ("accept", "reject")) if isinstance(value, str) else natural(value, where)


class Reading(Shape):
    """A node of an event: where labels lead, and which action is asked before."""

    then: Mapping[str, int | str] = key(named(_target))
    ask: str = key(item, default=ONLY)


class Event(Shape):
    """An event: by node where labels lead, to a node, ``"accept"`` or ``"reject"``.

    In an interactive model nodes ask an action before they read a label, but for the root.
    """

    root: int | str = key(_target)
    nodes: list[Reading] = key(listed(lambda value, where: Reading.read({"then": value}, where)))

    def __post_init__(self) -> None:
        for target in counted(
            (self.root, *(target for node in counted(self.nodes) for target in counted(node.then.values())))
        ):
            if isinstance(target, int):
                natural(target, f"a target of {self.where}", len(self.nodes))


class AskingEvent(Event):
    """An event of an interactive model."""

    nodes: list[Reading] = key(listed(Reading.read))


class Alphas(Shape):
    """The claims are for every alpha from one to another."""

    lower: Fraction = key(rational)
    upper: Fraction = key(rational)


class Delta(Finite):
    """That delta of a pair lies between two bounds, for every alpha."""

    quantity: str = "delta"

    def said(self, alphas: Alphas) -> dict[str, object]:
        """Return the claim as plain data."""
        low, high = text_of(alphas.lower), text_of(alphas.upper)
        return {
            "from": self.source,
            "to": self.target,
            "quantity": self.quantity,
            "alpha": high if low == high else [high, low],
            "lower": text_of(self.lower),
            "upper": text_of(self.upper),
            "exact": self.lower == self.upper,
        }


class Claim(Delta):
    """A claim with what proves its lower bound; a positive one has a direction."""

    direction: tuple[str, ...] = key(row(item, item), default=())
    event: Event | None = None
    probabilities: tuple[Fraction, Fraction] | None = None
    sequence: Sequence[str] = ()


class EventClaim(Claim):
    """A claim with the event that shows its lower bound."""

    event: Event | None = key(Event.read, default=None)
    probabilities: tuple[Fraction, Fraction] | None = key(row(rational, rational), default=None)


class AskingClaim(EventClaim):
    """A claim about an interactive model."""

    event: Event | None = key(AskingEvent.read, default=None)


class FixedClaim(Claim):
    """A claim about what is fixed beforehand, with the sequence of actions that shows its lower bound."""

    quantity: str = "delta of fixed sequences"
    sequence: list[str] = key(listed(item), default_factory=list)


class OwnBound(Shape):
    """A coupling that bounds a node from above; an empty one gives all positive mass up.

    With `covers`, negative masses cover the positive ones at the rates of the ratios.
    """

    complement: bool = key(flag, default=False)
    moves: list[tuple[str, str, Amount]] | None = key(listed(row(item, item, Amount.by("D6"))), default=None)
    given_up: list[tuple[str, Amount]] | None = key(listed(row(item, Amount.by("D6"))), default=None)
    covers: list[tuple[str, str, Amount]] | None = key(COVERS, default=None)

    def __post_init__(self) -> None:
        if self.covers is not None and (self.moves, self.given_up) != (None, None):
            raise MalformedCertificate(f"{self.where} has both 'covers' and a coupling")


class Node(Shape):
    """A signed vector with what follows it, by action and label, and what is claimed of its value."""

    vector: Mapping[str, int] = key(named(integer))
    then: Children | None = key(lambda value, where: {ONLY: named(natural)(value, where)}, default=None)
    upper: Fraction | None = key(rational, default=None)
    bound: OwnBound | None = key(OwnBound.read, default=None)
    lower: Fraction | None = key(rational, default=None)
    stop: bool = key(truth, default=False)
    ask: str = ONLY

    def children(self) -> list[int]:
        """Return the numbers of what follows."""
        return [child for arm in counted((self.then or {}).values()) for child in counted(arm.values())]

    def __post_init__(self) -> None:
        if not self.vector:
            raise MalformedCertificate(f"the vector of {self.where} is empty")


class AskingNode(Node):
    """A node in an interactive model."""

    then: Children | None = key(named(named(natural)), default=None)
    ask: str = key(item, default=ONLY)


class Document(Shape):
    """A certificate of kind ``delta``."""

    alpha: Alphas = key(Alphas.read)
    claims: Sequence[Claim] = key(listed(EventClaim.read, "claim"))
    model: Any = key(read_model)
    digest: str = key(item)
    proof: list[Any] = key(items, "nodes")
    ceiling: Any = key(raw, default=None)
    ratios: Any = key(raw, default_factory=list)
    asking = False

    def nodes(self) -> list[Node]:
        read = AskingNode.read if self.asking else Node.read
        return nodes_of(read, self.proof, Node.children)


class AskingDocument(Document):
    """A certificate about an interactive model."""

    claims: Sequence[Claim] = key(listed(AskingClaim.read, "claim"))
    asking = True


class FixedDocument(AskingDocument):
    """A certificate about sequences of actions that are fixed beforehand."""

    claims: Sequence[Claim] = key(listed(FixedClaim.read, "claim"))
    fixed: bool = key(truth)


def read_document(document: Mapping[str, object]) -> Document:
    """Read what a document says; the proofs of what it says are raw."""
    if model_kind(document) != "interactive":
        return Document.whole(document)
    ends = getattr(document["model"], "ends", False)
    return (FixedDocument if ends and "fixed" in document else AskingDocument).whole(document)
