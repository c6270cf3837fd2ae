"""Formulae in words, for whoever wants to know why two states differ."""

from __future__ import annotations

from flint import fmpq

from bisimdist.exact.rational import shorten_rational
from bisimdist.logic.engine.formula import (
    TOP,
    Anything,
    Conjunction,
    Diamond,
    Mixture,
    Negation,
    StateFormula,
    Top,
    negation,
)
from bisimdist.logic.engine.formula_printer import action_text

DEEPEST = 3  # how deep modalities are put into words; beyond that the formula is referred to
MOST = 4  # how many conjuncts or parts are put into words


def formula_in_words(formula: StateFormula, *, deepest: int = DEEPEST) -> str:
    """Return what a formula says of a state, as what follows a subject.

    ``deepest``: how deep modalities are put into words.

    >>> from bisimdist.logic.engine.formula_parser import parse_formula
    >>> formula_in_words(parse_formula("<a>(2/3 <b>T + 1/3 T) & !<c>T"))
    'can do a and then, with probability at least 2/3, can do b; and cannot do c'
    >>> formula_in_words(parse_formula("!<a>(2/3 <b>T + 1/3 T)"))
    'cannot do a such that then, with probability at least 2/3, it can do b'
    """
    match formula:
        case Top():
            return "may do anything"
        case Negation(operand=operand):
            return _negated(operand, deepest)
        case Conjunction(operands=operands):
            said = [formula_in_words(operand, deepest=deepest) for operand in operands[:MOST]]
            if len(operands) > MOST:
                said.append(f"satisfies {len(operands) - MOST} more conditions")
            return "; and ".join(said) if any(" then" in text for text in said) else " and ".join(said)
        case Diamond(action=action, target=target):
            if isinstance(target, Anything):
                return f"can do {action_text(action)}"
            assert isinstance(target, Mixture)
            return f"can do {action_text(action)} and then{_then(target, deepest - 1)}"
        case _:
            return "satisfies the formula"


def _negated(operand: StateFormula, deepest: int) -> str:
    match operand:
        case Top():
            return "does what no state does"
        case Diamond(action=action, target=Mixture() as target):
            then = _then(target, deepest - 1, subject="it ")
            return f"cannot do {action_text(action)} such that then{then}"
        case Diamond(action=action):
            return f"cannot do {action_text(action)}"
        case Conjunction(operands=operands):
            if len(operands) > MOST:
                return f"fails one of {len(operands)} conditions"
            return " or ".join(formula_in_words(negation(one), deepest=deepest) for one in operands)
        case _:
            return "does not satisfy the formula"


def _then(target: Mixture, deepest: int, *, subject: str = "") -> str:
    """Return what is so after an action; begins with a blank or a comma."""
    said = [(weight, part) for weight, part in target.parts if part is not TOP]
    rest = target.mass - sum((weight for weight, _ in said), fmpq(0))
    halts = "" if target.mass == 1 else f", going on with probability {shorten_rational(target.mass)}"
    if not said:
        exactly = f" with probability {shorten_rational(target.mass)}" if target.mass != 1 else ""
        return f" {subject}{'goes on' if target.mass else 'halts'}{exactly if target.mass else ''}"
    if deepest <= 0:
        return f"{halts}{',' if halts else ''} {subject}meets the rest of the formula"
    if len(said) == 1:
        ((weight, part),) = said
        inside = subject + formula_in_words(part, deepest=deepest)
        if rest == 0:
            return f"{halts} {inside}" if not halts else f"{halts}, {inside}"
        return f"{halts}, with probability at least {shorten_rational(weight)}, {inside}"
    listed = [
        f"a part of {shorten_rational(weight)} that {formula_in_words(part, deepest=deepest)}"
        for weight, part in said[:MOST]
    ]
    if len(said) > MOST:
        listed.append(f"{len(said) - MOST} more parts")
    comma = "," if halts else ""
    return f"{halts}{comma} {subject}splits the probability into {', '.join(listed[:-1])} and {listed[-1]}"


def difference_in_words(formula: StateFormula, first: str, second: str) -> str:
    """Return in words that one state satisfies a formula and another one does not.

    >>> from bisimdist.logic.engine.formula_parser import parse_formula
    >>> difference_in_words(parse_formula("<a>(2/3 <b>T + 1/3 T)"), "s", "t")
    's can do a and then, with probability at least 2/3, can do b; t cannot.'
    >>> difference_in_words(parse_formula("!<a>T"), "s", "t")
    't can do a; s cannot.'
    """
    if isinstance(formula, Negation):
        return difference_in_words(formula.operand, second, first)
    does = formula_in_words(formula)
    verb = "does not" if isinstance(formula, Conjunction) else "cannot"
    return f"{first} {does}; {second} {verb}."
