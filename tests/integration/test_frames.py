"""Tables of pandas: exact cells, one row for each transition, pair or point."""

from __future__ import annotations

import sys
from fractions import Fraction

import pytest

from bisimdist import HMM, PA, UsageError, bound, build_example, compare, delta, profile
from bisimdist.faces import to_pandas


def test_a_missing_package_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"pip install 'bisimdist\[pandas\]'"):
        to_pandas(build_example("figure1"))


def test_what_has_no_table() -> None:
    with pytest.raises(UsageError, match="a int has no table"):
        to_pandas(3)


@pytest.mark.extra("pandas")
def test_models() -> None:
    chain = build_example("figure1")
    table = to_pandas(chain)
    assert list(table.columns) == ["from", "label", "to", "probability"]
    assert table["probability"][0] == Fraction(3, 5)
    automaton = to_pandas(PA.from_mappings(["s"], [("s", "a", {"s": "1/3"})]))
    assert automaton.to_dict("records") == [
        {"transition": 0, "from": "s", "action": "a", "to": "s", "probability": Fraction(1, 3)}
    ]
    hidden = HMM.from_mappings({"s": {"x": 1}}, {"s": {"s": 1}}, {"pi": {"s": 1}})
    assert to_pandas(hidden).to_dict("records") == [{"from": "s", "to": "s", "probability": 1}]


@pytest.mark.extra("pandas")
def test_answers() -> None:
    chain = build_example("figure1")
    deltas = to_pandas(delta(chain, 1))
    assert deltas[["from", "to", "lower", "upper", "exact"]].to_dict("records") == [
        {"from": "s0", "to": "s1", "lower": Fraction(1, 5), "upper": Fraction(1, 5), "exact": True}
    ]
    assert to_pandas(bound(chain, 1))["upper"][0] == Fraction(1, 5)
    points = to_pandas(profile(chain, alphas=[1, "5/4"]))
    assert list(points["upper"]) == [Fraction(1, 5), Fraction(1, 10)]
    assert to_pandas(compare(chain, 1))["from"][0] == "s0"
