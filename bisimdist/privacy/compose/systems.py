"""Models and programs as mechanisms: the law of the privacy loss of a pair of states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flint import fmpq

from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.models.conversions import observed_chain
from bisimdist.models.kinds import AnyModel
from bisimdist.models.lmc import LMC
from bisimdist.privacy.compose.engine import atoms
from bisimdist.privacy.compose.engine.laws import Atoms
from bisimdist.privacy.engine.losses import exact_losses
from bisimdist.privacy.profile.ask import profile
from bisimdist.reductions.chain import beside, straight

EXAMPLE = "example:"
POINTS = 65


System = tuple[dict[str, Any], Atoms, bool]
"""The chain, the pair, and how much of its runs is cut off, as plain data; the law, or one that dominates it;
whether it is the law."""


def losses_of_model(given: dict[str, Any], read: Callable[[str], str]) -> System:
    """Return the losses of ``model`` (a model, a file or an example) and ``pair``."""
    named = given.pop("model")
    pair = given.pop("pair", None)
    _nothing_else(given, "model and pair")
    return _losses(_model(named, read), pair)


def _model(named: Any, read: Callable[[str], str]) -> LMC:
    if isinstance(named, AnyModel):
        return observed_chain(named)
    if not isinstance(named, str):
        raise UsageError("model: expected a file, such as chain.yaml, or an example")
    if named.startswith(EXAMPLE):
        from bisimdist.models.library.registry import build_any_example  # noqa: PLC0415  (few lists name one)

        return observed_chain(build_any_example(named.removeprefix(EXAMPLE)))
    from bisimdist.models.io import load_model  # noqa: PLC0415  (few lists name one)

    return observed_chain(load_model(read(named)))


def losses_of_program(given: dict[str, Any], read: Callable[[str], str]) -> System:
    """Return the losses of ``program`` (a function, or ``FILE.py:FUNCTION``) on two ``inputs``."""
    from bisimdist.programs.front import explored  # noqa: PLC0415  (few lists name one)
    from bisimdist.programs.inputs import literal_inputs  # noqa: PLC0415
    from bisimdist.programs.request import Request  # noqa: PLC0415

    named, inputs = given.pop("program"), given.pop("inputs", None)
    observe, cut = str(given.pop("observe", "output")), given.pop("cut", None)
    _nothing_else(given, "program, inputs, observe and cut")
    if not isinstance(inputs, list | tuple) or len(inputs) != 2:
        raise UsageError("expected inputs: two of them, such as [0, 1]")
    if isinstance(named, str):
        file, _, function = named.rpartition(":")
        named = f"{read(file)}:{function}"
    texts = [one if isinstance(one, str) else repr(one) for one in inputs]
    starts = {item.name: item.make() for item in literal_inputs(texts)}
    from bisimdist.exact.rational import to_fmpq  # noqa: PLC0415

    chain = explored(named, starts, Request(observe, None if cut is None else to_fmpq(cut)))
    if not isinstance(chain, LMC):
        raise UsageError("the program asks an analyst; expected one whose output alone is seen")
    return _losses(chain, None)


def _nothing_else(given: Mapping[str, Any], expected: str) -> None:
    if given:
        raise UsageError(f"the key {str(next(iter(given)))[:40]!r} is unknown; expected {expected}")


def _losses(model: LMC, pair: Any) -> System:
    if pair is None:
        if not model.pairs:
            raise UsageError("the model has no pairs of its own; expected pair: [s, t]")
        s, t = model.pairs[0]
    elif isinstance(pair, list | tuple) and len(pair) == 2:
        s, t = (model.index(str(name)) for name in pair)
    else:
        raise UsageError("expected pair: two states, such as [s, t]")
    chain, _ = straight(model)
    cut = beside(model, (model.states[s], model.states[t])).get("cut", (fmpq(0), fmpq(0)))
    spec: dict[str, Any] = {"chain": chain.canonical(), "pair": [chain.states[s], chain.states[t]]}
    if cut != (0, 0):
        spec["cut"] = [format_rational(mass) for mass in cut]
    try:
        return spec, atoms.finite(exact_losses(chain, s, t).points, cut), True
    except LimitError:  # proved upper bounds, in both directions; they allow for what is cut off
        points = profile(model, pairs=[(model.states[s], model.states[t])], points=POINTS).points
    corners = [(point.alpha, point.upper) for point in points]
    spec["curve"] = [[format_rational(a), format_rational(d)] for a, d in corners]
    return spec, atoms.dominating(corners), False
