"""What the help of a command shows: the options that belong to its question, under headings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.reading_options import MODEL_OPTIONS

HEADINGS = ("Question", "Model", "Limits", "Output")

LIMITS = frozenset({"timeout", "memory", "jobs", "cluster", "state_limit"})
OUTPUT = frozenset({"as_json", "top", "logarithmic", "kinks", "trade_off", "unicode", "certificate_format"})
SELDOM = frozenset(
    {
        *("jobs", "cluster", "memory", "certificate_format", "backend", "worst", "graph", "matrix", "top"),
        *("csv", "for_all", "over", "loss", "nature", "rounds", "fixed", "merge_bisimilar", "pairs_both"),
        *("all_pairs", "logarithmic", "kinks", "trade_off", "lp", "svg", "html", "plot"),
        *("law", "pyodide", "relative", "state_limit"),
    }
)  # what the short help leaves out, by the names of the options

USUAL = {
    "check": frozenset({"memory"}),
    "crosscheck": frozenset({"html"}),
    "minimise": frozenset({"loss"}),
    "profile": frozenset({"plot"}),
    "program": frozenset({"observe", "neighbours", "cut", "law"}),
}
"""What is nevertheless usual for some commands."""
HERE_SELDOM = {
    "check": frozenset({"gap", "pairs"}),
    "program": frozenset({"against", "constants", "pairs"}),
}
"""What some commands leave out beside."""

SHOWN_OF_MODELS = frozenset({"constants", "inputs", "against"})
ALL = "--help-all"


def heading_of(option: Option[Any]) -> str:
    """Return under which heading an option stands."""
    if option.name in LIMITS:
        return "Limits"
    if option.writes or option.name in OUTPUT:
        return "Output"
    return "Model" if option.name in {model.name for model in MODEL_OPTIONS} else "Question"


class HelpfulCommand(click.Command):
    """A command whose help is short, and whose ``--help-all`` shows every option."""

    def __init__(self, *arguments: Any, offered: Sequence[Option[Any]], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.offered = offered
        self.params.append(
            click.Option(
                [ALL],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=self._print_all,
                help="Show this message with all options and exit.",
            )
        )

    def _print_all(self, ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            ctx.meta[ALL] = True
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # where a value is missing it has none
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings: those that are usual, or all."""
        everything = bool(ctx.meta.get(ALL))
        known = {option.name: option for option in self.offered}
        rows: dict[str, list[tuple[str, str]]] = {heading: [] for heading in HEADINGS}
        left_out = 0
        for param in self.get_params(ctx):
            record, option = param.get_help_record(ctx), known.get(param.name or "")
            if record is None or not isinstance(param, click.Option) or param.is_eager:
                continue
            if option is None:
                rows["Limits" if param.name in LIMITS else "Question"].append(record)
            elif everything or self._usual(option):
                rows[heading_of(option)].append(record)
            else:
                left_out += 1
        for heading, records in rows.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
        if left_out:
            formatter.write_paragraph()
            more = "1 more option" if left_out == 1 else f"{left_out} more options"
            formatter.write_text(f"{ctx.command_path} {ALL} shows {more}.")

    def _usual(self, option: Option[Any]) -> bool:
        name = self.name or ""
        if option.name in USUAL.get(name, ()):
            return True
        if option.name in HERE_SELDOM.get(name, ()):
            return False
        if heading_of(option) == "Model":
            return option.name in SHOWN_OF_MODELS
        return option.name not in SELDOM
