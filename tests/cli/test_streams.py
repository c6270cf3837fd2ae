"""JSON that is written part by part is what ``json.dumps`` writes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.faces.shown import streams
from bisimdist.faces.shown.streams import json_parts

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=4)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=3), inner, max_size=7),
)


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
@given(data=DATA, depth=st.integers(0, 4), part=st.integers(1, 4))
def test_the_parts_are_the_text(separators: tuple[str, str], data: object, depth: int, part: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "PART", part)
        parts = list(json_parts(data, separators, depth=depth))
    assert "".join(parts) == json.dumps(data, separators=separators)


def test_long_tables_come_in_parts() -> None:
    table = [{"pair": ["s", "t"], "value": str(number)} for number in range(10_000)]
    parts = list(json_parts({"claims": [], "upper": {"pairs": table}}))
    assert max(map(len, parts)) < 100_000
