"""`bayes hmm --tables`: a model from given probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesbox.cli.change.replacing import ModelSummary, replaced
from bayesbox.cli.options.given_tables import read_chain_tables
from bayesbox.cli.print.output import emit_json, note, plural
from bayesbox.errors import BayesboxError

if TYPE_CHECKING:
    from bayesbox.file.reader import Json
    from bayesbox.sequence.hmm import HiddenMarkovModel


def model_of_tables(path: str) -> HiddenMarkovModel:
    """The model from the tables in a file."""
    from bayesbox.sequence.hmm import HiddenMarkovModel

    tables = read_chain_tables(path)
    try:
        return HiddenMarkovModel.from_tables(**tables)
    except BayesboxError as error:
        error.where = path
        raise


def save_tables(given: Json, *, as_json: bool) -> None:
    """`hmm train --tables`: write the model."""
    from bayesbox.cli.options.sources import default_model_name
    from bayesbox.file.lock import FileLock
    from bayesbox.file.save import save

    model = model_of_tables(given["tables"])
    path = given["output"] or default_model_name([given["tables"]])
    with FileLock(path, wait=given["wait"], verb="hmm train") as lock:
        replaced(path, ModelSummary.of(model), force=given["force"])
        save(model, path, lock=lock, keep_old=given["keep_old"])
    states = model.states_.tolist()
    if as_json:
        facts = {"model": path, "origin": model.origin_, "states": states, "symbols": list(model.symbols_)}
        emit_json(facts | {"parameters": model.n_parameters})
        return
    named = ", ".join(str(state) for state in states)
    note(f"{path}: {plural(len(states), 'state')} ({named}), from given tables")
