"""Load a classifier of any kind that the command trains: of rows, or of documents."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from bayesbox.errors import file_name
from bayesbox.file import container
from bayesbox.text import codec as save_text
from bayesbox.text.classifier import DocumentClassifier

if TYPE_CHECKING:
    from bayesbox.classifier.base import Classifier


def load_classifier(path: str | os.PathLike[str]) -> Any:
    """The classifier of a file: a `Classifier` of rows or a `DocumentClassifier`."""
    data, name = container.read(path), file_name(path)
    if save_text.is_text(data, name=name):
        return save_text.from_bytes(data, name=name)
    from bayesbox.classifier import codec as save

    return save.from_bytes(data, name=name)


def save_classifier(classifier: Classifier | DocumentClassifier, path: str | os.PathLike[str]) -> None:
    """Write a classifier to a file, whole or not at all."""
    if isinstance(classifier, DocumentClassifier):
        save_text.save(classifier, path)
    else:
        from bayesbox.classifier import codec as save

        save.save(classifier, path)
