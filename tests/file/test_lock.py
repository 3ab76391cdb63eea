"""One writer at a time: the lock beside a file, its holder, its end; threads, forks, other users, other systems."""

from __future__ import annotations

import errno
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from tests.refusal import refusal

from bayesbox.errors import LocksUnsupported, ModelLocked, SourceUnavailable
from bayesbox.file import lock as locks
from bayesbox.file.lock import FileLock, Holder, OneByte, WholeFile, lock_name

HOLD = """
    import sys, time
    from bayesbox.file.lock import FileLock
    with FileLock(sys.argv[1], verb="update"):
        print("held", flush=True)
        time.sleep(60)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "people.bayes"
    path.write_bytes(b"model")
    return path


@pytest.fixture
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    arguments = [sys.executable, "-c", textwrap.dedent(HOLD), str(path)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_nothing_is_left_behind(path: Path) -> None:
    with FileLock(path) as lock:
        assert lock.held
        assert sorted(os.listdir(path.parent)) == [".people.bayes.lock", "people.bayes"]
    assert not lock.held
    assert os.listdir(path.parent) == ["people.bayes"]
    with lock:  # and it can be taken again
        assert lock.held


def test_who_waits_in_vain_is_given_the_holder(path: Path, holder: subprocess.Popen[str]) -> None:
    fields = {"pid": holder.pid, "host": os.uname().nodename, "verb": "update", "path": str(path), "waited": 0.05}
    with refusal(ModelLocked, where="people.bayes", exit_code=74, **fields), FileLock(path, wait=0.05):
        pass
    with refusal(ModelLocked, pid=holder.pid), FileLock(path, wait=0):
        pass


def test_a_lock_dies_with_its_process(path: Path, holder: subprocess.Popen[str]) -> None:
    taken: list[bool] = []

    def wait_for_it() -> None:
        with FileLock(path, wait=30) as lock:
            taken.append(lock.held)

    waiting = threading.Thread(target=wait_for_it)
    waiting.start()
    holder.send_signal(signal.SIGKILL)
    waiting.join(30)
    assert taken == [True]
    assert os.listdir(path.parent) == ["people.bayes"]


def test_two_threads_exclude_each_other(path: Path) -> None:
    inside: list[int] = []
    worst: list[int] = []

    def change() -> None:
        for _ in range(20):
            with FileLock(path, wait=60):
                inside.append(1)
                worst.append(len(inside))
                time.sleep(0.001)
                inside.pop()

    threads = [threading.Thread(target=change) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert worst == [1] * 80
    assert os.listdir(path.parent) == ["people.bayes"]


ADD = """
    import sys
    from bayesbox.file.lock import FileLock
    path = sys.argv[1]
    for _ in range(100):
        with FileLock(path, wait=120):
            with open(path) as file:
                number = int(file.read())
            with open(path, "w") as file:
                file.write(str(number + 1))
"""


def test_processes_that_read_and_write_lose_nothing(path: Path) -> None:
    """Each removes the lock file as it goes, while others wait for it: no two may be let in."""
    path.write_text("0")
    arguments = [sys.executable, "-c", textwrap.dedent(ADD), str(path)]
    processes = [subprocess.Popen(arguments) for _ in range(4)]
    assert [process.wait(120) for process in processes] == [0] * 4
    assert path.read_text() == "400"
    assert os.listdir(path.parent) == ["people.bayes"]


def _child(lock: FileLock, report: Connection) -> None:
    try:
        with FileLock(lock.path, wait=0):
            report.send((lock.held, "taken"))
    except ModelLocked as error:
        report.send((lock.held, error.pid))


def test_a_forked_child_does_not_have_the_lock_of_its_parent(path: Path) -> None:
    here, there = multiprocessing.Pipe()
    with FileLock(path) as lock:
        child = multiprocessing.get_context("fork").Process(target=_child, args=(lock, there))
        child.start()
        child.join(30)
        assert here.recv() == (False, os.getpid())
        assert lock.held
        assert lock_name(str(path)) in map(str, path.parent.iterdir())  # the child has not removed it at its end
    with FileLock(path, wait=0) as again:
        assert again.held


def test_a_child_that_lives_on_does_not_keep_the_lock(path: Path) -> None:
    with FileLock(path):
        sleeper = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
        sleeper.start()
    try:
        with FileLock(path, wait=0) as again:
            assert again.held
    finally:
        sleeper.kill()
        sleeper.join()


def test_links_lead_to_one_lock(path: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.bayes"
    link.symlink_to(path)
    with FileLock(path), refusal(ModelLocked, pid=os.getpid()), FileLock(link, wait=0):
        pass


def test_long_names_pipes_and_folders_that_are_not_there(tmp_path: Path) -> None:
    with FileLock(tmp_path / ("x" * 255)) as lock:
        assert lock.held
    os.mkfifo(tmp_path / "pipe")
    for special in (tmp_path / "pipe", "/dev/null"):
        with FileLock(special) as lock:
            assert not lock.held
    with refusal(SourceUnavailable, where="absent"), FileLock(tmp_path / "absent" / "model.bayes"):
        pass


def test_a_lock_file_that_another_user_left(path: Path) -> None:
    """Killed while it held the lock: the file is there, of another owner, and nobody has it locked."""
    left = Path(lock_name(str(path)))
    left.write_text('{"pid": 1, "host": "north", "verb": "update"}')
    left.chmod(0o444)
    with FileLock(path, wait=0) as lock:
        assert lock.held
    assert os.listdir(path.parent) == ["people.bayes"]


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks(path: Path, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bool:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(WholeFile, "take", refuse)
    with pytest.warns(LocksUnsupported) as caught, FileLock(path) as lock:
        assert not lock.held
    [warned] = [each.message for each in caught if isinstance(each.message, LocksUnsupported)]
    assert (warned.path, warned.reason) == (str(path), os.strerror(code).lower())
    assert os.listdir(path.parent) == ["people.bayes"]


@pytest.mark.parametrize("text", [b"", b"{", b"[1]", b'{"pid": "7", "host": 3}', b"[" * 4000, b"\xff"])
def test_what_a_lock_file_says_is_not_believed(text: bytes) -> None:
    assert Holder.from_bytes(text) == Holder()


def test_errors_travel_between_processes() -> None:
    error = ModelLocked("m.bayes", waited=1, pid=7, host="north", verb="update")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.pid, again.host, again.verb) == (str(error), 7, "north", "update")


# -- Windows ---------------------------------------------------------------------------------------------------------


class FakeMsvcrt:
    """The locks of `msvcrt`: of bytes from the place of a descriptor on, by the open file, refused with EACCES."""

    LK_UNLCK, LK_LOCK, LK_NBLCK = 0, 1, 2

    def __init__(self) -> None:
        self.locked: dict[tuple[int, int], int] = {}

    def locking(self, fd: int, mode: int, nbytes: int, /) -> None:
        assert nbytes == 1
        place = (os.fstat(fd).st_ino, os.lseek(fd, 0, os.SEEK_CUR))
        if mode == self.LK_UNLCK:
            assert self.locked.pop(place) == fd
        elif place in self.locked:
            raise PermissionError(errno.EACCES, "Permission denied")
        else:
            self.locked[place] = fd


def test_locks_of_windows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = FakeMsvcrt()
    monkeypatch.setattr(locks, "system_locking", lambda: OneByte(system))
    with FileLock(path, verb="forget") as lock:
        assert lock.held
        [(_, place)] = system.locked
        assert place > 1 << 20  # behind what the holder says of itself, which others may read
        with refusal(ModelLocked, pid=os.getpid(), verb="forget"), FileLock(path, wait=0.02):
            pass
    assert system.locked == {}
    assert os.listdir(path.parent) == ["people.bayes"]


def test_a_lock_file_of_windows_stays_where_another_has_it_open(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be removed then, and need not be: what counts is the lock."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(locks, "system_locking", lambda: OneByte(FakeMsvcrt()))
    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        with FileLock(path):
            pass
    assert sorted(os.listdir(path.parent)) == [".people.bayes.lock", "people.bayes"]
    with FileLock(path, wait=0) as lock:
        assert lock.held
