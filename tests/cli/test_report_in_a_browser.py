"""The page for whoever decides, as a browser lays it out: three widths, light and dark."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDTHS = (360, 768, 1280)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")

HARNESS = """<!DOCTYPE html><body><pre id="measured"></pre><script>
const page = PAGE;
const light = c => { c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; };
const numbers = text => (text.match(/[\\d.]+/g) || []).map(Number);
const luminance = ([r, g, b]) => .2126 * light(r) + .7152 * light(g) + .0722 * light(b);
const ratio = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + .05) / (y + .05);
};
const paper = (element, view) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = numbers(view.getComputedStyle(at).backgroundColor);
    if (colour.length == 3 || colour[3] == 1) return colour;
  }
  return [255, 255, 255];
};
const measure = frame => {
  const view = frame.contentWindow, root = frame.contentDocument;
  root.querySelectorAll("details").forEach(part => part.open = true);
  const worst = [];
  for (const element of root.body.querySelectorAll("*")) {
    const said = [...element.childNodes].some(node => node.nodeType == 3 && node.textContent.trim());
    const style = view.getComputedStyle(element);
    const silent = ["SCRIPT", "STYLE", "style", "title"].includes(element.tagName);
    if (!said || silent || style.display == "none") continue;
    const svg = element.ownerSVGElement;
    const box = svg && element.closest("g") && element.closest("g").querySelector(":scope > rect");
    const behind = box ? numbers(view.getComputedStyle(box).fill) : paper(svg || element, view);
    const ink = numbers(svg ? style.fill : style.color).slice(0, 3);
    if (ink.length == 3) worst.push([ratio(ink, behind), element.textContent.trim().slice(0, 40)]);
  }
  const named = x => x.getAttribute("aria-label") || x.alt || x.querySelector("title");
  worst.sort((a, b) => a[0] - b[0]);
  const head = root.querySelector("thead th[data-sorts]");
  return {
    width: view.innerWidth, scroll: root.documentElement.scrollWidth, contrast: worst[0],
    dark: luminance(paper(root.body, view)) < .5,
    unnamed: [...root.querySelectorAll("svg, img")].filter(x => !named(x)).length,
    headings: [...root.querySelectorAll("h1, h2, h3")].map(x => Number(x.tagName[1])),
    sortable: !!head && head.tabIndex == 0, language: root.documentElement.lang,
  };
};
const frames = WIDTHS.map(width => {
  const frame = document.createElement("iframe");
  frame.width = width; frame.height = 900; frame.srcdoc = page;
  document.body.append(frame);
  return new Promise(done => frame.onload = () => done(measure(frame)));
});
Promise.all(frames).then(found => document.getElementById("measured").textContent = JSON.stringify(found));
</script></body>"""


def measured(page: str, folder: Path, *, dark: bool) -> list[dict[str, Any]]:
    harness = folder / "harness.html"
    quoted = json.dumps(page).replace("</", "<\\/").replace("<!--", "<\\!--")
    harness.write_text(HARNESS.replace("WIDTHS", str(list(WIDTHS))).replace("PAGE", quoted, 1))
    assert CHROMIUM is not None
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}")
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    words = [CHROMIUM, *options, scheme, "--virtual-time-budget=10000", "--dump-dom", harness.as_uri()]
    ended = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    (found,) = re.findall(r'<pre id="measured">(.*?)</pre>', ended.stdout, re.DOTALL)
    result: list[dict[str, Any]] = json.loads(unescape(found))
    return result


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_can_be_read(command: Command, made: dict[str, str], tmp_path: Path, dark: bool) -> None:  # noqa: F811
    if not made:
        command("report", "example:randomised-response,k=3", "--alpha", "2", "-o", tmp_path / "report.html")
        made["page"] = (tmp_path / "report.html").read_text()
    for found in measured(made["page"], tmp_path, dark=dark):
        assert found["width"] in WIDTHS
        assert found["scroll"] <= found["width"], f"{found['width']} wide, and must be scrolled"
        ratio, text = found["contrast"]
        assert ratio >= 4.5, f"{text!r} is hard to read at {found['width']}: {ratio}"
        assert found["dark"] is dark
        assert found["unnamed"] == 0
        assert found["headings"][0] == 1
        assert all(b <= a + 1 for a, b in zip(found["headings"], found["headings"][1:], strict=False))
        assert found["sortable"]
        assert found["language"] == "en"


def test_what_is_hard_to_read_is_noticed(tmp_path: Path) -> None:
    page = (
        '<!DOCTYPE html><html lang="en"><body><h1 style="color:#aaa;background:#fff">a</h1><svg></svg>'
        '<div style="width:2000px">b</div></body></html>'
    )
    for found in measured(page, tmp_path, dark=False):
        assert found["scroll"] > found["width"]
        assert found["contrast"][0] < 4.5
        assert found["unnamed"] == 1
