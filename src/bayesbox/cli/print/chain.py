"""`bayes show` and `bayes diff` of hidden Markov models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.print.output import decimal, emit_json, plural, say, table
from bayesbox.file.digest import file_digest

if TYPE_CHECKING:
    from bayesbox.classifier.report.difference import ColumnDifference
    from bayesbox.dist.base import Distribution
    from bayesbox.sequence.hmm import HiddenMarkovModel

MOST_LEVELS = 20  # levels of a column that are printed


def show(hmm: HiddenMarkovModel, path: str, column: str | None, *, as_json: bool) -> None:
    """Print the start probabilities, the transitions, and the observations of each state."""
    from bayesbox.errors import UnknownColumn

    model = hmm.model_
    conditionals = {each.columns[0]: each for each in model.conditionals}
    if column is not None and column not in conditionals:
        raise UnknownColumn(column, available=conditionals, where=path)
    states = list(model.states)
    origin = hmm.origin_
    digest = None if origin == "given" else hmm.book_.digest()
    if as_json:
        follows = [dict(zip(states, row, strict=True)) for row in hmm.transition_.tolist()]
        emit_json(
            {
                "model": path,
                "kind": "hidden-markov",
                "origin": origin,
                "states": states,
                "start": dict(zip(states, hmm.start_.tolist(), strict=True)),
                "transition": dict(zip(states, follows, strict=True)),
                "columns": {name: _by_state(each, states) for name, each in conditionals.items()},
                "left_out": dict(model.ignored),
                "parameters": hmm.n_parameters,
                "digest": digest,
                "model_digest": file_digest(path),
            }
        )
        return
    made = {"given": "from given tables", "counted": "counted from known states", "learned": "trained by Baum-Welch"}
    say(f"{path}: hidden Markov model with {plural(len(states), 'state')}, {made[origin]}")
    say()
    rows = [
        [state, decimal(first), *(decimal(p) for p in row)]
        for state, first, row in zip(states, hmm.start_.tolist(), hmm.transition_.tolist(), strict=True)
    ]
    table(["state", "first", *(f"then {state}" for state in states)], rows, right=range(1, len(states) + 2))
    for name, conditional in conditionals.items():
        if column is None or name == column:
            say()
            _print_report(name, _by_state(conditional, states), whole=column is not None)
    for name, reason in model.ignored.items():
        say(f"ignored: {name}, since {reason}")
    say()
    say(f"parameters: {hmm.n_parameters:,}")
    if digest is not None:
        say(f"digest {digest}")


def _by_state(conditional: Distribution, states: list[str]) -> dict[str, dict[str, float]]:
    """The observations of each state: level -> P, or mean and std."""
    import numpy as np

    found, moments = conditional.level_table(), conditional.mean_and_std()
    if found is not None:
        rows = [dict(zip(found.levels, row, strict=True)) for row in np.exp(found.log_p).T.tolist()]
        return dict(zip(states, rows, strict=True))
    if moments is not None:
        each = zip(states, moments[0].tolist(), moments[1].tolist(), strict=True)
        return {state: {"mean": mean, "deviation": std} for state, mean, std in each}
    return {}


def _print_report(name: str, by_state: dict[str, dict[str, float]], *, whole: bool) -> None:
    if not by_state:
        say(f"{name}: counts")
        return
    heads = list(next(iter(by_state.values())))
    shown = heads if whole else heads[:MOST_LEVELS]
    rows = [[state, *(decimal(values[head]) for head in shown)] for state, values in by_state.items()]
    table([name, *shown], rows, right=range(1, len(shown) + 1))
    if len(shown) < len(heads):
        say(f"and {len(heads) - len(shown)} more levels: --column {name}")


def chains_of(models: Mapping[str, Any]) -> dict[str, HiddenMarkovModel] | None:
    """The hidden Markov models of the files; None if none of them is one."""
    from bayesbox.sequence.hmm import HiddenMarkovModel

    chains = {path: model for path, model in models.items() if isinstance(model, HiddenMarkovModel)}
    if chains and len(chains) < len(models):
        raise click.UsageError(f"{next(iter(chains))} is a hidden Markov model, and the other file is not")
    return chains or None


def differences(one: HiddenMarkovModel, other: HiddenMarkovModel) -> list[ColumnDifference]:
    """The differences of two hidden Markov models' tallies: first states, transitions, and the steps in each state."""
    from bayesbox.classifier.report.difference import counts_difference
    from bayesbox.classifier.report.difference import differences as of_books

    left, right = one.book_, other.book_
    found: list[Any] = []
    for name, before, after in (
        ("(first states)", left.start, right.start),
        ("(transitions)", left.transition, right.transition),
    ):
        if before != after:
            found.append(counts_difference(name, before, after))
    return [*found, *of_books(left.emission, right.emission)]
