"""The command line. Importing this loads click and nothing of ours that computes."""

# ruff: noqa: PLC0415  (each command imports what it needs, so that --help and errors are quick)

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from bisimdist.cli.commands import CODES, command_of, parameter
from bisimdist.questions.options import GAP, JSON, PAIR, PROGRAM_OPTIONS
from bisimdist.questions.question import Group
from bisimdist.questions.reading_options import READING_OPTIONS
from bisimdist.questions.registry import HOMES, question_of

__all__ = ["command_line", "main", "run"]


def _version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"bisimdist {version('bisimdist')}")
        context.exit()


def _documentation() -> str:
    """Return the address that the package names, else where the pages are in its source."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        named = metadata("bisimdist").get_all("Project-URL") or []
    except PackageNotFoundError:
        named = []
    addresses: dict[str, str] = dict(text.split(", ", 1) for text in named)
    return addresses.get("Documentation", "the folder docs of the source")


class _Commands(click.Group):
    """Makes the command of a question when it is called, so that no other question is loaded."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *HOMES})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in HOMES and cmd_name not in self.commands:
            self.add_command(command_of(question_of(cmd_name)))
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands under the headings of their groups."""
        names = (*HOMES, *(name for name in self.commands if name not in HOMES))
        rows: dict[Group, list[tuple[str, str]]] = {group: [] for group in Group}
        calls: dict[Group, list[str]] = {group: [] for group in Group}
        for name in names:
            command = self.get_command(ctx, name)
            if command is not None:
                group = question_of(name).group if name in HOMES else Group.TOOLS
                rows[group].append((name, (command.help or "").partition("\n")[0]))
                if name in HOMES and question_of(name).example:
                    calls[group].append(f"bisimdist {name} {question_of(name).example}")
        room = max(map(len, names))
        for group, listed in rows.items():
            with formatter.section(group.value):
                formatter.write_dl(listed, col_max=room)
                formatter.write_text(f"Try: {min(calls[group], key=len)}")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say where the documentation is, and how the shell completes what is typed."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(
                f"Documentation: {_documentation()}; of a command: bisimdist COMMAND --help."
            )
            formatter.write_text(
                'Completion: eval "$(_BISIMDIST_COMPLETE=bash_source bisimdist)", zsh_source.'
            )
        super().format_epilog(ctx, formatter)

    # On an interruption click would write an empty line to standard error.

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        try:
            return super().make_context(*arguments, **options)
        except KeyboardInterrupt:
            raise click.Abort from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None


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


@command_line.command(
    "check",
    epilog=CODES,
    params=[parameter(JSON), parameter(PAIR), *map(parameter, (*PROGRAM_OPTIONS, GAP, *READING_OPTIONS))],
)
@click.option(
    "--with",
    "checker",
    type=click.Choice(["formal"]),
    help="Let the checker judge that is extracted from machine-checked proofs.",
)
@click.argument("certificate")
@click.argument("model", required=False)
def _check(certificate: str, model: str | None, **values: Any) -> int:
    """Check that a certificate proves what it claims.

    With MODEL also that it is about that model. The check is exact and shares no code with the rest.
    A program is explored anew, with the inputs that the certificate is about unless --input names others.
    """
    from bisimdist.cli.check import run_check

    return run_check(certificate, model, **values)


@command_line.command("schema", epilog=CODES)
@click.argument("name", type=click.Choice(["model", "answer", "certificate"]))
def _schema(name: str) -> int:
    """Print the JSON Schema of model files, answers or certificates, for editors and other programs.

    A model file refers to it with a first line '# yaml-language-server: $schema=FILE' in YAML, or a key
    '$schema' in JSON.
    """
    import json

    from bisimdist.cli.schemas import json_schema

    click.echo(json.dumps(json_schema(name), indent=1))
    return 0


def run(arguments: Sequence[str]) -> int:
    """Run a command line in this process and return its exit code."""
    from bisimdist.cli.failure import guarded
    from bisimdist.errors import UsageError

    def work() -> int:
        if sys.stdout is None:
            raise UsageError("standard output is closed, so nobody would see the answer")
        result = command_line.main(args=list(arguments), prog_name="bisimdist", standalone_mode=False)
        return int(result or 0)

    return guarded(work)


def main() -> NoReturn:
    """Run the command line of this process and leave it."""
    sys.exit(run(sys.argv[1:]))
