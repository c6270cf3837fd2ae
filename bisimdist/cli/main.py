"""The command line. Importing this loads click and nothing of ours that computes."""

# ruff: noqa: PLC0415  (each command imports what it needs, so that --help and errors are quick)

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from bisimdist.cli.commands import command_of
from bisimdist.cli.common_options import CODES, as_json, prism_labels
from bisimdist.cli.logic_commands import LOGIC_COMMANDS
from bisimdist.questions.registry import HOMES, question_of

__all__ = ["command_line", "main", "run"]


def _version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"bisimdist {version('bisimdist')}")
        context.exit()


class _Commands(click.Group):
    """Makes the command of a question when it is called, so that no other question is loaded."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *HOMES})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in HOMES and cmd_name not in self.commands:
            self.add_command(command_of(question_of(cmd_name)))
        return super().get_command(ctx, cmd_name)

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


for _command in LOGIC_COMMANDS:
    command_line.add_command(_command)
for _command in command_line.commands.values():
    if any(_parameter.name == "model" for _parameter in _command.params):  # those that are no questions yet
        _command.params.append(prism_labels())


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
