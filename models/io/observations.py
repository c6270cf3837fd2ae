"""The labels that a reading adds to a model of another tool: by expressions, or by property files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import compress
from itertools import count as naturals

from bisimdist.errors import ModelError, UsageError
from bisimdist.models.io.predicates import Node, Scope, Value, parse_predicate, value_of
from bisimdist.models.io.properties import Properties, properties_of
from bisimdist.models.io.reading import Reading

__all__ = ["OWN_LABELS", "Observations", "Scope", "observations"]

OWN_LABELS = frozenset({"init", "deadlock"})  # what PRISM and Storm declare themselves
NAMED = 5  # how many atoms a note names


@dataclass(frozen=True, slots=True)
class Observations:
    """What is seen beside the labels of a model."""

    labels: Mapping[str, frozenset[int]]  # by label the states that carry it
    values: Mapping[str, list[str]]  # by name the value of a number in every state, as a text


def observations(reading: Reading, scope: Scope, count: int, own: Properties | None = None) -> Observations:
    """Return what a reading adds to a model of `count` states.

    ``own``: what the model's own properties speak of, if that is seen.
    Raises UsageError if an expression does not fit the model, or a label has another meaning in it.
    Raises ModelError if a property file cannot be read, or shows nothing.
    """
    labels: dict[str, frozenset[int]] = {}
    values: dict[str, list[str]] = {}

    def add(name: str, column: list[Value]) -> None:
        if not {*map(type, column)} <= {bool}:
            if name in scope.variables and list(map(value_of, scope.variables[name])) != column:
                raise UsageError(f"the model has a variable {name!r} of another value; expected another name")
            values[name] = list(map(str, column))
            return
        truths = frozenset(compress(naturals(), column))
        known = {**scope.propositions, **labels}
        if known.get(name, truths) != truths:
            raise UsageError(f"the label {name!r} has another meaning already; expected another name")
        labels[name] = truths

    def add_all(found: Properties) -> list[str]:
        within = replace(scope, meanings={**found.constants, **scope.meanings}, named=found.expressions)
        left_out = list(found.left_out)
        for name, node in found.expressions.items():
            if node == Node("label", (), name) and name in OWN_LABELS and not reading.prism_labels:
                continue
            try:
                column = within.column(node, count)
            except ModelError as error:
                left_out.append(f"{name!r} was left out: {error.message}")
                continue
            add(name, column)
        return left_out

    if own is not None:
        left_out = add_all(own)
        if seen := ", ".join([*labels, *values][:NAMED]):
            more = ", ..." if len(labels) + len(values) > NAMED else ""
            reading.note(
                f"the model has no labels: an observer sees the atoms of its properties: {seen}{more}"
            )
        for line in left_out:
            reading.note(f"its properties: {line}")
    for path in reading.properties:
        left_out = add_all(properties_of(path))
        if not labels and not values:
            why = f" ({left_out[0]})" if left_out else ""
            raise ModelError(f"nothing in it is seen in this model{why}", source=path)
        for line in left_out:
            reading.note(f"{path}: {line}")
    for name, text in reading.labels.items():
        try:
            add(name, scope.column(parse_predicate(text), count))
        except ModelError as error:
            raise UsageError(f"the label {name!r} ({text}): {error.message}") from None
    return Observations(labels, values)
