"""From what a reader writes to a statement: ``cmp18 fig. 3`` is Figure 3 of CMP18."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from bisimdist.errors import UsageError
from bisimdist.modelling.paper.rows import Paper, Row, papers

NUMBER = re.compile(r"([^\W\d]*)[\s.]*((?:\d+\.)*\d+)?\.?")


def chosen(words: Sequence[str]) -> tuple[Row, ...]:
    """Return the statements that some words name: all with a command, those of a paper, or one.

    A paper may be called by its key, the beginning of the key, or one of its authors. A kind of statement may
    be shortened, as in ``Thm``. Capitals and full stops do not matter.

    >>> [row.name for row in chosen(["cmp18", "Fig.", "3"])]
    ['CMP18 Figure 3']
    >>> [row.name for row in chosen(["Xu", "thm", "1"])]
    ['XCL14 Theorem 1']
    """
    if not words:
        return tuple(row for paper in papers() for row in paper.rows if row.runs)
    named = _papers(words[0])
    number = " ".join(words[1:]).strip()
    found = [row for paper in named for row in (_rows(paper, number) if number else ())]
    keys = sorted({row.key for row in found} or {paper.key for paper in named})
    if len(keys) > 1:
        raise UsageError(f"{words[0]!r} may be {' or '.join(keys)}, which number differently; say which")
    if not number:
        return tuple(row for row in named[0].rows if row.runs)
    if len(found) > 1:
        raise UsageError(f"{keys[0]} has several: {', '.join(row.number for row in found)}; say which")
    if not found:
        near = _nearest(number, (row.number for paper in named for row in paper.rows))
        raise UsageError(f"{keys[0]} has no {number!r}; nearest: {near}. It has {named[0].numbers}")
    return tuple(found)


def _papers(word: str) -> list[Paper]:
    """Return the papers that a word may mean; at least one."""
    plain = word.casefold().rstrip(",:")
    found = [paper for paper in papers() if paper.key.casefold() == plain]
    found = found or [paper for paper in papers() if paper.key.casefold().startswith(plain)]
    found = found or [p for p in papers() if plain in p.authors.casefold().replace(",", "").split()]
    if not found:
        keys = [paper.key for paper in papers()]
        raise UsageError(
            f"there is no paper {word!r}; nearest: {_nearest(word, keys)}. There are {', '.join(keys)}"
        )
    return found


def _rows(paper: Paper, number: str) -> list[Row]:
    """Return the statements of a paper that a kind, a number or both may mean."""
    matched = NUMBER.fullmatch(number)
    if matched is None:
        return []
    kind, place = matched[1].casefold(), matched[2]
    here = [row for row in paper.rows if place in {None, row.number.split()[1]}]
    found = [row for row in here if _abbreviates(kind, row.number.split()[0])]
    return [row for row in found if row.number.casefold().startswith(kind) and len(kind) > 1] or found


def _abbreviates(kind: str, name: str) -> bool:
    """Tell whether letters stand in a name, in their order and with the first in front."""
    letters = iter(name.casefold())
    return name.casefold().startswith(kind[:1]) and all(letter in letters for letter in kind)


def _nearest(word: str, names: Iterable[str]) -> str:
    """Return the names that are most alike, without regard to capitals."""
    plain = {name.casefold(): name for name in names}
    return ", ".join(plain[near] for near in get_close_matches(word.casefold(), plain, 3, 0))
