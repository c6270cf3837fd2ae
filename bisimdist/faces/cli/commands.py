"""Makes a command of every question. Importing this loads click and nothing of ours that computes."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

import click

from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.question import Question
from bisimdist.faces.asked.reading_options import AGAINST, MODEL_OPTIONS
from bisimdist.faces.cli.completion import complete_model, completer
from bisimdist.faces.cli.help import HelpfulCommand

CODES = (
    "Exit codes: 0 answered, and a property that you asked about holds; 1 a property is violated, or a "
    "certificate is not valid; 2 the input is not usable; 3 not decided within the limits (the command "
    "prints what it knows)."
)

PARAGRAPH = "\n\n"
SECOND = "MODEL OTHER"
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


def command_of(question: type[Question[Any]]) -> click.Command:
    """Return the command that asks a question."""

    def run(**values: Any) -> int:
        # Imported here: what is needed to run is not needed for help.
        from bisimdist.faces.cli.run import run_question  # noqa: PLC0415

        return run_question(question, values)

    second = question.argument == SECOND
    own = _left(MODEL_OPTIONS, question.offered()) if second or question.argument.endswith("MODEL") else ()
    arguments = [
        click.Argument(
            ["argument"],
            metavar="MODEL" if second else question.argument,
            required=not question.argument.startswith("["),
            nargs=-1 if "..." in question.argument else 1,
            shell_complete=complete_model if own else None,
        )
    ]
    if second:  # what others name by an option has a place of its own
        arguments.append(click.Argument([AGAINST.name], metavar="OTHER", shell_complete=complete_model))
        own = [option for option in own if option.name != AGAINST.name]
    offered = (*question.offered(), *own)
    return HelpfulCommand(
        question.command.rpartition(" ")[2],
        offered=offered,
        callback=run,
        params=[*arguments, *map(parameter, offered)],
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
