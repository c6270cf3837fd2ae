"""Writing PRISM's explicit files, so that `prism` reads the same chain."""

from __future__ import annotations

import json
import re

from flint import fmpq

from bisimdist.exact.rational import format_rational
from bisimdist.models.lmc import LMC

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = frozenset(
    """
    A bool C clock const ctmc deadlock double dtmc E endinit endinvariant endmodule endobservables
    endrewards endsystem F false filter formula func G global I init int invariant label max mdp min module
    nondeterministic observable observables of P Pmax Pmin pomdp popta prob probabilistic pta R rate rewards
    Rmax Rmin S stochastic system true U W X
    """.split()  # noqa: SIM905
)


def write_prism(model: LMC) -> dict[str, str]:
    """Write a Markov chain as PRISM's explicit files.

    The first state of the first pair, or else the first state, is marked as PRISM's initial state. The pairs
    themselves have no place in these files.

    returns: the text of each file by its extension: ``tra``, ``lab`` and ``sta``.
    """
    lines = [
        f"{state} {target} {_write_probability(probability)}"
        for state, row in enumerate(model.rows)
        for target, probability in row
    ]
    known = {label: number for number, label in enumerate(sorted(set(model.labels) - {""}), start=2)}
    declared = [
        '0="init"',
        '1="deadlock"',
        *(f'{number}="{escaped(label)}"' for label, number in known.items()),
    ]
    initial = model.pairs[0][0] if model.pairs else 0
    carried = [
        f"{state}: {' '.join(([] if state != initial else ['0']) + ([str(known[label])] if label else []))}"
        for state, label in enumerate(model.labels)
        if label or state == initial
    ]
    names = [f"{state}:({state}) {json.dumps(name)}" for state, name in enumerate(model.states)]
    return {
        "tra": "\n".join([f"{len(model)} {len(lines)}", *lines]) + "\n",
        "lab": "\n".join([" ".join(declared), *carried]) + "\n",
        "sta": "\n".join(["(s)", *names]) + "\n",
    }


def _write_probability(value: fmpq) -> str:
    """Write a decimal where a short one is exact, else a fraction."""
    denominator = int(value.q)
    for digits in range(16 if denominator <= 10**15 else 0):
        if 10**digits % denominator == 0:
            text = str(value.p * (10**digits // denominator)).rjust(digits + 1, "0")
            return f"{text[:-digits]}.{text[-digits:]}" if digits else text
    return format_rational(value)


def escaped(label: str) -> str:
    """Return a label as an identifier, which `unescaped` reads back."""
    if _IDENTIFIER.fullmatch(label) and label not in _RESERVED and not label.startswith("_x"):
        return label
    return "_x" + "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in label)
