"""One page for whoever decides: a picture, a verdict, bounds on both sides, the profile, and the proof."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape

from bisimdist.drawing import LIGHT
from bisimdist.errors import BisimdistError, Interruption, UsageError, visible
from bisimdist.exact.decimals import decimal_above
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.faces.shown.numbers import at_least, at_most, interval, short_rational
from bisimdist.faces.shown.page import page
from bisimdist.faces.shown.pictures import saved
from bisimdist.faces.shown.proof_pictures import states_svg
from bisimdist.faces.shown.tables import Report, html_table
from bisimdist.lifetime import ending_with_us, unnamed
from bisimdist.models.io.svg import write_svg
from bisimdist.models.kinds import StateModel
from bisimdist.privacy.crosscheck.answer import CrosscheckAnswer
from bisimdist.privacy.crosscheck.ask import crosscheck
from bisimdist.privacy.crosscheck.page import STYLE as DISTANCES_STYLE
from bisimdist.privacy.crosscheck.page import pair_section
from bisimdist.privacy.delta.answer import NO_WITNESS, DeltaAnswer, DeltaBound, WitnessEvent
from bisimdist.privacy.delta.page import event_svg
from bisimdist.privacy.profile.answer import ProfileAnswer
from bisimdist.privacy.profile.ask import profile
from bisimdist.privacy.report import carried
from bisimdist.privacy.report.evaluation import evaluated
from bisimdist.progress import Deadline, Limits

POINTS = 9
SHARE = 0.5  # how much of the time that is left each part of the page has
SECONDS = 20.0  # the time for the comparison of distances, which is beside the point
LARGEST_PROOF = 1 << 20  # how many characters of a proof stand in a page
HEADLINE_DIGITS = 4
MAX_LABELS = 24
MAX_NODES = 30  # larger events are abridged

STYLE = """
body { max-width: 62rem; } h1 { margin-bottom: .2rem; } h1, h2, p, figcaption { overflow-wrap: anywhere; }
.verdict { font-size: 1.15rem; border-left: 4px solid var(--same); padding: .4rem 1rem; }
.verdict { background: var(--box); color: var(--ink); }
.facts { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.2rem 0; break-inside: avoid; }
.facts div { flex: 1 1 9rem; background: var(--box); padding: .5rem 1rem; }
.facts dt, .facts small { color: var(--soft); overflow-wrap: anywhere; } .facts dd { margin: 0; }
.facts b { display: block; font-size: 1.6rem; line-height: 1.3; white-space: nowrap; }
.verdict.open { border-color: var(--gap); }
figure { margin: 1rem 0; overflow-x: auto; } .plot svg { max-width: 100%; height: auto; }
@media (max-width: 45rem) { .plot svg { max-width: none; width: 44rem; } }
pre { background: var(--box); padding: .7rem; white-space: pre-wrap; overflow-wrap: anywhere; }
summary { cursor: pointer; font-weight: 600; } td { overflow-wrap: break-word; } .wide { overflow-x: auto; }
th[data-sorts] { cursor: pointer; } code { background: var(--box); overflow-wrap: anywhere; }
@media print { body { margin: 0; } figure, tr, .verdict { break-inside: avoid; } h2 { break-after: avoid; }
  svg { min-width: 0 !important; max-width: 100% !important; max-height: 16cm; height: auto; }
  .wide, .wide *, figure { overflow: visible; } }
"""

SCRIPT = """
for (const table of document.querySelectorAll("table"))
  for (const [at, head] of [...table.querySelectorAll("thead th")].entries()) {
    head.dataset.sorts = ""; head.tabIndex = 0; head.ariaSort = "none";
    let up = 1;
    const key = row => row.cells[at].innerText;
    const sort = () => {
      const body = table.tBodies[0];
      [...body.rows].sort((a, b) => up * key(a).localeCompare(key(b), undefined, {numeric: true}))
        .forEach(row => body.append(row));
      head.parentElement.querySelectorAll("th").forEach(other => other.ariaSort = "none");
      head.ariaSort = up > 0 ? "ascending" : "descending";
      up = -up;
    };
    head.onclick = sort;
    head.onkeydown = event => { if (["Enter", " "].includes(event.key)) { event.preventDefault(); sort(); } };
  }
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details:not(.long)")) part.open = true;
});
"""  # sorts tables by the column whose head is pressed; printed pages are unfolded, but for the certificate


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the page is made of."""

    delta: DeltaAnswer  # the bounds of all pairs
    profile: ProfileAnswer | None  # delta over epsilon; None where that could not be had
    # every bound of the worst pair held against every other; None where that could not be had
    distances: CrosscheckAnswer | None
    # proof and checked: the certificate as a text, and what the checker says of it in a process of its own;
    # empty where there is none or it is too long for a page
    proof: str
    checked: str
    # carry: whether the page carries a checker; pyodide: the directory of Pyodide, for one of all kinds
    carry: bool = False
    pyodide: str | None = None
    whom: str = "decision"  # or "evaluation"


def decision(  # noqa: PLR0913
    model: StateModel,
    delta: DeltaAnswer,
    *,
    pairs: Sequence[tuple[str, str]],
    limits: Limits,
    rounds: int | None,
    nature: str,
) -> Decision:
    """Put together what the page shows beside bounds on delta."""
    curve, distances = None, None
    deadline = limits.deadline
    with suppress(BisimdistError, Interruption):
        curve = profile(
            model,
            pairs=pairs,
            points=POINTS,
            rounds=rounds,
            nature=nature,
            deadline=deadline.part(SHARE),
            memory=limits.memory,
            progress=limits.progress,
        )
    with suppress(BisimdistError, Interruption):
        worst = delta.worst
        deadline.check()
        distances = crosscheck(
            model,
            pairs=[(worst.source, worst.target)],
            alpha=delta.alpha_upper,
            seconds=SECONDS,
            deadline=deadline.part(SHARE),
            progress=limits.progress,
        )
    proof, checked = _proved(delta, deadline)
    return Decision(delta=delta, profile=curve, distances=distances, proof=proof, checked=checked)


def _proved(delta: DeltaAnswer, deadline: Deadline) -> tuple[str, str]:
    """Return the certificate, and what the checker says of it; nothing where there is none, or no time."""
    with suppress(BisimdistError, Interruption, subprocess.TimeoutExpired):
        deadline.check()
        proof = json.dumps(delta.certificate(), separators=(",", ":"))
        if len(proof) <= LARGEST_PROOF:
            return proof, _checked(proof, deadline)
    return "", ""


def _checked(proof: str, deadline: Deadline) -> str:
    """Return what the checker says of a proof, in a process that has loaded nothing else."""
    with unnamed(proof.encode()) as (path, passed):
        words = ending_with_us([sys.executable, "-m", "bisimdist.checker", path])
        left = deadline.left()
        ended = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=left, pass_fds=passed
        )
    return ended.stdout + ended.stderr.replace(path, "proof.json")


def decision_page(found: Decision, report: Report, *, named: str, reproduce: str) -> str:
    """Return the page."""
    delta = found.delta
    worst = delta.worst
    sentence, *remarks = report.remarks
    settled = all(pair.exact for pair in delta.pairs)
    witness = worst.witness_in_time() if worst.lower else None
    told = [] if witness is None else witness.remarks()[:1]  # the story says the same
    parts = [
        f"<h1>How private is {_text(named)}?</h1>",
        _headline(found),
        f'<p class="verdict{"" if settled else " open"}">{_text(sentence)}</p>',
        f"<p>{_text(_meaning(found))}</p>",
        f'<div class="wide">{html_table(report.heading, report.columns, report.rows)}</div>',
        "<h2>The model</h2>",
        f"<figure>{write_svg(delta.model)}<figcaption>{_text(_caption(delta.model))}</figcaption></figure>",
        f"<h2>How to tell {_text(worst.source)} from {_text(worst.target)}</h2>",
        *(f"<p>{_text(remark)}</p>" for remark in remarks if remark not in told),
    ]
    if witness is not None:
        parts.append(f"<p>{_text(_story(worst, witness))}</p>")
        caption = (
            "The event: each label leads downwards from the start. An observer who arrives in the event "
            f"bets on {witness.source}."
        )
        picture = event_svg(witness, limit=MAX_NODES)
        parts.append(f"<figure>{picture}<figcaption>{_text(caption)}</figcaption></figure>")
    elif worst.lower:
        parts.append(f"<p>{_text(NO_WITNESS)}</p>")
    else:
        tells = "tells" if worst.upper == 0 else "is known that tells"
        parts.append(f"<p>No event {tells} them apart at this alpha.</p>")
    if found.profile is not None:
        parts += ["<h2>At every level</h2>", _profile(found.profile, named)]
    if found.distances is not None:
        sections = "".join(pair_section(pair, found.distances) for pair in found.distances.pairs)
        summary = "<summary>Other measures of this pair</summary>"
        parts.append(f'<details>{summary}<div class="wide">{sections}</div></details>')
    if found.whom == "evaluation":
        parts.append(evaluated(found))
    parts += ["<h2>Proof</h2>", _proof(found), "<h2>Again</h2>", f"<pre>{_text(reproduce)}</pre>"]
    parts.append(f"<p>The model has the digest <code>{_text(delta.model.digest())}</code>.</p>")
    carries, body = found.carry and found.proof, "".join(parts) + f"<script>{SCRIPT}</script>"
    style = DISTANCES_STYLE + STYLE + (carried.STYLE if carries else "")
    return page(f"How private is {named}?", body, style, policy=carried.POLICY if carries else "")


def bare_page(report: Report, *, named: str, reproduce: str) -> str:
    """Return the page if nothing was computed: what is known from the start."""
    parts = [
        f"<h1>How private is {_text(named)}?</h1>",
        *(f'<p class="verdict open">{_text(remark)}</p>' for remark in report.remarks),
        f'<div class="wide">{html_table(report.heading, report.columns, report.rows)}</div>',
        "<h2>Again</h2>",
        f"<pre>{_text(reproduce)}</pre>",
    ]
    return page(f"How private is {named}?", "".join(parts), DISTANCES_STYLE + STYLE)


def _text(text: str) -> str:
    return escape(visible(text))


def _headline(found: Decision) -> str:
    """Return the numbers to remember: rounded in the safe direction, with the exact ones below."""
    worst, alpha = found.delta.worst, found.delta.alpha_upper
    decimal, whole = decimal_above(worst.upper, HEADLINE_DIGITS)
    gap = decimal_above(worst.upper - worst.lower, HEADLINE_DIGITS)[0]
    level = "= 0" if alpha == 1 else f"≤ {log_enclosure(alpha)[1]}"
    checked = "checked" if found.checked.startswith("proved") else "none here"
    facts = (
        ("delta", f"{'=' if whole and worst.exact else '≤'} {decimal}", short_rational(worst.upper)),
        ("epsilon", level, f"alpha = {short_rational(alpha)}"),
        ("bounds", "meet" if worst.exact else f"{gap} apart", f"from {interval(worst.lower, worst.upper)}"),
        ("proof", checked, "see the end of the page"),
    )
    boxes = "".join(
        f"<div><dt>{name}</dt><dd><b>{_text(large)}</b><small>{_text(small)}</small></dd></div>"
        for name, large, small in facts
    )
    return f'<dl class="facts">{boxes}</dl>'


def _meaning(found: Decision) -> str:
    worst = found.delta.worst
    if worst.upper == 0:
        return (
            f"Any event that an observer can see is at most alpha times as likely from {worst.source} as "
            f"from {worst.target}, and the other way round."
        )
    return (
        f"Take any event that an observer can see. Its probability from {worst.source} is at most alpha "
        f"times its probability from {worst.target}, plus delta, and the other way round."
    )


def _story(worst: DeltaBound, seen: WitnessEvent) -> str:
    """Tell how somebody who bets on the event of a pair fares."""
    name = seen.source
    other = worst.target if name == worst.source else worst.source
    sees = ", then ".join(seen.event.only_trace()) or "a trace of the event below"
    gain = at_least(worst.lower)
    return (
        f"An observer does not know where a run began. It guesses {name} as soon as it sees {sees}. "
        f"That happens in {at_least(seen.probability_from)} of the runs from {name} and in "
        f"{at_most(seen.probability_to)} of the runs from {other}: the first number exceeds alpha times the "
        f"second by {'at least ' if gain.startswith('>') else ''}{gain.removeprefix('>= ')}."
    )


def _caption(model: StateModel) -> str:
    labels = list(dict.fromkeys(model.labels))
    colours = "in repeating colours" if len(labels) > len(LIGHT) else "each in its colour"
    shown = ", ".join(labels[:MAX_LABELS]) + (", ..." if len(labels) > MAX_LABELS else "")
    return (
        f"{len(model)} states; those of the pairs are framed. An observer sees the labels, written below the "
        f"names, {colours}: {shown}."
    )


def _profile(curve: ProfileAnswer, named: str) -> str:
    report = curve.report()
    table = f'<div class="wide">{html_table(report.heading, report.columns, report.rows)}</div>'
    try:
        drawn = saved(curve.plot(trade_off=True, kinks=True, named=named), "profile.svg").decode()
    except UsageError:  # an extra is missing, as a note of the command says
        return table
    picture = drawn[drawn.index("<svg") :]
    return f'<figure class="plot">{picture}</figure><details><summary>The numbers</summary>{table}</details>'


def _proof(found: Decision) -> str:
    if not found.proof:
        return (
            "<p>There is no certificate, or it takes too long or is too long for a page: "
            "delta --certificate writes it.</p>"
        )
    return (
        f"{carrying(found)}<p>A checker that shares no code with the engine read the certificate below when "
        f"this page was made:</p><pre>{escape(found.checked)}</pre>"
        f'<details class="long"><summary>The certificate, {len(found.proof)} characters: '
        "save it as proof.json and run <code>bisimdist check proof.json</code></summary>"
        f'<pre id="certificate">{escape(found.proof)}</pre></details>{_graph(found)}'
    )


def carrying(found: Decision) -> str:
    """Return the part of the page that checks the proof in the browser of its reader."""
    if not found.carry:
        return ""
    proved = carried.covered(json.loads(found.proof))
    if not proved and found.pyodide is None:
        return (
            "<p>This page carries no checker: the proved one does not cover this proof. With --pyodide DIR "
            "it carries the Python checker.</p>"
        )
    return carried.carried(proved=proved, pyodide=found.pyodide)


def _graph(found: Decision) -> str:
    try:
        drawn = states_svg(json.loads(found.proof))
    except UsageError:  # there is no graph
        return ""
    caption = (
        "Each box shows what an observer still has to decide: the difference of the two worlds, state by "
        "state and scaled, and the gain of the best bet on it. Colours mark the boxes where no further label "
        "counts."
    )
    summary = "<summary>The graph of information states behind the bounds</summary>"
    return f"<details>{summary}<figure>{drawn}<figcaption>{_text(caption)}</figcaption></figure></details>"
