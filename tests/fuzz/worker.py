"""A process that tries one mutant after another, and says before each which one it is and after each what came of it.

    python -m tests.fuzz.worker FOLDER [MODULE]
    python -m tests.fuzz.worker --replay FINDING MODULE

reads lines `format seed first last` and answers each mutant with a line of JSON; whoever started it watches its time
and its memory. With MODULE, the compiled core is that file, which is checked once it is loaded.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import random
import resource
import shutil
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fuzz.format import FuzzFormat

CORE = "bayesbox._core"
NOTICED = 32.0  # MB: a peak that lies less above the present does not hide what a mutant takes


class _CoreFinder(importlib.abc.MetaPathFinder):
    """Finds the core in another file, before any hook of an editable install does."""

    def __init__(self, module: str) -> None:
        self.module = module

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != CORE:
            return None
        loader = importlib.machinery.ExtensionFileLoader(CORE, self.module)
        return importlib.util.spec_from_file_location(CORE, self.module, loader=loader)


def use_core(module: str) -> None:
    """Load the core from a file, and make sure that it is the one."""
    sys.meta_path.insert(0, _CoreFinder(module))
    loaded = importlib.import_module(CORE).__file__
    if loaded is None or not Path(loaded).samefile(module):
        raise SystemExit(f"the core was loaded from {loaded}, not from {module}")


def chance_of(name: str, seed: int, number: int) -> random.Random:
    """What a mutant is made with: the same for the same seed and number."""
    return random.Random(f"{name}:{seed}:{number}")


def try_file(form: FuzzFormat, path: Path) -> tuple[str, str]:
    """(`loaded`, `refused` or `finding`; of a finding, the error with its traceback) of a mutant that was written."""
    try:
        form.feed(path)
    except form.refusals:
        return "refused", ""
    except (Exception, RecursionError):
        return "finding", traceback.format_exc()
    return "loaded", ""


def quiet() -> None:
    """Warnings of the package about data are part of an answer; any other is a finding."""
    from bayesbox.errors import DataWarning

    warnings.simplefilter("error")
    warnings.simplefilter("ignore", DataWarning)


def _memory() -> float:
    """The memory that the process has now, in MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def _peak() -> float:
    """The most that it had since the peak was forgotten."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def _forget_peak() -> None:
    """From now on, the peak of memory is counted anew. This walks all pages, so it is not done for each mutant."""
    Path("/proc/self/clear_refs").write_text("5")


def _clear(folder: Path) -> None:
    """Remove the mutant before, so that there is one."""
    for path in folder.glob("mutant*"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _size(path: Path) -> int:
    """The bytes of a file, or of those in a folder."""
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(each.stat().st_size for each in files)


def _say(out: IO[str], **fields: Any) -> None:
    out.write(json.dumps(fields) + "\n")
    out.flush()


def try_finding(folder: Path, module: str | None) -> int:
    """Try the mutant of a finding again, print what comes of it, and say whether it is a finding still."""
    if module:
        use_core(module)
    from tests.fuzz.formats import FORMATS

    quiet()
    form = FORMATS[json.loads((folder / "finding.json").read_text())["format"]]
    (mutant,) = folder.glob("mutant*")
    outcome, error = try_file(form, mutant)
    print(error or outcome)
    return int(outcome == "finding")


def main(folder: Path, module: str | None) -> None:
    if module:
        use_core(module)
    from tests.fuzz.formats import FORMATS

    quiet()
    warm: set[str] = set()
    out = sys.stdout
    for line in sys.stdin:
        name, seed, first, last = line.split()
        form = FORMATS[name]
        if name not in warm:  # what is loaded once is not the memory of a mutant
            warm.add(name)
            for path in form.originals(folder):
                form.feed(path)
        for number in range(int(first), int(last)):
            _clear(folder)
            path = form.make(chance_of(name, int(seed), number), folder)
            _say(out, begin=number, size=_size(path))
            before = _memory()
            if _peak() - before > NOTICED:
                _forget_peak()
            started = time.process_time()
            outcome, error = try_file(form, path)
            took, peak = time.process_time() - started, _peak()
            _say(out, end=number, outcome=outcome, seconds=took, megabytes=max(peak - before, 0.0), error=error)
        _say(out, done=True)


if __name__ == "__main__":
    if sys.argv[1] == "--replay":
        sys.exit(try_finding(Path(sys.argv[2]), sys.argv[3]))
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
