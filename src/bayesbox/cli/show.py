"""`bayes show`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print import nomogram
from bayesbox.cli.print.output import decimal, emit_json, note, say, table, whole
from bayesbox.errors import BadOption

if TYPE_CHECKING:
    from bayesbox.classifier.size import ModelSize
    from bayesbox.table.naive.classifier import NaiveClassifier

EXACT_UP_TO = 10**15


@click.command(
    "show",
    cls=options.Verb,
    short_help="Show what a model has learned.",
    examples=(
        "bayes show people.bayes",
        "bayes show people.bayes --column age --svg age.svg",
        "bayes show people.bayes --nomogram --class '>50K' --svg people.svg",
        "bayes show people.bayes --json",
    ),
    notes="Keys of --json: model, kind, target, classes, prior, rules, columns, densities (of the numbers), left_out, "
    "parameters, joint_parameters (null where a density takes part), column_weights (where columns were selected or "
    "have weights), naive_parameters and notes (of full Bayes), "
    "hypotheses (kind, weight, log_score: of a Bayes optimal model), "
    "digest (null for a model of given tables), and with --column also column, with --nomogram also nomogram (class, "
    "against, prior_log_odds, columns (name, marks (value, log_odds)), others); for documents text, words, vocabulary, "
    "used, telling and free_parameters in place of columns, densities, left_out and joint_parameters; for hidden "
    "Markov models model, kind, origin, states, start, transition, columns (what is seen in each state), left_out, "
    "parameters and digest.",
)
@click.argument("model")
@click.option("--column", metavar="NAME", help="Also the tally of one column, or word, class by class.")
@click.option(
    "--nomogram",
    is_flag=True,
    help="Also, of naive Bayes, a ruler for each column: what each value adds to the log-odds of a class.",
)
@click.option("--class", "label", metavar="CLASS", help="--nomogram: that of this class; by default the second one.")
@click.option("--against", metavar="CLASS", help="--nomogram: compared with this one; by default the most probable.")
@click.option(
    "--top", type=click.IntRange(min=0), metavar="N", help="--nomogram: the N most telling columns; by default 10."
)
@click.option(
    "--svg", metavar="FILE", help="Draw the density of the --column, a number, in each class, or the --nomogram."
)
@options.json_option
def command(model: str, column: str | None, svg: str | None, as_json: bool, **given: Any) -> None:
    """Show what a model has learned: classes, columns, rules, the number of its parameters, and its digest."""
    from bayesbox.classifier.describe import column_facts, rules_facts
    from bayesbox.classifier.registry import model_name
    from bayesbox.cli.print.reports import column_weights
    from bayesbox.file.load import load
    from bayesbox.sequence.hmm import HiddenMarkovModel
    from bayesbox.text.classifier import DocumentClassifier

    nomogram.require_fitting(column, svg, given)
    classifier = load(model)
    if isinstance(classifier, HiddenMarkovModel):
        from bayesbox.cli.print import chain

        if given["nomogram"]:
            raise click.UsageError("--nomogram draws naive Bayes, and this is a hidden Markov model")
        if svg:
            raise click.UsageError("--svg draws the densities of naive Bayes; bayes hmm decode --svg draws a sequence")
        chain.show(classifier, model, column, as_json=as_json)
        return
    found = nomogram.asked(classifier, given)
    if isinstance(classifier, DocumentClassifier):
        from bayesbox.cli import text

        text.show(classifier, model, column, as_json=as_json)
        return
    if classifier.kind in ("auto", "bayes-optimal"):
        from bayesbox.cli.print import auto, optimal

        if column:
            raise click.UsageError(f"--column shows the tally that a model counts by; {classifier.title} has several")
        (auto if classifier.kind == "auto" else optimal).show(classifier, model, as_json=as_json)
        return
    assert classifier.schema is not None
    if svg and found:
        nomogram.write(found, svg)
    elif svg and column:
        _draw(classifier, column, svg)
    if not classifier.classes:
        _print_emptied(classifier, model, as_json=as_json)
        return
    size = classifier.size()
    if as_json:
        report = {
            "model": model,
            "kind": model_name(classifier),
            "target": classifier.target,
            "classes": _counts(classifier),
            "prior": _prior(classifier),
            "rules": rules_facts(classifier.rules),
            "columns": [facts.as_dict() for facts in column_facts(classifier.schema, classifier.book)],
            "densities": _densities(classifier),
            "left_out": dict(classifier.model.left_out),
            "parameters": size.parameters,
            "joint_parameters": size.joint,
            "digest": None if classifier.fixed else classifier.book.digest(),
            **column_weights(classifier),
        }
        if size.naive is not None:
            report |= {"naive_parameters": size.naive, "notes": list(getattr(classifier.model, "notes", ()))}
        if column:
            report["column"] = _tally(classifier, column, model)
        if found:
            report["nomogram"] = found.as_dict()
        emit_json(report)
        return
    tally = _tally(classifier, column, model) if column else None  # refused before anything is said
    _print_report(classifier, model, size)
    if tally:
        say()
        _print_column(tally)
    if found:
        say()
        nomogram.print_report(found)


def _draw(classifier: NaiveClassifier, column: str, path: str) -> None:
    from bayesbox.file.atomic import replacing
    from bayesbox.table.naive.classifier import NaiveClassifier
    from bayesbox.table.naive.densities import picture

    if not isinstance(classifier, NaiveClassifier):
        raise BadOption("--svg draws the densities of naive Bayes", found=classifier.title)
    drawn = picture(classifier, column)
    with replacing(path) as file:
        file.write(drawn.encode())
    note(f"density of {column} written to {path}")


def _print_emptied(classifier: NaiveClassifier, path: str, *, as_json: bool) -> None:
    """A model of which every row was forgotten."""
    from bayesbox.classifier.describe import rules_facts
    from bayesbox.classifier.registry import model_name

    digest = classifier.book.digest()
    if as_json:
        known = {"model": path, "kind": model_name(classifier), "target": classifier.target}
        rules = rules_facts(classifier.rules)
        emit_json({**known, "classes": {}, "prior": {}, "rules": rules, "columns": [], "digest": digest})
        return
    say(f"{path}: {classifier.title}, of which nothing is left: every row was forgotten")
    say(f"digest {digest}")


def _counts(classifier: NaiveClassifier) -> dict[str, Any]:
    return dict(zip(classifier.book.classes, classifier.book.n.tolist(), strict=True))


def _prior(classifier: NaiveClassifier) -> dict[str, float]:
    model = classifier.model
    return {name: math.exp(value) for name, value in zip(model.classes, model.log_prior, strict=True)}


def _densities(classifier: NaiveClassifier) -> dict[str, str]:
    """The density of each column of numbers, in a few words."""
    conditionals = getattr(classifier.model, "conditionals", ())
    texts = {each.columns[0]: each.describe() for each in conditionals}
    return {name: text for name, text in texts.items() if text}


def _print_report(classifier: NaiveClassifier, path: str, size: ModelSize) -> None:
    from bayesbox.classifier.describe import rules_facts
    from bayesbox.cli.print.reports import column_weights, columns_table, weights_text

    counts, prior = _counts(classifier), _prior(classifier)
    say(f"{path}: {classifier.title}" + (", made of given tables" if classifier.fixed else ""))
    say()
    rows = [[name, whole(counts[name]) if name in counts else "", decimal(p)] for name, p in prior.items()]
    table([classifier.target or "class", "rows", "prior"], rows, right=[1, 2])
    say()
    columns_table(classifier)
    densities = _densities(classifier)
    if set(densities.values()) - {"gaussian"}:
        columns = {text: [name for name in densities if densities[name] == text] for text in densities.values()}
        say("densities: " + "; ".join(f"{', '.join(names)} {text}" for text, names in columns.items()))
    if column_weights(classifier):
        say(weights_text(**column_weights(classifier)))
    for name, reason in classifier.model.left_out.items():
        say(f"left out: {name}, since {reason}")
    for name, flags in classifier.fold.items():
        say(f"folded: {name} from {', '.join(flags)}")
    say()
    if not classifier.fixed:
        say(
            "rules: "
            + ", ".join(f"{name} {_rule(value)}" for name, value in rules_facts(classifier.rules).items() if value)
        )
    for text in getattr(classifier.model, "notes", ()):
        say(f"shrunk: {text}")
    if size.naive is not None:
        other = f"; naive Bayes would need {_large(size.naive)}"
    else:
        other = f"; the full joint would need {_large(size.joint)}" if size.joint is not None else ""
    say(f"parameters: {size.parameters:,}{other}")
    if not classifier.fixed:
        say(f"digest {classifier.book.digest()}")


def _rule(value: Any) -> str:
    return ", ".join(f"{name}={p}" for name, p in value.items()) if isinstance(value, dict) else str(value)


def _large(number: int) -> str:
    """A whole number in full, or by its power of ten.

    >>> _large(287), _large(3 * 10**20)
    ('287', '3.00e+20')
    """
    if number < EXACT_UP_TO:
        return f"{number:,}"
    power = len(str(number)) - 1 if number < 10**4000 else int(math.log10(2) * (number.bit_length() - 1))
    return f"{number // 10 ** (power - 2) / 100:.2f}e+{power}"


def _tally(classifier: NaiveClassifier, name: str, path: str) -> dict[str, Any]:
    """The tally of one column as numbers by class."""
    from bayesbox.errors import UnknownColumn

    if name not in classifier.book:
        raise UnknownColumn(name, available=classifier.book, where=path)
    tally = classifier.book[name]
    conditional = classifier.model.conditional(name)
    shown = tally if conditional is None else conditional.shown_tally(tally)
    return {"name": name, "classes": dict(zip(tally.classes, shown.by_class(), strict=True))}


def _print_column(tally: dict[str, Any]) -> None:
    name, by_class = tally["name"], tally["classes"]
    rows = list(next(iter(by_class.values()), {}))
    body = [[row, *(decimal(values[row]) for values in by_class.values())] for row in rows]
    table([name, *by_class], body, right=range(1, len(by_class) + 1))
