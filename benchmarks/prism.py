"""PRISM's case studies as they come: read, shown, merged, bounded, and delta.

The published models are said to be missing where they are not there; Herman's ring, the leader election
and Crowds are written here, for sizes of one's own. What is in PRISM's language needs Storm.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.machine import DATA
from benchmarks.tables import NOT_INSTALLED, Size, Table, fine_seconds
from benchmarks.timing import Clock, run_apart
from bisimdist import LMC, Deadline, LimitError, bound, delta, load_model, parse_model
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.doubles import as_double
from bisimdist.faces.shown.summary import summarise
from bisimdist.models import quotient
from bisimdist.models.against import side_by_side

__all__ = ["prism_tables"]

MODELS = DATA / "prism"


def herman(n: int) -> str:
    """Return Herman's self-stabilising ring of n processes, which may begin anywhere."""
    others = "".join(f"module p{k} = p1 [x1=x{k}, x{n}=x{k - 1}] endmodule\n" for k in range(2, n + 1))
    tokens = " + ".join(f"(x{k}=x{k - 1 or n} ? 1 : 0)" for k in range(1, n + 1))
    return f"""dtmc
module p1
  x1 : [0..1];
  [step] x1=x{n} -> 1/2 : (x1'=0) + 1/2 : (x1'=1);
  [step] x1!=x{n} -> (x1'=x{n});
endmodule
{others}init true endinit
label "stable" = {tokens} = 1;
"""


def leader(n: int, numbers: int) -> str:
    """Return a ring of n processes who draw one of some numbers each, round by round, until one is unique."""
    ring = range(1, n + 1)
    draws = "".join(
        f"  [] s={k - 1} -> "
        + " + ".join(f"1/{numbers} : (v{k}'={v})&(s'={k})" for v in range(numbers))
        + ";\n"
        for k in ring
    )
    unique = " | ".join("(" + " & ".join(f"v{k}!=v{j}" for j in ring if j != k) + ")" for k in ring)
    variables = "".join(f"  v{k} : [0..{numbers - 1}] init 0;\n" for k in ring)
    return f"""dtmc
module ring
  s : [0..{n + 1}] init 0;
{variables}{draws}  [] s={n} & ({unique}) -> (s'={n + 1});
  [] s={n} & !({unique}) -> (s'=0){"".join(f"&(v{k}'=0)" for k in ring)};
  [] s={n + 1} -> true;
endmodule
label "elected" = s={n + 1};
"""


def crowd(members: int, bad: int, rounds: int, first: int) -> str:
    """Return a crowd whose member `first` sends over so many paths; bad members see who hands on to them."""
    everybody, honest = members + bad, range(1, members + 1)
    to_any = " + ".join(f"{{p}}/{everybody} : (s'=1)&(h'={k})" for k in honest)
    return f"""dtmc
module crowd
  s : [0..3] init 0;
  h : [1..{members}] init {first};
  r : [1..{rounds}] init 1;
  [] s=0 -> {bad}/{everybody} : (s'=2) + {to_any.format(p=1)};
  [] s=1 -> 1/5 : (s'=3) + 4/5*{bad}/{everybody} : (s'=2) + {to_any.format(p="4/5*1")};
  [] s>=2 & r<{rounds} -> (s'=0)&(h'={first})&(r'=r+1);
  [] s>=2 & r={rounds} -> true;
endmodule
label "over" = s=3;
""" + "".join(f'label "seen{k}" = s=2 & h={k};\n' for k in honest)


def _one(name: str, **options: Any) -> LMC:
    model = load_model(MODELS / name, **options)
    assert isinstance(model, LMC)
    return model


def cryptographers(n: int, *, silent: bool) -> LMC:
    seen = [f"agree{k}" for k in range(1, n + 1)]
    pairs = [("pay=1", "pay=2")]
    return _one(f"dc{n}.pm", observe_variables=seen, pairs=pairs, hide_silent=silent)


def retransmission(n: int, *, silent: bool) -> LMC:
    """Return the protocol with a channel that loses 2 % against one that loses 3 %."""
    halves = [
        _one(
            "brpp.pm",
            constants={"N": n, "MAX": 2, "pk": pk},
            observe_labels=["error", "done"],
            hide_silent=silent,
            initial_pairs="self",
        )
        for pk in ("0.98", "0.97")
    ]
    return _both(*halves)


def nand(n: int) -> LMC:
    """Return multiplexed gates that fail in 2 % of all cases against such that fail in 3 %."""
    text = (MODELS / "nand.pm").read_text().replace("const double perr = 0.02", "const double perr")
    options: dict[str, Any] = {
        "observe_labels": ["s4bad", "s4"],
        "hide_silent": True,
        "initial_pairs": "self",
    }
    return _both(
        *(parse_model(text, constants={"N": n, "K": 1, "perr": p}, **options) for p in ("0.02", "0.03"))
    )


def contracts(*, silent: bool) -> LMC:
    """Return the signing of contracts after the first step, one way or the other."""
    return _one("egl5_2.tra", pairs=[("#1", "#2")], hide_silent=silent)


def rings(n: int) -> LMC:
    """Return Herman's ring, begun with all processes alike or with one that differs."""
    zeros = ",".join(f"x{k}=0" for k in range(2, n + 1))
    model = parse_model(herman(n), pairs=[(f"x1=0,{zeros}", f"x1=1,{zeros}")])
    assert isinstance(model, LMC)
    return model


def leaders(n: int, numbers: int) -> LMC:
    """Return the election with some numbers against that with one more."""
    return _both(*(parse_model(leader(n, k), initial_pairs="self") for k in (numbers, numbers + 1)))


def crowds(members: int, rounds: int) -> LMC:
    """Return a crowd with a sixth of bad members, of which one member or another is the sender."""
    texts = (crowd(members, max(1, members // 5), rounds, first) for first in (1, 2))
    return _both(*(parse_model(text, hide_silent=True, initial_pairs="self") for text in texts))


def as_it_comes(name: str) -> LMC:
    """Return haddad-monmege, on which value iteration stops far too early, or brp with two channels."""
    return _one(name)


def _both(first: Any, second: Any) -> LMC:
    union = side_by_side(first, second)
    assert isinstance(union, LMC)
    return union


Row = tuple[str, str, Callable[..., LMC], dict[str, Any]]

QUICK: tuple[Row, ...] = (
    ("crowds 5, 3 paths", "1", crowds, {"members": 5, "rounds": 3}),
    ("egl 5, 2, changes only", "1", contracts, {"silent": True}),
    ("herman 7", "1", rings, {"n": 7}),
    ("nand, N = 5, changes only", "1", nand, {"n": 5}),
    ("leader 4, 3 against 4", "1", leaders, {"n": 4, "numbers": 3}),
    ("haddad-monmege", "1", as_it_comes, {"name": "haddadu.json"}),
    ("cryptographers 3", "1", cryptographers, {"n": 3, "silent": False}),
)
"""Every family once: name, alpha, how the chain is made."""

USUAL: tuple[Row, ...] = (
    ("crowds 5, 3 paths", "1", crowds, {"members": 5, "rounds": 3}),
    ("crowds 5, 3 paths", "3/2", crowds, {"members": 5, "rounds": 3}),
    ("crowds 20, 10 paths", "1", crowds, {"members": 20, "rounds": 10}),
    ("crowds 20, 10 paths", "3/2", crowds, {"members": 20, "rounds": 10}),
    ("egl 5, 2", "1", contracts, {"silent": False}),
    ("egl 5, 2, changes only", "1", contracts, {"silent": True}),
    ("egl 5, 2, changes only", "21/20", contracts, {"silent": True}),
    ("herman 7", "1", rings, {"n": 7}),
    ("herman 7", "21/20", rings, {"n": 7}),
    ("herman 9", "1", rings, {"n": 9}),
    ("nand, N = 20, changes only", "1", nand, {"n": 20}),
    ("nand, N = 20, changes only", "21/20", nand, {"n": 20}),
    ("leader 4, 6 against 7", "1", leaders, {"n": 4, "numbers": 6}),
    ("leader 4, 6 against 7", "21/20", leaders, {"n": 4, "numbers": 6}),
    ("brp, N = 16, two channels", "1", as_it_comes, {"name": "u_brp16_2.json"}),
    ("brp, N = 64", "1", retransmission, {"n": 64, "silent": False}),
    ("brp, N = 64, changes only", "1", retransmission, {"n": 64, "silent": True}),
    ("cryptographers 5", "1", cryptographers, {"n": 5, "silent": False}),
    ("cryptographers 5, changes only", "1", cryptographers, {"n": 5, "silent": True}),
    ("haddad-monmege", "1", as_it_comes, {"name": "haddadu.json"}),
)

FULL: tuple[Row, ...] = (
    *USUAL,
    ("herman 11", "1", rings, {"n": 11}),
    ("leader 4, 11 against 12", "1", leaders, {"n": 4, "numbers": 11}),
    ("brp, N = 512", "1", retransmission, {"n": 512, "silent": False}),
    ("brp, N = 512, changes only", "1", retransmission, {"n": 512, "silent": True}),
)

COLUMNS = (
    *("model", "alpha", "states", "transitions", "read s", "show s", "classes", "s", "Storm's", "s"),
    *("bd", "s", "merged first s", "delta", "s"),
)


def measured(row: Row, limit: float) -> Iterator[list[str]]:
    """Yield the cells of a row, more of them with every step."""
    name, alpha, make, arguments = row
    clock = Clock.start()
    chain = make(**arguments)
    cells = [name, alpha, str(len(chain)), str(sum(map(len, chain.rows))), fine_seconds(clock.spent().cpu)]
    yield cells
    clock = Clock.start()
    summarise(chain)
    cells.append(fine_seconds(clock.spent().cpu))
    clock = Clock.start()
    merged, _ = quotient(chain)
    merging = clock.spent().cpu
    cells += [str(len(merged)), fine_seconds(merging), *_by_storm(chain)]
    yield cells
    cells += _asked(bound, chain, alpha, limit)
    yield cells
    cells.append(fine_seconds(merging + float(_asked(bound, merged, alpha, limit)[1])))
    yield cells
    yield cells + _asked(delta, chain, alpha, limit)


def _asked(question: Callable[..., Any], chain: LMC, alpha: str, limit: float) -> list[str]:
    """Return what a question says, and the CPU seconds that it takes."""
    clock = Clock.start()
    try:
        pair = question(chain, alpha, deadline=Deadline.after(limit)).pairs[0]
        lower, upper = decimal_below(pair.lower, 6)[0], decimal_above(pair.upper, 6)[0]
        value = upper if pair.exact else f"[{lower}, {upper}]"
    except LimitError:
        value = "not in time"
    return [value, fine_seconds(clock.spent().cpu)]


def _by_storm(chain: LMC) -> list[str]:
    """Return how many classes Storm finds, in floating point, and how long it takes."""
    if not find_spec("stormpy"):
        return [NOT_INSTALLED, "-"]
    import stormpy  # noqa: PLC0415
    from stormpy.transformations import perform_bisimulation  # noqa: PLC0415

    numbers = {label: f"label{k}" for k, label in enumerate(dict.fromkeys(chain.labels))}
    steps = (f"{s} {t} {as_double(p)!r}\n" for s, row in enumerate(chain.rows) for t, p in row)
    labels = (f"{s} {'init ' if s == 0 else ''}{numbers[label]}\n" for s, label in enumerate(chain.labels))
    with tempfile.TemporaryDirectory() as folder:
        moves, labelling = Path(folder, "chain.tra"), Path(folder, "chain.lab")
        moves.write_text("dtmc\n" + "".join(steps))
        declared = " ".join(("init", *numbers.values()))
        labelling.write_text(f"#DECLARATION\n{declared}\n#END\n" + "".join(labels))
        model = stormpy.build_model_from_explicit(str(moves), str(labelling))
    clock = Clock.start()
    found = perform_bisimulation(model, [])
    return [str(found.nr_states), fine_seconds(clock.spent().cpu)]


def prism_tables(size: Size) -> Iterator[Table]:
    """PRISM's case studies: crowds, egl, herman, nand, leader, brp, cryptographers, haddad-monmege."""
    limit = size.pick(2.0, 10.0, 60.0)
    table = Table(
        "PRISM's case studies: CPU seconds",
        COLUMNS,
        (
            f"{limit:g} s of wall clock a question; reading includes Storm, which unfolds what is in PRISM's "
            "language. Classes: of bisimilar states, by us, exactly, and by Storm's strong bisimulation in "
            "floating point (Storm keeps the initial state apart); each once it has the chain. Merged first: "
            "classes, then bd of the quotient; for alpha > 1 that may be a smaller number.",
        ),
    )
    for row in size.pick(QUICK, USUAL, FULL):
        missing = _missing(row)
        cells = [row[0], row[1], missing] if missing else _row(row, limit)
        table.add(*cells, *["-"] * (len(COLUMNS) - len(cells)))
    yield table


def _row(row: Row, limit: float) -> list[str]:
    found: list[str] | None = run_apart(measured, row, limit, limit=100 + limit, rest=30 + 3 * limit)
    return found or [row[0], row[1], "not in time"]


FILES = {
    cryptographers: "dc{n}.pm",
    retransmission: "brpp.pm",
    nand: "nand.pm",
    contracts: "egl5_2.tra",
    as_it_comes: "{name}",
}


def _missing(row: Row) -> str | None:
    """Return what a row needs and is not there."""
    _, _, make, arguments = row
    file = FILES.get(make, "").format_map(arguments)
    if file and not (MODELS / file).exists():
        return f"no file {file}"
    return None if file.endswith((".tra", ".json")) or find_spec("stormpy") else f"Storm {NOT_INSTALLED}"
