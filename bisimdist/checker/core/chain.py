"""The model of a certificate, a chain or an interactive model: validation, digest, classes at distance 1."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

from bisimdist.checker.core.reading import (
    LOOK,
    OVERHEAD,
    MalformedCertificate,
    RuleViolation,
    decimal_rational,
    item,
    mapping,
    model_number,
    record,
    shown,
    spend,
)
from bisimdist.checker.core.shape import Reader, named, one_of

Rows = Mapping[str, Mapping[str, Fraction]]
"""By state the successors with their probabilities."""

NATURE = one_of("each-step", "fixed")

ONLY = ""
"""What the one action of a chain is called."""


@dataclass(frozen=True)
class Chain:
    """A labelled Markov chain by names; rows hold positive probabilities only.

    In an interactive model states have rows by action; a chain has the one action `ONLY`.
    """

    labels: Mapping[str, str]
    arms: Mapping[str, Rows]
    interactive: bool = False
    natural: ClassVar[bool] = False
    """Whether nature has a say in the rows."""

    @property
    def rows(self) -> Rows:
        """The rows of a chain."""
        return self.arms[ONLY]

    @property
    def names(self) -> Collection[str]:
        """The states that claims may be about."""
        return self.labels.keys()

    def known(self, states: Iterable[str], where: str) -> None:
        """Demand that every name is that of a state that claims may be about."""
        for state in states:
            if state not in self.names:
                raise RuleViolation(f"{where} names {shown(state)}, which is no state of the model")

    def offered(self, *states: str) -> list[str]:
        """Return the actions of states that offer the same."""
        spend(OVERHEAD * len(self.arms))
        return [action for action, rows in self.arms.items() if states[0] in rows]

    def rows_of(self, action: str) -> Rows:
        """Return the rows of an action by state; none, if there is no such action."""
        return self.arms.get(action, {})

    def places(self, source: str, target: str) -> tuple[str, str]:
        """Return the states that stand for two states of the model that is asked about."""
        return source, target

    def digest(self) -> str:
        """Return the SHA-256 of the model as canonical JSON: sorted keys, lowest terms, no zero entries."""
        by_action = {
            action: {
                state: {target: decimal_rational(p) for target, p in row.items()}
                for state, row in rows.items()
            }
            for action, rows in self.arms.items()
        }
        transitions: object = by_action.get(ONLY)
        if self.interactive:
            transitions = {
                state: {action: by_action[action][state] for action in self.offered(state)}
                for state in self.labels
            }
        kind = "interactive" if self.interactive else "lmc"
        canonical = {"kind": kind, "states": dict(self.labels), "transitions": transitions}
        text = json.dumps(canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()

    def classes(self) -> list[list[str]]:
        """Return the finest classes such that states of different classes are surely at distance 1.

        It starts from the classes of equal labels. Inside a class, two states are linked if some class holds
        a successor of both; the connected components are the new classes, until nothing changes. The classes
        of an interactive model are those of equal labels.
        """
        if self.interactive:
            return [
                [state for state, name in self.labels.items() if name == label]
                for label in dict.fromkeys(self.labels.values())
            ]
        number = {label: k for k, label in enumerate(dict.fromkeys(self.labels.values()))}
        of = {state: number[label] for state, label in self.labels.items()}
        edges = sum(map(len, self.rows.values()))
        while True:
            spend((len(of) + edges) * LOOK)
            leader = {state: state for state in of}

            def root(state: str, leader: dict[str, str] = leader) -> str:
                while leader[state] != state:
                    leader[state] = state = leader[leader[state]]
                return state

            first: dict[tuple[int, int], str] = {}  # (class, class of a successor): a state that has both
            for state, row in self.rows.items():
                for kind in {(of[state], of[target]) for target in row}:
                    leader[root(state)] = root(first.setdefault(kind, state))
            groups: dict[str, list[str]] = {}
            for state in self.labels:  # whose order all classes keep
                groups.setdefault(root(state), []).append(state)
            if len(groups) == len(set(of.values())):
                return list(groups.values())
            of = {state: k for k, members in enumerate(groups.values()) for state in members}


def read_chain(document: Mapping[str, object], *, interactive: bool = False) -> Chain:
    """Make the model from plain data: states with labels, and rows that sum to one exactly.

    Parameters
    ----------
    document
        The data.
    interactive
        Whether it may be an interactive model.
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
    for state, moves in given.items():
        for action, successors in (moves if asked else {ONLY: moves}).items():
            arms.setdefault(action, {})[state] = successors
    if not labels:
        raise RuleViolation("G1: the model has no state")
    for state in given:
        if state not in labels:
            raise RuleViolation(f"G1: the transitions name {shown(state)}, which is no state of the model")
    if not asked:
        for state in labels:
            if state not in given:
                raise RuleViolation(f"G1: the probabilities of state {shown(state)} do not sum to 1")
        arms = {ONLY: {state: arms[ONLY][state] for state in labels}}
    for rows in arms.values():
        _check_rows(labels, rows)
    chain = Chain(labels, {action: _positive(rows) for action, rows in arms.items()}, asked)
    _check_offers(chain)
    return chain


ModelReader = Callable[[Mapping[str, object]], Chain]


def _check_offers(chain: Chain) -> None:
    offers: dict[str, list[str]] = {}
    for state, label in chain.labels.items():
        if offers.setdefault(label, chain.offered(state)) != chain.offered(state):
            raise RuleViolation(f"G5: state {shown(state)} offers other actions than another of its label")


def _positive(rows: Rows) -> Rows:
    return {state: {target: p for target, p in row.items() if p} for state, row in rows.items()}


def _check_rows(labels: Mapping[str, str], rows: Rows) -> None:
    for state, row in rows.items():
        for name in row:
            if name not in labels:
                raise RuleViolation(f"G1: the transitions name {shown(name)}, which is no state of the model")
        if any(p < 0 for p in row.values()):
            raise RuleViolation(f"G1: state {shown(state)} has a negative probability")
        if sum(row.values()) != 1:
            raise RuleViolation(f"G1: the probabilities of state {shown(state)} do not sum to 1")


def reader(nature: str | None) -> ModelReader:
    """Return what reads a model: one that is known, or interactive; or one that nature has a say in."""
    if nature is None:
        return partial(read_chain, interactive=True)
    worlds = import_module("bisimdist.checker.core.worlds")  # which nothing else opens
    return partial(worlds.read_worlds, apart=nature == "each-step")


def given_chain(document: object, read: ModelReader = read_chain) -> Chain | None:
    """Return the model of a decoded model file, if there is one."""
    try:
        return None if document is None else read(mapping(document, "it"))
    except (MalformedCertificate, RuleViolation) as error:
        raise MalformedCertificate(f"model file: {error}") from error


def own_chain(
    document: Mapping[str, object], digest: str, given: Chain | None, read: ModelReader = read_chain
) -> Chain:
    """Return the model of a certificate: the one that is given, if there is one, and that of the digest."""
    chain = read(document)
    if given is not None and given != chain:
        raise RuleViolation("G2: the certificate is about another model than the one that is given")
    if digest != chain.digest():
        raise RuleViolation("G3: the digest is not that of the embedded model")
    return chain


def read_model(value: object, where: str) -> dict[str, object]:
    """Read an object that has the keys of a model."""
    return record(value, where, ("kind", "states", "transitions"))
