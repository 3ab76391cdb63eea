"""The options of a verb that has several actions, made of the fields of the options of each."""

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
    """A field that an action has as an option."""

    name: str
    option: Option
    default: object


def action_options(actions: Mapping[str, type], *, short: Mapping[str, str] | None = None) -> Callable[[F], F]:
    """The options of all actions, each once, with the actions that take it; `short` are their letters."""

    def decorate(verb: F) -> F:
        for called, by_action in reversed(_taken(actions).items()):
            flags = [*filter(None, [(short or {}).get(called)]), f"--{called.replace('_', '-')}"]
            verb = click.option(*flags, called, **_settings(called, by_action))(verb)
        return verb

    return decorate


def command_names(cls: type) -> dict[str, str]:
    """The options of a dataclass that the command has: the name of each there, and that of its field."""
    return {
        each.command if isinstance(each.command, str) else name: name
        for name, each in options_of(cls).items()
        if each.command
    }


def chosen(cls: type, given: Mapping[str, Any]) -> Json:
    """What was chosen by command, by the names of the fields; an option that was not given has its default."""
    found = {}
    for called, name in command_names(cls).items():
        takes, value = options_of(cls)[name].takes, given[called]
        if value is None or (takes.several and not value):
            continue
        nested = takes.several and isinstance(takes, TextList) and not takes.in_groups
        found[name] = [each for words in value for each in words] if nested else value
    return found


def _taken(actions: Mapping[str, type]) -> dict[str, dict[str, ActionField]]:
    """The options by name, each with the field that the actions have for it."""
    found: dict[str, dict[str, ActionField]] = {}
    for action, cls in actions.items():
        for called, name in command_names(cls).items():
            field = ActionField(name, options_of(cls)[name], getattr(cls, name))
            found.setdefault(called, {})[action] = field
    return found


def _settings(called: str, by_action: Mapping[str, ActionField]) -> Json:
    """What click is to know of an option; where actions have other defaults, it has none of its own."""
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
