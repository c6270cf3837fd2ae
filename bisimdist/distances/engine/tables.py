"""The distances of whole classes at one moment of the work, and where they ask for detours."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field

import numpy as np
from flint import fmpq, fmpz

from bisimdist.distances.engine.detours import ClassDistances, GeneralCoupling, solve_with_detours
from bisimdist.distances.engine.strategy import Strategy, Values
from bisimdist.lp.compiled import Int64Array
from bisimdist.lp.transport import improve
from bisimdist.progress import NEVER, Deadline


@dataclass(slots=True, eq=False)
class Tables:
    """Decides for programs whether their direct couplings are optimal on the whole class, and mends them."""

    strategy: Strategy
    numerators: Int64Array  # the distances in units of 1 / `one`, rounded down
    one: int
    _: KW_ONLY
    values: Values | None = None
    """The exact distances, where the numerators are rounded; by default they are exact themselves."""
    settled: bool = True  # whether the distances are meant exactly; False for guesses, whose ties say nothing
    deadline: Deadline = NEVER
    _known: dict[int, ClassDistances | None] = field(default_factory=dict)

    @classmethod
    def of(cls, strategy: Strategy, values: Values, deadline: Deadline = NEVER) -> Tables:
        """Return those at exact distances, whatever their numbers."""
        fine = strategy.functional.batch.finest
        return cls(strategy, values.fixed_point(fine), fine, values=values, deadline=deadline)

    def distance(self, number: int) -> fmpq:
        """Return the exact distance of a pair."""
        if self.values is not None:
            return self.values.value(number)
        return fmpq(int(self.numerators[number]), self.one)

    def cost(self, coupling: GeneralCoupling) -> fmpq:
        """Return what a coupling with detours costs at these distances."""
        number = self.strategy.functional.space.number
        total = sum(coupling.optimum.given_up.values(), fmpq(0))
        for (a, b), amount in coupling.optimum.moves.items():
            total += amount * self.distance(number(coupling.nodes[a], coupling.nodes[b]))
        return total

    def detoured(self, programs: Int64Array) -> list[int]:
        """Return those of some programs, which are ascending, for which `mend` may have something to do."""
        kinds, of = np.unique(self.strategy.functional.classes_of(programs), return_inverse=True)
        asked = np.array([self.table(kind) is not None for kind in kinds.tolist()], dtype=np.bool_)[of]
        asked |= np.isin(programs, np.array(list(self.strategy.general), dtype=np.int64))
        return programs[asked].tolist()  # type: ignore[no-any-return]

    def table(self, kind: int) -> ClassDistances | None:
        """Return the distances of a class; None where no detour in it is cheaper."""
        if kind not in self._known:
            table = self._class_distances(kind)
            self._known[kind] = table if table.has_detours(self.deadline) else None
        return self._known[kind]

    def _class_distances(self, kind: int) -> ClassDistances:
        functional = self.strategy.functional
        exact = self.numerators if self.values is None else self.values.numerators
        return ClassDistances.of_class(
            functional,
            kind,
            self.numerators / self.one,
            lambda number: int(exact[number]),
            self.distance,
            settled=self.settled,
        )

    def mend(self, index: int) -> bool:
        """Give a program a coupling with detours where its direct one may not be optimal; tell whether."""
        functional = self.strategy.functional
        if not functional.detours:
            return False
        general = self.strategy.general.get(index)
        if general is not None:
            self._solve(index, set(general.nodes), general)
            return True
        table = self.table(functional.class_of(index))
        if table is None:
            return False
        self.deadline.check()
        program = functional.batch.programs[index]
        sources, sinks = set(program.sources), set(program.sinks)
        missing = table.missing(
            {state: float(f) for state, f in self._potential(index, exact=False).items()},
            lambda: self._potential(index, exact=True),
            lambda i, j: i in sources and j in sinks,
        )
        if missing is None:
            return False
        self._solve(index, sources | sinks | missing, None)
        return True

    def _solve(self, index: int, nodes: set[int], known: GeneralCoupling | None) -> None:
        functional = self.strategy.functional
        kind = functional.class_of(index)
        table = self.table(kind)
        if table is None:
            table = self._known[kind] = self._class_distances(kind)
        self.strategy.general[index] = solve_with_detours(
            functional,
            int(functional.side_of[index]),
            table,
            nodes,
            basis=known.optimum.basis if known else (),
            deadline=self.deadline,
        )

    def _potential(self, index: int, *, exact: bool) -> dict[int, fmpq]:
        """Return the potential f of the basis of a program by state, for exact or for rounded distances."""
        batch, alpha = self.strategy.functional.batch, self.strategy.functional.alpha
        program = batch.programs[index]
        costs: list[fmpz | int]
        if exact and self.values is not None:
            costs = [self.values.numerators[cell] for cell in program.cells]
            one = self.values.denominator
        else:
            costs = [int(self.numerators[cell]) for cell in program.cells]
            one = self.one
        basis = improve(program, costs, one, self.strategy.parents(index), stay=True)
        sources = len(program.sources)
        return {
            state: fmpq(f, one) if k < sources else fmpq(f, one) / alpha
            for k, (state, f) in enumerate(zip(program.sources + program.sinks, basis.potential, strict=True))
        }
