"""Graphs of networkx: chains and automata come back from them, and what lacks something is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import networkx
import pytest
from hypothesis import given

from bisimdist import HMM, LMC, PA, ModelError, UsageError
from bisimdist.models import from_networkx, to_networkx
from tests.strategies import automata, lmcs


@given(lmcs())
def test_a_chain_comes_back(chain: LMC) -> None:
    assert from_networkx(to_networkx(chain)) == chain


@given(automata())
def test_an_automaton_comes_back(automaton: PA) -> None:
    assert from_networkx(to_networkx(automaton)) == automaton


def test_a_transition_without_successors_comes_back() -> None:
    automaton = PA.from_mappings(["s"], [("s", "b", {"s": 1}), ("s", "a", {}), ("s", "a", {"s": "1/2"})])
    assert from_networkx(to_networkx(automaton)) == automaton


def _graph(label: str | None = "a", probability: object = 1) -> Any:
    graph = networkx.DiGraph()
    graph.add_node("s", **({} if label is None else {"label": label}))
    graph.add_edge("s", "s", **({} if probability is None else {"probability": probability}))
    return graph


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (networkx.Graph({1: [2]}), "not directed"),
        (_graph(label=None), "state 's': the node has no attribute 'label'"),
        (_graph(probability=None), "transition s -> s: the edge has no attribute 'probability'"),
        (_graph(probability=1.0), "transition s -> s: a float"),
        (_graph(probability="1/2"), "the probabilities sum to 1/2"),
        (networkx.DiGraph({1: ["1"]}), "different nodes have the same text"),
    ],
)
def test_what_is_refused(graph: Any, expected: str) -> None:
    with pytest.raises(ModelError, match=expected):
        from_networkx(graph)


def test_an_automaton_without_an_action() -> None:
    graph = networkx.MultiDiGraph()
    graph.add_edge("s", "t", action="a", probability=1)
    graph.add_edge("t", "s", probability=1)
    with pytest.raises(ModelError, match="transition t -> s: the edge has no attribute 'action'"):
        from_networkx(graph)


def test_other_attributes_and_doubles() -> None:
    graph = networkx.DiGraph()
    graph.add_node(0, colour="red")
    graph.add_node(1, colour="blue")
    graph.add_weighted_edges_from([(0, 0, 1 / 3), (0, 1, 2 / 3), (1, 1, 1.0)])
    chain = from_networkx(graph, probability="weight", label="colour", rationalise=True)
    assert isinstance(chain, LMC)
    assert to_networkx(chain).edges["0", "1"] == {"probability": Fraction(2, 3)}
    assert chain.labels == ("red", "blue")


def test_hidden_markov_models_are_no_graphs() -> None:
    model = HMM.from_mappings({"s": {"x": 1}}, {}, {"pi": {"s": 1}})
    with pytest.raises(UsageError, match="convert"):
        to_networkx(model)  # type: ignore[arg-type]
