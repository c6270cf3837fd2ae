"""Honest certificates of every kind about small models, with what is known of the truth of their claims."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from flint import fmpq

from bisimdist.automata.generalised.ask import generalised_metric
from bisimdist.automata.metric.ask import metric
from bisimdist.budgets.budget.ask import mechanism_budget
from bisimdist.budgets.engine.budget import geometric_family, noisy_max_family
from bisimdist.budgets.prove.ask import for_all_lengths
from bisimdist.budgets.verify.answer import Verdict
from bisimdist.budgets.verify.ask import epsilon, verify
from bisimdist.distances.bound.ask import bound
from bisimdist.errors import LimitError, UsageError
from bisimdist.models.hmm import HMM
from bisimdist.models.io import parse_model
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA
from bisimdist.privacy.delta.ask import delta
from bisimdist.progress import Deadline
from bisimdist.traces.trace.ask import trace_metric
from tests.campaign.draw import Case, draw
from tests.campaign.hidden import enumerated, possible
from tests.forger.plain import Bound, Document, fraction, plain, read_bound
from tests.forger.younger import best, for_all, merged, robust

__all__ = [
    "KINDS",
    "Bound",
    "Document",
    "Template",
    "fraction",
    "plain",
    "read_bound",
    "shuffled",
    "templates",
]

SECONDS = 1.0
SHORT = 0.1
MOST_CHARACTERS = 8000
ATTEMPTS = 12


Maker = Callable[[Case, Any], Iterator[tuple[str, Document, Bound, Bound]]]


@dataclass(frozen=True, slots=True)
class Template:
    """An honest certificate with one claim, and between what the claimed quantity lies.

    Parameters
    ----------
    kind
        What it is about, one of `KINDS`.
    source
        The seed and number of its model.
    document
        The certificate.
    low, high
        Bounds on the truth: an upper bound below `low` is false, and a lower bound above `high`.
    """

    kind: str
    source: str
    document: Document
    low: Bound
    high: Bound


def _distance(case: Case, model: Any) -> Iterator[tuple[str, Document, Bound, Bound]]:
    assert isinstance(model, LMC)
    for kind in ("bd", "lbd"):
        alpha = fmpq(case.alpha.numerator, case.alpha.denominator)
        pairs = list(combinations(model.states, 2))
        answer = bound(model, alpha, distance=kind, pairs=pairs, deadline=Deadline.after(SECONDS))
        document = plain(answer.certificate())
        if "reduced" in document:
            continue  # of states that are merged there are certificates of their own
        entries = {tuple(entry["pair"]) for entry in document["upper"]["pairs"]}
        entries |= {(t, s) for s, t in entries if kind == "bd"}
        claims = [c for c in document["claims"] if (c["from"], c["to"]) in entries and c["upper"] != "0"]
        if claims:
            claim = case.source.choice(claims)
            document["claims"] = [claim]
            yield kind, document, read_bound(claim["lower"]), read_bound(claim["upper"])


def _delta(case: Case, model: Any) -> Iterator[tuple[str, Document, Bound, Bound]]:
    assert isinstance(model, LMC)
    alpha = fmpq(case.alpha.numerator, case.alpha.denominator)
    exact = delta(model, alpha, deadline=Deadline.after(SHORT)).pairs[0]
    for distances in (True, False):
        answer = delta(model, alpha, gap="1/4", distances=distances, deadline=Deadline.after(SHORT))
        yield "delta", plain(answer.certificate()), fraction(exact.lower), fraction(exact.upper)


def _metric(kind: str) -> Maker:
    def make(case: Case, model: Any) -> Iterator[tuple[str, Document, Bound, Bound]]:
        answer = metric(model, kind, deadline=Deadline.after(SECONDS))
        (pair,) = answer.pairs
        yield kind, plain(answer.certificate()), fraction(pair.lower), fraction(pair.upper)

    return make


def _generalised(case: Case, model: Any) -> Iterator[tuple[str, Document, Bound, Bound]]:
    for kind in ("additive", "multiplicative"):
        answer = generalised_metric(model, kind, deadline=Deadline.after(SECONDS))
        (pair,) = answer.pairs
        yield (
            f"{kind} blocks",
            plain(answer.certificate()),
            fraction(pair.lower),
            fraction(pair.upper),
        )


def _traces(case: Case, model: Any) -> Iterator[tuple[str, Document, Bound, Bound]]:
    if not isinstance(model, PA) or not model.fully_probabilistic:
        return
    for kind in ("additive", "multiplicative"):
        length = case.source.choice((None, 3))
        answer = trace_metric(model, kind, length=length, deadline=Deadline.after(SECONDS))
        (pair,) = answer.pairs
        yield (
            f"{kind} traces",
            plain(answer.certificate()),
            fraction(pair.lower),
            fraction(pair.upper),
        )


def _layers(case: Case, model: Any) -> Iterator[tuple[str, Document, Bound, Bound]]:
    assert isinstance(model, HMM)
    length = 2
    if not possible(model, length):
        return
    truth = fraction(enumerated(model, length, False))
    yield "layers", plain(epsilon(model, length=length).certificate()), truth, truth
    answer = verify(model, truth if truth is not None else 2, length=length)
    yield "layers", plain(answer.certificate()), truth, truth


def _all_lengths(case: Case, model: Any) -> Iterator[tuple[str, Document, Bound, Bound]]:
    assert isinstance(model, HMM)
    low = fraction(enumerated(model, 4, True))
    ratio: fmpq | None = None
    for method in ("cone", "factors", "coupling"):
        if method == "coupling" and ratio is None:
            return
        answer = for_all_lengths(model, ratio, method=method, deadline=Deadline.after(SECONDS))
        (pair,) = answer.pairs
        if pair.verdict is Verdict.HOLDS and pair.method == method:
            ratio = pair.proved
            yield f"all lengths, {method}", plain(answer.certificate()), low, None


def _parametric(case: Case, model: Any) -> Iterator[tuple[str, Document, Bound, Bound]]:
    assert isinstance(model, HMM)
    if not model.parametric or not possible(model, 1):
        return
    middle = {p.name: p.low + (p.high - p.low) * fmpq(1, 3) for p in model.parameters}
    low = fraction(enumerated(model.at(middle), 1, False))
    for ratio in (2, 4, 1000):
        answer = verify(model, ratio, length=1, deadline=Deadline.after(SECONDS))
        (pair,) = answer.pairs
        if pair.verdict is Verdict.HOLDS and pair.parametric:
            yield "parametric", plain(answer.certificate()), low, None
            return


def _mechanism(case: Case, model: Any) -> Iterator[tuple[str, Document, Bound, Bound]]:
    family = case.source.choice((noisy_max_family(2, levels=2), geometric_family(levels=3)))
    answer = mechanism_budget(family, case.source.choice(("all", "one")))
    truth = fraction(answer.result.ratio)
    yield "mechanism", plain(answer.certificate()), truth, truth


def _no_budget(case: Case, model: Any) -> Iterator[tuple[str, Document, Bound, Bound]]:
    """Invent pumps for models that have a budget: every one of them is a lie."""
    assert isinstance(model, HMM)
    (found,) = for_all_lengths(model, deadline=Deadline.after(SECONDS)).pairs
    if found.proved is None:
        return
    source = case.source
    symbols = list(model.observations)
    states = list(model.states)
    words = [[source.choice(symbols) for _ in range(source.randint(1, 2))] for _ in range(3)]
    counting = [state for state in states if source.random() < 0.7]
    pump = {
        "type": "pump",
        "swapped": source.random() < 0.5,
        "prefix": words[0],
        "cycle": words[1],
        "suffix": words[2],
        "fast": "1",
        "slow": "1/2",
        "below": {state: "1/3" for state in states if source.random() < 0.8},
        "above": dict.fromkeys(counting, "1/5"),
        "counting": counting,
    }
    claim = {"from": "pi", "to": "tau", "ratio": "any", "length": "all", "verdict": "violated"}
    document = {
        "format": "bisimdist-certificate",
        "version": 1,
        "kind": "hmm-no-budget",
        "model": model.canonical(),
        "digest": model.digest(),
        "claims": [claim],
        "pump": pump,
    }
    yield "no budget", plain(document), Fraction(0), Fraction(0)


MAKERS: Mapping[str, tuple[str, Maker]] = {
    "distances": ("lmc", _distance),
    "delta": ("lmc", _delta),
    "accumulative": ("pa", _metric("accumulative")),
    "amortised": ("pa", _metric("amortised")),
    "generalised": ("pa", _generalised),
    "traces": ("pa", _traces),
    "layers": ("hmm", _layers),
    "all lengths": ("hmm", _all_lengths),
    "parametric": ("parametric", _parametric),
    "no budget": ("hmm", _no_budget),
    "mechanism": ("hmm", _mechanism),
    "merged": ("lmc", merged),
    "for all values": ("lmc", for_all),
    "best": ("lmc", best),
    "robust": ("lmc", robust),
}
KINDS = tuple(MAKERS)


def templates(seed: int, number: int, kinds: Sequence[str] = KINDS) -> list[Template]:
    """Return the honest certificates of that number; models without any are passed over."""
    name = kinds[number % len(kinds)]
    model_kind, maker = MAKERS[name]
    for attempt in range(ATTEMPTS):
        found = _templates(draw(seed, ATTEMPTS * number + attempt, (model_kind,)), maker)
        if found:
            return found
    return []


def _templates(case: Case, maker: Maker) -> list[Template]:
    model = parse_model(case.text, format="json")
    try:
        made = list(maker(case, model))
    except (LimitError, UsageError):
        return []
    return [
        Template(kind, f"{case.seed}:{case.number}", document, low, high)
        for kind, document, low, high in made
        if len(document.get("claims", ())) == 1 and _rests_on_something(document)
    ]


PROOFS = (
    "upper",
    "lower",
    "nodes",
    "relations",
    "losses",
    "proofs",
    "denominators",
    "invariant",
    "pump",
    "mechanism",
    "pairs",
)


def _rests_on_something(document: Document) -> bool:
    """Tell whether a certificate is more than its claim, and not too long."""
    if document.get("kind") == "metric" and not any(any(document.get(key, ())) for key in PROOFS):
        return False
    parts = [
        part["pairs"] if isinstance(part, dict) and "pairs" in part else part
        for part in (document.get(key) for key in PROOFS)
    ]
    return any(part for part in parts) and len(json.dumps(document)) < MOST_CHARACTERS


def shuffled(source: random.Random, document: Document) -> Document:
    """Return the document with an entry left out, doubled, or exchanged with another."""
    changed: Document = json.loads(json.dumps(document))
    lists = [
        found for key, part in changed.items() if key not in {"model", "claims"} for found in _lists(part)
    ]
    pairs = [
        entry["pair"] for found in lists for entry in found if isinstance(entry, dict) and "pair" in entry
    ]
    way = source.randrange(4)
    if way == 0 and lists:
        chosen = source.choice(lists)
        chosen.pop(source.randrange(len(chosen)))
    elif way == 1 and lists:
        chosen = source.choice(lists)
        chosen.append(json.loads(json.dumps(source.choice(chosen))))
    elif way == 2 and len(pairs) > 1:
        one, other = source.sample(pairs, 2)
        one[:], other[:] = list(other), list(one)
    elif way == 3:
        holders = [entry for found in lists for entry in found if isinstance(entry, dict)]
        keys = [
            (entry, key) for entry in holders for key in ("rank", "side", "challenge", "stop") if key in entry
        ]
        if keys:
            entry, key = source.choice(keys)
            if isinstance(entry[key], int) and not isinstance(entry[key], bool):
                entry[key] = max(0, entry[key] + source.choice((-1, 1)))
    return changed


def _lists(value: object) -> Iterator[list[Any]]:
    if isinstance(value, list):
        if value and not (len(value) == 2 and all(isinstance(part, str) for part in value)):
            yield value
        for part in value:
            yield from _lists(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _lists(part)
