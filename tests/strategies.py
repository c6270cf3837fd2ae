"""Every hypothesis strategy for models that tests share."""

from __future__ import annotations

from flint import fmpq
from hypothesis import strategies as st

from bisimdist.models.lmc import LMC, Row

__all__ = ["alphas", "lmcs", "rows", "weights"]

ALPHAS = ("1", "5001/5000", "11/10", "3/2", "2")


def alphas(*, include_one: bool = True) -> st.SearchStrategy[fmpq]:
    """Draw alpha from a short list: one, barely more, and large enough to change which states matter."""
    return st.sampled_from([_rational(text) for text in ALPHAS if include_one or text != "1"])


def weights(count: int, *, maximum: int = 4) -> st.SearchStrategy[list[fmpq]]:
    """Draw `count` positive rationals that sum to one; small weights, so that ties are frequent."""
    numerators = st.lists(st.integers(1, maximum), min_size=count, max_size=count)
    return numerators.map(lambda drawn: [fmpq(value, sum(drawn)) for value in drawn])


@st.composite
def rows(draw: st.DrawFn, targets: range, *, max_successors: int = 3) -> Row:
    """Draw a row of a chain whose successors lie in `targets`."""
    most = min(max_successors, len(targets))
    chosen = draw(st.lists(st.sampled_from(targets), min_size=1, max_size=most, unique=True))
    return tuple(zip(sorted(chosen), draw(weights(len(chosen))), strict=True))


@st.composite
def lmcs(
    draw: st.DrawFn,
    max_states: int = 6,
    cyclic: bool = True,
    *,
    min_states: int = 2,
    max_labels: int = 2,
    max_successors: int = 3,
) -> LMC:
    """Draw a chain with states s0, s1, … and labels a, b, …; few labels, so that states can be confused.

    With ``cyclic=False`` every state leads to later states only, but for final ones, which loop.
    The chain carries no pairs.
    """
    size = draw(st.integers(min_states, max_states))
    labels = draw(
        st.lists(
            st.sampled_from([chr(ord("a") + k) for k in range(max_labels)]), min_size=size, max_size=size
        )
    )
    drawn: list[Row] = []
    for index in range(size):
        targets = range(size) if cyclic else range(index + 1, size)
        final = not cyclic and (not targets or draw(st.integers(0, 4)) == 0)
        drawn.append(((index, fmpq(1)),) if final else draw(rows(targets, max_successors=max_successors)))
    return LMC(tuple(f"s{index}" for index in range(size)), tuple(labels), tuple(drawn))


def _rational(text: str) -> fmpq:
    numerator, _, denominator = text.partition("/")
    return fmpq(int(numerator), int(denominator or 1))
