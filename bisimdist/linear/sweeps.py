"""Gauss-Seidel sweeps over a sparse system in doubles, component by component; numba can compile them."""

from __future__ import annotations

from typing import Any

Array = Any  # numpy array


def sweep(
    cuts: Array,
    starts: Array,
    columns: Array,
    weights: Array,
    inverse: Array,
    target: Array,
    solution: Array,
    tolerance: float,
    most: int,
) -> int:
    """Solve ``x_i = inverse_i (target_i + sum of weight x_column)`` from the solution that there is.

    ``cuts``: where the components begin, and the size; a component depends on itself and on those before it.
    ``starts``, ``columns``, ``weights``: the entries off the diagonal, row by row.
    ``inverse``: one over each diagonal entry.
    ``target``, ``solution``: by unknown; the solution is written.
    ``tolerance``: a component is left when no unknown changes by more than this part of the largest.
    ``most``: how often a component is swept at most.
    returns: the number of sweeps of the component that took most; -1 where `most` were not enough.
    """
    longest = 0
    for part in range(len(cuts) - 1):
        low, high = cuts[part], cuts[part + 1]
        done = 0
        change, largest = 1.0, 0.0
        while change > tolerance * largest:
            if done == most:
                return -1
            change, largest = 0.0, 0.0
            for i in range(low, high):
                total = target[i]
                for k in range(starts[i], starts[i + 1]):
                    total += weights[k] * solution[columns[k]]
                total *= inverse[i]
                change = max(change, abs(total - solution[i]))
                largest = max(largest, abs(total))
                solution[i] = total
            done += 1
            if high == low + 1:
                break
        longest = max(longest, done)
    return longest
