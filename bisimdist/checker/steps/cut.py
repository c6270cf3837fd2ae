"""Runs of a program that are cut off, and what their probabilities leave open (rule P3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.chain import Chain
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import Mass, RuleViolation, mapping, shown
from bisimdist.checker.core.shape import key, raw
from bisimdist.checker.steps.step import Proved, StepShape, Way, refused

ZERO, ONE = Fraction(0), Fraction(1)


class Step(StepShape):
    """That runs end in states labelled ``cut`` where nobody knows what they would show."""

    cut: Any = key(raw)
    first = True

    def way(self, chain: Chain) -> Way:
        """Return the chain in which such runs end."""
        if chain.interactive:
            raise refused(self, "a chain")
        masses = _masses(self.cut, chain)
        _check_masses(masses, chain)
        return Way(chain, lambda found: _back(found, masses))


def _masses(value: object, chain: Chain) -> dict[str, Mass]:
    masses = {}
    for name, number in counted(mapping(value, "the masses that are cut off").items()):
        if name not in chain.labels:
            raise RuleViolation(f"P3: {shown(name)} is no state of the model")
        masses[name] = Mass.by("P3")(number, f"the mass of {shown(name)}")
    return masses


def _check_masses(masses: Mapping[str, Mass], chain: Chain) -> None:
    """Check that the masses are at least the probabilities of reaching a state labelled ``cut``."""
    for state, label in counted(chain.labels.items()):
        follows = [p * masses.get(target, ZERO) for target, p in counted(chain.rows[state].items())]
        if masses.get(state, ZERO) < (ONE if label == "cut" else sum(all_of(follows), ZERO)):
            raise RuleViolation(f"P3: the mass of {shown(state)} is less than that of what comes next, or 1")


def _back(found: Proved, masses: Mapping[str, Mass]) -> Proved:
    """Widen bounds on delta; a distance bounds delta from above only."""
    found.of("delta", "bd", step="cut")
    p, q = (masses.get(state, ZERO) for state in counted(found.states))
    if not p and not q:
        return found
    alpha, _ = found.alphas()
    sides: dict[str, Any] = {"lower": ZERO, **found.sides}
    if found.quantity == "bd":
        sides["lower"] = ZERO
        found = replace(found, terms={"quantity": "delta", "alpha": found.terms["alpha"]})
    lower = max(ZERO, sides["lower"] - max(p + alpha * q, q + alpha * p))
    return replace(found, sides={"lower": lower, "upper": min(ONE, sides["upper"] + max(p, q))})
