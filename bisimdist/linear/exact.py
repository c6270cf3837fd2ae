"""The exact, checked solution of a sparse linear system, component by component.

Source: CMP18 Theorem 1.
"""

from __future__ import annotations

from flint import fmpz

from bisimdist.linear.components import strongly_connected_components
from bisimdist.linear.irreducible import IrreducibleSystem, solve_dense, solves
from bisimdist.linear.regularity import is_dominant
from bisimdist.linear.system import ExactSolution, SingularSystemError, SparseSystem
from bisimdist.progress import Deadline, Progress, silent

_NEVER = Deadline()

_DENSE_SECONDS = 5e-9
"""What the dense method takes for one unknown and numbers of a word; it grows with the cube (measured)."""

_OFTEN = 256  # the clock is looked at after so many unknowns by themselves
_DENSE_SIZE = 100  # up to this size the dense exact method is as fast (measured)


def solve_exact(
    system: SparseSystem, *, deadline: Deadline = _NEVER, progress: Progress = silent
) -> ExactSolution:
    """Solve a sparse system exactly.

    The strongly connected components of the dependency graph are solved in turn, those that others depend
    on first. What is known of lower components becomes an integral right-hand side over one denominator, so
    that the denominator of a component only has to be found for its own matrix. Components of up to 100
    unknowns are solved by a dense method, larger ones by numeric lifting, with the dense method as a last
    resort for matrices too ill-conditioned for double precision.

    returns: the unique solution: every equation has been checked in integers, and every component has been
        proved non-singular.
    Raises SingularSystemError if the system has no solution or several.

    >>> solution = solve_exact(SparseSystem(((2, 1, ((1, 1),)), (4, 0, ((0, 2),)))))
    >>> solution.entry(0), solution.entry(1)
    (2/3, 1/3)
    """
    size = system.size
    numerators = [fmpz(0)] * size
    component_of = [-1] * size
    denominators: list[fmpz] = []
    done = 0
    for members in strongly_connected_components([[j for j, _ in entries] for _, _, entries in system.rows]):
        number = len(denominators)
        alone = len(members) == 1
        if not alone or number % _OFTEN == 0:
            deadline.check()
        for index in members:
            component_of[index] = number
        if alone:
            values, denominator = _alone(system, members[0], numerators, component_of, denominators)
        else:
            local, below = _irreducible(system, members, numerators, component_of, denominators)
            values, own = _solution(local, deadline=deadline, progress=progress)
            values, denominator = _in_lowest_terms(values, own * below)
        for index, value in zip(members, values, strict=True):
            numerators[index] = value
        denominators.append(denominator)
        done += len(members)
        if not alone or done == size or number % _OFTEN == 0:
            progress("unknowns solved", done, size)
    solution = ExactSolution(tuple(numerators), tuple(component_of), tuple(denominators))
    if not satisfies(system, solution):
        raise AssertionError("the solution of the linear system does not satisfy it")
    return solution


def _in_lowest_terms(values: list[fmpz], denominator: fmpz) -> tuple[list[fmpz], fmpz]:
    common = denominator
    for value in values:
        if common == 1:
            return values, denominator
        common = common.gcd(value)
    return [value // common for value in values], denominator // common


def _alone(
    system: SparseSystem,
    index: int,
    numerators: list[fmpz],
    component_of: list[int],
    denominators: list[fmpz],
) -> tuple[list[fmpz], fmpz]:
    """Solve for an unknown that nothing it depends on depends on; return its numerator and denominator."""
    own, total, entries = system.rows[index]
    value, below = fmpz(total), fmpz(1)
    for column, weight in entries:
        if column == index:
            own -= weight
            continue
        under = denominators[component_of[column]]
        if under != below:
            common = below.lcm(under)
            value *= common // below
            below = common
        value += weight * numerators[column] * (below // under)
    if not own:
        raise SingularSystemError("the linear system is singular: no mass leaves an unknown")
    # only the factors of its own row are taken out: a gcd of two long numbers costs more
    common = value.gcd(own) if own > 0 else -value.gcd(own)
    return [value // common], own // common * below


def _irreducible(
    system: SparseSystem,
    members: list[int],
    numerators: list[fmpz],
    component_of: list[int],
    denominators: list[fmpz],
) -> tuple[IrreducibleSystem, fmpz]:
    """Substitute the known unknowns; return M z = beta for z = below x, and `below`."""
    number = component_of[members[0]]
    lower = {component_of[j] for index in members for j, _ in system.rows[index][2]} - {number}
    below = fmpz(1)
    for component in sorted(lower):
        below = below.lcm(denominators[component])
    factors = {component: below // denominators[component] for component in lower}
    position = {index: place for place, index in enumerate(members)}
    diagonal, rows, beta = [], [], []
    for index in members:
        scale, constant, entries = system.rows[index]
        inner: dict[int, int] = {}
        outer: dict[int, fmpz] = {}
        for column, weight in entries:
            component = component_of[column]
            if component != number:
                outer[component] = outer.get(component, fmpz(0)) + weight * numerators[column]
            elif column == index:
                scale -= weight
            else:
                inner[position[column]] = inner.get(position[column], 0) + weight
        diagonal.append(scale)
        rows.append(tuple(sorted(inner.items())))
        beta.append(constant * below + sum((factors[c] * value for c, value in outer.items()), fmpz(0)))
    return IrreducibleSystem(tuple(diagonal), tuple(rows), tuple(beta)), below


def _solution(
    system: IrreducibleSystem, *, deadline: Deadline, progress: Progress
) -> tuple[list[fmpz], fmpz]:
    """Solve M z = beta; return numerators and their positive common denominator."""
    dominant = is_dominant(system)
    if system.size > _DENSE_SIZE:
        # scipy takes longer to load than small systems to solve
        from bisimdist.linear.component_solver import solve_by_lifting  # noqa: PLC0415

        found = solve_by_lifting(system, dominant=dominant, deadline=deadline, progress=progress)
        if found is not None:
            return found
        deadline.check()
    _demand_time(system, deadline)
    solution = solve_dense(system)
    if not solves(system, *solution):
        raise AssertionError("the dense exact solver returned a vector that is no solution")
    return solution


def _demand_time(system: IrreducibleSystem, deadline: Deadline) -> None:
    """Raise LimitError where the dense method, which nothing can interrupt, would hardly end in time."""
    if deadline.moment is not None:
        words = max(value.bit_length() for value in system.diagonal) / 64
        deadline.earlier(_DENSE_SECONDS * system.size**3 * max(1.0, words)).check()


def satisfies(system: SparseSystem, solution: ExactSolution) -> bool:
    """Tell whether a vector satisfies every equation, in integers.

    Examples
    --------
    >>> solution = ExactSolution((fmpz(1),), (0,), (fmpz(2),))
    >>> satisfies(SparseSystem(((2, 1, ()),)), solution), satisfies(SparseSystem(((3, 1, ()),)), solution)
    (True, False)
    """
    if not len(solution.numerators) == len(solution.components) == system.size:
        return False
    for index, (scale, constant, entries) in enumerate(system.rows):
        # L x - constant - sum of w x, added up separately for each denominator.
        parts = {solution.components[index]: scale * solution.numerators[index]}
        for column, weight in entries:
            component = solution.components[column]
            parts[component] = parts.get(component, fmpz(0)) - weight * solution.numerators[column]
        common = fmpz(1)
        for component in parts:
            common = common.lcm(solution.denominators[component])
        total = -constant * common
        for component, part in parts.items():
            total += part * (common // solution.denominators[component])
        if total:
            return False
    return True
