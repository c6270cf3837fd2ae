"""Which published model files are read, kind by kind, and why the others are not.

``python -m benchmarks.published FOLDER --seconds 20`` asks `show` about every model of PRISM and JANI below a
folder, and prints a table. A constant without a value becomes 2, or 1/2 where it is real.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

__all__ = ["main"]

SUFFIXES = {".pm", ".nm", ".sm", ".prism", ".jani"}

KINDS = {"probabilistic": "dtmc", "stochastic": "ctmc", "nondeterministic": "mdp", "lts": "mdp"}
"""Older words for the kinds of models."""

READ = "read"

LATE = "not read in time"


def kind_of(text: str) -> str:
    """Return the kind that a model says it is; PRISM takes one without a word for an mdp.

    >>> kind_of("// a chain\\nprobabilistic\\nmodule M endmodule")
    'dtmc'
    """
    bare = re.sub(r"//[^\n]*", "", text)
    found = re.search(r'"type"\s*:\s*"([a-z]+)"', bare) if bare.lstrip().startswith("{") else None
    found = found or re.match(r"\s*([a-z]+)\s", bare) or re.match("(mdp)", "mdp")
    word = found[1] if found else "mdp"
    return KINDS.get(word, "mdp" if word in {"const", "module", "formula", "label", "global"} else word)


def value_of(name: str, text: str) -> str:
    """Return a value for a constant without one."""
    real = re.search(rf'const\s+double\s+{name}\b|"name"\s*:\s*"{name}"[^}}]*"real"', text)
    return "1/2" if real else "2"


def outcome(file: Path, seconds: float) -> tuple[str, str]:
    """Return the kind of a file, and that it is read or why it is not."""
    text = file.read_text(errors="replace")
    command = [sys.executable, "-m", "bisimdist", "show", str(file), "--json"]
    error = _asked(command, seconds)
    if found := re.search(r"the constants? (.*?) ha(?:s|ve) no value", error):
        values = ",".join(f"{name}={value_of(name, text)}" for name in found[1].split(", "))
        error = _asked([*command, "--constants", values], seconds)
    reason = error.replace(str(file), "").removeprefix("bisimdist: error: ").lstrip(": ")
    return kind_of(text), reason


def _asked(command: Sequence[str], seconds: float) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return LATE
    lines = done.stderr.strip().splitlines()
    return READ if done.returncode == 0 else (lines[-1] if lines else f"ended with {done.returncode}")


def alike(reason: str) -> str:
    """Return a reason without what only one file has: numbers, names in quotes, all after the first clause.

    >>> alike("line 12: there is no 'x'; expected y")
    'there is no …'
    """
    reason = re.sub(r"'[^']*'|\"[^\"]*\"", "…", re.sub(r"^(line|\d+)[ \d:,]*", "", reason))
    return re.sub(r"\d[\d,.]*", "n", reason.partition(";")[0])[:100].strip()


def table(outcomes: Iterable[tuple[str, str]]) -> str:
    """Return the table, and the reasons below it.

    >>> print(table([("dtmc", "read"), ("dtmc", "there is no 'x'")]))
    | kind | files | read | in time no answer | refused |
    | --- | --- | --- | --- | --- |
    | dtmc | 2 | 1 | 0 | 1 |
    <BLANKLINE>
    - dtmc, 1: there is no …
    """
    found = list(outcomes)
    lines = ["| kind | files | read | in time no answer | refused |", "| --- | --- | --- | --- | --- |"]
    for kind in sorted({kind for kind, _ in found}):
        of_kind = [reason for one, reason in found if one == kind]
        read, late = of_kind.count(READ), of_kind.count(LATE)
        lines.append(f"| {kind} | {len(of_kind)} | {read} | {late} | {len(of_kind) - read - late} |")
    reasons = Counter((kind, alike(reason)) for kind, reason in found if reason not in {READ, LATE})
    return "\n".join([*lines, "", *(f"- {kind}, {n}: {why}" for (kind, why), n in reasons.most_common())])


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask about every model below the folders, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.published", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=20, help="time for each file")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    files = [file for folder in options.folders for file in sorted(folder.rglob("*")) if _model(file)]
    outcomes = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for file, found in zip(
            files, pool.map(partial(outcome, seconds=options.seconds), files), strict=True
        ):
            outcomes.append(found)
            print(*found, file, sep="\t", file=sys.stderr, flush=True)
    print(table(outcomes))
    return 0


def _model(file: Path) -> bool:
    return file.suffix in SUFFIXES and file.is_file()


if __name__ == "__main__":
    sys.exit(main())
