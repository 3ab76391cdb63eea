"""`bayes network`: learn, show, edit, convert and sample Bayesian networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.network import learn as network_learn
from bayesbox.cli.network.act import adjust
from bayesbox.cli.network.doubt import compare, require_question, sensitivity
from bayesbox.cli.network.edit import edit, editing_options
from bayesbox.cli.network.learn import learning_options, refuse_strangers
from bayesbox.cli.network.opened import opened_network
from bayesbox.cli.options import shared as options
from bayesbox.cli.options.interval import interval_option
from bayesbox.cli.options.written_work import html_option, latex_option, require_form
from bayesbox.cli.print.output import emit_json, note, plural, say, table

if TYPE_CHECKING:
    from bayesbox.file.reader import Json
    from bayesbox.network.network import BayesianNetwork, FactorGraph

EXTENSIONS = ".bif .xmlbif .bifxml .xml .uai .net .xdsl .json, each also with .gz"


@click.command(
    "network",
    cls=options.Verb,
    renamed={"--out": "--output"},
    groups={
        "Show": ("dot", "evidence", "probabilities", "strengths", "layout", "tables", "interval"),
        "Learn and fit": (
            "score",
            "method",
            "target",
            "root",
            "restarts",
            "patience",
            "alpha",
            "bootstrap",
            "require",
            "forbid",
            "tier",
            "max_parents",
            "bins",
            "smoothing",
            "missing",
            "hidden",
            "prior_cases",
            "known",
        ),
        "Adjust and sensitivity": ("latent", "spread", "top"),
        "Sample": ("rows", "seed"),
    },
    short_help="Learn, show, edit, convert or sample a Bayesian network.",
    examples=(
        'bayes network learn rows.csv -o net.bif --score bic --forbid "grass->rain"',
        "bayes network learn rows.csv --method pc --known alarm.bif --svg net.svg",
        "bayes network learn rows.csv --method order --json",
        "bayes network learn rows.csv --bootstrap 100 --average .5 --svg net.svg",
        "bayes network fit alarm.bif rows.csv -o fitted.bif --smoothing bdeu:10",
        "bayes network show alarm.bif",
        "bayes network show alarm.bif --svg alarm.svg",
        "bayes network show asia.bif --evidence xray=yes --evidence smoke=no --svg asia.svg",
        "bayes network show asia.bif --dot > asia.dot",
        "bayes network show asia.bif --strengths",
        "bayes network show people.bayes --svg people.svg",
        "bayes network show alarm.bif --tables",
        "bayes network show alarm.bif --tables --latex",
        "bayes network show learned.json --tables --interval .95",
        "bayes network convert alarm.bif alarm.xmlbif",
        'bayes network edit asia.bif -o new.bif --add-node "cough=yes,no" --add-arc "bronc->cough"',
        'bayes network edit asia.bif -o new.bif --remove-arc "asia->tub" --set-table "smoke=0.3,0.7"',
        "bayes network sensitivity asia.bif 'P(lung=yes | xray=yes)' --top 10 --svg tornado.svg",
        "bayes network compare asia.bif learned.bif",
        'bayes network adjust smoking.bif "P(cancer | do(smoke))" --latent gene',
        "bayes network sample alarm.bif -n 1000 --seed 1 -o rows.csv",
    ),
    notes=f"The format of a file is that of its extension: {EXTENSIONS}. "
    "Keys of --json: learn has written, method, score (name, value), parameters, rows, holes, missing, moves, "
    "seconds, nodes, edges, undirected, bound, bound_parents, strengths (parent, child, strength, direction), "
    "comparison (shd, same, missing, extra, reversed), skipped, warnings; fit has written, rows, holes, rounds, "
    "converged, log_likelihood, skipped; show has name, nodes (name, states, parents), edges, factorisation, "
    "independences, with --evidence or --probabilities evidence and posteriors (by node and state), with --evidence "
    "conflict (conflict, findings, pairs, rare_cases), with --strengths arcs (parent, child, conditional, mutual, "
    "share), with --dot dot, with --layout layout (width, height, nodes (name, x, y, width, height, layer), arcs "
    "(parent, child, points, path)), and with --tables tables and parameters (numbers, free, joint_numbers, "
    "joint_free); convert has written, nodes; edit has written, nodes, edges; adjust has question, latent, "
    "identifiable, formula, hedge (outer, inner), with one cause and one effect back_door, front_door, complete, and "
    "where the states are given probability, or columns and rows; sensitivity has question, value, spread, all_cells, "
    "cells (node, state, given, value, derivative, low, high, alone, coefficients a, b, c, d of (a t + b) / (c t + "
    "d)); compare has shd, missing, extra, reversed, and where both have tables cross_entropy, entropy, divergence "
    "(bits); sample has rows, written.",
)
@click.argument(
    "action",
    type=click.Choice(["learn", "fit", "show", "edit", "adjust", "sensitivity", "compare", "convert", "sample"]),
)
@click.argument("files", nargs=-1, required=True)
@click.option("--normalize", is_flag=True, help="Rescale table rows that do not sum to 1, instead of refusing them.")
@click.option(
    "--svg", metavar="FILE", help="learn, fit, show: write a drawing of the graph; sensitivity: the tornado diagram."
)
@click.option("--dot", is_flag=True, help="show: print the graph in the DOT language, for Graphviz.")
@click.option(
    "--evidence",
    multiple=True,
    metavar="NODE=STATE",
    help="show: a known state; repeat for several. The posteriors are printed, and drawn in the nodes of --svg and "
    "--dot.",
)
@click.option("--probabilities", is_flag=True, help="show: the probabilities of all states, even without evidence.")
@click.option(
    "--strengths", is_flag=True, help="show: the strength of each arc, in bits; with --svg drawn on the arcs."
)
@click.option("--layout", is_flag=True, help="show --json: the positions of nodes and arcs in a drawing.")
@click.option("--tables", is_flag=True, help="show: every table P(node | parents), and the number of parameters.")
@interval_option("show --tables: also the credible interval of every probability, if the tables were counted")
@latex_option
@html_option
@click.option(
    "-n", "--rows", type=click.IntRange(min=0), default=10, show_default=True, help="sample: the number of rows."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The random seed.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="learn, fit, edit: the network to write; sample: rows (.csv, .tsv, .jsonl, .parquet).",
)
@click.option(
    "--latent", type=options.WORDS, multiple=True, metavar="NODE,...", help="adjust: nodes that are not observed."
)
@click.option(
    "--spread",
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=0.1,
    show_default=True,
    help="sensitivity: how much each number is changed, as a part of itself.",
)
@click.option(
    "--top", type=click.IntRange(min=1), default=20, show_default=True, help="sensitivity: how many cells are listed."
)
@editing_options
@learning_options
@options.json_option
@click.pass_context
def command(
    context: click.Context, /, action: str, files: tuple[str, ...], normalize: bool, as_json: bool, **given: Any
) -> None:
    """Learn a Bayesian network from data, fit its tables, show it, convert it, or sample rows from it.

    learn takes DATA: it finds the structure by --method, then the tables. fit takes NETWORK and DATA, and estimates the
    tables of the given structure. show and sample take NETWORK. convert takes NETWORK and the file to write; it
    preserves every number exactly, but the UAI format has no names. edit takes NETWORK and writes a changed one: arcs
    and nodes are removed first, then renamed, then added, and tables are set last. adjust takes NETWORK and an effect
    such as P(y | do(x)), and prints the sets of nodes to adjust for, and the formula. sensitivity takes NETWORK and the
    probability of an event, and prints the table entries on which it depends most. compare takes two networks, and
    prints the arcs in which they differ, and their cross-entropy. To ask questions, use bayes query.
    """
    from bayesbox.network.formats import require_format

    refuse_strangers(context, action)
    if action in ("learn", "fit"):
        given["normalize"] = normalize
        if given["output"]:
            require_format(given["output"])  # before anything is learned
    if action == "learn":
        return network_learn.learn(files, given, as_json=as_json)
    if action == "fit":
        if len(files) < 2:
            raise click.UsageError("fit needs a network and data")
        return network_learn.fit(files, given, as_json=as_json)
    if action in ("adjust", "sensitivity", "compare"):
        require_question(files, action)
    elif len(files) != (2 if action == "convert" else 1):
        raise click.UsageError("convert needs two files; show, edit and sample need one")
    found = opened_network(files[0], normalize=normalize)
    if action == "convert":
        _convert(found, files[1], as_json=as_json)
    elif action == "edit":
        edit(_network(found), given, as_json=as_json)
    elif action == "adjust":
        adjust(_network(found), files[1], options.several(given["latent"]), as_json=as_json)
    elif action == "sensitivity":
        sensitivity(_network(found), files[1], given, as_json=as_json)
    elif action == "compare":
        compare(_network(found), _network(opened_network(files[1], normalize=normalize)), as_json=as_json)
    elif action == "show":
        require_form(
            latex=given["latex"], html=given["html"], shown=given["tables"], option="--tables", as_json=as_json
        )
        _show(found, given, as_json=as_json)
    else:
        _sample(found, given, as_json=as_json)
    return None


def _convert(found: BayesianNetwork | FactorGraph, output: str, *, as_json: bool) -> None:
    found.write(output)
    if as_json:
        emit_json({"written": output, "nodes": len(found.nodes)})
    else:
        note(f"{output}: {plural(len(found.nodes), 'node')} written")


def _show(found: BayesianNetwork | FactorGraph, given: Json, *, as_json: bool) -> None:
    from bayesbox.cli.network import show
    from bayesbox.network.network import BayesianNetwork

    show.require_fitting(given, as_json=as_json)
    needed = any(given[name] for name in ("svg", "dot", "tables", "strengths", "layout", "evidence", "probabilities"))
    network = _network(found) if needed or isinstance(found, BayesianNetwork) else None
    if network is not None:
        shown = show.shown(network, given)
        if given["svg"]:
            picture = network.svg(
                probabilities=given["probabilities"], evidence=shown.evidence, strengths=given["strengths"]
            )
            write_text(given["svg"], picture)
            note(f"{given['svg']} written")
        if as_json:
            emit_json(_facts(found) | shown.facts)
        elif not show.print_shown(shown, given):
            _print_structure(network)
        return
    if as_json:
        emit_json(_facts(found))
        return
    scopes = [factor.scope for factor in found.model.factors]
    rows = [
        [name, ", ".join(found.states(name)), str(sum(place in scope for scope in scopes))]
        for place, name in enumerate(found.nodes)
    ]
    table(["variable", "states", "tables"], rows)
    say()
    say(f"A product of {plural(len(scopes), 'table')} over {plural(len(rows), 'variable')}, without parents.")


def _print_structure(network: BayesianNetwork) -> None:
    rows = [[name, ", ".join(network.states(name)), ", ".join(network.parents(name))] for name in network.nodes]
    table(["node", "states", "parents"], rows)
    say()
    say(network.factorisation())
    statements = network.local_markov()
    if statements:
        say()
        say("Each node is independent of its non-descendants given its parents:")
        for statement in statements:
            say(f"  {statement}")


def _facts(found: BayesianNetwork | FactorGraph) -> Json:
    from bayesbox.network.network import BayesianNetwork

    if not isinstance(found, BayesianNetwork):
        nodes = [{"name": name, "states": found.states(name)} for name in found.nodes]
        return {"name": "", "nodes": nodes, "factors": len(found.model.factors)}
    return {
        "name": found.graph.name,
        "nodes": [{"name": name, "states": found.states(name), "parents": found.parents(name)} for name in found.nodes],
        "edges": [list(edge) for edge in found.edges],
        "factorisation": found.factorisation(),
        "independences": found.local_markov(),
    }


def _sample(found: BayesianNetwork | FactorGraph, given: Json, *, as_json: bool) -> None:
    rows = _network(found).sample(given["rows"], seed=given["seed"])
    if as_json and not given["output"]:
        emit_json({"rows": rows.to_pylist(), "written": None})
        return
    from bayesbox.cli.print.writers import format_of, output_file, table_writer

    names, format = tuple(rows.column_names), format_of(given["output"], None)
    with output_file(given["output"]) as file, table_writer(file, format, names) as write:
        write(rows)
    if as_json:
        emit_json({"rows": given["rows"], "written": given["output"]})
    elif given["output"]:
        note(f"{given['output']}: {plural(given['rows'], 'row')} written")


def _network(found: BayesianNetwork | FactorGraph) -> BayesianNetwork:
    from bayesbox.errors import BadOption
    from bayesbox.network.network import BayesianNetwork

    if not isinstance(found, BayesianNetwork):
        raise BadOption(
            "a factor graph has no directions: it cannot be drawn, sampled or shown as conditional tables",
            found=repr(found),
        )
    return found


def write_text(path: str, text: str) -> None:
    """Write a text file atomically."""
    from bayesbox.file.atomic import replacing

    with replacing(path) as file:
        file.write(text.encode("utf-8"))
