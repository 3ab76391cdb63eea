"""`bayes evaluate --robustness`: what noise, irrelevant, repeated and missing values do to each kind of model."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from bayesbox.cli.print.output import emit_json, say, table

if TYPE_CHECKING:
    from bayesbox.classifier.evaluation import Evaluation
    from bayesbox.file.reader import Json
    from bayesbox.source.base import Batch

NOISE, GAPS, IRRELEVANT = 0.2, 0.2, 10


class Shaken(NamedTuple):
    """How one kind of model did on rows that were changed."""

    change: str
    model: str
    accuracy: float
    log_loss: float


def arrow_table(batch: Batch) -> Any:
    """The rows of a batch as an Arrow table."""
    import numpy as np
    import pyarrow as pa

    columns = [pa.array(column) if isinstance(column, np.ndarray) else column for column in batch.columns]
    return pa.table(columns, names=list(batch.names))


def joined(tables: list[Any]) -> Batch:
    """The rows of several tables as one batch."""
    import pyarrow as pa

    from bayesbox.source.base import Batch

    return Batch.from_arrow(pa.concat_tables(tables, promote_options="permissive").unify_dictionaries())


def changed(batch: Batch, target: str, seed: int) -> Iterator[tuple[str, Batch]]:
    """The rows as they are, and in each way that is tried."""
    import numpy as np
    import pyarrow as pa

    from bayesbox.source.base import Batch

    draws = np.random.default_rng(seed)
    rows = batch.rows

    table = arrow_table(batch)
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    others = [name for name in columns if name != target]

    def made(new: Json) -> Batch:
        return Batch(tuple(new), tuple(new.values()), rows)

    yield "as they are", made(columns)
    places = np.where(draws.random(rows) < NOISE, draws.permutation(rows), np.arange(rows))
    yield f"{NOISE:.0%} of the labels shuffled", made({**columns, target: columns[target].take(pa.array(places))})
    noise = {f"irrelevant {number}": pa.array(draws.normal(size=rows)) for number in range(IRRELEVANT)}
    yield f"{IRRELEVANT} irrelevant columns", made({**columns, **noise})
    yield "every column twice", made({**columns, **{f"{name} again": columns[name] for name in others}})
    gaps = {}
    for name in others:
        places = pa.array(np.arange(rows), mask=draws.random(rows) < GAPS)
        gaps[name] = columns[name].take(places)
    yield f"{GAPS:.0%} of the values missing", made({**columns, **gaps})


def shake(batch: Batch, target: str, judge: Callable[[str, Batch], Evaluation], *, seed: int) -> list[Shaken]:
    """Judge each kind of model on each change of the rows."""
    from bayesbox.classifier.registry import KINDS

    found = []
    models = [kind.name for kind in KINDS.values() if kind.shaken]
    for change, rows in changed(batch, target, seed):
        for model in models:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                metrics = judge(model, rows).metrics
            found.append(Shaken(change, model, metrics.accuracy.value, metrics.log_loss.value))
    return found


def print_report(found: list[Shaken], *, how: str, as_json: bool) -> None:
    """A row for each change, with accuracy and log loss of each model."""
    if as_json:
        emit_json({"how": how, "changes": [each._asdict() for each in found]})
        return
    say(how)
    say()
    rows = []
    for change in dict.fromkeys(each.change for each in found):
        own = [each for each in found if each.change == change]
        rows.append([change, *(f"{each.accuracy:.4f} / {_number(each.log_loss)}" for each in own)])
    models = list(dict.fromkeys(each.model for each in found))
    table(["rows (accuracy / log loss)", *models], rows, right=list(range(1, len(models) + 1)))


def _number(value: float) -> str:
    return "inf" if math.isinf(value) else f"{value:.4f}"
