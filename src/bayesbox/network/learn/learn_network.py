"""Networks from rows: the structure by a score, by tests or as a tree, then the tables."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np

from bayesbox.classifier.train import require_rereadable, source_of
from bayesbox.errors import BadData, BadOption, DataWarning, UnknownNode, require_whole
from bayesbox.network.graph import Graph, Node
from bayesbox.network.learn.arcs import ArcRules, unpacked
from bayesbox.network.learn.compare import pattern_of
from bayesbox.network.learn.exact_search import exact_search
from bayesbox.network.learn.pc import directed_extension, pc
from bayesbox.network.learn.rows import NetworkRows
from bayesbox.network.learn.scores import Score, Scorer, columns_of, mask_of, parameters
from bayesbox.network.learn.search import Found, Progress, SearchStep, search
from bayesbox.network.learn.structural_em import structural_em
from bayesbox.network.learn.survey import DEFAULT_BINS, MOST_BYTES, Survey, survey
from bayesbox.network.learn.tree import chow_liu, tree_augmented
from bayesbox.network.network import BayesianNetwork
from bayesbox.schema.coded import CodedRows
from bayesbox.schema.kinds import as_kind
from bayesbox.source.base import Source
from bayesbox.stat.family_counter import Counter, MemoryCounter, SourceCounter

METHODS = ("hill", "tabu", "chow-liu", "tan", "pc", "exact")
RESTARTS = 5  # and more where columns are few, as a climb then costs next to nothing
PATIENCE = 15
ALPHA = 0.05
COPIES = 5  # completions of a row with holes
NAMES_FROM = 20  # states from which a column may be one of names
MISSING_STATE = "missing"
CLIMBING = ("hill", "tabu")
USED_BY = {
    "max_parents": (*CLIMBING, "exact"),
    "restarts": CLIMBING,
    "patience": CLIMBING,
    "alpha": ("pc",),
    "max_given": ("pc",),
}
"""The options that not every method uses, and the methods that do."""

Arc = tuple[str, str]


@dataclass(frozen=True)
class Learning:
    """How a network was learned.

    `score` is that of the structure found, in nats; `undirected` are the arcs that a test could not direct; `strengths`
    tells of every two nodes in which share of the bootstrap samples an arc joins them, and of these in which share it
    has this direction. An arc whose direction the rows cannot tell counts half for either.
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


@dataclass(frozen=True)
class _Task:
    """What is asked for, by position."""

    method: str
    score: Score
    rules: ArcRules
    target: int | None
    root: int | None
    patience: int
    restarts: int
    alpha: float
    max_given: int | None
    seed: int
    progress: Progress | None

    def check(self) -> None:
        """Refuse what does not go together."""
        if self.method == "tan" and self.target is None:
            raise BadOption(
                "tan is a tree under a class, and no column is named as that",
                remedy="Name it: target='...', by command -t COLUMN",
            )
        if self.method != "tan" and self.target is not None:
            raise BadOption(
                f"only tan has a target, {self.method} finds the parents of all columns alike",
                remedy="Leave the target away, or take method='tan'",
            )
        if self.root is not None and (self.method not in ("tan", "chow-liu") or self.root == self.target):
            raise BadOption("a root is that of a tree: chow-liu, or tan (not its target)")


def learn_network(
    data: Any,
    *,
    score: Any = "bic",
    method: str = "hill",
    target: str | None = None,
    root: str | None = None,
    required: Iterable[Any] = (),
    forbidden: Iterable[Any] = (),
    tiers: Iterable[Any] | None = None,
    max_parents: int | None = None,
    restarts: int | None = None,
    patience: int | None = None,
    alpha: float | None = None,
    max_given: int | None = None,
    smoothing: Any = "laplace",
    missing: str = "em",
    columns: Mapping[Any, object] | None = None,
    bins: Any = DEFAULT_BINS,
    na: Sequence[str] = (),
    bootstrap: int = 0,
    seed: int = 0,
    threads: int = 1,
    most_bytes: int = MOST_BYTES,
    progress: Progress | None = None,
) -> BayesianNetwork:
    """Learn a Bayesian network from rows: a frame, a table, a source, or the name of a file.

    `method`: "hill" climbs by single arcs, and again from the start by `restarts` other ways; "tabu" goes `patience`
    moves beyond each summit as well; "exact" finds the best structure of all, for up to about 20 columns; "chow-liu"
    the best tree; "tan" the tree under a `target` (from `root`); "pc" tests independence at the level `alpha` (0.05),
    with at most `max_given` columns given. The first three hold to `max_parents`. An option that a method does not use
    is refused. `score`: bic, aic, loglik, k2, bdeu:1 or dirichlet:0.5.

    `required` and `forbidden` are arcs such as "rain->grass"; a column of one of the `tiers` is no parent of one of an
    earlier tier. Numbers are cut into `bins` ("frequency:3", "width:2"); whole numbers of few values stay as they are.
    Rows with holes are completed as the network so far has it, round after round (`missing="em"`), left out ("drop"),
    or their holes are a state ("level"). `bootstrap` samples tell how strong each arc is. The result, with its tables
    by the rule `smoothing`, is the same every time for a `seed`; `.learning_` tells how it came about. Rows that exceed
    `most_bytes` as codes are not held: each step of the search reads the source once.

    >>> rain = ["yes"] * 10 + ["no"] * 10
    >>> net = learn_network({"rain": rain, "grass": ["wet"] * 11 + ["dry"] * 9, "day": ["odd", "even"] * 10})
    >>> net.edges
    [('rain', 'grass')]
    """
    if method not in METHODS:
        raise BadOption(f"a method is one of {', '.join(METHODS)}", found=method)
    if missing not in ("em", "drop", "level"):
        raise BadOption("missing is 'em', 'drop' or 'level'", found=missing)
    given = {"restarts": restarts, "patience": patience, "alpha": alpha, "max_given": max_given}
    _refuse_unused(method, {"max_parents": max_parents, **given})
    alpha = ALPHA if alpha is None else alpha
    if not (isinstance(alpha, Real) and 0 < alpha < 1):
        raise BadOption("alpha is a level of significance between 0 and 1", found=alpha)
    whole = {"restarts": restarts, "patience": patience, "bootstrap": bootstrap, "seed": seed, "max_given": max_given}
    for name, value in whole.items():
        if value is not None:
            require_whole(name, value)
    begun = time.perf_counter()
    kinds = {str(name): as_kind(kind) for name, kind in (columns or {}).items()}
    source = source_of(data, declared=kinds, na=na, bad_rows="error", format=None)
    found = survey(source, kinds=kinds, bins=bins, most_bytes=most_bytes)
    rows, holes = _prepared(found, source, missing)
    _warn_of_names(rows)
    names = [variable.name for variable in rows.variables]
    rules = ArcRules.of(names, required=required, forbidden=forbidden, tiers=tiers, max_parents=max_parents)
    if method in ("chow-liu", "tan") and not (rules.allowed | np.eye(len(names), dtype=bool)).all():
        raise BadOption("a tree takes no required or forbidden arcs and no tiers", remedy="Take method='hill'")
    task = _Task(
        method,
        Score.of(score),
        rules,
        _place(names, target, "target"),
        _place(names, root, "root"),
        (PATIENCE if method == "tabu" else 0) if patience is None else patience,
        max(RESTARTS, 100 // len(names)) if restarts is None else restarts,
        alpha,
        max_given,
        seed,
        progress,
    )
    task.check()
    structure, undirected = _structure(task, rows, threads)
    strengths = _strengths(task, rows, bootstrap) if bootstrap else {}
    nodes = [
        Node(variable.name, variable.levels, tuple(names[parent] for parent in columns_of(mask)))
        for variable, mask in zip(rows.variables, structure.parents, strict=True)
    ]
    network = BayesianNetwork.of(Graph(nodes))
    network.fit_rows(rows, smoothing=smoothing, seed=seed)
    network.learning_ = Learning(
        method,
        str(task.score),
        structure.score,
        parameters([len(variable.levels) for variable in rows.variables], [columns_of(m) for m in structure.parents]),
        rows.rows,
        holes,
        structure.moves,
        time.perf_counter() - begun,
        structure.history,
        undirected,
        strengths,
    )
    return network


def _refuse_unused(method: str, given: Mapping[str, object]) -> None:
    """An option that the method would pass over is refused."""
    for name, value in given.items():
        if value is not None and method not in USED_BY[name]:
            used = USED_BY[name]
            methods = " or ".join(filter(None, (", ".join(used[:-1]), used[-1])))
            raise BadOption(
                f"method {method} does not use {name}",
                found=value,
                remedy=f"Leave it away, or take {methods} as the method",
            )


def _warn_of_names(rows: NetworkRows) -> None:
    """Columns whose values hardly repeat tell rows apart; nothing can be learned of them."""
    for variable in rows.variables:
        if len(variable.levels) > max(NAMES_FROM, rows.rows / 2):
            warnings.warn(
                f"column `{variable.name}` has {len(variable.levels):,} states in {rows.rows:,} rows: if it only tells "
                "rows apart, leave it out",
                DataWarning,
                stacklevel=3,
            )


def _place(names: Sequence[str], name: str | None, what: str) -> int | None:
    if name is None:
        return None
    if name not in names:
        raise UnknownNode("column", name, names, where=what)
    return list(names).index(name)


def _prepared(found: Survey, source: Source, missing: str) -> tuple[NetworkRows, int]:
    """Rows to learn from, and how many of those that were read have a hole."""
    rows = NetworkRows(found.variables, found.coded, source, found.rows, found.holes)
    holes = found.holes
    if found.coded is None:
        require_rereadable(source)
    if not holes:
        return rows, 0
    if found.coded is None:
        raise BadData(
            "rows with holes are too many to hold",
            where=source.name,
            remedy="Fill the holes, or give more memory: most_bytes",
        )
    coded = found.coded
    if missing == "drop":
        coded = coded.take(~coded.incomplete())
        if not coded.rows:
            raise BadData("every row has a hole, so none is left", where=source.name, remedy="Take missing='em'")
    elif missing == "level":
        coded = coded.with_missing_level(MISSING_STATE)
    left = holes if missing == "em" else 0
    return NetworkRows(coded.variables, coded, source, coded.rows, left), holes


def _structure(task: _Task, rows: NetworkRows, threads: int = 1) -> tuple[Found, tuple[Arc, ...]]:
    """The structure, and the arcs that have no direction in it by rights."""
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
        copies = COPIES if task.method in ("hill", "tabu") else 1
        found = structural_em(rows.coded, completed, copies=copies, seed=task.seed)
    else:
        found = completed(rows.coded, 1.0, None)
    return found, tuple(open_)


def _found(
    task: _Task, counter: Counter, scale: float, start: Sequence[int] | None
) -> tuple[Found, list[tuple[int, int]]]:
    """One search in complete rows."""
    begun = time.perf_counter()
    undirected: list[tuple[int, int]] = []
    scorer = Scorer(counter, task.score, scale=scale)
    if task.method in ("hill", "tabu"):
        return search(
            scorer,
            task.rules,
            start=start,
            patience=task.patience,
            restarts=task.restarts,
            seed=task.seed,
            progress=task.progress,
        ), undirected
    if task.method == "exact":
        if not isinstance(counter, MemoryCounter):
            raise BadData("an exact search holds its rows, and these are too many", remedy="Take method='hill'")
        return exact_search(counter, task.score, task.rules), undirected
    if task.method == "pc":
        pattern = pc(counter, task.rules, alpha=task.alpha, max_given=task.max_given)
        undirected = [(one, other) for one, other in np.argwhere(pattern.undirected).tolist() if one < other]
        parents, moves = directed_extension(pattern), pattern.tests
    else:
        tree = (
            chow_liu(counter, task.root or 0)
            if task.method == "chow-liu"
            else tree_augmented(counter, task.target or 0, task.root)
        )
        parents, moves = [mask_of(above) for above in tree], 0
    total = scorer.total([columns_of(mask) for mask in parents])
    if task.progress is not None:
        task.progress(SearchStep(total, total, moves, time.perf_counter() - begun))
    return Found(parents, total, moves, time.perf_counter() - begun, [total]), undirected


def _strengths(task: _Task, rows: NetworkRows, samples: int) -> dict[Arc, tuple[float, float]]:
    """How often an arc is found in samples of the rows, drawn with replacement."""
    if rows.coded is None:
        raise BadOption("a bootstrap holds its rows, and these are too many", found=samples)
    names = [variable.name for variable in rows.variables]
    directions = np.zeros((len(names), len(names)))
    for sample in range(samples):
        chosen = np.random.default_rng([task.seed, sample, 1]).integers(rows.rows, size=rows.rows)
        drawn = replace(rows, coded=rows.coded.take(np.sort(chosen)))
        found, _ = _structure(replace(task, progress=None, seed=task.seed + sample), drawn)
        arcs = unpacked(found.parents).T
        directed, undirected = pattern_of(arcs, task.rules.allowed) if task.score.equivalent else (arcs, 0 * arcs)
        directions += directed + undirected / 2
    joined = directions + directions.T
    return {
        (names[one], names[other]): (
            float(joined[one, other] / samples),
            float(directions[one, other] / joined[one, other]),
        )
        for one, other in np.argwhere(joined > 0).tolist()
    }
