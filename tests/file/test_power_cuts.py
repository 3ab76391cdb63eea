"""A power cut at every step of a save: the old file or the new one, never neither; what was acknowledged stays.

The checker itself is tried on mutants of the writer: without a sync of the file, without one of the folder, with the
rename before the sync. Each must be caught.
"""

from __future__ import annotations

import random
import types
from pathlib import Path

import pytest
from tests.file.power import Disk, Lost, SyncFile, SyncFolder, after_cut, try_cuts
from tests.fuzz import power_cuts

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.file import atomic

ROWS = "age,colour,class\n" + "".join(f"{n},{'red' if n % 3 else 'blue'},{'pq'[n % 2]}\n" for n in range(20))
ONE = "age,colour,class\n33,green,p\n"


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """A folder with two tables and a model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(ROWS)
    (tmp_path / "b.csv").write_text(ONE)
    assert run(["train", "a.csv", "-t", "class", "-o", "m.bayes"]) == 0
    return Disk(tmp_path)


def do(disk: Disk, *commands: str) -> Disk:
    """Run commands while the disk looks on."""
    for command in commands:
        with disk.watching():
            assert run(command.split()) == 0
        disk.acknowledge("m.bayes")
    return disk


def test_what_is_recorded_is_what_is_there(disk: Disk) -> None:
    do(disk, "update m.bayes b.csv --keep-old", "forget m.bayes b.csv")
    assert {SyncFolder} < {type(step) for step in disk.steps}
    assert sum(isinstance(step, SyncFile) for step in disk.steps) == 2
    disk.steps.append(SyncFolder())
    content = after_cut(disk, len(disk.steps), random.Random(0))
    assert content == {path.name: path.read_bytes() for path in disk.folder.iterdir()}


COMMANDS = {
    "update": ["update m.bayes b.csv", "update m.bayes b.csv"],
    "forget": ["update m.bayes b.csv", "forget m.bayes b.csv"],
    "merge": ["merge m.bayes m.bayes -o m.bayes"],
    "train": ["train a.csv b.csv -t class -o m.bayes"],
}


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_cut_at_every_step_of_a_command(disk: Disk, verb: str) -> None:
    assert try_cuts(do(disk, *COMMANDS[verb]), "m.bayes", times=10) >= 90


def test_a_cut_at_every_step_with_the_old_version_kept(disk: Disk) -> None:
    do(disk, "update m.bayes b.csv --keep-old", "update m.bayes b.csv --keep-old")
    assert try_cuts(disk, "m.bayes", times=20, kept="m.old.bayes") > 300


def test_a_certificate_is_there_only_with_the_model_it_is_about(disk: Disk) -> None:
    with disk.watching():
        assert run(["update", "m.bayes", "b.csv"]) == 0
    disk.acknowledge("m.bayes")
    with disk.watching():
        assert run(["forget", "m.bayes", "b.csv", "--certificate", "c.json"]) == 0
    disk.acknowledge("m.bayes")
    after, chance = (disk.folder / "m.bayes").read_bytes(), random.Random(1)
    seen = 0
    for count in range(len(disk.steps) + 1):
        for _ in range(10):
            content = after_cut(disk, count, chance)
            if "c.json" in content:
                assert (content["m.bayes"], content["c.json"]) == (after, (disk.folder / "c.json").read_bytes())
                seen += 1
    assert seen


def test_saving_in_python(disk: Disk) -> None:
    loaded = bb.load("m.bayes")
    for _ in range(2):
        loaded.partial_fit({"age": [3], "colour": ["red"]}, ["p"])
        with disk.watching():
            loaded.save("m.bayes")
        disk.acknowledge("m.bayes")
    assert try_cuts(disk, "m.bayes", times=20) > 200


def test_a_new_file(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    with disk.watching():
        bb.NaiveBayes().fit([[1], [2]], ["a", "b"]).save(tmp_path / "m.bayes")
    disk.acknowledge("m.bayes")
    assert try_cuts(disk, "m.bayes", times=30) > 200


# -- the checker catches what it is there for ------------------------------------------------------------------------

SYNC, RENAME = "os.fsync(temporary.descriptor)", "_replace(temporary.path, target)"
FOLDER, KEPT = "    _sync_folder(folder, name)\n\n", "    _sync_folder(folder, kept)\n\n"
MUTANTS = {
    "without a sync of the file": [(SYNC, "pass")],
    "without a sync of the folder": [(FOLDER, "\n")],
    "with the rename before the sync": [(SYNC, "pass"), (RENAME, f"{RENAME}; os.fsync(temporary.guard)")],
    "without a sync after the old file was kept": [(KEPT, "\n")],
    "with the old file moved away": [("os.link(target, spare)", "os.replace(target, spare)")],
}


@pytest.fixture(params=MUTANTS)
def mutant(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The writer with something left out, in place of the real one."""
    text = Path(atomic.__file__).read_text()
    for before, after in MUTANTS[request.param]:
        assert text.count(before) == 1
        text = text.replace(before, after)
    module = types.ModuleType("mutant")
    exec(compile(text, "mutant.py", "exec"), module.__dict__)
    monkeypatch.setattr("bayesbox.file.save.replacing", module.replacing)
    return str(request.param)


@pytest.mark.usefixtures("mutant")
def test_mutants_are_caught(disk: Disk) -> None:
    do(disk, "update m.bayes b.csv --keep-old", "update m.bayes b.csv --keep-old")
    with pytest.raises(Lost):
        try_cuts(disk, "m.bayes", times=20, kept="m.old.bayes")


def test_changes_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `make fuzz` does it, 2,000 times."""
    monkeypatch.chdir(tmp_path)
    assert power_cuts.try_many(100, seed=1, folder=tmp_path) >= 100
