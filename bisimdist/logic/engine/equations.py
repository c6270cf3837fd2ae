"""Recursive formulae: systems of equations ``X = phi``, which stand for their greatest solution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bisimdist.errors import UsageError
from bisimdist.logic.engine.formula import Negation, Node, StateFormula, Variable, children, postorder


def variables_of(formula: Node) -> set[str]:
    """Return the names of the variables that occur in a formula."""
    return {node.name for node in postorder(formula) if isinstance(node, Variable)}


@dataclass(frozen=True, slots=True)
class EquationSystem:
    """A formula whose variables are defined by equations, as their greatest solution.

    Parameters
    ----------
    root
        The formula that is meant.
    equations
        Variables by name, each with the formula that defines it.

    Raises
    ------
    UsageError
        If a variable has no equation or two, or occurs in one under an odd number of negations (then there
        need not be a solution).

    Examples
    --------
    >>> from bisimdist.logic.engine.formula_parser import parse_system
    >>> print(parse_system("rec X = <a>X in X"))
    rec X = <a>X in X
    """

    root: StateFormula
    equations: tuple[tuple[str, StateFormula], ...] = ()

    def __post_init__(self) -> None:
        names = [name for name, _ in self.equations]
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise UsageError(f"the variable {twice} has two equations; expected one")
        known = set(names)
        for formula in (self.root, *(formula for _, formula in self.equations)):
            missing = sorted(variables_of(formula) - known)
            if missing:
                raise UsageError(f"the variable {missing[0]} has no equation; expected one after 'rec'")
        wrong = next(self._negative(), None)
        if wrong is not None:
            raise UsageError(
                f"the variable {wrong} occurs under an odd number of negations; expected an even number"
            )

    def _negative(self) -> Iterator[str]:
        """Yield variables that occur under an odd number of negations."""
        seen: set[tuple[Node, bool]] = set()
        waiting: list[tuple[Node, bool]] = [(formula, True) for _, formula in self.equations]
        while waiting:
            node, positive = waiting.pop()
            if (node, positive) in seen or not node.open:
                continue
            seen.add((node, positive))
            if isinstance(node, Variable) and not positive:
                yield node.name
            inside = positive != isinstance(node, Negation)
            waiting += [(child, inside) for child in children(node)]

    def __str__(self) -> str:
        from bisimdist.logic.engine.formula_printer import system_text  # noqa: PLC0415

        return system_text(self)
