"""The schemas of model files, answers and certificates, held against all examples and what readers say."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import bisimdist
from bisimdist.checker.claims import KINDS
from bisimdist.faces.asked.registry import HOMES, question_of
from bisimdist.faces.cli.main import run
from bisimdist.faces.cli.schemas import SCHEMAS, json_schema
from bisimdist.faces.cli.schemas.model import KINDS as MODELS
from bisimdist.models.io import write_model
from tests.docs.markdown import ROOT, blocks, pages

CERTIFICATES = ROOT / "tests/certificates"
UNFILED = {"learn", "convert", "show"}
"""Their examples need files, or print no answer."""
OPEN = {"event", "left_out", "mechanism", "parameters", "polynomial", "sources", "statistics", "to"}
OPEN |= {"samples"}
"""Fields whose objects have names of the user as keys."""


def validator(name: str) -> Any:
    return jsonschema.Draft202012Validator(json_schema(name))


def demand(name: str, thing: Any) -> None:
    wrong = jsonschema.exceptions.best_match(validator(name).iter_errors(thing))
    assert wrong is None, f"{wrong.json_path}: {wrong.message}"


def fields_of(thing: Any) -> Iterator[str]:
    if isinstance(thing, dict):
        yield from thing
        for name, value in thing.items():
            if name not in OPEN:
                yield from fields_of(value)
    elif isinstance(thing, list):
        for value in thing:
            yield from fields_of(value)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema(name))
    assert run(["schema", name]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema(name)


def test_there_is_no_other() -> None:
    with pytest.raises(bisimdist.UsageError, match="expected model, answer, certificate"):
        json_schema("program")


@pytest.mark.parametrize("kind", MODELS)
def test_the_keys_are_those_that_readers_take(kind: str) -> None:
    with pytest.raises(bisimdist.ModelError) as caught:
        bisimdist.parse_model(f"{{kind: {kind}, no-such-key: 1}}")
    known = set(re.sub(".*expected ", "", str(caught.value)).split(", "))
    silent = {"lmc": {"confidence", "program"}}.get(kind, set())
    assert set(MODELS[kind]["properties"]) == known | silent | {"$schema"}


def built() -> list[str]:
    return [info.name for info in bisimdist.list_examples()]


@pytest.mark.parametrize("name", built())
def test_built_in_models(name: str) -> None:
    text = write_model(bisimdist.build_any_example(name), "json")
    if len(text) < 100_000:
        demand("model", json.loads(text))


def test_valid_files_and_models_of_the_documentation() -> None:
    files = [*(ROOT / "tests/models/valid").glob("*.json"), *(ROOT / "tests/models/valid").glob("*.yaml")]
    texts = [path.read_bytes().decode("utf-8-sig") for path in files]
    texts += [
        block.text
        for page in pages()
        for block in blocks(page.read_text())
        if block.language == "yaml" and "kind:" in block.text
    ]
    assert len(texts) > 20
    for text in texts:
        demand("model", yaml.load(text, yaml.BaseLoader))


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "lmc", "states": {"s": "a"}},
        {"kind": "pa", "states": ["s"], "transitions": [{"from": "s", "to": {}}]},
        {"kind": "lmc", "states": {"s": "a"}, "transitions": {}, "pairs": [["s"]]},
        {"kind": "dtmc"},
        {"kind": "lmc", "states": {"s": "a"}, "transitions": {"s": {"s": 1}}, "pars": []},
        {"kind": "lmc", "states": {"s": "a"}, "transitions": {"s": {"s": "1;"}}},
        {"kind": "pa", "states": ["s"], "transitions": [{"from": "s", "action": "a", "to": {"s": "one"}}]},
        {"kind": "pa", "states": ["s"], "transitions": [{"from": "s", "actoin": "a", "to": {"s": 1}}]},
        {"kind": "hmm", "observations": ["x"], "states": {"s": {"x": 1}}, "distribution": {"p": {"s": 1}}},
    ],
)
def test_what_is_no_model_is_refused(wrong: dict[str, Any]) -> None:
    assert not validator("model").is_valid(wrong)
    with pytest.raises(bisimdist.ModelError):
        bisimdist.parse_model(json.dumps(wrong))


def test_a_model_may_name_its_schema() -> None:
    model = '"kind": "lmc", "states": {"s": "a"}, "transitions": {"s": {"s": 1}}}'
    told = f'{{"$schema": "model.schema.json", {model}'
    assert (
        bisimdist.parse_model(told).digest()
        == bisimdist.parse_model(f"# yaml-language-server: $schema=model.schema.json\n{{{model}").digest()
    )
    demand("model", json.loads(told))
    with pytest.raises(bisimdist.ModelError, match="schema"):
        bisimdist.parse_model(told.replace('"model.schema.json"', "[]"))


@pytest.mark.parametrize("name", sorted(set(HOMES) - UNFILED))
def test_answers(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("survey.py").write_text("def response(secret, rng):\n    return rng.randrange(4) and secret\n")
    assert run([*name.split(), *shlex.split(question_of(name).example), "--json"]) in {0, 1}
    answer = json.loads(capsys.readouterr().out)
    demand("answer", answer)
    known = json_schema("answer")["$defs"]["fields"]["properties"]
    unknown = set(fields_of(answer)) - set(known)
    assert not unknown, "say what these are in bisimdist/faces/cli/schemas/answer.py"


def test_answers_of_the_checker_and_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    run(["check", str(CERTIFICATES / "correct/bracket-strict.json"), "--json"])
    demand("answer", json.loads(capsys.readouterr().out))
    answer = bisimdist.bound(bisimdist.build_example("figure1"), 2).to_json()
    demand("answer", json.loads(answer))


PAIR = {"from": "s0", "to": "s1", "upper": "4/25", "exact": True, "distance": "bd", "lower": "4/25"}
BOUND = {"command": "bound", "alpha": "2", "pairs": [PAIR], "schema": "bisimdist-answer", "version": 1}


@pytest.mark.parametrize(
    "wrong",
    [
        {name: value for name, value in BOUND.items() if name != "pairs"},
        {name: value for name, value in BOUND.items() if name != "command"},
        BOUND | {"pairs": None},
        BOUND | {"pairs": [["s0", "s1"]]},
        BOUND | {"pairs": [{name: value for name, value in PAIR.items() if name != "to"}]},
        BOUND | {"pairs": [PAIR | {"uper": "4/25"}]},
        BOUND | {"pairs": [PAIR | {"upper": "0.16"}]},
        BOUND | {"pairs": [PAIR | {"exact": "yes"}]},
        BOUND | {"aplha": "2"},
        BOUND | {"command": "bond"},
        BOUND | {"status": "done"},
        BOUND | {"version": 2},
        {"command": "check", "valid": True, "schema": "bisimdist-answer", "version": 1},
    ],
)
def test_what_is_no_answer_is_refused(wrong: dict[str, Any]) -> None:
    demand("answer", BOUND)
    assert not validator("answer").is_valid(wrong)


@pytest.mark.parametrize("folder", ["", *sorted(KINDS)])
def test_certificates(folder: str) -> None:
    check = validator("certificate")
    files = [path for at in ("correct", "incorrect") for path in (CERTIFICATES / at / folder).glob("*.json")]
    assert files
    for path in files[:: 1 + len(files) // 100]:
        wrong = jsonschema.exceptions.best_match(check.iter_errors(json.loads(path.read_text())))
        assert wrong is None, f"{path.name}: {wrong.json_path}: {wrong.message}"


def test_a_certificate_without_a_part_is_refused() -> None:
    check = validator("certificate")
    for path in (CERTIFICATES / "correct").glob("*/*coin.json"):
        document = json.loads(path.read_text())
        for key in ("format", "claims", "model"):
            assert not check.is_valid({name: part for name, part in document.items() if name != key})
