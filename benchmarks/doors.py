"""PRISM's case studies as they come: read, shown, bounded, and delta.

python -m benchmarks.doors [SECONDS [FOLDER]]

The published models are taken from a folder, by default ``../shared/data/prism`` beside the checkout, and
left out where it is not there; Herman's ring, the leader election and Crowds are written here, for sizes
of one's own. Storm has to be installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.machine import described_machine
from benchmarks.tables import Table, seconds
from benchmarks.timing import Clock, run_apart
from bisimdist import LMC, Deadline, LimitError, bound, delta, load_model, parse_model
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.models.against import side_by_side
from bisimdist.report.summary import summarise

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "prism"
SECONDS = 60.0
ALPHA = 1


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
    model = load_model(DATA / name, **options)
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
    text = (DATA / "nand.pm").read_text().replace("const double perr = 0.02", "const double perr")
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


def haddad_monmege() -> LMC:
    """Return the chain on which value iteration stops far too early, as it comes."""
    return _one("haddadu.json")


def _both(first: Any, second: Any) -> LMC:
    union = side_by_side(first, second)
    assert isinstance(union, LMC)
    return union


CASES: dict[str, tuple[Callable[..., LMC], dict[str, Any]]] = {
    "dining cryptographers 3": (cryptographers, {"n": 3, "silent": False}),
    "dining cryptographers 5": (cryptographers, {"n": 5, "silent": False}),
    "the same, changes only": (cryptographers, {"n": 5, "silent": True}),
    "brp, N = 64": (retransmission, {"n": 64, "silent": False}),
    "brp, N = 64, changes only": (retransmission, {"n": 64, "silent": True}),
    "brp, N = 512": (retransmission, {"n": 512, "silent": False}),
    "brp, N = 512, changes only": (retransmission, {"n": 512, "silent": True}),
    "egl 5, 2": (contracts, {"silent": False}),
    "egl 5, 2, changes only": (contracts, {"silent": True}),
    "nand, N = 20, changes only": (nand, {"n": 20}),
    "herman 7": (rings, {"n": 7}),
    "herman 9": (rings, {"n": 9}),
    "herman 11": (rings, {"n": 11}),
    "leader 4, 6 against 7": (leaders, {"n": 4, "numbers": 6}),
    "leader 4, 11 against 12": (leaders, {"n": 4, "numbers": 11}),
    "crowds 5, 3 paths": (crowds, {"members": 5, "rounds": 3}),
    "crowds 20, 10 paths": (crowds, {"members": 20, "rounds": 10}),
    "haddad-monmege": (haddad_monmege, {}),
}


def measured(name: str, limit: float, folder: Path) -> Iterator[list[str]]:
    """Yield the cells of a row, more of them with every step."""
    global DATA  # noqa: PLW0603 - this is a process of its own
    DATA = folder
    make, arguments = CASES[name]
    clock = Clock.start()
    chain = make(**arguments)
    cells = [name, str(len(chain)), str(sum(map(len, chain.rows))), seconds(clock.spent().cpu)]
    yield cells
    clock = Clock.start()
    summarise(chain)
    cells.append(seconds(clock.spent().cpu))
    yield cells
    for question in (bound, delta):
        clock = Clock.start()
        try:
            pair = question(chain, ALPHA, deadline=Deadline.after(limit)).pairs[0]
            lower, upper = decimal_below(pair.lower, 6)[0], decimal_above(pair.upper, 6)[0]
            value = upper if pair.exact else f"[{lower}, {upper}]"
        except LimitError:
            value = "not in time"
        cells += [value, seconds(clock.spent().cpu)]
        yield cells


def main() -> None:
    """Print the table."""
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else DATA
    print(described_machine())
    columns = ("model", "states", "transitions", "read", "show", "bd", "CPU s", "delta", "CPU s")
    table = Table(
        "PRISM's case studies, alpha = 1",
        columns,
        [f"CPU seconds, Storm's included; {limit:g} s a question."],
    )
    for name, (make, _) in CASES.items():
        if not folder.exists() and make not in {rings, leaders, crowds}:
            continue
        row = run_apart(measured, name, limit, folder, limit=10 * limit, rest=3 * limit) or [name]
        table.add(*row, *["-"] * (len(columns) - len(row)))
        print("| " + " | ".join(table.rows[-1]) + " |", file=sys.stderr, flush=True)
    print(table.markdown())


if __name__ == "__main__":
    main()
