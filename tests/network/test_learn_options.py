"""The options of learning a network are written once: keywords, documentation and command follow from them."""

from __future__ import annotations

import inspect
import warnings

import click
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.cli.network.network import command
from bayesbox.cli.options.actions import command_names
from bayesbox.errors import DataWarning
from bayesbox.network.learn.options import LearnOptions, NodeRowOptions, TableOptions
from bayesbox.schema.options import options_of

RAIN = {"rain": ["yes", "yes", "no", "no"], "grass": ["wet", "wet", "wet", "dry"]}


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (bb.learn_network, LearnOptions),
        (bb.BayesianNetwork.fit, TableOptions),
        (bb.BayesianNetwork.partial_fit, NodeRowOptions),
        (bb.BayesianNetwork.forget, NodeRowOptions),
        (bb.BayesianNetwork.log_likelihood, NodeRowOptions),
    ],
)
def test_every_option_is_a_documented_keyword(function, options) -> None:
    parameters = dict(inspect.signature(function).parameters)
    parameters.pop("self", None)
    assert parameters.pop("data").kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert list(parameters) == list(options_of(options))
    for name, each in options_of(options).items():
        assert each.help
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default == getattr(options, name)
        assert f"{name} : {each.takes.words}\n" in function.__doc__


def test_the_keywords_that_there_have_always_been() -> None:
    assert set(inspect.signature(bb.learn_network).parameters) == {
        *("data", "score", "method", "target", "root", "required", "forbidden", "tiers", "max_parents", "restarts"),
        *("patience", "alpha", "max_given", "smoothing", "missing", "columns", "bins", "na", "bootstrap", "seed"),
        *("threads", "most_bytes", "progress", "average"),
    }
    assert set(inspect.signature(bb.BayesianNetwork.fit).parameters) == {
        *("self", "data", "smoothing", "prior_cases", "missing", "weight", "hidden", "columns", "bins", "na"),
        *("iterations", "tolerance", "restarts", "seed", "most_bytes", "progress"),
    }


def test_data_is_given_by_position_or_by_name() -> None:
    assert bb.learn_network(data=RAIN).nodes == bb.learn_network(RAIN).nodes
    assert bb.BayesianNetwork({"grass": ["rain"]}).fit(data=RAIN).fit_.rows == 4
    for wrong in (
        lambda: bb.learn_network(),
        lambda: bb.learn_network(RAIN, "bic"),
        lambda: bb.learn_network(RAIN, x=1),
    ):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("score", "best"),
        ("method", "climb"),
        ("required", ["rain"]),
        ("forbidden", ["rain"]),
        ("max_parents", -1),
        ("restarts", 1.5),
        ("patience", -1),
        ("alpha", 1),
        ("alpha", "0.05"),
        ("max_given", True),
        ("smoothing", "none"),
        ("smoothing", None),
        ("missing", "ignore"),
        ("bins", "mdl"),
        ("bootstrap", -1),
        ("seed", "3"),
        ("threads", 0),
        ("most_bytes", -1),
    ],
)
def test_what_is_not_valid_is_refused_before_rows_are_read(name, value) -> None:
    with refusal(bb.BadOption):
        bb.learn_network("file not found.csv", **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("smoothing", "none"),
        ("prior_cases", -1),
        ("missing", "level"),
        ("bins", "mdl"),
        ("iterations", 0),
        ("tolerance", -1),
        ("restarts", 0),
        ("seed", -1),
    ],
)
def test_what_is_not_valid_for_tables(name, value) -> None:
    with refusal(bb.BadOption):
        bb.BayesianNetwork({"grass": ["rain"]}).fit("file not found.csv", **{name: value})


def test_a_warning_is_at_the_line_that_learns() -> None:
    names = [f"name {row}" for row in range(50)]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        bb.learn_network({"name": names, "rain": ["yes", "no"] * 25})
    assert [(each.category, each.filename) for each in told] == [(DataWarning, __file__)]


def test_every_option_of_the_command_is_a_field() -> None:
    options = {each.name: each for each in command.params if isinstance(each, click.Option)}
    assert set(command_names(LearnOptions)) == {
        *("score", "method", "target", "root", "require", "forbid", "tier", "max_parents", "restarts", "patience"),
        *("alpha", "bootstrap", "smoothing", "missing", "bins", "average"),
    }
    assert set(command_names(TableOptions)) == {"smoothing", "missing", "prior_cases", "hidden"}
    for cls in (LearnOptions, TableOptions):
        for name, field in command_names(cls).items():
            assert options_of(cls)[field].help[1:] in (options[name].help or "")
    assert options["missing"].type.choices == ("em", "drop", "level", "ignore")
    assert options["target"].opts == ["-t", "--target"]
    assert options["forbid"].multiple
