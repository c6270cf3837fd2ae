# ruff: noqa: RUF001
"""Theorems for Lean and Rocq: their numbers, what Rocq accepts of them, and what is too long for one."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist import mechanism_budget
from bisimdist.budgets.engine.budget import geometric_family, noisy_max_family
from bisimdist.errors import UsageError
from bisimdist.models.io.theorem import Laws, laws, laws_of_chain
from bisimdist.models.io.theorem_writers import WRITERS
from bisimdist.models.lmc import LMC
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)

GOLDEN = Path(__file__).parent / "theorems"
PROGRAM = """
def response(bits, rng):
    return [bit if rng.randrange(4) else 1 - bit for bit in bits]

def leak(bit, rng):
    return bit

def endless(bit, rng):
    while rng.randrange(2):
        bit += 1
    return bit
"""
COMMANDS = {
    "response": "budget FILE:response --domain 0,1 --size 2 --{assistant} OUT",
    "law": "show FILE:response --input [0] --input [1] --format {assistant} -o OUT",
    "noisy-max": "budget noisy-max,n=2 --{assistant} OUT",
}
EXTENSIONS = {"lean": "lean", "rocq": "v"}


def asked(line: str, assistant: str, command: Command, folder: Path) -> str:  # noqa: F811
    (folder / "program.py").write_text(PROGRAM)
    out = folder / f"out.{EXTENSIONS[assistant]}"
    words = line.format(assistant=assistant).replace("FILE", str(folder / "program.py")).split()
    assert command(*[str(out) if word == "OUT" else word for word in words]).code == 0
    return out.read_text(encoding="utf-8")


@pytest.mark.parametrize("assistant", EXTENSIONS)
@pytest.mark.parametrize("name", COMMANDS)
def test_the_text_is_the_one_that_was_looked_at(
    name: str,
    assistant: str,
    command: Command,  # noqa: F811
    tmp_path: Path,
) -> None:
    text = asked(COMMANDS[name], assistant, command, tmp_path)
    assert text == (GOLDEN / f"{name}.{EXTENSIONS[assistant]}").read_text(encoding="utf-8")


def between(text: str, start: str, end: str) -> str:
    found = re.search(re.escape(start) + r"(.*?)" + re.escape(end), text, re.DOTALL)
    assert found is not None
    return found[1]


def numbers_of_rocq(text: str) -> list[list[fmpq]]:
    body = between(text, "Definition laws : list (list Q) := [\n", "].\n")
    return [
        [fmpq(int(p), int(q)) for p, q in re.findall(r"\((\d+)#(\d+)\)", line)] for line in body.splitlines()
    ]


def numbers_of_lean(text: str) -> list[list[fmpq]]:
    totals = [int(d) for d in re.findall(r"\d+", between(text, "def totals : List ℕ := [", "]"))]
    body = between(text, "def weights : List (List ℕ) := [\n", "]\n\n")
    rows = [[int(w) for w in re.findall(r"\d+", line)] for line in body.splitlines()]
    assert [sum(row) for row in rows] == totals
    return [[fmpq(w, d) for w in row] for row, d in zip(rows, totals, strict=True)]


weights = st.lists(st.integers(0, 10**20), min_size=3, max_size=3).filter(any)


@settings(max_examples=25, deadline=None)
@given(rows=st.lists(weights, min_size=1, max_size=4))
def test_both_texts_have_the_numbers_of_the_law(rows: list[list[int]]) -> None:
    table = tuple(tuple(fmpq(w, sum(row)) for w in row) for row in rows)
    law = Laws("any", tuple(map(str, range(len(rows)))), ("x", "y", "z"), table)
    assert numbers_of_rocq(WRITERS["rocq"](law)) == list(map(list, table))
    assert numbers_of_lean(WRITERS["lean"](law)) == list(map(list, table))


@pytest.mark.parametrize("adjacency", ["one", "all"])
def test_a_mechanism_has_its_laws_and_all_its_neighbours(adjacency: str) -> None:
    for family in (noisy_max_family(2), noisy_max_family(3, ties="first"), geometric_family(levels=4)):
        found = mechanism_budget(family, adjacency)
        law = found.laws()
        assert len(law.neighbours) * 2 == found.result.pairs
        ratios = [
            p / q
            for pair in law.neighbours
            for i, j in (pair, pair[::-1])
            for p, q in zip(law.rows[i], law.rows[j], strict=True)
        ]
        assert max(ratios) == found.ratio
        i, j, o = law.attained()
        assert law.rows[i][o] / law.rows[j][o] == found.ratio


def test_words_of_labels_go_on_for_ever_with_their_last_one() -> None:
    chain = LMC.from_mappings(
        {"s": "a", "t": "b", "u": "b", "v": "c"},
        {
            "s": {"t": "1/2", "u": "1/3", "v": "1/6"},
            "t": {"u": "1/2", "v": "1/2"},
            "u": {"u": 1},
            "v": {"v": 1},
        },
    )
    law = laws_of_chain(chain)
    assert law.inputs == ("s",)
    assert dict(zip(law.outputs, law.rows[0], strict=True)) == {
        '["a", "b"]': fmpq(7, 12),
        '["a", "c"]': fmpq(1, 6),
        '["a", "b", "c"]': fmpq(1, 4),
    }


def test_words_have_the_probabilities_of_their_beginnings() -> None:
    chance = random.Random(7)
    for _ in range(20):
        names = [str(k) for k in range(6)]
        rows = {name: {name: 1} for name in names[4:]}
        for k, name in enumerate(names[:4]):
            some = chance.sample(names[k + 1 :], 2)
            rows[name] = {some[0]: fmpq(1, 3), some[1]: fmpq(2, 3)}
        chain = LMC.from_mappings({name: chance.choice("ab") for name in names}, rows)
        law = laws_of_chain(LMC(chain.states, chain.labels, chain.rows, ((0, 1),)))
        for start, row in zip((0, 1), law.rows, strict=True):
            beginnings: dict[str, fmpq] = {}
            for output, p in zip(law.outputs, row, strict=True):
                word = "".join(re.findall(r'"(\w)"', output)) or f"{chain.labels[start]}{output}"
                begun = (word + word[-1] * 8)[:8]
                beginnings[begun] = beginnings.get(begun, fmpq(0)) + p
            assert {w: p for w, p in beginnings.items() if p} == words_of(chain, start, 8)


def words_of(chain: LMC, state: int, length: int) -> dict[str, fmpq]:
    if length == 1:
        return {chain.labels[state]: fmpq(1)}
    found: dict[str, fmpq] = {}
    for target, p in chain.rows[state]:
        for word, q in words_of(chain, target, length - 1).items():
            found[chain.labels[state] + word] = found.get(chain.labels[state] + word, fmpq(0)) + p * q
    return found


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        (
            "budget FILE:response --domain 0,1 --size 2 --alpha 2 --rocq OUT",
            2,
            "neither --alpha nor --epsilon",
        ),
        ("budget noisy-max,n=6 --rocq OUT", 2, "729 inputs"),
        ("budget geometric,levels=200 --lean OUT", 2, "40000 probabilities"),
        ("budget FILE:endless --input 0 --input 1 --cut 1/1000 --lean OUT", 2, "cut off"),
        ("budget FILE:leak --input 0 --input 1 --lean OUT", 3, "finite and exact ratio"),
        ("show example:dining-cryptographers-pa --format lean", 2, "only Markov chains"),
        ("show example:contagious-disease -o OUT", 2, "only Markov chains"),
    ],
)
def test_what_is_no_theorem_is_refused(
    line: str,
    code: int,
    said: str,
    command: Command,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    out = tmp_path / "out.lean"
    words = line.replace("FILE", str(tmp_path / "program.py")).replace("OUT", str(out)).split()
    found = command(*words)
    assert (found.code, said in found.err) == (code, True), found
    assert not out.exists()


def test_a_law_of_too_many_inputs_is_refused() -> None:
    with pytest.raises(UsageError, match="501 inputs; a theorem is written of at most 500"):
        laws("f", {str(k): {"x": fmpq(1)} for k in range(501)})


def test_a_chain_whose_runs_do_not_end_is_refused() -> None:
    chain = LMC.from_mappings({"s": "a", "t": "b"}, {"s": {"s": "1/2", "t": "1/2"}, "t": {"t": 1}})
    with pytest.raises(UsageError, match="go on after 500 steps"):
        laws_of_chain(chain)


def test_a_tree_of_too_many_words_is_refused() -> None:
    names = [f"{k}{side}" for k in range(20) for side in "ab"]
    rows = {name: {f"{int(name[:-1]) + 1}{side}": "1/2" for side in "ab"} for name in names[:-2]}
    rows |= {name: {name: "1"} for name in names[-2:]}
    chain = LMC.from_mappings({name: name for name in names}, rows)
    with pytest.raises(UsageError, match="more than 20000 words"):
        laws_of_chain(chain)


NASTY = ['say "x"', "a\nb", "*)", "-/", "\\", "\ud800", "λ", "]."]


def test_names_stay_names() -> None:
    law = laws("end -/ *) Type", {name: {name: fmpq(1)} for name in NASTY})
    lean, rocq = WRITERS["lean"](law), WRITERS["rocq"](law)
    assert law.identifier() == "law_of_end_Type"
    assert r'"say \"x\"", "a\\nb", "*)", "-/", "\\", "\\ud800", "λ", "]."' in lean
    assert r'"say ""x"""; "a\nb"; "*)"; "-/"; "\"; "\ud800"; "λ"; "]."' in rocq


def accepted(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "theorem.v").write_text(text, encoding="utf-8")
    return subprocess.run(
        ["coqc", "theorem.v"], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )


with_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")


@with_coq
@pytest.mark.parametrize(
    "name", [name if name == "response" else pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS]
)
def test_rocq_accepts_the_theorems_without_axioms(name: str, tmp_path: Path) -> None:
    text = (GOLDEN / f"{name}.v").read_text(encoding="utf-8")
    found = accepted(text, tmp_path)
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("Closed under the global context") == text.count("Print Assumptions")


@with_coq
def test_rocq_reads_any_names(tmp_path: Path) -> None:
    law = laws("end -/ *) Type", {name: {name: fmpq(1)} for name in NASTY})
    found = accepted(WRITERS["rocq"](law), tmp_path)
    assert found.returncode == 0, found.stderr


@with_coq
@pytest.mark.slow
@pytest.mark.parametrize(
    ("true", "forged"),
    [
        ("  [(9#16); ", "  [(10#16); "),  # no longer a law
        ("  [(9#16); (3#16); ", "  [(10#16); (2#16); "),  # a law, but of a larger ratio
        ("Definition ratio : Q := (3#1)", "Definition ratio : Q := (2#1)"),
        ("Definition ratio : Q := (3#1)", "Definition ratio : Q := (4#1)"),  # true, but not attained
        ("neighbours : list (N * N) := [", "neighbours : list (N * N) := [(0, 3); "),
        ('inputs : list string := ["', 'inputs : list string := ["more"; "'),
    ],
)
def test_rocq_refuses_forged_numbers(true: str, forged: str, tmp_path: Path) -> None:
    text = (GOLDEN / "response.v").read_text(encoding="utf-8")
    assert true in text
    assert accepted(text.replace(true, forged, 1), tmp_path).returncode != 0


def test_long_numbers_are_written() -> None:
    small = fmpq(1, 3**10_000)
    law = Laws("f", ("s",), ("x", "y"), ((small, 1 - small),))
    assert numbers_of_rocq_lengths(WRITERS["rocq"](law)) == [(1, 4772), (4772, 4772)]
    assert str(3**10_000 % 10**9) in WRITERS["lean"](law)


def numbers_of_rocq_lengths(text: str) -> list[tuple[int, int]]:
    return [(len(p), len(q)) for p, q in re.findall(r"\((\d+)#(\d+)\)", text)]
