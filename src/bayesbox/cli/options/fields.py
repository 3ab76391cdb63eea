"""The training options of the command, made from the option fields of all kinds of models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayesbox.classifier.registry import KINDS, ModelKind, kinds_text
from bayesbox.cli.options.shared import PRIOR, Read
from bayesbox.cli.options.verb import DOCUMENTS, Verb
from bayesbox.errors import BadOption
from bayesbox.extensions import load_extensions
from bayesbox.rule.options import BACK_OFF, TakesPrior
from bayesbox.schema.options import Option, options_of
from bayesbox.schema.takes import OnOff, Takes

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

F = TypeVar("F", bound=Callable[..., Any])
FEW_OTHERS = 2  # the most kinds to list as exceptions instead of those that have an option
SMOOTHING, COLUMN_SMOOTHING = "smoothing", "column_smoothing"


class ModelVerb(Verb):
    """A verb with the options of all kinds of models, including kinds registered later.

    Installed extensions are loaded only if `--model` names an unknown kind, or for the help.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.kinds = tuple(KINDS)
        self.own = frozenset(option_names())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if any(name in args for name in ctx.help_option_names):
            load_extensions()
        for model in _models_named(args):
            kind = KINDS.get(model.partition(":")[0])  # unknown names are looked up in the extensions
            ctx.meta[MODEL] = kind.name if kind is not None else ""
        return super().parse_args(ctx, args)

    def option_groups(self, ctx: click.Context) -> dict[str, tuple[str, ...]]:
        """The groups of options: those of table models with the model, those of documents separately."""
        rows, documents = option_names("rows"), option_names("documents")
        made: dict[str, set[str]] = {"Model": rows, DOCUMENTS: {"text", *documents} - rows}
        own = {name for names in self.groups.values() for name in names}
        found: dict[str, tuple[str, ...]] = {}
        for heading, names in super().option_groups(ctx).items():
            found[heading] = tuple(name for name in names if name not in made[DOCUMENTS] - own)
            if heading == "Model":
                found[heading] += tuple(sorted(rows - own))
                found[DOCUMENTS] = tuple(sorted(made[DOCUMENTS] - own))
        return found

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters, rebuilt if new kinds were registered."""
        params = super().get_params(ctx)
        if tuple(KINDS) == self.kinds:
            return params
        made = {name: _option(name, by_kind, KINDS) for name, by_kind in _taken(KINDS, ctx.meta.get(MODEL, "")).items()}
        for param in params:
            if param.name in made and param.name not in self.own:
                raise BadOption(
                    f"the command already has an option `--{param.name}`, so a kind of model cannot define it",
                    found=", ".join(_taken(KINDS)[param.name]),
                    remedy="Rename the field, or set command=False",
                )
        last = max(place for place, param in enumerate(params) if param.name in self.own)
        kept = [made.pop(param.name, param) if param.name else param for param in params]
        return [*kept[: last + 1], *made.values(), *kept[last + 1 :]]


MODEL = f"{__name__}.model"  # the key of the kind in the context


def _models_named(args: Sequence[str]) -> Iterator[str]:
    """The values of `--model` among the arguments."""
    for place, each in enumerate(args):
        if each == "--":
            return
        if each == "--model":
            yield from args[place + 1 : place + 2]
        elif each.startswith("--model="):
            yield each.removeprefix("--model=")


class KindOption(click.Option):
    """The option `--model`, whose help lists the kinds registered when it is shown."""

    def __init__(self, names: Sequence[str], *, help: str, **more: Any) -> None:
        super().__init__(names, help=f"{kinds_text()}. {help}", **more)
        self.more = help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.help = f"{kinds_text()}. {self.more}"
        return super().get_help_record(ctx)


def model_options(verb: F, kinds: Mapping[str, ModelKind] = KINDS) -> F:
    """A decorator that adds the options of all kinds of models, each with the kinds that have it."""
    for name, by_kind in reversed(_taken(kinds).items()):
        verb = click.option(_flag(name), **_settings(name, by_kind, kinds))(verb)
    return verb


def option_names(of: str | None = None) -> set[str]:
    """The names of the options of all kinds, or of those for rows or documents."""
    return {name for name, by_kind in _taken(KINDS).items() if of in (None, *(KINDS[kind].of for kind in by_kind))}


def require_taken(classifier: Any, given: Mapping[str, Any]) -> None:
    """Raise an error for options of other kinds of models."""
    own = classifier.options_type
    known = {*options_of(own), *own._passes}
    for name in option_names():
        if name not in known and given.get(name) not in (None, False):
            raise click.UsageError(f"{_flag(name)} does not apply to {classifier.title}")
    if given.get(COLUMN_SMOOTHING) and COLUMN_SMOOTHING not in known:
        raise click.UsageError(f"--smoothing COLUMN=RULE does not apply to {classifier.title}: it has a single rule")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option(name: str, by_kind: Mapping[str, Option], kinds: Mapping[str, ModelKind]) -> click.Parameter:
    return click.Option([_flag(name)], **_settings(name, by_kind, kinds))


def _taken(kinds: Mapping[str, ModelKind], first: str = "") -> dict[str, dict[str, Option]]:
    """The options by name, each with the kinds that have it; `first` is the kind that parses them."""
    found: dict[str, dict[str, Option]] = {}
    for kind in sorted(kinds.values(), key=lambda each: each.name != first):
        for name, each in options_of(kind.load_options()).items():
            if each.command and not each.colon:
                found.setdefault(name, {})[kind.name] = each
    return found


def _settings(name: str, by_kind: Mapping[str, Option], kinds: Mapping[str, ModelKind]) -> Json:
    """The click settings of an option."""
    each = next(iter(by_kind.values()))
    listed = f" One of {', '.join(each.takes.listed)}." if each.takes.listed else ""
    text = {"help": f"{each.help}{listed}{_defaults(name, by_kind, kinds)}{_models(name, by_kind, kinds)}"}
    return {**value_settings(name, each.takes), **text}


def value_settings(name: str, takes: Takes) -> Json:
    """The click settings for the values of an option."""
    if isinstance(takes, OnOff):
        return {"is_flag": True}
    if len(takes.choices) == 1:
        return {"flag_value": takes.choices[0], "default": None}
    if takes.choices:
        return {"type": click.Choice(takes.choices)}
    if name == SMOOTHING:
        return {"multiple": True, "callback": _rules_given, "metavar": f"[COLUMN=]{takes.metavar}"}
    if isinstance(takes, TakesPrior):
        return {"type": PRIOR, "metavar": takes.metavar}
    return {"type": Read(name, lambda value: takes.from_text(name, value)), "metavar": takes.metavar}


def _rules_given(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> str | None:
    """The rule of all columns; rules of single columns, `--smoothing outlook=m:2`, become a separate option."""
    plain, by_column = [], {}
    for text in given:
        column, rule = rule_given(text)
        if column is None:
            plain.append(rule)
        elif column in by_column:
            raise click.BadParameter(f"`{column}` has two rules", ctx, param)
        else:
            by_column[column] = rule
    if len(plain) > 1:
        raise click.BadParameter(
            "two rules for all columns: name a column for one of them, as in outlook=m:2", ctx, param
        )
    ctx.params[COLUMN_SMOOTHING] = by_column or None
    return plain[0] if plain else None


def rule_given(text: str) -> tuple[str | None, str]:
    """The column of a rule (None for all columns) and the rule; a column name may contain an equals sign.

    >>> rule_given("m:2"), rule_given("outlook=m:2"), rule_given("prior-counts:red=2"), rule_given("a=b=laplace")
    ((None, 'm:2'), ('outlook', 'm:2'), (None, 'prior-counts:red=2'), ('a=b', 'laplace'))
    """
    from bayesbox.rule.smoothing import RULES

    places = [place for place, char in enumerate(text) if char == "="]
    if text.partition(":")[0] not in RULES:
        for place in places:
            if text[place + 1 :].partition(":")[0].strip() in {*RULES, BACK_OFF} and text[:place].strip():
                return text[:place].strip(), text[place + 1 :].strip()
    return None, text


def _defaults(name: str, by_kind: Mapping[str, Option], kinds: Mapping[str, ModelKind]) -> str:
    """The default as text, with those of kinds that have another."""
    groups: dict[str, list[str]] = {}
    for kind, each in by_kind.items():
        own = each.command_default or _text(getattr(kinds[kind].load_options(), name))
        groups.setdefault(own, []).append(kind)
    first, *others = groups
    if not first:
        return ""
    rest = (f"; {each} for {', '.join(groups[each])}" for each in others)
    return f" Default: {first}{''.join(rest)}."


def _text(default: object) -> str:
    if default is None or default is False:
        return ""
    return "-".join(str(each) for each in default) if isinstance(default, tuple) else str(default)


def _models(name: str, by_kind: Mapping[str, Option], kinds: Mapping[str, ModelKind]) -> str:
    """The kinds that have an option, if not all do; options only for documents have their own heading."""
    taking = [kind for kind in kinds if kind in by_kind or name in kinds[kind].load_options()._passes]
    others = [kind for kind in kinds if kind not in taking]
    if not others or all(kinds[kind].of == "documents" for kind in taking):
        return ""
    return f" Not for {' and '.join(others)}." if len(others) <= FEW_OTHERS else f" Models: {', '.join(taking)}."
