"""Composition: the proved bounds, and what dp_accounting estimates in doubles, in one process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

from benchmarks.accountants import accountant_tables
from benchmarks.tables import NOT_INSTALLED, Size, Table
from bisimdist import compose
from bisimdist.exact.doubles import as_double

__all__ = ["composition_tables"]

SETTINGS: tuple[tuple[list[dict[str, Any]], str], ...] = (
    ([{"gaussian": {"sigma": 10}, "times": 100}], "1"),
    ([{"gaussian": {"sigma": 10}, "times": 100}], "10"),
    ([{"gaussian": {"sigma": 10}, "times": 100}], "20"),
    ([{"laplace": {"scale": 2}, "times": 50}], "10"),
    ([{"laplace": {"scale": 2}, "times": 50}], "24"),
    ([{"randomised-response": {"truth": "3/4"}, "times": 100}], "80"),
    ([{"subsampled": {"q": "1/100", "of": {"gaussian": {"sigma": 1}}}, "times": 100}], "2"),
    ([{"subsampled": {"q": "33/100000", "of": {"gaussian": {"sigma": 4}}}, "times": 10000}], "0.05"),
    ([{"subsampled": {"q": "33/100000", "of": {"gaussian": {"sigma": 4}}}, "times": 10000}], "0.067214"),
    ([{"subsampled": {"q": "1/100", "of": {"gaussian": {"sigma": 1}}}, "times": 1000}], "8"),
)


def composition_tables(size: Size) -> Iterator[Table]:
    """Yield bounds, width and CPU seconds beside dp_accounting's, then the same call in other accountants."""
    table = Table(
        "Composition, against dp_accounting",
        (
            "mechanisms",
            "epsilon",
            "delta, proved at least",
            "at most",
            "width",
            "CPU s",
            "optimistic",
            "pessimistic",
            "their width",
            "CPU s, both",
            "contradiction",
        ),
        (
            "Relative width 1/1000 was asked. dp_accounting computes in doubles on its default grid of 1e-4.",
            "An estimate contradicts the bounds if the pessimistic one is less than what is proved, or the "
            "optimistic one more; it contradicts the other if it is on its wrong side.",
        ),
    )
    for mechanisms, epsilon in SETTINGS[: size.pick(3, len(SETTINGS), len(SETTINGS))]:
        (point, spent) = _timed(lambda m=mechanisms, e=epsilon: compose(m).delta(e))  # type: ignore[misc]
        low, high = as_double(point.lower), as_double(point.upper)
        cells = [
            _named(mechanisms[0]),
            epsilon,
            f"{low:.5g}",
            f"{high:.5g}",
            f"{as_double((point.upper - point.lower) / point.upper):.0e}",
            f"{spent:.2f}",
        ]
        if find_spec("dp_accounting") is None:
            table.add(*cells, NOT_INSTALLED, "", "", "", "")
            continue
        (both, theirs) = _timed(lambda m=mechanisms, e=epsilon: _estimates(m[0], float(e)))  # type: ignore[misc]
        optimistic, pessimistic = both
        wrong = [
            *(["pessimistic below the bounds"] if pessimistic < low else []),
            *(["optimistic above the bounds"] if optimistic > high else []),
            *(["each other"] if optimistic > pessimistic else []),
        ]
        apart = f"{(pessimistic - optimistic) / pessimistic:.0e}"
        estimates = f"{optimistic:.5g}", f"{pessimistic:.5g}", apart, f"{theirs:.2f}"
        table.add(*cells, *estimates, ", ".join(wrong) or "-")
    yield table
    yield from accountant_tables(size)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def _named(entry: dict[str, Any]) -> str:
    kind = next(iter(entry))
    inner = entry[kind]
    if kind == "subsampled":
        return f"{entry['times']} x Gaussian, sigma {inner['of']['gaussian']['sigma']}, q {inner['q']}"
    ((name, value),) = inner.items()
    return f"{entry['times']} x {kind}, {name} {value}"


def _estimates(entry: dict[str, Any], epsilon: float) -> tuple[float, float]:
    """Return dp_accounting's optimistic and pessimistic delta."""
    from dp_accounting.pld import privacy_loss_distribution as pld  # noqa: PLC0415  (an extra)

    kind = next(iter(entry))
    inner = entry[kind]
    found = []
    for pessimistic in (False, True):
        if kind == "gaussian":
            one = pld.from_gaussian_mechanism(float(inner["sigma"]), pessimistic_estimate=pessimistic)
        elif kind == "laplace":
            one = pld.from_laplace_mechanism(float(inner["scale"]), pessimistic_estimate=pessimistic)
        elif kind == "randomised-response":
            one = pld.from_randomized_response(0.5, 2, pessimistic_estimate=pessimistic)
        else:
            above, _, below = inner["q"].partition("/")
            one = pld.from_gaussian_mechanism(
                float(inner["of"]["gaussian"]["sigma"]),
                sampling_prob=int(above) / int(below),
                pessimistic_estimate=pessimistic,
            )
        found.append(float(one.self_compose(entry["times"]).get_delta_for_epsilon(epsilon)))
    return found[0], found[1]
