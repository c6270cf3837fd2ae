"""``bisimdist example``: the built-in case studies, as model files."""

from __future__ import annotations

from bisimdist.cli.conversion import convert_model, format_for
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.output import OutputFile, emit_data, emit_report, emit_text
from bisimdist.cli.source import EXAMPLE_PREFIX
from bisimdist.errors import UsageError
from bisimdist.models.library.registry import build_any_example, example_as_text, list_examples
from bisimdist.report.tables import Report

__all__ = ["run_example"]


def run_example(
    name: str | None = None,
    *,
    format_name: str | None = None,
    output: str | None = None,
    as_json: bool = False,
) -> int:
    """Write an example as a model file, or list the examples, and return the exit code.

    Parameters
    ----------
    name
        ``NAME[,key=value...]``; None lists what there is.
    format_name
        ``json``, ``yaml``, ``dot`` or ``prism``, or ``ccsp`` where the example is written in the process
        calculus; by default what the extension of `output` says, or ``json``.
    output
        The file to write; None writes to standard output.
    as_json
        Whether to list as one JSON object; for an example the same as the format ``json``.

    Raises
    ------
    BisimdistError
        If there is no such example or format, or the file cannot be written.
    """
    if as_json and format_name not in {None, "json"}:
        raise UsageError(f"--json and --format {format_name} were both given; expected one of them")
    if name is None:
        if format_name is not None or output is not None:
            raise UsageError("--format and -o write an example; say which one (without NAME they are listed)")
        return _list(as_json=as_json)
    if format_name == "ccsp" or (format_name is None and not as_json and (output or "").endswith(".ccsp")):
        _write_text(name.removeprefix(EXAMPLE_PREFIX), output)
        return ExitCode.ANSWERED
    chosen = format_for("json" if as_json else format_name, output, "json")
    convert_model(build_any_example(name.removeprefix(EXAMPLE_PREFIX)), chosen, output)
    return ExitCode.ANSWERED


def _write_text(name: str, output: str | None) -> None:
    text = example_as_text(name)
    if output is None:
        emit_text(text)
        return
    with OutputFile(output, option="-o") as file:
        file.write(text)


def _list(*, as_json: bool) -> int:
    examples = list_examples()
    if as_json:
        emit_data(
            {
                "command": "example",
                "examples": [
                    {
                        "name": info.name,
                        "description": info.description,
                        "parameters": [
                            {"name": p.name, "default": p.default, "expected": p.expected}
                            for p in info.parameters
                        ],
                    }
                    for info in examples
                ],
            }
        )
        return ExitCode.ANSWERED
    emit_report(
        Report(
            columns=("name", "parameters and their defaults", "what it is"),
            rows=tuple(
                (info.name, ", ".join(f"{p.name}={p.default}" for p in info.parameters), info.description)
                for info in examples
            ),
            remarks=("Use one as example:NAME[,key=value...] in place of a file.",),
        )
    )
    return ExitCode.ANSWERED
