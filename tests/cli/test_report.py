"""The page for whoever decides: what stands on it, and that its proof is one."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import time
from fractions import Fraction
from html import escape, unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bisimdist.checker import check_certificate
from bisimdist.errors import LimitError
from bisimdist.models.library.registry import build_example
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.delta.command import Delta
from bisimdist.privacy.report.command import PageReport
from bisimdist.privacy.report.evaluation import HAZARDS, evaluated, markdown
from bisimdist.privacy.report.page import Decision
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)


def page_of(command: Command, tmp_path: Path, *words: str) -> str:  # noqa: F811
    path = tmp_path / "report.html"
    command("report", *words, "-o", str(path))
    return path.read_text()


@pytest.mark.parametrize("model", [("example:figure1",), ("example:two-questions", "--rounds", "2")])
def test_a_page(command: Command, tmp_path: Path, model: tuple[str, ...]) -> None:  # noqa: F811
    page = page_of(command, tmp_path, *model, "--alpha", "2")
    proof = unescape(re.findall(r'<pre id="certificate">(.*?)</pre>', page, re.DOTALL)[0])
    report = check_certificate(proof.encode())
    assert report.valid
    assert "proved: delta" in page
    assert not re.search(r"src=|href=\"[^#]", page)  # nothing from elsewhere
    assert json.loads(proof)["model"] is not None
    for picture in re.findall(
        r'<svg xmlns="http://www.w3.org/2000/svg" class="bd".*?</svg>', page, re.DOTALL
    ):
        ElementTree.fromstring(picture)


def test_without_alpha_it_is_about_telling_at_all(command: Command, tmp_path: Path) -> None:  # noqa: F811
    page = page_of(command, tmp_path, "example:figure1")
    assert "alpha = 1<" in page
    assert "3/5" in page


def test_it_says_how_to_make_it_again(command: Command, tmp_path: Path) -> None:  # noqa: F811
    ring = "example:dining-cryptographers,bias=p"
    program = tmp_path / "coin toss.py"
    program.write_text("def told(x, rng):\n    return x if rng.flip('3/4') else 1 - x\n")
    for words in (
        (ring, "--set", "p=1/3", "--alpha", "1"),
        (f"{program}:told", "--input", "0", "--input", "1", "--pair", "0", "1", "--epsilon", "1"),
    ):
        page = page_of(command, tmp_path, *words)
        (again,) = re.findall(r"<h2>Again</h2>\n?<pre>(.*?)</pre>", page, re.DOTALL)
        name, asked, *typed = shlex.split(unescape(again))
        assert (name, asked) == ("bisimdist", "report")
        assert {*words} <= {*typed}
        once_more = page_of(command, tmp_path, *typed[:-2])
        assert once_more[once_more.index("<h2>Proof") :] == page[page.index("<h2>Proof") :]


def test_it_goes_to_standard_output_too(command: Command, tmp_path: Path) -> None:  # noqa: F811
    page = page_of(command, tmp_path, "example:figure1")
    printed = command("report", "example:figure1").out
    assert printed.startswith("<!DOCTYPE html>")
    assert len(printed) == pytest.approx(len(page), abs=200)


def test_nobody_is_told_apart(command: Command, tmp_path: Path) -> None:  # noqa: F811
    page = page_of(command, tmp_path, "example:figure1", "--pair", "s0", "s0")
    assert "in the event" not in page
    assert "No event tells them apart at this alpha" in page


def test_it_tells_of_the_event_once(command: Command, tmp_path: Path) -> None:  # noqa: F811
    page = page_of(command, tmp_path, "example:leaky-retry", "--epsilon", "1/10")
    assert "the first number exceeds alpha times the second by at least 0.000328" in page
    assert "No delta below the lower bound suffices" not in page


def test_its_first_numbers_are_rounded_in_the_safe_direction(command: Command, tmp_path: Path) -> None:  # noqa: F811
    def facts(*words: str) -> list[tuple[str, ...]]:
        return re.findall(r"<b>(.*?)</b><small>(.*?)</small>", page_of(command, tmp_path, *words))

    exact = facts("example:dining-cryptographers", "--alpha", "5001/5000")
    assert exact[1:] == [
        ("≤ 0.00019999", "alpha = 5001/5000"),
        ("meet", exact[2][1]),
        ("checked", exact[3][1]),
    ]
    delta, shown = exact[0]
    assert Fraction(shown) < Fraction(delta.removeprefix("≤ ")) < Fraction(shown) * Fraction(1001, 1000)
    assert facts("example:figure1", "--alpha", "11/10")[0] == ("= 0.16", "4/25")
    rounded = facts("example:figure1", "--epsilon", "1/10")
    assert rounded[0][0] == "≤ 0.1580"
    assert rounded[2][0].endswith(" apart")
    low, high = rounded[2][1].removeprefix("from ").split(" to ")
    assert 0 < Fraction(low) < Fraction(high) < Fraction("0.158")


def test_a_missing_extra_is_told_to_the_author_and_not_to_readers(
    command: Command,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bisimdist.extras.import_module", lambda _: importlib.import_module("none"))
    path = tmp_path / "report.html"
    ended = command("report", "example:figure1", "-o", str(path))
    assert "the page has no picture of the profile: matplotlib is not installed" in ended.err
    assert "matplotlib" not in path.read_text()
    assert "privacy profile" in path.read_text()


def test_for_an_evaluation(command: Command, tmp_path: Path) -> None:  # noqa: F811
    """Every hazard has its row; what is shown and what not depends on where the model is from."""
    asked = ("--alpha", "2", "--for", "evaluation")
    assert "<h2>For an evaluation</h2>" in page_of(command, tmp_path, "example:figure1", *asked)

    def told(program: dict[str, Any] | None) -> str:
        found = delta(build_example("figure1"), 2)
        proof = json.dumps({**found.certificate(), **({"program": program} if program else {})})
        return evaluated(Decision(delta=found, profile=None, distances=None, proof=proof, checked="proved"))

    plain = {"function": "told", "observe": "output", "sources": {"response.py": "sha256:0"}}
    page = told(None)
    assert all(f"<td>{escape(hazard.name)}</td>" in page for hazard in HAZARDS)
    assert "audit tests it with samples" in page
    assert "whether the implementation computes the exact numbers" in page
    assert "the model was made of told in response.py" in told(plain)
    assert "its compiler takes no floats" in told(plain)
    assert "it is assumed: normal" in told({**plain, "replay": {"assumed": "normal"}})
    assert "the code as it is" in told({**plain, "sources": {"response.wasm": "sha256:0"}})
    assert "caches, power" in told({**plain, "observe": "branches"})
    documented = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")
    assert markdown() in documented


def test_it_is_for_nobody_else(command: Command) -> None:  # noqa: F811
    command("report", "example:figure1", "--for", "me").assert_refused("--for me", "decision or evaluation")


def test_a_page_is_written_although_nothing_was_computed(
    command: Command,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def ended(*_: object) -> None:
        raise LimitError("the time limit was reached")

    monkeypatch.setattr(Delta, "ask", ended)
    page = page_of(command, tmp_path, "example:figure1", "--alpha", "11/10")
    assert "The work ended before anything more was known" in page
    assert "--alpha 11/10" in page


def test_the_page_is_written_although_the_time_is_over(
    command: Command,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(self: PageReport, answer: Decision) -> str:
        begun = time.monotonic()
        while time.monotonic() < begun + 2.5:  # an alarm would ring after a second
            pass
        return drawn(self, answer)

    drawn = PageReport._page
    monkeypatch.setattr(PageReport, "_page", late)
    page = page_of(command, tmp_path, "example:figure1", "--timeout", "0.5")
    assert "How private is" in page
    assert '<div class="wide">' in page
