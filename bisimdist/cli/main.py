"""The command line. Importing this loads click and nothing of ours that computes."""

# ruff: noqa: PLC0415  (each command imports what it needs, so that --help and errors are quick)

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from bisimdist.cli.common_options import CODES, as_json
from bisimdist.cli.logic_commands import LOGIC_COMMANDS

__all__ = ["command_line", "main", "run"]


def _version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"bisimdist {version('bisimdist')}")
        context.exit()


class _Commands(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None  # as click would, but without an empty line on standard error


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    no_args_is_help=False,
    epilog=CODES,
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
def command_line() -> None:
    """Exact, certified privacy bounds for probabilistic systems.

    Every number is exact: 3/5, 0.6 and 6e-1 are the same rational.
    """


@command_line.command("bound", epilog=CODES)
@click.argument("model")
@click.option("--alpha", metavar="A", help="The skew: an exact number of at least 1.")
@click.option("--epsilon", metavar="E", help="Stands for alpha = e^E, rounded down to stay sound.")
@click.option("--distance", metavar="NAME", default="bd", show_default=True, help="bd or lbd.")
@click.option("--pair", "pairs", nargs=2, multiple=True, metavar="S T", help="A pair of states; repeatable.")
@click.option("--precision", metavar="P", help="Be content with bounds at most P apart, in short rationals.")
@click.option("--threshold", metavar="THETA", help="Ask only whether the distance is at most THETA.")
@click.option(
    "--quotient", "merge_bisimilar", is_flag=True, help="Merge bisimilar states first (another distance)."
)
@click.option("--jobs", metavar="N", type=int, default=1, show_default=True, help="Threads to use.")
@click.option("--timeout", metavar="SEC", help="Stop after so many seconds with what is known by then.")
@click.option("--certificate", metavar="FILE", help="Write the proof of the answer, for 'bisimdist check'.")
@as_json
def _bound(model: str, **options: Any) -> int:
    """Bound delta from above by a bisimilarity distance.

    The answer d for a pair means: the model is (ln alpha, d)-differentially private for that pair. MODEL is a
    file, '-' for standard input, or example:NAME[,key=value...]; without --pair its own pairs are taken.
    """
    from bisimdist.cli.bound import run_bound

    return run_bound(model, **options)


@command_line.command("check", epilog=CODES)
@click.argument("certificate")
@click.argument("model", required=False)
@as_json
def _check(certificate: str, model: str | None, as_json: bool) -> int:
    """Check that a certificate proves what it claims.

    With MODEL also that it is about that model. The check is exact and shares no code with the rest.
    """
    from bisimdist.cli.check import run_check

    return run_check(certificate, model, as_json=as_json)


@command_line.command("delta", epilog=CODES)
@click.argument("model")
@click.option("--alpha", metavar="A", help="The skew: an exact number of at least 1.")
@click.option("--epsilon", metavar="E", help="Stands for alpha = e^E, rounded outwards to stay sound.")
@click.option("--pair", "pairs", nargs=2, multiple=True, metavar="S T", help="A pair of states; repeatable.")
@click.option("--gap", metavar="G", help="Stop as soon as upper - lower is at most G.")
@click.option("--worst", is_flag=True, help="Refine only what the largest delta of all pairs depends on.")
@click.option("--timeout", metavar="SEC", help="Stop after so many seconds with what is known by then.")
@click.option("--memory", metavar="MIB", help="Stop beyond so much memory with what is known by then.")
@click.option("--certificate", metavar="FILE", help="Write the proof of the answer, for 'bisimdist check'.")
@as_json
def _delta(model: str, **options: Any) -> int:
    """Bound the true delta from both sides, exactly where that is possible.

    The model is (ln alpha, delta)-differentially private for the pair, and for no smaller delta than the
    lower bound. MODEL is a file, '-' for standard input, or example:NAME[,key=value...].
    """
    from bisimdist.cli.delta import run_delta

    return run_delta(model, **options)


@command_line.command("compare", epilog=CODES)
@click.argument("model")
@click.option("--alpha", metavar="A", help="The skew: an exact number of at least 1.")
@click.option("--pair", "pairs", nargs=2, multiple=True, metavar="S T", help="A pair of states; repeatable.")
@click.option("--gap", metavar="G", help="How narrow the interval of delta has to be.")
@click.option("--timeout", metavar="SEC", help="Stop after so many seconds with what is known by then.")
@click.option("--memory", metavar="MIB", help="Stop beyond so much memory with what is known by then.")
@as_json
def _compare(model: str, **options: Any) -> int:
    """Show delta and all distances of a pair side by side, in the order in which they have to stand.

    A violated order would be an error of this program: the exit code is 1 then. MODEL is a file, '-' for
    standard input, or example:NAME[,key=value...].
    """
    from bisimdist.cli.compare import run_compare

    return run_compare(model, **options)


@command_line.command("budget", epilog=CODES)
@click.argument("mechanism")
@click.option("--timeout", metavar="SEC", help="Stop after so many seconds.")
@click.option(
    "--certificate", metavar="FILE", help="Write the claim for 'bisimdist check' to look at all pairs."
)
@as_json
def _budget(mechanism: str, **options: Any) -> int:
    """Compute the exact privacy budget of a mechanism over all neighbouring inputs.

    MECHANISM is noisy-max or geometric with settings, such as noisy-max,n=5,variant=naive,adjacency=one.
    """
    from bisimdist.cli.budget import run_budget

    return run_budget(mechanism, **options)


@command_line.command("prove", epilog=CODES)
@click.argument("model")
@click.option("--ratio", metavar="C", help="The budget; without it any budget will do.")
@click.option("--epsilon", metavar="E", help="Stands for the budget e^E.")
@click.option(
    "--method", metavar="NAME", default="auto", show_default=True, help="auto, cone, factors or coupling."
)
@click.option("--pair", "pairs", nargs=2, multiple=True, metavar="PI TAU", help="Distributions; repeatable.")
@click.option("--timeout", metavar="SEC", help="Stop after so many seconds.")
@click.option("--certificate", metavar="FILE", help="Write the proof, for 'bisimdist check'.")
@as_json
def _prove(model: str, **options: Any) -> int:
    """Prove or refute a budget of a hidden Markov model for sequences of every length.

    Looks for a sequence above the budget, for sequences whose ratio grows without bound, and for invariants.
    """
    from bisimdist.cli.prove import run_prove

    return run_prove(model, **options)


@command_line.command("metric", epilog=CODES)
@click.argument("model")
@click.option("--kind", metavar="KIND", help="accumulative, amortised, additive or multiplicative.")
@click.option("--discount", metavar="L", help="The factor of a step (1), for additive and multiplicative.")
@click.option("--precision", metavar="P", help="Be content with bounds at most P apart, for the same kinds.")
@click.option("--pair", "pairs", nargs=2, multiple=True, metavar="S T", help="A pair of states; repeatable.")
@click.option("--relation", metavar="FILE", help="Only check whether this relation is such a bisimulation.")
@click.option("--quotient", "merge_bisimilar", is_flag=True, help="Merge bisimilar states first.")
@click.option("--state-limit", type=int, metavar="N", help="States that a .ccsp file may have (50000).")
@click.option("--timeout", metavar="SEC", help="Stop after so many seconds with what is known by then.")
@click.option("--certificate", metavar="FILE", help="Write the proof of the answer, for 'bisimdist check'.")
@as_json
def _metric(model: str, **options: Any) -> int:
    """Compute a bisimulation metric of a probabilistic automaton: accumulative, amortised or generalised.

    The answer ln C for a pair means: the model is (ln C)-differentially private for it, under admissible
    schedulers. Kind additive compares probabilities by differences instead. MODEL is a file, '-' for standard
    input, or example:NAME[,key=value...].
    """
    from bisimdist.cli.metric import run_metric

    return run_metric(model, **options)


@command_line.command("convert", epilog=CODES)
@click.argument("model")
@click.option("--to", metavar="KIND", help="The kind of model to make: lmc, pa or hmm.")
@click.option("--format", "format_name", metavar="FORMAT", help="json (default), yaml, dot or prism.")
@click.option("-o", "--output", metavar="FILE", help="Write to a file; its extension says the format.")
@click.option("--unfold", is_flag=True, help="Make drawing a hidden state and observing it two steps.")
@click.option("--state-limit", type=int, metavar="N", help="States that a .ccsp file may have (50000).")
@as_json
def _convert(model: str, **options: Any) -> int:
    """Make a chain, an automaton or a hidden Markov model of another model.

    What is preserved is said on standard error; the pairs are kept. MODEL is a file, '-' for standard input,
    or example:NAME[,key=value...].
    """
    from bisimdist.cli.convert import run_convert

    return run_convert(model, **options)


@command_line.command("example", epilog=CODES)
@click.argument("name", required=False)
@click.option("--format", "format_name", metavar="FORMAT", help="json (default), yaml, dot, prism or ccsp.")
@click.option("-o", "--output", metavar="FILE", help="Write to a file; its extension says the format.")
@as_json
def _example(name: str | None, format_name: str | None, output: str | None, as_json: bool) -> int:
    """Write the built-in case study NAME[,key=value...] as a model file; without NAME list them all."""
    from bisimdist.cli.example import run_example

    return run_example(name, format_name=format_name, output=output, as_json=as_json)


@command_line.command("profile", epilog=CODES)
@click.argument("model")
@click.option("--pair", "pairs", nargs=2, multiple=True, metavar="S T", help="A pair of states; repeatable.")
@click.option("--alpha", "alphas", multiple=True, metavar="A", help="Where to compute delta; repeatable.")
@click.option("--epsilon", "epsilons", multiple=True, metavar="E", help="The same by epsilon; repeatable.")
@click.option("--points", type=int, default=33, show_default=True, metavar="N", help="Points to choose.")
@click.option("--to", "largest", metavar="E", help="The largest epsilon of the points to choose.")
@click.option("--threshold", metavar="THETA", help="Find the least epsilon with delta <= THETA.")
@click.option("--runs", type=int, default=1, show_default=True, metavar="K", help="Of K independent runs.")
@click.option("--gap", metavar="G", help="How narrow intervals have to be where delta is not exact.")
@click.option("--timeout", metavar="SEC", help="Stop after so many seconds with what is known by then.")
@click.option("--memory", metavar="MIB", help="Stop beyond so much memory with what is known by then.")
@click.option("--jobs", metavar="N", type=int, default=1, show_default=True, help="Processes for the points.")
@click.option("--csv", metavar="FILE", help="Write the points as CSV.")
@click.option("--plot", metavar="FILE", help="Draw the curve (.svg, .png, .pdf).")
@click.option("--log", "logarithmic", is_flag=True, help="Draw with logarithmic axes.")
@click.option("--trade-off", "trade_off", is_flag=True, help="Draw the trade-off (f-DP) curve as well.")
@as_json
def _profile(model: str, **options: Any) -> int:
    """Compute the privacy profile: delta as a function of epsilon, certified from above and below.

    Without --alpha and --epsilon the points are chosen, more of them where the curve bends. MODEL is a file,
    '-' for standard input, or example:NAME[,key=value...].
    """
    from bisimdist.cli.profile import run_profile

    return run_profile(model, **options)


@command_line.command("show", epilog=CODES)
@click.argument("model")
@click.option("--format", "format_name", metavar="FORMAT", help="Convert instead: json, yaml, dot or prism.")
@click.option("-o", "--output", metavar="FILE", help="Where to write what is converted (prism: a file stem).")
@as_json
def _show(model: str, format_name: str | None, output: str | None, as_json: bool) -> int:
    """Summarise a model, or convert it.

    MODEL is a file, '-' for standard input, or example:NAME[,key=value...].
    """
    from bisimdist.cli.show import run_show

    return run_show(model, format_name=format_name, output=output, as_json=as_json)


@command_line.command("verify", epilog=CODES)
@click.argument("model")
@click.option("--ratio", metavar="C", help="The budget: an exact number of at least 1.")
@click.option("--epsilon", metavar="E", help="Stands for the budget e^E.")
@click.option("--length", metavar="K", type=int, required=True, help="How many observations.")
@click.option("--up-to", is_flag=True, help="All lengths to K, not only K.")
@click.option("--pair", "pairs", nargs=2, multiple=True, metavar="S T", help="Two distributions; repeatable.")
@click.option(
    "--engine", metavar="NAME", default="auto", show_default=True, help="exact, smt, both (compare) or auto."
)
@click.option("--timeout", metavar="SEC", help="Stop after so many seconds; what is left is unknown.")
@click.option("--certificate", metavar="FILE", help="Write the proof of the answer, for 'bisimdist check'.")
@as_json
def _verify(model: str, **options: Any) -> int:
    """Decide a privacy budget of a hidden Markov model, for all observation sequences of a length.

    Holds if Pr(w, S) <= C Pr(w, T) and Pr(w, T) <= C Pr(w, S) for every sequence w and, where the model has
    parameters, for all their values. MODEL is a file, '-' for standard input, or example:NAME[,key=value...].
    """
    from bisimdist.cli.verify import run_verify

    return run_verify(model, **options)


@command_line.command("epsilon", epilog=CODES)
@click.argument("model")
@click.option("--length", metavar="K", type=int, required=True, help="How many observations.")
@click.option("--up-to", is_flag=True, help="All lengths to K, not only K.")
@click.option("--pair", "pairs", nargs=2, multiple=True, metavar="S T", help="Two distributions; repeatable.")
@click.option("--timeout", metavar="SEC", help="Stop after so many seconds with a lower bound.")
@click.option("--certificate", metavar="FILE", help="Write the proof of the answer, for 'bisimdist check'.")
@as_json
def _epsilon(model: str, **options: Any) -> int:
    """Compute the least privacy budget of a hidden Markov model exactly, for sequences of a length.

    MODEL, without parameters, is a file, '-' for standard input, or example:NAME[,key=value...].
    """
    from bisimdist.cli.epsilon import run_epsilon

    return run_epsilon(model, **options)


for _command in LOGIC_COMMANDS:
    command_line.add_command(_command)


def run(arguments: Sequence[str]) -> int:
    """Run a command line in this process and return its exit code."""
    from bisimdist.cli.failure import guarded

    def work() -> int:
        result = command_line.main(args=list(arguments), prog_name="bisimdist", standalone_mode=False)
        return int(result or 0)

    return guarded(work)


def main() -> NoReturn:
    """Run the command line of this process and leave it."""
    sys.exit(run(sys.argv[1:]))
