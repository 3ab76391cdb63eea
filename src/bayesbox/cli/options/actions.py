"""The options of a verb with several actions, made from the option fields of each action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from bayesbox.cli.options.fields import value_settings
from bayesbox.cli.options.shared import WORDS
from bayesbox.schema.options import Option, options_of
from bayesbox.schema.takes import Takes, TextList

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

F = TypeVar("F", bound=Callable[..., Any])


class ActionField(NamedTuple):
    """A field of an action that is an option of the command."""

    name: str
    option: Option
    default: object


def action_options(actions: Mapping[str, type], *, short: Mapping[str, str] | None = None) -> Callable[[F], F]:
    """A decorator that adds the options of all actions; `short` are one-letter names."""

    def decorate(verb: F) -> F:
        for called, by_action in reversed(_taken(actions).items()):
            flags = [*filter(None, [(short or {}).get(called)]), f"--{called.replace('_', '-')}"]
            verb = click.option(*flags, called, **_settings(called, by_action))(verb)
        return verb

    return decorate


def command_names(cls: type) -> dict[str, str]:
    """The command options of a dataclass: the name in the command, and that of the field."""
    return {
        each.command if isinstance(each.command, str) else name: name
        for name, each in options_of(cls).items()
        if each.command
    }


def chosen(cls: type, given: Mapping[str, Any]) -> Json:
    """The given options by field name, with defaults for the others."""
    found = {}
    for called, name in command_names(cls).items():
        takes, value = options_of(cls)[name].takes, given[called]
        if value is None or (takes.several and not value):
            continue
        nested = takes.several and isinstance(takes, TextList) and not takes.in_groups
        found[name] = [each for words in value for each in words] if nested else value
    return found


def _taken(actions: Mapping[str, type]) -> dict[str, dict[str, ActionField]]:
    """The options by name, each with the fields of the actions that have it."""
    found: dict[str, dict[str, ActionField]] = {}
    for action, cls in actions.items():
        for called, name in command_names(cls).items():
            field = ActionField(name, options_of(cls)[name], getattr(cls, name))
            found.setdefault(called, {})[action] = field
    return found


def _settings(called: str, by_action: Mapping[str, ActionField]) -> Json:
    """The click settings of an option; without a default if the actions have different ones."""
    texts: dict[str, list[str]] = {}
    for action, field in by_action.items():
        texts.setdefault(field.option.help, []).append(action)
    said = (f"{', '.join(actions)}: {text[0].lower()}{text[1:]}" for text, actions in texts.items())
    first, *others = by_action.values()
    default = first.default if all(each.default == first.default for each in others) else None
    settings = {"help": " ".join(said), **_value(called, [each.option.takes for each in by_action.values()])}
    if first.option.takes.several:
        return {**settings, "multiple": True}
    return {**settings, "default": default, "show_default": default is not None}


def _value(called: str, takes: list[Takes]) -> Json:
    if isinstance(takes[0], TextList):
        return {"type": WORDS, "metavar": takes[0].metavar}
    if takes[0].choices:
        return {"type": click.Choice(list(dict.fromkeys(choice for each in takes for choice in each.choices)))}
    return value_settings(called, takes[0])
