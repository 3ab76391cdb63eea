"""The options of a chain are written once: parameters, file and command follow from the fields."""

from __future__ import annotations

import inspect

import click
import pytest

import bayesbox as bb
from bayesbox.cli.hmm.hmm import command
from bayesbox.cli.options.actions import command_names
from bayesbox.file.options_json import options_from_json, options_to_json
from bayesbox.schema.options import options_of
from bayesbox.sequence.options import ChainOptions

STEPS = [["walk", "shop", "walk"], ["shop", "shop"]]
STATES = [["dry", "rain", "dry"], ["rain", "rain"]]


def test_every_option_is_a_documented_parameter() -> None:
    parameters = inspect.signature(bb.HiddenMarkovModel).parameters
    assert list(parameters) == list(options_of(ChainOptions))
    for name, each in options_of(ChainOptions).items():
        assert each.help
        assert f"\n{name} : {each.takes.words}\n" in bb.HiddenMarkovModel.__doc__
        assert parameters[name].default == getattr(ChainOptions, name)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("states", 0),
        ("states", "many"),
        ("states", ["dry", "dry"]),
        ("emissions", "poisson"),
        ("smoothing", "none"),
        ("start_smoothing", "none"),
        ("transition_smoothing", "none"),
        ("number_prior", -1),
        ("number_prior", "1"),
        ("unseen", "guess"),
        ("choose", "aic"),
        ("folds", 1),
        ("iterations", 0),
        ("tolerance", -1e-6),
        ("restarts", 0),
        ("seed", -1),
    ],
)
def test_what_is_not_valid_is_refused(name, value) -> None:
    with pytest.raises(bb.BadOption):
        bb.HiddenMarkovModel(**{name: value})
    with pytest.raises(bb.BadOption):
        ChainOptions(**{name: value})


def test_a_parameter_can_be_set_and_is_parsed_when_it_is_used() -> None:
    model = bb.HiddenMarkovModel()
    model.smoothing = model.transition_smoothing = "mle"
    again = bb.HiddenMarkovModel(smoothing="mle", transition_smoothing="mle")
    assert model.rules == again.rules
    assert model.fit(STEPS, STATES).emission_.tolist() == again.fit(STEPS, STATES).emission_.tolist()
    model.start_smoothing = "none"
    with pytest.raises(bb.BadOption):
        model.fit(STEPS, STATES).model_  # noqa: B018


def test_a_model_is_equal_to_itself_only() -> None:
    model = bb.HiddenMarkovModel(2)
    assert model == model
    assert model != bb.HiddenMarkovModel(2)
    assert len({model, bb.HiddenMarkovModel(2)}) == 2
    assert ChainOptions(states=2) == ChainOptions(states=2)


def test_the_file_has_what_later_learning_needs(tmp_path) -> None:
    given = {"smoothing": "m:2", "start_smoothing": "mle", "transition_smoothing": "lidstone:0.5", "number_prior": 2}
    model = bb.HiddenMarkovModel(["dry", "rain", "snow"], unseen="ignore", columns={"x": "category"}, **given)
    model.fit({"x": [each for steps in STEPS for each in steps]}, [[each for steps in STATES for each in steps]])
    path = tmp_path / "m.bayes"
    model.save(path)
    again = bb.HiddenMarkovModel.load(path)
    for name in (*given, "states", "unseen", "emissions"):
        assert getattr(again, name) == getattr(model, name), name


def test_an_earlier_file_lacks_the_number_prior() -> None:
    written = options_to_json(ChainOptions(number_prior=3))
    assert written["number_prior"] == 3.0
    assert options_to_json(ChainOptions())["number_prior"] is None
    del written["number_prior"]
    assert options_from_json(ChainOptions, written) == ChainOptions()
    with pytest.raises(ValueError, match="emissions"):
        options_from_json(ChainOptions, {})


def test_every_option_of_the_command_is_a_field() -> None:
    options = {each.name: each for each in command.params if isinstance(each, click.Option)}
    names = command_names(ChainOptions)
    assert names == {"states": "states", "choose": "choose", "rounds": "iterations"} | {
        name: name for name in ("restarts", "seed")
    }
    for name, field in names.items():
        assert options[name].default == getattr(ChainOptions, field)
        assert options_of(ChainOptions)[field].help[1:] in (options[name].help or "")
