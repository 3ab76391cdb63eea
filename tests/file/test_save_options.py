"""Every kind, rule, option and label type that there is comes back from a file."""

import dataclasses
import datetime
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.file.save_examples import assert_round_trip, declared_kinds, learn, mixed
from tests.laws.mixed import KINDS as MIXED_KINDS
from tests.laws.mixed import estimator, table

import bayesbox as bb
from bayesbox.classifier import schema_json
from bayesbox.dist.cells import Smoothing
from bayesbox.file.options_json import options_from_json, options_to_json
from bayesbox.file.reader import Reader
from bayesbox.file.strict_json import dumps, parse
from bayesbox.rule.options import MISSING, UNSEEN, NaiveOptions
from bayesbox.rule.rules_json import smoothing_from_json, smoothing_to_json
from bayesbox.rule.smoothing import RULES
from bayesbox.schema.date import DatePart
from bayesbox.schema.families import densities, family_named
from bayesbox.schema.kinds import (
    BY_NAME,
    WORDS_OCCURRENCES,
    Count,
    Kind,
    Words,
)
from bayesbox.schema.levels import LABEL_TYPES
from bayesbox.tally.base import TALLIES
from bayesbox.tally.codec.book import forms, member_names

X, Y = table()

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
shares = st.floats(0, 1e6, allow_nan=False)
OPTIONS: dict[str, Callable[[type[Kind]], st.SearchStrategy[Any]]] = {
    "missing": lambda kind: st.sampled_from(
        [*([None] if kind is not DatePart else []), "ignore", *(["level"] if kind is not Words else [])]
    ),
    "levels": lambda _: st.none() | st.lists(names, max_size=4),
    "density": lambda kind: st.sampled_from(densities("count" if kind is Count else "real")),
    "floor": lambda _: st.floats(0, allow_infinity=False) | st.integers(0, 9),
    "width": lambda _: st.integers(0, 10**6),
    "occurrence": lambda _: st.sampled_from(WORDS_OCCURRENCES),
    "top": lambda _: st.none() | st.integers(1, 10**6),
    "phrases": lambda _: st.tuples(st.integers(1, 4), st.integers(4, 9)),
    "stop_words": lambda _: st.lists(names, max_size=3).map(tuple),
    "shortest": lambda _: st.integers(1, 9),
    "group": lambda _: st.sampled_from([None, "modl"]),
    "smoothing": lambda _: st.none() | st.sampled_from(sorted(RULES)).flatmap(rules),
    "format": lambda _: st.sampled_from([None, "%d/%m/%Y", "%Y-%m-%d %H:%M"]),
    "zone": lambda _: st.sampled_from([None, "Europe/Paris"]),
    "holds": lambda _: st.sampled_from([None, "moment", "time", "duration"]),
    "column": lambda _: names,
    "part": lambda _: st.sampled_from(["month", "weekday", "hour"]),
}


def kinds(kind: type[Kind]) -> st.SearchStrategy[Kind]:
    options = st.fixed_dictionaries({field.name: OPTIONS[field.name](kind) for field in dataclasses.fields(kind)})
    return options.map(lambda given: kind(**_fitting(given)))


def _fitting(options: dict[str, Any]) -> dict[str, Any]:
    """A gaussian whose floor is the spacing has no other."""
    has_floor = family_named(options.get("density", "gaussian")).takes_floor
    return {name: value for name, value in options.items() if name != "floor" or has_floor}


def rules(name: str) -> st.SearchStrategy[Smoothing]:
    priors = st.dictionaries(names, st.integers(1, 9), min_size=1, max_size=4).map(
        lambda counts: {level: count / sum(counts.values()) for level, count in counts.items()}
    )
    parameters = {
        "lidstone": {"a": shares},
        "m": {"m": shares, "prior": st.none() | priors},
        "prior-counts": {"counts": st.dictionaries(names, shares, max_size=4)},
        "replace-zero": {"by": st.sampled_from(["half", "prior"])},
        "as-written": {"a": shares, "b": shares},
    }
    made: st.SearchStrategy[Smoothing] = st.builds(RULES[name], **parameters.get(name, {}))
    return made


KINDS: dict[str, type[Kind]] = {**BY_NAME, **schema_json.INFERRED}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_comes_back(name: str) -> None:
    @settings(max_examples=50)
    @given(kinds(KINDS[name]))
    def check(kind: Kind) -> None:
        reader = Reader(parse(dumps(schema_json.kind_to_json(kind))), "kind")
        assert schema_json.kind_from_json(reader) == kind
        reader.done()

    check()


def test_no_kind_is_forgotten() -> None:
    def below(kind: type) -> set[type]:
        return {kind}.union(*(below(each) for each in kind.__subclasses__()))

    own = {kind for kind in below(Kind) if kind.__module__.startswith("bayesbox.")}
    assert own - {Kind} == set(KINDS.values())


@pytest.mark.parametrize("name", RULES)
def test_every_rule_comes_back(name: str) -> None:
    @settings(max_examples=50)
    @given(rules(name))
    def check(rule: Smoothing) -> None:
        assert smoothing_from_json(parse(dumps(smoothing_to_json(rule)))) == rule

    check()


labels = st.one_of(
    names, st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False), st.booleans()
)
dates = st.dates() | st.datetimes()


@settings(max_examples=100)
@given(
    st.builds(
        NaiveOptions,
        smoothing=st.sampled_from(sorted(RULES)).flatmap(rules),
        prior_smoothing=st.none() | st.sampled_from(sorted(RULES)).flatmap(rules),
        prior=st.none() | st.dictionaries(labels | dates, st.floats(0, 1), max_size=4),
        numeric=st.sampled_from(densities()),
        missing=st.sampled_from(MISSING),
        unseen=st.sampled_from(UNSEEN),
    )
)
def test_all_rules_come_back(rules: NaiveOptions) -> None:
    again = options_from_json(NaiveOptions, parse(dumps(options_to_json(rules))))
    assert again == rules
    assert {type(key) for key in again.prior or ()} == {type(key) for key in rules.prior or ()}


def test_every_tally_has_a_table() -> None:
    """In the order of the file: of columns, those that extend another, of several columns together."""
    assert [form.form for form in forms()] == [
        "counts",
        "moments",
        "words",
        "grid",
        "values",
        "comoments",
        "dependent",
        "pairs",
    ]
    assert {form.form: form for form in forms()} == TALLIES
    assert len(set(member_names())) == len(member_names()) == 12


def test_every_attribute_of_a_classifier_is_saved() -> None:
    kept = {"rules", "declared", "one_hot", "target", "target_cuts", "schema", "book", "derived", "fixed"}
    kept |= {
        "calibrate",
        "calibrated",
        "redacted",
        "ledger",
        "absent",
        "ignore",
        "ignored",
        "chosen",
        "learned_at",
    }  # that there is a ledger, the book says
    assert {name for name in vars(mixed()) if not name.startswith("_")} == kept
    assert {field.name for field in dataclasses.fields(NaiveOptions)} == set(
        options_to_json(
            NaiveOptions(select="cfs", column_weights="learned", column_smoothing={"car": "m:2"}, var_smoothing=0.1)
        )
    )


LABELS_OF: dict[str, st.SearchStrategy[Any]] = {
    "text": names,
    "integer": st.integers(-(2**63), 2**63 - 1),
    "real": st.integers(-(2**53), 2**53).map(float),  # a fraction is a measurement, and refused
    "flag": st.booleans(),
    "date": st.dates(),
    "moment": st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)),
}


@pytest.mark.parametrize("label_type", LABEL_TYPES)
def test_random_models_of_every_label_type_come_back(label_type: str) -> None:
    @settings(max_examples=20)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        rows = data.draw(st.integers(1, 6))

        def column(values: st.SearchStrategy[Any]) -> list[Any]:
            return data.draw(st.lists(st.none() | values, min_size=rows, max_size=rows))

        X = {
            "text": column(names),
            "real": column(st.floats(-1e300, 1e300)),
            "whole": column(st.integers(-(2**53), 2**53)),
            "flag": column(st.booleans()),
            "count": column(st.integers(0, 9)),
            "ignored": column(st.integers(0, 9)),
        }
        choice = data.draw(st.lists(LABELS_OF[label_type], min_size=1, max_size=3))
        y = data.draw(st.lists(st.sampled_from(choice), min_size=rows, max_size=rows))
        weights = data.draw(st.none() | st.lists(st.floats(0.01, 1e6), min_size=rows, max_size=rows))
        columns = {"text": "category", "flag": "flag", "count": "count", "real": "real", "ignored": "ignore"}
        classifier = learn(bb.NaiveBayes(columns=columns)._new_classifier(), X, y, weights)
        assert classifier.book.label_type == label_type or label_type == "real"
        assert_round_trip(classifier)

    check()


def test_every_kind_of_the_mixed_table_is_declared_and_comes_back() -> None:
    again = assert_round_trip(learn(estimator()._new_classifier(), X, Y))
    assert declared_kinds(again.declared) == MIXED_KINDS
