"""Robustness of models: each is cross-validated on corrupted rows."""

from __future__ import annotations

import functools
import math
import operator
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.evaluate import cross_validate, judged_by
from bayesbox.classifier.experiment.changes import AS_THEY_ARE, NoiseLevels, RowChange, changes
from bayesbox.classifier.predictions import Predictions, require_options
from bayesbox.classifier.rows import common_codes
from bayesbox.classifier.train import labelled_rows, train
from bayesbox.display.blocks import Block, TableBlock, TextBlock
from bayesbox.display.result import Result
from bayesbox.errors import BadData, BayesboxError
from bayesbox.source.base import Batch, OneBatch, Source
from bayesbox.stat.folds import stratified_folds
from bayesbox.stat.metrics import BINS, Metrics, Scored, measure

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

FOLDS = 10


class Shaken(NamedTuple):
    """The metrics of one model on corrupted rows; `refused` is the reason if it could not be evaluated."""

    change: str
    model: str
    accuracy: float
    log_loss: float
    experiment: str = AS_THEY_ARE
    level: float | None = None
    refused: str | None = None


@dataclass(frozen=True, repr=False)
class Robustness(Result):
    """Accuracy and log loss of each model on each change of the rows."""

    how: str
    found: tuple[Shaken, ...]
    notes: tuple[str, ...] = ()

    def _headline(self) -> str:
        changes = len({each.change for each in self.found})
        return f"Robustness({', '.join(self.models)}: {changes} kinds of rows)"

    @property
    def models(self) -> list[str]:
        """The names of the models."""
        return list(dict.fromkeys(each.model for each in self.found))

    def _title(self) -> str:
        return self.how

    def _blocks(self) -> Sequence[Block]:
        rows = []
        for change in dict.fromkeys(each.change for each in self.found):
            own = [each for each in self.found if each.change == change]
            rows.append([change, *(_scores(each) for each in own)])
        heads = ["rows (accuracy / log loss)", *self.models]
        table = TableBlock(heads, rows, right=list(range(1, len(heads))))
        refused = [f"{each.model}, {each.change}: {each.refused}" for each in self.found if each.refused]
        lines = [*self.notes, *dict.fromkeys(refused)]
        return [table, TextBlock("\n".join(lines))] if lines else [table]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        plain = {each.model: each for each in self.found if each.experiment == AS_THEY_ARE}
        names = ("experiment", "level", "change", "model", "accuracy", "log_loss")
        columns: dict[str, list[Any]] = {name: [getattr(each, name) for each in self.found] for name in names}
        columns["accuracy_change"] = [each.accuracy - plain[each.model].accuracy for each in self.found]
        return columns

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        rows = []
        for each in self.found:
            scores = {name: value if math.isfinite(value) else None for name, value in _both(each).items()}
            rows.append({**each._asdict(), **scores})
        return {"how": self.how, "changes": rows, "notes": list(self.notes)}


def shake(
    models: Mapping[str, AnyClassifier],
    table: pa.Table,
    target: str,
    *,
    levels: NoiseLevels | None = None,
    weight: str | None = None,
    folds: int | None = None,
    repeats: int = 1,
    seed: int = 0,
    bins: int = BINS,
    threads: int = 1,
    name: str = "data",
) -> Robustness:
    """Cross-validate each unfitted model on each change of the rows.

    The default is ten folds, or the number of labelled rows if it is smaller.
    """
    labelled = int((_codes(table, target, weight, name) >= 0).sum())
    if labelled < 2:
        raise BadData("cross-validation needs at least two rows with a label", where=name, found=labelled)
    number = min(FOLDS, labelled) if folds is None else folds
    require_options(bins=bins, folds=number, repeats=repeats)
    notes = (
        [f"only {labelled:,} rows have a label, so {number} folds are used instead of {FOLDS}"]
        if number < FOLDS and folds is None
        else []
    )
    judge = _Judge(table, target, weight, number, repeats, seed, bins, threads, name)
    found = []
    for place, change in enumerate(changes(levels or NoiseLevels(), target, weight)):
        for model, blank in models.items():
            refused = None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # problems of corrupted rows are expected
                try:
                    metrics = judge.metrics(blank, change, place)
                except BayesboxError as error:
                    if change.experiment == AS_THEY_ARE:
                        raise
                    scores, refused = (math.nan, math.nan), error.without_remedy()
                else:
                    scores = metrics.accuracy.value, metrics.log_loss.value
            found.append(Shaken(change.text, model, *scores, change.experiment, change.level, refused))
    often = f", {repeats} repeats" if repeats > 1 else ""
    how = f"cross-validation, {number} folds{often}, seed {seed}: {name}"
    return Robustness(how, tuple(found), tuple(notes))


@dataclass(frozen=True)
class _Judge:
    table: pa.Table
    target: str
    weight: str | None
    folds: int
    repeats: int
    seed: int
    bins: int
    threads: int
    name: str

    def metrics(self, blank: AnyClassifier, change: RowChange, place: int) -> Metrics:
        """Evaluate one model on one change; each change has its own random numbers, the same for every model."""
        if change.training is not None:
            return self._by_folds(blank, change, place)
        table = self.table
        if change.all_rows is not None:
            table = change.all_rows(table, np.random.default_rng([self.seed, place]))
        return cross_validate(
            blank.unfitted_clone(),
            self._source(table),
            self.target,
            folds=self.folds,
            repeats=self.repeats,
            seed=self.seed,
            weight=self.weight,
            bins=self.bins,
            threads=self.threads,
        ).metrics

    def _by_folds(self, blank: AnyClassifier, change: RowChange, place: int) -> Metrics:
        """The predictions for every fold by a model trained on the changed rows of the other folds."""
        assert change.training is not None
        rows = labelled_rows(Batch.from_arrow(self.table), self.target, self.weight, where=self.name)
        codes = common_codes([rows.labels])
        classes = tuple(sorted(rows.labels.levels))
        by_repeat = []
        for repeat in range(self.repeats):
            fold_of_row = stratified_folds(codes, self.folds, seed=self.seed, repeat=repeat)
            judged = []
            for fold in range(self.folds):
                random = np.random.default_rng([self.seed, place, repeat, fold])
                learned = np.flatnonzero((fold_of_row >= 0) & (fold_of_row != fold))
                training = change.training(self.table.take(pa.array(learned)).combine_chunks(), random)
                classifier = blank.unfitted_clone()
                train(classifier, self._source(training), self.target, weight=self.weight, threads=self.threads)
                classifier.check()
                part = rows.take(np.flatnonzero(fold_of_row == fold))
                judged.append(judged_by(classifier, None, part, classes=classes, bins=self.bins))
            by_repeat.append(functools.reduce(operator.add, judged, Predictions(Scored(classes, self.bins))))
        total = functools.reduce(operator.add, by_repeat)
        return measure(total.found, repeats=self.repeats)

    def _source(self, table: pa.Table) -> Source:
        return OneBatch(Batch.from_arrow(table), self.name)


def whole_table(batches: Iterable[Batch], *, where: str) -> pa.Table:
    """The rows of several batches as one Arrow table."""
    tables = []
    for batch in batches:
        columns = [pa.array(column) if isinstance(column, np.ndarray) else column for column in batch.columns]
        tables.append(pa.table(columns, names=list(batch.names)))
    if not tables:
        raise BadData("the data have no rows", where=where)
    return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries().combine_chunks()


def _codes(table: pa.Table, target: str, weight: str | None, name: str) -> Any:
    return labelled_rows(Batch.from_arrow(table), target, weight, where=name).labels.codes


def _both(each: Shaken) -> dict[str, float]:
    return {"accuracy": each.accuracy, "log_loss": each.log_loss}


def _scores(each: Shaken) -> str:
    if each.refused is not None:
        return "refused"
    return f"{each.accuracy:.4f} / {'inf' if math.isinf(each.log_loss) else f'{each.log_loss:.4f}'}"
