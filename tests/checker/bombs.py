"""Short documents that once took minutes or gigabytes: each by how long it is, so that growth can be seen."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tests.checker.corpus import FOLDER
from tests.checker.redigest import redigested

Document = dict[str, Any]


def _document(name: str) -> Document:
    result: Document = json.loads((FOLDER / "correct" / f"{name}.json").read_bytes())
    return result


def _digested(document: Document) -> str:
    from tests.checker.test_limits import about  # noqa: PLC0415

    return about(document)


def _automaton(
    document: Document, states: list[str], steps: Sequence[tuple[str, str, Mapping[str, str]]]
) -> str:
    from bisimdist.checker.core.automaton import read_automaton  # noqa: PLC0415

    model = {
        "kind": "pa",
        "states": states,
        "transitions": [{"from": source, "action": action, "to": row} for source, action, row in steps],
    }
    return json.dumps(document | {"model": model, "digest": read_automaton(model).digest()})


def _cut(count: int) -> tuple[list[str], Document, object]:
    """Return parameters, a constant, and a proof whose first part is cut off along every axis."""
    names = [f"p{k:02}" for k in range(count)]
    proof: object = "leaf"
    for name in names:
        proof = {"split": name, "at": "1/2", "below": proof, "above": "leaf"}
    return names, {",".join("0" * count): "1"}, proof


def faces(count: int) -> str:
    """Cut a strict leaf off along so many axes: it has two to that many faces (kind parametric)."""
    names, _, proof = _cut(count)
    result = _document("parametric/for-all")
    result["model"]["parameters"] |= {name: ["0", "1"] for name in names}
    own = sorted(result["model"]["parameters"])
    constant = {",".join("0" * len(own)): "1"}
    result |= {"denominator": {"polynomial": constant, "proof": proof}, "factors": []}
    for claim in result["claims"]:
        claim["for_all"] |= {name: ["0", "1"] for name in names}
    return _digested(result)


def faces_of_markov(count: int) -> str:
    """Do the same in a certificate of kind hmm-parametric."""
    names, one, proof = _cut(count)
    result = _document("hmm-parametric/hmm-parametric")
    same = {"s": "1/2", "t": "1/2"}
    result["model"] |= {
        "parameters": {name: ["0", "1"] for name in names},
        "distributions": {"pi": same, "tau": same},
    }
    result |= {"factors": [], "denominators": [{"polynomial": one, "proof": proof}] * 3}
    return _digested(result)


def answers(count: int) -> str:
    """Offer many actions at many credits (kind metric)."""
    result = _document("metric/metric-am")
    steps = [(state, f"a{k}", {"u": "1"}) for state in "st" for k in range(count)]
    steps += [("s", "d", {"u": "1/2", "v": "1/2"}), ("t", "d", {"u": "1/3", "v": "2/3"})]
    steps += [("u", "b", {}), ("v", "c", {})]
    credits = [[str(k), str(k)] for k in range(1, 5 * count)]
    result |= {
        "claims": [{"from": "s", "to": "t", "lower": "1", "upper": str(10 * count)}],
        "relations": [[{"pair": ["s", "t"], "credits": credits}]],
        "losses": [[]],
    }
    return _automaton(result, list("stuv"), steps)


def observations(count: int) -> str:
    """Follow a long word with many observations that no state makes (kind hmm-parametric)."""
    result = _document("hmm-parametric/hmm-parametric")
    claim = result["claims"][0] | {"length": str(count)}
    result["model"] |= {
        "observations": ["x", *(f"o{k}" for k in range(count))],
        "states": {"s": {"x": "1"}, "t": {"x": "1"}},
        "transitions": {"s": {"s": "1"}, "t": {"t": "1"}},
    }
    return _digested(result | {"claims": [claim]})


def rows(count: int) -> str:
    """Lead from a hub to all states of a path, which are told apart one by one (kind metric)."""
    result = _document("metric/metric-am")
    named = [f"w{k}" for k in range(count)]
    steps: list[tuple[str, str, Mapping[str, str]]] = [
        (one, "a", {other: "1"}) for one, other in pairwise(named)
    ]
    steps += [("s", "a", dict.fromkeys(named, f"1/{count}")), ("t", "b", {})]
    result |= {"claims": [{"from": "s", "to": "t", "lower": "1", "upper": "inf"}]}
    result |= {"relations": [[]], "losses": [[]]}
    return _automaton(result, ["s", "t", *named], steps)


def products(count: int) -> str:
    """Multiply sums of many parameters (kind parametric)."""
    result = _document("parametric/for-all")
    names = [f"p{k:02}" for k in range(60)]
    thirds = [names[k : k + 20] for k in range(0, 60, 20)]
    product = "*".join(f"({'+'.join(third)})" for third in thirds)
    targets = [f"y{k}" for k in range(count)]
    result["model"] = {
        "kind": "lmc",
        "states": dict.fromkeys(["s", "t", *targets], "q"),
        "transitions": {"s": dict.fromkeys(targets, product)},
        "parameters": {name: ["0", "1"] for name in names},
    }
    return _digested(result)


def intervals(count: int) -> str:
    """Lead along a path into a state whose probabilities are intervals (kind delta)."""
    result = _document("nature/delta-intervals")
    named = [f"w{k}" for k in range(count)]
    states = dict.fromkeys(["s", "t", *named], "q") | {"y": "y", "n": "n"}
    either = {"y": ["1/4", "3/4"], "n": ["1/4", "3/4"]}
    moves: dict[str, Any] = {one: {other: "1"} for one, other in pairwise(named)}
    moves |= {"s": {named[0]: "1"}, "t": {named[0]: "1"}, named[-1]: either}
    moves |= {"y": {"y": "1"}, "n": {"n": "1"}}
    result["model"] = {"kind": "lmc", "states": states, "transitions": moves}
    redigested(result)
    return json.dumps(result)


def names_of_rounds(count: int) -> str:
    """Unroll a model whose states have long names and long labels (kind delta)."""
    result = _document("rounds/delta-rounds")
    name, label = "s" * count, "q" * count
    result["model"] = {
        "kind": "interactive",
        "states": {name: label, "t": "t"},
        "transitions": {name: {"X": {name: "1/2", "t": "1/2"}}, "t": {}},
    }
    digested: Document = json.loads(_digested(result))
    digested["reduced"][0]["steps"][0] |= {"before": digested["digest"], "rounds": 2000}
    return json.dumps(digested)


def spread(count: int) -> str:
    """Make a state of each state and each observation (kind hmm-all-lengths)."""
    result = _document("hmm-all-lengths/hmm-all-coupling")
    seen = [f"o{k}" for k in range(count)]
    emitted = dict.fromkeys(seen, f"1/{count}")
    result["model"] |= {"observations": seen, "states": {"s": emitted, "t": emitted}}
    return _digested(result)


def composed(mechanism: Document, relation: str = "remove", cells: str = "200") -> str:
    """Ask for the cells of one mechanism (kind composition)."""
    tape = {"step": "1/4", "digits": "30", "steps": [["cells", "0", "0", "-100", [["1", cells]]]]}
    result = _document("composition/laplace")
    result |= {"relation": relation, "mechanisms": [mechanism], "tapes": {relation: [tape]}}
    return json.dumps(result)


def wide(sigma: int) -> str:
    """Add discrete Gaussian noise that takes many values."""
    return composed({"discrete-gaussian": {"sigma": str(sigma), "sensitivity": "1"}})


def crowded(users: int) -> str:
    """Shuffle the answers of many users."""
    answer = {"randomised-response": {"truth": "3/4"}}
    return composed({"shuffled": {"n": str(users), "of": answer}}, "replace")


def zeros(count: int) -> str:
    """Cut a grid into cells that nearly all are empty."""
    return composed({"pure": {"epsilon": "1"}}, cells=str(count))


def ratios(length: int) -> str:
    """Toss two coins so many times, and lose another amount for each number of heads."""
    document: Document = _document("composition/model")
    states = {f"{coin}{k}": "q" for coin in "st" for k in range(length)} | {"end": "end"}
    rows: dict[str, dict[str, str]] = {"end": {"end": "1"}}
    for k in range(length):
        after = k + 1
        for coin, chance in (("s", "1/3"), ("t", "2/3")):
            states |= {f"{coin}{k}h": "h", f"{coin}{k}t": "t"}
            target = f"{coin}{after}" if after < length else "end"
            rows[f"{coin}{k}"] = {f"{coin}{k}h": chance, f"{coin}{k}t": {"1/3": "2/3", "2/3": "1/3"}[chance]}
            rows[f"{coin}{k}h"] = rows[f"{coin}{k}t"] = {target: "1"}
    chain = {"kind": "lmc", "states": states, "transitions": rows}
    document["mechanisms"] = [{"model": {"chain": chain, "pair": ["s0", "t0"]}}]
    return json.dumps(document)


BOMBS: Mapping[str, tuple[Callable[[int], str], int]] = {
    "faces": (faces, 40),
    "faces of a Markov model": (faces_of_markov, 40),
    "answers": (answers, 200),
    "observations": (observations, 2000),
    "rows": (rows, 1500),
    "products": (products, 180),
    "intervals": (intervals, 12_000),
    "names of rounds": (names_of_rounds, 50_000),
    "spread": (spread, 800),
    "wide noise": (wide, 4_000),
    "a crowd": (crowded, 100_000),
    "zeros": (zeros, 2_000_000),
    "ratios": (ratios, 600),
}
"""By name what builds a document, and how long to make it."""
