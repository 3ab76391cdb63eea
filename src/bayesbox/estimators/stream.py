"""`StreamTrainer`: the batches of a stream, each counted exactly once, though a batch may be delivered again.

A folder holds the state, one file that has the number of the last batch in its name:

    people/batch-00000000000000000017-3f1c09ab52d7e4c8.bayes   all batches up to 17, and the digest of that one
    people/model.bayes                                         the same, for readers

A new state takes its name in one step, with the batch and its number in it. So whenever a process is killed, the batch
is counted or it is not, and the number says which. A batch that is delivered again is counted and compared: the same
rows change nothing, other rows under a number that is taken are refused.
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
    """The newest file of a folder."""

    number: int
    digest: str
    path: str


class StreamTrainer:
    """Counts the batches of a stream into a model in a folder, each exactly once: a function for `foreachBatch`.

    It is called with the rows of a batch, a Spark DataFrame or any other source, and with the number of the batch.
    Spark delivers a batch again under its number if a query was stopped before the batch was committed; the model
    then has it already, and stays as it is. The digest is that of one `train` on all rows.

    Parameters
    ----------
    folder : str or path; where the state is kept, on a disk that every driver of the query reaches
    target : str or None (default); the column of the class
    model : an estimator, or None (default) for `NaiveBayes()`; a fitted one is what the stream is added to
    text : str or None (default); the column of the documents, for a `TextClassifier`
    weight : str or None (default); the column that says how often a row counts

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
        """Count the rows of a batch, unless they are counted already; the state is on disk when this returns."""
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
                return  # without a row: a second delivery would not change anything either
            else:
                pending.apply(classifier)
                if last is None and not isinstance(self._start, bytes) and classifier.derived is not None:
                    raise _not_counts_only(classifier.title)  # it would be derived from the first batch alone
                save(classifier, os.path.join(self.folder, f"batch-{batch:020}-{digest}.bayes"))
            save(classifier, os.path.join(self.folder, MODEL), lock=lock)
            self._remove_older()

    @property
    def last_batch(self) -> int | None:
        """The number of the last batch that was counted; None before the first."""
        last = self._last()
        return None if last is None else last.number

    def model(self) -> Any:
        """A fitted estimator with all batches so far."""
        last = self._last()
        if last is None:
            raise BadData("no batch has been counted yet", where=self.folder)
        return estimator_of(load(last.path, holds=CLASSIFIER))

    def _classifier(self, last: _State | None) -> Any:
        """What the next batch is added to: a copy."""
        if last is not None:
            return load(last.path, holds=CLASSIFIER)
        if isinstance(self._start, bytes):
            return from_bytes(self._start, name="the model", holds=CLASSIFIER)
        return self._start._blank_classifier()

    def _states(self) -> list[_State]:
        """The files of states, oldest first; there is more than one where a process was killed."""
        found = ((STATE.fullmatch(name), os.path.join(self.folder, name)) for name in os.listdir(self.folder))
        return sorted(_State(int(match[1]), match[2], path) for match, path in found if match)

    def _last(self) -> _State | None:
        return next(reversed(self._states()), None)

    def _remove_older(self) -> None:
        for state in self._states()[:-1]:
            with contextlib.suppress(OSError):  # it is harmless
                os.remove(state.path)


def _bytes_or_blank(model: CountedEstimator[Any]) -> bytes | CountedEstimator[Any]:
    """What a fitted estimator has learned, as it is now; an unfitted one as it is, if counts are all that it learns."""
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
