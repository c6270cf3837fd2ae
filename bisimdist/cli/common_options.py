"""What all commands say about themselves. Importing this loads click alone."""

from __future__ import annotations

import click

__all__ = ["CODES", "as_json", "ends"]

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
