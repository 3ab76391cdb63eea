"""`StreamTrainer`: counts each batch of a stream exactly once, even if a batch is delivered again.

A folder holds the state, in one file named by the number of the last batch:

    people/batch-00000000000000000017-3f1c09ab52d7e4c8.bayes   all batches up to 17, with the digest of batch 17
    people/model.bayes                                         the same, for readers

A new state is written and then renamed atomically. So if the process is killed, the batch is either counted or not, and
the number tells which. A batch that is delivered again is counted and compared: the same rows change nothing, other
rows under the same number are an error.
"""

from __future__ import annotations

import contextlib
import os
import re
from os import PathLike
from typing import Any, NamedTuple

from bayesbox.classifier.train import StreamedRows, count_rows
from bayesbox.errors import BadData, BadOption, SourceUnavailable, file_name
from bayesbox.estimators.answers import CountedEstimator
from bayesbox.estimators.naive_bayes import NaiveBayes
from bayesbox.estimators.train import estimator_of
from bayesbox.file.load import CLASSIFIER, from_bytes, load
from bayesbox.file.lock import FileLock
from bayesbox.file.save import save, to_bytes

MODEL = "model.bayes"
STATE = re.compile(r"batch-(\d{20})-([0-9a-f]{16})\.bayes")
REMEDY = "Use a new folder for a new stream, or the checkpoint that belongs to this folder"


class _State(NamedTuple):
    """The newest state file of a folder."""

    number: int
    digest: str
    path: str


class StreamTrainer:
    """Counts each batch of a stream exactly once into a model in a folder; pass it to Spark's `foreachBatch`.

    It is called with the rows of a batch, a Spark DataFrame or any other source, and with the number of the batch.
    Spark delivers a batch again under the same number if a query was stopped before the batch was committed; the model
    already has it then and does not change. The digest equals that of one `train` on all rows.

    Parameters
    ----------
    folder : str or path; where the state is stored, on a disk that every driver of the query can access
    target : str or None (default); the column of the class
    model : an estimator, or None (default) for `NaiveBayes()`; the stream is added to a fitted one
    text : str or None (default); the column of the documents, for a `TextClassifier`
    weight : str or None (default); the column of weights: a row counts as this many rows

    Examples
    --------
    >>> import tempfile
    >>> import bayesbox as bb
    >>> folder = tempfile.TemporaryDirectory()
    >>> trainer = bb.StreamTrainer(folder.name, target="risk")
    >>> trainer({"age": [25, 20], "risk": ["L", "H"]}, 0)
    >>> trainer({"age": [45], "risk": ["H"]}, 1)
    >>> trainer({"age": [45], "risk": ["H"]}, 1)  # delivered again: it counts once
    >>> trainer.last_batch, trainer.model().book_.class_counts.to_doubles()
    (1, array([2., 1.]))
    >>> folder.cleanup()
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        target: str | None = None,
        *,
        model: object = None,
        text: str | None = None,
        weight: str | None = None,
    ) -> None:
        if model is not None and (isinstance(model, type) or not isinstance(model, CountedEstimator)):
            raise BadOption("model must be a bayesbox estimator", found=model, remedy="Write bayesbox.NaiveBayes()")
        self.folder = file_name(folder)
        self.target = target
        self.text = text
        self.weight = weight
        self._start = _bytes_or_blank(NaiveBayes() if model is None else model)
        try:
            os.makedirs(self.folder, exist_ok=True)
        except OSError as error:
            raise SourceUnavailable(f"the folder cannot be made: {error.strerror}", where=self.folder) from None

    def __repr__(self) -> str:
        return f"StreamTrainer({self.folder!r}, target={self.target!r})"

    def __call__(self, rows: object, batch: int) -> None:
        """Count the rows of a batch unless they are already counted; the state is on disk when this returns."""
        if isinstance(batch, bool) or not isinstance(batch, int) or batch < 0:
            raise BadOption("the number of a batch must be a non-negative integer", found=batch)
        with FileLock(os.path.join(self.folder, MODEL)) as lock:
            last = self._last()
            if last is not None and batch < last.number:
                raise BadData(f"batch {batch} after batch {last.number}", where=self.folder, remedy=REMEDY)
            classifier = self._classifier(last)
            opened = classifier.open_rows(rows, target=self.target, weight=self.weight, text=self.text)
            classifier = opened.classifier
            pending = count_rows(classifier, StreamedRows(opened.source, opened.target, self.weight))
            digest = "0" * 16 if pending is None else pending.counted.book.digest()[:16]
            if last is not None and batch == last.number:
                if digest != last.digest:
                    raise BadData(f"batch {batch} has been counted with other rows", where=self.folder, remedy=REMEDY)
            elif pending is None:
                return  # no rows: a second delivery would not change anything either
            else:
                pending.apply(classifier)
                if last is None and not isinstance(self._start, bytes) and classifier.derived is not None:
                    raise _not_counts_only(classifier.title)  # it would be derived from the first batch alone
                save(classifier, os.path.join(self.folder, f"batch-{batch:020}-{digest}.bayes"))
            save(classifier, os.path.join(self.folder, MODEL), lock=lock)
            self._remove_older()

    @property
    def last_batch(self) -> int | None:
        """The number of the last counted batch; None before the first."""
        last = self._last()
        return None if last is None else last.number

    def model(self) -> Any:
        """A fitted estimator of all batches so far."""
        last = self._last()
        if last is None:
            raise BadData("no batch has been counted yet", where=self.folder)
        return estimator_of(load(last.path, holds=CLASSIFIER))

    def _classifier(self, last: _State | None) -> Any:
        """A copy of the classifier that the next batch is added to."""
        if last is not None:
            return load(last.path, holds=CLASSIFIER)
        if isinstance(self._start, bytes):
            return from_bytes(self._start, name="the model", holds=CLASSIFIER)
        return self._start._blank_classifier()

    def _states(self) -> list[_State]:
        """The state files, oldest first; there is more than one if a process was killed."""
        found = ((STATE.fullmatch(name), os.path.join(self.folder, name)) for name in os.listdir(self.folder))
        return sorted(_State(int(match[1]), match[2], path) for match, path in found if match)

    def _last(self) -> _State | None:
        return next(reversed(self._states()), None)

    def _remove_older(self) -> None:
        for state in self._states()[:-1]:
            with contextlib.suppress(OSError):  # a leftover file does no harm
                os.remove(state.path)


def _bytes_or_blank(model: CountedEstimator[Any]) -> bytes | CountedEstimator[Any]:
    """The bytes of a fitted estimator's current model; an unfitted one as is, if it learns nothing but counts."""
    if "classifier_" in model.__dict__:
        return to_bytes(model.classifier_)
    if model._blank_classifier().unfinished():
        raise _not_counts_only(model._blank_classifier().title)
    return model


def _not_counts_only(title: str) -> BadOption:
    return BadOption(
        f"{title} learns more from rows than counts, which a stream cannot add to",
        remedy="Train it on rows that are there already, and pass the fitted model",
    )
