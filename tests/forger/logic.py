"""False certificates about formulae, bisimilarity and traces: claims without numbers, so all are tried."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from flint import fmpq

from bisimdist.errors import LimitError, UsageError
from bisimdist.logic.formula.ask import mimicking_formula
from bisimdist.logic.traces.ask import satisfies_trace_formulae, trace_formulae
from bisimdist.models.io import parse_model
from bisimdist.models.pa import PA
from bisimdist.traces.equivalence.ask import trace_equivalence
from tests.campaign.automata import random_formula
from tests.campaign.draw import draw
from tests.logic.formula_reference import holds, k_step_classes
from tests.words.trace_reference import enumerated, long_probability

__all__ = ["logic_lies"]

Document = dict[str, Any]


def _plain(document: object) -> Document:
    plain: Document = json.loads(json.dumps(document))
    return plain


def _frame(automaton: PA, kind: str, claim: Document, **parts: object) -> Document:
    return {
        "format": "bisimdist-certificate",
        "version": 1,
        "kind": kind,
        "model": _plain(automaton.canonical()),
        "digest": automaton.digest(),
        "claims": [claim],
        **parts,
    }


def partitions(names: Sequence[str]) -> Iterator[list[list[str]]]:
    """Yield all partitions of some names."""
    if not names:
        yield []
        return
    first, rest = names[0], names[1:]
    for parts in partitions(rest):
        yield [[first], *parts]
        for place, part in enumerate(parts):
            yield [*parts[:place], [first, *part], *parts[place + 1 :]]


def _about_bisimilarity(automaton: PA, source: random.Random) -> Iterator[tuple[str, Document]]:
    classes = k_step_classes(automaton, len(automaton))
    actions = sorted({step.action for step in automaton.transitions})
    for s, t in combinations(range(len(automaton)), 2):
        names = {"from": automaton.states[s], "to": automaton.states[t]}
        if classes[s] != classes[t]:
            for classes_claimed in partitions(automaton.states):
                claim = {**names, "bisimilar": True}
                yield "bisimilar", _frame(automaton, "distinguishing-formula", claim, classes=classes_claimed)
        else:
            for _ in range(6):
                formula = str(random_formula(source, actions, 2)) if actions else "T"
                claim = {**names, "bisimilar": False, "formula": formula, "depth": str(source.randint(1, 3))}
                yield "told apart", _frame(automaton, "distinguishing-formula", claim)


def _about_formulae(automaton: PA, source: random.Random) -> Iterator[tuple[str, Document]]:
    actions = sorted({step.action for step in automaton.transitions})
    if not actions:
        return
    for _ in range(3):
        formula = random_formula(source, actions, 2)
        true = {name for s, name in enumerate(automaton.states) if holds(automaton, s, formula)}
        for size in range(len(automaton) + 1):
            for chosen in combinations(automaton.states, size):
                if set(chosen) != true:
                    claim = {"formula": str(formula), "satisfying": list(chosen)}
                    yield "satisfaction", _frame(automaton, "satisfaction", claim)
    for depth in (1, 2, None):
        classes = k_step_classes(automaton, len(automaton) if depth is None else depth)
        for s, t in combinations(range(len(automaton)), 2):
            if classes[s] != classes[t]:
                honest = mimicking_formula(automaton, automaton.states[s], depth).certificate()
                lie = _plain(honest)
                lie["claims"][0]["state"] = automaton.states[t]
                yield "mimicking", lie


def _about_traces(automaton: PA, source: random.Random) -> Iterator[tuple[str, Document]]:
    if not automaton.fully_probabilistic:
        return
    names = automaton.states
    bases = [
        _plain(trace_equivalence(automaton, [(s, t)], ends="hidden").certificate())
        for s, t in combinations(names, 2)
    ]
    for s, t in combinations(range(len(automaton)), 2):
        _, difference = enumerated(automaton, s, t, 2 * len(automaton), ends=False)
        if not difference:
            continue
        for honest in bases:
            lie = _plain(honest)
            lie["claims"] = [{"from": names[s], "to": names[t], "equivalent": True}]
            yield "equivalent", lie
    s = source.randrange(len(automaton))
    found = trace_formulae(automaton, names[s], 3, 30, ends="hidden")
    honest = _plain(found.certificate())
    traces = honest["claims"][0].get("traces", [])
    if traces:
        lie = _plain(honest)
        lie["claims"][0]["traces"].pop()
        if lie["claims"][0].get("complete"):
            yield "trace formulae", lie
        changed = source.choice(found.formulae)
        actions = changed.linear.actions
        true = long_probability(automaton, s, actions)
        words = "".join(f"<{json.dumps(action)}>" for action in actions)
        asked = f"{true / 2} {words}T"
        lie = _plain(satisfies_trace_formulae(automaton, names[s], [asked], ends="hidden").certificate())
        lie["claims"][0]["satisfied"] = not lie["claims"][0]["satisfied"]
        yield "trace formulae", lie
        wrong = _plain(lie)
        wrong["claims"][0] |= {"satisfied": True, "probability": str(true / 2 if true else fmpq(1, 2))}
        yield "trace formulae", wrong


def logic_lies(seed: int, number: int) -> Iterator[tuple[str, Document]]:
    """Yield certificates whose claims are false, about the automaton of that number."""
    source = random.Random(f"{seed}:{number}:logic")
    model = parse_model(draw(seed, number, ("pa",)).text, format="json")
    assert isinstance(model, PA)
    for maker in (_about_bisimilarity, _about_formulae, _about_traces):
        try:
            yield from maker(model, source)
        except (LimitError, UsageError):
            continue
