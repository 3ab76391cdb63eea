"""Flags: one list of texts, so that every kind of model reads a flag alike, however it is written."""

from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.classifier.registry import KINDS, new_classifier
from bayesbox.classifier.rows import LabelledRows
from bayesbox.described import declaring
from bayesbox.errors import KindContradiction
from bayesbox.estimators.inputs import batch_from, labels_from
from bayesbox.schema.flags import FALSE_WORDS, TRUE_WORDS, flag_code, flag_codes
from bayesbox.schema.kinds import Flag
from bayesbox.table.auto.features import Design

MODELS = [kind.name for kind in KINDS.values() if kind.of == "rows"]
ROWS = 120
MEMBER = np.random.default_rng(3).random(ROWS) < 0.5
AGE = np.random.default_rng(4).integers(20, 60, ROWS).astype(float)
CAR = np.random.default_rng(5).choice(["suv", "sports"], ROWS)
ASKED = np.array([True, False, True, False])
RISK = np.where(MEMBER ^ (np.random.default_rng(6).random(ROWS) < 0.15), "high", "low")

FORMS = {
    "upper": lambda flags: np.where(flags, "TRUE", "FALSE"),
    "lower": lambda flags: np.where(flags, "true", "false"),
    "title": lambda flags: np.where(flags, "True", "False"),
    "odd": lambda flags: np.where(flags, "tRuE", "fALse"),
    "digits": lambda flags: np.where(flags, "1", "0"),
    "mixed": lambda flags: np.array([("TRUE" if i % 2 else "1") if f else "False" for i, f in enumerate(flags)]),
    "bools": lambda flags: flags,
    "objects": lambda flags: flags.astype(object),
    "integers": lambda flags: flags.astype(np.int64),
    "bytes": lambda flags: flags.astype(np.uint8),
    "floats": lambda flags: flags.astype(np.float64),
}


@cache
def fitted(model, form):
    classifier = new_classifier(model, {}, {"member": "flag"})
    rows = batch_from(table(form, MEMBER))
    classifier.learn_all([LabelledRows(rows, labels_from(RISK, ROWS))])
    return classifier


def asked(classifier, form):
    return np.exp(classifier.log_posterior(batch_from(table(form, ASKED))))


def table(form, flags):
    return {"member": FORMS[form](flags), "age": AGE[: len(flags)], "car": CAR[: len(flags)]}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("form", FORMS)
def test_a_flag_means_the_same_however_it_is_asked(model, form):
    expected = asked(fitted(model, "upper"), "upper")
    assert np.abs(expected[0] - expected[1]).max() > 0.2  # the flag matters
    assert asked(fitted(model, "upper"), form).tolist() == expected.tolist()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("form", ["odd", "mixed", "bools", "integers", "floats"])
def test_a_flag_means_the_same_however_it_is_learned(model, form):
    assert asked(fitted(model, form), "lower").tolist() == asked(fitted(model, "upper"), "lower").tolist()


def test_values_that_are_flags_and_those_that_are_not():
    assert [flag_code(value) for value in (*TRUE_WORDS, "tRUE", "1", True, np.True_, 1, 1.0)] == [1] * 9
    assert [flag_code(value) for value in (*FALSE_WORDS, "0", False, np.False_, 0, 0.0, -0.0)] == [0] * 9
    assert [flag_code(value) for value in ("yes", "", "1.0", 2, 0.5, " true")] == [None] * 6


def test_a_text_that_is_not_a_flag_is_refused_where_a_row_has_it():
    rows = np.array([0, -1, 2, 1])
    assert flag_codes(["1", "maybe", "false"], lambda: np.array([0, -1, 2]), name="member") == [1, 0, 0]
    with pytest.raises(KindContradiction) as caught:
        flag_codes(["1", "maybe", "false"], lambda: rows, name="member", where="people.csv", first_row=10)
    assert (caught.value.column, caught.value.found, caught.value.where) == ("member", "maybe", "people.csv, row 14")
    assert declaring("member", "category").command in caught.value.advice.command


@pytest.mark.parametrize("model", MODELS)
def test_another_value_of_a_flag_is_refused_and_a_category_without_rows_is_not(model):
    risk = np.where(MEMBER, "high", "low")
    classifier = new_classifier(model, {}, {"member": "flag"})
    values = pd.Categorical(np.where(MEMBER, "yes", "no"), categories=["no", "yes", "maybe"])
    unused = values.rename_categories({"yes": "TRUE", "no": "false"})
    classifier.learn_all([LabelledRows(batch_from({"member": unused, "age": AGE}), labels_from(risk, ROWS))])
    with refusal(KindContradiction, column="member", where="row 1", found="yes") as caught:
        new_classifier(model, {}, {"member": "flag"}).learn_all(
            [LabelledRows(batch_from({"member": values, "age": AGE}), labels_from(risk, ROWS))]
        )
    assert caught.value.column == "member"


def test_joint_counts_and_networks_refuse_it_alike():
    table = {"member": ["TRUE", "0", "maybe"], "car": ["suv", "suv", "sports"]}
    for count in (bb.Joint, bb.learn_network):
        with refusal(KindContradiction, column="member", found="maybe") as caught:
            count(table, columns={"member": "flag"})
        assert (caught.value.column, caught.value.found) == ("member", "maybe")


def test_auto_bayes_reads_the_levels_that_0_1_saved_as_they_were_spelled():
    values = {"member": (np.array([0, 1, 0], dtype=np.int32), ["TRUE", "FALSE"])}
    asked = {"member": pa.array(["TRUE", "0", "false", None])}
    view = Design.of(values, knots=1).read(asked, {"member": Flag()}, 4)
    assert view.codes.tolist() == [[1, 0, 0, -1]]
