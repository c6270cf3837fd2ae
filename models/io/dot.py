"""Drawing models in Graphviz's DOT language."""

from __future__ import annotations

from bisimdist.errors import visible
from bisimdist.exact.rational import shorten_rational
from bisimdist.models.interactive import Interactive
from bisimdist.models.intervals import IntervalChain, shorten_interval
from bisimdist.models.lmc import LMC, Row
from bisimdist.models.pa import PA
from bisimdist.models.parametric import ParametricChain
from bisimdist.models.polynomial import format_entry

__all__ = ["write_dot"]


def write_dot(model: LMC | PA | Interactive | IntervalChain | ParametricChain) -> str:
    r"""Draw a model: states with labels, probabilities on edges, actions as points, pairs as dashed lines.

    Returns
    -------
    str
        A directed graph in the DOT language, for Graphviz.

    Examples
    --------
    >>> print(write_dot(LMC.from_mappings({"s": "a"}, {"s": {"s": 1}})), end="")
    digraph model {
      node [shape=ellipse];
      s0 [label="s\na"];
      s0 -> s0 [label="1"];
    }
    """
    lines = ["digraph model {", "  node [shape=ellipse];"]
    steps: list[tuple[int, str, Row]] = []
    if isinstance(model, PA):
        lines += [f'  s{state} [label="{_escape(name)}"];' for state, name in enumerate(model.states)]
        steps = [(transition.source, transition.action, transition.row) for transition in model.transitions]
    else:
        for state, (name, label) in enumerate(zip(model.states, model.labels, strict=True)):
            lines.append(f'  s{state} [label="{_escape(name)}\\n{_escape(label)}"];')
    if isinstance(model, LMC):
        lines += [
            f'  s{state} -> s{target} [label="{shorten_rational(probability)}"];'
            for state, row in enumerate(model.rows)
            for target, probability in row
        ]
    elif isinstance(model, IntervalChain):
        lines += [
            f'  s{state} -> s{target} [label="{shorten_interval(low, high)}"];'
            for state, row in enumerate(model.rows)
            for target, low, high in row
        ]
    elif isinstance(model, ParametricChain):
        lines += [
            f'  s{state} -> s{target} [label="{format_entry(entry)}"];'
            for state, row in enumerate(model.rows)
            for target, entry in row
        ]
    elif isinstance(model, Interactive):
        steps = [(state, *move) for state, moves in enumerate(model.moves) for move in moves]
    for number, (source, action, row) in enumerate(steps):
        lines.append(f'  t{number} [shape=point, label=""];')
        lines.append(f'  s{source} -> t{number} [arrowhead=none, label="{_escape(action)}"];')
        for target, p in row:
            lines.append(f'  t{number} -> s{target} [label="{shorten_rational(p)}"];')
    lines += [
        f"  s{first} -> s{second} [style=dashed, dir=none, constraint=false];"
        for first, second in model.pairs
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _escape(text: str) -> str:
    """Write a text so that Graphviz shows it: neither escapes nor HTML entities may be read into it."""
    return visible(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
