"""A cross-check as one HTML page that needs nothing else: tables, and a diagram of the order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from flint import fmpq

from bisimdist.drawing import Node
from bisimdist.errors import visible
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.scale import Value, at_most
from bisimdist.faces.shown.numbers import short_rational
from bisimdist.faces.shown.page import page
from bisimdist.faces.shown.standing import Measure, Relation, Scale, Standing
from bisimdist.privacy.crosscheck.answer import SIGNS, CheckedPair, CrosscheckAnswer, gap_text
from bisimdist.privacy.crosscheck.hasse import Edge, hasse_svg
from bisimdist.privacy.crosscheck.names import MEASURES

STYLE = """
td.number { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.less { color: var(--gap); } .equal { color: var(--same); }
.violated { color: var(--bad); font-weight: bold; }
.open, .about { color: var(--soft); }
.drawing, .wide { overflow-x: auto; } .drawing figure { margin: 1rem 0; }
figcaption { color: var(--soft); }
"""

BOX, DIGITS = 28, 6  # how many characters fit into a box, and how many digits a long number keeps there

CLASSES = {
    Relation.EQUAL: "equal",
    Relation.LESS: "less",
    Relation.AT_MOST: "open",
    Relation.VIOLATED: "violated",
}

LEGEND = (
    ("less", "a proved gap, with its size"),
    ("equal", "equal"),
    ("open", "dashed: at most; the bounds do not say whether it is less"),
    ("violated", "violated: an error of the program"),
)

SCALES = {
    Scale.RATIO: "Ratios (e to a distance, from 1 to infinity)",
    Scale.ADDITIVE: "Probabilities (from 0 to 1)",
    Scale.DIVERGENCE: "Divergences (from 0 to infinity)",
    Scale.KERNEL: "Whether the states can be told apart",
}


def crosscheck_page(answer: CrosscheckAnswer, title: str) -> str:
    """Return the page of an answer."""
    name = escape(visible(title))
    verdict = (
        '<p class="violated">Some order is violated: this is an error of the program.</p>'
        if answer.violated
        else '<p class="equal">No order is violated.</p>'
    )
    if answer.interrupted:
        verdict += "<p>The work was interrupted. The page shows what was known by then.</p>"
    legend = "".join(f'<li class="{kind}">{escape(text)}</li>' for kind, text in LEGEND)
    body = "".join(pair_section(pair, answer) for pair in answer.pairs)
    return page(
        f"crosscheck of {title}",
        f"<h1>Everything against everything: {name}</h1>"
        f'<p class="about">alpha = {escape(short_rational(answer.alpha))}, sequences to '
        f"length {answer.length}; model {escape(answer.model.digest())}</p>{verdict}"
        f"<p>In a diagram smaller measures are below larger ones.</p><ul>{legend}</ul>{body}",
        STYLE,
    )


def pair_section(pair: CheckedPair, answer: CrosscheckAnswer) -> str:
    """Return what a page says of one pair."""
    heading = f"{escape(visible(pair.source))}, {escape(visible(pair.target))}"
    about = "; ".join(sorted(pair.facts)) or "nondeterministic"
    parts = [f'<section><h2>{heading}</h2><p class="about">{escape(about)}</p>']
    if pair.errors:
        errors = "".join(f"<li>{escape(text)}</li>" for text in pair.errors)
        parts.append(f'<ul class="violated">{errors}</ul>')
    for scale, caption in SCALES.items():
        chosen = [measure for measure in pair.measures if measure.scale is scale]
        if chosen:
            parts.append(_table(chosen, pair, answer, caption))
            if scale is not Scale.KERNEL:
                parts.append(_drawing(chosen, pair, answer, f"{caption} of {pair.source}, {pair.target}"))
    parts += [_links(pair, answer), _left_out(pair, answer), "</section>"]
    return "".join(parts)


def _table(measures: Sequence[Measure], pair: CheckedPair, answer: CrosscheckAnswer, caption: str) -> str:
    ratio = measures[0].scale is Scale.RATIO
    rows = []
    for measure in measures:
        info = MEASURES.get(measure.name)
        title = "" if info is None else info.title.format(K=answer.length, alpha=short_rational(answer.alpha))
        cells = [
            f"<td><b>{escape(answer.symbol(measure.name))}</b></td>",
            f'<td class="number">{escape(str(measure))}</td>',
        ]
        if ratio:
            cells.append(f'<td class="number">{escape(measure.logarithm)}</td>')
        stands = (
            f'<span class="{CLASSES[s.relation]}">{escape(SIGNS[s.relation])} '
            f"{escape(answer.symbol(s.larger))}</span>"
            for s in pair.upward(measure.name)
        )
        note = f'<br><span class="about">{escape(visible(measure.note))}</span>' if measure.note else ""
        cells += [f"<td>{'; '.join(stands)}</td>", f"<td>{escape(title)}{note}</td>"]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    heads = ["measure", "value", *(["logarithm"] if ratio else []), "compared", "what it is"]
    head = "".join(f"<th>{text}</th>" for text in heads)
    table = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<h3>{escape(caption)}</h3><div class="wide"><table>{table}</table></div>'


def _drawing(measures: Sequence[Measure], pair: CheckedPair, answer: CrosscheckAnswer, label: str) -> str:
    """Draw one scale; measures that must be equal share a box."""
    known = {measure.name: measure for measure in measures}
    direct = [s for s in pair.standings() if s.direct and s.smaller in known and s.larger in known]
    group = _groups(known, direct)
    nodes = []
    bounds = {}
    for first in dict.fromkeys(group.values()):
        members = [known[name] for name in known if group[name] == first]
        bounds[first] = _meet(members)
        wrong = any(
            s.relation is Relation.VIOLATED and group[s.smaller] == group[s.larger] == first for s in direct
        )
        title = " = ".join(answer.symbol(member.name) for member in members)
        wrong = wrong or not all(member.possible for member in members)
        value = "contradictory" if wrong else _box_text(bounds[first])
        nodes.append(Node(first, title, value, marked=wrong))
    edges: dict[tuple[str, str], Edge] = {}
    for standing in direct:
        low, high = group[standing.smaller], group[standing.larger]
        if low != high:
            relation = _stronger(edges.get((low, high)), standing)
            gap = gap_text(bounds[low], bounds[high]) if relation is Relation.LESS else ""
            edges[low, high] = Edge(low, high, relation, gap)
    drawn = hasse_svg(nodes, tuple(edges.values()), label=label)
    return f'<div class="drawing"><figure>{drawn}</figure></div>'


def _box_text(measure: Measure) -> str:
    """Return bounds that fit into a box: decimals where the numbers are long."""
    text = str(measure)
    if len(text) <= BOX:
        return text
    low = "inf" if measure.lower is None else decimal_below(measure.lower, DIGITS)[0]
    high = "inf" if measure.upper is None else decimal_above(measure.upper, DIGITS)[0]
    return f"[{low}, {high}]"


def _stronger(edge: Edge | None, standing: Standing) -> Relation:
    """Return what two standings between the same groups say together."""
    found = {standing.relation} | (set() if edge is None else {edge.relation})
    ranking = (Relation.VIOLATED, Relation.LESS, Relation.EQUAL, Relation.AT_MOST)
    return next(relation for relation in ranking if relation in found)


def _groups(names: Iterable[str], direct: Sequence[Standing]) -> dict[str, str]:
    """Return for each measure the first of those that must be equal to it."""
    order = list(names)
    group = {name: name for name in order}
    both = {(s.smaller, s.larger) for s in direct}
    for low, high in sorted(both, key=lambda pair: (order.index(pair[0]), order.index(pair[1]))):
        if (high, low) in both and group[low] != group[high]:
            kept, merged = sorted((group[low], group[high]), key=order.index)
            group = {name: kept if first == merged else first for name, first in group.items()}
    return group


def _meet(members: Sequence[Measure]) -> Measure:
    """Return the best bounds of measures that must be equal."""
    lower: Value = fmpq(0)
    upper: Value = None
    for member in members:
        lower = member.lower if at_most(lower, member.lower) else lower
        upper = member.upper if at_most(member.upper, upper) else upper
    return Measure(members[0].name, lower, upper, scale=members[0].scale)


def _links(pair: CheckedPair, answer: CrosscheckAnswer) -> str:
    rows = []
    equal = {
        (s.smaller, s.larger)
        for s in pair.standings()
        if s.relation is Relation.EQUAL and not (s.direct or s.below or s.above)
    }
    for standing in pair.standings():
        if not standing.direct:
            if (standing.smaller, standing.larger) in equal:
                equal.discard((standing.larger, standing.smaller))  # one line tells both
            elif standing.relation is Relation.EQUAL and not (standing.below or standing.above):
                continue
            low = _named(standing.below or standing.smaller, answer)
            high = _named(standing.above or standing.larger, answer)
            sign = f'<td class="{CLASSES[standing.relation]}">{escape(SIGNS[standing.relation])}</td>'
            rows.append(
                f"<tr><td>{escape(low)}</td>{sign}<td>{escape(high)}</td><td>{escape(standing.reason)}</td></tr>"
            )
    if not rows:
        return ""
    table = f"<table><tbody>{''.join(rows)}</tbody></table>"
    return f'<h3>Links between scales</h3><div class="wide">{table}</div>'


def _named(text: str, answer: CrosscheckAnswer) -> str:
    """Return a text with the names of measures as the tables write them."""
    return re.sub(r"\w+", lambda word: answer.symbol(word[0]), text)


def _left_out(pair: CheckedPair, answer: CrosscheckAnswer) -> str:
    lines = answer.left_out(pair)
    if not lines:
        return ""
    items = "".join(f"<li>{escape(visible(line))}</li>" for line in lines)
    return f"<h3>Left out</h3><ul>{items}</ul>"
