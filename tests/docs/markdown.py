"""The fenced blocks of a Markdown page, and how they are run."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Block", "blocks", "commands", "failures", "pages"]

ROOT = Path(__file__).resolve().parents[2]
"""The root of the repository."""

NAMED = re.compile(r"# ([\w-]+\.py)")
"""The first line of a block that is a file, where a caption would not be shown."""


@dataclass(frozen=True)
class Block:
    """A fenced block.

    ``language`` is what stands behind the fence, ``caption`` the name of a file where the block says that it
    is one, ``line`` the line of its first line of text.
    """

    language: str
    caption: str
    text: str
    line: int


def pages() -> list[Path]:
    """Return every page of the documentation, and those at the root that it includes."""
    found = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts]
    return [*found, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]


def blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page in their order, those within quotations and lists included."""
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        fence = line.lstrip()
        if not fence.startswith("```"):
            continue
        width = len(line) - len(fence)
        language, caption, inside, first = fence[3:].strip(), "", [], number + 1
        for at, body in lines:
            stripped = body[width:]
            if stripped.startswith("```"):
                break
            if stripped.startswith(":caption:"):
                caption, first = stripped.removeprefix(":caption:").strip(), at + 1
            else:
                inside.append(stripped)
        if not caption and inside and (named := NAMED.fullmatch(inside[0])):
            caption = named[1]
        language = language.removeprefix("{code-block}").strip()
        yield Block(language, caption, "\n".join(inside).strip("\n") + "\n", first)


def commands(block: Block) -> Iterator[tuple[list[str], str]]:
    """Yield the command lines of a console block (without their prompt) and what they are said to print."""
    words: list[str] | None = None
    output: list[str] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            if words is not None:
                yield words, "\n".join(output)
            words, output = shlex.split(line[2:], comments=True), []
        else:
            output.append(line)
    if words is not None:
        yield words, "\n".join(output)


def failures(block: Block, name: str, namespace: dict[str, object]) -> str:
    """Run a Python block, whose names the next block of the page sees; return what went wrong.

    A block with prompts is a doctest; one without is simply run.
    """
    if ">>>" not in block.text:
        exec(compile("\n" * (block.line - 1) + block.text, name, "exec"), namespace)
        return ""
    test = doctest.DocTestParser().get_doctest(block.text, namespace, name, name, block.line - 1)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=said.append, clear_globs=False)
    namespace.update(test.globs)
    return "".join(said)
