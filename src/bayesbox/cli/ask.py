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
            raise BadOption("costs are written name=30,name=2", found=item)
    return found


COSTS = options.Read("name=cost", _costs)


@click.command(
    "ask",
    cls=options.Verb,
    short_help="Say what to ask next: what is expected to say most of a class or node.",
    examples=(
        "bayes ask asia.bif --target lung",
        "bayes ask asia.bif --target lung --set xray=yes --set smoke=no",
        "bayes ask asia.bif --target lung --costs xray=30,bronc=20,smoke=1",
        "bayes ask people.bayes --set sex=Female",
        "bayes ask heart.bayes --set age=54 --costs thal=50,ca=80 --json",
    ),
    notes="The expected information of a node about the target is their mutual information in bits, given what is "
    "known. Keys of --json, of a network: model, evidence, target, posterior (by state), entropy (bits that are not "
    "known), questions (node, information, cost, worth), the most worth asking first; of a classifier questions have "
    "column and values (the levels of a column) in place of node, and there are silent (columns that cannot be asked "
    "for, with the reason) and notes.",
)
@click.argument("model")
@click.option("--target", "-t", metavar="NODE", help="Of a network: the node to find out about.")
@click.option(
    "--set",
    "values",
    type=options.SETTING,
    multiple=True,
    metavar="NAME=VALUE",
    help="What is known already; repeat it.",
)
@click.option(
    "--costs",
    type=COSTS,
    multiple=True,
    metavar="NAME=COST,...",
    help="What it costs to ask; 1 where none is given. The order is then by information per cost.",
)
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="How many to print; by default 20.")
@options.json_option
def command(
    model: str,
    target: str | None,
    values: tuple[str, ...],
    costs: tuple[dict[str, float], ...],
    top: int | None,
    as_json: bool,
) -> None:
    """Print what to ask next: what is not known, by how much it is expected to say of the target, in bits.

    MODEL is the file of a network (.bif, .xmlbif, .net, .xdsl, .uai, .json ...), or the model file of a classifier of
    tables, whose target is the class. Sums over levels are exact, integrals over numbers right to 1e-6 bits.
    """
    asked = {name: cost for each in costs for name, cost in each.items()} or None
    ask = ask_classifier if is_model_file(model) else ask_network
    ask(model, target, values, asked, top=top, as_json=as_json)
