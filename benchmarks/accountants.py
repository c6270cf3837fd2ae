"""The same composition in several accountants: epsilon at a delta, and what each answers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from benchmarks.tables import NOT_INSTALLED, Size, Table
from bisimdist import compose
from bisimdist.exact.doubles import as_double


class Setting(NamedTuple):
    """So many runs of a Gaussian on samples, or on all records where `rate` is 1."""

    name: str
    sigma: float
    rate: float
    runs: int
    delta: str
    entry: dict[str, Any]


SETTINGS = (
    Setting("100 Gaussians, sigma 10", 10, 1, 100, "1e-5", {"gaussian": {"sigma": 10}, "times": 100}),
    Setting("100 Gaussians, sigma 10", 10, 1, 100, "1e-25", {"gaussian": {"sigma": 10}, "times": 100}),
    Setting(
        "DP-SGD, sigma 1, q 1/100, 1000 steps",
        1,
        0.01,
        1000,
        "1e-5",
        {"dpsgd": {"sigma": 1, "q": "1/100", "steps": 1000}},
    ),
    Setting(
        "DP-SGD, sigma 4, q 33/100000, 10000 steps",
        4,
        0.00033,
        10000,
        "1.1e-18",
        {"dpsgd": {"sigma": 4, "q": "33/100000", "steps": 10000}},
    ),
)


def _dp_accounting(given: Setting) -> list[float]:
    dp_accounting: Any = import_module("dp_accounting")
    pld: Any = import_module("dp_accounting.pld")
    event = dp_accounting.GaussianDpEvent(given.sigma)
    if given.rate < 1:
        event = dp_accounting.PoissonSampledDpEvent(given.rate, event)
    made = pld.PLDAccountant().compose(dp_accounting.SelfComposedDpEvent(event, given.runs))
    return [made.get_epsilon(float(given.delta))]


def _prv_accountant(given: Setting) -> list[float]:
    prv_accountant: Any = import_module("prv_accountant")
    if given.rate < 1:
        one = prv_accountant.PoissonSubsampledGaussianMechanism(
            noise_multiplier=given.sigma, sampling_probability=given.rate
        )
    else:
        one = prv_accountant.GaussianMechanism(noise_multiplier=given.sigma)
    delta = float(given.delta)
    made = prv_accountant.PRVAccountant(
        prvs=one, max_self_compositions=given.runs, eps_error=0.01, delta_error=delta / 1000
    )
    low, _, high = made.compute_epsilon(delta, given.runs)
    return [low, high]


def _opacus(name: str) -> Callable[[Setting], list[float]]:
    def found(given: Setting) -> list[float]:
        made = getattr(import_module("opacus.accountants"), name)()
        made.history = [(given.sigma, given.rate, given.runs)]
        return [made.get_epsilon(float(given.delta))]

    return found


def _opendp(given: Setting) -> list[float]:
    dp: Any = import_module("opendp.prelude")
    if given.rate < 1:
        raise NotImplementedError("no subsampling")
    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    one = dp.m.make_gaussian(*space, scale=float(given.sigma))
    made = dp.c.make_zCDP_to_approxDP(dp.c.make_composition([one] * given.runs))
    return [made.map(1.0).epsilon(delta=float(given.delta))]


def _here(given: Setting) -> list[float]:
    point = compose([given.entry]).epsilon(given.delta)
    return [as_double(point.lower), as_double(point.upper)]


PROGRAMS: tuple[tuple[str, str, Callable[[Setting], list[float]]], ...] = (
    ("bisimdist", "bisimdist", _here),
    ("dp_accounting, PLD", "dp_accounting", _dp_accounting),
    ("prv-accountant", "prv_accountant", _prv_accountant),
    ("Opacus, RDP", "opacus", _opacus("RDPAccountant")),
    ("Opacus, PRV", "opacus", _opacus("PRVAccountant")),
    ("OpenDP, zCDP", "opendp", _opendp),
)


def accountant_tables(size: Size) -> Iterator[Table]:
    """Yield the table: what each answers, and on which side of the proved bounds it is."""
    table = Table(
        "The same composition in several accountants",
        ("mechanisms", "delta", "program", "epsilon", "CPU s", "against the proved bounds"),
        (
            "An answer below the proved lower bound claims more privacy than there is.",
            "Two numbers are the two sides that a program gives.",
        ),
    )
    for given in SETTINGS[: size.pick(1, len(SETTINGS), len(SETTINGS))]:
        bounds: list[float] = []
        for name, package, program in PROGRAMS:
            found: list[float] = []
            said, verdict, spent = NOT_INSTALLED, "", ""
            if find_spec(package) is not None:
                start = time.process_time()
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        found = program(given)
                except Exception as error:  # what others raise is their answer
                    said = f"refused: {str(error).partition('.')[0]}"
                spent = f"{time.process_time() - start:.2f}"
            bounds = bounds or found
            if found:
                said = " to ".join(f"{value:.7g}" for value in found)
                verdict = _verdict(found, bounds)
            table.add(given.name, given.delta, name, said, spent, verdict)
    yield table


def _verdict(found: list[float], bounds: list[float]) -> str:
    """Say where an answer lies; the last of two is the safe one."""
    if found is bounds:
        return "the bounds"
    if found[-1] < bounds[0]:
        return "too small"
    if found[-1] == float("inf"):
        return "no bound"
    if len(found) > 1 and found[0] > bounds[1]:
        return "the lower side is too large"
    over = found[-1] / bounds[1] - 1
    return "the same" if over <= 1e-6 else f"{over:.2%} above"
