"""Pages as a browser lays them out: three widths, light and dark; measured from inside."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

__all__ = ["CHROMIUM", "WIDTHS", "faults", "measured"]

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDTHS = (360, 768, 1280)
CONTRAST = 4.5
"""What the Web Content Accessibility Guidelines ask of text (level AA)."""

HARNESS = """<!DOCTYPE html><body><pre id="measured"></pre><script>
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
const named = x => x.getAttribute("aria-label") || x.getAttribute("alt") || x.querySelector("title")
  || x.closest("[aria-hidden=true], button, a, label, noscript") || x.style.display == "none";
const measure = frame => {
  const view = frame.contentWindow, root = frame.contentDocument;
  root.querySelectorAll("details").forEach(part => part.open = true);
  const worst = [];
  for (const element of root.body.querySelectorAll("*")) {
    const said = [...element.childNodes].some(node => node.nodeType == 3 && node.textContent.trim());
    const style = view.getComputedStyle(element);
    const silent = ["SCRIPT", "STYLE", "NOSCRIPT", "style", "title"].includes(element.tagName);
    if (!said || silent || !element.getClientRects().length || style.visibility == "hidden") continue;
    const svg = element.ownerSVGElement;
    const box = svg && element.closest("g") && element.closest("g").querySelector(":scope > rect");
    const behind = box ? numbers(view.getComputedStyle(box).fill) : paper(svg || element, view);
    const ink = numbers(svg ? style.fill : style.color).slice(0, 3);
    if (ink.length == 3) worst.push([ratio(ink, behind), element.textContent.trim().slice(0, 40)]);
  }
  worst.sort((a, b) => a[0] - b[0]);
  const reached = [...root.querySelectorAll("a[href], button, input, summary, [tabindex]")];
  const shown = x => x.getClientRects().length && view.getComputedStyle(x).visibility != "hidden";
  const seen = reached.filter(shown);
  return {
    width: view.innerWidth, scroll: root.documentElement.scrollWidth, contrast: worst[0] || [21, ""],
    dark: luminance(paper(root.body, view)) < .5,
    unnamed: [...root.querySelectorAll("svg, img")].filter(x => shown(x) && !named(x)).length,
    headings: [...root.querySelectorAll("h1, h2, h3, h4")].map(x => Number(x.tagName[1])),
    sortable: [...root.querySelectorAll("thead th[data-sorts]")].every(x => x.tabIndex == 0),
    unordered: reached.filter(x => x.tabIndex > 0).length,
    nameless: seen.filter(x => x.tagName != "INPUT" && !x.textContent.trim() && !x.title
      && !x.getAttribute("aria-label") && !x.querySelector("[aria-label], title, img[alt]")).length,
    language: root.documentElement.lang, title: root.title, main: !!root.querySelector("main, [role=main]"),
    skips: !!root.querySelector("a[href^='#']") || !root.querySelector("nav, aside"),
  };
};
const frames = WIDTHS.map(width => {
  const frame = document.createElement("iframe");
  frame.width = width; frame.height = 900; frame.src = PAGE;
  document.body.append(frame);
  return new Promise(done => frame.onload = () => done(measure(frame)));
});
Promise.all(frames).then(found => document.getElementById("measured").textContent = JSON.stringify(found));
</script></body>"""


def measured(page: Path, folder: Path, *, dark: bool) -> list[dict[str, Any]]:
    """Return what the browser says of a page at each of the widths.

    Parameters
    ----------
    page
        The page.
    folder
        Where a harness and a profile of the browser may lie.
    dark
        Whether whoever looks prefers dark.
    """
    harness = folder / "harness.html"
    quoted = json.dumps(page.resolve().as_uri())
    harness.write_text(HARNESS.replace("WIDTHS", str(list(WIDTHS))).replace("PAGE", quoted, 1))
    assert CHROMIUM is not None
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}")
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    files = ("--allow-file-access-from-files", "--virtual-time-budget=10000", "--dump-dom")
    words = [CHROMIUM, *options, scheme, *files, harness.resolve().as_uri()]
    ended = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    (found,) = re.findall(r'<pre id="measured">(.*?)</pre>', ended.stdout, re.DOTALL)
    result: list[dict[str, Any]] = json.loads(unescape(found))
    return result


def faults(found: dict[str, Any], *, dark: bool) -> list[str]:
    """Return what is wrong with a page as it was measured at one width.

    Parameters
    ----------
    found
        What was measured.
    dark
        Whether it ought to be dark.
    """
    width = found["width"]
    ratio, text = found["contrast"]
    steps = zip(found["headings"], found["headings"][1:], strict=False)
    rules = {
        f"{found['scroll']} wide: the whole page must be scrolled": found["scroll"] > width,
        f"{text!r} is hard to read: {ratio:.2f}": ratio < CONTRAST,
        "the scheme is not that of who looks": found["dark"] is not dark,
        f"{found['unnamed']} pictures say nothing to who does not see them": found["unnamed"],
        f"headings {found['headings']}": found["headings"][:1] != [1] or any(b > a + 1 for a, b in steps),
        "a head that sorts cannot be reached by keyboard": not found["sortable"],
        f"{found['unordered']} elements change the order of the keyboard": found["unordered"],
        f"{found['nameless']} links or buttons without a name": found["nameless"],
        "no language": not found["language"],
        "no title": not found["title"],
        "no main part": not found["main"],
        "no way to skip what is on all pages": not found["skips"],
    }
    return [f"{width}: {fault}" for fault, broken in rules.items() if broken]
