"""A page for each public name: its signature with types, its docstring, and what is near it in the table of the reference."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils.nodes import Element
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from bisimdist.faces.shown.proved import Shown
from bisimdist.lazily import public_names

__all__ = ["neighbours", "page", "setup"]

FOLDER = "reference/api"
HOMES = public_names()
NAMES = set(HOMES)
NAMED = re.compile(r"`(\w+)(?:\.\w+)?`")

ANSWERS = """
Every answer also has ``to_dict()``, ``to_json()``, ``to_frame()``, ``csv()``, ``matrix()``, ``plot()``, ``report()`` and ``picture()``:
:doc:`how answers are shown </reference/python>`.
"""


def page(name: str, near: set[str]) -> str:
    """Return the page of a public name.

    Parameters
    ----------
    name
        The name.
    near
        The names that stand beside it in the reference.
    """
    thing = getattr(import_module(HOMES[name]), name)
    directive = "autoclass" if inspect.isclass(thing) else "autofunction"
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        directive = "autoexception"
    members = "   :members:\n" if inspect.isclass(thing) else ""
    also = (near | _spoken_of(thing)) - {name}
    shown = ", ".join(f":py:obj:`~{HOMES[other]}.{other}`" for other in sorted(also))
    return (
        f":orphan:\n\n{name}\n{'=' * len(name)}\n\n.. {directive}:: {HOMES[name]}.{name}\n{members}\n"
        f"{ANSWERS if inspect.isclass(thing) and issubclass(thing, Shown) else ''}\n"
        f".. seealso:: {f'{shown}, and ' if shown else ''}:doc:`the reference </reference/python>`\n"
    )


def _spoken_of(thing: Any) -> set[str]:
    """Return the public names in the types of a function, or of the fields of a class."""
    told = inspect.get_annotations(inspect.unwrap(thing)).values()
    return {word for said in told for word in re.findall(r"\w+", str(said))} & NAMES


def neighbours(text: str) -> dict[str, set[str]]:
    """Return by name those that stand in the same row of the tables of the reference, or in the same clause below them."""
    near: dict[str, set[str]] = {name: set() for name in NAMES}
    for group in re.split(r"[;\n]", text):
        found = {word for word in NAMED.findall(group)} & NAMES
        for name in found:
            near[name] |= found - {name} if len(found) < 9 else set()
    return near


def _write(app: Sphinx) -> None:
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    near = neighbours((Path(app.srcdir) / "reference/python.md").read_text(encoding="utf-8"))
    wanted = {f"{name}.rst": page(name, near[name]) for name in NAMES}
    kinds = ("Functions", "Models, answers and other types", "Errors")
    lists: dict[str, list[str]] = {kind: [] for kind in kinds}
    for name in sorted(NAMES, key=str.lower):
        thing = getattr(import_module(HOMES[name]), name)
        kind = (
            2 if inspect.isclass(thing) and issubclass(thing, BaseException) else int(inspect.isclass(thing))
        )
        sentence = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
        lists[kinds[kind]].append(f":doc:`{name} <{name}>`\n   {sentence}\n")
    parts = [f"{kind}\n{'-' * len(kind)}\n\n" + "\n".join(entries) for kind, entries in lists.items()]
    wanted["index.rst"] = "Every public name\n=================\n\n" + "\n".join(parts) + "\n"
    for path in folder.glob("*.rst"):
        if path.name not in wanted:
            path.unlink()
    for file, text in wanted.items():
        path = folder / file
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _found(app: Sphinx, environment: BuildEnvironment, node: Element, shown: Element) -> Element | None:
    """Resolve the name of a type by its last part: types are documented as the package exports them."""
    name = node.get("reftarget", "").rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in NAMES or app.builder.name != "html":
        return None
    domain = environment.domains["py"]
    return domain.resolve_xref(
        environment, node["refdoc"], app.builder, "obj", f"{HOMES[name]}.{name}", node, shown
    )


def _signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, given: str | None, back: str | None
) -> Any:
    """Return a signature that can be read: names of types as they are written, no private fields, no addresses."""
    if given:
        given = re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", given)
        given = re.sub(r"= <[^<>]*>", "= ...", given)
        given = re.sub(r", _\w+: [\w.~\[\], |]*(?=\))", "", given)
    return given, back


def _no_source(app: Sphinx, name: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Take the link to its source from a page that has none."""
    if name.startswith(FOLDER):
        context["page_source_suffix"] = ""


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before they are looked for; none is in a table of contents, which every page of the site would repeat."""
    app.connect("builder-inited", _write)
    app.connect("autodoc-process-signature", _signature)
    app.connect("missing-reference", _found)
    app.connect("html-page-context", _no_source, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
