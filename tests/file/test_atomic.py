"""Writing whole or not at all: whatever goes wrong, the old file stays and nothing else is left behind."""

import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.refusal import refusal

from bayesbox.errors import SourceUnavailable
from bayesbox.file import atomic
from bayesbox.file.atomic import replacing
from bayesbox.file.temporary import remove_stale

OLD, NEW = b"old " * 5000, b"new " * 50_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.bayes"
    path.write_bytes(OLD)
    return path


def assert_untouched(path: Path) -> None:
    assert path.read_bytes() == OLD
    assert os.listdir(path.parent) == [path.name]


def write(path: Any, data: bytes = NEW) -> None:
    with replacing(path) as file:
        file.write(data)


def test_the_new_file_takes_the_place_of_the_old(path: Path) -> None:
    with replacing(path) as file:
        file.write(NEW)
        file.flush()
        assert path.read_bytes() == OLD  # until the end
        assert len(os.listdir(path.parent)) == 2
    assert path.read_bytes() == NEW
    assert os.listdir(path.parent) == [path.name]


def test_a_file_of_a_new_name_and_an_empty_one(tmp_path: Path) -> None:
    write(tmp_path / "new", b"")
    assert (tmp_path / "new").read_bytes() == b""


def test_permissions_are_those_of_the_old_file_or_of_the_umask(path: Path) -> None:
    path.chmod(0o640)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    umask = os.umask(0o027)
    try:
        write(path.parent / "other")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((path.parent / "other").stat().st_mode) == 0o640
    assert (path.parent / "other").read_bytes() == NEW


def test_the_data_are_synced_before_the_name_and_the_folder_after_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rename lasts through a power cut once its folder is synced, and must not come before the data."""
    steps: list[str] = []
    sync, replace = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        status = os.fstat(descriptor)
        folder = os.stat(path.parent)
        if stat.S_ISDIR(status.st_mode):
            assert (status.st_dev, status.st_ino) == (folder.st_dev, folder.st_ino)
        steps.append("folder" if stat.S_ISDIR(status.st_mode) else "data")
        sync(descriptor)

    def renamed(*names: Any) -> None:
        steps.append("rename")
        replace(*names)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", renamed)
    write(path)
    assert steps == ["data", "rename", "folder"]


def test_a_link_stays_a_link(path: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder" / "link"
    link.symlink_to(path)
    write(link)
    assert link.is_symlink()
    assert path.read_bytes() == NEW
    assert os.listdir(tmp_path / "folder") == ["link"]


def test_relative_names_and_long_names(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    write("model.bayes")
    assert path.read_bytes() == NEW
    write("x" * 255)
    assert Path("x" * 255).read_bytes() == NEW


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write(pipe)
    reader.join(10)
    assert got == [NEW]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


# -- what goes wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [RuntimeError("of the caller"), KeyboardInterrupt(), SystemExit(3), OSError("elsewhere")]
)
def test_an_error_of_the_caller_passes_as_it_is(path: Path, error: BaseException) -> None:
    def fail() -> None:
        with replacing(path) as file:
            file.write(NEW)
            raise error

    with pytest.raises(type(error)) as caught:
        fail()
    assert caught.value is error
    assert_untouched(path)


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "open", "chmod"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT])
def test_what_the_system_refuses(path: Path, call: str, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(atomic.os, call, refuse)
    with pytest.raises(SourceUnavailable) as caught:
        write(path)
    monkeypatch.undo()
    assert caught.value.exit_code == 74
    assert str(caught.value).startswith(
        f"{path}: this file cannot be written: {os.strerror(code).lower()}. Nothing was changed"
    )
    assert_untouched(path)


def test_a_disk_that_fills_up_half_way(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = [len(NEW) // 2]
    real = os.write

    def write_some(descriptor: int, data: bytes) -> int:
        if room[0] == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = real(descriptor, bytes(data)[: room[0]])
        room[0] -= written
        return written

    monkeypatch.setattr(atomic.os, "write", write_some)
    with refusal(SourceUnavailable, where="model.bayes"):
        write(path)
    assert room == [0]
    assert_untouched(path)


def test_short_writes_are_continued(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(atomic.os, "write", lambda descriptor, data: real(descriptor, bytes(data)[:777]))
    write(path)
    assert path.read_bytes() == NEW


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_an_interrupt_at_any_step(path: Path, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.os, call, interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(path)
    monkeypatch.undo()
    assert_untouched(path)


def test_nothing_stays_open(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise OSError(errno.ENOSPC, "full")

    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(5):
        write(path)
        with monkeypatch.context() as patch:
            patch.setattr(atomic.os, "write", refuse)
            with pytest.raises(SourceUnavailable):
                write(path)
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_full_devices_folders_and_places_that_are_not_there(path: Path) -> None:
    with refusal(SourceUnavailable, where="/dev/full"):
        write("/dev/full")
    with refusal(SourceUnavailable, where="test_full_devices_folders_and_0"):
        write(path.parent)
    with refusal(SourceUnavailable, where="model.bayes"):
        write(path.parent / "absent" / "model.bayes")
    with refusal(SourceUnavailable, where="model.bayes"):
        write(path / "model.bayes")
    assert_untouched(path)


# -- in a process of its own ---------------------------------------------------------------------------------------


def script(body: str, *arguments: object) -> list[str]:
    head = """
        import os, resource, signal, sys, time
        from bayesbox.errors import SourceUnavailable
        from bayesbox.file import atomic
        NEW = b"new " * 50_000
        def write(path):
            try:
                with atomic.replacing(path) as file:
                    file.write(NEW)
            except SourceUnavailable as error:
                print(error, flush=True)
                sys.exit(error.exit_code)
    """
    code = textwrap.dedent(head) + textwrap.dedent(body)
    return [sys.executable, "-c", code, *(str(argument) for argument in arguments)]


def test_a_limit_on_the_size_of_files(path: Path) -> None:
    body = """
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        write(sys.argv[1])
    """
    done = subprocess.run(script(body, path), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (74, "")
    assert "file too large" in done.stdout
    assert_untouched(path)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user can reach, too."""
    folder = Path(tempfile.mkdtemp())
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_folder_or_a_file_that_is_read_only(open_folder: Path) -> None:
    body = """
        if os.geteuid() == 0:
            os.seteuid(65534)  # root may write anywhere
        write(sys.argv[1])
    """
    folder, path = open_folder, open_folder / "model.bayes"
    path.write_bytes(OLD)
    folder.chmod(0o555)
    done = subprocess.run(script(body, folder / "new"), capture_output=True, text=True, check=False)
    assert (done.returncode, "permission denied" in done.stdout) == (74, True), done
    folder.chmod(0o777)
    path.chmod(0o444)
    done = subprocess.run(script(body, path), capture_output=True, text=True, check=False)
    assert (done.returncode, "this file is read-only" in done.stdout) == (74, True), done
    folder.chmod(0o755)
    assert_untouched(path)


SLOW = """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it may be ignored
    real = os.write
    def slowly(descriptor, data):
        written = real(descriptor, bytes(data)[:1000])
        print("some", flush=True)
        time.sleep(30)
        return written
    atomic.os.write = slowly
    write(sys.argv[1])
"""


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killed_while_writing(path: Path, signal_number: int) -> None:
    with subprocess.Popen(script(SLOW, path), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "some\n"
        assert path.read_bytes() == OLD
        assert len(os.listdir(path.parent)) == 2
        process.send_signal(signal_number)
        assert process.wait(20) != 0
    assert path.read_bytes() == OLD
    left = sorted(set(os.listdir(path.parent)) - {path.name})
    if signal_number == signal.SIGINT:
        assert left == []
    else:  # nobody was left to remove it; it has a name of its own and is in nobody's way
        assert [name.startswith(".bayesbox-") and name.endswith(".tmp") for name in left] == [True]
    write(path)
    assert path.read_bytes() == NEW


# -- permissions, and files that were left behind ----------------------------------------------------------------------


def temporaries(folder: Path) -> list[Path]:
    return sorted(folder.glob(".bayesbox-*.tmp"))


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666, None])
def test_a_file_that_is_being_written_is_its_owners_alone(path: Path, mode: int | None) -> None:
    if mode is None:
        path.unlink()
    else:
        path.chmod(mode)
    umask = os.umask(0o002)
    try:
        with replacing(path) as file:
            [temporary] = temporaries(path.parent)
            assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
            file.write(NEW)
            file.flush()
            assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == (0o664 if mode is None else mode)


def test_the_umask_where_the_system_does_not_show_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(atomic, "open", refuse, raising=False)
    umask = os.umask(0o027)
    try:
        write(path.parent / "other")
        assert os.umask(0o027) == 0o027  # as it was
    finally:
        os.umask(umask)
    assert stat.S_IMODE((path.parent / "other").stat().st_mode) == 0o640


def test_what_a_killed_writer_left_is_removed_by_the_next(path: Path) -> None:
    with subprocess.Popen(script(SLOW, path), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "some\n"
        [left] = temporaries(path.parent)
        write(path)
        assert temporaries(path.parent) == [left]  # it lives
        process.kill()
        process.wait(20)
    assert stat.S_IMODE(left.stat().st_mode) == 0o600
    write(path.parent / "another")
    assert temporaries(path.parent) == []
    assert path.read_bytes() == NEW


def test_only_what_is_ours_is_removed(path: Path) -> None:
    folder = path.parent
    kept = [".bayesbox-notes.tmp", "bayesbox-1-0123456789abcdef.tmp", ".bayesbox-0123456789abcdef.tmp"]
    for name in kept:
        (folder / name).touch()
    old = folder / ".bayesbox-fedcba9876543210.tmp"  # of a version that did not lock its files
    old.touch()
    os.utime(old, (0, 0))
    (folder / ".bayesbox-1-0123456789abcdef.tmp").symlink_to(path)
    (folder / ".bayesbox-2-0123456789abcdef.tmp").mkdir()
    (folder / ".bayesbox-3-0123456789abcdef.tmp").touch()
    write(path)
    left = [".bayesbox-1-0123456789abcdef.tmp", ".bayesbox-2-0123456789abcdef.tmp"]
    assert sorted(os.listdir(folder)) == sorted([*kept, *left, path.name])


def test_many_writers_of_one_folder_do_not_remove_each_others_files(path: Path) -> None:
    def write_many(name: str) -> None:
        for _ in range(25):
            write(path.parent / name, name.encode())

    names = [f"answers-{number}" for number in range(6)]
    threads = [threading.Thread(target=write_many, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(path.parent / name).read_text() for name in names] == names
    assert temporaries(path.parent) == []


def test_a_new_file_that_was_taken_for_one_left_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another may look at it after it was made and before it was locked: then another one is made."""
    real, raced = os.open, []

    def open_and_lose(name: Any, flags: int, *mode: int) -> int:
        descriptor = real(name, flags, *mode)
        if str(name).endswith(".tmp") and flags & os.O_EXCL and not raced:
            raced.append(name)
            remove_stale(str(path.parent))
        return descriptor

    monkeypatch.setattr(os, "open", open_and_lose)
    write(path)
    assert len(raced) == 1
    assert path.read_bytes() == NEW
    assert temporaries(path.parent) == []


# -- errors at the end -------------------------------------------------------------------------------------------------


def test_an_error_of_close(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.close

    def refuse(descriptor: int) -> None:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        real(descriptor)
        if regular:
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    with monkeypatch.context() as patch:
        patch.setattr(os, "close", refuse)
        with refusal(SourceUnavailable, where="model.bayes", remedy="Nothing was changed"):
            write(path)
    assert_untouched(path)


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_an_error_of_the_folder(path: Path, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def refuse(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(code, os.strerror(code))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", refuse)
    with refusal(SourceUnavailable, where="model.bayes", what="power cut") as caught:
        write(path)
    assert "Nothing was changed" not in str(caught.value)
    assert path.read_bytes() == NEW


def test_a_folder_that_cannot_be_synced_at_all(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(os, "fsync", refuse)
    write(path)
    assert path.read_bytes() == NEW


# -- keeping the old file ----------------------------------------------------------------------------------------------


def keep(path: Path, data: bytes) -> None:
    with replacing(path, keep_as=str(path.parent / "model.old.bayes")) as file:
        file.write(data)


@pytest.mark.parametrize("links", [True, False])
def test_the_old_file_is_kept(path: Path, links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    path.chmod(0o640)
    old = path.parent / "model.old.bayes"
    keep(path, NEW)
    assert (path.read_bytes(), old.read_bytes()) == (NEW, OLD)
    keep(path, b"newer")
    assert (path.read_bytes(), old.read_bytes()) == (b"newer", NEW)
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert sorted(os.listdir(path.parent)) == [path.name, old.name]


def test_a_name_that_is_kept_already(path: Path) -> None:
    """As after a cut between the two renames: both names are those of one file."""
    old = path.parent / "model.old.bayes"
    os.link(path, old)
    keep(path, NEW)
    assert (path.read_bytes(), old.read_bytes()) == (NEW, OLD)
    assert sorted(os.listdir(path.parent)) == [path.name, old.name]


def test_an_old_file_that_cannot_be_kept_is_not_replaced(path: Path) -> None:
    (path.parent / "model.old.bayes").mkdir()
    with refusal(SourceUnavailable, where="model.bayes"):
        keep(path, NEW)
    (path.parent / "model.old.bayes").rmdir()
    assert_untouched(path)


# -- Windows -----------------------------------------------------------------------------------------------------------


class SharingViolation(PermissionError):
    """What Windows raises while another has the file open."""

    winerror = 32


@pytest.mark.parametrize("times", [1, 7])
def test_a_sharing_violation_is_tried_again(path: Path, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    real, tries = os.replace, []

    def replace(source: str, target: str) -> None:
        tries.append(source)
        if len(tries) <= times:
            raise SharingViolation(errno.EACCES, "The process cannot access the file")
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(atomic, "PAUSE", 0.0)
    write(path)
    assert len(tries) == times + 1
    assert path.read_bytes() == NEW


def test_a_sharing_violation_without_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(*_: object) -> None:
        raise SharingViolation(errno.EACCES, "The process cannot access the file")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        patch.setattr(atomic, "PATIENCE", 0.05)
        with refusal(SourceUnavailable, where="model.bayes", remedy="Nothing was changed"):
            write(path)
    assert_untouched(path)


def test_other_refusals_of_a_rename_are_not_tried_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[object] = []

    def replace(*names: object) -> None:
        tries.append(names)
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "replace", replace)
    with refusal(SourceUnavailable, where="model.bayes"):
        write(path)
    assert len(tries) == 1
