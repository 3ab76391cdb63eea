"""Smoothing rules and priors as JSON for the model file."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesbox.dist.cells import Smoothing
from bayesbox.errors import BadData
from bayesbox.file.options_json import options_from_reader, options_to_json
from bayesbox.file.reader import Json, Reader
from bayesbox.rule.options import BALANCED
from bayesbox.rule.smoothing import RULES
from bayesbox.schema.levels import level_text
from bayesbox.schema.takes import exact_double


def smoothing_to_json(rule: Smoothing) -> Json:
    """The JSON of a rule: its name and parameters."""
    name = rule.name
    if RULES.get(name) is not type(rule):
        raise BadData("only registered rules can be saved with a model", found=rule)
    return {"rule": name} | options_to_json(rule)


def smoothing_from_json(value: object) -> Smoothing:
    reader = Reader(value, "a rule")
    name = reader.take("rule", str)
    rule = RULES.get(name)
    if rule is None:
        raise ValueError(f"unknown rule {name!r}")
    found: Smoothing = options_from_reader(rule, reader)
    reader.done()
    return found


def prior_to_json(prior: Any) -> str | list[Any]:
    """The JSON of a prior: pairs of label and probability, probabilities in class order, or "balanced".

    A label keeps its type, so that the rules are equal after loading.
    """
    if isinstance(prior, str):
        return prior
    if not isinstance(prior, Mapping):
        return [exact_double(p, "a prior probability") for p in prior]
    pairs = [[_label_to_json(label), exact_double(p, "a prior probability")] for label, p in prior.items()]
    return sorted(pairs, key=lambda pair: (str(pair[0]), type(pair[0]).__name__))


def _label_to_json(label: object) -> Any:
    if isinstance(label, np.generic):
        label = label.item()
    if type(label) in (str, int, bool):
        return label
    if isinstance(label, float):
        return exact_double(label, "a label")
    if isinstance(label, datetime.datetime):
        return {"moment": label.isoformat()}
    if isinstance(label, datetime.date):
        return {"date": label.isoformat()}
    return level_text(label)


def prior_from_json(written: Any) -> Any:
    """The prior from JSON."""
    if isinstance(written, str):
        if written != BALANCED:
            raise ValueError("a prior given as a word must be balanced")
        return written
    if written and all(type(p) is float for p in written):
        return tuple(written)
    return _by_label(written)


def _by_label(pairs: list[Any]) -> dict[Any, float]:
    prior: dict[Any, float] = {}
    for pair in pairs:
        if type(pair) is not list or len(pair) != 2 or type(pair[1]) is not float:
            raise ValueError("a prior must be a list of labels with their probabilities")
        prior[_label_from_json(pair[0])] = pair[1]
    if len(prior) < len(pairs):
        raise ValueError("a prior names a label twice")
    return prior


def _label_from_json(value: object) -> object:
    if type(value) in (str, int, float, bool):
        return value
    reader = Reader(value, "a label of the prior")
    moment, date = reader.take_if_present("moment", str), reader.take_if_present("date", str)
    reader.done()
    if (moment is None) == (date is None):
        raise ValueError("a label of the prior is neither a date nor a time")
    return datetime.date.fromisoformat(date) if moment is None else datetime.datetime.fromisoformat(moment)
