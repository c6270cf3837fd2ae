"""``bisimdist convert``: a model of another kind that has the same behaviour."""

from __future__ import annotations

from bisimdist.cli.conversion import convert_model, format_for
from bisimdist.cli.failure import ExitCode, note
from bisimdist.cli.source import INPUT_NAME, STANDARD_INPUT, read_any_model
from bisimdist.errors import ModelError, UsageError
from bisimdist.models.conversions import convert

__all__ = ["run_convert"]


def run_convert(  # noqa: PLR0917
    model: str,
    to: str | None = None,
    format_name: str | None = None,
    output: str | None = None,
    unfold: bool = False,
    state_limit: int | None = None,
    as_json: bool = False,
) -> int:
    """Write a model as one of another kind, say on standard error what is preserved, return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    to
        ``lmc``, ``pa`` or ``hmm``.
    format_name
        ``json``, ``yaml``, ``dot`` or ``prism``; by default what the extension of `output` says, or ``json``.
    output
        The file to write; None writes to standard output.
    unfold
        Whether a hidden state and its observation become two steps.
    state_limit
        How many states the automaton of a CCS_p text may have.
    as_json
        The same as the format ``json``.

    Raises
    ------
    BisimdistError
        If the model is not usable or has no counterpart of that kind, or the file cannot be written.
    """
    if to is None:
        raise UsageError("say which kind of model with --to: lmc, pa or hmm")
    if as_json and format_name not in {None, "json"}:
        raise UsageError(f"--json and --format {format_name} were both given; expected one of them")
    chosen = format_for("json" if as_json else format_name, output, "json")
    found = read_any_model(model, state_limit=state_limit)
    try:
        conversion = convert(found, to, unfold=unfold)
    except ModelError as error:
        raise error.with_source(INPUT_NAME if model == STANDARD_INPUT else model) from None
    convert_model(conversion.model, chosen, output)
    for line in conversion.preserved:
        note(line)
    return ExitCode.ANSWERED
