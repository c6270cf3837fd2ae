"""Packages that only some questions need: loaded when asked for; where missing, with how to install them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bisimdist.errors import UsageError


def needed(module: str, extra: str) -> Any:
    """Return a module of a package that is installed with an extra of this one.

    Raises UsageError if it is not installed, with the command that does it.

    >>> needed("none", "plot")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    bisimdist.errors.UsageError: none is not installed; install it with: pip install 'bisimdist[plot]'...
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        how = f"pip install 'bisimdist[{extra}]', or in a clone '.[{extra}]'"
        raise UsageError(f"{package} is not installed; install it with: {how}") from error
