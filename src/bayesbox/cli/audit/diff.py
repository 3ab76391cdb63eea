"""`bayes diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, say, whole

if TYPE_CHECKING:
    from bayesbox.classifier.answer.drifts import Drift

CLASSES = "(classes)"


@click.command(
    "diff",
    cls=options.Verb,
    short_help="Compare two models.",
    examples=("bayes diff monday.bayes tuesday.bayes", "bayes diff old.bayes new.bayes --json"),
    notes="Keys of --json: digests (by file), ledgers (by file, null if none is kept), equal, differences (column, "
    "what, rows, details), tests (by column, allowing for both sample sizes: by, statistic, df, p_value, psi, "
    "drifted ..., as in bayes drift; and for the classes, class_test), rules (by name, for the first and the "
    "second model).",
)
@click.argument("one")
@click.argument("other")
@options.json_option
def command(one: str, other: str, as_json: bool) -> None:
    """Compare two models: which columns differ, by how many rows, and where most.

    The tallies are compared, with levels and classes aligned by name; then the ledgers, if both models keep one; then
    the rules. For each column a G-test (its p-value) and the population stability index (PSI) show whether the
    difference is more than chance, allowing for both sample sizes.
    """
    from bayesbox.classifier.report.difference import differences, rule_differences
    from bayesbox.cli.print import chain
    from bayesbox.file.load import load

    rules: dict[str, list[Any]] = {}
    tests: Drift | None = None
    ledgers: dict[str, str | None] = dict.fromkeys((one, other))
    models = {path: load(path) for path in (one, other)}
    chains = chain.chains_of(models)
    if chains is not None:
        found = chain.differences(chains[one], chains[other])
        digests = {path: model.book_.digest() for path, model in chains.items()}
    else:
        found = differences(models[one].book, models[other].book)
        rules = rule_differences(models[one], models[other])
        tests = _tests(models[one], models[other])
        digests = {path: model.book.digest() for path, model in models.items()}
        ledgers = {path: model.book.ledger_digest() for path, model in models.items()}
    if as_json:
        report = [difference.as_dict() for difference in found]
        facts = {"digests": digests, "ledgers": ledgers, "equal": not found, "differences": report}
        emit_json({**facts, "tests": {} if tests is None else tests.to_dict(), "rules": rules})
        return
    if not found:
        say(f"the same tallies: digest {digests[one]}")
    for difference in found:
        tested = "" if tests is None else _tested(tests, difference.name)
        counted = f"{whole(difference.rows)} row{'' if difference.rows == 1 else 's'}"
        say(f"{difference.name}: {difference.what}, {counted}{tested}")
        for line in difference.details:
            say(f"  {line}")
    if any(ledgers.values()):
        say(_compared(ledgers[one], ledgers[other]))
    for name, (first, second) in rules.items():
        say(f"rules: {name} {_rule(first)} in {one}, {_rule(second)} in {other}")


def _tests(one: Any, other: Any) -> Drift | None:
    """The tests of two models, if both have counts."""
    if any(each.fixed or not each.book.classes for each in (one, other)):
        return None
    found: Drift = one.drift_to(other)
    return found


def _tested(tests: Drift, name: str) -> str:
    """The test of a column, or of the classes, as a short text."""
    from bayesbox.classifier.answer.drifts import p_text

    column = next((each for each in tests if each.column == name), None)
    test = tests.class_test if name == CLASSES else None if column is None else column.test
    return "" if test is None else f"; p {p_text(test.p_value)}, PSI {test.psi:.4f}"


def _compared(one: str | None, other: str | None) -> str:
    """The comparison of two ledgers, either of which may be absent."""
    if one is None or other is None:
        return "only one of the two models keeps a ledger, so their rows cannot be compared"
    return f"the same rows: ledger {one}" if one == other else f"different rows: ledger {one} and {other}"


def _rule(value: object) -> str:
    return "none" if value is None else str(value)
