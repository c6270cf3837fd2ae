"""The machine and the versions that figures belong to."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["DATA", "described_machine"]

DATA = Path(os.environ.get("BENCHMARK_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
"""Models of others, which are no part of the project: folders `prism` and `peers`."""

PACKAGES = (
    "python-flint",
    "numpy",
    "numba",
    "scipy",
    "highspy",
    "pulp",
    "z3-solver",
    "stormpy",
    "distributed",
    "pycddlib",
    "python-qsoptex",
)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB"
    except (ValueError, OSError):
        return "memory unknown"


def _version(package: str) -> str | None:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return None


def described_machine() -> str:
    """Return one paragraph: processor, cores, load, Python, packages."""
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    packages = ", ".join(text for package in PACKAGES if (text := _version(package)))
    return (
        f"{_processor()}, {os.cpu_count()} cores, {_memory()}{load}; {platform.system()} "
        f"{platform.machine()}; {platform.python_implementation()} {platform.python_version()}; {packages}."
    )
