"""The kinds of models there are: the only list of them.

A kind is entered here once, a line each: its names, and where its classifier and its estimator are. From this are made
the choices of `--model`, the classifier and the estimator of a model file, the public names of the estimators, the
models that `--compare` and `--robustness` judge, and the hypotheses of Bayes optimal. Nothing is imported before it is
requested.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from bayesbox.errors import BadOption, UnknownChoice
from bayesbox.extensions import Registry
from bayesbox.file.registry import register_codec

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.schema.options import Options

C = TypeVar("C", bound="type[AnyClassifier]")

MAKE_ESTIMATOR = "bayesbox.estimators.made:estimator_of_kind"

Variant = tuple[str, Mapping[str, str]]
"""What follows the name of a kind after a colon, and the options of the command that make it differ."""


@dataclass(frozen=True)
class ModelKind:
    """The names of a kind of model, and its parts, or where they are: `module:Name`."""

    name: str  # what `--model` takes
    file: str  # what the model file calls it
    classifier: str | type[AnyClassifier]
    estimator: str = ""  # made of the classifier and its options where none is named
    variants: tuple[Variant, ...] = (("", {}),)  # those that `--compare` judges
    hypothesis: bool = True  # whether Bayes optimal takes it as one of its hypotheses
    weighed: int | None = None  # its place among those where none are named
    shaken: bool = False  # whether `--robustness` evaluates it
    of: str = "rows"  # what it learns from: rows or documents
    options: str = ""  # its options, in a module that is quick to import; else those of the classifier
    codec: str = "bayesbox.classifier.codec"  # what writes and reads its files
    printer: str = "bayesbox.cli.print.rows:RowPrinter"  # what verbs print of it

    def load(self) -> type[AnyClassifier]:
        """Its classifier."""
        found: type[AnyClassifier] = _named(self.classifier)
        return found

    def load_options(self) -> type[Options]:
        """Its options: the command makes its own of them, without the classifier where they are elsewhere."""
        found: type[Options] = _named(self.options) if self.options else self.load().options_type
        return found

    def load_estimator(self) -> Any:
        """Its estimator."""
        return _named(self.estimator) if self.estimator else _named(MAKE_ESTIMATOR)(self.load())

    def load_printer(self) -> Any:
        """What prints it."""
        return _named(self.printer)


def _named(place: str | type) -> Any:
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


KINDS: Registry[ModelKind] = Registry()
"""By the name that `--model` takes, in the order in which they are listed."""


def register_kind(kind: ModelKind) -> None:
    """Enter a kind of model; another with one of its names is refused."""
    for other in KINDS.values():
        if kind.name == other.name or kind.file == other.file:
            raise BadOption("a kind of model with this name already exists", found=f"{kind.name}, {kind.file} in files")
    KINDS[kind.name] = kind
    register_codec(kind.file, kind.codec)


def register_classifier(name: str, **more: Any) -> Callable[[C], C]:
    """Make a kind of classifier known by a name: a decorator of its class, which needs `options_type`.

    The name is what `--model` takes and what model files say. `more` are fields of `ModelKind`.
    """

    def enter(classifier: C) -> C:
        classifier.kind = name
        if "title" not in classifier.__dict__:
            classifier.title = name
        known = dict.get(KINDS, name)
        if known is not None and known.classifier != classifier and _place(known) == _place_of(classifier):
            del KINDS[name]  # the same module, read once more
        register_kind(ModelKind(name, name, classifier, **more))
        return classifier

    return enter


def _place_of(classifier: type) -> str:
    return f"{classifier.__module__}:{classifier.__qualname__}"


def _place(kind: ModelKind) -> str:
    return kind.classifier if isinstance(kind.classifier, str) else _place_of(kind.classifier)


def _ours(
    name: str,
    classifier: str,
    estimator: str,
    options: str,
    *,
    file: str | None = None,
    printer: str = "rows:RowPrinter",
    **more: Any,
) -> None:
    where = (f"bayesbox.{classifier}", f"bayesbox.estimators.{estimator}")
    more |= {"options": f"bayesbox.{options}", "printer": f"bayesbox.cli.print.{printer}"}
    register_kind(ModelKind(name, file or name, *where, **more))


_NAIVE: tuple[Variant, ...] = (("", {}), ("", {"numeric": "auto"}), ("", {"column_weights": "learned"}))
_TWO: tuple[Variant, ...] = ((":1", {}), (":2", {}))

# fmt: off
_ours("naive", "table.naive.classifier:NaiveClassifier", "naive_bayes:NaiveBayes",
      "rule.options:NaiveOptions",
      file="naive-bayes", printer="naive:NaivePrinter", variants=_NAIVE, weighed=0, shaken=True)
_ours("averaged", "table.averaged.classifier:AveragedClassifier", "averaged_naive_bayes:AveragedNaiveBayes",
      "table.averaged.options:AveragedOptions",
      file="averaged-naive-bayes", shaken=True)
_ours("aode", "table.augmented.aode:OneDependenceClassifier", "aode:AODE",
      "table.augmented.options:OneDependenceOptions", weighed=2, shaken=True)
_ours("tan", "table.augmented.tan:TreeClassifier", "tan:TAN",
      "table.augmented.options:TreeOptions", weighed=1)
_ours("kdb", "table.augmented.kdb:DependenceClassifier", "kdb:KDB",
      "table.augmented.options:DependenceOptions", variants=_TWO)
_ours("full", "table.full.classifier:FullClassifier", "full_bayes:FullBayes",
      "table.full.options:FullOptions", file="full-bayes")
_ours("optimal", "table.optimal.classifier:OptimalClassifier", "bayes_optimal:BayesOptimal",
      "table.optimal.options:OptimalOptions",
      file="bayes-optimal", printer="optimal:OptimalPrinter", variants=(), hypothesis=False)
_ours("auto", "table.auto.classifier:AutoClassifier", "auto_bayes:AutoBayes",
      "table.auto.options:AutoOptions", printer="auto:AutoPrinter", hypothesis=False)
_ours("text", "text.classifier:DocumentClassifier", "text_classifier:TextClassifier",
      "text.options:DocumentOptions",
      printer="documents:DocumentPrinter", variants=(), hypothesis=False, of="documents", codec="bayesbox.text.codec")
# fmt: on


def public_names() -> dict[str, str]:
    """The public name of each estimator of the package, and its module."""
    named = (kind.estimator.partition(":") for kind in KINDS.values() if kind.estimator.startswith("bayesbox."))
    return {name: module for module, _, name in named}


def kind_in_file(name: str) -> type[AnyClassifier] | None:
    """The classifier whose models have this name in a file."""
    return next((kind.load() for kind in KINDS.values() if kind.file == name), None)


def kind_of(classifier: AnyClassifier) -> ModelKind:
    """The kind of a classifier."""
    return next(kind for kind in KINDS.values() if kind.file == classifier.kind)


def model_name(classifier: AnyClassifier) -> str:
    """The name that `--model` takes for this classifier."""
    return kind_of(classifier).name


def kinds_text(separator: str = "; ") -> str:
    """The names that `--model` takes, in a line.

    >>> kinds_text()
    'naive, averaged, aode, tan, kdb, full, optimal, auto; text for documents'
    """
    rows = ", ".join(kind.name for kind in KINDS.values() if kind.of == "rows")
    others = (f"{kind.name} for {kind.of}" for kind in KINDS.values() if kind.of != "rows")
    return separator.join((rows, *others))


def default_hypotheses() -> tuple[str, ...]:
    """The models that Bayes optimal weighs where none are named.

    >>> default_hypotheses()
    ('naive', 'tan', 'aode')
    """
    places = {kind.weighed: kind.name for kind in KINDS.values() if kind.weighed is not None}
    return tuple(places[place] for place in sorted(places))


def compared_models() -> list[tuple[str, dict[str, str]]]:
    """The models that `--compare` judges, by the names that `--model` takes, with the options that make them differ."""
    return [(f"{kind.name}{after}", dict(options)) for kind in KINDS.values() for after, options in kind.variants]


def split_model(model: str) -> tuple[ModelKind, str]:
    """The kind that a text such as `kdb:2` names, and the parameter after the colon."""
    name, _, parameter = model.partition(":")
    if name not in KINDS:
        raise UnknownChoice("model", name, KINDS, remedy=f"Choose one of: {kinds_text(', and ')}")
    return KINDS[name], parameter


def new_classifier(
    model: str,
    options: Mapping[str, Any],
    declared: Mapping[Any, object] | None = None,
    one_hot: Mapping[str, Sequence[str]] | None = None,
) -> AnyClassifier:
    """A classifier that is not trained. A parameter may follow the name after a colon: `kdb:2`.

    `options` are those of the command that say how to learn: `smoothing`, `prior`, `calibrate`, and so on; `declared`
    are the kinds of columns, and `one_hot` the flags that are one category.
    """
    kind, parameter = split_model(model)
    return kind.load().from_options(parameter, options, declared, one_hot)
