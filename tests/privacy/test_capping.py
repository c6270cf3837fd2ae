"""No upper bound on delta is above a distance that can be had, whatever ends the work."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bisimdist import LMC, Deadline, bound, delta, parse_model
from bisimdist.checker import check_certificate
from bisimdist.faces.shown.answer import Status

LABELS = {"s": "a", "t": "a", "v": "a", "w": "a", "u": "a", "g": "g", "h": "h", "c": "c"}
ROWS = {
    "s": {"s": "1/2", "v": "1/8", "u": "1/8", "g": "1/4"},
    "t": {"t": "1/2", "w": "1/8", "u": "1/8", "h": "1/4"},
    "v": {"v": "1/3", "u": "1/12", "g": "7/12"},
    "w": {"w": "1/3", "u": "1/12", "h": "7/12"},
    "u": {"u": "1/2", "c": "1/2"},
    **{end: {end: "1"} for end in "ghc"},
}
"""Delta is the distance, and never closes: the masses of s and v stand to each other ever differently."""


def chain(beside: int = 0) -> LMC:
    """Return the chain, with states beside it that make pairs."""
    more = {f"e{k}": {f"e{k}": "1/2", f"e{k + 1}" if k + 1 < beside else "c": "1/2"} for k in range(beside)}
    rows = {**ROWS, **more, **({"u": {"u": "1/2", "e0": "1/4", "c": "1/4"}} if beside else {})}
    labels = LABELS | dict.fromkeys(more, "a")
    model = {"kind": "lmc", "states": labels, "transitions": rows, "pairs": [["s", "t"]]}
    found = parse_model(json.dumps(model))
    assert isinstance(found, LMC)
    return found


@pytest.mark.parametrize("beside", [0, 20], ids=["few", "many"])
@pytest.mark.parametrize("alpha", ["1", "6/5"])
@pytest.mark.parametrize(
    ("limits", "reason"),
    [({}, ""), ({"gap": "1/100"}, ""), ({"memory": 1}, "the memory limit was reached")],
    ids=["default", "wide", "memory"],
)
def test_delta_is_at_most_the_distance(beside: int, alpha: str, limits: dict[str, Any], reason: str) -> None:
    model = chain(beside)
    most = bound(model, alpha).pairs[0]
    answer = delta(model, alpha, **limits)
    assert answer.status is (Status.LIMIT if reason else Status.BRACKET)
    assert answer.data().get("reason", "") == reason
    said = "The memory limit was reached." in answer.report().remarks
    assert said == bool(reason)
    assert most.exact
    assert answer.pairs[0].lower < answer.pairs[0].upper <= most.upper
    report = check_certificate(json.dumps(answer.certificate()))
    assert report.valid, report.reason
    assert report.plain_claims()[0]["upper"] == str(answer.pairs[0].upper)


def test_time_is_left_for_distances() -> None:
    model = chain()
    most = bound(model, 1).pairs[0].upper
    answer = delta(model, 1, gap=0, deadline=Deadline.after(2))
    assert answer.status is Status.LIMIT
    assert answer.pairs[0].upper <= most


def test_the_other_direction_may_be_a_node_with_a_bound_of_its_own() -> None:
    """At alpha = 1 one direction is asked, and the other follows on the way: a claim holds for both."""
    rows = {
        "s": {"t": "4/7", "b": "3/7"},
        "t": {"s": "3/7", "a": "4/7"},
        "a": {"s": "3/7", "t": "3/7", "a": "1/7"},
        "b": {"t": "1"},
    }
    labels = {"s": "x", "t": "x", "a": "y", "b": "y"}
    model = parse_model(
        json.dumps({"kind": "lmc", "states": labels, "transitions": rows, "pairs": [["s", "t"]]})
    )
    report = check_certificate(json.dumps(delta(model, 1, gap="1/1000").certificate()))
    assert report.valid, report.reason


def test_nothing_is_asked_of_distances_that_are_not_wanted() -> None:
    model = chain()
    assert delta(model, 1, distances=False).pairs[0].upper > bound(model, 1).pairs[0].upper
