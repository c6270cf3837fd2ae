"""UMB: what is written comes back, the same bytes again, and what a stranger wrote is refused in one line."""

from __future__ import annotations

import gzip
import io
import json
import sys
import tarfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist import LMC, PA, ModelError, UsageError, build_any_example, load_model, parse_model
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.io import write_umb
from tests.strategies import automata, lmcs


def repacked(content: bytes, change: Any) -> bytes:
    """Return an archive with other parts, or another index."""
    parts = {}
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        for member in tar.getmembers():
            file = tar.extractfile(member)
            assert file is not None
            parts[member.name] = file.read()
    change(parts)
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, part in parts.items():
            member = tarfile.TarInfo(name)
            member.size = len(part)
            tar.addfile(member, io.BytesIO(part))
    return made.getvalue()


def with_index(content: bytes, *path: str, value: object) -> bytes:
    def change(parts: dict[str, bytes]) -> None:
        index = json.loads(parts["index.json"])
        inside = index
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = value
        parts["index.json"] = json.dumps(index).encode()

    return repacked(content, change)


@pytest.mark.extra("umb")
class TestWithUmbi:
    @settings(max_examples=8)
    @given(st.one_of(lmcs(), automata()))
    def test_what_is_written_comes_back(self, model: LMC | PA) -> None:
        if isinstance(model, PA):
            whole = [step for step in model.transitions if sum(p for _, p in step.row) == 1]
            model = PA(model.states, tuple(sorted(whole, key=lambda step: step.source)), model.pairs)
        content = write_umb(model)
        again = parse_model(content)
        assert again == model
        assert write_umb(again) == content

    def test_long_numbers(self) -> None:
        p = fmpq(1, 3**100)
        chain = LMC.from_mappings({"s": "a", "t": "B, c"}, {"s": {"s": p, "t": 1 - p}, "t": {"t": 1}})
        assert parse_model(write_umb(chain)) == chain

    def test_a_model_of_another_tool(self, tmp_path: Path) -> None:
        from umbi import ats  # noqa: PLC0415

        system = ats.ExplicitAts(num_players=1)
        system.choice_action_to_name, system.num_choice_actions = ["go", "stay"], 2
        for _ in range(2):
            system.add_state()
        system.set_initial_states([0, 1])
        for state, action, row in ((0, 0, {0: "1/3", 1: "2/3"}), (0, 1, {0: "1"}), (1, 1, {1: "1"})):
            choice = system.add_state_choice(state=state)
            choice.action = action
            for target, p in row.items():
                choice.add_branch(target=target, prob=Fraction(p))
        for name, states in (("goal", [False, True]), ("start", [True, False])):
            system.add_ap_annotation(name=name).set_state_values(states)
        valuations = ats.EntityValuations()
        x, on = (valuations.add_variable(name) for name in ("x", "on"))
        for state in range(2):
            valuations.set_entity_valuation(state, {x: 3 * state, on: state == 0})
        system.variable_valuations = ats.EntityClassValuations()
        system.variable_valuations.set_state_valuations(valuations)
        path = tmp_path / "model.umb"
        ats.write(system, path)
        model = load_model(path, observe_variables=["on"], observe_labels=["goal"])
        assert isinstance(model, PA)
        assert (model.states, model.pairs) == (("0,true", "3,false"), ((0, 1),))
        steps = [(step.source, step.action, dict(step.row)) for step in model.transitions]
        assert steps == [
            (0, "on=true [go]", {0: fmpq(1, 3), 1: fmpq(2, 3)}),
            (0, "on=true [stay]", {0: fmpq(1)}),
            (1, "goal,on=false [stay]", {1: fmpq(1)}),
        ]
        assert load_model(path, pairs=[("x=3", "start")]).pairs == ((1, 0),)

    def test_observations_are_seen(self, tmp_path: Path) -> None:
        from umbi import ats  # noqa: PLC0415

        def written(players: int, *choices: tuple[int, int], branches: bool = False) -> Path:
            system = ats.ExplicitAts(num_players=players)
            for _ in range(3):
                system.add_state()
            system.set_initial_states([0])
            for state, target in choices:
                system.add_state_choice(state=state).add_branch(target=target, prob=Fraction(1))
            system.add_ap_annotation(name="secret").set_state_values([False, True, False])
            annotation = system.add_observation_annotation(5)
            if branches:
                annotation.set_branch_values([0] * len(choices))
            else:
                annotation.set_state_values([4, 2, 2])
            path = tmp_path / "observed.umb"
            ats.write(system, path)
            return path

        rows = ((0, 1), (1, 2), (2, 2))
        seen = ("observation=4", "observation=2", "observation=2")
        notes: list[str] = []
        for players in (0, 1):
            model = load_model(written(players, *rows), note=notes.append)
            assert isinstance(model, LMC)
            assert model.labels == seen
        assert notes.count("this is a POMDP: an observer sees its observables") == 2
        chosen = load_model(written(1, (0, 1), *rows))
        assert isinstance(chosen, PA)
        assert [step.action for step in chosen.transitions] == [seen[0], *seen]
        labelled = load_model(written(1, *rows), observe_labels=["secret"])
        assert isinstance(labelled, LMC)
        assert labelled.labels == ("", "secret", "")
        path = written(1, *rows, branches=True)
        with pytest.raises(ModelError, match="observations belong to branches; expected some of states"):
            load_model(path)
        assert load_model(path, observe_labels=["secret"]) == labelled

    def test_doubles_are_refused_unless_rationalised(self, tmp_path: Path) -> None:
        from umbi import ats  # noqa: PLC0415

        system = ats.ExplicitAts()
        for _ in range(3):
            system.add_state()
        system.set_initial_states([0])
        for state in range(3):
            choice = system.add_state_choice(state=state)
            for target in range(3):
                choice.add_branch(target=target, prob=1 / 3)
        path = tmp_path / "thirds.umb"
        ats.write(system, path)
        with pytest.raises(ModelError, match="the probabilities are doubles; expected rationals"):
            load_model(path)
        model = load_model(path, rationalise=True)
        assert isinstance(model, LMC)
        assert model.rows[0] == tuple((target, fmpq(1, 3)) for target in range(3))
        rough = load_model(path, enclose=True)
        assert isinstance(rough, IntervalChain)
        assert all(low < fmpq(1, 3) < high for _, low, high in rough.rows[0])

    def test_strangers_files(self) -> None:
        chain = build_any_example("figure1")
        assert isinstance(chain, LMC)
        good = write_umb(chain)
        assert parse_model(gzip.decompress(good)) == chain
        states = ("transition-system", "#states")
        stochastic = with_index(good, "transition-system", "time", value="stochastic")
        bad = {
            "the file cannot be unpacked": good[: len(good) // 2],
            "more memory than the 8 GiB allowed": with_index(good, *states, value=10**12),
            "said by umbi": with_index(good, "transition-system", value=[]),
            "contradict one another": with_index(good, "file-data", "parameters", "pairs", value=[[0, 9]]),
            "there are 1 players": with_index(stochastic, "transition-system", "#players", value=1),
            "index.json": repacked(good, lambda parts: parts.pop("index.json")),
        }
        for expected, content in bad.items():
            with pytest.raises(ModelError) as caught:
                parse_model(content)
            assert expected in str(caught.value)
            assert len(str(caught.value)) < 1500

    def test_a_small_archive_of_much(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("bisimdist.models.io.compressed.MAX_BYTES", 1 << 20)
        with pytest.raises(ModelError, match="unpacks to more than the 1 MiB allowed"):
            parse_model(gzip.compress(bytes(1 << 22)))

    @pytest.mark.extra("storm")
    def test_storm_reads_it(self, tmp_path: Path) -> None:
        import stormpy  # noqa: PLC0415

        path = tmp_path / "model.umb"
        chain = build_any_example("figure1")
        assert isinstance(chain, LMC)
        path.write_bytes(write_umb(chain))
        found = stormpy.build_model_from_umb(str(path))
        assert (found.nr_states, found.nr_transitions) == (4, 6)


@pytest.mark.extra("umb")
def test_missing_mass_has_no_form() -> None:
    with pytest.raises(ModelError, match="no missing mass"):
        write_umb(PA.from_mappings(["s"], [("s", "a", {"s": Fraction(1, 2)})]))


def test_a_missing_umbi_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umbi", None)
    monkeypatch.setattr("bisimdist.models.io.tools.find_spec", lambda _: None)
    chain = build_any_example("figure1")
    with pytest.raises(UsageError, match=r"pip install 'bisimdist\[umb\]'"):
        write_umb(chain)
    with pytest.raises(UsageError, match=r"pip install 'bisimdist\[umb\]'"):
        parse_model(bytes(257) + b"ustar")
