"""The checker that is extracted from the proofs: the verdicts of the Python checker, where it is built."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from bisimdist.faces.cli import proved
from bisimdist.faces.cli.main import run
from bisimdist.privacy.compose.ask import compose
from bisimdist.privacy.report.carried import covered

FORMAL = Path(__file__).parents[2] / "formal"
CORRECT = FORMAL.parent / "tests" / "certificates" / "correct"
built = pytest.mark.skipif(not proved.BUILT.exists(), reason="the proved checker is not built (formal/check)")


@pytest.fixture
def compare() -> Any:
    spec = spec_from_file_location("formal_compare", FORMAL / "compare.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_it_is_looked_for_where_it_is_built() -> None:
    assert proved.BUILT.parent.parent == FORMAL.resolve()


@built
def test_every_file_and_its_mutants(compare: Any) -> None:
    cases = list(compare.corpus())
    bases = [json.loads(case.text) for case in cases if "malformed" not in case.group]
    bases = [document for document in bases if document.get("kind") in compare.COVERED]
    cases.extend(compare.mutants(bases, 1500, 1))
    verdicts = {verdict for verdict, _ in compare.of_proved(case.text for case in cases)}
    assert verdicts == {"valid", "not valid", "malformed", "not covered"}
    assert compare.compare(cases) == 0


@built
def test_compositions_of_finite_laws(compare: Any) -> None:
    """Each outcome has files that are covered; answers are valid, and units of theirs fall with the loss."""
    for outcome, verdict in (("correct", "valid"), ("incorrect", "not valid"), ("malformed", "malformed")):
        texts = [path.read_bytes() for path in (CORRECT.parent / outcome / "composition").glob("*.json")]
        said = [found for found, _ in compare.of_proved(texts)]
        assert said.count(verdict) >= 4
        assert set(said) <= {verdict, "not covered"} | ({"valid"} if outcome == "incorrect" else set())
    response = {"randomised-response": {"truth": "3/4"}, "times": 2}
    private = {"approximate": {"epsilon": "1/3", "delta": "1/1000"}, "times": 3}
    tilts = []
    for mechanisms in ([response], [response, private]):
        asked = compose(mechanisms)
        asked.delta(2)
        document: Any = asked.certificate()
        tilts.append(any("tilt" in tape for tapes in document["tapes"].values() for tape in tapes))
        worse = json.loads(json.dumps(document))
        worse["claims"][0]["upper"] = worse["claims"][0]["lower"]
        better = json.loads(json.dumps(document))
        better["claims"][0]["lower"] = better["claims"][0]["upper"]
        texts = [json.dumps(each).encode() for each in (document, worse, better)]
        assert [found for found, _ in compare.of_proved(texts)] == ["valid", "not valid", "not valid"]
    assert any(tilts)


@built
@pytest.mark.parametrize(
    "folders",
    [
        ("cut", "merge", "quotient"),
        ("leakage",),
        ("metric",),
        ("hmm-budget", "hmm-all-lengths", "hmm-no-budget", "hmm-several"),
    ],
)
def test_forgeries_are_refused(compare: Any, folders: tuple[str, ...]) -> None:
    """What the rules of a step or of a kind forbid is not left to the other checker."""
    for outcome, verdict in (("correct", "valid"), ("incorrect", "not valid")):
        paths = [path for name in folders for path in (CORRECT.parent / outcome / name).glob("*.json")]
        texts = {path: text for path in sorted(paths) if covered(json.loads(text := path.read_bytes()))}
        assert len(texts) > 20
        said = dict(zip(texts, (verdict for verdict, _ in compare.of_proved(texts.values())), strict=True))
        for path, found in said.items():
            about_another = outcome == "incorrect" and path.with_suffix(".model").exists()
            assert found == ("valid" if about_another else verdict), path.name


@built
def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    valid = CORRECT / "cycle-skewed.json"
    assert run(["check", "--with", "formal", str(valid)]) == 0
    assert "proves every claim" in capsys.readouterr().out
    forged = CORRECT.parent / "incorrect" / "L5-shortcut.json"
    assert run(["check", "--with", "formal", "--json", str(forged)]) == 1
    assert "proved checker" in json.loads(capsys.readouterr().out)["reason"]
    assert run(["check", "--with", "formal", str(next((CORRECT / "generalised-metric").glob("*.json")))]) == 2
    assert "'generalised-metric' about models of kind 'pa' are not covered" in capsys.readouterr().err
    assert run(["check", "--with", "formal", str(CORRECT / "interactive-bracket.json")]) == 2
    assert "about models of kind 'interactive' are not covered" in capsys.readouterr().err
    assert run(["check", "--with", "formal", str(CORRECT / "nature" / "distance-intervals.json")]) == 2
    assert "are not covered" in capsys.readouterr().err


@built
@pytest.mark.parametrize("outcome", ["correct", "incorrect"])
def test_the_model_that_is_given_is_looked_at(outcome: str) -> None:
    models = (CORRECT.parent / outcome).glob("hmm-*/*.model")
    found = []
    for model in sorted(models):
        done = subprocess.run(
            [proved.BUILT, model.with_suffix(".json"), model], capture_output=True, text=True, check=False
        )
        found.append(done.stdout.partition(": ")[0].strip())
    assert set(found) <= {"valid" if outcome == "correct" else "not valid", "not covered"}
    assert len(set(found)) == 2


@built
def test_another_model_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    certificate = str(CORRECT / "figure1-three-halves.json")
    assert run(["check", "--with", "formal", certificate, "example:figure1"]) == 0
    assert run(["check", "--with", "formal", certificate, "example:leaky-retry"]) == 1
    metric = CORRECT / "metric"
    for name in ("metric-acc-given", "metric-of-a-chain"):
        given = [str(metric / f"{name}.json"), str(metric / f"{name}.model")]
        assert run(["check", "--with", "formal", *given]) == 0
        assert run(["check", "--with", "formal", given[0], "example:figure1"]) == 1
    capsys.readouterr()


def test_where_it_is_not_built(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(proved, "BUILT", Path("nowhere"))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert run(["check", "--with", "formal", str(CORRECT / "cycle-skewed.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_every_main_theorem_is_asked_for_its_axioms() -> None:
    """What the README lists is what ``Print Assumptions`` is asked about."""
    asked = set(re.findall(r"conj \(@(\w+)", (FORMAL / "theories/Assumptions.v").read_text(encoding="utf-8")))
    listed = set(re.findall(r"`(\w+)`", (FORMAL / "README.md").read_text(encoding="utf-8")))
    proofs = "".join(path.read_text(encoding="utf-8") for path in (FORMAL / "theories").glob("*.v"))
    named = set(re.findall(r"^(?:Theorem|Corollary|Lemma|Definition) (\w+)", proofs, re.MULTILINE))
    assert len(asked) > 30
    assert asked <= named
    assert asked <= listed
    assert not re.search(r"\b(Admitted|admit|Axiom|Parameter)\b\.?\s", proofs)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")
def test_the_proofs() -> None:
    done = subprocess.run([FORMAL / "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "closed under the global context" in done.stdout
