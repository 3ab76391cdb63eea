"""The files that were named on the command line, each as what it holds: a classifier, a network or a chain.

Nothing else can be read: a request names a file by its place in this list.
"""

from __future__ import annotations

import itertools
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from bayesbox.app.audited import NamedTable, audit_found, difference_found, drift_found, forgetting
from bayesbox.app.chains import chain_answer, chain_spec, steps_of_texts
from bayesbox.app.compared import Comparing
from bayesbox.app.judged import cell_rows, data_found, evaluation_found
from bayesbox.app.networks import network_answer, network_spec
from bayesbox.app.rows import row_answer, row_spec, rulers_of
from bayesbox.classifier.evaluate import cross_validate, evaluate_held_out
from bayesbox.classifier.evaluation import Evaluation
from bayesbox.classifier.table import AnyTableClassifier, TableClassifier
from bayesbox.classifier.train import train
from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import BadOption, DataWarning
from bayesbox.file.load import load_newest, load_version
from bayesbox.file.reader import Json
from bayesbox.network.formats import format_of
from bayesbox.network.network import BayesianNetwork, FactorGraph, read_network
from bayesbox.rule.options import NaiveOptions
from bayesbox.sequence.hmm import HiddenMarkovModel
from bayesbox.source.base import Source
from bayesbox.table.naive.classifier import NaiveClassifier

FOLDS = 10
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
        judge: Callable[[], Evaluation] | None = None,
        table: NamedTable | None = None,
    ) -> None:
        super().__init__(name, lesson=lesson)
        self.table = table  # whose rows can be forgotten, and compared with those that were learned
        self.peers: Sequence[OpenedClassifier] = ()  # the other models that are open
        self.comparing: Comparing | None = None  # of a table that was learned here
        self.classifier, self.path, self.version = classifier, path, version
        self.judge = judge  # makes the evaluation, when it is first asked for
        self._judged: Evaluation | None = None
        self._spec: tuple[AnyTableClassifier, Json] | None = None
        self._drift: tuple[AnyTableClassifier, Json] | None = None

    @property
    def views(self) -> Sequence[str]:
        has_rulers = isinstance(self.classifier.model, NaiveModel) and len(self.classifier.model.classes) > 1
        views = ["what-if", *(["nomogram"] if has_rulers else []), *([] if self.judge is None else ["evaluate"])]
        views += [] if self.comparing is None else ["compare"]
        return views if self.classifier.fixed else [*views, "data", "audit"]

    def spec(self) -> Json:
        self.refresh()
        if self._spec is None or self._spec[0] is not self.classifier:
            self._spec = self.classifier, row_spec(self.classifier)
        return self._spec[1]

    def answer(self, view: str, asked: Mapping[str, Any]) -> Json:
        if view == "data":
            return {"found": data_found(self.classifier)}
        if view == "evaluate":
            return self._evaluated(asked.get("cell"))
        if view == "compare":
            assert self.comparing is not None
            return {"found": self.comparing.answer(asked.get("action"), asked.get("models") or [])}
        if view == "audit":
            return self._audited(asked)
        row = asked.get("row") or {}
        if view == "nomogram":
            rulers = rulers_of(self.classifier, self.spec(), asked["pair"], row)
            return {"answer": row_answer(self.classifier, row, brief=True), "rulers": rulers}
        brief = not asked.get("details")
        return {"answer": row_answer(self.classifier, row, brief=brief), "more": brief}

    def _evaluated(self, cell: Sequence[int] | None) -> Json:
        if self._judged is None:
            assert self.judge is not None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                self._judged = self.judge()
        names = [each["name"] for each in self.spec()["columns"]]
        rows = None if cell is None else cell_rows(self._judged, cell, names)
        return {"found": evaluation_found(self._judged), "rows": rows}

    def _audited(self, asked: Mapping[str, Any]) -> Json:
        self.refresh()
        chosen, against, table = asked.get("rows") or "", asked.get("against"), self.table
        found: Json = {"found": audit_found(self.classifier, table, [each.name for each in self.peers])}
        found["forgotten"] = found["difference"] = found["drift"] = None
        if table is not None and chosen.strip():
            certify = bool(asked.get("forget"))
            found["forgotten"] = forgetting(self.classifier, self.path, table, chosen, certify=certify)
        if against is not None:
            peer = self.peers[against]
            peer.refresh()
            found["difference"] = difference_found(self.classifier, peer.classifier)
        if table is not None and self.path is not None:  # a table that was learned here does not differ from itself
            if self._drift is None or self._drift[0] is not self.classifier:
                self._drift = self.classifier, drift_found(self.classifier, table)
            found["drift"] = self._drift[1]
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


class OpenedChain(ShownFile):
    """A hidden Markov model; a file that has changed is loaded again."""

    kind = "chain"
    views = ("chain",)

    def __init__(self, name: str, chain: HiddenMarkovModel, *, path: str | None = None, version: Any = None) -> None:
        super().__init__(name)
        self.chain, self.path, self.version = chain, path, version

    def spec(self) -> Json:
        if self.path is not None:
            self.chain, self.version = load_newest(self.path, self.chain, self.version)
        return chain_spec(self.chain)

    def answer(self, view: str, asked: Mapping[str, Any]) -> Json:  # noqa: ARG002
        return {"answer": chain_answer(self.chain, steps_of_texts(self.chain, asked.get("steps") or []))}


class OpenedLesson(ShownFile):
    """Bayes' rule by itself: the page works it out alone."""

    kind = "lesson"
    views = ("lesson",)

    def spec(self) -> Json:
        return {}

    def answer(self, view: str, asked: Mapping[str, Any]) -> Json:  # noqa: ARG002
        return {}


def open_files(paths: Sequence[str], target: str | None = None, weight: str | None = None) -> list[ShownFile]:
    """What the files hold. A table after a model judges it; one with a target is learned and cross-validated."""
    found: list[ShownFile] = []
    for path in paths:
        last = found[-1] if found else None
        if not _is_table(path):
            found.append(open_file(path))
        elif isinstance(last, OpenedClassifier) and last.path is not None and last.judge is None:
            last.judge = _judged_by(last, path, target, weight)
            last.table = NamedTable(path, target, weight)
        else:
            found.append(learned_table(path, target, weight))
    models = [each for each in found if isinstance(each, OpenedClassifier) and not each.classifier.fixed]
    for model in models:
        model.peers = [each for each in models if each is not model]
    return found


def _is_table(path: str) -> bool:
    return not path.endswith(".bayes") and format_of(path) is None


def open_file(path: str) -> ShownFile:
    """What a model or a network file holds; BadOption where the app cannot show it."""
    name = Path(path).name
    if name.endswith(".bayes"):
        model, version = load_version(path)
        if isinstance(model, TableClassifier):
            return OpenedClassifier(name, model, path=path, version=version)
        if isinstance(model, HiddenMarkovModel):
            return OpenedChain(name, model, path=path, version=version)
        raise BadOption("the app shows classifiers of tables, networks and hidden Markov models", found=path)
    network = read_network(path)
    if isinstance(network, FactorGraph):
        raise BadOption("the app shows Bayesian networks, and this is a factor graph", found=path)
    return OpenedNetwork(name, network)


def _judged_by(opened: OpenedClassifier, path: str, target: str | None, weight: str | None) -> Callable[[], Evaluation]:
    def judge() -> Evaluation:
        rows = opened.classifier.open_rows(path, target=target or opened.classifier.target, weight=weight)
        return _with_rows(evaluate_held_out(opened.classifier, rows.source, rows.target, weight=weight), rows.source)

    return judge


def learned_table(path: str, target: str | None, weight: str | None = None) -> OpenedClassifier:
    """A table with its classes: naive Bayes learns it, and is judged by ten folds."""
    if target is None:
        raise BadOption(
            "a table needs a target: the column that holds the classes",
            found=path,
            remedy="Pass -t COLUMN; or name a model (.bayes) before it, which it then judges",
        )
    opened = NaiveClassifier(NaiveOptions()).open_rows(path, target=target, weight=weight)
    train(opened.classifier, opened.source, opened.target, weight=weight)
    opened.classifier.learned_from(opened.target)

    def judge() -> Evaluation:
        blank = opened.classifier.unfitted_clone()
        return _with_rows(
            cross_validate(blank, opened.source, opened.target, folds=FOLDS, weight=weight), opened.source
        )

    table = NamedTable(path, target, weight)
    shown = OpenedClassifier(Path(path).name, opened.classifier, judge=judge, table=table)
    shown.comparing = Comparing(table)
    return shown


def _with_rows(evaluation: Evaluation, source: Source) -> Evaluation:
    """The evaluation with its rows, to show those of a cell; a long table only has their numbers."""
    batches = list(itertools.islice(source.batches(), 2))
    return replace(evaluation, batch=batches[0]) if len(batches) == 1 and evaluation.batch is None else evaluation


def shipped() -> list[ShownFile]:
    """What the app shows where nothing is named: the Titanic, a screening test, the sprinkler network."""
    titanic = learned_table(str(DATA / "titanic.csv"), "survived", "people")
    titanic.name, titanic.lesson = "titanic", "Who survived the Titanic?"
    titanic.judge = titanic.comparing = None  # its rows are whole groups
    return [
        titanic,
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
