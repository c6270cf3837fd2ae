"""The multiplicative Kantorovich lifting: exact optima of one direction, with the witnesses of both sides.

Source: CCP18 Definition 14.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import LinearProgramError, NumberTypeError
from bisimdist.lp.ratio_guess import guess_tree
from bisimdist.lp.ratio_simplex import solve_incomplete
from bisimdist.lp.ratio_tree import RatioPart, solve_complete
from bisimdist.progress import NEVER, Deadline

RatioFunction = Callable[[int, int], fmpq | None]
"""The ratio e^d of two states, by their indices: at least one, or None for infinity."""

_ZERO = fmpq(0)
_ONE = fmpq(1)
_GUESS_FROM = 300  # from so many pairs of a source and a sink on, a guess in floating point pays

_Rows = list[list[fmpq | None]]
_Task = tuple[Sequence[int], Sequence[int], Sequence[fmpq], Sequence[fmpq], _Rows]
"""Sources and sinks, what they have and take, and the ratios between them."""


@dataclass(frozen=True, slots=True)
class RatioOptimum:
    """The exact value of one direction and what proves it."""

    ratio: fmpq | None  # C, the supremum of ``sum m f / sum m' f``; None where it is infinite
    # triples (i, j, w) with w > 0: the masses that are moved, ``sum_j w_ij >= m(i)`` and ``sum_i R_ij w_ij <=
    # C m'(j)``, which prove that the value is at most C. Empty where C is None.
    coupling: tuple[tuple[int, int, fmpq], ...]
    # pairs (state, f) for all states of the two supports, with ``sum m' f = 1`` and ``sum m f = C``
    # (infinite: ``sum m' f = 0 < sum m f``), which prove that the value is at least C, provided that ``f_x <=
    # R_xy f_y``. Where R is a pseudometric this holds for all states x, y of the supports. Empty where both
    # measures are zero, and where R is so far from a pseudometric that a state of both supports would need
    # two potentials.
    potential: tuple[tuple[int, fmpq], ...]


def lift_ratio(
    first: Mapping[int, fmpq], second: Mapping[int, fmpq], ratio: RatioFunction, *, deadline: Deadline = NEVER
) -> RatioOptimum:
    """Return how much more of any function the first measure can hold than the second, exactly.

    The value is the least C such that masses ``w_ij >= 0`` exist with ``sum_j w_ij >= m(i)`` and
    ``sum_i R_ij w_ij <= C m'(j)``. Where R = e^d for a pseudometric d, this is the supremum of
    ``sum m f / sum m' f`` over all f with ``f_i <= R_ij f_j``, and the larger of both directions is the
    multiplicative Kantorovich lifting of d (as a ratio).

    ``first``, ``second``: the measures m and m': masses of at least 0 by state. Any total is allowed.
    ``ratio``: R, called with two different states: the first of the support of m, the second of that of m'.
        From a state to itself the ratio is 1.
    returns: the value with both witnesses, which have been checked. If m is zero the value is 0; if both are
        zero it is 1, because two functions that are both 0 are not apart.
    Raises LinearProgramError if a mass is negative or a ratio less than one.
    Raises NumberTypeError if a number is no ``fmpq``.
    Source: CCP18 (generalised Kantorovich lifting).

    >>> half, third = fmpq(1, 2), fmpq(1, 3)
    >>> optimum = lift_ratio({0: half, 1: half}, {0: third, 1: 2 * third}, lambda i, j: fmpq(4, 3))
    >>> optimum.ratio, optimum.potential
    (21/20, ((0, 6/5), (1, 9/10)))
    >>> lift_ratio({0: half, 1: half}, {0: third, 1: 2 * third}, lambda i, j: None).ratio
    3/2
    """
    left, right = _support("first", first), _support("second", second)
    sources, sinks = sorted(left), sorted(right)
    if not left:
        total = sum(right.values(), _ZERO)
        return RatioOptimum(_ZERO if right else _ONE, (), tuple((j, 1 / total) for j in sinks))
    same = _proportional(left, right)
    if same is not None:
        return same
    rows = [[_entry(ratio, i, j) for j in sinks] for i in sources]
    stuck = next((i for i, row in zip(sources, rows, strict=True) if all(r is None for r in row)), None)
    if stuck is not None:
        return _infinite(stuck, sources, sinks, rows, ratio)
    supply, demand = [left[i] for i in sources], [right[j] for j in sinks]
    task = sources, sinks, supply, demand, rows
    optimum = _assemble(task, deadline)
    violation = _violation(task, optimum)
    if violation is not None:
        raise LinearProgramError(violation)
    return optimum


def find_ratio_violation(
    first: Mapping[int, fmpq], second: Mapping[int, fmpq], ratio: RatioFunction, optimum: RatioOptimum
) -> str | None:
    """Return what is wrong with an optimum, in one line, or None where both witnesses prove it.

    Weak duality: ``sum m f <= sum w_ij f_i <= sum w_ij R_ij f_j <= C sum m' f``.
    """
    left, right = _support("first", first), _support("second", second)
    sources, sinks = sorted(left), sorted(right)
    if not left and not right:
        return None if optimum == RatioOptimum(_ONE, (), ()) else "two zero measures are at ratio 1"
    rows = [[_entry(ratio, i, j) for j in sinks] for i in sources]
    return _violation((sources, sinks, [left[i] for i in sources], [right[j] for j in sinks], rows), optimum)


def _support(side: str, masses: Mapping[int, fmpq]) -> dict[int, fmpq]:
    found = {}
    for state, mass in masses.items():
        if not isinstance(mass, fmpq):
            raise NumberTypeError(
                f"the {side} mass of state {state} is the {type(mass).__name__} {mass!r}; expected an fmpq"
            )
        if mass < 0:
            raise LinearProgramError(f"the {side} mass of state {state} is {mass}; expected at least 0")
        if mass:
            found[state] = mass
    return found


def _entry(ratio: RatioFunction, i: int, j: int) -> fmpq | None:
    if i == j:
        return _ONE
    value = ratio(i, j)
    if value is not None and value < _ONE:
        raise LinearProgramError(f"the ratio of the states {i} and {j} is {value}; expected at least 1")
    return value


def _proportional(left: Mapping[int, fmpq], right: Mapping[int, fmpq]) -> RatioOptimum | None:
    """Return the optimum of measures that differ by a factor: nothing is moved, whatever the ratios."""
    if left.keys() != right.keys():
        return None
    state = next(iter(left))
    factor = left[state] / right[state]
    if any(mass != factor * right[i] for i, mass in left.items()):
        return None
    each = 1 / sum(right.values(), _ZERO)
    return RatioOptimum(
        factor, tuple((i, i, left[i]) for i in sorted(left)), tuple((i, each) for i in sorted(left))
    )


def _infinite(
    stuck: int, sources: Sequence[int], sinks: Sequence[int], rows: _Rows, ratio: RatioFunction
) -> RatioOptimum:
    """Return the proof of infinity: a function that is 1 around a state which reaches no sink."""
    ones = {stuck}
    for i, row in zip(sources, rows, strict=True):
        if i != stuck and all(r is None for r in row) and ratio(i, stuck) is not None:
            ones.add(i)
    states = sorted({*sources, *sinks})
    return RatioOptimum(None, (), tuple((x, _ONE if x in ones else _ZERO) for x in states))


def _components(rows: _Rows, width: int) -> list[tuple[list[int], list[int]]]:
    """Return the connected components of the finite ratios, as local numbers of sources and sinks."""
    columns = [[i for i, row in enumerate(rows) if row[j] is not None] for j in range(width)]
    left = set(range(len(rows)))
    found = []
    while left:
        start = min(left)
        left.discard(start)
        mine, sinks = [start], set[int]()
        for i in mine:
            for j, r in enumerate(rows[i]):
                if r is not None and j not in sinks:
                    sinks.add(j)
                    fresh = [k for k in columns[j] if k in left]
                    left.difference_update(fresh)
                    mine += fresh
        found.append((sorted(mine), sorted(sinks)))
    return found


def _solve_component(
    supply: Sequence[fmpq], demand: Sequence[fmpq], rows: _Rows, deadline: Deadline
) -> RatioPart:
    complete = [[r for r in row if r is not None] for row in rows]
    if any(len(row) < len(demand) for row in complete):
        return solve_incomplete(supply, demand, rows, deadline=deadline)
    large = len(supply) > 1 and len(demand) > 1 and len(supply) * len(demand) >= _GUESS_FROM
    guess = guess_tree(supply, demand, complete, deadline) if large else ()
    return solve_complete(supply, demand, complete, guess=guess, deadline=deadline)


def _assemble(task: _Task, deadline: Deadline) -> RatioOptimum:
    """Solve the components; the worst gives the value and the potential, all give their couplings."""
    sources, sinks, supply, demand, rows = task
    moves: list[tuple[int, int, fmpq]] = []
    worst: RatioPart | None = None
    place: tuple[list[int], list[int]] = ([], [])
    for mine, reached in _components(rows, len(sinks)):
        part = _solve_component(
            [supply[i] for i in mine],
            [demand[j] for j in reached],
            [[rows[i][j] for j in reached] for i in mine],
            deadline,
        )
        moves += [(sources[mine[i]], sinks[reached[j]], w) for i, j, w in part.moves]
        if worst is None or part.ratio > worst.ratio:
            worst, place = part, (mine, reached)
    if worst is None:
        raise LinearProgramError("the first measure is zero")
    out = dict.fromkeys(sources, _ZERO)
    out |= {sources[i]: u for i, u in zip(place[0], worst.sources, strict=True)}
    into = dict.fromkeys(sinks, _ZERO)
    into |= {sinks[j]: v for j, v in zip(place[1], worst.sinks, strict=True)}
    potential: tuple[tuple[int, fmpq], ...] = ()
    if all(out[x] == into[x] for x in out.keys() & into.keys()):
        scale = 1 / sum((m * into[j] for j, m in zip(sinks, demand, strict=True)), _ZERO)
        potential = tuple((x, scale * f) for x, f in sorted((out | into).items()))
    return RatioOptimum(worst.ratio, tuple(sorted(moves)), potential)


def _violation(task: _Task, optimum: RatioOptimum) -> str | None:
    sources, sinks, supply, demand, rows = task
    gained, paid = optimum.ratio, _ONE
    if optimum.ratio is not None:
        problem = _coupling_violation(task, optimum)
        if problem is not None:
            return problem
    f = dict(optimum.potential)
    if not f and optimum.ratio is not None:
        return None
    if f.keys() != {*sources, *sinks} or any(value < 0 for value in f.values()):
        return "the potential does not give a number of at least 0 for each state of the supports"
    for i, row in zip(sources, rows, strict=True):
        for j, r in zip(sinks, row, strict=True):
            if r is not None and f[i] > r * f[j]:
                return f"the potential breaks f_{i} <= {r} f_{j}: {f[i]} and {f[j]}"
    gained = sum((m * f[i] for i, m in zip(sources, supply, strict=True)), _ZERO)
    paid = sum((m * f[j] for j, m in zip(sinks, demand, strict=True)), _ZERO)
    proved = paid == 0 < gained if optimum.ratio is None else paid == 1 and gained == optimum.ratio
    return None if proved else f"the potential proves {gained} / {paid}, not {optimum.ratio}"


def _coupling_violation(task: _Task, optimum: RatioOptimum) -> str | None:
    sources, sinks, supply, demand, rows = task
    row_of = {i: place for place, i in enumerate(sources)}
    column_of = {j: place for place, j in enumerate(sinks)}
    left, load = list(supply), [_ZERO] * len(sinks)
    for i, j, w in optimum.coupling:
        if i not in row_of or j not in column_of or w <= 0:
            return f"the coupling moves {w} from state {i} to state {j}"
        r = rows[row_of[i]][column_of[j]]
        if r is None:
            return f"the coupling moves {w} from state {i} to state {j}, which are infinitely far apart"
        left[row_of[i]] -= w
        load[column_of[j]] += r * w
    for i, rest in zip(sources, left, strict=True):
        if rest > 0:
            return f"the coupling leaves {rest} of the mass of state {i}"
    for j, room, full in zip(sinks, demand, load, strict=True):
        if optimum.ratio is None or full > optimum.ratio * room:
            return f"the coupling loads state {j} with {full}, more than {optimum.ratio} times {room}"
    return None
