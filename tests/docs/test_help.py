"""help() of what people call names every parameter."""

from __future__ import annotations

import inspect

import pytest

import bayesbox as bb

CLASSES = ("NaiveBayes", "FullBayes", "TAN", "KDB", "AODE", "AutoBayes", "AveragedNaiveBayes", "TextClassifier",
           "BayesOptimal", "HiddenMarkovModel", "BayesianNetwork", "NetworkClassifier")  # fmt: skip
INNER = {
    "acted", "ask", "evidence_of", "findings", "posteriors_of_states", "state_codes", "active_path_of", "of",
    "of_options", "fit_rows", "restore_counts", "posterior_steps", "predict_steps", "get_params", "set_params",
}  # fmt: skip
"""Methods that the package calls itself, and scikit-learn's own."""


def methods():
    for owner in CLASSES:
        for name, member in inspect.getmembers(getattr(bb, owner)):
            function = getattr(member, "__func__", member)
            public = not name.startswith("_") and name not in INNER and inspect.isfunction(function)
            if public and function.__module__.startswith("bayesbox"):
                yield pytest.param(function, id=f"{owner}.{name}")


@pytest.mark.parametrize("function", list(methods()))
def test_every_parameter_is_named(function):
    text = inspect.getdoc(function) or ""
    named = [each for each in inspect.signature(function).parameters if each not in ("self", "cls")]
    assert [each for each in named if each not in text] == []
    if named:
        assert "Parameters\n----------\n" in text
