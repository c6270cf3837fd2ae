"""Models and programs as mechanisms: the law of the privacy loss of a pair of states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flint import fmpq

from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.rational import format_rational, to_fmpq
from bisimdist.models.conversions import observed_chain
from bisimdist.models.io.reading import Reading
from bisimdist.models.kinds import AnyModel
from bisimdist.models.lmc import LMC
from bisimdist.privacy.compose.engine import atoms
from bisimdist.privacy.compose.engine.laws import Atoms
from bisimdist.privacy.engine.losses import exact_losses
from bisimdist.privacy.profile.ask import profile
from bisimdist.reductions.chain import beside, straight

POINTS = 65


System = tuple[dict[str, Any], Atoms, bool]
"""The chain, the pair, and how much of its runs is cut off, as plain data; the law, or one that dominates it;
whether it is the law."""


def _of_model(read: Callable[[str], str], named: Any, pair: Any) -> System:
    """Return the losses of a model, which may be a file or an example, and a pair."""
    if isinstance(named, str):
        from bisimdist.faces.asked.source import EXAMPLE_PREFIX, read_any_model  # noqa: PLC0415  (few lists name one)

        named = read_any_model(named if named.startswith(EXAMPLE_PREFIX) else read(named), Reading())
    if not isinstance(named, AnyModel):
        raise UsageError("model: expected a file, such as chain.yaml, or an example")
    return _losses(observed_chain(named), pair)


def _of_program(read: Callable[[str], str], named: Any, inputs: Any, observe: Any, cut: Any) -> System:
    """Return the losses of a program, a function or ``FILE.py:FUNCTION``, on two inputs."""
    from bisimdist.programs.front import explored  # noqa: PLC0415  (few lists name one)
    from bisimdist.programs.inputs import literal_inputs  # noqa: PLC0415
    from bisimdist.programs.request import Request  # noqa: PLC0415

    if not isinstance(inputs, list | tuple) or len(inputs) != 2:
        raise UsageError("expected inputs: two of them, such as [0, 1]")
    if isinstance(named, str):
        file, _, function = named.rpartition(":")
        named = f"{read(file)}:{function}"
    texts = [one if isinstance(one, str) else repr(one) for one in inputs]
    starts = {item.name: item.make() for item in literal_inputs(texts)}
    chain = explored(named, starts, Request(str(observe or "output"), None if cut is None else to_fmpq(cut)))
    if not isinstance(chain, LMC):
        raise UsageError("the program asks an analyst; expected one whose output alone is seen")
    return _losses(chain, None)


def _losses(model: LMC, pair: Any) -> System:
    if pair is None and model.pairs:
        pair = [model.states[place] for place in model.pairs[0]]
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise UsageError("expected pair: two states, such as [s, t]")
    s, t = (model.index(str(name)) for name in pair)
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


SYSTEMS: Mapping[str, tuple[Callable[..., System], tuple[str, ...]]] = {
    "model": (_of_model, ("model", "pair")),
    "program": (_of_program, ("program", "inputs", "observe", "cut")),
}
"""By kind how its losses are found, and the keys that it takes."""
