"""What a certificate says of the program that its model was made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import shown


def allows_for_cuts(document: Mapping[str, object]) -> bool:
    """Tell whether all that is claimed of a program allows for its runs that are cut off."""
    model, parts = document.get("model"), _parts(document)
    states = model.get("states") if isinstance(model, dict) else None
    if not isinstance(states, dict) or "cut" not in all_of(states.values()):
        return True
    first = {str(part["steps"][0]["name"]) if part["steps"] else "" for part in counted(parts)}
    return first == {"cut"}


def origin_of(
    document: Mapping[str, object], claims: Iterable[Mapping[str, object]]
) -> Mapping[str, object] | None:
    """Return what is said of the program, with the masses that are cut off where claims begin."""
    program = document["program"]
    if not isinstance(program, dict):
        return None
    steps = (step for part in counted(_parts(document)) for step in counted(part["steps"]))
    masses = {name: p for step in counted(steps) for name, p in counted(step.get("cut", {}).items())}
    ends = {str(claim.get(end)) for claim in counted(claims) for end in ("from", "to")}
    return {**program, "cut": {name: masses[name] for name in counted(sorted(all_of(ends & masses.keys())))}}


def _parts(document: Mapping[str, object]) -> list[dict[str, list[dict[str, dict[str, object]]]]]:
    parts = document.get("reduced")
    return parts if isinstance(parts, list) else []


def origin(program: Mapping[str, Any]) -> Iterator[str]:
    """Say of which program a model was made, and how likely its runs are cut off."""
    files = ", ".join(
        f"{shown(file)} ({ascii(digest)[1:-1]})" for file, digest in counted(program["sources"].items())
    )
    yield f"program: function {shown(program['function'])} of {files}, seen: {shown(program['observe'])}"
    for name, said in counted(program.get("replay", {}).items()):
        yield f"run as it is, {name}: {shown(said)}"
    for name, mass in counted(program["cut"].items()):
        yield f"cut off: runs from {shown(name)} with a probability of at most {shown(mass)}"
