"""``classes``: all states grouped, with a proof that no group can be parted and no two of them joined."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given, settings

from bisimdist.models.lmc import LMC
from bisimdist.models.pa import automaton_of
from bisimdist.progress import UNBOUNDED
from bisimdist.traces.classes import apart
from bisimdist.traces.classes.command import Classes
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)
from tests.reference.traces import true_delta
from tests.strategies import lmcs


@settings(max_examples=25)
@given(chain=lmcs(5))
def test_states_are_together_where_no_event_tells_them_apart(chain: LMC) -> None:
    found = Classes(model=automaton_of(chain)).ask(UNBOUNDED)
    home = {name: number for number, members in enumerate(found.classes) for name in members}
    for s, t in combinations(range(len(chain)), 2):
        together = home[chain.states[s]] == home[chain.states[t]]
        assert together == (true_delta(chain, s, t, fmpq(1), len(chain)) == 0)


def test_the_proof_holds_of_every_two_states(command: Command, tmp_path: Path) -> None:  # noqa: F811
    proof = tmp_path / "proof.json"
    ended = command("classes", "example:dining-cryptographers", "--json", "--certificate", proof)
    data = json.loads(ended.out)
    classes = data["classes"]
    assert (ended.code, len(classes)) == (0, 18)
    claims = json.loads(command("check", proof, "--json").out)["claim"]
    parted = {(claim["from"], claim["to"]) for claim in claims if not claim["equivalent"]}
    assert parted == set(combinations([members[0] for members in classes], 2))
    assert {(claim["from"], claim["to"]) for claim in claims} - parted == {
        (members[0], other) for members in classes for other in members[1:]
    }


def test_one_class_and_none_to_tell_it_from(command: Command, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "one.yaml").write_text("kind: lmc\nstates: {s: a}\ntransitions: {s: {s: 1}}\n")
    ended = command("classes", tmp_path / "one.yaml", "--certificate", tmp_path / "proof.json")
    assert (ended.code, "1 class" in ended.out, "s" in ended.out.split()) == (0, True, True)
    assert command("check", tmp_path / "proof.json").code == 0


def test_out_of_time(command: Command) -> None:  # noqa: F811
    ended = command("classes", "example:dining-cryptographers", "--timeout", "0", "--json")
    assert (ended.code, json.loads(ended.out)["classes"]) == (3, [])


def test_too_many_classes_are_listed_alone(
    command: Command,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(apart, "MAX_VALUES", 2)
    proof = tmp_path / "proof.json"
    ended = command("classes", "example:figure1", "--json", "--certificate", proof)
    data = json.loads(ended.out)
    assert (len(data["classes"]) > 2, data["apart"], data["status"]) == (True, [], "exact")
    assert (ended.code, proof.exists()) == (3, False)
    shown = command("classes", "example:figure1")
    assert (shown.code, "'equivalence' tells two states apart" in shown.out) == (0, True)
