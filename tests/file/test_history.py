"""The history of a model: one line per change by the command, what it must follow, and what a power cut leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.tables import TENNIS

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.errors import BadModelFile
from bayesbox.file.history import HistoryEntry, history_gaps, history_name, read_history, record_change

ROWS = [dict(zip(TENNIS.X, row, strict=True)) for row in zip(*TENNIS.X.values(), strict=True)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, part in (("one", slice(0, 8)), ("two", slice(8, 14)), ("three", slice(2, 4))):
        lines = [json.dumps({**row, "play": label}) for row, label in zip(ROWS[part], TENNIS.y[part], strict=True)]
        Path(f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def digest(path: str = "m.bayes") -> str:
    found: str = bb.load(path).book_.digest()
    return found


def test_every_change_by_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", "one.jsonl", "-t", "play", "-o", "m.bayes"]) == 0
    assert read_history("m.bayes") is None  # nobody has asked for one
    plain = Path("m.bayes").read_bytes()
    assert run(["train", "one.jsonl", "-t", "play", "-o", "m.bayes", "--history"]) == 0
    assert Path("m.bayes").read_bytes() == plain  # the model itself has no history
    digests = [digest()]
    for verb, data in (("update", "two.jsonl"), ("forget", "three.jsonl")):
        assert run([verb, "m.bayes", str(folder / data)]) == 0
        digests.append(digest())
    assert run(["train", "three.jsonl", "-t", "play", "-o", "other.bayes"]) == 0
    assert run(["merge", "m.bayes", "other.bayes", "-o", "all.bayes", "--history"]) == 0
    entries = read_history("m.bayes")
    assert entries is not None
    assert [(each.verb, each.data, each.rows, each.total) for each in entries] == [
        ("train", ("one.jsonl",), 8, 8),
        ("update", ("two.jsonl",), 6, 14),
        ("forget", ("three.jsonl",), 2, 12),
    ]
    assert [each.digest for each in entries] == digests
    assert [each.before for each in entries] == [None, *digests[:2]]
    assert all(each.time.endswith("Z") and each.time > "2020" for each in entries)
    assert history_gaps(entries, digest()) == []
    merged = read_history("all.bayes")
    assert merged is not None
    assert [(each.verb, each.data, each.total) for each in merged] == [("merge", ("m.bayes", "other.bayes"), 14)]
    capsys.readouterr()
    assert run(["show", "m.bayes", "--history", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [each["digest"] for each in shown["history"]] == digests
    assert shown["gaps"] == []
    assert run(["show", "m.bayes", "--history"]) == 0
    assert "three.jsonl" in capsys.readouterr().out
    assert run(["show", "other.bayes", "--history"]) != 0
    assert "--history" in capsys.readouterr().err
    assert run(["show", "m.bayes", "--history", "--privacy"]) == 2


def test_a_change_by_other_means_is_found(folder: Path) -> None:
    assert run(["train", "one.jsonl", "-t", "play", "-o", "m.bayes", "--history"]) == 0
    model = bb.load(folder / "m.bayes")
    model.forget([ROWS[0]], [TENNIS.y[0]]).save(folder / "m.bayes")
    entries = read_history("m.bayes")
    assert entries is not None
    [gap] = history_gaps(entries, digest())
    assert "since the last entry" in gap
    assert run(["update", "m.bayes", "two.jsonl"]) == 0
    entries = read_history("m.bayes")
    assert entries is not None
    [gap] = history_gaps(entries, digest())
    assert gap.startswith("entry 2:")


def test_a_power_cut_and_damage(folder: Path) -> None:
    entry = HistoryEntry("train", ("one.jsonl",), 8, "aa", 8.0)
    path = folder / "m.bayes"
    assert not record_change(path, entry)
    assert record_change(path, entry, begin=True)
    name = Path(history_name(path))
    whole = name.read_bytes()
    for size in range(len(whole) + 1, 2 * len(whole)):
        name.write_bytes((whole + whole)[:size])
        assert read_history(path) == [entry]  # a line that does not end is passed over,
        assert record_change(path, entry)  # and the next one takes its place
        assert name.read_bytes() == whole + whole
    name.write_bytes(b'{"verb": 1}\n' + whole)
    with pytest.raises(BadModelFile) as error:
        read_history(path)
    assert error.value.found == "line 1"
