"""Hard instances: a formula in conjunctive normal form as a question about a hidden Markov model.

Source: LWZ22-conference Theorem 5.1, LWZ22-long Theorem 5.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TypeAlias

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.hmm import HMM

Clause: TypeAlias = tuple[int, ...]
"""Literals as in DIMACS: i stands for variable i, -i for its negation, counted from one."""


def _checked(clauses: Sequence[Clause], variables: int) -> None:
    if variables < 1 or not clauses:
        raise UsageError(f"{variables} variables and {len(clauses)} clauses; expected at least one of each")
    for clause in clauses:
        if not clause or any(literal == 0 or abs(literal) > variables for literal in clause):
            raise UsageError(f"the clause {clause} is not usable; expected literals from 1 to {variables}")


def satisfiable(clauses: Sequence[Clause], variables: int) -> bool:
    """Tell whether a formula has a satisfying assignment, by trying all of them: for small formulae.

    >>> satisfiable([(1, 2), (-1,)], 2), satisfiable([(1,), (-1,)], 1)
    (True, False)
    """
    _checked(clauses, variables)
    return any(
        all(any(values[abs(literal) - 1] == (literal > 0) for literal in clause) for clause in clauses)
        for values in product((False, True), repeat=variables)
    )


def unsatisfiability_model(clauses: Sequence[Clause], variables: int) -> tuple[HMM, fmpq]:
    r"""Return a model and a ratio that it respects exactly if the formula is unsatisfiable.

    An observation sequence is an assignment, one symbol ``0`` or ``1`` for each variable, and one symbol
    ``good`` or ``bad``. From ``tau`` one of the m clauses is drawn and followed: ``bad`` has probability 3/4
    if the assignment violates it, else 1/4. From ``pi`` it has probability 3/5 whatever the assignment. With
    u the share of the clauses that the assignment violates,

    .. math:: \frac{\Pr(w \, \mathtt{bad} \mid \pi)}{\Pr(w \, \mathtt{bad} \mid \tau)}
              = \frac{3/5}{1/4 + u/2},

    which is 12/5 for a satisfying assignment and at most :math:`\frac{12}{5} \cdot \frac{m}{m+2}` for any
    other; the other three quotients never exceed 15/8.

    ``variables``: how many variables there are.
    returns HMM, fmpq: the model with the pair (pi, tau), to be asked with length ``variables + 1``, and the
        ratio.
    Raises UsageError if there is no clause or variable, or a literal is out of range.
    Source: LWZ22, Theorem 5.1, states that the question is NP-hard; the construction here is another one.

    >>> model, ratio = unsatisfiability_model([(1,), (-1,)], 1)
    >>> ratio
    15/8
    """
    _checked(clauses, variables)
    half, share = fmpq(1, 2), fmpq(1, len(clauses))
    states: dict[str, dict[str, fmpq]] = {}
    rows: dict[str, dict[str, fmpq]] = {}
    for end, bad in (("any-end", fmpq(3, 5)), ("violated-end", fmpq(3, 4)), ("satisfied-end", fmpq(1, 4))):
        states[end] = {"bad": bad, "good": 1 - bad}

    def follow(kind: str, variable: int, clause: Clause | None) -> dict[str, fmpq]:
        """Return the distribution of the state that makes the symbol of a variable."""
        if variable > variables:
            return {f"{'violated' if clause is not None else kind}-end": fmpq(1)}
        row: dict[str, fmpq] = {}
        for bit in (0, 1):
            met = clause is not None and (variable if bit else -variable) in clause
            name = f"{'satisfied' if met else kind}:{variable}={bit}"
            row[name] = half
            if name not in states:
                states[name] = {str(bit): fmpq(1)}
                rows[name] = follow(name.split(":", maxsplit=1)[0], variable + 1, None if met else clause)
        return row

    start: dict[str, dict[str, fmpq]] = {"pi": follow("any", 1, None), "tau": {}}
    for number, clause in enumerate(clauses, start=1):
        for name, chance in follow(f"clause{number}", 1, clause).items():
            start["tau"][name] = start["tau"].get(name, fmpq(0)) + chance * share
    count = len(clauses)
    return (
        HMM.from_mappings(states, rows, start, observations=("0", "1", "good", "bad"), pairs=[("pi", "tau")]),
        max(fmpq(15, 8), fmpq(12, 5) * fmpq(count, count + 2)),
    )
