"""The automaton of a certificate: reading, digest, and what all have in common that are about one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib import import_module
from typing import Any

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    RuleViolation,
    decimal_rational,
    digest_of,
    item,
    items,
    model_number,
    of_model_file,
)
from bisimdist.checker.core.shape import CheckReport, Shape, judged, key, listed, named, one_of, raw

Row = dict[str, Fraction]


@dataclass(frozen=True)
class Automaton:
    """A probabilistic automaton by names; rows hold positive probabilities only."""

    states: list[str]
    transitions: list[tuple[str, str, Row]]

    def digest(self) -> str:
        """Return the SHA-256 of the canonical form with its lists sorted."""
        steps = sorted(
            (
                [source, action, {target: decimal_rational(p) for target, p in counted(row.items())}]
                for source, action, row in counted(self.transitions)
            ),
            key=partial(json.dumps, sort_keys=True, separators=(",", ":")),
        )
        return digest_of({"kind": "pa", "states": sorted(all_of(self.states)), "transitions": steps})


class Transition(Shape):
    """A transition, as it is written."""

    source: str = key(item, "from")
    action: str = key(item)
    row: Row = key(named(model_number), "to")


class _Model(Shape):
    kind: str = key(one_of("pa"))
    states: list[str] = key(listed(item))
    transitions: list[Any] = key(items)
    pairs: Any = key(raw, default=None)


def read_automaton(value: object) -> Automaton:
    """Make the automaton from plain data."""
    model = _Model.read(value, "the model")
    known = set(all_of(model.states))
    if not known or len(known) != len(model.states):
        raise RuleViolation("M1: the model has no state, or one twice")
    transitions = []
    for number, entry in counted(enumerate(model.transitions, 1)):
        step = Transition.read(entry, f"transition {number}")
        if not known.issuperset((step.source, *step.row)):
            raise RuleViolation(f"M1: {step.where} names something that is no state")
        if any(p < 0 for p in counted(step.row.values())) or sum(all_of(step.row.values())) > 1:
            raise RuleViolation(f"M1: {step.where}: a probability is negative, or they sum to more than 1")
        transitions.append(
            (step.source, step.action, {target: p for target, p in counted(step.row.items()) if p})
        )
    return Automaton(model.states, transitions)


def _given_automaton(model: object) -> Automaton | None:
    """Return the automaton of a model file, if any; of a chain the one whose actions are its labels."""
    with of_model_file():
        if isinstance(model, dict) and model.get("kind") == "lmc":
            chain = import_module("bisimdist.checker.core.chain").read_chain(model)
            rows = [
                (state, label, dict(all_of(chain.rows[state])))
                for state, label in counted(chain.labels.items())
            ]
            return Automaton(list(all_of(chain.labels)), rows)
        return None if model is None else read_automaton(model)


class About(Shape):
    """A certificate about an automaton."""

    model: Any = key(raw)
    digest: Any = key(raw)


def about_automaton(
    whole: About,
    model: object | None,
    rules: tuple[str, str],
    claims: Iterable[Mapping[str, object]],
    check: Callable[[Automaton], None],
) -> CheckReport:
    """Return the verdict on a document whose claims are these.

    whole, model: the certificate, and the model that is given beside.
    rules: the names of its rules about the digest, and about the model that is given.
    claims: the claims as plain data.
    check: raises `RuleViolation` where the automaton does not have what is claimed.
    """
    said = tuple(all_of(claims))
    given = _given_automaton(model)

    def checked() -> None:
        automaton = read_automaton(whole.model)
        if whole.digest != automaton.digest():
            raise RuleViolation(f"{rules[0]}: the digest is not that of the embedded model")
        if given is not None and given.digest() != automaton.digest():
            raise RuleViolation(
                f"{rules[1]}: the certificate is about another model than the one that is given"
            )
        check(automaton)

    return judged(said, checked)
