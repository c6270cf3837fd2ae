"""d_X-privacy: the least epsilon over all pairs of secrets, and the distances between them."""

from __future__ import annotations

import time
from itertools import product
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.errors import ModelError, UsageError
from bisimdist.models.lmc import LMC
from bisimdist.progress import Deadline
from bisimdist.traces.secrets.ask import secret_privacy
from bisimdist.traces.secrets.budgets import AdditiveBudget, Budget
from bisimdist.traces.secrets.distances import secret_distances
from bisimdist.traces.secrets.file import load_secret_table
from tests.speed import leeway
from tests.words.fully_probabilistic import randomised_responses

ONE, HALF = fmpq(1), fmpq(1, 2)


def bits(length: int, truth: fmpq) -> LMC:
    """Return a chain that answers each bit of a secret truthfully with a probability; a state by secret."""
    labels: dict[str, str] = {"end": "end"}
    rows: dict[str, dict[str, fmpq]] = {"end": {"end": ONE}}
    for count in range(length + 1):
        for word in ("".join(word) for word in product("01", repeat=count)):
            labels[f"s{word}"] = "ask" if count else "done"
            rows[f"s{word}"] = {"end": ONE}
            if count:
                rows[f"s{word}"] = {f"say0{word[1:]}": ONE - truth, f"say1{word[1:]}": ONE - truth}
                rows[f"s{word}"][f"say{word}"] = truth
    for name in list(labels):
        if name.startswith("s") and name != "s":
            rest = name[2:]
            for said in "01":
                labels[f"say{said}{rest}"] = said
                rows[f"say{said}{rest}"] = {f"s{rest}": ONE}
    return LMC.from_mappings(labels, rows)


def counting(levels: int, ratio: fmpq) -> LMC:
    """Return a chain whose state n answers m with a probability falling by `ratio` for each step between."""
    labels: dict[str, str] = {}
    rows: dict[str, dict[str, fmpq]] = {}
    for n in range(levels):
        weights = [ratio ** -abs(n - m) for m in range(levels)]
        # the ends take what is beyond them, which keeps neighbours exactly one ratio apart
        weights = [w / (1 - 1 / ratio) if m in (0, levels - 1) else w for m, w in enumerate(weights)]
        whole = sum(weights, fmpq(0))
        labels[f"n{n}"], labels[f"a{n}"] = "query", str(n)
        rows[f"n{n}"] = {f"a{m}": w / whole for m, w in enumerate(weights)}
        rows[f"a{n}"] = {f"a{n}": ONE}
    return LMC.from_mappings(labels, rows)


def test_local_privacy_is_the_discrete_distance() -> None:
    answer = secret_privacy(randomised_responses(), {"yes": "sy", "no": "sn"}, "discrete")
    assert answer.exact
    assert answer.upper == Budget(fmpq(3), ONE)
    assert answer.epsilon() == ("1.0986", "1.0987")
    assert answer.worst[0].bound.witness[:2] == ("tau", "tau")
    assert "d_X-privacy" in answer._repr_html_()


def test_bits_answered_one_by_one_lose_ln_3_a_bit() -> None:
    """The Hamming distance: only neighbours are looked at, and that changes nothing."""
    chain = bits(3, fmpq(3, 4))
    secrets = {word: f"s{word}" for word in ("".join(w) for w in product("01", repeat=3))}
    answer = secret_privacy(chain, secrets, "hamming")
    assert answer.exact
    assert answer.upper == Budget(fmpq(3), ONE)
    assert (len(answer.pairs), answer.saved) == (12, 16)
    everything = secret_privacy(chain, secrets, "hamming", every_pair=True)
    assert (len(everything.pairs), everything.saved) == (28, 0)
    assert not everything.upper < answer.upper
    assert not answer.upper < everything.upper
    assert len(everything.worst) == 28  # every pair loses exactly its distance
    assert secret_privacy(chain, secrets, "discrete").upper == Budget(fmpq(27), ONE)


def test_a_missing_secret_between_two_others_isno_way() -> None:
    chain = bits(2, fmpq(3, 4))
    answer = secret_privacy(chain, {"00": "s00", "11": "s11"}, "hamming")
    assert (len(answer.pairs), answer.saved) == (1, 0)
    assert answer.upper == Budget(fmpq(9), fmpq(2))
    assert answer.epsilon() == ("1.0986", "1.0987")  # ln 9 / 2 = ln 3


def test_counts_with_geometric_noise() -> None:
    chain = counting(5, fmpq(2))
    secrets = {str(n): f"n{n}" for n in range(5)}
    answer = secret_privacy(chain, secrets, "absolute")
    everything = secret_privacy(chain, secrets, "absolute", every_pair=True)
    assert len(answer.pairs) == 4
    assert answer.upper == Budget(fmpq(2), ONE)
    assert not answer.upper < everything.upper
    assert not everything.upper < answer.upper


@settings(max_examples=50)
@given(
    st.fractions(1, 5, max_denominator=6),
    st.fractions(1, 5, max_denominator=6),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_budgets_are_compared_by_integer_powers(r: object, s: object, p: int, q: int) -> None:
    one, other = fmpq(*_parts(r)), fmpq(*_parts(s))
    first, second = Budget(one, fmpq(p, 3)), Budget(other, fmpq(q, 3))
    assert (first < second) == (one**q < other**p)
    assert (second < first) == (other**p < one**q)


def _parts(value: object) -> tuple[int, int]:
    return int(getattr(value, "numerator")), int(getattr(value, "denominator"))  # noqa: B009


def test_budgets_that_are_equal_or_infinite() -> None:
    assert not Budget(fmpq(9), fmpq(2)) < Budget(fmpq(3), ONE)
    assert not Budget(fmpq(3), ONE) < Budget(fmpq(9), fmpq(2))
    assert Budget(fmpq(9), fmpq(2)) < Budget(fmpq(3) + fmpq(1, 10**50), ONE)
    assert Budget(None, ONE).infinite
    assert Budget(fmpq(2), fmpq(0)).infinite
    assert not Budget(ONE, fmpq(0)).infinite
    assert Budget(fmpq(10**9), ONE) < Budget(None, ONE)
    assert not Budget(None, ONE) < Budget(None, fmpq(2))
    assert Budget(ONE, fmpq(0)) < Budget(fmpq(2), ONE)
    assert Budget(ONE, ONE).epsilon() == ("0", "0")
    assert Budget(None, ONE).epsilon() == ("inf", "inf")


def test_a_threshold_is_decided_as_the_least_epsilon_is() -> None:
    chain = bits(3, fmpq(3, 4))
    secrets = {word: f"s{word}" for word in ("".join(w) for w in product("01", repeat=3))}
    for every_pair in (False, True):
        holds = secret_privacy(chain, secrets, "hamming", threshold="1.0987", every_pair=every_pair)
        assert (holds.verdict, holds.holds, holds.unexamined) == ("holds", True, 0)
        assert all(pair.at_most("1.0987") for pair in holds.pairs)
        violated = secret_privacy(chain, secrets, "hamming", threshold="1.0986", every_pair=every_pair)
        assert (violated.verdict, len(violated.pairs)) == ("violated", 1)  # one is enough
        assert violated.unexamined == (27 if every_pair else 11)
        assert violated.upper.infinite
        assert violated.lower == Budget(fmpq(3), ONE)
        assert "violated" in violated._repr_html_()
    answer = secret_privacy(chain, secrets, "hamming")
    assert (answer.at_most("1.0987"), answer.at_most("1.0986")) == (True, False)
    assert (answer.threshold, answer.holds) == (None, None)
    with pytest.raises(UsageError, match="threshold"):
        secret_privacy(chain, secrets, threshold=-1)


def test_of_two_names_of_one_state_the_closer_one_decides() -> None:
    table = {("a", "b"): 2, ("a", "c"): 1, ("b", "c"): 5}
    secrets = {"a": "sy", "b": "sn", "c": "sn"}
    answer = secret_privacy(randomised_responses(), secrets, table, threshold="0.6")
    assert answer.verdict == "violated"
    assert secret_privacy(randomised_responses(), secrets, table, threshold="1.1").verdict == "holds"


def test_additive_budgets() -> None:
    """The additive metric of single traces over a whole set, and for each unit of a distance."""
    chain = bits(2, fmpq(3, 4))
    secrets = {word: f"s{word}" for word in ("00", "01", "10", "11")}
    answer = secret_privacy(chain, secrets, kind="additive")
    assert answer.title == "additive trace metric of single traces, over all secrets"
    assert answer.upper == AdditiveBudget(HALF, ONE)  # 9/16 against 1/16
    assert answer.exact
    hamming = secret_privacy(chain, secrets, "hamming", kind="additive")
    everything = secret_privacy(chain, secrets, "hamming", kind="additive", every_pair=True)
    assert (len(hamming.pairs), hamming.saved, len(everything.pairs)) == (4, 2, 6)
    assert hamming.upper == everything.upper
    assert (answer.at_most("1/2"), answer.at_most("0.49999")) == (True, False)
    assert AdditiveBudget(HALF, fmpq(0)).infinite
    assert AdditiveBudget(HALF, fmpq(0)).epsilon() == ("inf", "inf")
    assert AdditiveBudget(fmpq(0), fmpq(0)).value == 0
    assert AdditiveBudget(HALF, ONE) < AdditiveBudget(HALF, fmpq(0))
    assert not AdditiveBudget(HALF, fmpq(0)) < AdditiveBudget(HALF, ONE)
    for one, other in (
        (AdditiveBudget(HALF, ONE), Budget(ONE, ONE)),
        (Budget(ONE, ONE), AdditiveBudget(HALF, ONE)),
    ):
        with pytest.raises(UsageError, match="compared"):
            assert one < other


def test_when_the_time_is_over_nothing_is_examined() -> None:
    secrets = {"yes": "sy", "no": "sn"}
    for kind in ("multiplicative", "additive"):
        answer = secret_privacy(
            randomised_responses(), secrets, kind=kind, threshold=1000, deadline=Deadline.after(0)
        )
        assert (answer.pairs, answer.unexamined, answer.holds) == ((), 1, None)
        assert not answer.exact
        assert answer.certificate()["claims"]


def test_distance_zero_demands_equivalence() -> None:
    secrets = {"yes": "sy", "no": "sn"}
    answer = secret_privacy(randomised_responses(), secrets, {("yes", "no"): 0})
    assert answer.upper.infinite
    assert answer.exact
    answer = secret_privacy(randomised_responses(), {"one": "sy", "other": "sy"}, {("one", "other"): 0})
    assert answer.epsilon() == ("0", "0")


def test_a_table_that_isno_metric_is_taken_as_it_is() -> None:
    chain = counting(3, fmpq(2))
    secrets = {n: f"n{n}" for n in range(3)}
    table = {(0, 1): 1, (1, 2): 1, (0, 2): 5}
    answer = secret_privacy(chain, secrets, table)
    assert answer.distances.triangles == ((0, 1, 2),)
    assert (len(answer.pairs), answer.saved) == (3, 0)
    assert secret_privacy(chain, secrets, {**table, (0, 2): "2"}).saved == 1


def test_distances_that_are_refused() -> None:
    for table, words in (
        ({("x", "y"): "-1"}, "at least 0"),
        ({("x", "y"): 1, ("y", "x"): 2}, "in the other"),
        ({("x", "x"): 1, ("x", "y"): 1}, "itself"),
        ({("x", "x"): 0}, "no distance"),
        ({("x", "y"): 1, ("x", "z"): 1}, "no secret"),
    ):
        with pytest.raises(UsageError, match=words):
            secret_distances(["x", "y"], table)
    with pytest.raises(UsageError, match="there is no distance"):
        secret_distances(["x", "y"], "euclid")
    with pytest.raises(UsageError, match="differ in length"):
        secret_distances(["x", "yy"], "hamming")
    with pytest.raises(UsageError, match="neither"):
        secret_distances([1, 2], "hamming")
    with pytest.raises(UsageError, match="no number"):
        secret_distances(["1", "two"], "absolute")
    with pytest.raises(UsageError, match="twice"):
        secret_distances(["x", "x"], "discrete")
    assert secret_distances([("a", 1), ("a", 2)], "hamming").between(1, 0) == 1
    assert secret_distances(["1/2", "2"], "absolute").between(0, 1) == fmpq(3, 2)


def test_secrets_that_are_refused() -> None:
    with pytest.raises(UsageError, match="at least two"):
        secret_privacy(randomised_responses(), {"yes": "sy"})
    with pytest.raises(ModelError, match="no such state"):
        secret_privacy(randomised_responses(), {"yes": "sy", "no": "nobody"})


def test_tables_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "table.yaml"
    path.write_text("secrets: {x: sy, y: sn}\ndistances:\n  - [x, y, 3/2]\n")
    table = load_secret_table(path)
    assert (table.distances, table.states) == ({("x", "y"): fmpq(3, 2)}, {"x": "sy", "y": "sn"})
    assert table.states is not None
    answer = secret_privacy(randomised_responses(), table.states, table.distances)
    assert answer.upper == Budget(fmpq(3), fmpq(3, 2))
    path = tmp_path / "table.json"
    path.write_text('[["x", "y", 1.5]]')
    assert load_secret_table(path).distances == {("x", "y"): fmpq(3, 2)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- [x, y]\n", "2 entries"),
        ("- [x, y, one]\n", "not an exact number"),
        ("- [x, y, 1]\n- [x, y, 1]\n", "there before"),
        ("{secrets: {x: s}}\n", "distances"),
        ("", "empty"),
        ("- [[x], y, 1]\n", "the name of a secret"),
    ],
)
def test_files_that_are_no_table(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "table.yaml"
    path.write_text(text)
    with pytest.raises(ModelError, match=words):
        load_secret_table(path)


def test_triangles_of_many_secrets_are_found_quickly() -> None:
    names = [str(number) for number in range(300)]
    table = {(x, y): "1/3" for x in names for y in names if x < y}
    table["10", "20"] = "1"
    before = time.process_time()
    found = secret_distances(names, table).triangles
    assert time.process_time() - before < 10 * leeway()
    assert found == ((10, 0, 20),)
