"""Parameters come from the fields of options; a renamed one works under its old name."""

from __future__ import annotations

import inspect

import pytest
from sklearn.base import clone

import bayesbox as bb
from bayesbox.classifier.options import CALIBRATIONS
from bayesbox.classifier.registry import KINDS
from bayesbox.estimators.bayes_optimal import HypothesesOptions
from bayesbox.estimators.network_classifier import NetworkOptions
from bayesbox.schema.families import densities
from bayesbox.schema.options import options_of
from bayesbox.stat.calibrate import NAMES

FLAGS = {"suv": [1, 0, 1, 0], "van": [0, 1, 0, 1]}, ["a", "b", "a", "a"]
GROUP = {"car": ["suv", "van"]}


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS.values() if kind.name != "optimal"], ids=lambda kind: kind.name
)
def test_every_option_is_a_documented_parameter(kind) -> None:
    made = kind.load_estimator()
    parameters = inspect.signature(made).parameters
    for name, each in options_of(kind.load_options()).items():
        assert (name in parameters) == (each.refusal is None)
        if each.refusal is None:
            assert each.help
            assert f"\n{name} : {each.takes.words}\n" in made.__doc__
    assert set(made().get_params()) == set(parameters) - {"fold"}


@pytest.mark.parametrize(
    ("made", "own"), [(bb.BayesOptimal, HypothesesOptions), (bb.NetworkClassifier, NetworkOptions)]
)
def test_every_parameter_of_the_estimators_of_models_is_a_field(made, own) -> None:
    parameters = inspect.signature(made).parameters
    assert list(parameters) == list(options_of(own))
    for name, each in options_of(own).items():
        assert each.help
        assert f"\n{name} : {each.takes.words}\n" in made.__doc__
    kinds = [each.kind for each in parameters.values()]
    assert kinds[:2] == [inspect.Parameter.POSITIONAL_OR_KEYWORD] * 2
    assert set(kinds[2:]) == {inspect.Parameter.KEYWORD_ONLY}
    first, second, *_ = parameters
    given = made("one", "two")
    assert given.get_params()[first] == "one"
    assert clone(given, safe=False).set_params(**{second: "three"}).get_params()[second] == "three"
    assert given != made("one", "two")
    with pytest.raises(TypeError):
        made()


def test_every_density_is_documented() -> None:
    for name in densities():
        assert f'"{name}"' in bb.NaiveBayes.__doc__


def test_calibrations_are_those_that_there_are() -> None:
    assert CALIBRATIONS == NAMES


def test_positional_parameters() -> None:
    assert bb.KDB(1).k == 1
    assert bb.AveragedNaiveBayes(0.25).inclusion == 0.25
    assert bb.TAN("bic", "age").get_params()["root"] == "age"
    assert bb.TextClassifier(1000, "binary").top == 1000
    with pytest.raises(TypeError):
        bb.NaiveBayes("laplace")


@pytest.mark.parametrize("make", [bb.NaiveBayes, bb.AODE, bb.FullBayes, bb.AutoBayes])
def test_one_hot_has_an_old_name(make) -> None:
    renamed = pytest.warns(FutureWarning, match="fold= has been renamed to one_hot=")
    with renamed as told:
        clf = make(fold=GROUP)
    assert told[0].filename == __file__
    assert clf.one_hot == GROUP
    assert "fold" not in clf.get_params()
    assert clone(clf).one_hot == GROUP  # without a warning
    with renamed:
        assert clf.fold == GROUP
    with renamed:
        assert make().set_params(fold=GROUP).one_hot == GROUP
    with renamed:
        clf.fold = None
    assert clf.one_hot is None
    with renamed:
        assert make(fold={}, one_hot=GROUP).one_hot == GROUP


def test_a_file_keeps_the_one_hot_columns(tmp_path) -> None:
    path = tmp_path / "m.bayes"
    bb.NaiveBayes(one_hot=GROUP).fit(*FLAGS).save(path)
    again = bb.load(path)
    assert again.one_hot == {"car": ("suv", "van")}
    assert b'"fold": {"car": ["suv", "van"]}' in path.read_bytes()  # the name in the file stays
    assert list(again.predict({"suv": [1], "van": [0]})) == ["a"]
