"""The models of a folder, each under the name of its file. Requests name models, never paths."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from pathlib import Path

from bayesbox.classifier.base import AnyClassifier, Classifier
from bayesbox.errors import BadModelFile, BadOption, CannotForget, SourceUnavailable, UnknownRecord
from bayesbox.file import container
from bayesbox.file.load import from_bytes
from bayesbox.network.formats import format_of
from bayesbox.network.network import read_network
from bayesbox.sequence.hmm import HiddenMarkovModel
from bayesbox.serve.models.base import ServiceModel
from bayesbox.serve.models.chain import ServedChain
from bayesbox.serve.models.classifier import ServedClassifier
from bayesbox.serve.models.network import ServedNetwork, require_answers
from bayesbox.serve.store.base import ModelState, Store

MODEL = ".bayes"
NOT_MODELS = (".json", ".xml")  # which may be anything, though networks use them too


class ModelFolder:
    """The served models of a folder, by name. `at` serves classifiers as of an event number, read-only."""

    def __init__(self, folder: str, store: Store, *, at: int | None = None) -> None:
        self.folder = Path(folder)
        self.store = store
        self.at = at
        self._lock = threading.Lock()
        self.models: Mapping[str, ServiceModel] = {}
        self._digest: tuple[tuple[str, ...], str] = ((), "")
        require_models(self.folder)
        found = {name: self._opened(name, path) for name, path in self.paths().items()}
        self.models = found
        last = max(
            (each.current().sequence for each in found.values() if isinstance(each, ServedClassifier)), default=0
        )
        if at is not None and at > last:
            raise BadOption(f"the event number must be at most {last}, the last one", found=at)

    def paths(self) -> dict[str, Path]:
        """The model files by name, without extension."""
        return model_files(self.folder)

    def _opened(self, name: str, path: Path) -> ServiceModel:
        if not path.name.endswith(MODEL):
            return _network(name, path)
        data = container.read(path)
        model = from_bytes(data, name=str(path))
        if isinstance(model, HiddenMarkovModel):
            return ServedChain(name, model, model.digest())
        if not isinstance(model, Classifier):
            raise BadModelFile("this kind of model cannot be served", where=str(path), found=type(model).__name__)
        try:
            state = self.store.attach(name, model, data, rows=training_rows_beside(path))
        except CannotForget as error:  # from given tables, or with a limit of words: it predicts, but does not learn
            return _unchanging(name, model, data, str(error))
        return self._classifier(name, state)

    def _classifier(self, name: str, state: ModelState) -> ServedClassifier:
        if self.at is not None:
            fixed = self.store.at(name, min(self.at, state.sequence))
            served = ServedClassifier(
                name, lambda: fixed, reads_only="the service answers as of an event number: it changes nothing"
            )
        else:
            store = self.store
            served = ServedClassifier(name, lambda: store.current(name))
        served.base_changed = state.base_changed
        served.current().classifier.row_answers()  # compile before the first request
        return served

    def reload(self, name: str, *, by: str | None = None) -> ServiceModel:
        """Reload the file of a model; a new file is served from now on."""
        with self._lock:
            path = self.paths().get(name)
            if path is None:
                remedy = f"Put {name}.bayes, or a network such as {name}.bif, into the folder"
                raise UnknownRecord(f"no file for the model `{name}`", remedy=remedy)
            served = self.models.get(name)
            if isinstance(served, ServedClassifier) and not served.reads_only and path.name.endswith(MODEL):
                data = container.read(path)
                model = from_bytes(data, name=str(path))
                if isinstance(model, Classifier):
                    state = self.store.reload(name, model, data, by=by)
                    served.base_changed = state.base_changed
                    served.tally.reset()
                    return served
            fresh = self._opened(name, path)
            self.models = {**self.models, name: fresh}
            return fresh

    def digest(self) -> str:
        """One digest of all models: the SHA-256 of their names and digests."""
        models = self.models
        digests = tuple(f"{name} {models[name].digest}" for name in sorted(models))
        if self._digest[0] != digests:
            self._digest = digests, hashlib.sha256("\n".join(digests).encode()).hexdigest()
        return self._digest[1]


def model_files(folder: Path) -> dict[str, Path]:
    """The model files in a folder by name, without extension."""
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    except OSError as error:
        raise SourceUnavailable(error.strerror or "cannot be read", where=str(folder)) from None
    found: dict[str, Path] = {}
    for path in files:
        ending = path.name.removesuffix(".gz").rpartition(".")[2]
        if not path.name.endswith(MODEL) and (format_of(path) is None or f".{ending}" in NOT_MODELS):
            continue
        name = model_name(path)
        if name in found:
            raise BadOption(f"two files have the model name `{name}`", found=f"{found[name].name}, {path.name}")
        found[name] = path
    return found


def require_models(folder: Path) -> None:
    """Raise an error for a folder without models."""
    if not model_files(folder):
        raise BadOption(
            "this folder has no model file",
            where=str(folder),
            remedy=f"Put model files (*{MODEL}) or networks (*.bif ...) into it",
        )


def training_rows_beside(path: Path) -> str | None:
    """The file of a model's training rows, if it is next to the model: people.rows.parquet."""
    endings = ("parquet", "csv", "jsonl")
    beside = (path.with_name(f"{path.name.removesuffix(MODEL)}.rows.{ending}") for ending in endings)
    return next((str(each) for each in beside if each.is_file()), None)


def model_name(path: Path) -> str:
    """The name of a model: the name of its file without extension.

    >>> model_name(Path("models/people.bayes")), model_name(Path("alarm.bif.gz"))
    ('people', 'alarm')
    """
    name = path.name.removesuffix(".gz")
    return name.rpartition(".")[0]


def _unchanging(name: str, model: AnyClassifier, data: bytes, reason: str) -> ServedClassifier:
    """A classifier that predicts, but neither learns nor forgets."""
    digest = hashlib.sha256(data).hexdigest() if model.fixed else model.book.digest()
    rows = 0 if model.fixed else round(float(model.book.class_counts.to_doubles().sum()))
    state = ModelState(name, 0, digest, rows, model, hashlib.sha256(data).hexdigest())
    return ServedClassifier(name, lambda: state, reads_only=reason)


def _network(name: str, path: Path) -> ServedNetwork:
    network = read_network(path)
    require_answers(network, str(path))
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise SourceUnavailable(error.strerror or "cannot be read", where=str(path)) from None
    return ServedNetwork(name, network, digest)
