"""Checkers that a page carries: they run in the browser of whoever opens it, and nothing is fetched."""

from __future__ import annotations

import gzip
import io
import zipfile
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path

from bisimdist.errors import UsageError
from bisimdist.faces.shown.page import page

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; "
    "connect-src blob:; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)
"""What a browser lets such a page do: run what stands in it, and load nothing."""

PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""The files of Pyodide that a page needs."""

STYLE = """
.checking { background: var(--box); padding: .2rem 1rem; margin: 1rem 0; overflow-wrap: anywhere; }
.checking .verdict { border-left: 4px solid var(--gap); padding-left: 1rem; font-weight: 600; }
.checking .valid { border-color: var(--same); } .checking .refused { border-color: var(--bad); }
.checking button { font: inherit; padding: .45rem 1rem; margin: 0 .6rem .4rem 0; min-height: 2.75rem;
  cursor: pointer; color: var(--paper); background: var(--ink); border: 1px solid var(--ink);
  border-radius: .3rem; }
.checking button:disabled { color: var(--soft); background: var(--box); border-color: var(--line); }
.checking :focus-visible { outline: 3px solid var(--same); outline-offset: 2px; }
.checking progress { width: 100%; } .took { color: var(--soft); }
#drop { border: 2px dashed var(--line); padding: .3rem 1rem 1rem; } #drop.over { border-color: var(--same); }
#drop label { display: block; margin: .8rem 0 .2rem; font-weight: 600; }
#drop input { max-width: 100%; font: inherit; }
"""

PROVED = (
    "The proved checker: extracted from machine-checked proofs, and compiled to JavaScript. It covers bd, "
    "lbd and delta of Markov chains, also where states are merged or runs of a program are cut off, "
    "what traces leak in every measure, the accumulative and the amortised metric of automata, "
    "budgets of hidden Markov models, and compositions of randomised response and of private mechanisms."
)
STEPS: dict[str, set[str]] = {
    "distance": {"quotient"},
    "delta": {"cut", "merge", "quotient"},
    "leakage": {"quotient"},
    "metric": set(),
}
"""By kind the steps that the proved checker takes."""
HIDDEN = {"hmm-budget", "hmm-all-lengths", "hmm-no-budget", "hmm-several"}
"""The kinds about hidden Markov models that it knows, if there are no parameters."""
PYTHON = (
    "The Python checker: that of bisimdist check, in a Python that this page carries. It covers everything."
)


def proved_digest() -> str:
    """Return the digest of the proved checker that a page carries."""
    return f"sha256:{sha256(_web('proved.js')).hexdigest()}"


def covered(document: dict[str, object]) -> bool:
    """Return whether the proved checker has rules for a certificate: a guess, which it corrects itself."""
    kind, parts = document.get("kind", "distance"), document.get("reduced", [])
    if str(kind) in HIDDEN:
        return _part(document, "model", "kind") == "hmm" and not _part(document, "model", "parameters")
    taken = STEPS.get(str(kind))
    model = "pa" if kind == "metric" else "lmc"
    if taken is None or _part(document, "model", "kind") != model or not isinstance(parts, list):
        return False
    steps = [_part(part, "steps") for part in parts]
    return all(
        isinstance(some, list) and {str(_part(step, "name")) for step in some} <= taken for some in steps
    )


def _part(value: object, *keys: str) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def carried(*, proved: bool, pyodide: str | None, before: str = "") -> str:
    """Return the part of a page that checks, with all that it needs.

    proved: whether the proved checker is there, in 232 kB.
    pyodide: the directory of Pyodide for the Python checker, in 8.5 MB; None for none.
    before: what stands before the buttons.

    The page has to hold the certificate as the text of an element `certificate`, or the elements of
    `checking_page`.

    Raises UsageError if the directory lacks a file.
    """
    rows, buttons, scripts = [], [], []
    if proved:
        rows.append(f"<p>{PROVED} <code>{proved_digest()}</code></p>")
        buttons.append('<button type="button" data-form="proved">Check with the proved checker</button>')
        scripts += [_script("proved.js", _web("proved.js")), _script("native.js", _web("native.js"))]
    if pyodide is not None:
        zipped = zipped_checker()
        parts = {name: _file_of(pyodide, name) for name in PYODIDE} | {"checker.zip": zipped}
        whole = sha256(b"".join(parts.values())).hexdigest()
        rows.append(
            f"<p>{PYTHON} <code>sha256:{sha256(zipped).hexdigest()}</code> (checker), "
            f"<code>sha256:{whole}</code> (with Python)</p>"
        )
        buttons.append('<button type="button" data-form="python">Check with the Python checker</button>')
        scripts.append(_script("python.js", _web("python.js")))
        scripts += [_packed(name, content) for name, content in parts.items()]
    return (
        f'<section class="checking" aria-label="Check the proof">{before}<p>{"".join(buttons)}</p>'
        '<progress id="under-way" aria-label="The check is under way" hidden></progress>'
        '<div id="said" role="status" aria-live="polite"></div>'
        "<noscript><p>This browser runs no scripts: save the certificate and run "
        f"<code>bisimdist check</code>.</p></noscript>{''.join(rows)}<p>Nothing is fetched, and nothing "
        "leaves this browser. Whoever made a page may have made its checker, too: compare the digest, or "
        "check the certificate elsewhere.</p></section>"
        f'{"".join(scripts)}<script type="module">{_web("check.js").decode()}</script>'
    )


def checking_page(pyodide: str | None = None) -> str:
    """Return a page without an answer: whoever has a certificate drops it there, perhaps with a model.

    pyodide: the directory of Pyodide, for certificates of all kinds; None for those that are covered.
    """
    before = (
        '<div id="drop"><label for="certificate-file">Certificate, or a report that holds one</label>'
        '<input type="file" id="certificate-file" aria-label="Certificate">'
        ' <span id="certificate-name"></span>'
        '<label for="model-file">Model that it has to be about, as JSON (may be left out)</label>'
        '<input type="file" id="model-file" aria-label="Model" accept=".json"> <span id="model-name"></span>'
        "<p>Or drop the files here.</p></div>"
    )
    body = (
        "<h1>Is it proved?</h1><p>A certificate of bisimdist holds what somebody claims of a probabilistic "
        "system, and a proof. Here your own browser checks it.</p>"
    )
    body += carried(proved=True, pyodide=pyodide, before=before)
    return page("Is it proved?", body, STYLE, policy=POLICY, icon="data:,")


def _web(name: str) -> bytes:
    return (files("bisimdist.privacy.report") / "web" / name).read_bytes()


def readable(pyodide: str) -> None:
    """Raise UsageError if a directory lacks a file of Pyodide: before any work is done."""
    for name in PYODIDE:
        _file_of(pyodide, name)


def _file_of(folder: str, name: str) -> bytes:
    try:
        return (Path(folder) / name).read_bytes()
    except OSError as error:
        raise UsageError(
            f"--pyodide {folder}: {name} cannot be read ({error.strerror}); expected the directory of the "
            "npm package pyodide"
        ) from None


def zipped_checker() -> bytes:
    """Return the checker as a zip: the same bytes for the same sources, as nothing is packed."""
    target = io.BytesIO()
    root = files("bisimdist") / "checker"
    names = sorted(path.relative_to(str(root)).as_posix() for path in Path(str(root)).rglob("*.py"))
    with zipfile.ZipFile(target, "w") as file:
        file.writestr(zipfile.ZipInfo("bisimdist/__init__.py"), b"")
        for name in names:
            info = zipfile.ZipInfo(f"bisimdist/checker/{name}")
            file.writestr(info, root.joinpath(name).read_bytes())
    return target.getvalue()


def _script(name: str, content: bytes) -> str:
    """Return a text that the page holds and does not run by itself."""
    text = content.decode("ascii")
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError(f"{name} cannot stand in a page")
    return f'<script type="text/plain" id="{escape(name)}">{text}</script>'


def _packed(name: str, content: bytes) -> str:
    text = b64encode(gzip.compress(content, 9, mtime=0)).decode()
    return f'<script type="text/plain" id="file-{escape(name)}" data-file="{escape(name)}">{text}</script>'
