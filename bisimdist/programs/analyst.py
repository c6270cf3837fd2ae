"""Programs that ask an analyst: their interactive models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.programs.chain import ProgramInteractive
from bisimdist.programs.front import Pairs, explored
from bisimdist.programs.inputs import Relation
from bisimdist.programs.request import MOST_STATES, REPLAYS, Request
from bisimdist.progress import NEVER, Deadline, Progress, silent


def explore_interactive(  # noqa: PLR0913
    function: Callable[..., Any] | str,
    inputs: Iterable[Any] | Mapping[str, Any],
    *,
    observe: str = "trace",
    pairs: Pairs | None = None,
    neighbours: Relation | str | None = None,
    states: int = MOST_STATES,
    replays: int = REPLAYS,
    cost: Mapping[str, int] | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> ProgramInteractive:
    """Return the interactive model of a program whose parameter ``analyst`` chooses the queries.

    Every ``analyst.choose([...])`` is a question, whose options are actions; the analyst sees what the
    program tells it by ``analyst.tell`` (or announces by ``observe``), and what it returns. Options that are
    pairs of neighbouring queries, of which the program takes the one of its input, make adjacency adaptive.

    Parameters
    ----------
    function, inputs, observe, pairs, neighbours, states, replays, cost, deadline, progress
        As for `explore`; it is explored as a whole.

    Returns
    -------
    ProgramInteractive
        The model.

    Raises
    ------
    ModelError
        If the program is outside the subset, or shows more and more without being asked.
    LimitError
        If there are too many states.
    UsageError
        If it has no parameter ``analyst``.

    Examples
    --------
    >>> import bisimdist
    >>> from bisimdist.models.library.programs.asked import asked_responses
    >>> model = bisimdist.programs.explore_interactive(asked_responses, [0, 1])
    >>> bisimdist.delta(model, 2, rounds=1).upper
    1/4
    """
    request = Request(observe, None, None, fmpq(1), states, replays, deadline, progress)
    found = explored(function, inputs, request, pairs=pairs, neighbours=neighbours, cost=cost)
    if not isinstance(found, ProgramInteractive):
        raise UsageError(
            "the function has no parameter named analyst, so it asks nothing; explore makes a chain of it"
        )
    return found
