"""From a Python function as it is to the same chain that the compiler makes."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

from flint import fmpq, fmpz

from bisimdist.errors import ENDINGS, LimitError, UsageError
from bisimdist.exact.doubles import as_double
from bisimdist.interruption import asked_to_stop, deferred
from bisimdist.programs.chain import CUT, START, Origin, ProgramChain, Replayed
from bisimdist.programs.control import Outside
from bisimdist.programs.exploration import cost_of
from bisimdist.programs.inputs import Input
from bisimdist.programs.observed import SHORT_BITS
from bisimdist.programs.ratios import MOST_LISTED
from bisimdist.programs.replay.bulk import classes_of
from bisimdist.programs.replay.catching import caught
from bisimdist.programs.replay.grid import rounded
from bisimdist.programs.replay.guard import Sample, Watchman, places_of
from bisimdist.programs.replay.loading import Loaded, bound_call, imported
from bisimdist.programs.replay.many import forget
from bisimdist.programs.replay.numpy_sources import ASSUMED
from bisimdist.programs.replay.region import asked
from bisimdist.programs.replay.released import Leaf
from bisimdist.programs.replay.search import End, Search
from bisimdist.programs.request import Request
from bisimdist.programs.texts import labels_of, same_text, typed_text

Seen = tuple[str, ...]
Only = dict[tuple[str, str], tuple[str, ...]]

DEEPEST = 150.0
"""Runs that cost more bits are not looked at, unless somebody asks for them."""

WHOLE, MOST, TURN = 20_000, 40_000, 4_000
"""Steps for each input: as many at first, at most without a given gap, and at a time."""

PER_REPLAY = 10
"""For each path along which a compiled program is compared, so many runs are repeated in another process."""

MOST_OUTPUTS = 4_000
"""Beyond so many outputs those that tell as much are one state."""


def replayed(
    function: Callable[..., Any] | str,
    inputs: Sequence[Input],
    request: Request,
    pairs: Sequence[tuple[str, str]],
    why: str,
) -> ProgramChain:
    """Return the chain of a program by running it.

    function: the program, as for `bisimdist.explore`.
    inputs, pairs: what it is run on, and which of these are pairs.
    Raises ModelError if it does something that is not a function of its input and its draws.
    Raises LimitError if it has too many runs, and none may be cut off.
    """
    refused = sorted(request.kinds & {"bits", "steps"})
    if refused or request.bits:
        raise UsageError(f"{(refused or ['bits'])[0]} are seen of compiled programs only ({why})")
    ASSUMED.clear()
    watchman = Watchman.hired(function, request)
    try:
        with caught(request.allowed) as work, imported(function, work) as program:
            try:
                return _explored(program, inputs, request, pairs, why, watchman)
            except Outside as outside:
                raise outside.as_error(next(iter(program.files), ""), None) from None
    finally:
        forget()
        watchman.dismiss()


def _explored(  # noqa: PLR0913, PLR0917
    program: Loaded,
    inputs: Sequence[Input],
    request: Request,
    pairs: Sequence[tuple[str, str]],
    why: str,
    watchman: Watchman,
) -> ProgramChain:
    call = bound_call(program.function)
    searches = {
        item.name: Search(
            lambda item=item: call(item.make()),  # type: ignore[misc]
            None if request.grid is None else rounded(request.grid),
            draws="draws" in request.kinds,
            trace="trace" in request.kinds,
            alike=typed_text if "type" in request.kinds else same_text,
        )
        for item in inputs
    }
    ended = not _finished(searches, request, pairs)
    with deferred():
        hurried = request.deadline.passed() or asked_to_stop()
        samples = _samples(searches, request, hurried=hurried)
        places = places_of(call, inputs, samples, set(program.files), pairs)
        checked = watchman.check(call, inputs, samples, request)
        versions = program.versions
        origin = Origin(
            getattr(program.function, "__qualname__", type(program.function).__name__),
            request.observe or "output",
            {Path(file).name: digest for file, digest in sorted(program.files.items())},
            sum(search.replays for search in searches.values()),
            places.partings,
            ended,
            dict(program.files) if isinstance(watchman.function, str) else {},
            frozenset(places.drawn),
            replayed=Replayed(
                why,
                sum(search.replays for search in searches.values()),
                checked,
                versions,
                _digest(searches),
                tuple(f"{name} has the law that it is meant to have" for name in sorted(ASSUMED)),
            ),
        )
        return _chain(searches, origin, pairs)


def _finished(searches: Mapping[str, Search], request: Request, pairs: Sequence[tuple[str, str]]) -> bool:
    """Look at runs until all are known, or as many as the request asks for; tell whether that is so."""
    limits: dict[str, Any] = {"deadline": request.deadline, "progress": request.progress, "most": DEEPEST}
    if request.cut is not None:
        limits["most"] = cost_of(as_double(request.cut)) if request.cut else inf
    taken = 0
    try:
        while True:
            step = WHOLE if taken == 0 and not request.cut else TURN
            for search in searches.values():
                search.work(step, **limits)
            taken += step
            missing = {name: search.missing for name, search in searches.items()}
            if request.gap is not None and _width(missing, pairs, request.alpha) <= request.gap:
                return True
            if all(search.below(limits["most"]) for search in searches.values()):
                if request.cut is not None:
                    return True
                break
            if taken >= request.states or (taken >= MOST and not request.patient):
                break
    except ENDINGS:
        if not request.cuts:
            raise
        return False
    whole = not any(search.missing for search in searches.values())
    if not whole and not request.cuts:
        raise LimitError(
            f"the program has more runs than {taken}, or some that are not told apart; say where to cut with "
            "cut=, as in 1e-12"
        )
    return whole


def _width(masses: Mapping[str, fmpq], pairs: Sequence[tuple[str, str]], alpha: fmpq) -> fmpq:
    used: Sequence[tuple[str, str]] = pairs or [(name, name) for name in masses]
    return max(max(masses[s], masses[t]) * (2 + alpha) for s, t in used)


def _samples(searches: Mapping[str, Search], request: Request, *, hurried: bool) -> list[Sample]:
    """Return runs with single draws, and what they end with: the most probable ways first, then at random."""
    wanted = PER_REPLAY * (request.replays // 20 if hurried else request.replays)
    chooser = random.Random(0)
    found: list[Sample] = []
    for name, search in searches.items():
        leaves = search.leaves
        if not leaves or not wanted:
            continue
        share = max(1, wanted // len(searches))
        weights = [as_double(leaf.mass()) for leaf in leaves]
        picked = [
            *leaves[: share // 2],
            *chooser.choices(leaves, weights, k=max(share - len(leaves), share // 2)),
        ]
        for leaf in picked[:share]:
            answers = leaf.region.single(leaf.laws, chooser)
            end = _end(leaf, answers)
            if end is not None:
                found.append((name, asked(leaf.laws, answers), end[-1][1]))
    return found


def _end(leaf: Leaf, answers: Sequence[int]) -> End | None:
    """Return what a run ends with; None where a draw has no single value."""
    try:
        return leaf.released.end(answers, answers)
    except TypeError:
        return None


def _digest(searches: Mapping[str, Search]) -> str:
    """Return a digest of all outputs and their probabilities: another libm or numpy has another one."""
    text = "\n".join(
        f"{name} {end} {mass}"
        for name, search in searches.items()
        for end, mass in sorted(search.ends.items(), key=repr)
    )
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _shown(searches: Mapping[str, Search]) -> tuple[dict[str, dict[Seen, fmpq]], dict[str, Any]]:
    """Return by input what is seen with which probability, and facts about merged outputs."""
    laws = {name: search.ends for name, search in searches.items()}
    known: dict[str, Any] = {"floats": any(search.floats for search in searches.values())}
    classes = None
    if any(search.bulks for search in searches.values()):
        numbers = {
            name: {number: mass for end, mass in law.items() if (number := _number(end)) is not None}
            for name, law in laws.items()
        }
        classes = classes_of({name: search.bulks for name, search in searches.items()}, numbers)
        laws = {
            name: {end: p for end, p in law.items() if _number(end) is None} for name, law in laws.items()
        }
    shown = labels_of(end[-1] for law in laws.values() for end in law)
    found = {
        name: _added(((*end[:-1], shown[end[-1]]), mass) for end, mass in law.items())
        for name, law in laws.items()
    }
    if classes is not None:
        for name, law in found.items():
            law.update({(label,): mass for label, mass in classes.laws[name].items()})
        return found, {**known, "counted": classes.counted, "only": classes.only}
    merged, counted, only = _merged(found)
    return merged, {**known, "counted": counted, "only": only}


def _number(end: End) -> float | None:
    """Return the number that a run ends with, if it ends with one, and nothing else is seen."""
    try:
        return float(Fraction(end[-1][1])) if len(end) == 1 else None
    except (ValueError, OverflowError):
        return float(end[-1][1]) if end[-1][1] in {"inf", "-inf"} else None


def _chain(searches: Mapping[str, Search], origin: Origin, pairs: Sequence[tuple[str, str]]) -> ProgramChain:
    """Return the chain that shows what is seen of runs, one after another."""
    laws = searches
    found, known = _shown(searches)
    names: list[str] = list(laws)
    labels: list[str] = [START] * len(names)
    rows: list[dict[int, fmpq]] = [{} for _ in names]
    place: dict[Any, int] = {}
    cut: dict[int, fmpq] = {}

    def state(key: Any, name: str, label: str) -> int:
        if key not in place:
            place[key] = len(names)
            names.append(name)
            labels.append(label)
            rows.append({})
        return place[key]

    for start, (name, law) in enumerate(found.items()):
        missing = 1 - sum(law.values(), fmpq(0))
        before: dict[tuple[str, ...], int] = {(): start}
        reached: dict[Seen, fmpq] = {(): fmpq(1)}
        for seen, mass in law.items():
            for k in range(1, len(seen)):
                prefix = seen[:k]
                reached[prefix] = reached.get(prefix, fmpq(0)) + mass
                if prefix not in before:
                    before[prefix] = state((name, prefix), f"{prefix[-1]} #{len(names)}", prefix[-1])
        for seen, mass in law.items():
            path = [seen[:k] for k in range(len(seen))]
            for one, two in pairwise(path):
                rows[before[one]][before[two]] = reached[two] / reached[one]
            text = seen[-1]
            said = text if text.startswith("raise ") else f"return {text}"
            last = state(("end", text), said, text)
            rows[last] = {last: fmpq(1)}
            row = rows[before[seen[:-1]]]
            row[last] = row.get(last, fmpq(0)) + mass / reached[seen[:-1]]
        if missing:
            rows[start], missing = _shortened(rows[start])
            end = state("cut", CUT, CUT)
            rows[end] = {end: fmpq(1)}
            rows[start][end] = missing
            cut[start], cut[end] = missing, fmpq(1)
    kept = replace(origin.replayed or Replayed(""), **known)
    return ProgramChain(
        tuple(_unique(names)),
        tuple(labels),
        tuple(tuple(sorted(row.items())) for row in rows),
        tuple((list(laws).index(s), list(laws).index(t)) for s, t in pairs),
        replace(origin, replayed=kept),
        cut,
    )


def _added(parts: Any) -> dict[Seen, fmpq]:
    made: dict[Seen, fmpq] = {}
    for key, mass in parts:
        made[key] = made.get(key, fmpq(0)) + mass
    return made


def _merged(laws: Mapping[str, dict[Seen, fmpq]]) -> tuple[dict[str, dict[Seen, fmpq]], dict[str, int], Only]:
    """Merge outputs whose probabilities from all inputs are in proportion, if there are very many."""
    every = dict.fromkeys(end for law in laws.values() for end in law)
    if len(every) <= MOST_OUTPUTS or any(len(end) > 1 for end in every):
        return dict(laws), {}, {}
    groups: dict[tuple[fmpq, ...], list[Seen]] = {}
    zero = fmpq(0)
    for end in every:
        vector = [law.get(end, zero) for law in laws.values()]
        total = sum(vector, zero)
        groups.setdefault(tuple(p / total for p in vector), []).append(end)
    made: dict[str, dict[Seen, fmpq]] = {name: {} for name in laws}
    for ends in groups.values():
        label = (ends[0][0] if len(ends) == 1 else f"{ends[0][0]} and {len(ends) - 1} more",)
        for name, law in laws.items():
            mass = sum((law.get(end, zero) for end in ends), zero)
            if mass:
                made[name][label] = mass
    only = {
        (one, other): tuple(end[0] for end in laws[one] if end not in laws[other])[:MOST_LISTED]
        for one in laws
        for other in laws
        if one != other
    }
    return made, {name: len(law) for name, law in laws.items()}, only


def _shortened(row: Mapping[int, fmpq]) -> tuple[dict[int, fmpq], fmpq]:
    """Round long probabilities down where runs are cut off anyway; return what is cut off as well."""
    made = dict(row)
    if any(p.q.bit_length() > SHORT_BITS for p in row.values()):
        scale = fmpz(1) << SHORT_BITS
        made = {target: fmpq((p * scale).floor(), scale) for target, p in row.items()}
        made = {target: p for target, p in made.items() if p}
    return made, 1 - sum(made.values(), fmpq(0))


def _unique(names: Sequence[str]) -> list[str]:
    seen: set[str] = set()
    made = []
    for name in names:
        unique = name
        while unique in seen:
            unique += "'"
        seen.add(unique)
        made.append(unique)
    return made
