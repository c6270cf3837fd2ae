"""``bisimdist show``: what a model looks like, or the same model in another format."""

from __future__ import annotations

from bisimdist.cli.conversion import convert_model, format_for
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.output import emit_data, emit_report
from bisimdist.cli.source import STANDARD_INPUT, read_any_model
from bisimdist.errors import UsageError
from bisimdist.report.summary import summarise, summary_data, summary_report

__all__ = ["run_show"]


def run_show(
    model: str, *, format_name: str | None = None, output: str | None = None, as_json: bool = False
) -> int:
    """Print a summary of a model, or convert it, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    format_name
        Converts to ``json``, ``yaml``, ``dot`` or ``prism`` instead.
    output
        The file to convert to; its extension says the format where `format_name` does not.
    as_json
        Whether to print the summary as one JSON object.

    Raises
    ------
    BisimdistError
        If the model is not usable, there is no such format, or the file cannot be written.
    """
    converting = format_name is not None or output is not None
    if converting and as_json:
        raise UsageError("--json prints a summary, --format and -o convert; expected one of them")
    chosen = format_for(format_name, output, "json")
    found = read_any_model(model)
    if converting:
        convert_model(found, chosen, output)
        return ExitCode.ANSWERED
    summary = summarise(found)
    if as_json:
        data = summary_data(summary)
        identity = {key: data[key] for key in ("digest", "states") if key in data}
        emit_data({"command": "show", "model": identity, **data})
    else:
        emit_report(summary_report(summary, "standard input" if model == STANDARD_INPUT else model))
    return ExitCode.ANSWERED
