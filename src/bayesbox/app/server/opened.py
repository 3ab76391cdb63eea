"""The files given on the command line: classifiers, tables, networks and hidden Markov models.

Nothing else can be read: a request refers to a file by its position in this list.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesbox.app.audited import (
    NamedTable,
    audit_found,
    difference_found,
    drift_found,
    forgetting,
    history_found,
    learned_here,
)
from bayesbox.app.compared import Comparing
from bayesbox.app.judged import KeptRows, cell_rows, data_found, evaluation_found
from bayesbox.app.rows import row_answer, row_spec, rulers_of
from bayesbox.app.server.network import OpenedNetwork, read_shown_network
from bayesbox.app.server.shown import OpenedChain, OpenedLesson, ShownFile, name_apart
from bayesbox.classifier.evaluate import cross_validate, evaluate_held_out
from bayesbox.classifier.evaluation import Evaluation
from bayesbox.classifier.opened import AS_IT_IS, Opened, ReadingOptions
from bayesbox.classifier.table import AnyTableClassifier, TableClassifier
from bayesbox.classifier.train import train
from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import BadOption, DataWarning
from bayesbox.file.load import load_newest, load_version
from bayesbox.file.reader import Json
from bayesbox.network.formats import format_of
from bayesbox.network.network import BayesianNetwork
from bayesbox.rule.options import NaiveOptions
from bayesbox.schema.kinds import kind_named
from bayesbox.sequence.hmm import HiddenMarkovModel
from bayesbox.source.base import Source
from bayesbox.source.files.open import listed_columns
from bayesbox.table.naive.classifier import NaiveClassifier

FOLDS = 10
MOST_TYPED = 8  # tables with other column types kept in the cache
DATA = Path(__file__).parents[2] / "data"

Judge = Callable[[], tuple[Evaluation, Source]]
"""Makes an evaluation, and returns where its rows are."""


class OpenedClassifier(ShownFile):
    """A model, with an optional table to evaluate it on."""

    kind = "classifier"

    def __init__(
        self,
        name: str,
        classifier: AnyTableClassifier,
        *,
        path: str | None = None,
        version: Any = None,
        lesson: str | None = None,
        judge: Judge | None = None,
        table: NamedTable | None = None,
    ) -> None:
        super().__init__(name, lesson=lesson, paths=() if path is None else [path])
        self.table = table  # whose rows can be forgotten, and compared with the training data
        self.peers: Sequence[OpenedClassifier] = ()  # the other open models
        self.comparing: Comparing | None = None  # of a table that was trained on here
        self.classifier, self.path, self._loaded = classifier, path, version
        self.judge = judge  # makes the evaluation on first use
        self._judged: tuple[Evaluation, KeptRows] | None = None
        self._spec: Json | None = None
        self._drift: Json | None = None

    @property
    def views(self) -> Sequence[str]:
        has_rulers = isinstance(self.classifier.model, NaiveModel) and len(self.classifier.model.classes) > 1
        views = ["what-if", *(["nomogram"] if has_rulers else []), *([] if self.judge is None else ["evaluate"])]
        views += [] if self.comparing is None else ["compare"]
        return views if self.classifier.fixed else [*views, "data", "audit"]

    @property
    def about(self) -> str:
        rows = "" if self.classifier.fixed else f", {float(self.classifier.book.n.sum()):,.10g} rows"
        return f"{self.classifier.title} of {self.classifier.target or 'class'}{rows}"

    def spec(self) -> Json:
        self.refresh()
        if self._spec is None:
            table = self.table
            self._spec = row_spec(self.classifier) | {
                "table": None if table is None else table.path,
                "judgedBy": None if table is None else table.target or self.classifier.target,
                "weight": None if table is None else table.weight,
                "reading": {} if table is None else table.reading_texts,
                "peers": [each.path for each in self.peers],
            }
        return self._spec

    def answer(self, view: str, asked: Mapping[str, Any]) -> Json:
        self.refresh()
        if view == "data":
            return {"found": self._described()}
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

    def _described(self) -> Json:
        return data_found(self.classifier)

    def _evaluated(self, cell: Sequence[int] | None) -> Json:
        if self._judged is None:
            assert self.judge is not None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                evaluation, source = self.judge()
                names = [each["name"] for each in self.spec()["columns"]]
                self._judged = evaluation, KeptRows(evaluation, source, names)
        judged, kept = self._judged
        rows = None if cell is None else cell_rows(judged, kept, cell)
        return {"found": evaluation_found(judged), "rows": rows}

    def _audited(self, asked: Mapping[str, Any]) -> Json:
        chosen, against, table = asked.get("rows") or "", asked.get("against"), self.table
        peers = [each.name for each in self.peers]
        found: Json = {"found": audit_found(self.classifier, table, peers, self._history())}
        found["forgotten"] = found["difference"] = found["drift"] = None
        if table is not None and chosen.strip():
            certify = bool(asked.get("forget"))
            found["forgotten"] = forgetting(self.classifier, self.path, table, chosen, certify=certify)
        if against is not None:
            peer = self.peers[against]
            peer.refresh()
            found["difference"] = difference_found(self.classifier, peer.classifier)
        if table is not None and self.path is not None:  # a table trained on here has no drift
            if self._drift is None:
                self._drift = drift_found(self.classifier, table)
            found["drift"] = self._drift
        return found

    def _history(self) -> Json | None:
        return None if self.path is None else history_found(self.classifier, self.path)

    def reload(self) -> None:
        if self.path is not None:
            self.classifier, self._loaded = load_newest(self.path, self.classifier, self._loaded)
        self._judged = self._spec = self._drift = None


class OpenedTable(OpenedClassifier):
    """A table with a target: naive Bayes is trained on it, and evaluated by cross-validation with at most ten folds.

    `types` are the declared types of some columns; the others are detected. With other types the model is refitted.
    """

    kind = "table"

    def __init__(
        self,
        name: str,
        table: NamedTable,
        types: Mapping[str, str] | None = None,
        *,
        lesson: str | None = None,
        judged: bool = True,
    ) -> None:
        self.types = dict(types or {})
        self._typed: dict[tuple[tuple[str, str], ...], OpenedTable] = {}
        self._opened, self._rows = _learned(table, self.types)
        self._batches = learned_here(self._opened.classifier, table)
        super().__init__(
            name, self._opened.classifier, lesson=lesson, judge=self._cross_validated if judged else None, table=table
        )
        self.watch(table.path)
        self.comparing = Comparing(table, self.types) if judged else None

    def typed(self, types: Mapping[str, str]) -> OpenedTable:
        if types == self.types:
            return self
        assert self.table is not None
        key = tuple(sorted(types.items()))
        with self._reading:
            if key not in self._typed:
                if len(self._typed) >= MOST_TYPED:
                    del self._typed[next(iter(self._typed))]
                made = OpenedTable(self.name, self.table, types, lesson=self.lesson, judged=self.judge is not None)
                made.peers = self.peers
                self._typed[key] = made
            return self._typed[key]

    def reload(self) -> None:
        super().reload()
        assert self.table is not None
        self._opened, self._rows = _learned(self.table, self.types)
        self.classifier = self._opened.classifier
        self._batches = learned_here(self.classifier, self.table)

    def _history(self) -> Json:
        return self._batches

    def _described(self) -> Json:
        return data_found(self.classifier) | {"types": self.types, "digest": self.classifier.book.digest()}

    def _cross_validated(self) -> tuple[Evaluation, Source]:
        assert self.table is not None
        opened = self._opened
        blank = opened.classifier.unfitted_clone()
        folds = min(FOLDS, max(self._rows, 2))
        judged = cross_validate(blank, opened.source, opened.target, folds=folds, weight=self.table.weight)
        return judged, opened.source


def _learned(table: NamedTable, types: Mapping[str, str]) -> tuple[Opened[NaiveClassifier], int]:
    """The rows of a table with a model trained on them, and the number of labelled rows."""
    declared = {name: kind_named(kind) for name, kind in types.items()}
    opened = NaiveClassifier(NaiveOptions(), declared).open_rows(
        table.path, target=table.target, weight=table.weight, reading=table.reading
    )
    training = train(opened.classifier, opened.source, opened.target, weight=table.weight)
    opened.classifier.learned_from(opened.target)
    return opened, training.rows - training.unlabelled


def open_files(
    paths: Sequence[str],
    target: str | None = None,
    weight: str | None = None,
    *,
    reading: ReadingOptions = AS_IT_IS,
    save: bool = False,
) -> list[ShownFile]:
    """The opened files. A table after a model evaluates it; one with a target is trained on and cross-validated.

    `reading` says how the tables are read. With `save` the networks may be saved to their files.
    """
    found: list[ShownFile] = []
    for path in paths:
        last = found[-1] if found else None
        if not _is_table(path):
            found.append(open_file(path))
        elif isinstance(last, OpenedClassifier) and last.path is not None and last.judge is None:
            last.table = NamedTable(path, target, weight, reading)
            last.judge = _judged_by(last, last.table)
            last.watch(path)
        else:
            found.append(learned_table(NamedTable(path, target, weight, reading)))
    name_apart(found)
    models = [each for each in found if isinstance(each, OpenedClassifier) and not each.classifier.fixed]
    for model in models:
        model.peers = [each for each in models if each is not model]
    networks = [each for each in found if isinstance(each, OpenedNetwork)]
    if save and not networks:
        raise BadOption(
            "no network to save", found=", ".join(paths), remedy="Name the file of a network, such as asia.bif"
        )
    for network in networks:
        network.saves = save
    return found


def _is_table(path: str) -> bool:
    return not path.endswith(".bayes") and format_of(path) is None


def open_file(path: str) -> ShownFile:
    """The opened model or network file; BadOption if the app does not support it."""
    name = Path(path).name
    if name.endswith(".bayes"):
        model, version = load_version(path)
        if isinstance(model, TableClassifier):
            return OpenedClassifier(name, model, path=path, version=version)
        if isinstance(model, HiddenMarkovModel):
            return OpenedChain(name, model, path=path, version=version)
        raise BadOption("the app supports classifiers of tables, networks and hidden Markov models", found=path)
    return OpenedNetwork(name, read_shown_network(path), path=path)


def _judged_by(opened: OpenedClassifier, table: NamedTable) -> Judge:
    def judge() -> tuple[Evaluation, Source]:
        target = table.target or opened.classifier.target
        rows = opened.classifier.open_rows(table.path, target=target, weight=table.weight, reading=table.reading)
        return evaluate_held_out(opened.classifier, rows.source, rows.target, weight=table.weight), rows.source

    return judge


def learned_table(table: NamedTable) -> OpenedTable:
    """A table to train on; BadOption without a target."""
    if table.target is None:
        remedy = "Pass -t COLUMN, or name a model (.bayes) before it to evaluate the model on it. "
        columns = listed_columns(table.path, format=table.reading.format, dialect=table.reading.dialect)
        raise BadOption("no target column for this table", found=table.path, remedy=remedy + columns)
    return OpenedTable(table.name, table)


def shipped() -> list[ShownFile]:
    """The built-in examples: the Titanic, a screening test, the sprinkler network."""
    people = NamedTable(str(DATA / "titanic.csv"), "survived", "people")
    return [
        OpenedTable("titanic", people, lesson="Who survived the Titanic?", judged=False),  # its rows are weighted
        OpenedLesson("screening", lesson="A positive test: am I ill?"),
        OpenedNetwork("sprinkler", sprinkler(), lesson="Why is the grass wet?"),
    ]


def sprinkler() -> BayesianNetwork:
    """The sprinkler network of the textbooks."""
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
