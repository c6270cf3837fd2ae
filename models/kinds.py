"""Every kind of model there is, and what all kinds have in common: pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bisimdist.errors import ModelError
from bisimdist.models.contested import Contested
from bisimdist.models.hmm import HMM
from bisimdist.models.interactive import Interactive, System
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA
from bisimdist.models.parametric import ParametricChain

__all__ = ["HMM", "LMC", "PA", "AnyModel", "Interactive", "IntervalChain", "KnownModel", "ParametricChain"]
__all__ += ["System", "with_pairs"]

KnownModel = LMC | PA | HMM | Interactive
AnyModel = KnownModel | IntervalChain | ParametricChain
StateModel = LMC | Interactive | IntervalChain
"""Models of labelled states: what distances and delta are about, even if probabilities are known roughly."""


def with_pairs(model: AnyModel, pairs: Sequence[tuple[str, str]]) -> AnyModel:
    """Return a model with other pairs; without any it stays as it is.

    ``pairs``: states (of a hidden Markov model: distributions) by name, states also by number, such as
        ``"#3"``.

    >>> chain = LMC.from_mappings({"s": "a", "t": "a"}, {"s": {"s": 1}, "t": {"t": 1}})
    >>> with_pairs(chain, [("s", "#1")]).pairs
    ((0, 1),)
    """
    if not pairs:
        return model
    if isinstance(model, HMM):
        for name in (name for pair in pairs for name in pair):
            model.distribution(name)
        return replace(model, pairs=tuple((s, t) for s, t in pairs))
    named = tuple((_index(model, s), _index(model, t)) for s, t in pairs)
    return replace(model, pairs=tuple(map(model.placed, named)) if isinstance(model, Contested) else named)


def _index(model: LMC | PA | Interactive | IntervalChain | ParametricChain, name: str) -> int:
    try:
        return model.index(name)
    except ModelError:
        if name[:1] == "#" and name[1:].isdecimal() and len(name) < 20 and int(name[1:]) < len(model):
            return int(name[1:])
        raise
