"""Whether an observer sees anything at all: a model with one label answers every question trivially."""

from __future__ import annotations

from bisimdist.models.kinds import HMM, LMC, AnyModel, Interactive, IntervalChain, ParametricChain


def only_sight(model: AnyModel) -> str | None:
    """Return the one label, action or observation that all runs show for ever, or None.

    Where there is one, any two states (or distributions) are alike: their distances and budgets are the least
    there are. An automaton or hidden Markov model whose runs can end shows where they do.

    >>> from bisimdist.models.library.figure1 import figure1
    >>> only_sight(figure1()) is None
    True
    >>> only_sight(LMC.from_mappings({"s": "a", "t": "a"}, {"s": {"t": 1}, "t": {"s": 1}}))
    'a'
    """
    if isinstance(model, LMC | Interactive | IntervalChain | ParametricChain):
        seen, endless = set(model.labels), True
    elif isinstance(model, HMM):
        seen = {model.observations[symbol] for row in model.emissions for symbol, _ in row}
        endless = all(model.rows)
    else:
        seen = {transition.action for transition in model.transitions}
        whole = all(sum(p for _, p in transition.row) == 1 for transition in model.transitions)
        endless = whole and {t.source for t in model.transitions} == set(range(len(model.states)))
    return seen.pop() if len(seen) == 1 and endless else None
