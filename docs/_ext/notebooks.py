"""Tutorials as notebooks: made of the pages, run when these are read, with their pictures put into the pages.

A block of Python becomes a cell, as do a file (``%%writefile``) and the commands of a console (``!bisimdist``); the rest is text.
What a page shows as output is compared by the tests; here a cell that fails is a warning.
"""

from __future__ import annotations

import doctest
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from logging import WARNING, getLogger
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

__all__ = ["notebook", "run", "setup"]

_LOGGER = logging.getLogger(__name__)
getLogger("traitlets").setLevel(WARNING)
_ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(?P<kind>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")
_SECONDS = 300
_QUIET = ["--IPKernelApp.log_level=40"]

_OPENING = """*This notebook is made of a page of the documentation of bisimdist, and was run with it. To run it again you need*
`pip install bisimdist jupyter`."""

_IN_PROCESS = """
import shlex
def system(line):
    from bisimdist.faces.cli.main import run
    run(shlex.split(line)[1:])
get_ipython().system = system
"""
"""While the site is built, commands run in the process of the notebook: to start Python for each takes longer than they do."""


def notebook(text: str) -> NotebookNode:
    """Return a page as a notebook; every code cell says in its metadata which block it is of, counted from 0."""
    cells = [new_markdown_cell(_OPENING)]
    end = 0
    for number, fence in enumerate(_FENCE.finditer(text)):
        made = list(_code_cells(fence["kind"], fence["text"]))
        if made:
            cells.append(new_markdown_cell(_LINK.sub(r"\1", text[end : fence.start()].strip())))
            for cell in made:
                cell.metadata["block"] = number
            cells += made
            end = fence.end()
    cells.append(new_markdown_cell(_LINK.sub(r"\1", text[end:].strip())))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=[cell for cell in cells if cell.source], metadata={"kernelspec": kernel})


def _code_cells(kind: str, text: str) -> Iterator[NotebookNode]:
    caption = re.match(r":caption: *(\S+)\n\n?", text)
    if caption is not None:
        yield new_code_cell(f"%%writefile {caption[1]}\n{text[caption.end() :].rstrip()}")
    elif kind == "yaml" and "kind:" in text:
        yield new_code_cell(f"%%writefile model.yaml\n{text.rstrip()}")
    elif kind == "console":
        lines = re.findall(r"^\$ (bisimdist .*)$", text, re.MULTILINE)
        if lines:
            yield new_code_cell("\n".join(f"!{line}" for line in lines))
    elif kind == "python" and ">>>" not in text:
        yield new_code_cell(text.rstrip())
    elif kind == "python":
        yield from _examples(text)


def _examples(text: str) -> Iterator[NotebookNode]:
    """Yield a cell up to every line that shows something."""
    source = ""
    for example in doctest.DocTestParser().get_examples(text):
        source += example.source
        if example.want or example.exc_msg:
            cell = new_code_cell(source.rstrip())
            if example.exc_msg:
                cell.metadata["tags"] = ["raises-exception"]
            yield cell
            source = ""
    if source:
        yield new_code_cell(source.rstrip())


def run(found: NotebookNode) -> NotebookNode:
    """Run a notebook in a directory of its own.

    Raises
    ------
    CellExecutionError
        If a cell fails that should not.
    """
    found.cells.insert(0, new_code_cell(_IN_PROCESS))
    paths = [str(_ROOT), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "COLUMNS": "200"}
    try:
        with TemporaryDirectory(prefix="bisimdist-") as directory:
            place = {"metadata": {"path": directory}}
            client = NotebookClient(found, timeout=_SECONDS, resources=place, extra_arguments=_QUIET)
            client.execute(env=environment)
    finally:
        del found.cells[0]
    return found


def _pictures(found: NotebookNode) -> dict[int, str]:
    """Return by block the pictures that its cells show."""
    result: dict[int, str] = {}
    for cell in found.cells:
        for output in cell.get("outputs", ()):
            drawn = output.get("data", {}).get("image/svg+xml")
            if drawn:
                block = cell.metadata["block"]
                result[block] = result.get(block, "") + "".join(drawn)
    return result


def _illustrated(text: str, pictures: dict[int, str]) -> str:
    parts, end = [], 0
    for number, fence in enumerate(_FENCE.finditer(text)):
        parts.append(text[end : fence.end()])
        end = fence.end()
        if number in pictures:
            parts.append(f'\n\n```{{raw}} html\n<figure class="drawn">{pictures[number]}</figure>\n```\n')
    return "".join([*parts, text[end:]])


_RESULTS: dict[str, NotebookNode] = {}


def _wanted(app: Sphinx, names: Sequence[str]) -> list[str]:
    return [name for name in names if name.startswith("tutorials/") and not name.endswith("/index")]


def _run_all(app: Sphinx, environment: BuildEnvironment, names: list[str]) -> None:
    def one(name: str) -> None:
        text = Path(environment.doc2path(name)).read_text(encoding="utf-8")
        found = notebook(text)
        try:
            _RESULTS[name] = run(found)
        except CellExecutionError as error:
            _LOGGER.warning("a cell failed: %s", error, location=name)
            return
        place = Path(app.outdir, f"{name}.ipynb")
        place.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(found, place)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, _wanted(app, names)))


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    if name in _RESULTS:
        file = name.rpartition("/")[2] + ".ipynb"
        link = f'<p class="notebook"><a href="{file}" download>This page as a notebook, as it was run</a></p>'
        head, _, rest = _illustrated(source[0], _pictures(_RESULTS[name])).partition("\n")
        source[0] = f"{head}\n\n```{{raw}} html\n{link}\n```\n\n{rest}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Run tutorials before pages are read."""
    app.connect("env-before-read-docs", _run_all)
    app.connect("source-read", _read)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
