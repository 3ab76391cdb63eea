"""An option is added by one field: the estimator's parameter, the file and the command follow from it."""

from __future__ import annotations

import inspect

import click
import pytest
from sklearn.base import clone
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.classifier.options import options_from_command
from bayesbox.classifier.registry import ModelKind
from bayesbox.cli.options.fields import model_options
from bayesbox.estimators.parameters import estimator, options_from, parameters_from
from bayesbox.file.options_json import options_from_json, options_to_json
from bayesbox.rule.options import NaiveOptions
from bayesbox.schema.options import option, options
from bayesbox.schema.takes import WholeNumber
from bayesbox.table.naive.classifier import NaiveClassifier


@options
class PatientOptions(NaiveOptions):
    patience: int = option(WholeNumber(1, 9), default=3, help="How many rounds to wait.")  # the option, all of it


class PatientClassifier(NaiveClassifier):
    kind = "patient"
    title = "patient Bayes"
    options_type = PatientOptions


@estimator
class PatientBayes(bb.NaiveBayes, PatientOptions):
    """Naive Bayes with patience."""

    classifier_type = PatientClassifier


ROWS = {"colour": ["red", "blue", "red"]}, ["yes", "no", "no"]


def test_it_is_a_parameter_of_the_estimator() -> None:
    clf = PatientBayes(patience=5, smoothing="mle")
    assert clf.get_params()["patience"] == 5
    assert clone(clf).set_params(patience=6).patience == 6
    assert PatientBayes().patience == 3
    assert inspect.signature(PatientBayes).parameters["patience"].default == 3
    assert "patience : int\n    How many rounds to wait." in (PatientBayes.__doc__ or "")
    assert clf.fit(*ROWS).classifier_.rules.patience == 5
    assert PatientBayes._of_classifier(clf.classifier_).get_params()["patience"] == 5
    with refusal(bb.BadOption, found=0):
        PatientBayes(patience=0).fit(*ROWS)


def test_it_is_in_the_file() -> None:
    given = PatientOptions(patience=5)
    written = options_to_json(given)
    assert list(written) == [*options_to_json(NaiveOptions()), "patience"]
    assert options_from_json(PatientOptions, written) == given
    with pytest.raises(ValueError, match="patience"):
        options_from_json(PatientOptions, options_to_json(NaiveOptions()))
    with pytest.raises(ValueError, match="patience"):
        options_from_json(PatientOptions, {**written, "patience": 10})


def test_it_is_an_option_of_the_command() -> None:
    kind = ModelKind("patient", "patient", f"{__name__}:PatientClassifier", f"{__name__}:PatientBayes")
    object.__setattr__(kind, "load_options", lambda: PatientOptions)  # this module has no name that can be imported
    given: dict[str, object] = {}

    def verb(**typed: object) -> None:
        given.update(typed)

    command = click.command()(model_options(verb, {"patient": kind}))
    shown = next(parameter for parameter in command.params if parameter.name == "patience")
    assert isinstance(shown, click.Option)
    assert shown.help == "How many rounds to wait. Default: 3."
    command.main(["--patience", "7", "--smoothing", "m:2"], standalone_mode=False)
    found = options_from_command(PatientOptions, "patient Bayes", "", given)
    assert (found.patience, found.smoothing) == (7, bb.rules.MEstimate(2))
    with pytest.raises(click.BadParameter) as caught:
        command.main(["--patience", "soon"], standalone_mode=False)
    assert caught.value.param is shown


def test_options_are_frozen_and_parsed_once() -> None:
    given = PatientOptions(smoothing="laplace")
    assert given == PatientOptions() != PatientOptions(patience=4)
    assert hash(given) == hash(PatientOptions())
    with pytest.raises(AttributeError, match="patience"):
        given.patience = 4
    clf = PatientBayes(smoothing="laplace")
    assert clf.smoothing == "laplace"
    assert options_from(clf, PatientOptions) == given
    assert parameters_from(given)["smoothing"] == bb.rules.Laplace()
    assert clf != PatientBayes(smoothing="laplace")
