"""Little memory: what would hang or abort for lack of it is not loaded, and errors are told apart."""

from __future__ import annotations

import errno
import importlib.abc
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

MEBIBYTE = 2**20
ROOM = {"numpy": 130, "scipy": 190, "scipy.linalg": 150, "llvmlite": 200, "z3": 150}
"""How many MiB of addresses a library takes when it is loaded and used, and some more.

Without them BLAS waits for ever, and LLVM ends the process.
"""

BLAS = ("numpy", "scipy.linalg")
SIGNS = (
    "failed to map segment",
    "cannot allocate memory",
    "error return without exception",
    "without setting",
)  # what other errors say where memory was the reason


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


class _Warmed(importlib.abc.Loader):
    """Lets BLAS take its buffer when it is loaded, while there is room; later it would end the process."""

    def __init__(self, loader: importlib.abc.Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        square = sys.modules["numpy"].ones((64, 64))
        if module.__name__ == "numpy":
            square @ square
        else:
            module.blas.dgemm(1.0, square, square)


class _Room(importlib.abc.MetaPathFinder):
    """Refuses to load what there is no room for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in ROOM:
            return None
        left = _addresses_left()
        if left is not None and left < ROOM[fullname] * MEBIBYTE:
            raise MemoryError(f"{fullname} takes {ROOM[fullname]} MiB, and {left // MEBIBYTE} are left")
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None and fullname in BLAS:
            spec.loader = _Warmed(spec.loader)
        return spec


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
