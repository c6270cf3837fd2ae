"""Tables of pairs on every command that has them: ``--top``, ``--csv``, ``--matrix``, ``--all-pairs``."""

from __future__ import annotations

import csv
import json
import shlex
from itertools import combinations
from pathlib import Path

import numpy
import pytest
from flint import fmpq

import bisimdist
from bisimdist.faces.asked.registry import HOMES, question_of
from bisimdist.faces.shown import tables
from bisimdist.faces.shown.matrix import Matrix
from bisimdist.faces.shown.pair_plot import draw_pairs
from bisimdist.faces.shown.pair_table import largest
from tests.cli.conftest import Command

TABLED = [name for name in HOMES if question_of(name).tabled]
MEASURED = [name for name in TABLED if question_of(name).tabled != "listed"]
CHAIN = "example:random,states=5"


def asked(name: str, tmp_path: Path) -> list[str]:
    if name == "program":
        source = "def response(secret, rng):\n    return secret if rng.randrange(4) else not secret\n"
        (tmp_path / "survey.py").write_text(source)
    words = shlex.split(question_of(name).example)
    return [*name.split(), *(str(tmp_path / word) if word.startswith("survey") else word for word in words)]


def test_all_commands_that_print_pairs_have_tables() -> None:
    """Those left have no pairs, or (profile, report, audit, classes, show) something else in their place."""
    assert set(HOMES) - set(TABLED) == {
        *(
            "audit",
            "budget",
            "compose",
            "classes",
            "convert",
            "example",
            "learn",
            "minimise",
            "paper",
            "profile",
            "report",
            "show",
        ),
        *("logic distance", "logic formula", "logic satisfies", "logic traces"),
    }


@pytest.mark.parametrize("name", TABLED)
def test_csv_has_a_row_for_each_pair(name: str, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "pairs.csv"
    ended = command(*asked(name, tmp_path), "--json", "--csv", path)
    pairs = json.loads(ended.out)["pairs"]
    with path.open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == sum(len(pair.get("measures", [0])) for pair in pairs)
    assert rows[0]["from"] == pairs[0]["from"]


@pytest.mark.parametrize("name", MEASURED)
def test_the_largest_pair_and_a_matrix(name: str, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "matrix.csv"
    ended = command(*asked(name, tmp_path), "--top", "1", "--matrix", path)
    assert ended.code == 0
    assert "largest 1 of" in ended.out
    with path.open() as stream:
        (_, *names), *rows = csv.reader(stream)
    assert [row[0] for row in rows] == names


def test_the_largest_come_first_and_the_rest_is_counted(command: Command) -> None:
    ask = ("delta", CHAIN, "--alpha", "11/10", "--all-pairs", "--gap", "1/10")
    every = json.loads(command(*ask, "--json").out)["pairs"]
    answer = json.loads(command(*ask, "--top", "4", "--json").out)
    assert (len(every), answer["pairs_asked"], len(answer["pairs"])) == (10, 10, 4)
    assert [fmpq(*map(int, pair["upper"].split("/"))) for pair in answer["pairs"]] == sorted(
        (fmpq(*map(int, pair["upper"].split("/"))) for pair in every), reverse=True
    )[:4]
    table = command(*ask, "--top", "4").out
    assert sum(line.startswith("s") for line in table.splitlines()) == 4


@pytest.mark.parametrize("name", MEASURED)
def test_of_a_long_table_a_person_is_shown_the_beginning(
    name: str, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MOST", 0)
    words = asked(name, tmp_path)
    assert "--csv have all, --top N the largest." in command(*words).out
    assert "not shown" not in command(*words, "--json").out
    assert "not shown" not in command(*words, "--top", "1").out


def test_infinity_is_the_largest() -> None:
    pairs = [{"from": "s", "to": t, "ratio": r} for t, r in (("a", "2"), ("b", "inf"), ("c", "9/4"))]
    assert [pairs[k]["to"] for k in largest(pairs, 2)] == ["b", "c"]


def test_a_divergence_is_not_the_same_back(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "kl.csv"
    command("leakage", "example:figure1", "--measure", "kl", "--pair", "s0", "s1", "--matrix", path)
    with path.open() as stream:
        assert list(csv.reader(stream))[2] == ["s1", "", "0"]
    ended = command("leakage", "example:figure1", "--measure", "tv", "--all-pairs", "--json")
    assert len(json.loads(ended.out)["pairs"]) == 12


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--all-pairs", "--pair", "s0", "s1"), "both say which pairs"),
        (("--matrix", "d.txt"), "--matrix d.txt: expected a file name that ends in .csv"),
        (("--top", "0"), "--top 0"),
    ],
)
def test_what_makes_no_table_is_refused(words: tuple[str, ...], said: str, command: Command) -> None:
    ended = command("bound", "example:figure1", "--alpha", "1", *words)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


def test_not_all_states_of_a_program_are_inputs(command: Command, tmp_path: Path) -> None:
    ended = command(*asked("program", tmp_path), "--all-pairs")
    assert ended.code == 2
    assert "--neighbours all" in ended.err


def test_verdicts_are_in_the_table(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    command("bound", "example:figure1", "--alpha", "1", "--threshold", "1/10", "--csv", path)
    assert path.read_text().splitlines()[1].endswith(",violated")


def test_a_matrix_is_exact_and_a_table_of_doubles() -> None:
    chain = bisimdist.build_example("random,states=5")
    answer = bisimdist.bound(chain, "11/10", pairs=list(combinations(chain.states, 2)))
    matrix = answer.matrix()
    assert matrix.complete
    assert [matrix.entries[0][1], matrix.entries[1][0]] == [answer.pairs[0].upper] * 2
    assert numpy.array_equal(numpy.asarray(matrix), matrix.to_numpy())
    assert float(answer.pairs[0].upper) == matrix.to_numpy()[0, 1]
    assert answer.csv().count("\n") == 11


def test_ratios_become_logarithms_and_what_was_not_asked_is_no_number() -> None:
    pairs = [{"from": "s", "to": "t", "ratio": "1"}, {"from": "t", "to": "u", "ratio": "inf"}]
    table = Matrix.of_pairs(pairs).to_numpy()
    assert table[0, 1] == 0
    assert numpy.isinf(table[2, 1])
    assert numpy.isnan(table[0, 2])


@pytest.mark.extra("plot")
def test_pictures(tmp_path: Path, command: Command) -> None:
    for suffix in ("svg", "npy"):
        ask = ("metric", "example:pin-checking", "--kind", "accumulative", "--all-pairs")
        assert command(*ask, "--matrix", tmp_path / f"m.{suffix}").code == 0
        assert (tmp_path / f"m.{suffix}").stat().st_size > 1000
    chain = bisimdist.build_example("figure1")
    answer = bisimdist.delta(chain, "11/10")
    assert answer.plot().axes
    assert answer.plot().get_suptitle() == answer.report().heading
    with pytest.raises(bisimdist.UsageError, match="all-pairs"):
        bisimdist.leakage(chain, "kl").matrix().plot()


def test_what_has_no_numbers_says_so() -> None:
    automaton = bisimdist.build_any_example("randomised-response-pa")
    assert isinstance(automaton, bisimdist.PA)
    with pytest.raises(bisimdist.UsageError, match="no number for each pair"):
        bisimdist.traces.trace_equivalence(automaton).matrix()


@pytest.mark.extra("plot")
def test_a_picture_of_many_pairs_has_the_largest_and_says_so() -> None:
    pairs = [{"from": f"s{k}", "to": "t", "lower": str(k % 2), "upper": str(k)} for k in range(90)]
    pairs.append({"from": "far", "to": "t", "lower": "1", "upper": "inf"})
    figure = draw_pairs(pairs, "some distance")
    assert figure.get_suptitle() == "some distance: the largest 60 of 91 pairs"
    ticks = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert (len(ticks), ticks[0], ticks[-1]) == (60, "far, t", "s31, t")
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named == ["between two bounds", "no finite bound"]


def test_a_matrix_is_shown_in_short() -> None:
    names = [f"s{k}" for k in range(40)]
    pairs = [{"from": s, "to": t, "upper": "1/3"} for s, t in combinations(names, 2)]
    matrix = Matrix.of_pairs(pairs)
    assert repr(matrix) == "<Matrix of 40 states, 1600 entries>"
    page = matrix._repr_html_()
    assert ("of which 20 are shown" in page, page.count("<tr>"), page.count("<td>")) == (True, 21, 420)
    assert "of which" not in Matrix.of_pairs(pairs[:3])._repr_html_()
