"""The exact privacy losses of a pair of states of a Markov chain: masses of traces by their ratio."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import Any

from bisimdist.checker.core.chain import read_chain
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.partition import lumped, refinements
from bisimdist.checker.core.reading import ENTRY, MalformedCertificate, RuleViolation, hold, mapping

MOST_STEPS = 10_000

Masses = tuple[tuple[int, int, int], ...]
"""By class of states the masses of both sides, integers without a common factor."""


def chain_losses(  # noqa: PLR0912
    model: Any, pair: tuple[str, str], where: str
) -> list[tuple[Fraction, Fraction]]:
    """Return the masses of all ratios of the traces from two states (rule O2).

    Two situations that agree up to a factor are one. Where both masses are in proportion, all that follows
    has the same ratio.
    """
    chain = read_chain(mapping(model, f"the chain of {where}"))
    for name in counted(pair):
        if name not in chain.labels:
            raise RuleViolation(f"O2: the pair of {where} is not of states of its chain")
    of: dict[str, int] = {}
    for classes in counted(
        refinements(chain.labels, lambda state: [(chain.labels[state], chain.rows[state])], lumped)
    ):
        of = dict(all_of(classes))
    rows: dict[int, dict[int, Fraction]] = {}
    label: dict[int, str] = {}
    for state in counted(chain.labels):
        rows[of[state]] = lumped(chain.rows[state], of)
        label[of[state]] = chain.labels[state]
    first, second = (of[name] for name in counted(pair))
    if first == second:
        return [(Fraction(1), Fraction(1))]
    if label[first] != label[second]:
        return [(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))]
    start = ((first, 1, 0), (second, 0, 1)) if first < second else ((second, 0, 1), (first, 1, 0))
    layer: dict[Masses, Fraction] = {start: Fraction(1)}
    done: dict[tuple[int, int], tuple[Fraction, Fraction]] = {}
    held = 0
    for step in counted(range(MOST_STEPS + 1)):
        if not layer:
            return [both for _, both in counted(sorted(all_of(done.items())))]
        if step == MOST_STEPS:
            break
        following: dict[Masses, Fraction] = {}
        growing = 0
        for masses, weight in counted(layer.items()):
            for after, factor in counted(_steps(masses, rows, label)):
                p, q = sum(m[1] for m in counted(after)), sum(m[2] for m in counted(after))
                share = weight * factor
                if all(m[1] * q == m[2] * p for m in counted(after)):
                    whole = gcd(p, q)
                    ratio = p // whole, q // whole
                    if ratio not in done:
                        hold(4 * ENTRY + ratio[0].bit_length() + ratio[1].bit_length())
                    before = done.get(ratio, (Fraction(0), Fraction(0)))
                    done[ratio] = before[0] + share * p, before[1] + share * q
                else:
                    if after not in following:
                        room = ENTRY + sum(
                            ENTRY + m[1].bit_length() + m[2].bit_length() for m in counted(after)
                        )
                        hold(room)
                        growing += room
                    following[after] = following.get(after, Fraction(0)) + share
        hold(-held)
        layer, held = following, growing
    raise MalformedCertificate(f"the losses of {where} do not come to an end")


def _steps(
    masses: Masses, rows: dict[int, dict[int, Fraction]], label: dict[int, str]
) -> list[tuple[Masses, Fraction]]:
    """Return what follows by label, and the factor that was taken out of it."""
    seen: dict[str, dict[int, list[Fraction]]] = {}
    for place, p, q in counted(masses):
        for target, chance in counted(rows[place].items()):
            both = seen.setdefault(label[target], {}).setdefault(target, [Fraction(0), Fraction(0)])
            both[0] += p * chance
            both[1] += q * chance
    found = []
    for into in counted(seen.values()):
        below, above = 1, 0
        flat = [x for both in counted(into.values()) for x in counted(both)]
        for x in counted(flat):
            below = below * x.denominator // gcd(below, x.denominator)
        for x in counted(flat):
            above = gcd(above, int(x * below))
        factor = Fraction(above, below)
        after = tuple(
            (place, int(p / factor), int(q / factor))
            for place, (p, q) in counted(sorted(all_of(into.items())))
        )
        found.append((after, factor))
    return found
