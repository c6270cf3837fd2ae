"""Writes who satisfies a formula, and what a state can do as a formula, for the checker to find out again.

The formats are described in docs/certificates/satisfaction.md and docs/certificates/mimicking-formula.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bisimdist.errors import LimitError
from bisimdist.logic.equations import EquationSystem
from bisimdist.logic.formula import DistributionFormula, StateFormula
from bisimdist.logic.levels import outgoing
from bisimdist.logic.mimicking import reachable_states
from bisimdist.models.pa import PA

__all__ = ["mimicking_certificate", "satisfaction_certificate", "transitions_certificate"]

MAX_WORK = 80_000_000
"""How much the checker may have to build: formulae of more parts are not written."""

Entry = dict[str, object]


def _document(automaton: PA, kind: str, claim: Entry) -> Entry:
    return {
        "format": "bisimdist-certificate",
        "version": 1,
        "kind": kind,
        "model": automaton.canonical(),
        "digest": automaton.digest(),
        "claims": [claim],
    }


def satisfaction_certificate(
    automaton: PA, formula: StateFormula | EquationSystem, states: Iterable[str]
) -> Entry:
    """Return the certificate that these are the states that satisfy a formula, by their names."""
    return _document(automaton, "satisfaction", {"formula": str(formula), "satisfying": list(states)})


def transitions_certificate(automaton: PA, formula: DistributionFormula, numbers: Iterable[int]) -> Entry:
    """Return the certificate that these are the transitions that satisfy a formula about distributions."""
    canonical = automaton.canonical()
    steps = canonical["transitions"]
    assert isinstance(steps, list)
    unique = {
        (step.source, step.action, frozenset((target, str(p)) for target, p in step.row)): number
        for number, step in ((number, automaton.transitions[number]) for number in numbers)
    }
    listed = [steps[number] for number in sorted(unique.values())]
    return _document(automaton, "satisfaction", {"formula": str(formula), "transitions": listed})


def mimicking_certificate(
    automaton: PA,
    state: int,
    depth: int | None,
    formula: StateFormula | EquationSystem,
    variables: Mapping[int, str],
) -> Entry:
    """Return the certificate that a formula is the mimicking formula of a state.

    Parameters
    ----------
    automaton
        The automaton.
    state
        The index of the state.
    depth
        For how many steps; None for ever.
    formula
        The formula.
    variables
        By state that can be reached its variable, where the formula is recursive.

    Raises
    ------
    LimitError
        If the checker would take too long to build the formula once more.
    """
    if isinstance(formula, StateFormula):
        reached = reachable_states(automaton, [state])
        steps = outgoing(automaton)
        actions = len({step.action for step in automaton.transitions})
        parts = sum(actions + 3 * sum(len(step.row) for step in steps[s]) for s in reached)
        if parts * (formula.depth + 2) > MAX_WORK:
            raise LimitError("the formula would take too long to check")
    names = automaton.states
    claim: Entry = {
        "state": names[state],
        "depth": None if depth is None else str(depth),
        "formula": str(formula),
    }
    if isinstance(formula, EquationSystem):
        claim["variables"] = {names[s]: name for s, name in variables.items()}
    return _document(automaton, "mimicking-formula", claim)
