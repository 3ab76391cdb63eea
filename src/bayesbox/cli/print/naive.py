"""The additional output for naive Bayes: column weights and densities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesbox.cli.print.output import note
from bayesbox.cli.print.rows import RowPrinter

if TYPE_CHECKING:
    from bayesbox.file.reader import Json
    from bayesbox.table.naive.classifier import NaiveClassifier


class NaivePrinter(RowPrinter["NaiveClassifier"]):
    """The printer of naive Bayes."""

    def more(self, classifier: NaiveClassifier) -> Json:
        """The `column_weights` by column, if columns were selected or weighted; else empty."""
        derived, schema = classifier.derived, classifier.schema
        if derived is None or schema is None:
            return {}
        return {"column_weights": {name: derived[name] for name in schema.used if name in derived}}

    def print_more(self, classifier: NaiveClassifier, *, err: bool = False) -> None:  # noqa: ARG002  training prints it
        from bayesbox.cli.print.reports import weights_text

        weights = self.more(classifier).get("column_weights")
        if weights is not None:
            note(weights_text(weights))

    def draw(self, classifier: NaiveClassifier, column: str, path: str) -> None:
        """Write the density of a column in each class as SVG."""
        from bayesbox.file.atomic import replacing
        from bayesbox.table.naive.densities import picture

        drawn = picture(classifier, column)
        with replacing(path) as file:
            file.write(drawn.encode())
        note(f"density of {column} written to {path}")
