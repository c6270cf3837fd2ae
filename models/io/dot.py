"""Drawing models in Graphviz's DOT language."""

from __future__ import annotations

from bisimdist.errors import visible
from bisimdist.exact.rational import shorten_rational
from bisimdist.models.io.svg import arrows
from bisimdist.models.kinds import LMC, PA, Interactive, IntervalChain, ParametricChain


def write_dot(model: LMC | PA | Interactive | IntervalChain | ParametricChain) -> str:
    r"""Draw a model: states with labels, probabilities on edges, actions as points, pairs as dashed lines.

    returns: a directed graph in the DOT language, for Graphviz.

    >>> print(write_dot(LMC.from_mappings({"s": "a"}, {"s": {"s": 1}})), end="")
    digraph model {
      node [shape=ellipse];
      s0 [label="s\na"];
      s0 -> s0 [label="1"];
    }
    """
    lines = ["digraph model {", "  node [shape=ellipse];"]
    direct, steps = arrows(model)
    labels = (
        [""] * len(model) if isinstance(model, PA) else [f"\\n{_escape(label)}" for label in model.labels]
    )
    for state, (name, label) in enumerate(zip(model.states, labels, strict=True)):
        lines.append(f'  s{state} [label="{_escape(name)}{label}"];')
    lines += [f'  s{state} -> s{target} [label="{text}"];' for state, target, text in direct]
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
