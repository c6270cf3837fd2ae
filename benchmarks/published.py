"""Which published model files are read, kind by kind, and why the others are not.

``python -m benchmarks.published FOLDER --seconds 20`` asks `show` about every model of PRISM and JANI below a
folder, and prints a table. A constant without a value becomes 2, 1/2 or true. All files of
properties beside a model say what is observed. Seconds are those of a processor, so other work changes
little. Instances of one model come by size: if two in a row are late, larger ones are taken to be late.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from bisimdist.models.io.properties import EXTENSIONS

__all__ = ["main"]

SUFFIXES = {".pm", ".nm", ".sm", ".prism", ".jani"}

KINDS = {"probabilistic": "dtmc", "stochastic": "ctmc", "nondeterministic": "mdp", "lts": "mdp"}
"""Older words for the kinds of models."""

OPEN = re.compile(
    r"the constants? (.*?) ha(?:s|ve) no value|give values to (.*?) \(--"
    r"|there is no variable, formula or constant '(.*?)'"  # of a property, as real ones may be left open
)

READ = "read"

BLIND = "read, and nothing to observe"

LATE = "not read in time"


def kind_of(text: str) -> str:
    """Return the kind that a model says it is; PRISM takes one without a word for an mdp.

    >>> kind_of("// a chain\\nprobabilistic\\nmodule M endmodule")
    'dtmc'
    """
    if text.lstrip("\ufeff \n\r\t").startswith("{"):
        said: dict[str, str] = json.loads(text.lstrip("\ufeff"))
        return said["type"]
    bare = re.sub(r"//[^\n]*", "", text)
    found = re.match(r"\s*([a-z]+)\s", bare) or re.match("(mdp)", "mdp")
    word = found[1] if found else "mdp"
    return KINDS.get(word, "mdp" if word in {"const", "module", "formula", "label", "global"} else word)


def value_of(name: str, text: str) -> str:
    """Return a value for a constant without one.

    >>> [value_of(name, "const double p; const bool b; const int N;") for name in "pbN"]
    ['1/2', 'true', '2']
    """

    def declared(word: str, type_: str) -> bool:
        pattern = rf'const\s+{word}\s+{name}\b|"name"\s*:\s*"{name}"[^}}]*"{type_}"'
        return re.search(pattern, text) is not None

    if declared("bool", "bool"):
        return "true"
    return "1/2" if declared("double", "real") else "2"


def properties_of(file: Path) -> list[Path]:
    """Return the properties beside a model: those of its name, or else all in its folder."""
    near = sorted(path for path in file.parent.iterdir() if path.suffix in EXTENSIONS)
    return [path for path in near if path.stem in {file.name, file.name.partition(".")[0]}] or near


def outcome(file: Path, seconds: float) -> tuple[str, str]:
    """Return the kind of a file, and that it is read or why it is not."""
    text = file.read_text(errors="replace")
    command = [sys.executable, "-m", "bisimdist", "show", str(file), "--json"]
    with tempfile.NamedTemporaryFile("w", suffix=".props") as properties:
        for path in properties_of(file):
            properties.write(f"{path.read_text(errors='replace')}\n")
        properties.flush()
        seen = ["--properties", properties.name] if properties.tell() else []
        values: dict[str, str] = {}
        given: list[str] = []
        error = _asked([*command, *seen], seconds)
        while found := OPEN.search(error):
            names = set("".join(filter(None, found.groups())).split(", ")) - values.keys()
            left_open = rf'const\s+double\s+{found[3]}\b|{{"name":"{found[3]}","type":"real"}}'
            if not names or (found[3] and not re.search(left_open, text)):
                break
            values |= {name: value_of(name, text) for name in names}
            given = ["--constants", ",".join(f"{name}={value}" for name, value in values.items())]
            error = _asked([*command, *seen, *given], seconds)
        if "decision process whose probabilities are intervals" in error:
            given += ["--resolve", "uniform", "--observe-actions"]
            error = _asked([*command, *seen, *given], seconds)
        if "there is no label and no atom in it" in error or "nothing in it is seen" in error:
            error = _asked([*command, *given], seconds)
    reason = error.replace(str(file), "").removeprefix("bisimdist: error: ").lstrip(": ")
    return kind_of(text), reason


def _asked(command: Sequence[str], seconds: float) -> str:
    """Return what became of a command within so many seconds of a processor, or three times as many."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as answer:
        process = subprocess.Popen(command, stdout=answer, stderr=said)
        most = round(seconds) + 1  # for each of its workers, too
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (most, most))
        clock = threading.Timer(3 * seconds, process.kill)
        clock.start()
        _, status, used = os.wait4(process.pid, 0)
        clock.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode < 0 or used.ru_utime + used.ru_stime > seconds:
            return LATE
        answer.seek(0)
        if process.returncode == 0:
            return BLIND if json.load(answer).get("labels") == 1 else READ
        said.seek(0)
        lines = said.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"ended with {process.returncode}"


def alike(reason: str) -> str:
    """Return a reason without what only one file has: numbers, names in quotes, all after the first clause.

    >>> alike("line 12: there is no 'x'; expected y")
    'there is no …'
    """
    reason = re.sub(r"'[^']*'|\"[^\"]*\"", "…", re.sub(r"^(line|\d+)[ \d:,]*", "", reason))
    return re.sub(r"\d[\d,.]*", "n", reason.partition(";")[0])[:100].strip()


def table(outcomes: Iterable[tuple[str, str]]) -> str:
    """Return the table, and the reasons below it.

    >>> print(table([("dtmc", READ), ("dtmc", BLIND), ("dtmc", "there is no 'x'")]))
    | kind | files | read | of these nothing to observe | in time no answer | refused |
    | --- | --: | --: | --: | --: | --: |
    | dtmc | 3 | 2 | 1 | 0 | 1 |
    <BLANKLINE>
    - dtmc, 1: there is no …
    """
    found = list(outcomes)
    columns = ("kind", "files", "read", "of these nothing to observe", "in time no answer", "refused")
    lines = [f"| {' | '.join(columns)} |", "| --- | --: | --: | --: | --: | --: |"]
    for kind in sorted({kind for kind, _ in found}):
        of_kind = Counter(reason for one, reason in found if one == kind)
        files, blind, late = of_kind.total(), of_kind[BLIND], of_kind[LATE]
        read = of_kind[READ] + blind
        lines.append(f"| {kind} | {files} | {read} | {blind} | {late} | {files - read - late} |")
    reasons = Counter((kind, alike(reason)) for kind, reason in found if reason not in {READ, BLIND, LATE})
    return "\n".join([*lines, "", *(f"- {kind}, {n}: {why}" for (kind, why), n in reasons.most_common())])


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask about every model below the folders, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.published", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=20, help="time for each file")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    files = [file for folder in options.folders for file in folder.rglob("*") if _model(file)]
    with ThreadPoolExecutor(options.jobs) as pool:
        found = pool.map(partial(outcomes, seconds=options.seconds), families(files))
        print(table(one for some in found for one in some))
    return 0


def families(files: Iterable[Path]) -> list[list[Path]]:
    """Return the instances of each model, by size: the numbers in their names.

    >>> [[str(file) for file in some] for some in families(map(Path, ["a.10.jani", "b.jani", "a.9.jani"]))]
    [['a.9.jani', 'a.10.jani'], ['b.jani']]
    """
    made: dict[tuple[Path, str, str], list[Path]] = {}
    for file in sorted(files, key=lambda file: [*map(int, re.findall(r"\d+", file.stem)), 0]):
        made.setdefault((file.parent, file.name.partition(".")[0], file.suffix), []).append(file)
    return [made[key] for key in sorted(made)]


def outcomes(files: Sequence[Path], seconds: float) -> list[tuple[str, str]]:
    """Return the outcomes of the instances of a model."""
    found: list[tuple[str, str]] = []
    for file in files:
        late = len(found) > 1 and {reason for _, reason in found[-2:]} == {LATE}
        found.append((found[-1][0], LATE) if late else outcome(file, seconds))
        print(*found[-1], "(a smaller one is)" if late else "", file, sep="\t", file=sys.stderr, flush=True)
    return found


def _model(file: Path) -> bool:
    return file.suffix in SUFFIXES and file.is_file()


if __name__ == "__main__":
    sys.exit(main())
