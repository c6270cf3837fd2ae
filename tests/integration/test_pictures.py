"""Answers draw what stands behind them: in a notebook and for ``--svg`` the same."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest

import bisimdist
from bisimdist.distances.bound import answer as distance_answer
from bisimdist.drawing import WIDEST, Edge, Node, drawing
from bisimdist.faces.shown.matrix import Matrix
from bisimdist.models.library.pin_checking import pin_checking
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture: str) -> list[str]:
    boxes = ElementTree.fromstring(picture).iter(f"{SVG}text")
    return [text for box in boxes for text in box.itertext()]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("delta example:figure1 --alpha 1", {"start", "in the event"}),
        ("metric example:pin-checking --kind amortised", {"s1", "t5", "no"}),
        ("metric example:counting-queries --kind accumulative", {"s", "second1", "out0"}),
        ("show example:figure1", {"s0", "s3", "3/5"}),
        ("logic explain example:figure2", {"can do a", "all of", "anything", "can do c"}),
        ("logic explain example:pin-checking --pair s1 s1", {"nothing to draw"}),
        ("trace example:randomised-response-pa", {"s_y or s_n", "tau", "3/4 from s_y", "1/4 from s_n"}),
        ("metric example:mimicking --kind additive", {"nothing to draw"}),
        ("bound example:figure1 --alpha 1", {"s2", "s3", "given up", "1/5"}),
        ("bound example:two-questions --alpha 1", {"X: 1/4", "given up"}),
        ("bound example:dining-cryptographers,n=2 --alpha 1.0002", {"payer1_t", "1/50, 1/50 apart"}),
        ("prove example:contagious-disease,together=9/10", {"start", "4/7 0 + 2/7 1 + 1/7 2", "1: 2/3"}),
        ("prove example:contagious-disease,together=9/10 --method factors", {"(0, 1)", "at most 1 times"}),
        (
            "prove example:contagious-disease,together=9/10 --method coupling --ratio 4",
            {'["0", "0"]', "11/60"},
        ),
        ("epsilon example:contagious-disease,together=9/10 --length 1", {"0", "11/60 from couple|sick"}),
    ],
)
def test_a_command_draws_it(command: Command, tmp_path: Path, words: str, shown: set[str]) -> None:  # noqa: F811
    path = tmp_path / "picture.svg"
    assert command(*words.split(), "--svg", path).code == 0
    assert shown <= set(texts(path.read_text()))


def test_a_play_that_goes_on_for_ever_leads_back() -> None:
    answer = bisimdist.metric(pin_checking(), "accumulative")
    picture = answer.picture()
    assert picture.count("<rect") == 4
    assert picture.count('class="tip"') == 4
    assert answer._repr_svg_() == picture
    assert picture in answer._repr_html_()


def test_where_nothing_differs_nothing_is_drawn() -> None:
    assert bisimdist.logic.explain(pin_checking(), pairs=[("s1", "s1")])._repr_svg_() is None


def test_the_graph_of_information_states_is_drawn(command: Command, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "graph.svg"
    ring = "example:dining-cryptographers,n=2"
    assert command("delta", ring, "--alpha", "1.0002", "--graph", path).code == 0
    shown = set(texts(path.read_text()))
    assert {"5000 payer0 - 5001 payer1", "9951 payer0_h - 10051 payer0_t", "flipped", "agree"} <= shown
    assert path.read_text() == bisimdist.delta(bisimdist.build_example(ring[8:]), "1.0002").graph().svg
    same = bisimdist.delta(bisimdist.build_example("figure1"), 1, pairs=[("s0", "s2")])
    with pytest.raises(bisimdist.UsageError, match="labels or classes"):
        same.graph()


def test_a_coupling_is_drawn_from_either_side_and_not_where_there_is_none() -> None:
    chain = bisimdist.build_example("dining-cryptographers,n=2")
    answer = bisimdist.bound(chain, "1.0002")
    there, back = (
        set(texts(answer.coupling(*pair).svg))
        for pair in (("payer0_h", "payer1_t"), ("payer1_t", "payer0_h"))
    )
    assert {"said1_ht_agree", "said1_tt_agree_payer1", "49/100", "51/100"} <= there & back
    with pytest.raises(bisimdist.UsageError, match="no coupling of done and done"):
        answer.coupling("done", "done")


def test_of_many_pairs_one_coupling_is_drawn_without_the_proof_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chain = bisimdist.build_example("random,states=40,successors=3,labels=2,seed=1")
    answer = bisimdist.bound(chain, 1, pairs=bisimdist.AllPairs(chain.states))
    inside = [pair for pair in answer.pairs if pair.upper < 1]
    worst = max(inside, key=lambda pair: pair.upper)
    certified = answer.coupling(worst.source, worst.target).svg
    monkeypatch.setattr(distance_answer, "MAX_DRAWN", 0)
    monkeypatch.setattr(type(answer), "certificate", None)
    assert answer.coupling(worst.source, worst.target).svg == certified
    assert "the coupling of" in answer.coupling().svg
    apart = next(pair for pair in answer.pairs if pair.upper == 1)
    for names in ((apart.source, apart.target), ("s0", "s0")):
        with pytest.raises(bisimdist.UsageError, match="no coupling of"):
            answer.coupling(*names)


def test_what_is_pumped_leads_back() -> None:
    model = bisimdist.parse_model(GROWS)
    assert isinstance(model, bisimdist.HMM)
    (picture,) = {bisimdist.budgets.for_all_lengths(model).picture()}
    assert "again and again" in texts(picture)
    assert "a round: times" in picture


GROWS = """
kind: hmm
observations: [x, y]
states: {s: {x: 2/3, y: 1/3}, t: {x: 1/3, y: 2/3}}
transitions: {s: {s: 1}, t: {t: 1}}
distributions: {first: {s: 1}, second: {t: 1}}
pairs: [[first, second]]
"""


def extents(picture: str) -> tuple[float, float, float, float]:
    root = ElementTree.fromstring(picture)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    return left, top, left + width, top + height


@pytest.mark.parametrize("text", ["a label that is not short at all", "l"])
@pytest.mark.parametrize("back", ["s0", "s7"])
def test_nothing_is_cut_off(text: str, back: str) -> None:
    nodes = [Node(f"s{k}", f"s{k}") for k in range(9)]
    edges = [Edge(f"s{k}", f"s{k + 1}", text) for k in range(8)]
    edges += [Edge("s8", back, text), Edge("s8", "s8", text), Edge("s0", "s1", dashed=True)]
    picture = drawing(nodes, edges, label="a long way back")
    left, top, right, bottom = extents(picture)
    for drawn in ElementTree.fromstring(picture).iter(f"{SVG}text"):
        x, wide = float(drawn.attrib["x"]), 6 * len(drawn.text or drawn[0].text or "")
        start = x if "start" in drawn.attrib.get("style", "") else x - wide / 2
        assert left <= start
        assert start + wide <= right
    paths = re.findall(r' d="M([-.\d]+) ([-.\d]+)C', picture)
    assert all(left <= float(x) <= right and top <= float(y) <= bottom for x, y in paths)


def test_wide_layers_are_folded_and_texts_do_not_shrink_away() -> None:
    names = [f"a state with a name {k}" for k in range(50)]
    picture = drawing(
        [Node("root", "root"), *(Node(name, name) for name in names)],
        [Edge("root", name, "1/50") for name in names],
        label="wide",
    )
    left, _, right, _ = extents(picture)
    assert right - left < 2 * WIDEST
    (least,) = re.findall(r"min-width:(\d+)px", picture)
    assert float(least) >= 0.7 * (right - left)


def test_an_event_with_many_ends_says_them_in_its_boxes() -> None:
    chain = bisimdist.build_example("random,states=12")
    answer = bisimdist.delta(chain, "11/10", pairs=[("s0", "s1")], gap="1/100")
    shown = texts(answer.picture())
    assert "in the event" not in shown
    assert any(text.startswith("in the event: ") for text in shown)


def test_a_model_at_a_glance_is_shorter_than_in_a_file() -> None:
    model = bisimdist.build_example("random,states=80")
    assert model._repr_svg_().count("<rect") == 41
    assert f"{80 - 40} more" in texts(model._repr_svg_())


@pytest.mark.parametrize("name", ["figure1", "dining-cryptographers,n=2", "two-questions", "pin-checking"])
def test_texts_of_edges_do_not_overlap(name: str) -> None:
    boxes = []
    for drawn in ElementTree.fromstring(bisimdist.build_any_example(name)._repr_svg_()).iter(f"{SVG}text"):
        if drawn.attrib.get("class") == "edge":
            x, y, wide = float(drawn.attrib["x"]), float(drawn.attrib["y"]), 6 * len(drawn[0].tail or "")
            start = x if "start" in drawn.attrib.get("style", "") else x - wide / 2
            boxes.append((start, y - 9, start + wide, y + 2))
    assert len(boxes) > 4
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert not any(
            left < after and before < right and top < below and above < bottom
            for before, above, after, below in boxes[:k]
        )


@pytest.mark.extra("plot")
def test_texts_of_a_map_do_not_overlap() -> None:
    names = [f"state{k}" for k in range(24)]
    pairs = [
        {"from": s, "to": t, "upper": str(Fraction(abs(i % 4 - j % 4) + 1, 9)), "exact": True}
        for i, s in enumerate(names)
        for j, t in enumerate(names[:i])
    ]
    figure = Matrix.of_pairs(pairs).plot()
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[1].texts]
    assert boxes
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
    shown = [text.get_text() for text in figure.axes[1].texts]
    counted = sum(1 + int(text.split()[2]) if " and " in text else 1 for text in shown)
    assert counted == len(names)
