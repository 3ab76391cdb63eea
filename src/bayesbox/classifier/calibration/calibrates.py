"""The calibration methods of all classifiers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from bayesbox.classifier.rows import LabelledRows
from bayesbox.dist.base import Doubles
from bayesbox.errors import LostCalibration
from bayesbox.source.base import Batch
from bayesbox.tally.book import Book

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.calibrated import Calibrated
    from bayesbox.classifier.calibration.auto import HeldOutAnswers
    from bayesbox.stat.choose_calibration import CalibrationChoice


class Calibrates:
    """The part of `Classifier` that calibrates its predictions."""

    weighs_columns: ClassVar[bool] = False
    """Whether a calibration may learn column weights."""
    calibrates_by_default: ClassVar[bool] = False
    """Whether `train` calibrates it by default."""
    title: ClassVar[str]
    calibrate: str | None
    """The kind of calibration to learn in the first training."""
    calibrated: Calibrated | None
    chosen: CalibrationChoice | None
    """The losses by which `auto` chose the calibration, if it was chosen in this process."""
    learned_at: str | None
    """The digest of the counts when the calibration and the weights were learned; None if it has not changed."""
    book: Book
    _model: Any

    if TYPE_CHECKING:

        @property
        def classes(self) -> tuple[str, ...]: ...
        @property
        def feature_names(self) -> tuple[str, ...]: ...
        def changed(self, **attributes: Any) -> Self: ...
        def plain_log_posterior(self, batch: Batch) -> Doubles: ...

    def init_calibration(self, calibrate: str | None) -> None:
        """Set the kind of calibration to learn."""
        self.calibrate = calibrate
        self.calibrated = None
        self.chosen = None
        self.learned_at = None

    @property
    def stale(self) -> bool:
        """Whether the counts have changed since the calibration or the weights were learned."""
        return self.learned_at is not None and self.learned_at != self.book.digest()

    def held_out_answers(self, kept: list[LabelledRows]) -> HeldOutAnswers:
        """The predictions for training rows, each held out, and those of variants with learned column weights."""
        from bayesbox.classifier.calibration.auto import held_out_answers

        return held_out_answers(cast("AnyClassifier", self), kept)

    def cells_per_row(self) -> int:
        """The number of values looked up or computed to predict one row."""
        return len(self.classes) * len(self.feature_names)

    def slow_leave_one_out(self) -> bool:
        """Whether leave-one-out makes a model for each row, so that folds are used for many rows."""
        return False

    def weighed(self, weights: Mapping[str, float]) -> Self:
        """A copy of the model with these column weights."""
        raise NotImplementedError(f"{self.title} has no column weights")

    def learned_beyond_counts(self) -> bool:
        """Whether a calibration, weights or a selection were learned from the rows themselves."""
        return self.calibrated is not None and self.calibrates_by_default

    def with_calibration(self, kind: str | None) -> Self:
        """A copy that learns this kind of calibration in its first training."""
        return self.changed(calibrate=kind)

    def uncalibrated(self) -> Self | None:
        """A copy without its calibration; None if it has none."""
        return None if self.calibrate is None else self.changed(calibrated=None, _model=self._model)

    def log_posterior(self, batch: Batch) -> Doubles:
        """log P(class | x), rows x classes, calibrated if the model is."""
        if self.calibrated is None:
            return self.plain_log_posterior(batch)
        return self.calibrated.log_posterior(cast("AnyClassifier", self), batch)

    def drop_calibration_of_other_classes(self) -> None:
        """Drop a calibration that no longer fits the classes, with a warning."""
        if self.calibrated is None or self.calibrated.classes == self.classes:
            return
        self.calibrated = None
        self.learned_at = self.learned_at if self.learned_beyond_counts() else None
        warnings.warn(
            "the classes differ from those that were calibrated, so the calibration is dropped: train again",
            LostCalibration,
            stacklevel=5,
        )
