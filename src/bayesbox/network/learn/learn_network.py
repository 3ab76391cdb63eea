"""Learning a network from rows: the structure by a score, by tests or as a tree, then the tables."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bayesbox.classifier.train import require_rereadable, source_of
from bayesbox.described import Remedy
from bayesbox.display.progress import Progress, Reporter
from bayesbox.errors import BadData, BadOption, DataWarning, UnknownNode
from bayesbox.network.graph import Graph, Node
from bayesbox.network.learn.arcs import ArcRules, unpacked
from bayesbox.network.learn.averaged import averaged_parents
from bayesbox.network.learn.compare import pattern_of
from bayesbox.network.learn.exact_search import exact_search
from bayesbox.network.learn.options import CLIMBING, Arc, LearnOptions, SearchOptions, TableOptions
from bayesbox.network.learn.order_search import order_search
from bayesbox.network.learn.pc import directed_extension, pc
from bayesbox.network.learn.rows import NetworkRows
from bayesbox.network.learn.scores import Scorer, columns_of, mask_of, parameters
from bayesbox.network.learn.search import Found, SearchStep, search
from bayesbox.network.learn.structural_em import structural_em
from bayesbox.network.learn.survey import Survey, survey
from bayesbox.network.learn.tree import chow_liu, tree_augmented
from bayesbox.network.network import BayesianNetwork
from bayesbox.schema.coded import CodedRows
from bayesbox.schema.kinds import as_kind
from bayesbox.schema.parameters import by_keywords
from bayesbox.source.base import Source
from bayesbox.stat.family_counter import Counter, MemoryCounter, SourceCounter

RESTARTS = 5  # and more if there are few columns, since a climb is then cheap
PATIENCE = 15
ALPHA = 0.05
COPIES = 5  # completions of a row with missing values
NAMES_FROM = 20  # states; a column with more may be an identifier
MISSING_STATE = "missing"


@dataclass(frozen=True)
class Learning:
    """How a network was learned.

    `score` is that of the structure found, in nats; `undirected` are the arcs that tests could not direct; `strengths`
    has, for each pair of nodes, the share of bootstrap samples with an arc between them, and the share of these with
    this direction. An arc whose direction the rows cannot determine counts half for each. `bound` is a score that no
    structure exceeds (method exact or order); with `bound_parents`, no structure with at most this many parents per
    node.
    """

    method: str
    score_name: str
    score: float
    parameters: int
    rows: int
    holes: int
    moves: int
    seconds: float
    history: list[float] = field(default_factory=list, repr=False)
    undirected: tuple[Arc, ...] = ()
    strengths: Mapping[Arc, tuple[float, float]] = field(default_factory=dict, repr=False)
    bound: float | None = None
    bound_parents: int | None = None

    @property
    def gap(self) -> float | None:
        """The largest possible difference from the best score, in nats; None if there is no bound."""
        return None if self.bound is None else max(self.bound - self.score, 0.0)


@dataclass(frozen=True)
class _Task:
    """The learning task by position, with the defaults that depend on the method and the columns."""

    options: SearchOptions
    rules: ArcRules
    target: int | None
    root: int | None
    columns: int

    @property
    def patience(self) -> int:
        given = self.options.patience
        return (PATIENCE if self.options.method == "tabu" else 0) if given is None else given

    @property
    def restarts(self) -> int:
        given = self.options.restarts
        return max(RESTARTS, 100 // self.columns) if given is None else given

    @property
    def alpha(self) -> float:
        return ALPHA if self.options.alpha is None else self.options.alpha


@by_keywords(LearnOptions)
def learn_network(data: object, options: LearnOptions) -> BayesianNetwork:
    """Learn a Bayesian network from rows: a DataFrame, a table, a source, or the name of a file.

    The structure is found by `method`, the tables by the rule `smoothing`. The same `seed` gives the same result;
    `.learning_` describes how it was found. An option that the method does not use is an error.

    Examples
    --------
    >>> rain = ["yes"] * 10 + ["no"] * 10
    >>> net = learn_network({"rain": rain, "grass": ["wet"] * 11 + ["dry"] * 9, "day": ["odd", "even"] * 10})
    >>> net.edges
    [('rain', 'grass')]
    """
    begun = time.perf_counter()
    kinds = {str(name): as_kind(kind) for name, kind in (options.columns or {}).items()}
    source = source_of(data, declared=kinds, na=options.na, bad_rows="error", format=None)
    found = survey(source, kinds=kinds, bins=options.bins, most_bytes=options.most_bytes)
    rows, holes = _prepared(found, source, options.missing)
    _warn_of_names(rows)
    names = [variable.name for variable in rows.variables]
    rules = ArcRules.of(
        names,
        required=options.required,
        forbidden=options.forbidden,
        tiers=options.tiers,
        max_parents=options.max_parents,
    )
    if options.method in ("chow-liu", "tan") and not (rules.allowed | np.eye(len(names), dtype=bool)).all():
        raise BadOption("tree methods do not support required or forbidden arcs, or tiers", remedy="Use method='hill'")
    task = _Task(
        options, rules, _place(names, options.target, "target"), _place(names, options.root, "root"), len(names)
    )
    structure, undirected = _structure(task, rows, options.threads)
    strengths = _strengths(task, rows, options.bootstrap) if options.bootstrap else {}
    if options.average is not None:
        structure, undirected = _averaged(task, rows, strengths, structure), ()
    nodes = [
        Node(variable.name, variable.levels, tuple(names[parent] for parent in columns_of(mask)))
        for variable, mask in zip(rows.variables, structure.parents, strict=True)
    ]
    network = BayesianNetwork.of(Graph(nodes))
    report = Reporter(options.progress)
    report(None, "counting the tables")
    network.fit_rows(rows, TableOptions(smoothing=options.smoothing, seed=options.seed))
    network.learning_ = Learning(
        options.method,
        str(options.scored),
        structure.score,
        parameters([len(variable.levels) for variable in rows.variables], [columns_of(m) for m in structure.parents]),
        rows.rows,
        holes,
        structure.moves,
        time.perf_counter() - begun,
        structure.history,
        undirected,
        strengths,
        structure.bound,
        structure.bound_parents,
    )
    report.done()
    return network


def _warn_of_names(rows: NetworkRows) -> None:
    """Warn about columns whose values hardly repeat: they identify rows, and nothing can be learned from them."""
    for variable in rows.variables:
        if len(variable.levels) > max(NAMES_FROM, rows.rows / 2):
            warnings.warn(
                f"column `{variable.name}` has {len(variable.levels):,} states in {rows.rows:,} rows: if it is "
                "an identifier, ignore it",
                DataWarning,
                stacklevel=4,  # past the wrapper that turns keywords into options
            )


def _place(names: Sequence[str], name: str | None, what: str) -> int | None:
    if name is None:
        return None
    if name not in names:
        raise UnknownNode("column", name, names, where=what)
    return list(names).index(name)


def _prepared(found: Survey, source: Source, missing: str) -> tuple[NetworkRows, int]:
    """The rows to learn from, and how many of the rows read have a missing value."""
    rows = NetworkRows(found.variables, found.coded, source, found.rows, found.holes)
    holes = found.holes
    if found.coded is None:
        require_rereadable(source)
    if not holes:
        return rows, 0
    if found.coded is None:
        raise BadData(
            "too many rows with missing values to hold in memory",
            where=source.name,
            remedy="Fill in the missing values, or allow more memory: most_bytes",
        )
    coded = found.coded
    if missing == "drop":
        coded = coded.take(~coded.incomplete())
        if not coded.rows:
            raise BadData(
                "every row has a missing value, so none is left", where=source.name, remedy="Use missing='em'"
            )
    elif missing == "level":
        coded = coded.with_missing_level(MISSING_STATE)
    left = holes if missing == "em" else 0
    return NetworkRows(coded.variables, coded, source, coded.rows, left), holes


def _structure(task: _Task, rows: NetworkRows, threads: int = 1) -> tuple[Found, tuple[Arc, ...]]:
    """The structure, and the arcs whose direction the data do not determine."""
    names = [variable.name for variable in rows.variables]
    open_: list[Arc] = []

    def find(counter: Counter, scale: float, start: Sequence[int] | None) -> Found:
        found, undirected = _found(task, counter, scale, start)
        open_[:] = [(names[one], names[other]) for one, other in undirected]
        return found

    def completed(coded: CodedRows, scale: float, start: Sequence[int] | None) -> Found:
        return find(MemoryCounter(coded), scale, start)

    if rows.coded is None:
        found = find(SourceCounter(rows.source, rows.variables, rows.rows, threads=threads), 1.0, None)
    elif rows.holes:
        copies = COPIES if task.options.method in CLIMBING else 1
        found = structural_em(rows.coded, completed, copies=copies, seed=task.options.seed)
    else:
        found = completed(rows.coded, 1.0, None)
    return found, tuple(open_)


def _found(
    task: _Task, counter: Counter, scale: float, start: Sequence[int] | None
) -> tuple[Found, list[tuple[int, int]]]:
    """One structure search on complete rows."""
    begun = time.perf_counter()
    undirected: list[tuple[int, int]] = []
    scorer = Scorer(counter, task.options.scored, scale=scale)
    if task.options.method in CLIMBING:
        return search(
            scorer,
            task.rules,
            start=start,
            patience=task.patience,
            restarts=task.restarts,
            seed=task.options.seed,
            progress=_reported(task.options.progress),
        ), undirected
    if task.options.method == "order":
        found = order_search(
            scorer,
            task.rules,
            restarts=task.restarts,
            seed=task.options.seed,
            progress=_reported(task.options.progress),
        )
        return found, undirected
    if task.options.method == "exact":
        if not isinstance(counter, MemoryCounter):
            raise BadData("exact search holds the rows in memory, and there are too many", remedy="Use method='hill'")
        return exact_search(counter, task.options.scored, task.rules), undirected
    if task.options.method == "pc":
        pattern = pc(counter, task.rules, alpha=task.alpha, max_given=task.options.max_given)
        undirected = [(one, other) for one, other in np.argwhere(pattern.undirected).tolist() if one < other]
        parents, moves = directed_extension(pattern), pattern.tests
    else:
        tree = (
            chow_liu(counter, task.root or 0)
            if task.options.method == "chow-liu"
            else tree_augmented(counter, task.target or 0, task.root)
        )
        parents, moves = [mask_of(above) for above in tree], 0
    total = scorer.total([columns_of(mask) for mask in parents])
    return Found(parents, total, moves, time.perf_counter() - begun, [total]), undirected


def _reported(progress: Progress | None) -> Callable[[SearchStep], None] | None:
    """Reports the steps of a search in words; its remaining time is unknown."""
    if progress is None:
        return None
    report = Reporter(progress)

    def step(found: SearchStep) -> None:
        report(None, f"score {found.score:,.1f}, best {found.best:,.1f}, {found.moves:,} moves")

    return step


def _averaged(task: _Task, rows: NetworkRows, strengths: Mapping[Arc, tuple[float, float]], structure: Found) -> Found:
    """The structure of the arcs found in most samples."""
    assert task.options.average is not None
    if rows.holes or rows.coded is None:
        raise BadOption(
            "an averaged network is of rows without missing values",
            remedy="Try " + Remedy("missing='drop' or 'level'", "--missing drop, or level"),
        )
    names = [variable.name for variable in rows.variables]
    parents = averaged_parents(names, strengths, task.options.average, task.rules)
    total = Scorer(MemoryCounter(rows.coded), task.options.scored).total([columns_of(mask) for mask in parents])
    return Found(parents, total, structure.moves, structure.seconds, [*structure.history, total])


def _strengths(task: _Task, rows: NetworkRows, samples: int) -> dict[Arc, tuple[float, float]]:
    """The share of bootstrap samples of the rows in which each arc is found."""
    if rows.coded is None:
        raise BadOption("the bootstrap holds the rows in memory, and there are too many", found=samples)
    names = [variable.name for variable in rows.variables]
    directions = np.zeros((len(names), len(names)))
    report = Reporter(task.options.progress)
    for sample in range(samples):
        report(sample / samples, f"bootstrap sample {sample + 1} of {samples}")
        chosen = np.random.default_rng([task.options.seed, sample, 1]).integers(rows.rows, size=rows.rows)
        drawn = replace(rows, coded=rows.coded.take(np.sort(chosen)))
        resampled = replace(task.options, progress=None, seed=task.options.seed + sample)
        found, _ = _structure(replace(task, options=resampled), drawn)
        arcs = unpacked(found.parents).T
        directed, undirected = (
            pattern_of(arcs, task.rules.allowed) if task.options.scored.equivalent else (arcs, 0 * arcs)
        )
        directions += directed + undirected / 2
    joined = directions + directions.T
    return {
        (names[one], names[other]): (
            float(joined[one, other] / samples),
            float(directions[one, other] / joined[one, other]),
        )
        for one, other in np.argwhere(joined > 0).tolist()
    }
