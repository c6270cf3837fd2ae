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
    }
)  # what the short help leaves out, by the names of the options

USUAL = {"profile": frozenset({"plot"}), "crosscheck": frozenset({"html"}), "minimise": frozenset({"loss"})}
"""What is nevertheless usual for some commands."""

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
        records = {param.name: param.get_help_record(ctx) for param in self.get_params(ctx)}
        left_out = 0
        for heading in HEADINGS:
            rows = []
            for option in self.offered:
                record = records.get(option.name)
                if record is None or heading_of(option) != heading:
                    continue
                if everything or self._usual(option):
                    rows.append(record)
                else:
                    left_out += 1
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
        if left_out:
            formatter.write_paragraph()
            formatter.write_text(f"{ctx.command_path} {ALL} shows {left_out} more options.")

    def _usual(self, option: Option[Any]) -> bool:
        if option.name in USUAL.get(self.name or "", ()):
            return True
        if heading_of(option) == "Model":
            return option.name in SHOWN_OF_MODELS
        return option.name not in SELDOM
