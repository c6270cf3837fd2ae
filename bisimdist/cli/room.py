"""Little memory: what would hang or abort for lack of it is not loaded, and errors are told apart."""

from __future__ import annotations

import errno
import importlib.abc
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

__all__ = ["out_of_memory", "watch_imports"]

MEBIBYTE = 2**20
ROOM = {"numpy": 130, "scipy.linalg": 150, "llvmlite": 180}
"""How many MiB of addresses a library takes when it is loaded and used, and some more.

Without them BLAS waits for ever, and LLVM ends the process.
"""

SIGNS = (
    "failed to map segment",
    "cannot allocate memory",
    "error return without exception",
    "without setting",
)
"""What other errors say where memory was the reason."""


def _addresses_left() -> int | None:
    """Return how many bytes of addresses the process may still take; None where any number, or unknown."""
    try:
        import resource  # noqa: PLC0415  (not on Windows)

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError, ValueError):
        return None
    return limit - pages * os.sysconf("SC_PAGE_SIZE")


class _Room(importlib.abc.MetaPathFinder):
    """Refuses to load what there is no room for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname in ROOM:
            left = _addresses_left()
            if left is not None and left < ROOM[fullname] * MEBIBYTE:
                raise MemoryError(f"{fullname} takes {ROOM[fullname]} MiB, and {left // MEBIBYTE} are left")
        return None


def watch_imports() -> None:
    """Prepare the process for little memory: one thread for BLAS, and no hopeless import."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if _addresses_left() is not None:
        sys.meta_path.insert(0, _Room())


def out_of_memory(error: BaseException) -> bool:
    """Tell whether an error means that there is no memory left, whatever its type."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    text = str(error).lower()
    return isinstance(error, ImportError | SystemError) and any(sign in text for sign in SIGNS)
