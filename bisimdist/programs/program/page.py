"""A program as one HTML page: what it leaks, and its source with the lines where two runs differ."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from bisimdist.errors import UsageError, visible
from bisimdist.faces.shown.page import page
from bisimdist.faces.shown.tables import Report
from bisimdist.privacy.delta.answer import DeltaAnswer
from bisimdist.privacy.delta.page import answer_as_html
from bisimdist.programs.chain import ProgramChain, ProgramInteractive

STYLE = """
ol { font: 13px/1.5 ui-monospace, monospace; padding-left: 3.5rem; overflow-x: auto; }
li { white-space: pre; } li::marker { color: var(--soft); }
.draws { border-left: 3px solid var(--same); padding-left: .4rem; }
.parts { border-left: 3px solid var(--bad); padding-left: .4rem; background: var(--box); }
li .draws, li .parts { margin-left: calc(-.4rem - 3px); }
.note { font: 13px/1.4 system-ui, sans-serif; color: var(--bad); white-space: normal; display: block; }
"""


def program_page(answer: DeltaAnswer, report: Report) -> str:
    """Return the page of an answer about a program.

    report: what is said of it.
    Raises UsageError if the answer is about no program, or its source is no longer what was explored.
    """
    model = answer.model
    if not isinstance(model, ProgramChain | ProgramInteractive) or not model.origin.files:
        raise UsageError("the answer is about no program in a file; expected FILE.py:FUNCTION")
    notes: dict[tuple[str, int], list[str]] = {}
    for (source, target), found in model.origin.partings.items():
        for parting in found:
            if parting.line is not None:
                notes.setdefault((parting.file, parting.line), []).append(
                    f"{source}, {target}: {parting.text}"
                )
    body = f"<h1>{escape(model.origin.function)}</h1>{answer_as_html(answer, report)}"
    body += '<p><span class="draws">draws</span> <span class="parts">where the two runs differ</span></p>'
    for file, digest in model.origin.files.items():
        body += _source(file, digest, model.origin.drawn, notes)
    return page(f"what {model.origin.function} leaks", body, STYLE)


def _source(
    file: str, digest: str, drawn: frozenset[tuple[str, int]], notes: Mapping[tuple[str, int], Sequence[str]]
) -> str:
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: the source cannot be read any more ({error.strerror})") from None
    if "sha256:" + hashlib.sha256(content).hexdigest() != digest:
        raise UsageError(f"{file}: the source is no longer what was explored")
    written = enumerate(content.decode(errors="replace").splitlines(), 1)
    if file.endswith(".wasm"):
        from bisimdist.programs.wasm.listing import listed  # noqa: PLC0415 - seldom needed

        written = listed(content, file, {line for name, line in (*drawn, *notes) if name == file})  # type: ignore[assignment]
    lines = []
    for number, text in written:
        said = "".join(
            f'<span class="note">{escape(visible(note))}</span>' for note in notes.get((file, number), ())
        )
        kind = "parts" if said else "draws" if (file, number) in drawn else ""
        lines.append(f'<li><span class="{kind}">{escape(text)}</span>{said}</li>')
    return f"<h2>{escape(file)}</h2><ol>{''.join(lines)}</ol>"
