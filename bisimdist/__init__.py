"""Exact, certified privacy bounds for probabilistic systems from bisimilarity distances.

The names below are imported when they are first used: ``import bisimdist`` alone loads no other module. What
else is public stands in the room that it belongs to: ``bisimdist.logic``, ``bisimdist.traces`` and so on.
"""

from __future__ import annotations


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415  (the checker is loaded without anything of ours)

    from bisimdist.lazily import ROOMS, exported  # noqa: PLC0415

    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415

        return version("bisimdist")
    get, _, names = exported(__name__, __file__)
    if name == "__all__":
        return [*names, "__version__"]
    if name in names:
        return get(name)
    if name in ROOMS:
        return import_module(f"bisimdist.{name}")
    for room in ROOMS if not name.startswith("_") else ():
        module = import_module(f"bisimdist.{room}")
        if name in module.__all__:
            from warnings import warn  # noqa: PLC0415

            warn(f"bisimdist.{name} is bisimdist.{room}.{name} now", DeprecationWarning, stacklevel=2)
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from bisimdist.lazily import exported  # noqa: PLC0415

    return [*exported(__name__, __file__)[2], "__version__"]
