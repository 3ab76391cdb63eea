"""What the scikit-learn estimators for tables share: fit, forget, `+`, predictions, and scikit-learn's protocol.

An estimator adds its parameters, `_new_classifier`, and what only its kind of model can do.
"""

from __future__ import annotations

import copy
import html
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import InitVar
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bayesbox.classifier.calibration.auto import worse_than_baseline
from bayesbox.classifier.calibration.learn import calibrate_again
from bayesbox.classifier.one_row.answers import FewRows
from bayesbox.classifier.one_writer import writing
from bayesbox.classifier.options import calibration_option, ledger_option
from bayesbox.classifier.report.asked import UnseenCounter, missing_columns
from bayesbox.classifier.report.summary import summary_html
from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.table import AnyTableClassifier
from bayesbox.classifier.train import count_into
from bayesbox.display.picture import Picture
from bayesbox.errors import BadData, ColumnsByPosition
from bayesbox.estimators.answers import CountedEstimator
from bayesbox.estimators.inputs import (
    batch_from,
    classes_from,
    counts_from,
    group_of,
    has_own_names,
    labels_from,
    row_of,
)
from bayesbox.estimators.method_docs import METHODS
from bayesbox.estimators.parameters import RENAMED, estimator, options_from, parameters_from, warn_of_name
from bayesbox.estimators.pictures import HasWidget
from bayesbox.estimators.rows.partitions import PartitionedRows
from bayesbox.rule.priors import given_prior
from bayesbox.schema.columns import names_by_position
from bayesbox.schema.levels import Labels, label_type_of
from bayesbox.schema.options import option
from bayesbox.schema.parameters import describe_methods
from bayesbox.schema.schema import Schema
from bayesbox.schema.takes import OneOf, Takes
from bayesbox.source.base import Batch
from bayesbox.source.frames import matrix_of
from bayesbox.source.shapes import is_dask_frame, is_pandas_frame, is_sparse
from bayesbox.stat.calibrate import require_kind
from bayesbox.warned import level_of_caller

K = TypeVar("K", bound=AnyTableClassifier)
OneHot = Mapping[str, Sequence[object]]
SMALL_ROWS = 4_096  # beyond which the columns of an array are read in place
FEW_FRAME_ROWS = 8  # beyond which a frame is read column by column


@estimator
@describe_methods(METHODS["TableEstimator"])
class TableEstimator(HasWidget, CountedEstimator[K]):
    """A classifier of tables with scikit-learn's methods; `classifier_` is the trained classifier."""

    classifier_type: ClassVar[type[AnyTableClassifier]]

    columns: Mapping[Any, Any] | None = option(
        Takes("mapping of column name or position to kind, or None"),
        default=None,
        help="The types of columns, if they are not detected correctly: Category([...]), Real(floor=0), 'flag'.",
    )
    one_hot: OneHot | None = option(
        Takes("mapping of a new name to a list of columns, or None"),
        default=None,
        help="Mutually exclusive flags, combined into one category of the new name.",
    )
    absent: str = option(
        OneOf("missing", "error"),
        default="missing",
        help="How to predict if a column of the model is absent: treat it as missing in every row, with a warning, or "
        "raise an error.",
    )
    ignore: str | None = option(
        OneOf("auto", none=True),
        default=None,
        help='"auto" ignores columns that look like identifiers; `ignored_` lists them with the reasons.',
    )
    ledger: bool = ledger_option()
    fold: InitVar[OneHot | None] = None  # the old name of one_hot

    def __post_init__(self, fold: OneHot | None = None) -> None:
        if fold is not None:
            warn_of_name("fold", stacklevel=3)
            self.one_hot = fold if self.one_hot is None else self.one_hot

    @classmethod
    def _get_param_names(cls) -> list[str]:
        names: list[str] = super()._get_param_names()
        return [name for name in names if name not in RENAMED]

    def set_params(self, **given: Any) -> Self:
        """Set parameters by name."""
        for old in RENAMED.keys() & given.keys():
            warn_of_name(old, stacklevel=2)
            given.setdefault(RENAMED[old], given.pop(old))
        found: Self = super().set_params(**given)
        return found

    def _blank_classifier(self) -> K:
        """An untrained classifier that also learns the requested derived parts."""
        absent, ignore = OneOf("missing", "error"), OneOf("auto", none=True)
        given = {"absent": absent.parse("absent", self.absent), "ignore": ignore.parse("ignore", self.ignore)}
        return super()._blank_classifier().changed(**given)

    @property
    def ignored_(self) -> dict[str, str]:
        """The ignored columns, each with the reason: a single value, or an identifier with `ignore="auto"`."""
        self._require_fitted()
        classifier = self.classifier_
        return {**classifier.model.ignored, **classifier.ignored}

    def _new_classifier(self) -> K:
        """An untrained classifier with this estimator's parameters."""
        kind: Any = self.classifier_type
        found: K = kind(options_from(self, kind.options_type), self.columns, self.one_hot)
        return found

    @classmethod
    def _of_classifier(cls, classifier: K, **more: Any) -> Self:
        """The estimator with this classifier's options, fitted with it; `more` are additional parameters."""
        given = parameters_from(classifier.rules)
        given |= {"absent": classifier.absent, "ignore": classifier.ignore}
        return cls(columns=classifier.declared, one_hot=classifier.one_hot or None, **given, **more)._adopt(classifier)

    def _adopt(self, classifier: K) -> Self:
        """Adopt a classifier that was trained elsewhere."""
        self._drop_waiting()
        self.classifier_ = classifier
        self.ledger, self.absent, self.ignore = classifier.ledger, classifier.absent, classifier.ignore
        width = _matrix_width(classifier.schema)
        if width is not None:
            self.n_features_in_ = width
            return self
        names = classifier.feature_names
        self._name_features(names, named=names != names_by_position(len(names)))
        return self

    def fit(self, X: Any, y: object, sample_weight: object = None) -> Self:
        """Train on the rows X with the labels y; a Dask DataFrame is counted one partition at a time."""
        classifier = self._blank_classifier()
        self._watch(classifier)
        batch = None if is_dask_frame(X) else batch_from(X)
        if batch is not None:
            self._require_rows(batch)
            classifier.learn(batch, labels_from(y, batch.rows), weights=sample_weight)
        elif count_into(classifier, PartitionedRows(X, y, sample_weight)) is None:
            raise BadData("Found array with 0 sample(s): there are no rows")
        if len(classifier.book.classes) == 0:
            raise BadData("every sample weight is zero, so no row counts")
        if self.prior is not None:
            given_prior(self.prior, classifier.classes)  # raises an error if it does not fit the classes
        if classifier.names_values():
            classifier.check()  # raises an error for a rule that names values of other columns
        self._note_features(X, batch)
        self._drop_waiting()
        self.classifier_ = classifier
        self._loaded_from()  # refitted: it is not loaded from a file
        self._warn_of_hints()
        worse = worse_than_baseline(classifier)
        if worse is not None:
            warnings.warn(worse, stacklevel=2)
        return self

    def partial_fit(self, X: object, y: object, classes: object = None, sample_weight: object = None) -> Self:
        """Count more rows; equal to one fit on all of them. Classes may be declared, or appear later.

        Threads may call this and `forget` concurrently: every batch counts, and a prediction meanwhile uses the
        model before or after a batch.
        """
        with writing(self):
            first = not hasattr(self, "classifier_")
            batch = batch_from(X) if first else self._checked(X)
            self._require_rows(batch)
            labels = labels_from(y, batch.rows, None if first else self.classifier_.target_cuts)
            if classes is not None:
                classes_from(classes, label_type_of(labels.values))  # raises before rows are counted
            classifier = self._blank_classifier() if first else copy.copy(self.classifier_)
            classifier.learn(batch, labels, weights=sample_weight)
            if classes is not None:
                _declare_classes(classifier, classes)
            if first:
                self._note_features(X, batch)
            self.classifier_ = classifier
        return self

    def _declare(self, classes: object) -> None:
        """Declare these classes, even if no row has them."""
        with writing(self):
            classifier = copy.copy(self.classifier_)
            _declare_classes(classifier, classes)
            self.classifier_ = classifier

    def forget(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Subtract rows exactly: the tallies are as if the rows had never been counted."""
        check_is_fitted(self)
        with writing(self):
            batch = self._checked(X)
            classifier = copy.copy(self.classifier_)
            classifier.forget(batch, labels_from(y, batch.rows, classifier.target_cuts), weights=sample_weight)
            self.classifier_ = classifier
        return self

    def log_density(self, X: object) -> NDArray[np.float64]:
        """log P(x) of each row: how typical the row is under the model."""
        batch = self._asked(X)
        return self.classifier_.log_density(batch)

    def log_likelihood(self, X: object, y: object) -> float:
        """The sum over the rows of log P(class = y, x)."""
        batch, classifier = self._asked(X), self.classifier_
        joint = classifier.joint_of_rows(batch)
        labels = labels_from(y, batch.rows, classifier.target_cuts)
        place = {text: index for index, text in enumerate(classifier.model.classes)}
        columns = np.array([place.get(text, -1) for text in labels.levels], dtype=np.int64)[labels.codes]
        rows = np.where(columns < 0, -np.inf, joint[np.arange(batch.rows), columns])
        return float(rows.sum())

    def boundary_svg(self, across: object, up: object) -> Picture:
        """The decision regions over two columns as SVG, with all other columns missing.

        Each column must be numeric or have two levels. The boundary is a line for flags and a quadratic curve for
        normal densities; probabilities are those before calibration.

        >>> import bayesbox as bb
        >>> rows = {"age": [20.0, 30.0, 40.0, 60.0], "pay": [1.0, 2.5, 2.0, 4.0]}
        >>> bb.NaiveBayes(numeric="gaussian").fit(rows, ["no", "no", "yes", "yes"]).boundary_svg("age", "pay")[:4]
        '<svg'
        """
        from bayesbox.table.boundary import boundary_picture

        check_is_fitted(self)
        return Picture(boundary_picture(self.classifier_, str(across), str(up)), f"boundary over {across} and {up}")

    def _repr_html_(self) -> str:
        """The model as a small table: the classes with their counts, the columns with their types."""
        if not hasattr(self, "classifier_"):
            return f"<pre>{html.escape(repr(self))}</pre>"
        return summary_html(type(self).__name__, self.classifier_)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    # -- scikit-learn --------------------------------------------------------------------------------------------

    def _asked(self, X: object) -> Batch:
        """The rows of X with texts encoded; absent columns and unseen levels raise a warning."""
        check_is_fitted(self)
        batch, classifier = self._checked(X), self.classifier_
        if group_of(batch) is not None:
            return batch
        partial = _is_records(row_of(X, classifier.feature_names))
        lacking = missing_columns(classifier, batch.names, partial=partial)
        if lacking is not None:
            warnings.warn(lacking, stacklevel=level_of_caller())
        if classifier.unseen != "ignore":
            return batch
        counter = UnseenCounter(classifier.known_levels())
        batch = counter(batch)
        counter.warn()
        return batch

    def predict(self, X: object) -> Labels:
        """The most probable class of each row."""
        few = self._few_rows(X)
        found = None if few is None else self._row_answers().best_of_rows(few)
        return super().predict(X) if found is None else found

    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """P(class | x), rows x classes."""
        few = self._few_rows(X)
        found = None if few is None else self._row_answers().of_rows(few)
        return super().predict_proba(X) if found is None else found

    def predict_log_proba(self, X: object) -> NDArray[np.float64]:
        """log P(class | x), rows x classes."""
        few = self._few_rows(X)
        found = None if few is None else self._row_answers().of_rows(few, logs=True)
        return super().predict_log_proba(X) if found is None else found

    def _few_rows(self, X: Any) -> FewRows | None:
        """X if the compiled model can predict it directly, else None: a few rows with the columns of training, as an
        array of doubles, dicts, a pandas DataFrame or an Arrow table."""
        if type(X) is np.ndarray:
            learned = X.ndim == 2 and X.shape[1] == getattr(self, "n_features_in_", 0)
            few = learned and X.dtype == np.float64 and 0 < len(X) <= SMALL_ROWS
            return X if few and not hasattr(self, "feature_names_in_") else None
        if not hasattr(self, "feature_names_in_"):
            return None
        if type(X) is list:
            return X if 0 < len(X) <= SMALL_ROWS and type(X[0]) is dict else None
        if is_pandas_frame(X) and 0 < len(X) <= SMALL_ROWS:
            matrix = matrix_of(X)
            if matrix is not None and matrix.dtype == np.float64:
                return self._row_answers().placed(matrix, X.columns)
            return self._row_answers().dicts_of(X) if len(X) <= FEW_FRAME_ROWS else None
        if type(X) is pa.Table and 0 < X.num_rows <= FEW_FRAME_ROWS:
            return self._row_answers().dicts_of_table(X)
        return None

    def _rows_asked(self, rows: object) -> Batch:
        return self._checked(rows)

    def _learned(self, X: object) -> Batch:
        check_is_fitted(self)
        return self._checked(X)

    def _checked(self, X: Any) -> Batch:
        """The rows of X under the column names of training."""
        schema = self.classifier_.schema
        assert schema is not None
        X = row_of(X, self.classifier_.feature_names)
        is_matrix = _matrix_width(schema) is not None
        if is_matrix:
            batch = counts_from(X)
        elif is_sparse(X):
            X = X.toarray()
            batch = batch_from(X)
        else:
            batch = batch_from(X)
        self._require_rows(batch)
        if is_matrix:
            self._require_width(_width(batch))
            return batch
        named, names = has_own_names(X), self._feature_names()
        learned_names = hasattr(self, "feature_names_in_")
        if named and (learned_names or not set(names).isdisjoint(batch.names)):
            return batch
        self._require_width(len(batch.names))
        if named or learned_names:
            warnings.warn(ColumnsByPosition(type(self).__name__, fitted_with_names=learned_names), stacklevel=4)
        return Batch(names, batch.columns, batch.rows)

    def _feature_names(self) -> tuple[str, ...]:
        """The original columns, before any one-hot groups are combined."""
        if hasattr(self, "feature_names_in_"):
            return tuple(self.feature_names_in_)
        return names_by_position(self.n_features_in_)

    def _require_width(self, width: int) -> None:
        if width != self.n_features_in_:
            raise BadData(
                f"X has {width} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )

    @staticmethod
    def _require_rows(batch: Batch) -> None:
        if not batch.names or _width(batch) == 0:
            raise BadData(f"0 feature(s) (shape=({batch.rows}, 0)) while a minimum of 1 is required.")
        if batch.rows == 0:
            raise BadData("Found array with 0 sample(s): there are no rows")

    def _note_features(self, X: Any, batch: Batch | None) -> None:
        if batch is None:  # it is read in partitions
            self._name_features(tuple(str(name) for name in X.columns), named=True)
            return
        if group_of(batch) is not None:
            self.n_features_in_ = _width(batch)
            return
        self._name_features(batch.names, named=has_own_names(X))

    def _name_features(self, names: tuple[str, ...], *, named: bool) -> None:
        self.n_features_in_ = len(names)
        if named:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags


@estimator
@describe_methods(METHODS["CalibratedEstimator"])
class CalibratedEstimator(TableEstimator[K]):
    """An estimator whose probabilities can be calibrated."""

    calibration: str | None = calibration_option()

    def _blank_classifier(self) -> K:
        """An untrained classifier with the requested calibration."""
        require_kind(self.calibration)
        return super()._blank_classifier().with_calibration(self.calibration)

    def calibrate(
        self, X: object, y: object, kind: str | None = "auto", *, sample_weight: object = None, held_out: bool = False
    ) -> Self:
        """Refit the calibration, for example after partial_fit or forget; the counts do not change.

        Pass training rows, each of which is held out from the counts in turn; or, with `held_out=True`, rows that were
        not used in training. `kind` is a calibration, "auto", or None for no calibration.
        """
        require_kind(kind)
        check_is_fitted(self)
        with writing(self):
            batch = self._checked(X)
            classifier = copy.copy(self.classifier_)
            labels = labels_from(y, batch.rows, classifier.target_cuts)
            calibrate_again(classifier, [LabelledRows(batch, labels, sample_weight)], kind, held_out=held_out)
            self.classifier_ = classifier
            self.calibration = kind
        return self

    def _adopt(self, classifier: K) -> Self:
        """Adopt a classifier that was trained elsewhere."""
        self.calibration = classifier.calibrate
        return super()._adopt(classifier)


def _declare_classes(classifier: AnyTableClassifier, classes: object) -> None:
    book = classifier.book
    classifier.declare(classes_from(classes, book.label_type if book.classes else None))


def _width(batch: Batch) -> int:
    group = group_of(batch)
    return len(batch.names) if group is None else group.width


def _matrix_width(schema: Schema | None) -> int | None:
    """The number of columns of the matrix of counts in training; None for a table."""
    kinds = schema.kinds.values() if schema else ()
    return next((kind.width for kind in kinds if kind.is_matrix), None)


def _is_records(X: object) -> bool:
    """Whether X is a list of rows as dicts, which may have different keys."""
    return isinstance(X, (list, tuple)) and bool(X) and isinstance(X[0], Mapping)
