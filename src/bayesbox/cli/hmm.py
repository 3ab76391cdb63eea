"""`bayes hmm`: learn hidden Markov models of sequences, and decode, score and continue sequences."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import captured_warnings, decimal, emit_json, note, plural
from bayesbox.errors import BadData, BayesboxError, CannotForget

if TYPE_CHECKING:
    import pyarrow as pa

    from bayesbox.file.reader import Json
    from bayesbox.schema.kinds import Kind
    from bayesbox.sequence.hmm import HiddenMarkovModel
    from bayesbox.sequence.steps import Sequences


LEARNING = ("train", "update", "forget", "merge")
ANSWERS = ("decode", "score", "forecast")

TRAINING = ("states", "choose", "smoothing", "types", "ignore", "rounds", "restarts", "seed")
SEARCH = ("choose", "rounds", "restarts", "seed")
ROWS = ("sequence", "order", "na", "bad_rows", "input_format")
STRANGE = {
    "train": ("steps", "proba", "svg", "output_format"),
    "update": (*TRAINING, "steps", "proba", "svg", "output_format"),
    "forget": (*TRAINING, "steps", "proba", "svg", "output_format"),
    "merge": (*TRAINING, *ROWS, "labels", "steps", "proba", "svg", "output_format"),
    "decode": (*TRAINING, "labels", "steps"),
    "score": (*TRAINING, "labels", "steps", "proba", "svg"),
    "forecast": (*TRAINING, "labels", "proba", "svg"),
}
"""The options that each action does not take, by the names of their parameters."""


def _states(text: str) -> int | str:
    """A number of states, or what to choose it from."""
    from bayesbox.sequence.states import candidates

    if text.isdecimal() and int(text) > 0:
        return int(text)
    candidates(text)
    return text


@click.command(
    "hmm",
    cls=options.Verb,
    short_help="Learn, decode, score or continue sequences by a hidden Markov model.",
    examples=(
        "bayes hmm train days.csv --states 2 --sequence town --order day -o days.bayes",
        "bayes hmm train days.csv --states 1..6 --choose cv --sequence town --order day -o days.bayes",
        "bayes hmm train days.csv --labels weather --order day -o days.bayes",
        "bayes hmm update days.bayes more.csv --labels weather --order day",
        "bayes hmm merge north.bayes south.bayes -o both.bayes",
        "bayes hmm decode days.bayes new.csv --sequence town --order day --proba",
        "bayes hmm score days.bayes new.csv --sequence town --order day",
        "bayes hmm forecast days.bayes new.csv --order day --steps 3",
    ),
    notes="A row is a step. Keys of --json: train has model, states, sequences, steps, rounds, converged, "
    "log_likelihood, parameters, bic, columns, chosen_by and scores (where the number of states was chosen), warnings, "
    "digest; update, forget and merge have model, states, steps, digest_before, warnings, digest; decode, score and "
    "forecast write JSON lines: decode has step, state and with --proba P(state) for each; score has steps, "
    "log_likelihood; forecast has step, P(state) for each, and what is to be seen in each column. The columns of "
    "--sequence and --order come first.",
)
@click.argument("action", type=click.Choice([*LEARNING, *ANSWERS]))
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--states",
    type=options.Read("states", _states),
    metavar="NUMBER|auto|2..6",
    help="train: how many states, or which numbers to choose from; by default those that --labels name, else 2.",
)
@click.option(
    "--choose",
    type=click.Choice(["bic", "cv"]),
    default="bic",
    show_default=True,
    help="train: the number of states by BIC, or by the likelihood of held-out sequences.",
)
@click.option("--labels", metavar="COLUMN", help="train: the column of the states, as far as they are known.")
@click.option("--sequence", metavar="COLUMN", help="The column that says which sequence a step belongs to.")
@click.option("--order", metavar="COLUMN", help="The column that puts the steps in order; by default as they stand.")
@click.option(
    "--smoothing", default="laplace", show_default=True, metavar="RULE", help="train: the rule of each table."
)
@options.types_option
@click.option("--ignore", type=options.WORDS, multiple=True, metavar="COLUMN,...", help="train: columns to leave out.")
@click.option("--rounds", type=click.IntRange(min=1), default=100, show_default=True, help="train: at most so many.")
@click.option(
    "--restarts", type=click.IntRange(min=1), default=3, show_default=True, help="train: the best of so many."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="train: where chance begins.")
@click.option("--steps", type=click.IntRange(min=1), default=1, show_default=True, help="forecast: how many steps.")
@click.option("--proba", is_flag=True, help="decode: the probability of every state at each step.")
@click.option("--svg", metavar="FILE", help="decode: also draw the path and P(state) of one sequence.")
@click.option("-o", "--output", metavar="FILE", help="The file to write: the model, or the answers.")
@click.option("-F", "--output-format", type=click.Choice(["csv", "tsv", "jsonl", "parquet"]), help="Of the answers.")
@options.na_option
@options.bad_rows_option
@options.input_format_option("-f", "--format")
@options.json_option
@click.pass_context
def command(context: click.Context, /, action: str, files: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Learn a hidden Markov model from rows, or use one.

    train takes DATA, and learns by counting where --labels are known, by Baum-Welch where they are not. update and
    forget take MODEL and DATA with --labels: more sequences, or some of those that were counted, exactly; merge takes
    models that were counted. decode, score and forecast take MODEL and DATA: the most probable path of states, the
    log-likelihood of each sequence, what follows it. Missing values say nothing.
    """
    options.refuse_typed(context, STRANGE[action], f"is not for {action}")
    if action in LEARNING and given["output"]:
        options.model_file(given["output"])
    if action != "train" and len(files) < 2:
        raise click.UsageError("merge takes two models" if action == "merge" else f"{action} takes a model and data")
    with captured_warnings() as warned:
        if action == "train":
            if given["states"] is None or isinstance(given["states"], int):
                options.refuse_typed(context, ("choose",), "goes with --states auto or 2..6")
            report = _train(files, given, context)
        elif action in LEARNING:
            report = _changed(action, files, given)
        else:
            _answer(action, files[0], files[1:], {**given, "as_json": as_json})
            report = {}
    if report:
        digest = report.pop("digest")
        print_report = _print_report if action == "train" else _print_change
        print_report(report | {"warnings": warned, "digest": digest}, as_json=as_json)
        return
    for text in warned:
        note(f"note: {text}")


def _read(
    files: Sequence[str],
    given: Json,
    *,
    text: set[str],
    number: set[str],
    unread: frozenset[str] = frozenset(),
) -> tuple[pa.Table, Sequences, Any]:
    """(all rows, the steps in order, their known states)."""
    import pyarrow as pa

    from bayesbox.cli.options.sources import skipped_rows
    from bayesbox.sequence.steps import arrow_column, sequences_of
    from bayesbox.source.files.open import open_source

    # by whatever it holds, or 10 would come before 9 where the model leaves the column out
    text = (text - {given["order"]}) | {name for name in (given["sequence"], given.get("labels")) if name}
    source = open_source(
        list(files),
        text=frozenset(text),
        number=frozenset(number),
        unread=unread,
        na=options.several(given["na"]),
        bad_rows=given["bad_rows"],
        format=given["input_format"],
    )
    tables = [
        pa.table({name: arrow_column(column) for name, column in zip(batch.names, batch.columns, strict=True)})
        for batch in source.batches()
    ]
    skipped_rows(source)
    if not tables:
        raise BadData("there is no row", where=source.name)
    rows = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
    with _placed(source):
        return rows, sequences_of(rows, sequence=given["sequence"], order=given["order"]), source


@contextlib.contextmanager
def _placed(source: Any) -> Iterator[None]:
    """What is wrong with rows that were put together is told with the name of their files."""
    try:
        yield
    except BayesboxError as error:
        error.where = f"{source.name}, {error.where}" if error.where else source.name
        raise


def _train(files: tuple[str, ...], given: Json, context: click.Context) -> Json:
    from bayesbox.cli.options.sources import declared_kinds, default_model_name
    from bayesbox.cli.print.search_progress import SearchProgress
    from bayesbox.sequence.hmm import COUNTED, HiddenMarkovModel

    kinds: dict[str, Kind] = declared_kinds(given["types"], options.several(given["ignore"]))
    text = {name for name, kind in kinds.items() if kind.has_levels}
    number = {name for name, kind in kinds.items() if kind.is_number}
    for name in (given["sequence"], given["order"], given["labels"]):
        kinds.pop(name, None)  # no part of a step, whatever it is
    unread = frozenset(name for name, kind in kinds.items() if not kind.is_used)
    rows, found, source = _read(files, given, text=text, number=number, unread=unread)
    model = HiddenMarkovModel(
        given["states"],
        smoothing=given["smoothing"],
        start_smoothing=given["smoothing"],
        transition_smoothing=given["smoothing"],
        columns=kinds,
        choose=given["choose"],
        iterations=given["rounds"],
        restarts=given["restarts"],
        seed=given["seed"],
    )
    how = {"sequence": given["sequence"], "order": given["order"]}
    progress = SearchProgress()
    try:
        with _placed(source):
            model.fit(rows, given["labels"], **how, progress=progress.round)
    finally:
        progress.close()
    if model.origin_ == COUNTED:
        options.refuse_typed(context, SEARCH, "is about states to be found, and here every label is known")
    path = given["output"] or default_model_name(files)
    model.save(path)
    scores = model.score(rows, **how)
    total = float(sum(scores)) if isinstance(scores, list) else float(scores)
    choice = model.choice_
    chosen: Json = {} if choice is None else {"chosen_by": choice.by, "scores": dict(choice.scores)}
    return {
        "model": path,
        "states": model.states_.tolist(),
        "sequences": len(found.offsets) - 1,
        "steps": found.size,
        "rounds": len(model.history_),
        "converged": model.converged_,
        "log_likelihood": total,
        "parameters": model.n_parameters,
        "bic": model.bic(rows, **how),
        "columns": list(model.model_.columns),
        **chosen,
        "digest": model.book_.digest(),
    }


def _changed(action: str, files: tuple[str, ...], given: Json) -> Json:
    """Learn more, forget, or merge: by counts."""
    from bayesbox.sequence.hmm import HiddenMarkovModel

    model = HiddenMarkovModel.load(files[0])
    before = model.book_.digest()
    output = given["output"]
    if action == "merge":
        if output is None:
            raise click.UsageError("merge writes another file: -o FILE")
        for other in files[1:]:
            model = model + HiddenMarkovModel.load(other)
    else:
        if given["labels"] is None:
            raise click.UsageError(f"{action} counts states that are known: --labels COLUMN")
        text, number = model.reading()
        rows, _, source = _read(files[1:], given, text=text, number=number)
        change = model.partial_fit if action == "update" else model.forget
        with _placed(source):
            change(rows, given["labels"], sequence=given["sequence"], order=given["order"])
    if not model.book_.states:
        remedy = "Nothing was changed; remove the file instead"
        raise CannotForget("these are all the steps it has learned", where=files[0], remedy=remedy)
    path = output or files[0]
    model.save(path)
    return {
        "model": path,
        "states": list(model.book_.states),
        "steps": int(model.book_.emission.n.sum()),
        "digest_before": before,
        "digest": model.book_.digest(),
    }


def _print_change(report: Json, *, as_json: bool) -> None:
    if as_json:
        emit_json(report)
        return
    states = ", ".join(report["states"])
    note(f"{report['model']}: {plural(report['steps'], 'step')}, states {states}")
    for text in dict.fromkeys(report["warnings"]):
        note(f"note: {text}")
    note(f"digest before {report['digest_before']}")
    note(f"digest now    {report['digest']}")


def _print_report(report: Json, *, as_json: bool) -> None:
    if as_json:
        emit_json(report)
        return
    states = ", ".join(str(state) for state in report["states"])
    note(f"{report['model']}: {plural(len(report['states']), 'state')} ({states})")
    learned = f"by {plural(report['rounds'], 'round')} of Baum-Welch" if report["rounds"] else "by counting"
    note(f"  {plural(report['steps'], 'step')} in {plural(report['sequences'], 'sequence')}, {learned}")
    figures = f"log-likelihood {decimal(report['log_likelihood'])}, BIC {decimal(report['bic'])}"
    note(f"  {figures}, {plural(report['parameters'], 'parameter')}")
    if "scores" in report:
        scores = ", ".join(f"{states}: {decimal(score)}" for states, score in report["scores"].items())
        what = "BIC" if report["chosen_by"] == "bic" else "held-out log-likelihood of a step"
        note(f"  {what} by the number of states: {scores}")
    if not report["converged"]:
        note("note: it had not settled after the last round; --rounds gives it more")
    for text in dict.fromkeys(report["warnings"]):
        note(f"note: {text}")


def _answer(action: str, model: str, files: tuple[str, ...], given: Json) -> None:
    from bayesbox.cli.print.writers import format_of, output_file, table_writer
    from bayesbox.sequence.hmm import HiddenMarkovModel

    hmm = HiddenMarkovModel.load(model)
    text, number = hmm.reading()
    rows, found, source = _read(files, {**given, "labels": None}, text=text, number=number)
    answers = {"decode": _decoded, "score": _scored, "forecast": _forecast}[action]
    with _placed(source):
        answer: pa.Table = answers(hmm, rows, found, given)
    format = "jsonl" if given["as_json"] else format_of(given["output"], given["output_format"])
    with output_file(given["output"]) as file, table_writer(file, format, tuple(answer.column_names)) as write:
        write(answer)
    if action == "decode" and given["svg"]:
        _draw(hmm, rows, found, given)
    if given["output"] not in (None, "-"):
        note(f"{plural(answer.num_rows, 'row')} written to {given['output']}")


def _draw(hmm: HiddenMarkovModel, rows: pa.Table, found: Sequences, given: Json) -> None:
    from bayesbox.file.atomic import replacing
    from bayesbox.sequence.picture import picture

    names = None
    if given["order"] is not None:
        assert found.place is not None
        names = rows[given["order"]].take(found.place).to_pylist()
    drawn = picture(hmm, found, names=names)
    with replacing(given["svg"]) as file:
        file.write(drawn.encode())
    note(f"path and P(state) drawn in {given['svg']}")


def _decoded(hmm: HiddenMarkovModel, rows: pa.Table, found: Sequences, given: Json) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    how = {"sequence": given["sequence"], "order": given["order"]}
    columns = {name: rows[name] for name in how.values() if name is not None}
    if given["order"] is None:
        step = np.arange(found.size) - np.repeat(found.offsets[:-1], np.diff(found.offsets)) + 1
        place = np.arange(found.size) if found.place is None else found.place
        number = np.empty(found.size, dtype=np.int64)
        number[place] = step
        columns["step"] = pa.array(number)
    columns["state"] = pa.array([str(state) for state in hmm.predict(rows, **how).tolist()])
    if given["proba"]:
        shares = hmm.predict_proba(rows, **how)
        for index, label in enumerate(hmm.states_.tolist()):
            columns[f"P({label})"] = pa.array(np.ascontiguousarray(shares[:, index]))
    return pa.table(columns)


def _names(rows: pa.Table, found: Sequences, given: Json) -> dict[str, list[Any]]:
    """The name of each sequence, where there is a column of them."""
    if given["sequence"] is None:
        return {}
    assert found.place is not None
    column = rows[given["sequence"]].to_pylist()
    return {given["sequence"]: [column[found.place[start]] for start in found.offsets[:-1]]}


def _scored(hmm: HiddenMarkovModel, rows: pa.Table, found: Sequences, given: Json) -> pa.Table:
    import pyarrow as pa

    scores = hmm.score(rows, sequence=given["sequence"], order=given["order"])
    columns: dict[str, Any] = dict(_names(rows, found, given))
    columns["steps"] = (found.offsets[1:] - found.offsets[:-1]).tolist()
    columns["log_likelihood"] = scores if isinstance(scores, list) else [scores]
    return pa.table(columns)


def _forecast(hmm: HiddenMarkovModel, rows: pa.Table, found: Sequences, given: Json) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    from bayesbox.sequence.forecast import LevelForecast

    forecasts = hmm.forecast(rows, given["steps"], sequence=given["sequence"], order=given["order"])
    forecasts = forecasts if isinstance(forecasts, list) else [forecasts]
    columns: dict[str, Any] = {
        name: [value for value in values for _ in range(given["steps"])]
        for name, values in _names(rows, found, given).items()
    }
    columns["step"] = [*range(1, given["steps"] + 1)] * len(forecasts)
    states = np.vstack([each.states for each in forecasts])
    columns |= {f"P({label})": states[:, index].tolist() for index, label in enumerate(hmm.states_.tolist())}
    for name in forecasts[0].columns:
        parts = [each.columns[name] for each in forecasts]
        if isinstance(parts[0], LevelForecast):
            shares = np.vstack([part.probabilities for part in parts])
            columns |= {f"P({name}={level})": shares[:, index] for index, level in enumerate(parts[0].levels)}
        else:
            columns[f"{name} mean"] = np.concatenate([part.mean for part in parts])
            columns[f"{name} deviation"] = np.concatenate([part.deviation for part in parts])
    return pa.table({name: pa.array(values) for name, values in columns.items()})
