"""The model of a certificate, a chain or an interactive model: validation, digest, classes at distance 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    LOOK,
    OVERHEAD,
    MalformedCertificate,
    RuleViolation,
    decimal_rational,
    digest_of,
    item,
    mapping,
    model_number,
    of_model_file,
    record,
    shown,
    spend,
)
from bisimdist.checker.core.shape import Reader, named

Rows = Mapping[str, Mapping[str, Fraction]]  # by state the successors with their probabilities

ONLY = ""  # what the one action of a chain is called


@dataclass(frozen=True)
class Chain:
    """A labelled Markov chain by names; rows hold positive probabilities only.

    In an interactive model states have rows by action; a chain has the one action `ONLY`.
    """

    labels: Mapping[str, str]
    arms: Mapping[str, Rows]
    interactive: bool = False
    natural: ClassVar[bool] = False  # whether nature has a say in the rows
    open: ClassVar[bool] = False
    """Whether its probabilities are only known to lie in intervals, so that nothing is proved about it."""
    ends: ClassVar[bool] = False  # whether nobody is asked for ever

    @property
    def kind(self) -> str:
        """What model files call it."""
        return "interactive" if self.interactive else "lmc"

    @property
    def rows(self) -> Rows:
        return self.arms[ONLY]

    def known(self, states: Iterable[str], where: str) -> None:
        """Demand that every name is that of a state."""
        for state in counted(states):
            if state not in self.labels:
                raise RuleViolation(f"{where} names {shown(state)}, which is no state of the model")

    def offered(self, *states: str) -> list[str]:
        """Return the actions of states that offer the same."""
        spend(OVERHEAD * len(self.arms))
        return [action for action, rows in counted(self.arms.items()) if states[0] in rows]

    def rows_of(self, action: str) -> Rows:
        """Return the rows of an action by state; none, if there is no such action."""
        return self.arms.get(action, {})

    def mirrored(self, source: str, target: str) -> bool:
        """Tell whether two states are so alike that both directions are worth the same."""
        del source, target
        return False

    def digest(self) -> str:
        """Return the SHA-256 of the model as canonical JSON: sorted keys, lowest terms, no zero entries."""
        by_action = {
            action: {
                state: {target: decimal_rational(p) for target, p in counted(row.items())}
                for state, row in counted(rows.items())
            }
            for action, rows in counted(self.arms.items())
        }
        transitions: object = by_action.get(ONLY)
        if self.interactive:
            transitions = {
                state: {action: by_action[action][state] for action in counted(self.offered(state))}
                for state in counted(self.labels)
            }
        states = dict(all_of(self.labels))
        return digest_of({"kind": self.kind, "states": states, "transitions": transitions})

    def classes(self) -> list[list[str]]:
        """Return the finest classes such that states of different classes are surely at distance 1.

        It starts from the classes of equal labels. Inside a class, two states are linked if some class holds
        a successor of both; the connected components are the new classes, until nothing changes. The classes
        of an interactive model are those of equal labels.
        """
        if self.interactive:
            return [
                [state for state, name in counted(self.labels.items()) if name == label]
                for label in counted(dict.fromkeys(self.labels.values()))
            ]
        number = {label: k for k, label in counted(enumerate(dict.fromkeys(self.labels.values())))}
        of = {state: number[label] for state, label in counted(self.labels.items())}
        edges = sum(all_of(map(len, self.rows.values())))
        while True:
            spend((len(of) + edges) * LOOK)
            leader = {state: state for state in counted(of)}

            def root(state: str, leader: dict[str, str] = leader) -> str:
                while leader[state] != state:
                    spend(LOOK)
                    leader[state] = state = leader[leader[state]]
                return state

            first: dict[tuple[int, int], str] = {}  # (class, class of a successor): a state that has both
            for state, row in counted(self.rows.items()):
                for kind in {(of[state], of[target]) for target in counted(row)}:
                    leader[root(state)] = root(first.setdefault(kind, state))
            groups: dict[str, list[str]] = {}
            for state in counted(self.labels):  # whose order all classes keep
                groups.setdefault(root(state), []).append(state)
            if len(groups) == len(set(all_of(of.values()))):
                return list(all_of(groups.values()))
            of = {
                state: k for k, members in counted(enumerate(groups.values())) for state in counted(members)
            }


def read_chain(document: Mapping[str, object], *, interactive: bool = False) -> Chain:
    """Make the model from plain data: states with labels, and rows that sum to one exactly.

    document: the data.
    interactive: whether it may be an interactive model.
    """
    kind = document.get("kind")
    if kind != "lmc" and not (interactive and kind == "interactive"):
        raise MalformedCertificate(
            f"the model's kind is {shown(kind)}; expected 'lmc'{' or interactive' if interactive else ''}"
        )
    asked = kind == "interactive"
    row: Reader[Any] = named(model_number)
    labels = named(item)(document.get("states"), "the model's states")
    given = named(named(row) if asked else row)(document.get("transitions"), "the model's transitions")
    arms: dict[str, dict[str, Mapping[str, Fraction]]] = {}
    for state, moves in counted(given.items()):
        for action, successors in counted((moves if asked else {ONLY: moves}).items()):
            arms.setdefault(action, {})[state] = successors
    if not labels:
        raise RuleViolation("G1: the model has no state")
    for state in counted(given):
        if state not in labels:
            raise RuleViolation(f"G1: the transitions name {shown(state)}, which is no state of the model")
    if not asked:
        for state in counted(labels):
            if state not in given:
                raise RuleViolation(f"G1: the probabilities of state {shown(state)} do not sum to 1")
        arms = {ONLY: {state: arms[ONLY][state] for state in counted(labels)}}
    for rows in counted(arms.values()):
        _check_rows(labels, rows)
    chain = Chain(labels, {action: _positive(rows) for action, rows in counted(arms.items())}, asked)
    _check_offers(chain)
    return chain


ModelReader = Callable[[Mapping[str, object]], Chain]
read_asked: ModelReader = partial(read_chain, interactive=True)


def _check_offers(chain: Chain) -> None:
    offers: dict[str, list[str]] = {}
    for state, label in counted(chain.labels.items()):
        if offers.setdefault(label, chain.offered(state)) != chain.offered(state):
            raise RuleViolation(f"G5: state {shown(state)} offers other actions than another of its label")


def _positive(rows: Rows) -> Rows:
    return {
        state: {target: p for target, p in counted(row.items()) if p} for state, row in counted(rows.items())
    }


def _check_rows(labels: Mapping[str, str], rows: Rows) -> None:
    for state, row in counted(rows.items()):
        for name in counted(row):
            if name not in labels:
                raise RuleViolation(f"G1: the transitions name {shown(name)}, which is no state of the model")
        if any(p < 0 for p in counted(row.values())):
            raise RuleViolation(f"G1: state {shown(state)} has a negative probability")
        if sum(all_of(row.values())) != 1:
            raise RuleViolation(f"G1: the probabilities of state {shown(state)} do not sum to 1")


def given_chain(document: object, read: ModelReader = read_chain) -> Chain | None:
    """Return the model of a decoded model file, if there is one."""
    with of_model_file():
        return None if document is None else read(mapping(document, "it"))


def own_chain(
    document: Mapping[str, object] | Chain, digest: str, given: Chain | None, read: ModelReader = read_chain
) -> Chain:
    """Return the model of a certificate: the one that is given, if there is one, and that of the digest.

    What steps have made of a model needs no more.
    """
    if isinstance(document, Chain):
        return document
    chain = read(document)
    if given is not None and given != chain:
        raise RuleViolation("G2: the certificate is about another model than the one that is given")
    if digest != chain.digest():
        raise RuleViolation("G3: the digest is not that of the embedded model")
    return chain


def read_model(value: object, where: str) -> Any:
    """Read an object that has the keys of a model; what steps have made of one is left as it is."""
    return value if isinstance(value, Chain) else record(value, where, ("kind", "states", "transitions"))
