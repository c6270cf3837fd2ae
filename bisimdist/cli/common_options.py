"""What all commands say about themselves. Importing this loads click alone."""

from __future__ import annotations

import click

from bisimdist.questions.options import PRISM_LABELS

__all__ = ["CODES", "as_json", "ends", "keeps_prism_labels", "prism_labels"]

CODES = (
    "Exit codes: 0 answered (and what was asked holds); 1 it is violated, or a certificate is not valid; "
    "2 the input is not usable; 3 not decided within the given limits (what is known is printed)."
)

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")

ends = click.option(
    "--ends",
    type=click.Choice(["visible", "hidden"]),
    default="visible",
    show_default=True,
    help="Whether an observer sees that a run has ended.",
)

_PRISM_LABELS = f"{__name__}.prism_labels"


def _keep(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    context.meta[_PRISM_LABELS] = wanted


def prism_labels() -> click.Option:
    """Return the option of every command that takes a model; it is heard where models are read."""
    option = PRISM_LABELS
    return click.Option(
        list(option.flags), is_flag=True, expose_value=False, callback=_keep, help=option.help
    )


def keeps_prism_labels() -> bool:
    """Tell whether the command that runs was told to keep PRISM's own labels."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_PRISM_LABELS))
