"""Which pairs a question is about: those that were named, else those of the model; and which budget."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.models.all_pairs import AllPairs
from bisimdist.models.contested import Contested
from bisimdist.models.kinds import HMM, PA, IntervalChain, ParametricChain, System
from bisimdist.models.model import check_model

Names = Sequence[tuple[str, str]]

MANY = 1_000  # lists of so many pairs may turn out to be all pairs of some states


def asked_states(
    model: PA | System | IntervalChain | ParametricChain, pairs: Names | None
) -> Sequence[tuple[int, int]]:
    """Return the pairs of states by their indices."""
    asked: Sequence[tuple[int, int]]
    check_model(model)
    if pairs is None:
        asked = model.pairs
    elif isinstance(pairs, AllPairs):
        asked = AllPairs([model.index(s) for s in pairs.of])
    else:
        named = _named(pairs, "chain.states")
        place = {name: model.index(name) for name in dict.fromkeys(chain.from_iterable(named))}
        if len(named) >= MANY and AllPairs(list(place)) == named:
            asked = AllPairs(list(place.values()))
        else:
            asked = tuple([(place[s], place[t]) for s, t in named])
    if not asked:
        raise _missing("states", model.states)
    return tuple(map(model.placed, asked)) if isinstance(model, Contested) else asked


def named_pairs(model: PA | System | IntervalChain | ParametricChain, pairs: Names | None) -> Names:
    """Return the pairs of states by their names; all pairs of a model are not made."""
    asked = asked_states(model, pairs)
    if isinstance(asked, AllPairs):
        return AllPairs([model.states[state] for state in asked.of])
    return tuple((model.states[s], model.states[t]) for s, t in asked)


def indexed(model: System, pairs: Sequence[tuple[str, ...]]) -> Sequence[tuple[int, int]]:
    """Return pairs of names by their indices."""
    if isinstance(pairs, AllPairs):
        return AllPairs([model.index(name) for name in pairs.of])
    return tuple((model.index(s), model.index(t)) for s, t in pairs)


def asked_distributions(model: HMM, pairs: Names | None) -> tuple[tuple[str, str], ...]:
    """Return the pairs of distributions by their names."""
    check_model(model)
    names = [name for name, _ in model.distributions]
    every = "[name for name, _ in model.distributions]"
    asked = model.pairs if pairs is None else _named(pairs, every)
    for name in (name for pair in asked for name in pair):
        model.distribution(name)
    if not asked:
        raise _missing("distributions", names)
    return asked


def _named(pairs: Names, every: str) -> tuple[tuple[str, str], ...]:
    if isinstance(pairs, str) or any(isinstance(pair, str) or len(pair) != 2 for pair in pairs):
        raise UsageError(
            f"pairs={pairs!r}: expected a list of pairs of names, such as [('s', 't')]; all of them are "
            f"list(itertools.combinations({every}, 2))"
        )
    return tuple((first, second) for first, second in pairs)


def _missing(what: str, names: Sequence[str]) -> UsageError:
    """Return what is said where a model has no pairs: with an argument to copy."""
    first, second = (*names, *names)[:2]
    return UsageError(
        f"the model has no pairs of its own; say which {what} to compare: pairs=[({first!r}, {second!r})], "
        "or pairs: in the file"
    )


def asked_budget(ratio: ExactNumber | None, epsilon: ExactNumber | None) -> tuple[fmpq | None, fmpq | None]:
    """Return a budget, and the exponent of e that stands for one, where they are given."""
    budget, exponent = (None if number is None else to_fmpq(number) for number in (ratio, epsilon))
    if budget is not None and budget < 1:
        raise UsageError(f"the ratio is {format_rational(budget)}; expected at least 1")
    return budget, exponent
