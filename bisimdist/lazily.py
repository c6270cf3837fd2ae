"""Public names of a package, which are imported when they are first used.

A stub ``__init__.pyi`` beside the package says where each of them is from: type checkers read it, and so does
`exported`, so that every name is written once.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing takes longer to load than all the rest

if TYPE_CHECKING:
    from collections.abc import Callable

    Names = tuple[Callable[[str], object], Callable[[], list[str]], list[str]]

ROOMS = (
    *("automata", "budgets", "distances", "errors", "exact", "faces", "logic", "models", "privacy"),
    *("programs", "traces"),
)  # what is public besides the names of the package itself


def exported(package: str, file: str) -> Names:
    """Return the ``__getattr__``, ``__dir__`` and ``__all__`` of a package."""
    with open(f"{file.rpartition('.')[0]}.pyi", encoding="utf-8") as stub:  # noqa: PTH123  (pathlib is slow to load)
        lines = [line.split() for line in stub]
    homes = {words[3]: words[1] for words in lines if words[:1] == ["from"] and words[1] != "bisimdist"}

    def getattribute(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    names = sorted(homes)
    return getattribute, lambda: names, names


def public_names() -> dict[str, str]:
    """Return by every public name the package that it is documented in; errors have their own module."""
    homes: dict[str, str] = {}
    for package in ("bisimdist", *(f"bisimdist.{room}" for room in ROOMS if room != "errors")):
        homes |= dict.fromkeys(import_module(package).__all__, package)
    del homes["__version__"]
    return homes
