"""Certificates of kind ``composition``: bounds on delta and epsilon of a list of independent mechanisms.

All masses are worked out anew from the parameters, and all products are made anew: of a document only the
grids and the order of the work are taken, and what it claims. The rules are named O as in
``docs/certificates/composition.md``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.balls import Enclosure, Fixed
from bisimdist.checker.core.counting import all_of, counted, kept
from bisimdist.checker.core.loss_atoms import NOTHING, Atoms, Loss, enclosed
from bisimdist.checker.core.loss_grid import (
    GUARD,
    MOST_ENTRIES,
    PLACE,
    Known,
    Places,
    Powers,
    Precisions,
    Units,
    coarsened,
    cut,
    product,
)
from bisimdist.checker.core.loss_laws import Law, Mechanism, gaussian, read_mechanism
from bisimdist.checker.core.reading import (
    ENTRY,
    OVERHEAD,
    MalformedCertificate,
    RuleViolation,
    hold,
    integer,
    item,
    items,
    mapping,
    rational,
    shown,
    spend,
    text_of,
)
from bisimdist.checker.core.shape import (
    CheckReport,
    Shape,
    judged,
    key,
    listed,
    named,
    one_of,
    raw,
    row,
    truth,
)

DIRECTIONS = {
    "add-remove": ("remove", "add"),
    "remove": ("remove",),
    "add": ("add",),
    "replace": ("replace", "replace-swapped"),
}
FINE = Fraction(1, 1 << 200)
CUT = 128  # how many bits it takes to keep a cut of a grid
MOST_DIGITS = 800


class _Claim(Shape):
    epsilon: Fraction | None = key(rational, default=None)
    delta: Fraction | None = key(rational, default=None)
    lower: Fraction = key(rational)
    upper: Fraction = key(rational)


class _Tape(Shape):
    step: Fraction = key(rational)
    digits: int = key(integer)
    steps: list[Any] = key(listed(items))
    above: bool = key(truth, default=False)
    tilt: Fraction = key(rational, default=Fraction(0))
    scales: list[Fraction] = key(listed(rational), default_factory=list)


class _Document(Shape):
    relation: str = key(one_of(*DIRECTIONS))
    mechanisms: list[Any] = key(listed(raw))
    tapes: dict[str, list[_Tape]] = key(named(listed(_Tape.read)))
    claims: list[_Claim] = key(listed(_Claim.read))


Factor = tuple[Law, Law, int]  # what dominates a mechanism, what it dominates, how often it runs


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of kind ``composition``; `model` must be None."""
    whole = _Document.whole(document)
    for claim in counted(whole.claims):
        if (claim.epsilon is None) == (claim.delta is None):
            raise MalformedCertificate("a claim is about one epsilon or about one delta")

    def check() -> None:
        if model is not None:
            raise RuleViolation("O1: the certificate is about mechanisms, not about a model")
        _check(whole)

    about = {"relation": whole.relation, "mechanisms": len(whole.mechanisms)}
    return judged([{**claim.data(), **about} for claim in counted(whole.claims)], check)


def _check(whole: _Document) -> None:
    factors = _factors(whole)
    names = DIRECTIONS[whole.relation]
    if all(mechanism.back is None for mechanism, _ in counted(factors)):
        names = names[:1]
    # doubts about masses are less than what is claimed
    small = max(all_of([claim.upper.denominator.bit_length() for claim in counted(whole.claims)]), default=0)
    sides, precisions = [], Precisions(small + GUARD)
    for name in counted(names):
        chosen = [(*mechanism.laws(name), runs) for mechanism, runs in counted(factors)]
        known = [_composed(tape, chosen, precisions) for tape in counted(whole.tapes.get(name, []))]
        sides.append(_Side(chosen, known, precisions))
    for claim in counted(whole.claims):
        _check_claim(claim, sides)


def _factors(whole: _Document) -> list[tuple[Mechanism, int]]:
    """Return the mechanisms in their order: all Gaussians as one, equal ones as one (rule O1)."""
    found: dict[str, tuple[Mechanism, int]] = {}
    variances: list[Fraction] = []
    for number, entry in counted(enumerate(whole.mechanisms, 1)):
        where = f"mechanism {number}"
        given = dict(all_of(mapping(entry, where)))
        runs = integer(given.pop("times", "1"), f"'times' of {where}")
        if not 1 <= runs <= 10**15:
            raise RuleViolation(f"O1: {where} runs less than once, or too often")
        mechanism = read_mechanism(given, where, whole.relation)
        if mechanism.variance is not None:
            variances.append(runs * mechanism.variance)
            continue
        text = json.dumps(given, sort_keys=True)
        found[text] = mechanism, runs + (found[text][1] if text in found else 0)
    factors = [found[text] for text in counted(sorted(all_of(found)))]
    while len(variances) > 1:  # by halves, since a sum of many has a long denominator
        spend(OVERHEAD)
        pairs = zip(variances[::2], [*variances[1::2], Fraction(0)], strict=False)
        variances = [one + other for one, other in counted(pairs)]
    if variances:
        law = gaussian(variances[0])
        factors.insert(0, (Mechanism(law, law), 1))
    if not factors:
        raise RuleViolation("O1: there is no mechanism")
    return factors


def _check_claim(claim: _Claim, sides: Sequence[_Side]) -> None:
    """Check bounds on delta (rule O6), or on epsilon (rule O7)."""
    if claim.epsilon is not None:
        if claim.epsilon < 0:
            raise RuleViolation("O6: epsilon is negative")
        for side in counted(sides):
            if claim.upper < 1 and side.upper(claim.epsilon, claim.upper) > claim.upper:
                raise RuleViolation(
                    f"O6: delta is not shown to be at most the bound at {text_of(claim.epsilon)}"
                )
        if claim.lower > 0 and all(
            side.lower(claim.epsilon, claim.lower) < claim.lower for side in counted(sides)
        ):
            raise RuleViolation(
                f"O6: delta is not shown to be at least the bound at {text_of(claim.epsilon)}"
            )
        return
    delta = claim.delta
    assert delta is not None
    if claim.upper < 0 or not 0 <= delta <= 1:
        raise RuleViolation("O7: a bound on epsilon is negative, or delta is no probability")
    for side in counted(sides):
        if side.upper(claim.upper, delta) > delta:
            raise RuleViolation(f"O7: delta is not shown to be at most {text_of(delta)} at the upper bound")
    if claim.lower > 0 and not any(side.exceeds(claim.lower, delta) for side in counted(sides)):
        raise RuleViolation(f"O7: delta is not shown to be more than {text_of(delta)} at the lower bound")


@dataclass
class _Side:
    """What is known of one direction."""

    factors: list[Factor]
    known: list[Known]
    precisions: Precisions

    @property
    def alone(self) -> bool:
        return len(self.factors) == 1 and self.factors[0][2] == 1

    def upper(self, epsilon: Fraction, about: Fraction) -> Fraction:
        """Return the best upper bound on delta; `about` says how finely it has to be known."""
        certain = self._beyond(epsilon, about)
        if certain is not None:
            return certain[1]
        found = [known.upper(epsilon) for known in counted(self.known)]
        if self.alone:
            found.append(_alone(self.factors[0][0], epsilon, self.precisions.fit(epsilon, about))[1])
        return min(all_of([*found, Fraction(1)]))

    def lower(self, epsilon: Fraction, about: Fraction) -> Fraction:
        """Return the best lower bound on delta."""
        certain = self._beyond(epsilon, about)
        # mass that may lie anywhere can make the tapes show more
        if certain is not None and (certain[0] >= about or not certain[1]):
            return certain[0]
        fixed = self.precisions.fit(epsilon, about)
        found = [known.lower(epsilon) for known in counted(self.known)]
        if self.alone:
            found.append(_alone(self.factors[0][1], epsilon, fixed)[0])
        found.append(_certain(self.factors, fixed)[0])
        return max(all_of(found))

    def _beyond(self, epsilon: Fraction, about: Fraction) -> tuple[Fraction, Fraction] | None:
        """Return bounds on delta beyond the largest loss, where it is the chance of an infinite one."""
        fixed = self.precisions.fit(Fraction(0), about)
        cap = _cap(self.factors, fixed)
        return _certain(self.factors, fixed) if cap is not None and cap <= epsilon else None

    def exceeds(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Tell whether delta is shown to be more than a number: below the largest loss it is not 0."""
        if delta:
            return self.lower(epsilon, delta) > delta
        return epsilon <= _reached(self.factors, self.precisions.of(512)) or self.lower(epsilon, FINE) > 0


def _alone(law: Law, epsilon: Fraction, fixed: Fixed) -> tuple[Fraction, Fraction]:
    """Return bounds on the delta of one run (rule O5)."""
    alpha = fixed.exp(fixed.of(epsilon))
    if law.above is not None:
        p, q = law.above(fixed.of(epsilon), fixed)
        lost = fixed.times(alpha, q)
        low, high = p[0] - lost[1], p[1] - lost[0]
    else:
        atoms = law.atoms(fixed)
        low, high = atoms.sure[0][0], atoms.sure[0][1] + atoms.lost[0]
        for loss, p, q in counted(atoms.points):
            # however little is known of the masses: a loss up to epsilon gains nothing
            if isinstance(loss, Fraction) and loss <= epsilon:
                continue
            lost = fixed.times(alpha, q)
            low += max(0, p[0] - lost[1])
            high += max(0, p[1] - lost[0])
        low -= atoms.lost[0] + fixed.times(alpha, (0, atoms.lost[1]))[1]
    return Fraction(max(0, low), fixed.one), Fraction(max(0, high), fixed.one)


def _cap(factors: Iterable[Factor], fixed: Fixed) -> Fraction | None:
    """Return a bound on the sum of the largest finite losses; None where there is none."""
    total = Fraction(0)
    for law, _, runs in counted(factors):
        end = _end(law, fixed)
        if end is None:
            return None
        total += runs * end[1]
    return total


def _reached(factors: Iterable[Factor], fixed: Fixed) -> Fraction:
    """Return a loss that the mechanisms surely have together, or at least one as large."""
    total = Fraction(0)
    for _, law, runs in counted(factors):
        end = _end(law, fixed)
        # mass that may lie anywhere may make every loss less
        if end is not None and (law.above is not None or law.atoms(fixed).lost == (0, 0)):
            total += runs * end[0]
    return total


def _end(law: Law, fixed: Fixed) -> tuple[Fraction, Fraction] | None:
    """Return bounds on the largest finite loss of a law; None where there is none."""
    if law.above is None and law.finite:
        points = law.atoms(fixed).points
    elif law.cap is not None:
        points = [(law.cap(fixed), NOTHING, NOTHING)]
    else:
        return None
    ends = [_ends(loss, fixed) for loss, *_ in counted(points)]
    low, high = (max(all_of([end[k] for end in counted(ends)]), default=Fraction(0)) for k in (0, 1))
    return low, high


def _ends(loss: Loss, fixed: Fixed) -> tuple[Fraction, Fraction]:
    low, high = (loss * fixed.one,) * 2 if isinstance(loss, Fraction) else enclosed(loss, fixed)
    return Fraction(low, fixed.one), Fraction(high, fixed.one)


def _certain(factors: Iterable[Factor], fixed: Fixed) -> tuple[Fraction, Fraction]:
    """Return bounds on the probability of an infinite loss."""
    low = high = fixed.one
    for upper, lower, runs in counted(factors):
        if upper.above is None:
            atoms = upper.atoms(fixed)
            high = _power(fixed.one - atoms.sure[0][1] - atoms.lost[0], runs, high, fixed, up=False)
        if lower.above is None:
            atoms = lower.atoms(fixed)
            if not (atoms.lost[0] or atoms.lost[1]):
                low = _power(fixed.one - atoms.sure[0][0], runs, low, fixed, up=True)
    return Fraction(max(0, fixed.one - low), fixed.one), Fraction(min(fixed.one, fixed.one - high), fixed.one)


def _power(value: int, runs: int, start: int, fixed: Fixed, *, up: bool) -> int:
    """Return a bound on a number times a power."""
    found, base = start, max(0, value)
    for bit in counted(bin(runs)[:1:-1]):
        spend(OVERHEAD * 4)
        if bit == "1":
            found = (found * base + (fixed.one - 1 if up else 0)) >> fixed.bits
        base = (base * base + (fixed.one - 1 if up else 0)) >> fixed.bits
    return found


def _composed(tape: _Tape, factors: Sequence[Factor], precisions: Precisions) -> Known:
    """Return what is known after all steps of a tape (rules O3 and O4)."""
    if tape.step <= 0 or not 1 <= tape.digits <= MOST_DIGITS:
        raise RuleViolation("O3: a grid has no step, or too many digits")
    scales = tape.scales or [Fraction(0)] * len(factors)
    if len(scales) != len(factors):
        raise RuleViolation("O3: a grid has not one scale for each mechanism")
    units = Units(tape.step, tape.digits, tape.tilt, tuple(all_of(scales)), precisions)
    made: list[Known] = []
    for number, step in counted(enumerate(tape.steps, 1)):
        where = f"step {number}"
        what = item(step[0], where) if step else "empty"
        if what not in {"cells", "coarsen", "multiply"}:
            raise MalformedCertificate(f"{where} is {shown(what)}; there is no such step")
        if what == "cells":
            if len(step) != 5:
                raise MalformedCertificate(f"{where} has {len(step)} parts; expected 5")
            factor, level, low = (integer(part, where) for part in counted(step[1:4]))
            if not (0 <= factor < len(factors) and 0 <= level <= 64):
                raise RuleViolation(f"O3: {where} names no mechanism, or no grid")
            cuts = _cuts(low, step[4], where)
            found = _cells(units, factor, factors[factor], level, cuts, labels=not tape.above)
            made.append(cut(found, cuts[0], cuts[-1], where))
            hold(-CUT * (len(cuts) - 1))
            continue
        count = 1 if what == "coarsen" else 2
        if len(step) != 3 + count:
            raise MalformedCertificate(f"{where} has {len(step)} parts; expected {3 + count}")
        places = [integer(part, where) for part in counted(step[1:])]
        if not all(0 <= place < len(made) for place in counted(places[:count])):
            raise RuleViolation(f"O4: {where} is made of steps that come later")
        parts = [made[place] for place in counted(places[:count])]
        low, high = places[count:]
        made.append(
            cut(coarsened(parts[0], where), low, high, where)
            if count == 1
            else product(parts[0], parts[1], low, high, where)
        )
    runs = {number: runs for number, (_, _, runs) in counted(enumerate(factors))}
    if not made or made[-1].copies != runs:
        raise RuleViolation("O4: the last step is not made of every mechanism as often as it runs")
    return made[-1]


def _cuts(low: int, runs: Any, where: str) -> list[int]:
    found = [low]
    for run in counted(items(runs, where)):
        length, count = row(integer, integer)(run, where)
        if length < 1 or count < 1 or found[-1] - low + length * count > MOST_ENTRIES:
            raise RuleViolation(f"O3: {where} has cells of no length, or too many")
        spend(OVERHEAD * count)
        hold(CUT * count)
        found += range(found[-1] + length, found[-1] + length * count + 1, length)
    if len(found) < 2:
        raise RuleViolation(f"O3: {where} has no cells")
    return found


def _cells(  # noqa: PLR0913
    units: Units,
    number: int,
    factor: Factor,
    level: int,
    cuts: list[int],
    *,
    labels: bool = True,
) -> Known:
    """Return what is known of one run (rule O3)."""
    upper, lower, _ = factor
    grid = units.step / (1 << level)
    low, size = cuts[0], cuts[-1] - cuts[0] + 1
    scale = units.scales[number]
    large = max(0, int(grid * cuts[-1]), int(-grid * low)) * (1 + abs(units.tilt)) + abs(scale)
    unit = int(10**units.digits)
    fixed = units.precisions.of(
        unit.bit_length() + GUARD + 3 * int(large) // 2 + grid.denominator.bit_length()
    )
    places = Places(unit, Powers(grid, fixed), Powers(units.tilt * grid, fixed, -scale), fixed)
    hold(3 * PLACE * size)
    cells, rest = _law_cells(upper, grid, cuts, fixed)
    above, shares = [0] * size, {}
    excess = rest.sure[0][1] + rest.lost[0]
    for start, end, p, q in counted(cells):
        if end > cuts[-1]:
            excess += p[1]
        elif start < low or start == end:
            above[max(end, low) - low] += places.up(p[1], max(end, low))
        else:
            if end - start not in shares:
                less = fixed.exp(fixed.of(-grid * (end - start)))
                shares[end - start] = (fixed.one - less[1], fixed.one - less[0])
            kept = fixed.times(places.powers.at(start), q)
            up = fixed.over((p[0] - kept[1], p[1] - kept[0]), shares[end - start])
            above[end - low] += places.up(up[1], end)
            above[start - low] += places.up(p[1] - up[0], start)
    found: tuple[list[int], list[int], Fraction] = [], [], Fraction(0)
    if labels:
        found = _labels(upper, lower, (cells, rest), grid, cuts, places)
    hold(-3 * PLACE * size - _room(fixed) * len(cells))
    return Known(units, level, low, above, Fraction(excess, fixed.one), *found, {number: 1})


Cell = tuple[int, int, Enclosure, Enclosure]


def _room(fixed: Fixed) -> int:
    """Return how many bits it takes to keep a cell, with what it is made of."""
    return 3 * fixed.room + 2 * ENTRY


def _law_cells(law: Law, grid: Fraction, cuts: list[int], fixed: Fixed) -> tuple[list[Cell], Atoms]:
    """Return cells with their masses, and what is in none of them; their room is held."""
    above, below = grid.numerator << fixed.bits, grid.denominator
    if law.above is None:
        atoms = law.atoms(fixed)
        found: dict[tuple[int, int], list[Enclosure]] = {}
        for loss, p, q in counted(atoms.points):
            if isinstance(loss, Fraction):
                start = loss // grid
                end = start + (start * grid != loss)
            else:
                ends = enclosed(loss, fixed)
                start, end = ends[0] * below // above, -(-ends[1] * below // above)
            if (start, end) not in found:
                hold(_room(fixed))
            both = found.setdefault((start, end), [(0, 0), (0, 0)])
            both[0] = both[0][0] + p[0], both[0][1] + p[1]
            both[1] = both[1][0] + q[0], both[1][1] + q[1]
        return [(start, end, p, q) for (start, end), (p, q) in counted(found.items())], Atoms(
            [], atoms.sure, atoms.lost
        )
    tails_of = law.above
    tails = [
        tails_of((above * index // below, -(-above * index // below)), fixed)
        for index in kept(cuts, _room(fixed))
    ]
    cells: list[Cell] = []
    for k in counted(range(len(cuts) - 1)):
        (p, q), (next_p, next_q) = tails[k], tails[k + 1]
        p, q = (p[0] - next_p[1], p[1] - next_p[0]), (q[0] - next_q[1], q[1] - next_q[0])
        cells.append((cuts[k], cuts[k + 1], p, q))
    # what is to the left of all cuts lies at the first one, from above
    cells.append((cuts[0], cuts[0], (0, fixed.one - tails[0][0][0]), (0, 0)))
    last = tails[-1]
    return cells, Atoms([], ((0, 0), (0, 0)), (last[0][1], last[1][1]))


def _labels(  # noqa: PLR0913, PLR0917
    upper: Law, lower: Law, known: tuple[list[Cell], Atoms], grid: Fraction, cuts: list[int], places: Places
) -> tuple[list[int], list[int], Fraction]:
    """Return the masses of labels under P, at most, and under Q, at least, and what P alone has."""
    low, high, fixed = cuts[0], cuts[-1], places.fixed
    p_labels, q_labels = [0] * (high - low + 1), [0] * (high - low + 1)
    cells, rest = known if lower is upper else _law_cells(lower, grid, cuts, fixed)
    for start, end, p, q in counted(cells):
        label = (start + max(start, end - 1)) // 2
        if low <= label <= high:
            p_labels[label - low] += places.down(p[0], label)
            q_labels[label - low] += places.up(q[1], label, of_q=True)
    if lower is not upper:
        hold(-_room(fixed) * len(cells))
    q_labels[-1] += places.up(rest.lost[1], high, of_q=True)
    sure = rest.sure[0][0]
    if lower.above is None:
        if rest.lost != NOTHING:
            p_labels[-1], sure = p_labels[-1] + places.down(sure, high), 0
        # mass of P that may lie anywhere is taken away where it would show most
        doubt = rest.lost[0]
        for place in counted(range(high, low - 1, -1)):
            less = min(places.up(doubt, place), p_labels[place - low])
            p_labels[place - low] -= less
            doubt -= places.worth(less, place)
            if doubt <= 0:
                break
    return p_labels, q_labels, Fraction(max(0, sure), fixed.one)
