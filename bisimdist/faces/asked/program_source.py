"""``FILE.py:FUNCTION`` as a model: what its options say, and the chain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.options import (
    ALLOW,
    ALPHA,
    ARGUMENTS,
    CHANCES,
    COINS,
    COMPILED_OPTIONS,
    COST,
    CUT,
    EPSILON,
    GAP,
    INPUT,
    LAYOUT,
    NEIGHBOURS,
    OBSERVE,
    PAIR,
    PROGRAM_OPTIONS,
    ROUND,
    TIMEOUT,
)
from bisimdist.faces.asked.reading_options import AGAINST, READING_OPTIONS

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.faces.asked.given import Given
    from bisimdist.models.intervals import IntervalChain
    from bisimdist.programs.chain import ProgramChain, ProgramInteractive

PART_OF_TIME = 0.6  # how much of the time goes into the exploration, at most

_PROGRAM = re.compile(r"(?P<file>.+\.py):[^\W\d]\w*|(?P<module>.+\.wasm):[^:]+", re.DOTALL)


def is_program(argument: str) -> bool:
    """Tell whether an argument has the form ``FILE.py:FUNCTION`` or ``FILE.wasm:FUNCTION``."""
    return _PROGRAM.fullmatch(argument) is not None and not argument.startswith("example:")


def program_file(argument: str) -> str:
    """Return the file of ``FILE.py:FUNCTION`` or ``FILE.wasm:FUNCTION``."""
    found = _PROGRAM.fullmatch(argument)
    return (found["file"] or found["module"]) if found else argument


def refuse_other_kind(given: Given, name: str) -> None:
    """Refuse options of compiled code for a function in Python, and the other way round.

    Raises UsageError if there are any.
    """
    compiled = program_file(name).endswith(".wasm")
    for option in (COST, COINS) if compiled else COMPILED_OPTIONS:
        if given.values.get(option.name):
            kind = "FILE.py:FUNCTION" if compiled else "FILE.wasm:FUNCTION"
            raise UsageError(f"{option.flag} is for {kind}; {name[:60]} is none")


def refuse_program_options(given: Given, refused: Sequence[Option[Any]] = PROGRAM_OPTIONS) -> None:
    """Refuse options of programs for other models."""
    for option in refused:
        value = given.values.get(option.name)
        if value and (option, value) not in {(OBSERVE, "time"), (OBSERVE, "ticks")}:
            raise UsageError(
                f"{option.flag} is for programs; expected FILE.py:FUNCTION, not {given.argument[:60]}"
            )


def refuse_reading_options(given: Given) -> None:
    """Refuse options of files of models for programs."""
    for option in READING_OPTIONS:
        value = given.values.get(option.name, option.default)
        if option is not AGAINST and value not in (option.default, None, ()):
            raise UsageError(f"{option.flag} is for files of models; {given.argument[:60]} names a program")


def program_model(  # noqa: PLR0913
    given: Given,
    *,
    cuts: bool = True,
    inputs: Sequence[str] = (),
    neighbours: str | None = None,
    half: tuple[int, str] | None = None,
    orders: bool = False,
    bits: bool = False,
    grid: fmpq | None = None,
) -> ProgramChain | ProgramInteractive:
    """Return the chain of the program that was named; an interactive model where it asks an analyst.

    ``cuts``: whether runs may be cut off.
    ``inputs``, ``neighbours``: the inputs and which of them are pairs, instead of what the options say.
    ``half``: the number and the name of the program, if it is one of two models that are held against each
        other: every input that is compared is a pair with itself then.
    ``orders``: whether to explore inputs that differ in the order of elements once, where that makes no
        difference.
    ``bits``: whether only fair bits may be drawn, and draws are seen, whatever the options say.
    ``grid``: what is released is rounded to multiples of it, instead of the first that the options name.
    """
    from flint import fmpq

    from bisimdist.programs.front import DEFAULT_GAP, explored
    from bisimdist.programs.inputs import literal_inputs
    from bisimdist.programs.request import Request
    from bisimdist.progress import Deadline

    if given[COINS] is not None and not bits:
        raise UsageError("--coins is about one program at a time, and its inputs")
    chosen = given[INPUT]
    named: Sequence[str] = inputs or chosen
    if not named:
        raise UsageError("no --input was given; say what the program is run on, such as --input 0 --input 1")
    cut, costs = given[CUT], given[COST]
    if cut and not cuts:
        raise UsageError(
            "--cut is for questions about delta and leakages; this one takes whole programs only"
        )
    gap = given[GAP] if GAP.name in given.values else None
    seconds = given[TIMEOUT]
    grids = given[ROUND] if ROUND.name in given.values else ()
    part = fmpq(1, 2) * (DEFAULT_GAP if gap is None else gap)
    name = given.argument if half is None else half[1]
    refuse_other_kind(given, name)
    request = Request(
        "draws" if bits else given[OBSERVE],
        cut,
        part if cuts and cut is None and part else None,
        _alpha(given),
        deadline=Deadline.after(None if seconds is None else PART_OF_TIME * seconds / max(1, len(grids))),
        bits=bits,
        patient=gap is not None,
        grid=next(iter(grids), None) if grid is None else grid,
        allowed=frozenset(given[ALLOW]),
        orders=orders,
        arguments=tuple(given[ARGUMENTS]),
        chances=tuple(given[CHANCES]),
        layout=given[LAYOUT],
    )
    pairs = (given[PAIR] or None) if PAIR.name in given.values else None
    if half is not None:
        if given[NEIGHBOURS]:
            raise UsageError("--neighbours is for one program; --against compares the same inputs of two")
        pairs = tuple((pair[half[0]],) * 2 for pair in pairs or zip(named, named, strict=True))
    return explored(
        name,
        literal_inputs(named),
        request,
        pairs=pairs,
        neighbours=neighbours or given[NEIGHBOURS],
        cost=_costs(costs),
    )


def coined_model(given: Given, gain: fmpq) -> IntervalChain:
    """Return the chains in which every bit of the program that was named is bent by up to a gain."""
    from bisimdist.programs.chain import ProgramChain
    from bisimdist.programs.coins import bent

    observed = given[OBSERVE] or "output"
    if observed not in {"output", "draws"}:
        raise UsageError(
            f"--coins: an observer can see the output, or with 'draws' that bits are drawn; not {observed!r}"
        )
    if given[CUT]:
        raise UsageError("--coins takes whole programs; --cut gives runs up")
    chain = program_model(given, cuts=False, bits=True)
    if not isinstance(chain, ProgramChain):
        raise UsageError("--coins needs a program without an analyst")
    return bent(chain, gain, seen=observed == "draws")


def _costs(texts: Sequence[str]) -> dict[str, int] | None:
    """Return the steps of kinds of statements, of texts such as ``Assign=2``."""
    costs = {}
    for text in texts:
        kind, _, number = text.partition("=")
        if not number.isdecimal():
            raise UsageError(f"--cost {text[:60]}: expected KIND=N, such as Assign=2")
        costs[kind] = int(number)
    return costs or None


def _alpha(given: Given) -> fmpq:
    """Return alpha, or a little more than epsilon stands for."""
    from flint import fmpq

    from bisimdist.exact.logarithm import alpha_above

    alpha, epsilon = (given[option] if option.name in given.values else None for option in (ALPHA, EPSILON))
    if alpha is not None:
        return alpha
    return fmpq(1 if epsilon is None else alpha_above(epsilon))
