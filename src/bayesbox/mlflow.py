"""Models in MLflow, stored as the model file that `save` writes, not as a pickle.

    import mlflow, bayesbox as bb
    with mlflow.start_run():
        info = bb.mlflow.log_model(clf, "churn", input_example=X[:5])
    bb.mlflow.load_model(info.model_uri)              # the estimator, which can be trained further
    mlflow.pyfunc.load_model(info.model_uri)          # or the model that MLflow serves: mlflow models serve -m ...

A served model returns a DataFrame with `prediction` and `P(class)` for each class. Importing this module does not
import MLflow (`pip install 'bayesbox[mlflow]'`).
"""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bayesbox.errors import BadModelFile, BadOption, MissingExtra

__all__ = ["load_model", "log_model", "save_model"]

LOADER = "bayesbox.mlflow"
FILE = "model.bayes"


def log_model(
    model: object, name: str = "model", *, input_example: object = None, signature: object = None, **more: Any
) -> Any:
    """Log the model to the active MLflow run; returns the ModelInfo of `mlflow.pyfunc.log_model`, with its `model_uri`.

    Parameters
    ----------
    model : estimator
        A fitted estimator of tables or of documents.
    name : str
        The name of the logged model.
    input_example : frame, or None
        Some rows; the signature is inferred from them and their predictions.
    signature : mlflow.models.ModelSignature, or None
        The columns and their types; inferred from `input_example` by default.
    **more
        Further parameters of `mlflow.pyfunc.log_model`, such as `registered_model_name`.

    See Also
    --------
    load_model, save_model
    """
    pyfunc = _pyfunc()
    with _written(model) as path:
        return pyfunc.log_model(name=name, **_arguments(model, path, input_example, signature, more))


def save_model(
    model: object, path: str | os.PathLike[str], *, input_example: object = None, signature: object = None, **more: Any
) -> None:
    """Save the model to a folder instead of logging it to a run."""
    pyfunc = _pyfunc()
    with _written(model) as written:
        pyfunc.save_model(path=os.fspath(path), **_arguments(model, written, input_example, signature, more))


def load_model(model_uri: str) -> Any:
    """The estimator of a logged or saved model, by its MLflow URI."""
    from bayesbox.estimators.train import load

    _pyfunc()
    from mlflow.artifacts import download_artifacts

    folder = download_artifacts(artifact_uri=model_uri)
    found = [os.path.join(at, FILE) for at, _, files in os.walk(folder) if FILE in files]
    if not found:
        raise BadModelFile("this MLflow model was not logged by bayesbox.mlflow", where=model_uri)
    return load(found[0])


class ServedModel:
    """The model that MLflow serves: `predict` takes a DataFrame of rows."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, rows: Any, params: dict[str, Any] | None = None) -> Any:  # noqa: ARG002  MLflow passes them
        """A DataFrame with `prediction`, and `P(class)` for each class."""
        from bayesbox.display.frame import frame_of

        if _is_text(self.model) and hasattr(rows, "columns"):
            rows = rows[rows.columns[0]].tolist()
        proba = self.model.predict_proba(rows)
        labels = self.model.classes_
        shares = {f"P({label})": proba[:, place] for place, label in enumerate(labels.tolist())}
        return frame_of({"prediction": labels[proba.argmax(axis=1)].tolist(), **shares})


def _load_pyfunc(path: str) -> ServedModel:
    """Load a model for MLflow; `path` is the path of the model file."""
    from bayesbox.estimators.train import load

    return ServedModel(load(path))


def _pyfunc() -> Any:
    try:
        import mlflow.pyfunc
    except ModuleNotFoundError:
        raise MissingExtra("mlflow", "mlflow") from None
    return mlflow.pyfunc


@contextmanager
def _written(model: Any) -> Iterator[str]:
    if not hasattr(model, "classifier_"):
        raise BadOption("bayesbox.mlflow needs a fitted classifier of tables or documents", found=type(model).__name__)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, FILE)
        copy.copy(model).save(path)  # a copy, so that `model` is not tied to this file
        yield path


def _arguments(model: object, path: str, example: object, signature: object, more: dict[str, Any]) -> dict[str, Any]:
    from mlflow.models import infer_signature

    import bayesbox

    if signature is None and example is not None:
        signature = infer_signature(example, ServedModel(model).predict(example))
    return {
        "loader_module": LOADER,
        "data_path": path,
        "signature": signature,
        "input_example": example,
        "pip_requirements": [f"bayesbox=={bayesbox.__version__}"],
        **more,
    }


def _is_text(model: object) -> bool:
    from bayesbox.estimators.text_classifier import TextClassifier

    return isinstance(model, TextClassifier)
