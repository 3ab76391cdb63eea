"""`bayes completion`."""

from __future__ import annotations

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json


@click.command(
    "completion",
    cls=options.Verb,
    short_help="Print the completion script for a shell.",
    examples=(
        "bayes completion bash >> ~/.bashrc",
        "bayes completion zsh >> ~/.zshrc",
        "bayes completion fish > ~/.config/fish/completions/bayes.fish",
    ),
    notes="Keys of --json: shell, script.",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@options.json_option
def command(shell: str, as_json: bool) -> None:
    """Print a script that lets a shell complete commands and options with the Tab key."""
    from click.shell_completion import get_completion_class

    from bayesbox.cli.main import COMPLETE, bayes

    kind = get_completion_class(shell)
    assert kind is not None  # the shells that click supports
    script = kind(bayes, {}, "bayes", COMPLETE).source()
    if as_json:
        emit_json({"shell": shell, "script": script})
    else:
        click.echo(script)
