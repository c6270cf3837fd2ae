"""Every condition of the checker is needed, and a file of ``tests/certificates`` shows it."""

from __future__ import annotations

import pytest

from tests.checker.mutants import modules, mutants
from tests.checker.mutation import Corpus, compiled, explained, reason_for, run, stale


@pytest.fixture(scope="module")
def whole() -> Corpus:
    return Corpus(compiled())


def test_mutants_have_different_names_and_compile() -> None:
    everything = [mutant for module in modules() for mutant in mutants(module)]
    assert len({mutant.key for mutant in everything}) == len(everything)
    assert all(mutant.code() for mutant in everything[::200])


def test_what_is_explained_exists() -> None:
    assert stale(explained()) == []


def test_a_refusal_that_a_file_needs_is_missed() -> None:
    corpus = Corpus(compiled(), ["incorrect/U1-above-one", "correct/upper-only", "malformed/no-claims"])
    refusals = [m for m in mutants("claims.distance") if "no raise" in m.key]
    mutant = next(mutant for mutant in refusals if "the upper bound is less" in mutant.key)
    assert corpus.kill(mutant) == "survived"
    corpus = Corpus(compiled(), ["incorrect/C1-upper-above-one"])
    assert corpus.kill(mutant) == "incorrect/C1-upper-above-one: valid"


@pytest.mark.slow
@pytest.mark.parametrize("module", modules())
def test_nothing_survives_without_a_reason(module: str, whole: Corpus) -> None:
    reasons = explained()
    results = {mutant.key: result for mutant, result in run([module], corpus=whole)}
    survivors = {key for key, result in results.items() if result == "survived"}
    assert [key for key in sorted(survivors) if not reason_for(key, reasons)] == []
    assert sorted((results.keys() & reasons.keys()) - survivors) == []  # no reason where none is needed
