"""What verbs print of naive Bayes beyond what all models of rows have: weights of columns and densities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesbox.cli.print.output import note
from bayesbox.cli.print.rows import RowPrinter

if TYPE_CHECKING:
    from bayesbox.file.reader import Json
    from bayesbox.table.naive.classifier import NaiveClassifier


class NaivePrinter(RowPrinter["NaiveClassifier"]):
    """What the verbs print of naive Bayes."""

    def more(self, classifier: NaiveClassifier) -> Json:
        """`column_weights`, by column, where columns were selected or have weights; else nothing."""
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
        """The density of a column in each class."""
        from bayesbox.file.atomic import replacing
        from bayesbox.table.naive.densities import picture

        drawn = picture(classifier, column)
        with replacing(path) as file:
            file.write(drawn.encode())
        note(f"density of {column} written to {path}")
