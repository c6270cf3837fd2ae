"""The command line. Importing this loads click and nothing of ours that computes."""

# ruff: noqa: PLC0415  (each command imports what it needs, so that --help and errors are quick)

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.options import GAP, JSON, PAIR, PROGRAM_OPTIONS
from bisimdist.faces.asked.question import Group
from bisimdist.faces.asked.reading_options import READING_OPTIONS
from bisimdist.faces.asked.registry import HOMES, question_of
from bisimdist.faces.cli.commands import CODES, command_of, parameter
from bisimdist.faces.cli.help import HelpfulCommand


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


CHECKED: tuple[Option[Any], ...] = (JSON, PAIR, *PROGRAM_OPTIONS, GAP, *READING_OPTIONS)
"""What check takes beside the options of its own."""

MOVED = {
    **{name: f"logic {name}" for name in ("distance", "explain", "formula", "satisfies", "traces")},
    "export": "bound --lp FILE",
}  # by former names of commands what they are now


class _Commands(click.Group):
    """Makes the command of a question when it is called, so that no other question is loaded."""

    prefix = ""  # what stands before the names of its commands in the registry
    start: tuple[str, ...] = ("program", "delta", "bound", "profile", "metric", "budget", "report", "check")
    """What the help begins with."""

    def _questions(self) -> list[str]:
        """Return the commands of this group that are questions, in the order of the registry."""
        names = (name.removeprefix(self.prefix) for name in HOMES if name.startswith(self.prefix))
        return [name for name in names if " " not in name]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self._questions()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self._questions() and cmd_name not in self.commands:
            self.add_command(command_of(question_of(self.prefix + cmd_name)))
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] in MOVED and not self.prefix:
            ctx.fail(f"No such command {args[0]!r}: it is 'bisimdist {MOVED[args[0]]}' now.")
        if args and args[0] not in (names := self.list_commands(ctx)):
            from difflib import get_close_matches

            if near := get_close_matches(args[0], names, 1):
                ctx.fail(f"No such command {args[0]!r}. (Did you mean {near[0]!r}?)")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands under the headings of their groups, after those to start with."""
        questions = self._questions()
        names = list(dict.fromkeys((*self.start, *questions, *self.commands)))
        room = max(map(len, names))
        sections: dict[str, list[tuple[str, str]]] = {}
        calls: dict[str, list[str]] = {}
        for name in names:
            command = self.get_command(ctx, name)
            if command is None:
                continue
            group = self._group(name).value
            heading = "Start here" if name in self.start else group
            sections.setdefault(heading, []).append((name, (command.help or "").partition("\n")[0]))
            if name in questions and (example := question_of(self.prefix + name).example):
                calls.setdefault(heading, []).append(f"{ctx.command_path} {name} {example}")
        order = ("Start here", *(group.value for group in Group))
        for heading in sorted(sections, key=order.index):
            with formatter.section(heading):
                formatter.write_dl(sections[heading], col_max=room)
                if heading in calls:
                    formatter.write_text(f"Try: {min(calls[heading], key=len)}")

    def _group(self, name: str) -> Group:
        if name == "logic":
            return Group.LOGICS
        return question_of(self.prefix + name).group if name in self._questions() else Group.TOOLS

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say where the documentation is, and how the shell completes what is typed."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(
                f"Documentation: {_documentation()}. Help on a command: bisimdist COMMAND --help."
            )
            formatter.write_text(
                'Completion: eval "$(_BISIMDIST_COMPLETE=bash_source bisimdist)" (bash; zsh: zsh_source).'
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


class _LogicCommands(_Commands):
    """The commands of the logics."""

    prefix = "logic "
    start = ()


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


@command_line.group("logic", cls=_LogicCommands, no_args_is_help=False, epilog=CODES)
def _logic() -> None:
    """Work with formulae: explain a difference, describe a state, check, list, compare."""


@command_line.command(
    "check",
    cls=HelpfulCommand,
    epilog=CODES,
    offered=CHECKED,
    params=[*map(parameter, CHECKED)],
)
@click.option(
    "--with",
    "checker",
    type=click.Choice(["formal"]),
    help="Use the checker that is extracted from machine-checked proofs.",
)
@click.option(
    "--timeout", metavar="SEC", help="Stop after so many seconds (60, or more for files beyond 1 MB)."
)
@click.option(
    "--memory",
    metavar="SIZE",
    help="Stop beyond so much memory: 512 (MiB), 2G (1G, more for files beyond 1 MB).",
)
@click.option(
    "--attestation",
    metavar="FILE",
    help="Also verify this signed statement about the certificate, which attest wrote.",
)
@click.option("--key", metavar="KEY", help="With --attestation: the public key of the signer, in PEM.")
@click.argument("certificate")
@click.argument("model", required=False)
def _check(certificate: str, model: str | None, **values: Any) -> int:
    """Check that a certificate proves what it claims.

    With MODEL, check also that it is about that model. The check is exact and shares no code with the engine.
    If MODEL is a program, the command explores it anew, with the inputs of the certificate unless --input
    names others.
    """
    from bisimdist.faces.cli.check import run_check

    return run_check(certificate, model, **values)


@command_line.command("attest", epilog=CODES)
@click.option("--key", metavar="KEY", required=True, help="The private key: Ed25519 or ECDSA, in PEM.")
@click.option("--output", "-o", metavar="FILE", help="Write to a file (standard output).")
@click.argument("certificate")
def _attest(certificate: str, **values: Any) -> int:
    """Check a certificate, and sign a statement that it is valid.

    The statement has the form of in-toto, in an envelope of DSSE. It names the certificate, its model and its
    program by their digests, the claims, and the checker with its digest. 'check --attestation' verifies it.
    """
    from bisimdist.faces.cli.check import run_attest

    return run_attest(certificate, **values)


@command_line.command("schema", epilog=CODES)
@click.argument("name", type=click.Choice(["model", "answer", "certificate"]))
def _schema(name: str) -> int:
    """Print the JSON Schema of model files, answers or certificates, for editors and other programs.

    A model file names its schema in a first line '# yaml-language-server: $schema=FILE' in YAML, or by a key
    '$schema' in JSON.
    """
    import json

    from bisimdist.faces.cli.schemas import json_schema

    click.echo(json.dumps(json_schema(name), indent=1))
    return 0


def run(arguments: Sequence[str]) -> int:
    """Run a command line in this process and return its exit code."""
    from bisimdist.errors import UsageError
    from bisimdist.faces.cli.failure import guarded

    def work() -> int:
        if sys.stdout is None:
            raise UsageError("standard output is closed, so nobody would see the answer")
        result = command_line.main(args=list(arguments), prog_name="bisimdist", standalone_mode=False)
        return int(result or 0)

    return guarded(work)


def main() -> NoReturn:
    """Run the command line of this process and leave it."""
    sys.exit(run(sys.argv[1:]))
