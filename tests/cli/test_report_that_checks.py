"""Pages that carry a checker, in browsers: the verdicts of the Python checker, and nothing is fetched."""

from __future__ import annotations

import lzma
import os
import random
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from bisimdist.checker import MalformedCertificate, check_certificate
from bisimdist.privacy.report import carried
from bisimdist.privacy.report.page import Decision, carrying
from tests.checker.corpus import OUTCOMES, entries
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)
from tests.driven import BROWSERS, Chromium, Driven, driven

FILES = [entry for folder in OUTCOMES for entry in entries(folder)]

SAVED = Path(__file__).parent / "saved"
"""Pages about example:figure1 at alpha = 11/10, as versions wrote them; each version adds its own."""

PYODIDE = os.environ.get("BISIMDIST_PYODIDE")
"""The directory of Pyodide, for tests of the Python checker in browsers."""

VERDICT = """
const said = document.getElementById("said");
while (!said.dataset.verdict) await new Promise(go => setTimeout(go, 2));
return [said.dataset.verdict, said.textContent];
"""

PRESSED = f"document.querySelector('button[data-form=' + given[0] + ']').click(); {VERDICT}"

CHECKED = """
const [form, texts] = given, said = document.getElementById("said"), found = [];
const button = document.querySelector(`button[data-form=${form}]`);
const first = document.querySelector("button[data-form]");
const file = text => new File([Uint8Array.from(atob(text), x => x.charCodeAt(0))], "given");
const input = name => document.getElementById(name + "-file");
const put = (name, text) => input(name).onchange({target: {files: text ? [file(text)] : []}});
for (const [text, model] of texts) {
  await put("certificate", null);
  await put("model", model);
  await put("certificate", text);
  if (button !== first) button.click();
  while (!said.dataset.verdict) await new Promise(go => setTimeout(go, 2));
  found.push([said.dataset.verdict, said.textContent]);
}
return found;
"""


def expected(text: bytes) -> str:
    """Return the verdict of the Python checker, here."""
    try:
        return "valid" if check_certificate(text).valid else "not valid"
    except MalformedCertificate:
        return "malformed"


@pytest.fixture(scope="module", params=sorted(BROWSERS))
def browser(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driven]:
    if not BROWSERS[request.param]:
        pytest.skip(f"{request.param} is not installed")
    with driven(request.param, tmp_path_factory.mktemp(request.param)) as found:
        yield found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page") / "report.html"


@pytest.fixture
def page(command: Command, made: Path) -> Path:  # noqa: F811
    if not made.exists():
        command("report", "example:figure1", "--alpha", "11/10", "--with-proof", "-o", made)
    return made


def in_browser(
    browser: Driven, form: str, cases: list[tuple[bytes, ...]], part: int = 100
) -> Iterator[tuple[str, str]]:
    """Yield what a page without an answer, which is open, says of certificates."""
    for start in range(0, len(cases), part):
        some = [[b64encode(each).decode() for each in case] for case in cases[start : start + part]]
        yield from map(tuple, browser.run(CHECKED, form, some))


def test_it_holds_the_checker_as_it_is(page: Path, command: Command, tmp_path: Path) -> None:  # noqa: F811
    text = page.read_text()
    (script,) = re.findall(r'<script type="text/plain" id="proved.js">(.*?)</script>', text, re.DOTALL)
    assert f"<code>sha256:{sha256(script.encode()).hexdigest()}</code>" in text
    assert unescape(re.findall(r'Security-Policy" content="(.*?)"', text)[0]).startswith(
        "default-src 'none';"
    )
    plain = tmp_path / "plain.html"
    command("report", "example:figure1", "--alpha", "11/10", "-o", plain)
    assert len(text) - len(plain.read_text()) < 300_000
    assert "Security-Policy" not in plain.read_text()


def test_the_documentation_names_its_digest() -> None:
    told = (Path(__file__).parents[2] / "docs" / "page.md").read_text(encoding="utf-8")
    assert carried.proved_digest() in told


def test_a_directory_without_pyodide(command: Command, tmp_path: Path) -> None:  # noqa: F811
    done = command("report", "example:figure1", "--pyodide", tmp_path, "-o", tmp_path / "page.html")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "pyodide.mjs cannot be read" in done.err


def test_a_proof_that_the_proved_checker_does_not_cover() -> None:
    behind = next(entry for entry in FILES if entry.name.startswith("correct/rounds/"))
    told: Any = {"delta": None, "profile": None, "distances": None, "checked": "", "carry": True}
    found = Decision(proof=behind.texts()[0].decode(), **told)
    assert "This page carries no checker" in carrying(found)
    assert carrying(replace(found, carry=False)) == ""


def test_it_opens_checks_and_fetches_nothing(browser: Driven, page: Path) -> None:
    if isinstance(browser, Chromium):
        browser.requests()
    browser.open(page)
    verdict, said = browser.run(VERDICT)
    assert verdict == "valid"
    assert "delta(s0, s1) at alpha = 11/10 is exactly 4/25" in said
    if isinstance(browser, Chromium):
        asked = browser.requests()
        assert page.resolve().as_uri() in asked
    else:
        asked = browser.run("return performance.getEntriesByType('resource').map(x => x.name)")
    assert not [address for address in asked if not address.startswith(("file:", "blob:"))]
    refused = browser.run("return fetch('https://example.org/').then(() => 'fetched', () => 'refused')")
    assert refused == "refused"


@pytest.mark.parametrize("saved", sorted(SAVED.glob("*.html.xz")), ids=lambda path: str(path.name))
def test_a_page_that_an_earlier_version_wrote(browser: Driven, saved: Path, tmp_path: Path) -> None:
    """It holds its own checker, so it says what it said."""
    page = tmp_path / "saved.html"
    page.write_bytes(lzma.decompress(saved.read_bytes()))
    browser.open(page)
    verdict, said = browser.run(VERDICT)
    assert verdict == "valid"
    assert "delta(s0, s1) at alpha = 11/10 is exactly 4/25" in said


def test_it_can_be_used_by_keyboard(browser: Driven, page: Path) -> None:
    browser.open(page)
    browser.run(VERDICT)
    browser.run("delete document.getElementById('said').dataset.verdict")
    browser.type("button[data-form=proved]", "\ue007")  # Enter
    assert browser.run(VERDICT)[0] == "valid"


def test_one_digit_changed_in_the_page(browser: Driven, page: Path, tmp_path: Path) -> None:
    """Wherever it stands, the page says what the Python checker says: it refuses nearly all of them."""
    text = page.read_text()
    start = text.index('<pre id="certificate">') + len('<pre id="certificate">')
    proof = text[start : text.index("</pre>", start)]
    change = """const [at, digit] = given, held = document.getElementById("certificate");
    const text = held.textContent;
    held.textContent = text.slice(0, at) + digit + text.slice(at + 1);"""
    browser.open(page)
    browser.run(VERDICT)
    raw = unescape(proof)
    assert browser.run("return document.getElementById('certificate').textContent") == raw
    refused = 0
    chance = random.Random(1)
    spots = [match.start() for match in re.finditer(r"\d", raw)]
    for at in chance.sample(spots, 40):
        digit = str((int(raw[at]) + chance.randint(1, 9)) % 10)
        verdict, said = browser.run(change + PRESSED.replace("given[0]", "'proved'"), at, digit)
        assert verdict == expected((raw[:at] + digit + raw[at + 1 :]).encode()), (at, said)
        assert verdict == "valid" or "nothing is proved" in said
        refused += verdict != "valid"
        browser.run("document.getElementById('certificate').textContent = given[0]", raw)
    assert refused > 35
    assert "4/25" in proof
    forged = tmp_path / "forged.html"
    forged.write_text(text[:start] + proof.replace("4/25", "3/25") + text[start + len(proof) :])
    browser.open(forged)
    assert browser.run(VERDICT)[0] == "not valid"


def test_every_file_in_the_page_without_an_answer(browser: Driven, tmp_path: Path) -> None:
    page = tmp_path / "check.html"
    page.write_text(carried.checking_page())
    browser.open(page)
    found = list(in_browser(browser, "proved", [entry.texts() for entry in FILES]))
    for entry, (verdict, said) in zip(FILES, found, strict=True):
        assert verdict in {entry.expected, "not covered"}, (entry.name, said)
        assert (verdict == "valid") == said.startswith("Valid:")
    assert sum(verdict in ("valid", "not valid") for verdict, _ in found) > 300


def test_budgets_are_said_in_the_page(browser: Driven, tmp_path: Path) -> None:
    page = tmp_path / "check.html"
    page.write_text(carried.checking_page())
    browser.open(page)
    names = {
        "hmm-budget/with-its-model": ("68/27 is the least", "of 3 observations"),
        "hmm-budget/shorter-up-to": ("2 is no", "of up to 3 observations"),
        "hmm-budget/violated": ("2 is no", "of 2 observations"),
        "hmm-budget/infinite": ("no ratio is a", "of 2 observations"),
        "hmm-no-budget/pump": ("no ratio is a", "of any length"),
        "hmm-several/hmm-several": ("2 is the least", "of 2 observations"),
    }
    files = [next(entry for entry in FILES if entry.name == f"correct/{name}") for name in names]
    found = in_browser(browser, "proved", [entry.texts() for entry in files])
    for (ratio, words), (verdict, said) in zip(names.values(), found, strict=True):
        assert verdict == "valid"
        assert f"{ratio} budget between " in said
        assert f", for sequences {words}" in said


def test_metrics_are_said_in_the_page(browser: Driven, tmp_path: Path) -> None:
    page = tmp_path / "check.html"
    page.write_text(carried.checking_page())
    browser.open(page)
    names = ("metric-acc-given", "metric-amortised-infinite")
    files = [next(entry for entry in FILES if entry.name == f"correct/metric/{name}") for name in names]
    finite, infinite = in_browser(browser, "proved", [entry.texts() for entry in files])
    assert [finite[0], infinite[0]] == ["valid", "valid"]
    assert "e to the accumulative distance of s and t is exactly 3/2" in finite[1]
    assert "e to the amortised distance of s and t is infinite" in infinite[1]


def test_leakages_and_compositions_are_said_in_the_page(browser: Driven, tmp_path: Path) -> None:
    page = tmp_path / "check.html"
    page.write_text(carried.checking_page())
    browser.open(page)
    names = {
        "quotient/leakage-ring-chi2": "chi2(payer0, payer1) is exactly 5002/3909373125",
        "quotient/leakage-twins-renyi-3": "renyi:3 (before the logarithm)(s, t) is exactly 1",
        "quotient/leakage-g": "g of s with 1/2, t with 1/2; a gains 1 for s; b gains 2 for t is exactly 1",
        "composition/equal-ones": "epsilon at delta = 0 is exactly 3/10",
        "composition/approximate": 'about {"approximate":{"epsilon":"1/10","delta":"1/10000"},"times":"4"}',
    }
    files = [next(entry for entry in FILES if entry.name == f"correct/{name}") for name in names]
    found = in_browser(browser, "proved", [entry.texts() for entry in files])
    for words, (verdict, said) in zip(names.values(), found, strict=True):
        assert verdict == "valid"
        assert words in said


def test_a_report_is_a_certificate_too(browser: Driven, page: Path, tmp_path: Path) -> None:
    empty = tmp_path / "check.html"
    empty.write_text(carried.checking_page())
    browser.open(empty)
    ((verdict, said),) = in_browser(browser, "proved", [(page.read_bytes(),)])
    assert verdict == "valid"
    assert "exactly 4/25" in said


@pytest.mark.slow
@pytest.mark.skipif(PYODIDE is None, reason="BISIMDIST_PYODIDE names no directory of Pyodide")
def test_every_file_in_python_in_a_browser(browser: Driven, tmp_path: Path) -> None:
    page = tmp_path / "check.html"
    page.write_text(carried.checking_page(PYODIDE))
    browser.open(page)
    found = in_browser(browser, "python", [entry.texts() for entry in FILES])
    for entry, (verdict, said) in zip(FILES, found, strict=True):
        deep = verdict == "not checked" and "nested" in entry.name  # the stack of a browser is small
        assert deep or verdict == entry.expected, (entry.name, said)
