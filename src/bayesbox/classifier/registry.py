"""The registry of all kinds of models.

Each kind has one line here: its names, and the modules of its classifier and its estimator. The choices of `--model`,
the classifier and the estimator of a model file, the public names of the estimators, the models of `--compare` and
`--robustness`, and the hypotheses of Bayes optimal come from it. Modules are imported on demand.
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
"""The parameter after the colon of a kind's name, and the command options that distinguish variants."""


@dataclass(frozen=True)
class ModelKind:
    """A kind of model: its names, and its parts or where to import them from, as `module:Name`."""

    name: str  # what `--model` takes
    file: str  # what the model file calls it
    classifier: str | type[AnyClassifier]
    estimator: str = ""  # generated from the classifier and its options by default
    variants: tuple[Variant, ...] = (("", {}),)  # the variants that `--compare` evaluates
    hypothesis: bool = True  # whether it is a hypothesis of Bayes optimal
    weighed: int | None = None  # its position among the default hypotheses
    shaken: bool = False  # whether `--robustness` evaluates it
    of: str = "rows"  # what it is trained on: rows or documents
    options: str = ""  # its options, in a module that is fast to import; by default those of the classifier
    codec: str = "bayesbox.classifier.codec"  # the codec of its files
    printer: str = "bayesbox.cli.print.rows:RowPrinter"  # the printer of its summary

    def load(self) -> type[AnyClassifier]:
        """Import its classifier."""
        found: type[AnyClassifier] = _named(self.classifier)
        return found

    def load_options(self) -> type[Options]:
        """Import its options, without the classifier if they are in a separate module."""
        found: type[Options] = _named(self.options) if self.options else self.load().options_type
        return found

    def load_estimator(self) -> Any:
        """Import its estimator."""
        return _named(self.estimator) if self.estimator else _named(MAKE_ESTIMATOR)(self.load())

    def load_printer(self) -> Any:
        """Import its printer."""
        return _named(self.printer)


def _named(place: str | type) -> Any:
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


KINDS: Registry[ModelKind] = Registry()
"""The kinds by the name used in `--model`, in the order of listing."""


def register_kind(kind: ModelKind) -> None:
    """Register a kind of model; a second one with the same name is an error."""
    for other in KINDS.values():
        if kind.name == other.name or kind.file == other.file:
            raise BadOption("a kind of model with this name already exists", found=f"{kind.name}, {kind.file} in files")
    KINDS[kind.name] = kind
    register_codec(kind.file, kind.codec)


def register_classifier(name: str, **more: Any) -> Callable[[C], C]:
    """A decorator that registers a classifier class under a name; the class must have `options_type`.

    The name is used in `--model` and in model files. `more` are fields of `ModelKind`.
    """

    def enter(classifier: C) -> C:
        classifier.kind = name
        if "title" not in classifier.__dict__:
            classifier.title = name
        known = dict.get(KINDS, name)
        if known is not None and known.classifier != classifier and _place(known) == _place_of(classifier):
            del KINDS[name]  # the same module, reloaded
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
    """The kind of this name in a model file."""
    return next((kind.load() for kind in KINDS.values() if kind.file == name), None)


def kind_of(classifier: AnyClassifier) -> ModelKind:
    """The kind of a classifier."""
    return next(kind for kind in KINDS.values() if kind.file == classifier.kind)


def model_name(classifier: AnyClassifier) -> str:
    """The name of this classifier in `--model`."""
    return kind_of(classifier).name


def kinds_text(separator: str = "; ") -> str:
    """The names accepted by `--model`, in one line.

    >>> kinds_text()
    'naive, averaged, aode, tan, kdb, full, optimal, auto; text for documents'
    """
    rows = ", ".join(kind.name for kind in KINDS.values() if kind.of == "rows")
    others = (f"{kind.name} for {kind.of}" for kind in KINDS.values() if kind.of != "rows")
    return separator.join((rows, *others))


def default_hypotheses() -> tuple[str, ...]:
    """The default hypotheses of Bayes optimal.

    >>> default_hypotheses()
    ('naive', 'tan', 'aode')
    """
    places = {kind.weighed: kind.name for kind in KINDS.values() if kind.weighed is not None}
    return tuple(places[place] for place in sorted(places))


def compared_models() -> list[tuple[str, dict[str, str]]]:
    """The models that `--compare` evaluates, by their names in `--model`, with the options of each variant."""
    return [(f"{kind.name}{after}", dict(options)) for kind in KINDS.values() for after, options in kind.variants]


def split_model(model: str) -> tuple[ModelKind, str]:
    """The kind and the parameter of a text such as `kdb:2`."""
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
    """An unfitted classifier. The name may have a parameter after a colon: `kdb:2`.

    `options` are the training options of the command, such as `smoothing`, `prior` and `calibrate`; `declared` are the
    types of columns, and `one_hot` the flags to combine into one category.
    """
    kind, parameter = split_model(model)
    return kind.load().from_options(parameter, options, declared, one_hot)
