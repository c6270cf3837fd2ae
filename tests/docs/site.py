"""Is the site that was built readable for everybody? ``python -m tests.docs.site FOLDER`` says what is not.

It looks at the source of every page, and opens some in a browser.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.browser import CHROMIUM, faults, measured

__all__ = ["look", "page_faults", "site_faults"]

OPENED = (
    *("index", "gallery", "choosing", "delta", "reference/command-line", "reference/python"),
    *("reference/api/delta", "tutorials/first-model", "theory/delta"),
)
"""Pages of every sort, which are opened in a browser."""

SEARCH = "search.html"
"""The theme writes its heading with a script."""

EMPTY = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
NAMED = {"a", "button"}


class _Page(HTMLParser):
    """What there is on a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.levels: list[int] = []
        self.ids: Counter[str] = Counter()
        self.title = ""
        self.seen: Counter[str] = Counter()
        self.open: list[tuple[str, bool]] = []
        """The elements that are open, and whether each has a name by now."""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Judge an element by its attributes."""
        has = dict(attrs)
        self.seen[tag] += 1
        if has.get("id"):
            self.ids[has["id"] or ""] += 1
        if tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            self.levels.append(int(tag[1]))
        if tag == "html" and not has.get("lang"):
            self.faults.append("no language")
        if tag == "img" and "alt" not in has:
            self.faults.append(f"a picture without a text: {has.get('src')}")
        if tag == "svg" and has.get("role") == "img" and not has.get("aria-label"):
            self.faults.append("a drawn picture without a label")
        if tag == "input" and has.get("type") not in {"hidden", "checkbox"}:
            named = any(has.get(key) for key in ("aria-label", "title", "placeholder"))
            self.faults += [] if named else [f"a field without a name: {has.get('id')}"]
        if (has.get("tabindex") or "0").isdigit() and int(has.get("tabindex") or 0) > 0:
            self.faults.append("the order of the keyboard is changed")
        if has.get("href", "") == "#furo-main-content" or "skip" in (has.get("class") or ""):
            self.seen["skip"] += 1
        if tag == "link" and "icon" in (has.get("rel") or "").split():
            self.seen["icon"] += 1
        name = any(has.get(key) for key in ("aria-label", "title", "alt"))
        self._says(name)
        if tag not in EMPTY:
            hidden = has.get("aria-hidden") == "true" or ("href" not in has and tag == "a")
            self.open.append((tag, name or hidden))

    def handle_data(self, data: str) -> None:
        """Take the text as a name of what is open."""
        if self.open and self.open[-1][0] == "title" and not self.title:
            self.title = data.strip()
        self._says(bool(data.strip()))

    def _says(self, something: bool) -> None:
        if something:
            self.open = [(tag, True) for tag, _ in self.open]

    def handle_endtag(self, tag: str) -> None:
        """Judge a link or a button by what was in it."""
        while self.open:
            last, named = self.open.pop()
            if last in NAMED and not named:
                self.faults.append(f"<{last}> without a name")
            if last == tag:
                return


def page_faults(text: str) -> list[str]:
    """Return what is wrong with a page, without its style.

    Parameters
    ----------
    text
        Its HTML.
    """
    page = _Page(text)
    found = list(page.faults)
    found += [] if page.title else ["no title"]
    alone = page.levels[:1] == [1] and page.levels.count(1) == 1
    found += [] if alone else ["not one heading above all others"]
    steps = zip(page.levels, page.levels[1:], strict=False)
    found += [f"a heading of level {b} below one of {a}" for a, b in steps if b > a + 1]
    found += [f"{name!r} names {many} places" for name, many in page.ids.items() if many > 1]
    past = page.seen["skip"] or not page.seen["nav"] + page.seen["aside"]
    return found if past else [*found, "no way past the navigation"]


def site_faults(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the pages of a site.

    Parameters
    ----------
    folder
        Where it lies.
    """
    titles: Counter[str] = Counter()
    for path in sorted(folder.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        name = str(path.relative_to(folder))
        page = _Page(text)
        titles[page.title] += 1
        wrong = [fault for fault in page_faults(text) if name != SEARCH or "heading" not in fault]
        yield from (f"{name}: {fault}" for fault in wrong)
        if not page.seen["icon"]:
            yield f"{name}: no icon"
    yield from (f"{many} pages are called {title!r}" for title, many in titles.items() if many > 1)


def look(folder: Path) -> Iterator[str]:
    """Yield what is wrong with some pages where a browser lays them out.

    Parameters
    ----------
    folder
        Where the site lies.
    """
    for name in OPENED:
        for dark in (False, True):
            with TemporaryDirectory() as room:
                for found in measured(folder / f"{name}.html", Path(room), dark=dark):
                    scheme = "dark" if dark else "light"
                    yield from (f"{name}, {scheme}, {fault}" for fault in faults(found, dark=dark))


def main() -> int:
    """Say what is wrong with the site in a folder."""
    folder = Path(sys.argv[1])
    found = list(site_faults(folder))
    if CHROMIUM is None:
        sys.stdout.write("SKIPPED: there is no chromium, so that no page is opened\n")
    else:
        found += look(folder)
    sys.stdout.writelines(f"{fault}\n" for fault in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
