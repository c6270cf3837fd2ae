"""The commands of the logics. Importing this loads click and nothing of ours that computes."""

# ruff: noqa: PLC0415  (each command imports what it needs, so that --help and errors are quick)

from __future__ import annotations

from typing import Any

import click

from bisimdist.cli.common_options import CODES, as_json

__all__ = ["LOGIC_COMMANDS"]


@click.command("traces", epilog=CODES)
@click.argument("model")
@click.option("--state", metavar="S", help="The state; must be given.")
@click.option("--depth", type=int, metavar="K", help="Formulae of at most K actions; all without it.")
@click.option("--formula", "formulae", multiple=True, metavar="TEXT", help="Only check this one; repeatable.")
@click.option("--limit", type=int, metavar="N", help="List at most N formulae (1000).")
@click.option("--state-limit", type=int, metavar="N", help="States that a .ccsp file may have (50000).")
@click.option("--timeout", metavar="SEC", help="Stop after so many seconds with what is known by then.")
@click.option("--certificate", metavar="FILE", help="Write the proof of the answer, for 'bisimdist check'.")
@as_json
def _traces(model: str, **options: Any) -> int:
    """List the formulae of the trace logic that a state satisfies: its traces with their probabilities.

    With --formula, such as '3/4 <tau><tau><yes>T', check whether the state satisfies it, and by how much it
    fails to. MODEL, fully probabilistic, is a file, '-' for standard input, or example:NAME[,key=value...].
    """
    from bisimdist.cli.traces import run_traces

    return run_traces(model, **options)


@click.command("equivalence", epilog=CODES)
@click.argument("model")
@click.option("--pair", "pairs", nargs=2, multiple=True, metavar="S T", help="A pair of states; repeatable.")
@click.option("--state-limit", type=int, metavar="N", help="States that a .ccsp file may have (50000).")
@click.option("--timeout", metavar="SEC", help="Stop after so many seconds with what is known by then.")
@click.option("--certificate", metavar="FILE", help="Write the proof of the answer, for 'bisimdist check'.")
@as_json
def _equivalence(model: str, **options: Any) -> int:
    """Decide whether every trace has the same probability from both states of a pair.

    If not, print a trace of least length that tells them apart; the exit code is 1 then. MODEL, fully
    probabilistic, is a file, '-' for standard input, or example:NAME[,key=value...].
    """
    from bisimdist.cli.equivalence import run_equivalence

    return run_equivalence(model, **options)


@click.command("explain", epilog=CODES)
@click.argument("model")
@click.option("--pair", "pairs", nargs=2, multiple=True, metavar="S T", help="A pair of states; repeatable.")
@click.option("--state-limit", type=int, metavar="N", help="States that a .ccsp file may have (50000).")
@click.option("--timeout", metavar="SEC", help="Stop after so many seconds with what is known by then.")
@click.option("--certificate", metavar="FILE", help="Write the proof of the answer, for 'bisimdist check'.")
@as_json
def _explain(model: str, **options: Any) -> int:
    """Say why two states are not bisimilar: a formula that one satisfies and the other does not.

    The formula has the least possible depth. MODEL is a file, '-' for standard input, or
    example:NAME[,key=value...].
    """
    from bisimdist.cli.explain import run_explain

    return run_explain(model, **options)


@click.command("formula", epilog=CODES)
@click.argument("model")
@click.option("--state", metavar="S", help="The state.")
@click.option("--depth", type=int, metavar="K", help="For so many steps; without it, for ever.")
@click.option("--unicode", is_flag=True, help="Use the signs of the papers.")
@click.option("--state-limit", type=int, metavar="N", help="States that a .ccsp file may have (50000).")
@click.option("--timeout", metavar="SEC", help="Give up after so many seconds.")
@click.option("--certificate", metavar="FILE", help="Write the proof of the answer, for 'bisimdist check'.")
@as_json
def _formula(model: str, **options: Any) -> int:
    """Print the mimicking formula of a state: what it can do, for some steps or for ever.

    For ever it is a system of recursive equations, or a formula where the state cannot go on for ever. MODEL
    is a file, '-' for standard input, or example:NAME[,key=value...].
    """
    from bisimdist.cli.formula import run_formula

    return run_formula(model, **options)


@click.command("satisfies", epilog=CODES)
@click.argument("model")
@click.option("--formula", metavar="TEXT", help="Such as '<a>(1/2 <b>T + 1/2 !<c>T)', or @FILE.")
@click.option("--state", "states", multiple=True, metavar="S", help="Does this state? Repeatable.")
@click.option("--state-limit", type=int, metavar="N", help="States that a .ccsp file may have (50000).")
@click.option("--timeout", metavar="SEC", help="Give up after so many seconds.")
@click.option("--certificate", metavar="FILE", help="Write the proof of the answer, for 'bisimdist check'.")
@as_json
def _satisfies(model: str, **options: Any) -> int:
    """Compute which states of a probabilistic automaton satisfy a formula.

    Of a formula about distributions, such as '(1/2 <b>T + 1/2 T)', compute which transitions satisfy it. With
    --state the exit code is 0 if all of these states do, or have such a transition, else 1. MODEL is a file,
    '-' for standard input, or example:NAME[,key=value...].
    """
    from bisimdist.cli.satisfies import run_satisfies

    return run_satisfies(model, **options)


@click.command("trace", epilog=CODES)
@click.argument("model")
@click.option(
    "--kind", metavar="KIND", default="multiplicative", show_default=True, help="multiplicative or additive."
)
@click.option("--pair", "pairs", nargs=2, multiple=True, metavar="S T", help="A pair of states; repeatable.")
@click.option("--length", metavar="K", type=int, help="Traces of at most K actions; all without it.")
@click.option("--threshold", metavar="EPS", help="Ask whether the distance is at most EPS (weak anonymity).")
@click.option("--state-limit", type=int, metavar="N", help="States that a .ccsp file may have (50000).")
@click.option("--timeout", metavar="SEC", help="Stop after so many seconds with what is known by then.")
@click.option("--certificate", metavar="FILE", help="Write the proof of the answer, for 'bisimdist check'.")
@as_json
def _trace(model: str, **options: Any) -> int:
    """Compute the trace metric: how far apart the probabilities of one trace can be from two states.

    Multiplicative: the largest difference of ln Pr(s, w) and ln Pr(t, w) over all traces w; additive: that of
    Pr(s, w) and Pr(t, w).
    MODEL, fully probabilistic, is a file, '-' for standard input, or example:NAME[,key=value...].
    """
    from bisimdist.cli.trace import run_trace

    return run_trace(model, **options)


@click.command("secrets", epilog=CODES)
@click.argument("model")
@click.option(
    "--distance",
    metavar="NAME",
    default="discrete",
    show_default=True,
    help="discrete, hamming, absolute, or a file with a table.",
)
@click.option(
    "--kind", metavar="KIND", default="multiplicative", show_default=True, help="multiplicative or additive."
)
@click.option("--threshold", metavar="EPS", help="Ask whether the system is EPS d_X-private.")
@click.option("--secret", "secrets", nargs=2, multiple=True, metavar="NAME STATE", help="Repeatable.")
@click.option("--every-pair", is_flag=True, help="Look at all pairs, also those that follow from others.")
@click.option("--timeout", metavar="SEC", help="Stop after so many seconds with what is known by then.")
@click.option("--certificate", metavar="FILE", help="Write the proof of the answer, for 'bisimdist check'.")
@as_json
def _secrets(model: str, **options: Any) -> int:
    """Compute the least epsilon of d_X-privacy over a whole set of secrets.

    The multiplicative trace metric of any two secrets is at most epsilon times their distance; with --kind
    additive the additive one, which for the discrete distance is weak anonymity. Without --secret the states
    of the model's pairs are the secrets. MODEL is a file, '-' for standard input, or
    example:NAME[,key=value...].
    """
    from bisimdist.cli.secrets import run_secrets

    return run_secrets(model, **options)


@click.command("crosscheck", epilog=CODES)
@click.argument("model")
@click.option("--pair", "pairs", nargs=2, multiple=True, metavar="S T", help="A pair; repeatable.")
@click.option("--alpha", metavar="A", help="The skew of delta and the distances (11/10).")
@click.option("--length", metavar="K", type=int, default=4, show_default=True, help="Longest sequences.")
@click.option("--state-limit", type=int, metavar="N", help="States that a .ccsp file may have (50000).")
@click.option("--timeout", metavar="SEC", help="The time for each pair (60), shared by the measures.")
@click.option("--html", metavar="FILE", help="Write the table and a diagram of the order as one page.")
@as_json
def _crosscheck(model: str, **options: Any) -> int:
    """Hold every bound that applies to a pair against every other.

    Distances, metrics, budgets, SMT, traces and the two-sided delta stand in the order that theory demands; a
    violated order would be an error of this program: the exit code is 1 then. MODEL is a file, '-' for
    standard input, or example:NAME[,key=value...].
    """
    from bisimdist.cli.crosscheck import run_crosscheck

    return run_crosscheck(model, **options)


LOGIC_COMMANDS: tuple[click.Command, ...] = (
    _crosscheck,
    _equivalence,
    _explain,
    _formula,
    _satisfies,
    _secrets,
    _trace,
    _traces,
)
