"""Formulae, traces and bisimilarity of systems without choices, from the definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from bisimdist.logic.engine.formula import Conjunction, Diamond, Mixture, Negation, Top, Variable
from bisimdist.logic.engine.formula_parser import parse_system

__all__ = ["System", "bisimilar", "false_explanation", "false_formula", "false_satisfaction", "false_traces"]

System = Mapping[str, tuple[str | None, Mapping[str, Fraction]]]
"""By state what it performs and where it goes; it performs nothing where there is None."""

_ZERO, _ONE = Fraction(0), Fraction(1)


def bisimilar(system: System) -> Mapping[str, int]:
    """Return by state the number of its class: classes are split until their members go alike."""
    found = dict.fromkeys(system, 0)
    for _ in system:
        signs = {}
        for state, (action, row) in system.items():
            masses: dict[int, Fraction] = {}
            for target, p in row.items():
                masses[found[target]] = masses.get(found[target], _ZERO) + p
            signs[state] = repr((found[state], action, sorted(masses.items())))
        numbers = {sign: k for k, sign in enumerate(dict.fromkeys(signs.values()))}
        found = {state: numbers[sign] for state, sign in signs.items()}
    return found


def satisfying(system: System, text: str) -> set[str]:
    """Return which states satisfy a formula, which may be recursive: then the greatest solution counts."""
    found = parse_system(text)
    known = {name: set(system) for name, _ in found.equations}
    before = None
    while known != before:
        before, known = known, {name: _true(system, body, known) for name, body in found.equations}
    return _true(system, found.root, known)


def _true(system: System, formula: Any, known: Mapping[str, set[str]]) -> set[str]:
    match formula:
        case Top():
            return set(system)
        case Negation(operand=inner):
            return set(system) - _true(system, inner, known)
        case Conjunction(operands=parts):
            return set(system).intersection(*(_true(system, part, known) for part in parts))
        case Diamond(action=action, target=after):
            mixed = after.parts if isinstance(after, Mixture) else None
            return {
                state
                for state, (performed, row) in system.items()
                if performed == action and (mixed is None or _mixed(system, row, mixed, known))
            }
        case Variable(name=name):
            return known[name]
    raise AssertionError(f"no formula: {formula!r}")


def _mixed(
    system: System,
    row: Mapping[str, Fraction],
    parts: Sequence[tuple[Any, Any]],
    known: Mapping[str, set[str]],
) -> bool:
    """Tell whether a row falls into parts of such masses whose states satisfy such formulae (Hall)."""
    allowed = [(Fraction(str(weight)), _true(system, formula, known)) for weight, formula in parts]
    if sum((weight for weight, _ in allowed), _ZERO) != sum(row.values(), _ZERO):
        return False
    for chosen in range(1 << len(allowed)):
        some = [part for k, part in enumerate(allowed) if chosen >> k & 1]
        reached = set().union(*(states for _, states in some))
        if sum((weight for weight, _ in some), _ZERO) > sum(
            (p for state, p in row.items() if state in reached), _ZERO
        ):
            return False
    return True


def performing(system: System, state: str, word: Sequence[str], end: str | None) -> Fraction:
    """Return how likely a state performs a word, after which an end may be seen."""
    masses = {state: _ONE}
    for symbol in word:
        after: dict[str, Fraction] = {}
        for here, mass in masses.items():
            action, row = system[here]
            if symbol == end and action is None:
                after[here] = after.get(here, _ZERO) + mass
            if action != symbol:
                continue
            lost = 1 - sum(row.values(), _ZERO)
            for target, p in row.items():
                after[target] = after.get(target, _ZERO) + mass * p
            if lost:
                after[_ENDED] = after.get(_ENDED, _ZERO) + mass * lost
        masses = after
        system = {**system, _ENDED: (None, {})}
    return sum(masses.values(), _ZERO)


_ENDED = "where missing mass goes"


def false_satisfaction(system: System, answer: Mapping[str, Any]) -> Iterator[str]:
    """Hold the states that satisfy a formula against the definition."""
    true = satisfying(system, answer["formula"])
    said = set(answer["satisfying"])
    yield "" if said == true else f"{sorted(said)} satisfy it, where {sorted(true)} do"


def false_formula(system: System, answer: Mapping[str, Any]) -> Iterator[str]:
    """Demand that a state and what is bisimilar to it satisfy its formula, and nothing else does."""
    state, classes = answer["state"], bisimilar(system)
    true = {other for other in system if classes[other] == classes[state]}
    found = satisfying(system, answer["formula"])
    yield "" if found == true else f"{sorted(found)} satisfy it, {sorted(true)} are alike"


def false_explanation(system: System, pair: Mapping[str, Any]) -> Iterator[str]:
    """Demand that what tells two states apart does, and that such as are alike are said to be."""
    classes, (one, other) = bisimilar(system), (pair["from"], pair["to"])
    alike = classes[one] == classes[other]
    yield "" if pair["bisimilar"] in {alike, None} else f"bisimilar: {pair['bisimilar']}, where it is {alike}"
    if pair.get("formula"):
        found = satisfying(system, pair["formula"])
        told = (one in found) and (other not in found)
        yield "" if told else f"{pair['formula']} holds in {sorted(found)}"
    if pair.get("trace"):
        masses = [performing(system, state, pair["trace"], None) for state in (one, other)]
        yield "" if masses[0] != masses[1] else f"the trace {pair['trace']} has one probability"


def false_traces(system: System, answer: Mapping[str, Any]) -> Iterator[str]:
    """Hold the probabilities of traces against those of performing them; none is missing if all are there."""
    end = answer.get("end")
    for entry in answer["formulae"]:
        true = performing(system, answer["state"], entry["trace"], end)
        said = Fraction(entry["probability"])
        yield "" if said == true else f"{entry['trace']} has {said}, where {true} is true"
    if answer.get("complete"):
        listed = {tuple(entry["trace"]) for entry in answer["formulae"]}
        symbols = {action for action, _ in system.values() if action} | ({end} if end else set())
        for word in [word for word in listed if end not in word]:
            for more in symbols:
                there = performing(system, answer["state"], (*word, more), end) > 0
                if there != ((*word, more) in listed):
                    yield f"{(*word, more)} is listed: {not there}"
