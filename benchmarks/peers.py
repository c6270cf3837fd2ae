"""Programs of others that compute bisimilarity distances, on the chains that they were published with.

Other programs are run where they are found by name, and are said to be missing otherwise.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from flint import fmpq

from benchmarks.machine import DATA
from benchmarks.tables import NOT_INSTALLED, Size, Table, fine_seconds
from benchmarks.timing import Clock, run_apart
from bisimdist import LMC, Deadline, bound
from bisimdist.checker import check_certificate
from bisimdist.exact.doubles import as_double

__all__ = ["peer_tables", "read_chain"]

CHAINS = DATA / "peers"

BDSOLVER = "bdsolver"
JAVA = "york-distances"
"""Takes a file and prints ``S <-> T DISTANCE`` as bdsolver does: policy iteration of York University."""

STATE = re.compile(r"(\d+) (\w+)")
STEP = re.compile(r"(\d+) -> (\d+) (\d+)/(\d+)")
FOUND = re.compile(r"(\d+) <-> (\d+) (\S+)")

PUBLISHED: dict[str, tuple[str, str]] = {
    "10-30states_3labels_3bf-1/3labels_14states_3bf": ("-", "0.00"),
    "10-30states_3labels_3bf-1/3labels_20states_3bf": ("-", "0.68"),
    "10-30states_3labels_3bf-1/3labels_24states_3bf": ("-", "620"),
    "10-30states_3labels_3bf-1/3labels_28states_3bf": ("-", "937"),
    "10-30states_3labels_3bf-1/3labels_30states_3bf": ("-", "failed after 2686"),
    "10-30states_3labels_3bf-2/3labels_12states_3bf": ("-", "32.6"),
    "10-30states_3labels_3bf-2/3labels_30states_3bf": ("-", "failed after 1408"),
    "10-30states_3labels_3bf-3/3labels_16states_3bf": ("failed after 38142", "-"),
    "10-30states_3labels_3bf-3/3labels_26states_3bf": ("35.8", "failed after 967"),
    "100-500states_3labels_2bf-1/3labels_100states_2bf": ("0.29", "0.34"),
    "100-500states_3labels_2bf-1/3labels_200states_2bf": ("3.10", "3.24"),
    "100-500states_3labels_2bf-1/3labels_300states_2bf": ("13.6", "13.8"),
    "100-500states_3labels_2bf-1/3labels_500states_2bf": ("102", "101"),
    "1000states_3labels_2bf-1/3labels_1000states_2bf": ("1929", "1943"),
    "1500states_3labels_2bf-1/3labels_1500states_2bf": ("10607", "10733"),
}
"""User seconds by files in bdsolver's repository: with its own transportation solver, and with CPLEX."""

EXACT = 300
"""Larger chains are asked for a bracket of 1e-9."""

LARGEST = {JAVA: 20}
"""The Java program takes memory with the fourth power of the states, and minutes from 24 states on."""

COLUMNS = (
    *("chain", "published s", "with CPLEX s", f"`{BDSOLVER}` here s", "its errors", f"`{JAVA}` here s"),
    *("its errors", "asked", "ours s", "checking s"),
)

Distances = dict[tuple[int, int], float]


def read_chain(path: Path) -> LMC:
    """Read a chain as bdsolver writes it; asked are all pairs of one label."""
    labels: dict[str, str] = {}
    rows: dict[str, dict[str, fmpq]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if step := STEP.fullmatch(line.strip()):
            source, target, above, below = step.groups()
            rows.setdefault(source, {})[target] = fmpq(int(above), int(below))
        elif state := STATE.fullmatch(line.strip()):
            labels[state[1]] = state[2]
    alike = [(s, t) for s, t in combinations(labels, 2) if labels[s] == labels[t]]
    return LMC.from_mappings(labels, rows, alike)


def peer_tables(size: Size) -> Iterator[Table]:
    """Other programs for bisimilarity distances, on the chains of their own experiments."""
    names = [name for name in PUBLISHED if _states(name) <= size.pick(100, 1000, 1500)]
    limit = size.pick(2.0, 8.0, 600.0)
    table = Table(
        "Programs of others on the chains of bdsolver, alpha = 1, all pairs of one label: seconds",
        COLUMNS,
        (
            "Published: user time on its authors' machine of 2015, which they do not name. Here: CPU "
            f"seconds of whole processes, at most {limit:g} s each. Errors: pairs of one label whose "
            "distance is off by more than 1e-6 of what we prove. Ours: CPU seconds without loading the "
            f"interpreter and machine code, exact up to {EXACT} states, else a bracket of 1e-9; checking: of "
            "the certificate, by the independent checker.",
        ),
    )
    for name in names[:: size.pick(3, 1, 1)]:
        path, title = CHAINS / f"{name}.lmc", f"{name.partition('/')[0]}, {_states(name)} states"
        if not path.exists():
            table.add(title, *PUBLISHED[name], f"no file {path.name}", *["-"] * (len(COLUMNS) - 4))
            continue
        ours = run_apart(_ours, path, limit=300, rest=300)
        exact = ours[1] if ours else {}
        cells = [cell for tool in (BDSOLVER, JAVA) for cell in _run(tool, path, exact, limit)]
        table.add(title, *PUBLISHED[name], *cells, *(ours[0] if ours else ["-", "not in time", "-"]))
    yield table


def _states(name: str) -> int:
    return int(re.findall(r"_(\d+)states", name)[0])


def _ours(path: Path) -> Iterator[tuple[list[str], Distances]]:
    """Yield our cells, and the distances by numbers of states."""
    chain = read_chain(path)
    for precision in (None, "1e-9"):  # machine code is loaded
        bound(chain, 1, pairs=list(combinations(chain.states[:12], 2)), precision=precision)
    pairs = [(chain.states[s], chain.states[t]) for s, t in chain.pairs]
    precision = None if len(chain) <= EXACT else "1e-9"
    clock = Clock.start()
    answer = bound(chain, 1, pairs=pairs, precision=precision, deadline=Deadline.after(300))
    spent = clock.spent().cpu
    found = {
        (int(s), int(t)): as_double(pair.upper) for (s, t), pair in zip(pairs, answer.pairs, strict=True)
    }
    cells = ["exact" if precision is None else precision, fine_seconds(spent)]
    yield [*cells, "-"], found
    certificate = b"".join(answer.compact_certificate())
    clock = Clock.start()
    valid = check_certificate(certificate).valid
    yield [*cells, fine_seconds(clock.spent().cpu) if valid else "REJECTED"], found


def _run(tool: str, path: Path, known: Distances, limit: float) -> list[str]:
    """Return the CPU seconds that another program takes, and how many of its distances are wrong."""
    program = shutil.which(tool)
    if program is None:
        return [NOT_INSTALLED, "-"]
    if _states(path.stem) > LARGEST.get(tool, 10**6):
        return ["too large", "-"]
    clock = Clock.start()
    try:
        ended = subprocess.run(
            [program, str(path)], capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return [f"> {limit:g}", "-"]
    if ended.returncode:
        return [f"failed after {fine_seconds(clock.spent().cpu)}", "-"]
    spent = clock.spent().cpu
    found = {(int(s), int(t)): float(d) for s, t, d in FOUND.findall(ended.stdout)}
    wrong = sum(not abs(d - known[pair]) <= 1e-6 for pair, d in found.items() if pair in known)
    return [fine_seconds(spent), f"{wrong} of {len(found)}"]
