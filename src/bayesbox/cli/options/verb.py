"""What all verbs share: help with examples first and options in groups."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import click

from bayesbox.cli import CONTEXT

OPENING = 2  # examples below the first sentence; the others follow the options
GROUPED_FROM = 8  # options below which there are no groups

COLUMNS = ("target", "types", "ignore", "one_hot", "target_bins", "classes_limit", "weight", "text")
MODEL = ("model", "tables", "calibrate", "ledger", "prior")
DATA = (
    "sql",
    "database",
    "spark",
    "na",
    "bad_rows",
    "follow",
    "input_format",
    "encoding",
    "decimal",
    "thousands",
    "delimiter",
    "skip_rows",
    "comment",
    "sheet",
)
OUTPUT = (
    "output",
    "output_format",
    "keep",
    "no_escape",
    "as_json",
    "svg",
    "latex",
    "html",
    "force",
    "keep_old",
    "wait",
)
GENERAL = ("threads", "debug")
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Columns": COLUMNS,
    "Model": MODEL,
    "Reading data": DATA,
    "Output": OUTPUT,
    "General": GENERAL,
}
"""The headings under which the help lists the options that verbs share, and the parameters below each."""
DOCUMENTS = "Documents (--model text)"


class Verb(click.Command):
    """A command whose help opens with what it does and two examples, and lists its options in groups.

    `groups` has the options of this verb by heading; they come before shared ones. An option without a group is under
    "Options". `renamed` has the earlier names of options: they work, with a note, and are not in the help. `--debug` is
    an option of every verb and of the group.
    """

    def __init__(
        self,
        *args: Any,
        examples: tuple[str, ...] = (),
        notes: str = "",
        groups: Mapping[str, tuple[str, ...]] | None = None,
        renamed: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        options.setdefault("context_settings", CONTEXT)
        super().__init__(*args, **options)
        self.examples = examples
        self.notes = notes
        self.groups = dict(groups or {})
        self.renamed = dict(renamed or {})
        self.params.append(
            click.Option(["--debug"], is_flag=True, expose_value=False, help="Show the traceback of an error.")
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self._with_new_names(args))

    def _with_new_names(self, args: list[str]) -> list[str]:
        """The arguments with every earlier name of an option replaced, and a note for each."""
        end = args.index("--") if "--" in args else len(args)
        found = []
        for place, arg in enumerate(args):
            old, equals, value = arg.partition("=")
            new = self.renamed.get(old) if place < end else None
            if new is not None:
                click.echo(f"note: {old} has been renamed to {new}; the old name will stop working in 0.4", err=True)
            found.append(arg if new is None else f"{new}{equals}{value}")
        return found

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the first paragraph, two examples, and the rest of the text."""
        first, _, rest = inspect.cleandoc(self.help or "").partition("\n\n")
        with formatter.indentation():
            formatter.write_paragraph()
            formatter.write_text(first)
        self._write_examples(formatter, "Examples", self.examples[:OPENING])
        if rest.strip():
            with formatter.indentation():
                formatter.write_paragraph()
                formatter.write_text(rest)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by heading, in the order of their declaration."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option) and not param.hidden]
        groups = self.option_groups(ctx) if len(options) >= GROUPED_FROM else {}
        heading_of = {name: heading for heading, names in groups.items() for name in names}
        by_heading: dict[str, list[tuple[str, str]]] = {heading: [] for heading in ("Options", *groups)}
        for option in options:
            is_help = "--help" in option.opts
            heading = heading_of.get("debug" if is_help else option.name or "", "Options")
            record = option.get_help_record(ctx)
            by_heading[heading].extend([] if record is None else [record])
        for heading, found in by_heading.items():
            self._write_options(formatter, heading, found)

    def option_groups(self, ctx: click.Context) -> dict[str, tuple[str, ...]]:  # noqa: ARG002
        """The names of parameters by heading: the verb's own first, then the shared ones."""
        own = {name for names in self.groups.values() for name in names}
        shared = {heading: tuple(name for name in names if name not in own) for heading, names in GROUPS.items()}
        return {**self.groups, **{name: names for name, names in shared.items() if name not in self.groups}}

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        before, keys, after = self.notes.partition("Keys of --json")
        for paragraph in (before.strip(), f"{keys}{after}"):
            if paragraph:
                formatter.write_paragraph()
                formatter.write_text(paragraph)
        self._write_examples(formatter, "More examples", self.examples[OPENING:])

    @staticmethod
    def _write_options(formatter: click.HelpFormatter, heading: str, records: list[tuple[str, str]]) -> None:
        if records:
            with formatter.section(heading):
                formatter.write_dl(records)

    @staticmethod
    def _write_examples(formatter: click.HelpFormatter, heading: str, examples: tuple[str, ...]) -> None:
        if examples:
            with formatter.section(heading):
                for line in examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
