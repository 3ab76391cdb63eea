"""--latex and --html: the format of a calculation or of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bayesbox.cli.print.output import say

if TYPE_CHECKING:
    from bayesbox.explain.printed_tables import PrintedTables
    from bayesbox.explain.steps import Work

latex_option = click.option("--latex", is_flag=True, help="Print the calculation or the tables as LaTeX (amsmath).")
html_option = click.option("--html", is_flag=True, help="Print the calculation or the tables as an HTML page.")


def require_form(*, latex: bool, html: bool, shown: bool, option: str, as_json: bool = False) -> None:
    """Raise an error for a format without anything to print, or for two formats."""
    if (latex or html) and not shown:
        raise click.UsageError(f"--latex and --html require {option}")
    if latex + html + as_json > 1 and (latex or html):
        raise click.UsageError("choose one of --latex, --html and --json")


def print_work(work: Work | PrintedTables, *, latex: bool, html: bool) -> None:
    """Print a calculation in the requested format."""
    say((work.latex() if latex else work.html() if html else str(work)).rstrip("\n"))
