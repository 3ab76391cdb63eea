"""Model files that are whole as archives and wrong inside: checksums and digest fit what was changed.

    python tests/fuzz/model_files.py 20000 [SEED]

tries that many mutants of the files in tests/files and prints what came of them. Every mutant is refused as
`BadModelFile`, or it is loaded and answers: with probabilities, or with a refusal that is an error of bayesbox.
Anything else is a failure, whose file is kept in the folder that is named at the end.

A mutant has one to three changes of its structure: of a value, a key or an item of `model.json`; of a cell, a row or a
column of a table; of a text wherever it occurs; of a member, exchanged for one of another model; or of single bytes.
The document's digest is then the one of the changed tallies, so that what lies behind that check is reached.
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tests.files import examples

import bayesbox as bb
from bayesbox.errors import BadModelFile, BayesboxError
from bayesbox.file import arrow, container
from bayesbox.network.counts_json import _cells_from_json
from bayesbox.sequence.counts import ChainBook
from bayesbox.tally.codec.book import book_from_arrow, member_names
from bayesbox.tally.counts import Counts
from bayesbox.tally.families import FamilyBook

FOLDER = Path(__file__).parent.parent / "files" / "0.1"
WHOLES = [0, 1, -1, 2, 3, 7, 100, 2**31 - 1, 2**31, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 5e-324, 1e300, 1.7976931348623157e308, 2.5]
TEXTS = ["", "a", "0", "1", "true", "yes", "no", "missing", "\x00", "\u202e", "x" * 2000, "1p0", "-1p3", "1p1000", "é"]

Members = dict[str, bytes]


def mutants(path: str | Path, seed: int) -> Iterator[bytes]:
    """Endless mutants of a model file, or of a network in JSON; the same for the same seed."""
    path = Path(path)
    chance = random.Random(f"{path.name} {seed}")
    data = path.read_bytes()
    if path.suffix == ".json":
        while True:
            yield _changed_network(data, chance)
    others = [each.read_bytes() for each in sorted(path.parent.glob("*.bayes")) if each != path] or [data]
    while True:
        yield changed(data, chance, chance.choice(others))


def changed(data: bytes, chance: random.Random, other: bytes) -> bytes:
    """The file after one to three changes; a member may come from the `other` file."""
    members = {name: bytes(content) for name, content in container.unpack(data).items()}
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        _change(members, chance, other)
    if chance.random() < 0.95:
        reseal(members)
    return container.pack(members)


def _change(members: Members, chance: random.Random, other: bytes) -> None:
    kind = chance.random()
    if kind < 0.35 and container.MODEL in members:
        members[container.MODEL] = _changed_json(members[container.MODEL], chance)
    elif kind < 0.75:
        name = chance.choice(sorted(members))
        if name.endswith(".arrow"):
            members[name] = _changed_table(members[name], chance)
        elif members[name].startswith(b"PK"):
            with contextlib.suppress(BadModelFile):  # an earlier change may have damaged it
                members[name] = changed(members[name], chance, other)
        else:
            members[name] = _changed_json(members[name], chance)
    elif kind < 0.9:
        _rename(members, chance)
    elif kind < 0.96:
        theirs = {name: bytes(content) for name, content in container.unpack(other).items()}
        name = chance.choice(sorted(theirs))
        into = name if name in members or chance.random() < 0.5 else chance.choice(sorted(members))
        members[into] = theirs[name]
        if chance.random() < 0.2:
            del members[chance.choice(sorted(members))]
    else:
        name = chance.choice(sorted(members))
        content = bytearray(members[name])
        for _ in range(chance.choice([1, 2, 8]) if content else 0):
            content[chance.randrange(len(content))] = chance.randrange(256)
        members[name] = bytes(content)


# -- documents -------------------------------------------------------------------------------------------------------


def _changed_json(data: bytes, chance: random.Random) -> bytes:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data
    return json.dumps(_changed_value(value, chance)).encode()


def _changed_value(document: Any, chance: random.Random) -> Any:
    """The document with one change at a random place."""
    places: list[tuple[Any, Any]] = []
    _walk(document, places)
    if not places:
        return document
    holder, key = chance.choice(places)
    here = holder[key]
    change = chance.randrange(8)
    if change == 0:
        del holder[key]
    elif change == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(chance.choice(holder)))
    elif change == 2 and isinstance(holder, list) and len(holder) > 1:
        at = chance.randrange(len(holder))
        holder[key], holder[at] = holder[at], here
    elif change == 3 and isinstance(holder, dict):
        holder[chance.choice([*TEXTS, *holder])] = holder.pop(key)
    elif change == 4:  # what stands elsewhere in the document
        there, name = chance.choice(places)
        holder[key] = copy.deepcopy(there[name])
    elif change == 5 and isinstance(here, list):
        holder[key] = chance.choice([[], here[:1], here[:-1], here * 2, here[::-1]])
    else:
        holder[key] = _another(here, chance)
    return document


def _walk(value: Any, places: list[tuple[Any, Any]]) -> None:
    for key in range(len(value)) if isinstance(value, list) else list(value) if isinstance(value, dict) else ():
        places.append((value, key))
        _walk(value[key], places)


def _another(value: Any, chance: random.Random) -> Any:
    """Another value, mostly one of the same type."""
    if chance.random() < 0.15:
        return chance.choice([None, True, 0, 1.5, "a", [], {}, [[]]])
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice([value + 1, value - 1, value * 2, value // 2, -value, chance.choice(WHOLES)])
    if isinstance(value, float):
        return chance.choice([value * 2, -value, value / 3, value * 1e30, chance.choice(FLOATS)])
    if isinstance(value, str):
        return chance.choice([value + "x", value[:-1], value.upper(), chance.choice(TEXTS)])
    return chance.choice([0, 1.5, "a", [], {}, None])


# -- tables ----------------------------------------------------------------------------------------------------------


def _table(data: bytes) -> pa.Table | None:
    """A table of a member, None where another change has broken it: Arrow is not asked to read what is broken."""
    try:
        arrow._require_plain(data)
        with pa.ipc.open_file(pa.BufferReader(data)) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except (ValueError, OSError, pa.ArrowException):
        return None
    return table


def _changed_table(data: bytes, chance: random.Random) -> bytes:
    table = _table(data)
    if table is None or not table.num_columns:
        return data
    columns: dict[str, list[Any]] = table.to_pydict()
    types = {name: table.schema.field(name).type for name in columns}
    rows = table.num_rows
    name = chance.choice(list(columns))
    change = chance.randrange(10)
    if change < 4 and rows:
        for _ in range(chance.choice([1, 1, 2, rows])):
            values, row = columns[name], chance.randrange(rows)
            values[row] = chance.choice(values) if chance.random() < 0.5 else _another(values[row], chance)
    elif change == 4 and rows:
        row = chance.randrange(rows)
        columns = {each: values[:row] + values[row + 1 :] for each, values in columns.items()}
    elif change == 5 and rows:
        row = chance.randrange(rows)
        columns = {each: values[:row] + values[row:][:1] + values[row:] for each, values in columns.items()}
        columns[name][0] = _another(columns[name][0], chance)
    elif change == 6 and rows > 1:
        one, two = chance.randrange(rows), chance.randrange(rows)
        for values in columns.values():
            values[one], values[two] = values[two], values[one]
    elif change == 7 and rows:
        keep = chance.choice([0, 1, rows // 2, rows - 1])
        columns = {each: values[:keep] for each, values in columns.items()}
    elif change == 8:
        types[name] = chance.choice([pa.string(), pa.int64(), pa.int32(), pa.float64(), pa.binary(), types[name]])
    else:
        columns = dict(chance.sample(list(columns.items()), len(columns)))
    if chance.random() < 0.5:
        _sort(columns)
    return _written(columns, types, data)


def _sort(columns: dict[str, list[Any]]) -> None:
    """Rows in the order of their texts, as a tally writes them."""
    texts = [name for name, values in columns.items() if values and all(type(value) is str for value in values)]
    if texts:
        order = sorted(range(len(columns[texts[0]])), key=lambda row: [columns[name][row] for name in texts])
        for name, values in columns.items():
            columns[name] = [values[row] for row in order]


def _written(columns: dict[str, list[Any]], types: dict[str, pa.DataType], before: bytes) -> bytes:
    try:
        return arrow.write({name: pa.array(values, types[name]) for name, values in columns.items()})
    except (pa.ArrowException, OverflowError, ValueError):
        return before


# -- everywhere ------------------------------------------------------------------------------------------------------


def _rename(members: Members, chance: random.Random) -> None:
    """One text for another in some of the members: a class, a level or a column that no longer is the same in all."""
    tables = {
        name: table for name in members if name.endswith(".arrow") and (table := _table(members[name])) is not None
    }
    texts = sorted({value for table in tables.values() for values in table.to_pydict().values() for value in values
                    if type(value) is str})  # fmt: skip
    if not texts:
        return
    old, new = chance.choice(texts), chance.choice([*TEXTS, *chance.sample(texts, min(4, len(texts)))])
    for name, table in tables.items():
        if chance.random() < 0.7:
            columns = {key: [new if value == old else value for value in values]
                       for key, values in table.to_pydict().items()}  # fmt: skip
            _sort(columns)
            members[name] = _written(columns, {key: table.schema.field(key).type for key in columns}, members[name])
    if chance.random() < 0.5 and container.MODEL in members:
        written = members[container.MODEL].replace(json.dumps(old).encode(), json.dumps(new).encode())
        members[container.MODEL] = written


def reseal(members: Members) -> None:
    """Give the document the digest that its changed tallies have, where they are tallies still."""
    try:
        document = json.loads(members[container.MODEL])
        tables = {name: members[name] for name in members if name in member_names()}
        book: Any = book_from_arrow(tables, document["label_type"], ())
        if document.get("start") is not None:
            start, transition = (Counts.from_json(document[key], "counts") for key in ("start", "transition"))
            book = ChainBook(start, transition, book)
        if "digest" in document:
            document["digest"] = book.digest()
    except Exception:  # a mutant that no digest can be computed of keeps the one it had
        return
    members[container.MODEL] = json.dumps(document).encode()


def _changed_network(data: bytes, chance: random.Random) -> bytes:
    document = json.loads(data)
    for _ in range(chance.choice([1, 1, 2, 3])):
        document = _changed_value(document, chance)
    try:
        nodes = {node["name"]: node for node in document["nodes"]}
        scopes = {name: (*node["parents"], name) for name, node in nodes.items()}
        states = {name: tuple(node["states"]) for name, node in nodes.items()}
        counts = document["learned"]["counts"]
        cells = {name: _cells_from_json(counts[name], len(counts[name]), name) for name in nodes}
        rows = _cells_from_json(document["learned"]["rows"], 1, "rows")
        document["learned"]["digest"] = FamilyBook(scopes, states, cells, rows).digest()
    except Exception:  # as above
        pass
    return json.dumps(document).encode()


# -- what comes of a mutant ------------------------------------------------------------------------------------------


def outcome(path: Path, example: str) -> str:
    """What loading a file and asking it gives: `an answer`, `refused`, or `refused later: ...` by an error of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = _load(path, example)
        except BadModelFile as error:
            if error.exit_code != 4 or not error.where:
                raise AssertionError(f"a refusal without its exit code or place: {error}") from error
            return "refused"
        except BayesboxError as error:
            if path.suffix == ".json":
                return "refused"
            raise AssertionError(f"refused on loading, but not as a bad model file: {error}") from error
        found = "an answer"
        for ask in ASKED:
            try:
                ask(model, example)
            except BayesboxError as error:
                found = f"refused later: {type(error).__name__}"
        return found


def _load(path: Path, example: str) -> Any:
    if path.suffix == ".json":
        return bb.read_network(path)
    if example.startswith("hmm-"):
        return bb.HiddenMarkovModel.load(path)
    return bb.load(path)


def _answers(model: Any, example: str) -> None:
    found = examples.answers(example, model)
    rows = [list(states.values()) for states in found.values()] if isinstance(found, dict) else found
    for row in rows:
        total = np.sum(row)
        if not (abs(total - 1) < 1e-6 and np.min(row) >= 0):
            raise AssertionError(f"these are not probabilities: {row}")


def _predictions(model: Any, example: str) -> None:
    if example != "network":
        model.predict(examples.questions(example))


def _explained(model: Any, example: str) -> None:
    if example == "network" or example.startswith("hmm-") or not hasattr(model, "explain"):
        return
    asked = examples.questions(example)
    model.explain({name: values[:1] for name, values in asked.items()} if isinstance(asked, dict) else asked[:1])


def _shown(model: Any, _example: str) -> None:
    repr(model)
    if hasattr(model, "_repr_html_"):
        model._repr_html_()


def _saved_again(model: Any, example: str) -> None:
    """What was taken from a file can be written, and that is taken again."""
    if example == "network":
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "again.bayes"
        model.save(path)
        _load(path, example)


ASKED: Sequence[Callable[[Any, str], None]] = (_answers, _predictions, _explained, _shown, _saved_again)


def try_many(count: int, *, seed: int, folder: Path, only: Sequence[str] = ()) -> Counter[str]:
    """How often each outcome came up over `count` mutants, the files taken in turn; AssertionError at a failure."""
    files = [
        path for path in sorted(FOLDER.iterdir()) if path.name != "answers.json" and (not only or path.stem in only)
    ]
    running = {path: mutants(path, seed) for path in files}
    found: Counter[str] = Counter()
    for number in range(count):
        path = files[number % len(files)]
        target = folder / f"mutant{path.suffix}"
        target.write_bytes(next(running[path]))
        try:
            found[f"{path.stem}: {outcome(target, path.stem)}"] += 1
        except Exception as error:
            kept = folder / f"{path.stem}-{seed}-{number}{path.suffix}"
            kept.write_bytes(target.read_bytes())
            raise AssertionError(f"{kept} gave {type(error).__name__}: {error}") from error
    return found


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    found = try_many(count, seed=seed, folder=Path(tempfile.mkdtemp(prefix="model_files")))
    for name, times in sorted(found.items()):
        print(f"{times:8,}  {name}")
    print(f"{sum(found.values()):8,}  files tried, each ended in an answer or in a refusal")


if __name__ == "__main__":
    main()
