"""`bayes ask`."""

from __future__ import annotations

import click

from bayesbox.cli.answer.ask import ask_classifier
from bayesbox.cli.network.ask import ask_network
from bayesbox.cli.network.opened import is_model_file
from bayesbox.cli.options import shared as options
from bayesbox.errors import BadOption


def _costs(text: str) -> dict[str, float]:
    """Costs by name: xray=30,smoke=1."""
    found: dict[str, float] = {}
    for item in options.split(text):
        name, equals, cost = item.rpartition("=")
        try:
            found[name.strip()] = float(cost)
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise BadOption("costs must be written name=30,name=2", found=item)
    return found


COSTS = options.Read("name=cost", _costs)


@click.command(
    "ask",
    cls=options.Verb,
    short_help="Suggest what to ask next: the most informative unknown columns or nodes.",
    examples=(
        "bayes ask asia.bif --target lung",
        "bayes ask asia.bif --target lung --set xray=yes --set smoke=no",
        "bayes ask asia.bif --target lung --costs xray=30,bronc=20,smoke=1",
        "bayes ask people.bayes --set sex=Female",
        "bayes ask heart.bayes --set age=54 --costs thal=50,ca=80 --json",
    ),
    notes="The expected information of a node is its mutual information with the target, in bits, given what is known. "
    "Keys of --json, for a network: model, evidence, target, posterior (by state), entropy (remaining "
    "uncertainty in bits), questions (node, information, cost, worth), most useful first; for a classifier, "
    "questions have column and values (the levels of a column) instead of node, and there are also silent "
    "(columns that cannot be asked about, with the reason) and notes.",
)
@click.argument("model")
@click.option("--target", "-t", metavar="NODE", help="For a network: the node to find out about.")
@click.option(
    "--set",
    "values",
    type=options.SETTING,
    multiple=True,
    metavar="NAME=VALUE",
    help="A known value; repeat for several.",
)
@click.option(
    "--costs",
    type=COSTS,
    multiple=True,
    metavar="NAME=COST,...",
    help="The cost of asking each; 1 if not given. Questions are then ranked by information per cost.",
)
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="How many to print; 20 by default.")
@options.json_option
def command(
    model: str,
    target: str | None,
    values: tuple[str, ...],
    costs: tuple[dict[str, float], ...],
    top: int | None,
    as_json: bool,
) -> None:
    """Suggest what to ask next: the unknown columns or nodes, ranked by expected information about the target.

    MODEL is a network (.bif, .xmlbif, .net, .xdsl, .uai, .json ...), or the model file of a classifier of tables, whose
    target is the class. Information is in bits: exact for categories, accurate to 1e-6 bits for numbers.
    """
    asked = {name: cost for each in costs for name, cost in each.items()} or None
    ask = ask_classifier if is_model_file(model) else ask_network
    ask(model, target, values, asked, top=top, as_json=as_json)
