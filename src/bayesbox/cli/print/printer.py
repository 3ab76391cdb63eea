"""The printers of models; the registry of kinds names the printer of each kind."""

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
    """The printer of one kind of model."""

    def prepare(self) -> None:
        """Prepare before rows are read."""

    @abstractmethod
    def learned(self, classifier: C, training: Training, skipped: int, warned: list[str]) -> Json:
        """The report of `train` for JSON: what was learned, and what looks suspicious."""

    @abstractmethod
    def print_learned(self, classifier: C, report: Json) -> None:
        """Print the report of `train`."""

    @abstractmethod
    def show(
        self, classifier: C, path: str, *, column: str | None, svg: str | None, found: Nomogram | None, as_json: bool
    ) -> None:
        """Print `show`: what a model has learned, the tally of one `column`, and the nomogram `found`."""

    def check_explain(self, given: Json) -> None:
        """Raise an error for options of `explain` that do not apply to this kind of model."""

    def case_facts(self, classifier: C, batch: Batch, notes: list[str], work: Work | None) -> Json:  # noqa: ARG002
        """The additional facts of `explain` about a case, for JSON."""
        return {"work": work.to_dict()} if work else {}

    @abstractmethod
    def print_case(self, classifier: C, batch: Batch, case: Any, work: Work | None) -> None:
        """Print the case of `explain`."""


def printer_of(classifier: AnyClassifier) -> Printer[Any]:
    """The printer for a classifier."""
    from bayesbox.classifier.registry import kind_of

    printer: Printer[Any] = kind_of(classifier).load_printer()()
    return printer
