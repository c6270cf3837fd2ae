"""Bounds on all pairs: nothing is made of a pair before it is looked at, and what is shown stays the same."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

import bisimdist
from bisimdist.distances.bound import work
from bisimdist.distances.bound.answer import DistanceAnswer
from bisimdist.faces.shown import asked_pairs as asked
from bisimdist.faces.shown import pair_bounds, tables
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.pair_bounds import PairBound, PairBounds
from bisimdist.faces.shown.pair_table import csv_of_pairs, largest
from bisimdist.models.all_pairs import AllPairs
from bisimdist.models.lmc import LMC
from tests.cli.conftest import Command

MANY = "example:random,states=40,successors=2,labels=2,seed=3"
WIDTH = "1/1000000"


def chain() -> LMC:
    """Return a chain with states that are merged at alpha = 1, whose names are hard to write."""
    found = bisimdist.build_example(MANY.removeprefix("example:"))
    rows = {
        name: {found.states[t]: p for t, p in row} for name, row in zip(found.states, found.rows, strict=True)
    }
    labels = dict(zip(found.states, found.labels, strict=True))
    others = dict.fromkeys(("", 'a,"b', " ", "x\ny"), "s0")
    return LMC.from_mappings(
        labels | {name: labels[like] for name, like in others.items()},
        rows | {name: rows[like] for name, like in others.items()},
    )


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few pairs count as many."""
    monkeypatch.setattr(work, "FEW", 5)
    monkeypatch.setattr(tables, "MOST", 100)


@pytest.fixture(params=["1", "11/10"])
def answer(request: pytest.FixtureRequest) -> DistanceAnswer:
    model = chain()
    return bisimdist.bound(model, request.param, pairs=bisimdist.AllPairs(model.states), precision=WIDTH)


@pytest.fixture(params=["exact", "bracket", "lbd", "unknown", "nothing"])
def looked_at(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> DistanceAnswer:
    """Answers of other kinds."""
    model = bisimdist.build_example("figure1")
    every = bisimdist.AllPairs(model.states)
    distance = "lbd" if request.param == "lbd" else "bd"
    deadline = bisimdist.Deadline.after(0 if request.param == "unknown" else None)
    if request.param == "bracket":
        monkeypatch.setattr(work, "FEW", 5_000)
    width = WIDTH if request.param == "bracket" else None
    answer = bisimdist.bound(
        model, "11/10", pairs=every, distance=distance, precision=width, deadline=deadline
    )
    if request.param == "nothing":
        return replace(answer, pairs=PairBounds.unknown(every), status=Status.LIMIT)
    return answer


def same_rows(answer: DistanceAnswer) -> None:
    made = [pair.data(answer.distance, (pair.source, pair.target)) for pair in answer.pairs]
    rows = answer.rows()
    assert list(rows) == made == [rows[k] for k in range(len(rows))] == answer.data()["pairs"]
    assert "".join(rows.json()) == json.dumps(made)
    assert b"".join(rows.csv()).decode() == csv_of_pairs(made)
    assert answer.to_json() == json.dumps(answer.to_dict())
    for most in (1, 7, len(made), len(made) + 1):
        assert list(largest(rows, most)) == list(largest(made, most))


def test_what_is_written_is_what_the_pairs_say(answer: DistanceAnswer) -> None:
    assert isinstance(answer.pairs, PairBounds)
    assert answer.pairs.known.table(answer.pairs.asked) is not None
    same_rows(answer)


def test_so_it_is_in_answers_of_other_kinds(looked_at: DistanceAnswer) -> None:
    same_rows(looked_at)


def test_bounds_are_a_sequence_like_a_tuple_of_them(answer: DistanceAnswer) -> None:
    model = answer.model
    assert isinstance(model, LMC)
    pairs, made = answer.pairs, tuple(answer.pairs)
    names = list(combinations(model.states, 2))
    assert [(pair.source, pair.target) for pair in made] == names
    assert pairs == made == pairs[:]
    assert made == pairs
    assert pairs != made[1:]
    assert hash(pairs) == hash(made)
    assert pairs[-1] == made[-1]
    with pytest.raises(IndexError):
        pairs[len(made)]
    assert all(pair.exact == (pair.lower == pair.upper) for pair in made)
    listed = bisimdist.bound(model, answer.alpha, pairs=names, precision=WIDTH)
    assert listed == answer
    assert hash(listed) == hash(answer)
    assert pickle.loads(pickle.dumps(answer)) == answer


@pytest.mark.parametrize("turned", [False, True])
def test_a_list_of_all_pairs_is_known_for_what_it_is(monkeypatch: pytest.MonkeyPatch, turned: bool) -> None:
    monkeypatch.setattr(asked, "MANY", 6)
    model = bisimdist.build_example("figure1")
    names = list(combinations(model.states, 2))
    names[-1] = names[-1][::-1] if turned else names[-1]
    found = asked.asked_states(model, names)
    assert isinstance(found, AllPairs) is not turned
    assert [(model.states[s], model.states[t]) for s, t in found] == names


def test_no_pair_is_made_before_it_is_looked_at(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    made: list[PairBound] = []
    monkeypatch.setattr(pair_bounds.PairBound, "__post_init__", made.append)
    ask = ("bound", MANY, "--alpha", "1", "--precision", WIDTH, "--all-pairs", "--json")
    ended = command(
        *ask, "--certificate-format", "compact", "--certificate", "/dev/null", "--csv", "/dev/null"
    )
    assert (ended.code, len(json.loads(ended.out)["pairs"]), made) == (0, 40 * 39 // 2, [])


def test_a_person_is_shown_a_part_of_many_pairs_or_the_largest(command: Command) -> None:
    ask = ("bound", MANY, "--alpha", "1", "--precision", WIDTH, "--all-pairs")
    every = json.loads(command(*ask, "--json").out)["pairs"]
    lines = command(*ask).out.splitlines()
    rows = [line.split()[:2] for line in lines if line.startswith("s")]
    assert rows == [[pair["from"], pair["to"]] for pair in every[:100]]
    assert lines[-1] == "680 more pairs are not shown: --json and --csv have all, --top N the largest."
    lines = command(*ask, "--top", "120").out.splitlines()
    rows = [line.split()[:2] for line in lines if line.startswith("s")]
    assert rows == [[every[k]["from"], every[k]["to"]] for k in largest(every, 120)]
    assert "These are the largest 120 of 780 pairs." in lines
    assert not any("not shown" in line for line in lines)


def test_the_certificate_is_about_all_of_them(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "proof"
    ask = ("bound", MANY, "--alpha", "1", "--precision", WIDTH, "--all-pairs", "--json")
    ended = command(*ask, "--certificate-format", "compact", "--certificate", path)
    checked = json.loads(command("check", path, "--json").out)
    claims = checked["claim"]
    fields = ("from", "to", "lower", "upper")
    said = [[pair[name] for name in fields] for pair in json.loads(ended.out)["pairs"]]
    assert [[claim[name] for name in fields] for claim in claims] == said[: len(claims)]
    assert len(claims) + checked["left_out"] == len(said)
