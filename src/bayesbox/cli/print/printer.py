"""What verbs print of a model; each kind has a printer, which the registry of kinds names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.training import Training
    from bayesbox.explain.nomogram import Nomogram
    from bayesbox.explain.steps import Work
    from bayesbox.file.reader import Json
    from bayesbox.source.base import Batch

C = TypeVar("C", bound="AnyClassifier")


class Printer(ABC, Generic[C]):
    """What the verbs print of the models of one kind."""

    def prepare(self) -> None:
        """What a verb does before it reads rows."""

    @abstractmethod
    def learned(self, classifier: C, training: Training, skipped: int, warned: list[str]) -> Json:
        """`train`, for JSON: what was learned, and what looks suspicious."""

    @abstractmethod
    def print_learned(self, classifier: C, report: Json) -> None:
        """`train`: the same as text."""

    @abstractmethod
    def show(
        self, classifier: C, path: str, *, column: str | None, svg: str | None, found: Nomogram | None, as_json: bool
    ) -> None:
        """`show`: all that a model has learned; of one `column` the tally, and a nomogram that is `found`."""

    def check_explain(self, given: Json) -> None:
        """`explain`: refuse options that mean nothing for this kind of model."""

    def case_facts(self, classifier: C, batch: Batch, notes: list[str], work: Work | None) -> Json:  # noqa: ARG002
        """`explain`, for JSON: what is said of a case besides what it is."""
        return {"work": work.to_dict()} if work else {}

    @abstractmethod
    def print_case(self, classifier: C, batch: Batch, case: Any, work: Work | None) -> None:
        """`explain`: the same as text."""


def printer_of(classifier: AnyClassifier) -> Printer[Any]:
    """What prints a model of this kind."""
    from bayesbox.classifier.registry import kind_of

    printer: Printer[Any] = kind_of(classifier).load_printer()()
    return printer
