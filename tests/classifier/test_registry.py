"""The one list of kinds of models, and what is made of it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.classifier import registry
from bayesbox.classifier.registry import KINDS, ModelKind, kind_in_file, new_classifier, register_kind
from bayesbox.errors import BadOption


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_has_a_classifier_an_estimator_and_its_names(kind: ModelKind) -> None:
    name = kind.estimator.partition(":")[2]
    assert kind.load().kind == kind.file
    assert kind_in_file(kind.file) is kind.load()
    assert getattr(bb, name) is kind.load_estimator()
    assert name in bb.__all__


def test_importing_the_package_loads_no_kind() -> None:
    code = "import sys, bayesbox; print([name for name in ('numpy', 'pyarrow', 'click') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_kind_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "KINDS", dict(KINDS))
    place = "bayesbox.table.naive.classifier:NaiveClassifier"
    register_kind(ModelKind("mine", "my-bayes", place, "bayesbox.estimators.naive_bayes:NaiveBayes"))
    assert new_classifier("mine", {}).title == "naive Bayes"
    assert "mine" in registry.kinds_text()
    with refusal(BadOption, found="mine, other in files"):
        register_kind(ModelKind("mine", "other", place, "bayesbox.estimators.naive_bayes:NaiveBayes"))


def test_a_kind_that_is_not_there() -> None:
    with refusal(BadOption, kind="model", name="tn"):
        new_classifier("tn", {})
