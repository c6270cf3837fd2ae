"""Models with any names and numbers survive JSON, YAML and PRISM's files unchanged."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

from flint import fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from bisimdist.errors import ModelError, UsageError
from bisimdist.models.io import parse_model, read_prism, write_dot, write_model, write_prism, write_svg
from bisimdist.models.io.document import ListNode, MapNode, Node, Scalar
from bisimdist.models.io.json_text import read_json
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, Transition

names = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=8),
    st.sampled_from(
        [
            *(
                "",
                " ",
                "a",
                "b",
                "true",
                "null",
                "~",
                "1",
                "init",
                "deadlock",
                "_x",
                "_xinit",
                "_x_2c_",
                "a,b",
            ),
            *(
                "-",
                "a: b",
                "x" * 1100,
                "é" * 400,
                "#",
                "[",
                "é\u2028\ufeff\x85",
                '"',
                "\\",
                "P",
                "%41",
                "&lt;",
            ),
            *("\r\n", "? a"),
        ]
    ),
)


@st.composite
def models(draw: st.DrawFn) -> LMC:
    states = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    labels = draw(st.lists(names, min_size=len(states), max_size=len(states)))
    return LMC(
        tuple(states),
        tuple(labels),
        tuple(tuple(draw(weights(len(states), exact=True))) for _ in states),
        tuple(draw(pairs(len(states)))),
    )


@st.composite
def automata(draw: st.DrawFn) -> PA:
    states = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    sources = draw(st.lists(st.integers(0, len(states) - 1), max_size=5))
    return PA(
        tuple(states),
        tuple(
            Transition(source, draw(names), tuple(draw(weights(len(states), exact=False))))
            for source in sources
        ),
        tuple(draw(pairs(len(states)))),
    )


def pairs(count: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    index = st.integers(0, count - 1)
    return st.lists(st.tuples(index, index), max_size=3)


@st.composite
def weights(draw: st.DrawFn, count: int, *, exact: bool) -> list[tuple[int, fmpq]]:
    targets = sorted(draw(st.sets(st.integers(0, count - 1), min_size=1 if exact else 0)))
    parts = draw(st.lists(st.integers(1, 10**30), min_size=len(targets), max_size=len(targets)))
    total = sum(parts) + (0 if exact else draw(st.integers(0, 10)))
    return [(target, fmpq(part, total)) for target, part in zip(targets, parts, strict=True)]


@given(models())
def test_chains(model: LMC) -> None:
    from_json = parse_model(write_model(model, "json"), format="json")
    from_yaml = parse_model(write_model(from_json, "yaml"), format="yaml")
    assert from_json == from_yaml == model
    assert isinstance(from_yaml, LMC)
    files = write_prism(from_yaml)
    assert all(text.isascii() for text in files.values())
    from_files = read_prism(files["tra"], files["lab"], files["sta"])
    assert from_files == replace(model, pairs=())
    assert from_json.digest() == from_yaml.digest() == from_files.digest() == model.digest()


@given(automata())
def test_automata(model: PA) -> None:
    from_json = parse_model(write_model(model, "json"), format="json")
    assert parse_model(write_model(from_json, "yaml"), format="yaml") == from_json == model


@given(st.one_of(models(), automata()))
def test_drawings_are_balanced(model: LMC | PA) -> None:
    drawing = write_dot(model)
    for line in drawing.splitlines():
        assert line.replace("\\\\", "").replace('\\"', "").count('"') % 2 == 0
    assert drawing.count(" -> s") >= len(model.pairs)


@given(st.one_of(models(), automata()))
def test_pictures_show_every_state(model: LMC | PA) -> None:
    boxes = ElementTree.fromstring(write_svg(model)).findall(".//{http://www.w3.org/2000/svg}rect")
    assert len(boxes) == len(model)
    assert sum(box.get("class", "").startswith("marked") for box in boxes) == len(
        {s for p in model.pairs for s in p}
    )


def test_big_pictures_are_abridged() -> None:
    names = [f"s{number}" for number in range(200)]
    chain = LMC.from_mappings(dict.fromkeys(names, "a"), {s: {t: 1} for s, t in pairwise([*names, names[0]])})
    assert write_svg(chain).count("<rect") == 61
    assert "140 more" in write_svg(chain)
    assert repr(chain) == "<LMC: 200 states, 0 pairs>"
    assert chain._repr_svg_() == write_svg(chain, limit=40)


def test_labels_that_prism_would_refuse_become_identifiers() -> None:
    chain = LMC.from_mappings(
        {"s": "init", "t": "a b", "u": "ok_1", "v": ""}, {name: {name: 1} for name in "stuv"}, [("t", "u")]
    )
    files = write_prism(chain)
    assert files["lab"] == ('0="init" 1="deadlock" 2="_xa_20_b" 3="_xinit" 4="ok_1"\n0: 3\n1: 0 2\n2: 4\n')
    assert files["tra"] == "4 4\n0 0 1\n1 1 1\n2 2 1\n3 3 1\n"
    assert files["sta"] == '(s)\n0:(0) "s"\n1:(1) "t"\n2:(2) "u"\n3:(3) "v"\n'


def test_probabilities_are_written_as_short_decimals_or_fractions() -> None:
    chain = LMC.from_mappings(
        {"s": "a", "t": "b"}, {"s": {"s": "1/3", "t": "2/3"}, "t": {"s": "0.0004", "t": "2499/2500"}}
    )
    assert write_prism(chain)["tra"] == "2 4\n0 0 1/3\n0 1 2/3\n1 0 0.0004\n1 1 0.9996\n"


json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=20,
)


def plain(node: Node) -> object:
    if isinstance(node, MapNode):
        return {key: plain(value) for key, value in node.entries.items()}
    if isinstance(node, ListNode):
        return [plain(item) for item in node.items]
    assert isinstance(node, Scalar)
    return node.text


def texts(value: object) -> object:
    if isinstance(value, dict):
        return {key: texts(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [texts(inner) for inner in value]
    return value if isinstance(value, str) else json.dumps(value)


@given(json_values, st.sampled_from([None, 1]), st.booleans())
def test_json_is_read_as_the_standard_library_reads_it(
    value: object, indent: int | None, ascii_only: bool
) -> None:
    written = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert plain(read_json(written)) == texts(value)


@given(st.text(st.sampled_from('{}[],:"\\ae1.-0 \n+u')))
@example('{"a":1,"a":2}')
def test_json_is_refused_where_the_standard_library_refuses_it(text: str) -> None:
    duplicates = False

    def collect(pairs_: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal duplicates
        result = dict(pairs_)
        duplicates = duplicates or len(result) < len(pairs_)
        return result

    try:
        json.loads(text, object_pairs_hook=collect)
        valid = not duplicates
    except ValueError:
        valid = False
    try:
        read_json(text)
    except ModelError as error:
        assert not valid, error
    else:
        assert valid


@given(st.one_of(st.binary(), st.text(st.characters(codec="utf-8")).map(str.encode)))
def test_any_bytes_make_a_model_or_a_model_error(content: bytes) -> None:
    for format_ in (None, "json", "yaml"):
        try:
            parse_model(content, format=format_, source="bytes")
        except ModelError as error:
            assert str(error).isprintable()
            assert str(error).startswith("bytes")
        except UsageError as error:  # bytes of a format that an extra reads
            assert "pip install" in str(error)


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")), st.text())
def test_any_texts_make_a_chain_or_a_model_error(transitions: str, labels: str, states: str) -> None:
    for tra in (transitions, "1 1\n0 0 1\n"):
        for lab in (labels, '0="a"\n0: 0\n'):
            try:
                read_prism(tra, lab, states, source="x.tra")
            except ModelError as error:
                assert str(error).isprintable()
