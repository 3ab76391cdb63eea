"""`bayes hmm decode`, `score` and `forecast`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesbox.cli.hmm.rows import placed, read_rows
from bayesbox.cli.hmm.tables import model_of_tables
from bayesbox.cli.options.written_work import print_work
from bayesbox.cli.print.output import emit_json, note, plural

if TYPE_CHECKING:
    import pyarrow as pa

    from bayesbox.file.reader import Json
    from bayesbox.sequence.hmm import HiddenMarkovModel
    from bayesbox.sequence.steps import Sequences


def answer(action: str, model: str | None, files: tuple[str, ...], given: Json) -> None:
    from bayesbox.cli.print.writers import format_of, output_file, table_writer
    from bayesbox.sequence.hmm import HiddenMarkovModel

    if model is None:
        hmm = model_of_tables(given["tables"])
    else:
        hmm = HiddenMarkovModel.load(model)
    text, number = hmm.reading()
    rows, found, source = read_rows(files, {**given, "labels": None}, text=text, number=number)
    if given["show_work"]:
        with placed(source):
            _print_work(action, hmm, found, given)
        return
    answers = {"decode": _decoded, "score": _scored, "forecast": _forecast}[action]
    with placed(source):
        table: pa.Table = answers(hmm, rows, found, given)
    format = "jsonl" if given["as_json"] else format_of(given["output"], given["output_format"])
    with output_file(given["output"]) as file, table_writer(file, format, tuple(table.column_names)) as write:
        write(table)
    if action == "decode" and given["svg"]:
        _draw(hmm, rows, found, given)
    if given["output"] not in (None, "-"):
        note(f"{plural(table.num_rows, 'row')} written to {given['output']}")


def _print_work(action: str, hmm: HiddenMarkovModel, found: Sequences, given: Json) -> None:
    """Print the calculation, which ends with the answer; a trellis is also drawn on request."""
    from bayesbox.sequence.work.sequence_work import sequence_work
    from bayesbox.sequence.work.viterbi import Trellis

    work = sequence_work(hmm, found, given["work_method"] or ("viterbi" if action == "decode" else "forward"))
    if given["as_json"]:
        emit_json(work.to_dict())
    else:
        print_work(work, latex=given["latex"], html=given["html"])
    if given["svg"] and isinstance(work, Trellis):
        from bayesbox.file.atomic import replacing

        with replacing(given["svg"]) as file:
            file.write(work.svg().encode())
        note(f"trellis written to {given['svg']}")


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
    note(f"path and P(state) written to {given['svg']}")


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
    """The name of each sequence, if there is a column for it."""
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
            columns[f"{name} std"] = np.concatenate([part.std for part in parts])
    return pa.table({name: pa.array(values) for name, values in columns.items()})
