"""Answers draw what stands behind them: in a notebook and for ``--svg`` the same."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import bisimdist
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
        ("explain example:figure2", {"can do a", "all of", "anything", "can do c"}),
        ("explain example:pin-checking --pair s1 s1", {"nothing to draw"}),
        ("trace example:randomised-response-pa", {"s_y or s_n", "tau", "3/4 from s_y", "1/4 from s_n"}),
        ("metric example:mimicking --kind additive", {"nothing to draw"}),
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
    assert picture.count("marker-end") == 4
    assert answer._repr_svg_() == picture
    assert picture in answer._repr_html_()


def test_where_nothing_differs_nothing_is_drawn() -> None:
    chain = bisimdist.build_example("figure1")
    assert bisimdist.bound(chain, 1)._repr_svg_() is None
