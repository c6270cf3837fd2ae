"""Smaller chains on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command


def test_a_smaller_model_is_written_with_its_proof(command: Command, figure1: Path, tmp_path: Path) -> None:
    smaller, proof = tmp_path / "smaller.yaml", tmp_path / "proof.json"
    ended = command("minimise", figure1, "--loss", "1/5", "-o", smaller, "--certificate", proof, "--json")
    assert ended.code == 0
    said = json.loads(ended.out)
    assert (said["merged"], said["loss"]) == (3, "1/5")
    assert said["classes"] == [["s0", "s1"], ["s2"], ["s3"]]
    assert json.loads(command("show", smaller, "--format", "json").out)["states"] == {
        "s0": "a",
        "s2": "b",
        "s3": "c",
    }
    assert command("check", proof).code == 0
    assert "4 states become 3; the loss is 1/5" in command("minimise", figure1, "--loss", "1/5").out


def test_how_much_may_be_lost_has_to_be_said(command: Command, figure1: Path) -> None:
    command("minimise", figure1).assert_refused("say how much may be lost with --loss X")
    command("minimise", figure1, "--loss", "2").assert_refused("--loss")
    command("minimise", figure1, "--loss", "0", "-o", "x.dot").assert_refused("ends in .json")


def test_states_are_merged_before_a_question(command: Command, figure1: Path) -> None:
    (pair,) = json.loads(command("bound", figure1, "--alpha", "1", "--minimise", "1/5", "--json").out)[
        "pairs"
    ]
    assert (pair["lower"], pair["upper"], pair["exact"]) == ("0", "2/5", False)
    (pair,) = json.loads(command("delta", figure1, "--alpha", "1", "--minimise", "0", "--json").out)["pairs"]
    assert (pair["lower"], pair["upper"], pair["exact"]) == ("1/5", "1/5", True)
    command("delta", "example:two-questions", "--alpha", "1", "--minimise", "0").assert_refused("are merged")


@pytest.mark.extra("cluster")
def test_a_cluster_has_no_part_in_it(command: Command, figure1: Path) -> None:
    for name in ("bound", "delta"):
        both = ("--alpha", "1", "--minimise", "0", "--cluster", "local:2")
        command(name, figure1, *both).assert_refused("--minimise and --cluster")


@pytest.mark.parametrize(
    "extension",
    [
        "json",
        "tra",
        pytest.param("umb", marks=pytest.mark.extra("umb")),
        pytest.param("drn", marks=pytest.mark.extra("storm")),
    ],
)
def test_the_quotient_in_formats_of_other_tools(command: Command, tmp_path: Path, extension: str) -> None:
    output = tmp_path / f"small.{extension}"
    ended = command("minimise", "example:dining-cryptographers", "--loss", "0", "-o", output)
    assert (ended.code, "40 states become 18; the loss is 0" in ended.out) == (0, True)
    shown = json.loads(command("show", output, "--json").out)
    assert (shown["states"], shown["bisimilarity_classes"], shown["labels"]) == (18, 18, 5)
    command("minimise", "example:figure1", "--loss", "0", "-o", tmp_path / "x.txt").assert_refused("expected")
