"""`explore`: from a function, or a step function, to a Markov chain."""

from __future__ import annotations

import functools
import inspect
import os
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any

from flint import fmpq

from bisimdist.errors import ENDINGS, BisimdistError, LimitError, ModelError, UsageError
from bisimdist.exact.doubles import as_double
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.interruption import deferred
from bisimdist.programs.asking import interactive_of
from bisimdist.programs.chain import Origin, ProgramChain, ProgramInteractive, observed_kinds
from bisimdist.programs.coins import refuse_other_draws
from bisimdist.programs.control import Endless, Failed, Outside, line_within
from bisimdist.programs.exploration import Exploration, cost_of
from bisimdist.programs.freezing import Mutable
from bisimdist.programs.guard import guard
from bisimdist.programs.inputs import Input, Relation, chosen_inputs, neighbour_pairs, pairs_of, relation_of
from bisimdist.programs.instrument import Instrument
from bisimdist.programs.loading import GIVEN, loaded
from bisimdist.programs.machine import Machine
from bisimdist.programs.observed import View, chain_of, cut_masses
from bisimdist.programs.parting import partings
from bisimdist.programs.request import FINER, FIRST_CUT, MOST_STATES, REPLAYS, Request
from bisimdist.programs.sources import Sources
from bisimdist.programs.stepping import explore_steps
from bisimdist.programs.symmetry import Folding
from bisimdist.progress import NEVER, Deadline, Progress, silent

Pairs = Sequence[tuple[str, str]]

DEFAULT_GAP = fmpq(1, 10**9)
"""How much the runs that are cut off may weigh, where a program has too many states and nobody said."""

WHOLE_STATES = 50_000  # a program with more than so many is cut off as soon as the gap allows it

FEW_REPLAYS, FEWEST_REPLAYS = 50, 3
"""As many where a limit has ended the exploration; and for each of many inputs."""

MORE_REPLAYED = 20
"""So many inputs are replayed beside one of each kind, where the order of elements makes no difference."""

WHOLE_WORK = 300_000
"""The same limit for the parts of objects that can be changed, which every state has to copy."""

MOST_WORK = 20_000_000  # the same, where no run may be cut off

UNCLIPPED_SECONDS = 10.0  # so long is it tried to say what a clip costs


def explore(  # noqa: PLR0913
    function: Callable[..., Any] | str | None = None,
    inputs: Iterable[Any] | Mapping[str, Any] = (),
    *,
    observe: str = "output",
    cut: ExactNumber | None = None,
    gap: ExactNumber | None = None,
    alpha: ExactNumber = 1,
    pairs: Sequence[tuple[str, str]] | None = None,
    neighbours: Relation | str | None = None,
    start: Any = None,
    step: Callable[[Any], Mapping[Any, ExactNumber] | None] | None = None,
    label: Callable[[Any], object] | None = None,
    states: int = MOST_STATES,
    replays: int = REPLAYS,
    cost: Mapping[str, int] | None = None,
    arguments: Sequence[object] = (),
    chances: Sequence[str] = (),
    layout: str | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> ProgramChain:
    """Return the Markov chain of a program: of a function with a random source, or of a step function.

    Parameters
    ----------
    function
        The program; its first parameter is the input, a parameter named ``rng`` the random source, all others
        have defaults. A text ``FILE.py:FUNCTION`` names one in a file.
    inputs
        What to run it on; a mapping gives the start states names, which otherwise are the values as Python
        writes them.
    observe
        What is seen beside the returned value: ``"output"`` (nothing), ``"draws"``, ``"bits"``, ``"steps"``
        or ``"trace"``.
    cut
        Paths of less probability are given up; by default none.
    gap, alpha
        Instead: cut as finely as this width of the bounds on delta at alpha needs, where the program has too
        many states.
    pairs
        Pairs of names of inputs; by default the first two inputs.
    neighbours
        Instead: which inputs are pairs: ``"all"``, ``"one"`` (at distance one), ``"FILE.py:NAME"`` or a
        function of two inputs that tells.
    start, step, label
        Instead of a function: a state to start from, or several in a list or a mapping from names; the
        distribution over next states of a state (None or an empty one at an end); what is seen of a state.
    states
        How many places between draws are looked at.
    replays
        Along how many random paths plain Python is compared with what was explored.
    cost
        The steps of a statement by the name of its kind (``{"Assign": 1}``), for ``observe="steps"``; by
        default each counts one.
    arguments, chances, layout
        Of compiled code, which a text ``FILE.wasm:FUNCTION`` names: the arguments behind the input; the
        imports that return uniform bits, such as ``env.rnd64``; how lists lie in memory, such as ``i32``.
    deadline, progress
        When to give up, and who is told.

    Returns
    -------
    ProgramChain
        A chain with a start state for each input.

    Raises
    ------
    ModelError
        If the program is outside the subset: with file, line, what it was, and what to write instead.
    LimitError
        If there are too many states, and nothing says where to cut.
    UsageError
        If the call asks for something that does not exist.

    Examples
    --------
    >>> chain = explore(start=0, step=lambda n: {n + 1: "1/2", 9: "1/2"} if n < 3 else None, label=str)
    >>> len(chain)
    5
    """
    if step is not None:
        return explore_steps(start, step, label or str, pairs=pairs, states=states, deadline=deadline)
    if function is None:
        raise UsageError("expected a function, or start=, step= and label=")
    request = Request(
        observe,
        _number(cut),
        _number(gap),
        to_fmpq(alpha),
        states,
        replays,
        deadline,
        progress,
        arguments=tuple(map(str, arguments)),
        chances=tuple(chances),
        layout=layout,
    )
    found = explored(function, inputs, request, pairs=pairs, neighbours=neighbours, cost=cost)
    if isinstance(found, ProgramInteractive):
        raise UsageError(
            "the function has an analyst, who asks: expected explore_interactive in place of explore"
        )
    return found


def explored(  # noqa: PLR0913
    function: Callable[..., Any] | str,
    inputs: Iterable[Any] | Mapping[str, Any],
    request: Request,
    *,
    pairs: Pairs | None = None,
    neighbours: Relation | str | None = None,
    cost: Mapping[str, int] | None = None,
) -> ProgramChain | ProgramInteractive:
    """Return the model of a program, whichever kind it has; see `explore` and `analyst`.

    What the compiler does not understand is run as it is, over and over (`bisimdist.programs.replay`).
    """
    request.check()
    if isinstance(function, str) and ".wasm:" in function:
        from bisimdist.programs.wasm.door import explored_module  # noqa: PLC0415 - seldom needed

        return explored_module(function, inputs, request, pairs=pairs, neighbours=neighbours)
    if isinstance(function, os.PathLike):
        function = str(function)
    chosen, asked = inputs_and_pairs(inputs, pairs, neighbours)
    whole = isinstance(function, str | FunctionType | functools.partial | BuiltinFunctionType | type)
    if request.grid is None and (whole or hasattr(function, "cache_info") or not callable(function)):
        try:
            return compiled(function, chosen, asked, request, cost)
        except Endless:
            raise
        except ModelError as refusal:
            return _replayed_as_it_is(function, chosen, request, asked, refusal)
    why = "a method or an object is run as it is" if request.grid is None else "it is run to be rounded"
    return _replayed_as_it_is(function, chosen, request, asked, ModelError(why))


def _replayed_as_it_is(
    function: Callable[..., Any] | str,
    inputs: Sequence[Input],
    request: Request,
    pairs: Pairs,
    refusal: ModelError,
) -> ProgramChain:
    from bisimdist.programs.replay.door import replayed  # noqa: PLC0415 - numpy is loaded for it
    from bisimdist.programs.replay.loading import Asks  # noqa: PLC0415

    if request.kinds & {"bits", "steps"} or request.bits:
        raise refusal
    try:
        return replayed(function, inputs, request, pairs, str(refusal.message))
    except Asks:
        raise refusal from None
    except LimitError:
        if request.cuts or request.deadline.passed():
            raise
        raise refusal from None


def compiled(
    function: Callable[..., Any] | str,
    inputs: Sequence[Input],
    pairs: Pairs,
    request: Request,
    cost: Mapping[str, int] | None = None,
) -> ProgramChain | ProgramInteractive:
    """Return the model of a program that the compiler understands."""
    observe = request.observe
    observed_kinds(observe or "output")
    steps = observe is not None and "steps" in observed_kinds(observe)
    if cost is not None and not steps:
        raise UsageError("the cost of steps is given; they are seen with observe='steps' only")
    instrument = Instrument(cost) if steps else None
    found, program, keywords = loaded(function, instrument)
    asked_who = "analyst" in inspect.signature(found).parameters
    request = request.of_analyst() if asked_who else replace(request, observe=observe or "output")
    limit = sys.getrecursionlimit()
    sources = Sources(found, program, instrument)
    machine = Machine(sources, announces="trace" in request.kinds, clips=request.clips)
    try:
        made = _explored(machine, found, keywords, inputs, pairs, request)
    except Failed as failed:
        if isinstance(failed.error, ModelError | UsageError):
            raise failed.error from None
        raise failed.error from failed
    except Outside as outside:
        file, line = _place(outside, machine)
        raise outside.as_error(file or found.__code__.co_filename, line) from None
    finally:
        sys.setrecursionlimit(limit)
    if not machine.clipped or not isinstance(made, ProgramChain):
        return made
    unclipped = functools.partial(_unclipped, function, inputs, request, pairs, cost)
    return replace(made, origin=replace(made.origin, unclipped=unclipped))


def inputs_and_pairs(
    inputs: Iterable[Any] | Mapping[str, Any],
    pairs: Pairs | None = None,
    neighbours: Relation | str | None = None,
) -> tuple[tuple[Input, ...], Pairs]:
    """Return what a program is run on, and the names of the pairs asked about."""
    chosen = chosen_inputs(inputs)
    if neighbours is None:
        return chosen, pairs_of([item.name for item in chosen], pairs)
    if pairs is not None:
        raise UsageError("both pairs and neighbours are given; expected one of them")
    related = relation_of(neighbours) if isinstance(neighbours, str) else neighbours
    return chosen, neighbour_pairs(chosen, related)


def _unclipped(
    function: Callable[..., Any] | str,
    inputs: Sequence[Input],
    request: Request,
    pairs: Pairs,
    cost: Mapping[str, int] | None,
) -> ProgramChain | None:
    """Return the chain of a program without its clips, where it is finite, and does not take long."""
    whole = replace(
        request, clips=False, replays=0, cut=None, gap=None, deadline=Deadline.after(UNCLIPPED_SECONDS)
    )
    try:
        found = compiled(function, inputs, pairs, whole, cost)
    except BisimdistError:
        return None
    return found if isinstance(found, ProgramChain) else None


def _place(outside: Outside, machine: Machine) -> tuple[str, int | None]:
    """Return the file and line that a refusal is about."""
    files = set(machine.sources.digests)
    for error in (outside, outside.__cause__):
        file, line = line_within(None if error is None else error.__traceback__, files)
        if file:
            return file, line
    return machine.place.place(files)


def _number(value: ExactNumber | None) -> fmpq | None:
    return None if value is None else to_fmpq(value)


def _explored(  # noqa: PLR0913, PLR0917
    machine: Machine,
    function: FunctionType,
    keywords: Mapping[str, Any],
    inputs: Sequence[Input],
    pairs: Sequence[tuple[str, str]],
    request: Request,
) -> ProgramChain | ProgramInteractive:
    machine.prepare(function)
    given = {name: GIVEN[name] for name in inspect.signature(function).parameters if name in GIVEN}

    def begun(folding: Folding | None = None) -> Exploration:
        exploration = Exploration(machine, folding)
        for item in inputs:
            exploration.start(item.name, function, [item.make()], {**keywords, **given})
        return exploration

    folded = _folded(machine, begun, inputs, request) if request.orders else None
    exploration = folded or begun()
    ended = folded is None and not expand(exploration, request, pairs)
    if request.bits:
        refuse_other_draws(exploration)
    with deferred() if ended else nullcontext():
        machine.check_globals()
        replays = min(request.replays, FEW_REPLAYS) if ended else request.replays
        chosen = _replayed(exploration, inputs) if folded is not None else inputs
        for item in chosen:
            guard(
                machine,
                item.name,
                functools.partial(function, **keywords),
                lambda item=item: (item.make(),),  # type: ignore[misc]
                runs=max(FEWEST_REPLAYS, replays // len(chosen)) if replays else 0,
                given=given,
            )
        files = dict(sorted(machine.sources.digests.items()))
        parted = pairs if folded is None else ()
        origin = replace(
            origin_of(exploration, function.__qualname__, request.observe or "", files, parted, ended),
            files=files if machine.sources.program is not None else {},
            any_order=folded is not None and bool(folded.orders),
        )
    if "analyst" in given:
        return interactive_of(exploration, request.kinds, pairs, origin, deadline=request.deadline)
    return chain_within(exploration, request, pairs, origin)


def origin_of(  # noqa: PLR0913, PLR0917
    exploration: Exploration, name: str, observe: str, files: Mapping[str, str], pairs: Pairs, ended: bool
) -> Origin:
    """Return what is remembered of a program: files by path with their digests, and where runs part."""
    return Origin(
        name,
        observe,
        {Path(file).name: digest for file, digest in files.items()},
        len(exploration.nodes),
        {pair: partings(exploration, *pair) for pair in pairs[:20]},
        ended,
        files,
        frozenset(exploration.places()),
    )


def _replayed(exploration: Exploration, inputs: Sequence[Input]) -> Sequence[Input]:
    """Return one input of those of which each is proved to lead to the same, and some at random."""
    first: dict[int, Input] = {}
    for item in inputs:
        first.setdefault(exploration.starts[item.name].target, item)
    one = list(first.values())
    names = {item.name for item in one}
    others = [item for item in inputs if item.name not in names]
    return [*one, *random.Random(0).sample(others, min(MORE_REPLAYED, len(others)))]


def _folded(
    machine: Machine, begun: Callable[[Folding], Exploration], inputs: Sequence[Input], request: Request
) -> Exploration | None:
    """Explore all inputs with the elements of loops in one order; None if that may not stand for all."""
    values = [item.make() for item in inputs]
    if request.kinds != {"output"} or not all(isinstance(value, list | tuple) for value in values):
        return None
    try:
        folding = Folding(machine.states, machine.freezer, (element for value in values for element in value))
    except (Mutable, Outside):
        return None
    exploration = begun(folding)
    limits: dict[str, Any] = {"deadline": request.deadline, "progress": request.progress}
    done = exploration.explore(states=min(WHOLE_STATES, request.states), work=WHOLE_WORK, **limits)
    return exploration if done and exploration.orders_agree(request.deadline) else None


def chain_within(
    exploration: Exploration,
    request: Request,
    pairs: Sequence[tuple[str, str]],
    origin: Origin,
    view: View | None = None,
) -> ProgramChain:
    """Return the chain; where that takes too long, of as much as does not."""
    if not origin.ended:
        try:
            return chain_of(
                exploration,
                request.kinds,
                pairs,
                origin,
                beyond=request.beyond,
                deadline=request.deadline,
                progress=request.progress,
                view=view,
            )
        except ENDINGS:
            if not request.cuts:
                raise
    exploration.forget(cost_of(request.unseen))
    ended = replace(origin, ended=True)
    with deferred():
        while True:
            try:
                return chain_of(
                    exploration,
                    request.kinds,
                    pairs,
                    ended,
                    beyond=request.beyond,
                    deadline=Deadline.after(request.closing),
                    view=view,
                )
            except LimitError:
                exploration.forget()


def expand(exploration: Exploration, request: Request, pairs: Sequence[tuple[str, str]]) -> bool:
    """Expand the graph as far as the cut, the gap or the number of states say; tell whether that was done.

    Raises LimitError if it was not, and runs may not be cut off.
    """
    if not request.cuts:
        limits: dict[str, Any] = {"deadline": request.deadline, "progress": request.progress}
        if not exploration.explore(states=request.states, work=MOST_WORK, **limits):
            raise LimitError(
                f"the program has more than {request.states} states, or as many as hold {MOST_WORK} objects; "
                "say where to cut with cut=, as in 1e-12"
            )
        return True
    try:
        return _expanded(exploration, request, pairs)
    except ENDINGS:
        exploration.mend()
        return False


def _expanded(exploration: Exploration, request: Request, pairs: Sequence[tuple[str, str]]) -> bool:
    limits: dict[str, Any] = {"deadline": request.deadline, "progress": request.progress}
    if request.cut is not None:
        cut = as_double(request.cut) if request.cut else None
        return exploration.explore(cut=cut, states=request.states, **limits)
    whole = min(WHOLE_STATES, request.states)
    if exploration.explore(states=whole, work=WHOLE_WORK, **limits):
        return True
    cut = FIRST_CUT * request.width
    while True:
        done = exploration.explore(cut=cut, states=request.states, **limits)
        if exploration.closed:
            return True
        masses = cut_masses(exploration, cost_of(cut), **limits)
        if request.gap is not None and _width(masses, pairs, request.alpha) <= request.gap:
            exploration.forget(cost_of(cut))
            return True
        if not done:
            return False
        cut /= FINER


def _width(masses: Mapping[str, fmpq], pairs: Sequence[tuple[str, str]], alpha: fmpq) -> fmpq:
    """Return how far apart cuts keep the bounds on delta, at most."""
    used: Sequence[tuple[str, str]] = pairs or [(name, name) for name in masses]
    return max(max(masses[s], masses[t]) * (2 + alpha) for s, t in used)
