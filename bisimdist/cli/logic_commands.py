"""The commands of the logics. Importing this loads click and nothing of ours that computes."""

# ruff: noqa: PLC0415  (each command imports what it needs, so that --help and errors are quick)

from __future__ import annotations

from typing import Any

import click

from bisimdist.cli.common_options import CODES, as_json, ends

__all__ = ["LOGIC_COMMANDS"]


@click.command("traces", epilog=CODES)
@click.argument("model")
@click.option("--state", metavar="S", help="The state; must be given.")
@click.option("--depth", type=int, metavar="K", help="Formulae of at most K actions; all without it.")
@click.option("--formula", "formulae", multiple=True, metavar="TEXT", help="Only check this one; repeatable.")
@click.option("--limit", type=int, metavar="N", help="List at most N formulae (1000).")
@click.option("--state-limit", type=int, metavar="N", help="States that a .ccsp file may have (50000).")
@ends
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


@click.command("trace", epilog=CODES)
@click.argument("model")
@click.option(
    "--kind", metavar="KIND", default="multiplicative", show_default=True, help="multiplicative or additive."
)
@click.option("--pair", "pairs", nargs=2, multiple=True, metavar="S T", help="A pair of states; repeatable.")
@click.option("--length", metavar="K", type=int, help="Traces of at most K actions; all without it.")
@click.option("--threshold", metavar="EPS", help="Ask whether the distance is at most EPS (weak anonymity).")
@click.option("--state-limit", type=int, metavar="N", help="States that a .ccsp file may have (50000).")
@ends
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
@ends
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


LOGIC_COMMANDS: tuple[click.Command, ...] = (
    _secrets,
    _trace,
    _traces,
)
