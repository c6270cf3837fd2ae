"""What answers about traces say of the ends of runs."""

from __future__ import annotations

from bisimdist.models.ends import Completed


def ends_data(completed: Completed) -> dict[str, object]:
    """Return the fields of the JSON object: what is seen, the action that shows it, is mass missing."""
    return {"ends": completed.ends.value, "end": completed.symbol, "missing_mass": completed.missing}


def ends_remarks(completed: Completed) -> tuple[str, ...]:
    """Return what a person has to know, where there is something."""
    return (completed.remark,) if completed.remark else ()
