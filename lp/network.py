"""Bases of the coupling program: forests of a network whose arcs multiply what they carry.

A column of the coupling program of n nodes is an integer:

* ``i * n + j`` with i != j moves mass from node i to node j: +1 in row i, -alpha in row j;
* ``i * n + i`` gives mass up at node i: +1 in row i, at cost one;
* ``n * n + i`` is the slack of row i: -1 in row i, at cost zero.

The columns of a basis form a spanning forest in which every component has exactly one further column, its
closing column: one that touches a single node (the root), or an arc that closes a cycle of gain other than
one. Hence potentials and flows of a basis cost a walk over the forest, no matrix (AMO93, Chapter 15).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flint import fmpq

_ZERO = fmpq(0)
_ONE = fmpq(1)


def move_column(n: int, i: int, j: int) -> int:
    """Return the column that moves mass from node i to node j."""
    return i * n + j


def given_up_column(n: int, i: int) -> int:
    """Return the column that gives mass up at node i."""
    return i * (n + 1)


def slack_column(n: int, i: int) -> int:
    """Return the slack column of row i."""
    return n * n + i


class Forest:
    """The forest of a set of columns, walked from its roots; internal to the exact solvers.

    A component without closing column (which no basis has) is rooted at its first node, and its closing
    column is -1.
    """

    __slots__ = ("alpha", "closing", "n", "order", "owned", "parent", "powers", "up")

    def __init__(self, n: int, alpha: fmpq, columns: Iterable[int]) -> None:
        self.n = n
        self.alpha = alpha
        self.order: list[int] = []  # every parent before its children
        self.parent = [-1] * n
        self.owned = [-1] * n  # the column to the parent; for a root its closing column
        self.up = [False] * n  # whether that column leads to the parent
        self.closing: list[tuple[int, int, int]] = []  # (root, first, last position in order): cycles only
        self.powers: dict[int, fmpq] = {0: _ONE, 1: alpha}
        square = n * n
        near: list[list[tuple[int, int, bool]]] = [[] for _ in range(n)]
        roots = []
        for column in columns:
            if column >= square:
                roots.append(column - square)
                self.owned[column - square] = column
                continue
            i, j = divmod(column, n)
            if i == j:
                roots.append(i)
                self.owned[i] = column
            else:
                near[i].append((j, column, False))
                near[j].append((i, column, True))
        seen = [False] * n
        for root in roots:
            self._walk(root, near, seen)
        if len(self.order) < n:
            for root in range(n):
                if not seen[root]:
                    start = len(self.order)
                    self._walk(root, near, seen)
                    if self.owned[root] >= 0:
                        self.closing.append((root, start, len(self.order)))

    def _walk(self, root: int, near: list[list[tuple[int, int, bool]]], seen: list[bool]) -> None:
        order, parent, owned, up = self.order, self.parent, self.owned, self.up
        seen[root] = True
        position = len(order)
        order.append(root)
        while position < len(order):
            node = order[position]
            position += 1
            column_above = owned[node]
            for other, column, leads_here in near[node]:
                if not seen[other]:
                    seen[other] = True
                    parent[other] = node
                    owned[other] = column
                    up[other] = leads_here
                    order.append(other)
                elif column != column_above and owned[other] != column:
                    owned[root] = column  # the one arc that closes a cycle

    def _gains(self, start: int, stop: int) -> dict[int, fmpq]:
        """Return the multipliers g of a component, g(root) = 1, with g_i = alpha g_j on its arcs i -> j."""
        exponents: dict[int, int] = {}
        gains = {}
        for node in self.order[start:stop]:
            above = self.parent[node]
            exponent = 0 if above < 0 else exponents[above] + (1 if self.up[node] else -1)
            exponents[node] = exponent
            power = self.powers.get(exponent)
            if power is None:
                power = self.powers[exponent] = self.alpha**exponent
            gains[node] = power
        return gains

    def potentials(self, distance: Sequence[Sequence[fmpq]]) -> list[fmpq]:
        """Return f, which makes the reduced costs of the basis zero."""
        n, alpha, parent, owned, up = self.n, self.alpha, self.parent, self.owned, self.up
        square = n * n
        f = [_ZERO] * n
        cyclic = {root for root, _, _ in self.closing} if self.closing else ()
        for node in self.order:
            above = parent[node]
            if above < 0:
                if node not in cyclic and owned[node] < square:
                    f[node] = _ONE
            elif up[node]:
                f[node] = alpha * f[above] + distance[node][above]
            else:
                f[node] = (f[above] - distance[above][node]) / alpha
        for root, start, stop in self.closing:
            gains = self._gains(start, stop)
            i, j = divmod(owned[root], n)
            scale = (distance[i][j] - f[i] + alpha * f[j]) / (gains[i] - alpha * gains[j])
            for node in self.order[start:stop]:
                f[node] += scale * gains[node]
        return f

    def solve(self, right_side: list[fmpq]) -> dict[int, fmpq]:
        """Return the basis columns' values x with B x = right_side, without zeros; spoils its argument."""
        n, alpha, parent, owned, up = self.n, self.alpha, self.parent, self.owned, self.up
        square = n * n
        values = {}
        for root, start, stop in self.closing:
            nodes = self.order[start:stop]
            if not any(right_side[node] for node in nodes):
                continue
            gains = self._gains(start, stop)
            i, j = divmod(owned[root], n)
            total = sum((gains[node] * right_side[node] for node in nodes), _ZERO)
            if total:
                amount = total / (gains[i] - alpha * gains[j])
                values[owned[root]] = amount
                right_side[i] -= amount
                right_side[j] += alpha * amount
        for node in reversed(self.order):
            rest = right_side[node]
            if not rest:
                continue
            above = parent[node]
            if above < 0:
                values[owned[node]] = rest if owned[node] < square else -rest
            elif up[node]:
                values[owned[node]] = rest
                right_side[above] += alpha * rest
            else:
                amount = -rest / alpha
                values[owned[node]] = amount
                right_side[above] -= amount
        return values


def _independent(n: int, alpha: fmpq, columns: Iterable[int]) -> list[int]:
    leader = list(range(n))
    exponent = [0] * n  # g_node = alpha ** exponent, within its component
    members = [[i] for i in range(n)]
    closed = [False] * n
    chosen = []
    square = n * n
    for column in columns:
        i, j = divmod(column, n) if column < square else (column - square, column - square)
        a, b = leader[i], leader[j]
        if a == b:
            balanced = i != j and (alpha == 1 or exponent[i] == exponent[j] + 1)
            if closed[a] or balanced:
                continue
            closed[a] = True
        else:
            if closed[a] and closed[b]:
                continue
            shift = exponent[i] - 1 - exponent[j]
            if len(members[a]) < len(members[b]):
                a, b, shift = b, a, -shift
            for node in members[b]:
                leader[node] = a
                exponent[node] += shift
            members[a] += members[b]
            closed[a] = closed[a] or closed[b]
        chosen.append(column)
    return chosen


def feasible_basis(
    alpha: fmpq, excess: Sequence[fmpq], wanted: Iterable[int]
) -> tuple[list[int], dict[int, fmpq]]:
    """Return a feasible basis near the wanted columns, and the values of its columns.

    Columns that depend on earlier ones are left out. From the leaves inwards, an arc whose exact flow is
    negative is cut and its outer end gives up or forgets its mass instead, so that one walk ends in a
    feasible basis whatever was wanted. If the wanted columns are a feasible basis, it is returned.

    ``wanted``: columns, the most wanted first.
    returns columns, values: n independent columns, and the value of each, zero or positive.
    """
    n = len(excess)
    square = n * n
    columns = _independent(n, alpha, wanted)
    forest = Forest(n, alpha, columns)
    if forest.closing:
        values = forest.solve(list(excess))
        # A cycle with a negative flow in its component is opened; what remains is a tree.
        bad = {
            forest.owned[root]
            for root, start, stop in forest.closing
            if any(values.get(forest.owned[node], _ZERO) < 0 for node in forest.order[start:stop])
        }
        if bad:
            forest = Forest(n, alpha, [column for column in columns if column not in bad])
    result: dict[int, fmpq] = {}
    cyclic = {node for _, start, stop in forest.closing for node in forest.order[start:stop]}
    if cyclic:
        values = forest.solve(list(excess))
        for node in cyclic:
            result[forest.owned[node]] = values.get(forest.owned[node], _ZERO)
    rest = list(excess)
    for node in reversed(forest.order):
        if node in cyclic:
            continue
        amount = rest[node]
        above = forest.parent[node]
        column = forest.owned[node]
        if above >= 0 and forest.up[node] and amount >= 0:
            rest[above] += alpha * amount
        elif above >= 0 and not forest.up[node] and amount <= 0:
            amount = -amount / alpha
            rest[above] -= amount
        elif amount == 0 and column >= 0:
            pass
        elif amount > 0:
            column = node * (n + 1)
        else:
            column = square + node
            amount = -amount
        result[column] = amount
    return list(result), result
