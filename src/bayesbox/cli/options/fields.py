"""The options of the command that say how a model learns, made of the fields of the options of all kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayesbox.classifier.registry import KINDS, ModelKind
from bayesbox.cli.options.shared import SHARES, Read
from bayesbox.rule.options import TakesPrior
from bayesbox.schema.options import Option, options_of
from bayesbox.schema.takes import OnOff

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

F = TypeVar("F", bound=Callable[..., Any])


def model_options(verb: F, kinds: Mapping[str, ModelKind] = KINDS) -> F:
    """The options of all kinds of models, each once, with the kinds that take it."""
    for name, by_kind in reversed(_taken(kinds).items()):
        verb = click.option(f"--{name.replace('_', '-')}", **_settings(name, by_kind, kinds))(verb)
    return verb


def option_names(of: str | None = None) -> set[str]:
    """The names of the options that some kind takes, of rows or of documents if that is said."""
    return {name for name, by_kind in _taken(KINDS).items() if of in (None, *(KINDS[kind].of for kind in by_kind))}


def require_taken(classifier: Any, given: Mapping[str, Any]) -> None:
    """Refuse options of other kinds of models, rather than pass over them."""
    own = classifier.options_type
    known = {*options_of(own), *own.passes}
    for name in option_names():
        if name not in known and given.get(name) not in (None, False):
            raise click.UsageError(f"--{name.replace('_', '-')} has no meaning for {classifier.title}")


def _taken(kinds: Mapping[str, ModelKind]) -> dict[str, dict[str, Option]]:
    """The options by name, each with those of the kinds that take it."""
    found: dict[str, dict[str, Option]] = {}
    for kind in kinds.values():
        for name, each in options_of(kind.load_options()).items():
            if each.command and not each.colon:
                found.setdefault(name, {})[kind.name] = each
    return found


def _settings(name: str, by_kind: Mapping[str, Option], kinds: Mapping[str, ModelKind]) -> Json:
    """What click is to know of an option."""
    each = next(iter(by_kind.values()))
    listed = f" One of {', '.join(each.takes.listed)}." if each.takes.listed else ""
    text = {"help": f"{each.help}{listed}{_defaults(name, by_kind, kinds)}{_models(name, by_kind, kinds)}"}
    takes = each.takes
    if isinstance(takes, OnOff):
        return {"is_flag": True, **text}
    if len(takes.choices) == 1:
        return {"flag_value": takes.choices[0], "default": None, **text}
    if takes.choices:
        return {"type": click.Choice(takes.choices), **text}
    if isinstance(takes, TakesPrior):
        return {"type": SHARES, "metavar": takes.metavar, **text}
    return {"type": Read(name, lambda value: takes.from_text(name, value)), "metavar": takes.metavar, **text}


def _defaults(name: str, by_kind: Mapping[str, Option], kinds: Mapping[str, ModelKind]) -> str:
    """The default, and those of kinds that have another."""
    groups: dict[str, list[str]] = {}
    for kind in by_kind:
        groups.setdefault(_text(getattr(kinds[kind].load_options(), name)), []).append(kind)
    first, *others = groups
    if not first:
        return ""
    rest = (f"; {each} for {', '.join(groups[each])}" for each in others)
    return f" Default: {first}{''.join(rest)}."


def _text(default: Any) -> str:
    if default is None or default is False:
        return ""
    return "-".join(str(each) for each in default) if isinstance(default, tuple) else str(default)


def _models(name: str, by_kind: Mapping[str, Option], kinds: Mapping[str, ModelKind]) -> str:
    """The kinds that take it, where others do not."""
    taking = [kind for kind in kinds if kind in by_kind or name in kinds[kind].load_options().passes]
    return "" if len(taking) == len(kinds) else f" Models: {', '.join(taking)}."
