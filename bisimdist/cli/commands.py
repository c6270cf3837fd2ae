"""Makes a command of every question. Importing this loads click and nothing of ours that computes."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

import click

from bisimdist.cli.completion import complete_model, completer
from bisimdist.questions.option import Option
from bisimdist.questions.question import Question
from bisimdist.questions.reading_options import MODEL_OPTIONS

__all__ = ["CODES", "command_of", "parameter"]

CODES = (
    "Exit codes: 0 answered (and what was asked holds); 1 it is violated, or a certificate is not valid; "
    "2 the input is not usable; 3 not decided within the given limits (what is known is printed)."
)

PARAGRAPH = "\n\n"
MODEL = "MODEL is a file, '-' for standard input, or example:NAME[,key=value...]."


def parameter(option: Option[Any]) -> click.Option:
    """Return the option as click knows options."""
    if not option.metavar:
        return click.Option([*option.flags, option.name], is_flag=True, help=option.help)
    shown = option.default is not None and not option.repeatable
    return click.Option(
        [*option.flags, option.name],
        metavar=option.metavar,
        help=option.help,
        type=option.type,
        nargs=option.parts,
        multiple=option.repeatable,
        shell_complete=completer(option),
        required=option.required,
        **({"default": option.default, "show_default": True} if shown else {}),
    )


class _Command(click.Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # where a value is missing it has none
            raise


def command_of(question: type[Question[Any]]) -> click.Command:
    """Return the command that asks a question."""

    def run(**values: Any) -> int:
        # Imported here: what is needed to run is not needed for help.
        from bisimdist.cli.run import run_question  # noqa: PLC0415

        return run_question(question, values)

    own = _left(MODEL_OPTIONS, question.offered()) if question.argument.endswith("MODEL") else ()
    argument = click.Argument(
        ["argument"],
        metavar=question.argument,
        required=not question.argument.startswith("["),
        nargs=-1 if "..." in question.argument else 1,
        shell_complete=complete_model if question.argument.endswith("MODEL") else None,
    )
    return _Command(
        question.command,
        callback=run,
        params=[argument, *map(parameter, (*question.offered(), *own))],
        help=_help(question),
        epilog=f"{_example(question)}{_sources(question)}{CODES}",
    )


def _left(shared: tuple[Option[Any], ...], own: tuple[Option[Any], ...]) -> list[Option[Any]]:
    """Return the shared options, without the flags that a command has for something else."""
    taken = {flag for option in own for flag in option.flags}
    return [option.but(flags=tuple(flag for flag in option.flags if flag not in taken)) for option in shared]


def _help(question: type[Question[Any]]) -> str:
    """Return the docstring, which says what MODEL is where that needs more than is said of all."""
    text = cleandoc(question.__doc__ or "")
    if question.argument != "MODEL" or "example:NAME" in text or "MODEL is" in text:
        return text
    return text + (" " if PARAGRAPH in text else PARAGRAPH) + MODEL


def _example(question: type[Question[Any]]) -> str:
    """Return a call that may be tried, as a paragraph."""
    return f"Example: bisimdist {question.command} {question.example}\n\n" if question.example else ""


def _sources(question: type[Question[Any]]) -> str:
    """Return where the mathematics is from, as a paragraph."""
    return f"Sources: {', '.join(question.sources)}.\n\n" if question.sources else ""
