"""Writing DRN, the explicit format of Storm.

See "The DRN format" in the documentation of the model checker Storm.
"""

from __future__ import annotations

from bisimdist.exact.rational import format_rational
from bisimdist.models.io.prism_writer import escaped
from bisimdist.models.lmc import LMC


def write_drn(model: LMC) -> str:
    """Write a Markov chain in DRN, with exact rationals.

    The first state of the first pair, or else the first state, is marked as initial. The names of states and
    the pairs have no place in this format: states are numbered in their order.

    Examples
    --------
    >>> chain = LMC.from_mappings({"s": "a", "t": ""}, {"s": {"s": "1/3", "t": "2/3"}, "t": {"t": 1}})
    >>> " ".join(write_drn(chain).partition("@model")[2].split())
    'state 0 init a action 0 0 : 1/3 1 : 2/3 state 1 action 0 1 : 1'
    """
    initial = model.pairs[0][0] if model.pairs else 0
    lines = ["@type: DTMC", "@parameters", "", "@reward_models", ""]
    lines += ["@nr_states", str(len(model)), "@nr_choices", str(len(model)), "@model"]
    for state, (label, row) in enumerate(zip(model.labels, model.rows, strict=True)):
        marks = ["init"] * (state == initial) + ([escaped(label)] if label else [])
        lines += [" ".join(["state", str(state), *marks]), "\taction 0"]
        lines += [f"\t\t{target} : {format_rational(p)}" for target, p in row]
    return "\n".join(lines) + "\n"
