"""``bisimdist profile``: delta as a function of epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath

from bisimdist.analysis.answer import Status
from bisimdist.analysis.profile import profile
from bisimdist.analysis.threshold_search import least_alpha
from bisimdist.cli.delta import memory_bytes
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.numbers import alpha_number, numbered, positive_number, seconds, unit_number
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.source import named_pairs, read_model
from bisimdist.errors import UsageError
from bisimdist.progress import Deadline
from bisimdist.report.plots import FORMATS, draw_profile
from bisimdist.report.profile import least_data, profile_csv, profile_data, profile_report

__all__ = ["run_profile"]


def run_profile(
    model: str,
    *,
    pairs: Sequence[tuple[str, str]] = (),
    alphas: Sequence[str] = (),
    epsilons: Sequence[str] = (),
    points: int = 33,
    largest: str | None = None,
    threshold: str | None = None,
    runs: int = 1,
    gap: str | None = None,
    timeout: str | None = None,
    memory: str | None = None,
    jobs: int = 1,
    csv: str | None = None,
    plot: str | None = None,
    logarithmic: bool = False,
    trade_off: bool = False,
    as_json: bool = False,
) -> int:
    """Compute a privacy profile, print it, draw it, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    pairs
        Pairs of states by name; without any, those of the model.
    alphas, epsilons
        Where to compute delta; without any, points are chosen.
    points, largest
        How many points to choose, up to which epsilon.
    threshold
        Find the least epsilon for which delta is at most this.
    runs
        Of how many independent runs.
    gap, timeout, memory
        As for ``delta``; the memory is that of each process.
    jobs
        How many processes compute points.
    csv, plot
        Files for the table and the picture.
    logarithmic, trade_off
        Whether the picture has logarithmic axes, and whether it shows the trade-off curve.
    as_json
        Whether to print one JSON object.

    Raises
    ------
    BisimdistError
        Where the input is not usable; nothing is printed then.
    """
    deadline = Deadline.after(seconds("--timeout", timeout))
    chosen = [alpha_number("--alpha", alpha) for alpha in alphas]
    levels = [numbered("--epsilon", epsilon) for epsilon in epsilons]
    end = positive_number("--to", largest)
    theta = unit_number("--threshold", threshold)
    wanted = unit_number("--gap", gap)
    room = memory_bytes(memory)
    if jobs < 1:
        raise UsageError(f"--jobs {jobs}: expected at least 1")
    if plot is not None and PurePath(plot).suffix.lower() not in FORMATS:
        raise UsageError(f"--plot {plot}: expected a file name that ends in {', '.join(FORMATS)}")
    if plot is None and (logarithmic or trade_off):
        raise UsageError("--log and --trade-off say how to draw; give the file with --plot FILE")
    chain = read_model(model)
    names = named_pairs(chain, pairs)
    with OutputFile(csv, option="--csv") as table, OutputFile(plot, option="--plot"):
        with shown_progress() as progress:
            answer = profile(
                chain,
                pairs=names,
                alphas=chosen if chosen or levels else None,
                epsilons=levels if chosen or levels else None,
                points=points,
                largest=end,
                gap=wanted,
                runs=runs,
                deadline=deadline,
                memory=room,
                jobs=jobs,
                progress=progress,
            )
            least = None
            if theta is not None:
                least = least_alpha(
                    chain,
                    theta,
                    pairs=names,
                    runs=runs,
                    deadline=deadline,
                    memory=room,
                    progress=progress,
                )
        if csv is not None:
            table.write(profile_csv(answer))
        if plot is not None:
            picture = draw_profile(answer, plot, logarithmic=logarithmic, trade_off=trade_off)
            Path(plot).write_bytes(picture)
        if as_json:
            data: dict[str, object] = {
                "command": "profile",
                "model": {"digest": chain.digest(), "states": len(chain)},
                **profile_data(answer),
            }
            if least is not None:
                data["least"] = least_data(least)
            emit_data(data)
        else:
            emit_report(profile_report(answer, least))
    undecided = least is not None and least.enough is None and not least.exact
    return ExitCode.UNDECIDED if answer.status is Status.LIMIT or undecided else ExitCode.ANSWERED
