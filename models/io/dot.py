"""Drawing models in Graphviz's DOT language."""

from __future__ import annotations

from bisimdist.exact.rational import shorten_rational
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA

__all__ = ["write_dot"]


def write_dot(model: LMC | PA) -> str:
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
    if isinstance(model, LMC):
        for state, (name, label) in enumerate(zip(model.states, model.labels, strict=True)):
            lines.append(f'  s{state} [label="{_escape(name)}\\n{_escape(label)}"];')
        lines += [
            f'  s{state} -> s{target} [label="{shorten_rational(probability)}"];'
            for state, row in enumerate(model.rows)
            for target, probability in row
        ]
    else:
        lines += [f'  s{state} [label="{_escape(name)}"];' for state, name in enumerate(model.states)]
        for number, transition in enumerate(model.transitions):
            lines.append(f'  t{number} [shape=point, label=""];')
            lines.append(
                f'  s{transition.source} -> t{number} [arrowhead=none, label="{_escape(transition.action)}"];'
            )
            lines += [
                f'  t{number} -> s{target} [label="{shorten_rational(probability)}"];'
                for target, probability in transition.row
            ]
    lines += [
        f"  s{first} -> s{second} [style=dashed, dir=none, constraint=false];"
        for first, second in model.pairs
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _escape(text: str) -> str:
    """Write a text so that Graphviz shows it: neither escapes nor HTML entities may be read into it."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return shown.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
