"""A hidden Markov model as members of a model file, including its tallies, so that it can be updated.

The tallies of the steps are stored as in a classifier's file; first states and transitions are in `model.json`, exact
numbers as an odd integer times a power of two. A model of given tables has logarithms there instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bayesbox.classifier.parts import parts_of
from bayesbox.classifier.schema_json import (
    declared_from_json,
    declared_to_json,
    schema_from_json,
    schema_to_json,
)
from bayesbox.described import Remedy
from bayesbox.dist.base import Doubles
from bayesbox.dist.table import Table
from bayesbox.errors import BadData
from bayesbox.file.faults import require_members
from bayesbox.file.options_json import options_from_json, options_from_reader, options_to_json
from bayesbox.file.reader import Json, Reader, made
from bayesbox.rule.options import NaiveOptions
from bayesbox.schema.levels import LABEL_TYPES, label_type_of, label_values
from bayesbox.sequence.counts import START, ChainBook
from bayesbox.sequence.hmm import COUNTED, GIVEN, LEARNED, HiddenMarkovModel
from bayesbox.sequence.model import ChainModel
from bayesbox.sequence.options import ChainOptions
from bayesbox.tally.codec.book import CLASSES, book_from_arrow, book_to_arrow, member_names
from bayesbox.tally.counts import Counts

HOLDS = "hidden Markov model"
LOADED_BY = Remedy("bayesbox.HiddenMarkovModel.load", "bayes hmm, such as: bayes hmm decode MODEL DATA")


def write(model: HiddenMarkovModel) -> tuple[Json, dict[str, bytes]]:
    """The JSON document of a model, and the other members."""
    schema, book, options = model._schema, model.book_, model.options
    if schema is None:
        raise BadData("the model is not fitted yet, so there is nothing to save")
    given = model._origin == GIVEN
    written = {
        "digest": book.digest(),
        "origin": model._origin,
        "label_type": label_type_of(model.states_.tolist()) if given else book.label_type,
        "states": list(model.model_.states),
        "emissions": options.emissions,  # then the rules and the other options
        "rules": options_to_json(options.emission),
        **options_to_json(options),
        "declared": declared_to_json(model.columns),
        "columns": schema_to_json(schema),
        "start": None if given else book.start.to_json(),
        "transition": None if given else book.transition.to_json(),
        "tables": _tables_to_json(model.model_) if given else None,
    }
    if model._origin == COUNTED and schema.classes:
        written["named"] = True  # the states were named, so there may be more than were counted
    return written, {} if given else book_to_arrow(book.emission)


def parts(model: HiddenMarkovModel) -> Iterator[type]:
    """The classes of a model's parts, which extensions may have registered."""
    rules = (model.rules.start, model.rules.transition, *vars(model.rules.emission).values())
    return parts_of(rules, model._schema, model.book_.emission)


def _tables_to_json(model: ChainModel) -> Json:
    table = model.conditionals[0].level_table()
    assert table is not None
    return {
        "symbols": list(table.levels),
        "start": _hex(model.log_start),
        "transition": _hex(model.log_transition),
        "emission": _hex(table.log_p),
    }


def _hex(logs: Doubles) -> list[str]:
    return [float(value).hex() for value in logs.ravel()]


def read(_kind: str, reader: Reader, members: dict[str, bytes]) -> HiddenMarkovModel:
    """The model in a file."""
    digest, origin = reader.take("digest", str), reader.take("origin", str)
    label_type, states = reader.take("label_type", str), reader.texts("states")
    if label_type not in LABEL_TYPES or origin not in (GIVEN, COUNTED, LEARNED):
        raise ValueError(f"unknown label type {label_type!r} or origin {origin!r}")
    emission_rules = options_from_json(NaiveOptions, reader.take("rules", dict))
    options = options_from_reader(ChainOptions, reader)
    declared = declared_from_json(reader.take("declared", list, None))
    counts = [reader.take(key, dict, None) for key in ("start", "transition")]
    tables = reader.take("tables", dict, None)
    named = origin != COUNTED or bool(reader.take_if_present("named", bool))
    schema = schema_from_json(reader.take("columns", list), tuple(sorted(states)))
    reader.done()
    labels = label_values(states, label_type)
    options = made(
        lambda: replace(
            options,
            states=labels.tolist() if named else None,
            columns=declared,
            smoothing=emission_rules.smoothing,
            unseen=emission_rules.unseen,
        ),
        "the document",
    )
    if options.emission != emission_rules:
        raise ValueError("the rules of a step have options that a hidden Markov model does not have")
    model = HiddenMarkovModel.of_options(options)
    if origin == GIVEN:
        if tables is None or members:
            raise ValueError("a model from given tables must have tables and no tallies")
        model._schema, model._origin = schema, origin
        model._model = _tables_from_json(tables, states, label_type, next(iter(schema.kinds)))
        return model
    if counts[0] is None or counts[1] is None or CLASSES not in members:
        raise ValueError("its tallies are missing")
    require_members(members, known=member_names(), needed=())
    emission = book_from_arrow(members, label_type, tuple(schema.kinds))
    book = ChainBook(
        _counts_from_json(counts[0], (START,), states), _counts_from_json(counts[1], states, states), emission
    )
    if book.digest() != digest or not set(emission.classes) <= set(states):
        raise ValueError("the digest does not match the tallies")
    model._accept(schema if named else schema.with_classes(()), book, origin)
    return model


def _counts_from_json(written: Json, classes: tuple[str, ...], states: tuple[str, ...]) -> Counts:
    counts = Counts.from_json(written, "counts of states")
    if not (set(counts.classes) <= set(classes) and set(counts.levels) <= set(states)):
        raise ValueError("counts of unknown states")
    return counts


def _tables_from_json(written: Json, states: tuple[str, ...], label_type: str, column: str) -> ChainModel:
    reader = Reader(written, "tables")
    symbols = reader.texts("symbols")
    size, width = len(states), len(symbols)
    shapes = {"start": (1, size), "transition": (size, size), "emission": (width, size)}
    found = {key: _logs(reader.texts(key), shape, key) for key, shape in shapes.items()}
    reader.done()
    nothing = np.zeros(size)
    table = Table(column, symbols, found["emission"], nothing, nothing)
    return ChainModel(states, label_values(states, label_type), found["start"][0], found["transition"], (table,))


def _logs(texts: tuple[str, ...], shape: tuple[int, int], what: str) -> Doubles:
    values = np.array([float.fromhex(text) for text in texts])
    if values.size != shape[0] * shape[1] or not (values <= 1e-12).all():
        raise ValueError(f"{what} is not {shape[0]} x {shape[1]} logarithms of probabilities")
    return values.reshape(shape)
