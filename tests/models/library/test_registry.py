from __future__ import annotations

import pytest
from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.library.registry import build_example, list_examples

NAMES = ("figure1", "dining-cryptographers", "randomised-response", "leaky-retry", "random")


def test_lists_every_example_with_its_defaults() -> None:
    infos = {info.name: info for info in list_examples()}
    assert tuple(infos)[: len(NAMES)] == NAMES
    defaults = [(p.name, p.default) for p in infos["dining-cryptographers"].parameters]
    assert defaults == [("n", "3"), ("bias", "49/100"), ("pairs", "first")]
    for info in infos.values():
        assert "\n" not in info.description
        assert all(p.expected for p in info.parameters)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_is_made_from_its_defaults_and_has_pairs(name: str) -> None:
    lmc = build_example(name)
    assert lmc.pairs
    assert all(lmc.labels[s] == lmc.labels[t] and s != t for s, t in lmc.pairs)


@pytest.mark.parametrize("name", NAMES)
def test_a_default_that_is_written_out_changes_nothing(name: str) -> None:
    info = next(info for info in list_examples() if info.name == name)
    written = ",".join([name, *(f"{p.name}={p.default}" for p in info.parameters)])
    assert build_example(written) == build_example(name)


def test_numbers_are_exact_in_every_spelling_and_spaces_do_not_matter() -> None:
    one = build_example("dining-cryptographers,n=2,bias=0.3")
    assert one == build_example(" dining-cryptographers , bias = 3/10 , n = 2 ")
    assert fmpq(3, 10) in dict(one.rows[0]).values()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("figure9", r"there is no example 'figure9'; there are figure1, dining-cryptographers, .*, random"),
        ("", r"there is no example ''; there are"),
        ("Figure1", r"there is no example"),
        ("figure1,n=2", r"example figure1 cannot be made with 'n=2'; it has no parameters"),
        ("figure1,", r"example figure1 cannot be made with ''"),
        ("dining-cryptographers,m=2", r"with 'm=2'; its parameters and their defaults are n=3, bias=49/100"),
        ("dining-cryptographers,n", r"cannot be made with 'n'"),
        ("dining-cryptographers,n=2,n=2", r"example dining-cryptographers: n is given twice"),
        ("dining-cryptographers,n=1", r"n='1' is not usable; expected an integer from 2 to 100"),
        ("dining-cryptographers,n=2.0", r"expected an integer from 2 to 100"),
        ("dining-cryptographers,n=" + "9" * 5000, r"n='9{37}\.\.\.' is not usable"),
        (
            "dining-cryptographers,bias=3/2",
            r"bias='3/2' is out of range; expected an exact number from 0 to 1",
        ),
        ("dining-cryptographers,bias=1/x", r"bias: '1/x' is not an exact number"),
        ("dining-cryptographers,bias=1e999999999", r"bias: the exponent"),
        ("dining-cryptographers,pairs=some", r"pairs='some' is not usable; expected first or all"),
        ("random,states=3,labels=3", r"example random: labels=3 is not usable; expected 1 to 2"),
        ("random,states=3,labels=2,successors=4", r"successors=4 is not usable; expected 1 to 3"),
        ("random,denominator=2", r"denominator=2 is too small for 3 positive probabilities"),
        ("random,acyclic=yes", r"expected true or false"),
    ],
)
def test_what_cannot_be_made_is_one_line_that_says_what_can(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        build_example(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
