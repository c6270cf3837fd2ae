"""``bisimdist compare``: delta and all distances of a pair side by side."""

from __future__ import annotations

from collections.abc import Sequence

from bisimdist.analysis.compare import compare
from bisimdist.cli.delta import memory_bytes
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.numbers import alpha_number, seconds, unit_number
from bisimdist.cli.output import emit_data, emit_report
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.source import named_pairs, read_model
from bisimdist.errors import UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.progress import Deadline
from bisimdist.report.compare import compare_data, compare_report

__all__ = ["run_compare"]


def run_compare(
    model: str,
    *,
    alpha: str | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    gap: str | None = None,
    timeout: str | None = None,
    memory: str | None = None,
    as_json: bool = False,
) -> int:
    """Compute all distances, print them in their order, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    alpha
        The skew, an exact number.
    pairs
        Pairs of states by name; without any, those of the model.
    gap, timeout, memory
        As for ``delta``.
    as_json
        Whether to print one JSON object.

    Raises
    ------
    BisimdistError
        Where the input is not usable; nothing is printed then.
    """
    deadline = Deadline.after(seconds("--timeout", timeout))
    if alpha is None:
        raise UsageError("no --alpha was given")
    skew = alpha_number("--alpha", alpha)
    wanted = unit_number("--gap", gap)
    room = memory_bytes(memory)
    chain = read_model(model)
    names = named_pairs(chain, pairs)
    with shown_progress() as progress:
        found = compare(
            chain,
            skew,
            pairs=names,
            gap=wanted,
            deadline=deadline,
            memory=room,
            progress=progress,
        )
    violated = any(comparison.violated for comparison in found)
    if as_json:
        emit_data(
            {
                "command": "compare",
                "model": {"digest": chain.digest(), "states": len(chain)},
                "alpha": format_rational(skew),
                "pairs": [compare_data(comparison) for comparison in found],
                "violated": violated,
            }
        )
    else:
        emit_report(compare_report(found, skew))
    if violated:
        return ExitCode.VIOLATED
    return ExitCode.UNDECIDED if deadline.passed() else ExitCode.ANSWERED
