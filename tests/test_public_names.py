"""What `import bayesbox` and an estimator show to somebody who presses Tab: the public names, and nothing else."""

from __future__ import annotations

import types

import pytest
from sklearn.base import BaseEstimator
from tests.public_names import LIST, missing, public

import bayesbox as bb

INNER = {"adopt", "blank_classifier", "declare", "loaded_from", "new_classifier", "of_classifier", "passes", "watch"}


def test_the_package_shows_its_public_names_alone():
    shown = [name for name in dir(bb) if not name.startswith("_")]
    assert shown == sorted(bb.__all__)
    assert not {"Any", "TYPE_CHECKING", "annotations", "importlib"} & set(shown)
    for name in shown:
        found = getattr(bb, name)
        assert isinstance(found, types.ModuleType) or found.__module__.split(".")[0] == "bayesbox", name


@pytest.mark.parametrize("name", ["errors", "extend", "rules"])
def test_modules_that_are_used_by_name(name):
    module = getattr(bb, name)
    assert isinstance(module, types.ModuleType)
    assert all(hasattr(module, each) for each in getattr(module, "__all__", ()))


@pytest.mark.parametrize("name", sorted(name for name in bb.__all__ if isinstance(getattr(bb, name), type)))
def test_estimators_hide_what_only_the_package_calls(name):
    if issubclass(getattr(bb, name), BaseEstimator):
        assert not INNER & set(dir(getattr(bb, name)))


def test_what_a_release_promised_is_still_there():
    promised = LIST.read_text().splitlines()
    assert "NaiveBayes.fit(X, y, sample_weight)" in promised
    assert missing(promised, public()) == []
    assert missing([*promised, "NaiveBayes.fit(X, y, weights)", "NaiveBayes.gone()"], public()) == [
        "NaiveBayes.fit(X, y, weights)",
        "NaiveBayes.gone()",
    ]
