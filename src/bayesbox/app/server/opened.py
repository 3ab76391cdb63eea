"""The files that were named on the command line, each as what it holds: a classifier or a network.

Nothing else can be read: a request names a file by its place in this list.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from bayesbox.app.networks import network_answer, network_spec
from bayesbox.app.rows import Json, row_answer, row_spec, rulers_of
from bayesbox.classifier.table import AnyTableClassifier, TableClassifier
from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import BadOption
from bayesbox.file.load import load_newest, load_version
from bayesbox.network.formats import format_of
from bayesbox.network.network import BayesianNetwork, FactorGraph, read_network

Answer = Callable[[Mapping[str, Any]], Json]
DATA = Path(__file__).parents[2] / "data"


class ShownFile(ABC):
    """Something the app shows: its name, the views it has, its spec and its answers."""

    kind: ClassVar[str]

    def __init__(self, name: str, *, lesson: str | None = None) -> None:
        self.name = name
        self.lesson = lesson  # what it teaches, where it ships with the package

    @property
    @abstractmethod
    def views(self) -> Sequence[str]:
        """The names of its views, the first one to begin with."""

    @abstractmethod
    def spec(self) -> Json:
        """What its pictures need once."""

    @abstractmethod
    def answer(self, view: str, asked: Mapping[str, Any]) -> Json:
        """The traits that follow from those that were set."""

    def summary(self) -> Json:
        """Its line in the list of files."""
        return {"name": self.name, "kind": self.kind, "views": list(self.views), "lesson": self.lesson}


class OpenedClassifier(ShownFile):
    """A model; a file that has changed is loaded again."""

    kind = "classifier"

    def __init__(
        self,
        name: str,
        classifier: AnyTableClassifier,
        *,
        path: str | None = None,
        version: Any = None,
        lesson: str | None = None,
    ) -> None:
        super().__init__(name, lesson=lesson)
        self.classifier, self.path, self.version = classifier, path, version
        self._spec: tuple[AnyTableClassifier, Json] | None = None

    @property
    def views(self) -> Sequence[str]:
        has_rulers = isinstance(self.classifier.model, NaiveModel) and len(self.classifier.model.classes) > 1
        return ["what-if", "nomogram"] if has_rulers else ["what-if"]

    def spec(self) -> Json:
        self.refresh()
        if self._spec is None or self._spec[0] is not self.classifier:
            self._spec = self.classifier, row_spec(self.classifier)
        return self._spec[1]

    def answer(self, view: str, asked: Mapping[str, Any]) -> Json:
        row = asked.get("row") or {}
        found: Json = {"answer": row_answer(self.classifier, row)}
        if view == "nomogram":
            found["rulers"] = rulers_of(self.classifier, self.spec(), asked["pair"], row)
        return found

    def refresh(self) -> None:
        """Take the file as it is now."""
        if self.path is not None:
            self.classifier, self.version = load_newest(self.path, self.classifier, self.version)


class OpenedNetwork(ShownFile):
    """A Bayesian network."""

    kind = "network"
    views = ("network",)

    def __init__(self, name: str, network: BayesianNetwork, *, lesson: str | None = None) -> None:
        super().__init__(name, lesson=lesson)
        self.network = network
        self._spec: Json | None = None

    def spec(self) -> Json:
        if self._spec is None:
            self._spec = network_spec(self.network)
        return self._spec

    def answer(self, view: str, asked: Mapping[str, Any]) -> Json:  # noqa: ARG002
        return {"answer": network_answer(self.network, asked.get("evidence") or {}, asked.get("target"))}


class OpenedLesson(ShownFile):
    """Bayes' rule by itself: the page works it out alone."""

    kind = "lesson"
    views = ("lesson",)

    def spec(self) -> Json:
        return {}

    def answer(self, view: str, asked: Mapping[str, Any]) -> Json:  # noqa: ARG002
        return {}


def open_file(path: str) -> ShownFile:
    """What a file holds; BadOption where the app cannot show it."""
    name = Path(path).name
    if name.endswith(".bayes"):
        model, version = load_version(path)
        if isinstance(model, TableClassifier):
            return OpenedClassifier(name, model, path=path, version=version)
        raise BadOption("the app shows classifiers of tables and networks", found=path)
    if format_of(path) is not None:
        network = read_network(path)
        if isinstance(network, FactorGraph):
            raise BadOption("the app shows Bayesian networks, and this is a factor graph", found=path)
        return OpenedNetwork(name, network)
    raise BadOption(
        "the app opens models (.bayes) and networks (.bif, .xmlbif, .net, .xdsl, .json)",
        found=path,
        remedy="Train a model first: bayes train DATA -t TARGET",
    )


def shipped() -> list[ShownFile]:
    """What the app shows where nothing is named: the Titanic, a screening test, the sprinkler network."""
    from bayesbox.classifier.train import train
    from bayesbox.rule.options import NaiveOptions
    from bayesbox.source.files.open import open_source
    from bayesbox.table.naive.classifier import NaiveClassifier

    titanic = NaiveClassifier(NaiveOptions())
    source = open_source(DATA / "titanic.csv", text=frozenset({"survived"}))
    train(titanic, source, "survived", weight="people")
    return [
        OpenedClassifier("titanic", titanic, lesson="Who survived the Titanic?"),
        OpenedLesson("screening", lesson="A positive test: am I ill?"),
        OpenedNetwork("sprinkler", sprinkler(), lesson="Why is the grass wet?"),
    ]


def sprinkler() -> BayesianNetwork:
    """The wet grass of the textbooks."""
    return BayesianNetwork(
        {"sprinkler": ["cloudy"], "rain": ["cloudy"], "wet grass": ["sprinkler", "rain"]},
        {
            "cloudy": 0.5,
            "sprinkler": {True: 0.1, False: 0.5},
            "rain": {True: 0.8, False: 0.2},
            "wet grass": {(True, True): 0.99, (True, False): 0.9, (False, True): 0.9, (False, False): 0.0},
        },
        name="sprinkler",
    )
