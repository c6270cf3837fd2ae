"""Pages that carry their checker: sizes, and times in two browsers beside the native checkers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.metric import twins
from benchmarks.tables import NOT_INSTALLED, Size, Table
from bisimdist.automata.metric.ask import metric
from bisimdist.checker import check_certificate
from bisimdist.distances.bound.ask import bound
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.dining_cryptographers_pa import dining_cryptographers_pa
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.privacy.compose.answer import Composition
from bisimdist.privacy.compose.ask import compose
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.leakage.ask import leakage
from bisimdist.privacy.report.carried import checking_page
from tests.driven import BROWSERS, Driven, driven

__all__ = ["page_tables"]

NATIVE = Path(__file__).parents[1] / "formal" / "build" / "bisimdist-formal"
PYODIDE = os.environ.get("BISIMDIST_PYODIDE")
TIMES = 5

CHECK = """
const [form, text] = given, said = document.getElementById("said"), array = Uint8Array.from(atob(text), x => x.charCodeAt(0));
const button = document.querySelector(`button[data-form=${form}]`);
await document.getElementById("certificate-file").onchange({target: {files: [new File([array], "given")]}});
if (form != "proved") button.click();  // else it is the first button, which is clicked already
while (!said.dataset.verdict) await new Promise(go => setTimeout(go, 5));
return [said.dataset.verdict, said.querySelector(".took").textContent];
"""  # noqa: E501


def page_tables(size: Size) -> Iterator[Table]:
    """Pages that carry their checker: sizes, and times in two browsers beside the native checkers."""
    browsers = [name for name, there in BROWSERS.items() if there]
    forms = ["proved", *(["python"] if PYODIDE else [])]
    columns = [f"{browser}, {form}, s" for browser in browsers for form in forms]
    table = Table(
        "Certificates checked in browsers: seconds",
        ("certificate", "kB", "native proved, s", "native Python, s", *columns),
        (
            f"The best of {TIMES} checks each, in a page that is open; a browser says its own time, from the "
            "click to the verdict, the native proved checker its CPU time. "
            f"The page with the proved checker has {len(checking_page()) / 1000:.0f} kB.",
        ),
    )
    cases = dict(_cases(size))
    found: dict[str, list[str]] = {name: [] for name in cases}
    for browser in browsers:
        with tempfile.TemporaryDirectory() as folder, driven(browser, Path(folder)) as one:
            for form in forms:
                path = Path(folder) / f"{form}.html"
                path.write_text(checking_page(PYODIDE if form == "python" else None))
                begun = time.perf_counter()
                one.open(path)
                loaded = time.perf_counter() - begun
                starts = _times(one, form, next(iter(cases.values())), 1)
                table.remarks = (
                    *table.remarks,
                    f"{browser}, {form}: the page is there after {loaded:.2f} s, "
                    f"the first verdict {starts:.2f} s later.",
                )
                for name, text in cases.items():
                    found[name].append(f"{_times(one, form, text, TIMES):.2f}")
    for name, text in cases.items():
        begun = time.perf_counter()
        check_certificate(text)
        python = time.perf_counter() - begun
        table.add(name, f"{len(text) / 1000:.0f}", _native(text), f"{python:.2f}", *found[name])
    yield table


def _cases(size: Size) -> Iterator[tuple[str, bytes]]:
    asked: dict[str, Any] = {
        "delta, 3 cryptographers": lambda: delta(dining_cryptographers(3), "1.0002"),
        "delta, 5 cryptographers": lambda: delta(dining_cryptographers(5), "1.0002"),
        "bd, random chain of 20 states, alpha 1": lambda: bound(random_lmc(20, 3, 3, 1), 1),
        "bd, random chain of 40 states, alpha 1": lambda: bound(random_lmc(40, 3, 3, 1), 1),
        "bd, random chain of 30 states, alpha 3/2": lambda: bound(random_lmc(30, 3, 3, 1), "3/2"),
        "accumulative metric, 4 cryptographers": lambda: metric(
            dining_cryptographers_pa(4, "1/3"), "accumulative"
        ),
        "amortised metric, twins of 300 states": lambda: metric(
            twins(300, seed=1, changed=0.1, cyclic=False), "amortised"
        ),
        "chi2, 4 cryptographers": lambda: leakage(dining_cryptographers(4), "chi2"),
        "kl, 4 cryptographers": lambda: leakage(dining_cryptographers(4), "kl"),
        "200 randomised responses and one of (1/10, 1e-6)": _composed,
    }
    for name in size.pick(list(asked)[:1], list(asked), list(asked)):
        yield name, json.dumps(asked[name]().certificate()).encode()


def _composed() -> Composition:
    found = compose(
        [
            {"randomised-response": {"truth": "3/5"}, "times": 200},
            {"approximate": {"epsilon": "1/10", "delta": "1e-6"}},
        ]
    )
    found.delta(2)
    return found


def _times(one: Driven, form: str, text: bytes, times: int) -> float:
    """Return the least seconds that a browser says it took."""
    took = []
    for _ in range(times):
        verdict, said = one.run(CHECK, form, b64encode(text).decode())
        if verdict != "valid":
            raise SystemExit(f"{form}: {verdict}, expected valid")
        took.append(float(re.findall(r"[\d.]+", said)[0]))
    return min(took)


def _native(text: bytes) -> str:
    if not NATIVE.exists():
        return NOT_INSTALLED
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(text)
        file.flush()
        done = subprocess.run(
            [NATIVE, "--batch"], input=f"{file.name}\n", capture_output=True, text=True, check=True
        )
    return f"{float(done.stdout.split()[0]):.2f}"
