"""All pairs of two are those of itertools, wherever they are looked at."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from bisimdist.distances.engine.blocks import Block, blocks, within_classes
from bisimdist.models.all_pairs import AllPairs


def listed(block: Block) -> list[tuple[int, int]]:
    first, second = block
    return list(zip(first.tolist(), second.tolist(), strict=True))


@given(st.lists(st.integers(0, 20), max_size=12), st.data())
def test_pairs_are_those_of_itertools(of: list[int], data: st.DataObject) -> None:
    pairs, made = AllPairs(of), list(combinations(of, 2))
    assert list(pairs) == made == [pairs[k] for k in range(len(pairs))]
    assert [pairs[k] for k in range(-len(made), 0)] == made
    part = data.draw(st.slices(len(made)))
    assert pairs[part] == tuple(made[part])
    assert pairs == made == pairs
    assert pairs != [*made, (0, 0)]
    assert hash(pairs) == hash(tuple(made))


@given(st.lists(st.integers(0, 20), max_size=12), st.integers(1, 9))
def test_blocks_have_all_pairs_in_their_order(of: list[int], size: int) -> None:
    made = list(combinations(of, 2))
    for pairs in (AllPairs(of), made, AllPairs(range(len(of)))):
        found = [pair for block in blocks(pairs, size) for pair in listed(block)]
        assert found == list(pairs)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=12))
def test_of_two_classes_no_distance_is_unknown(classes: list[int]) -> None:
    every = range(len(classes))
    wanted = [(s, t) for s, t in combinations(every, 2) if classes[s] == classes[t]]
    asked = [*AllPairs(every), (1, 1)]
    found = [pair for block in within_classes(classes, asked) for pair in listed(block)]
    assert found == wanted
