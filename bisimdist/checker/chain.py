"""The labelled Markov chain of a certificate: validation, digest, and the classes at distance 1."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from bisimdist.checker.reading import (
    MalformedCertificate,
    RuleViolation,
    decimal_rational,
    item,
    model_number,
    shown,
)

__all__ = ["Chain", "given_chain", "read_chain"]


@dataclass(frozen=True)
class Chain:
    """A labelled Markov chain by names; rows hold positive probabilities only."""

    labels: Mapping[str, str]
    rows: Mapping[str, Mapping[str, Fraction]]

    def digest(self) -> str:
        """Return the SHA-256 of the chain as canonical JSON: sorted keys, lowest terms, no zero entries."""
        rows = {
            state: {target: decimal_rational(p) for target, p in row.items()}
            for state, row in self.rows.items()
        }
        canonical = {"kind": "lmc", "states": dict(self.labels), "transitions": rows}
        text = json.dumps(canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()

    def classes(self) -> list[list[str]]:
        """Return the finest classes such that states of different classes are surely at distance 1.

        It starts from the classes of equal labels. Inside a class, two states are linked if some class holds
        a successor of both; the connected components are the new classes, until nothing changes.
        """
        number = {label: k for k, label in enumerate(dict.fromkeys(self.labels.values()))}
        of = {state: number[label] for state, label in self.labels.items()}
        while True:
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
            for state in of:
                groups.setdefault(root(state), []).append(state)
            if len(groups) == len(set(of.values())):
                return list(groups.values())
            of = {state: k for k, members in enumerate(groups.values()) for state in members}


def read_chain(document: Mapping[str, object]) -> Chain:
    """Make the chain from plain data: states with labels, and rows that sum to one exactly.

    Raises
    ------
    MalformedCertificate
        If the data do not have the shape of a chain.
    RuleViolation
        If they have, but make no chain.
    """
    if document.get("kind") != "lmc":
        raise MalformedCertificate(f"the model's kind is {shown(document.get('kind'))}; expected 'lmc'")
    states, transitions = document.get("states"), document.get("transitions")
    if not isinstance(states, dict) or not isinstance(transitions, dict):
        raise MalformedCertificate("the model's states and transitions are not two objects")
    labels = {state: item(label, f"the label of state {shown(state)}") for state, label in states.items()}
    rows = {}
    for state, row in transitions.items():
        if not isinstance(row, dict):
            raise MalformedCertificate(f"the row of state {shown(state)} is not an object")
        where = f"a probability of state {shown(state)}"
        rows[state] = {target: model_number(value, where) for target, value in row.items()}
    if not labels:
        raise RuleViolation("G1: the model has no state")
    for state, row in rows.items():
        for name in (state, *row):
            if name not in labels:
                raise RuleViolation(f"G1: the transitions name {shown(name)}, which is no state of the model")
        if min(row.values(), default=0) < 0:
            raise RuleViolation(f"G1: state {shown(state)} has a negative probability")
    for state in labels:
        if sum(rows.get(state, {}).values()) != 1:
            raise RuleViolation(f"G1: the probabilities of state {shown(state)} do not sum to 1")
    return Chain(labels, {state: {t: p for t, p in rows[state].items() if p} for state in labels})


def given_chain(document: object) -> Chain:
    """Return the chain of a decoded model file; whatever is wrong with it is malformed, not a broken rule."""
    try:
        if not isinstance(document, dict):
            raise MalformedCertificate("not an object")
        return read_chain(document)
    except (MalformedCertificate, RuleViolation) as error:
        raise MalformedCertificate(f"model file: {error}") from error
