"""The versions that are promised, each tried: python release/versions.py [CELL ...], where a cell is 3.12-lowest

For every Python that is here, the wheel of a release is installed twice in an empty environment, beside the lowest and
beside the newest versions of what it needs, and the tests of what they touch run with it. "Lowest" is the floor in
pyproject.toml, or the first version after it that has a wheel for that Python. A Python that is not here is named.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

from interpreters import interpreter
from wheels import PROCESSORS, PYTHONS, source_archive, wheel

TOP = Path(__file__).parents[1]
FOLDER = TOP / "build" / "versions"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = ("pandas", "polars", "sql", "sign")
TESTS = ("schema", "tally", "files", "cli/test_train.py", "cli/test_predict.py")
ROWS = "outlook,windy,play\nsunny,no,yes\nsunny,yes,no\nrainy,yes,no\nrainy,no,yes\n"
SHOWN = """
from importlib.metadata import version
print(*(f"{name} {version(name)}" for name in ("numpy", "pyarrow", "scikit-learn", "pandas")))
"""
PLAIN = re.compile(r"[A-Za-z0-9_.-]+(>=[0-9.]+)?")


def requirements() -> list[str]:
    """What the package, the extras that are tried and the tests ask for, without what holds for some Pythons only."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    tools = [each for each in optional["dev"] if each.startswith(("pytest>", "hypothesis>", "scipy>"))]
    found = [*project["dependencies"], *(each for extra in EXTRAS for each in optional[extra]), *tools]
    return [each for each in found if PLAIN.fullmatch(each)]


def uv() -> str:
    """uv, which can ask for the lowest versions; installed beside the environments where it is missing."""
    if found := shutil.which("uv"):
        return found
    place = FOLDER / "tools" / "bin" / "uv"
    if not place.exists():
        subprocess.run([sys.executable, "-m", "venv", FOLDER / "tools"], check=True)
        subprocess.run([place.with_name("python"), "-m", "pip", "install", "-qqq", "uv"], check=True)
    return str(place)


def wheels() -> Path:
    """The folder of the wheels for this machine, which are made anew where a source is newer."""
    folder = FOLDER / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    changed = max(path.stat().st_mtime for part in ("src", "cpp", "cmake") for path in (TOP / part).rglob("*.[hcp]*"))
    have = sorted(folder.glob("*.whl"))
    if len(have) < len(PYTHONS) or min(path.stat().st_mtime for path in have) < changed:
        for path in have:
            path.unlink()
        source = source_archive(folder)
        processor = os.uname().machine
        if processor not in PROCESSORS:
            raise SystemExit(f"there are no wheels for {processor}")
        for version in PYTHONS:
            wheel(source, version, processor, folder)
    return folder


def try_cell(version: str, which: str, made: Path) -> tuple[bool, str]:
    """One line of the matrix: what was installed, how long it took and how much it takes, what the tests say."""
    base = interpreter(version)
    if base is None:
        return True, f"{version}-{which}: not run, there is no Python {version} here"
    folder = FOLDER / f"{version}-{which}"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([base, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    resolution = "lowest-direct" if which == "lowest" else "highest"
    install = [uv(), "pip", "install", "--quiet", "--python", python, "--only-binary", ":all:", "--find-links", made]
    begun = time.monotonic()
    light = f"bayesbox=={_version()}"
    subprocess.run([*install, "--resolution", resolution, light, *_dependencies()], check=True)
    took = time.monotonic() - begun
    size = sum(path.stat().st_size for path in _files(folder)) / 1e6
    _use(folder)
    subprocess.run([*install, "--resolution", resolution, light, *requirements()], check=True)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{name}" for name in TESTS)]
    done = subprocess.run(command, cwd=TOP, env=_apart(), capture_output=True, text=True, check=False)
    last = (done.stdout.strip() or done.stderr.strip()).splitlines()[-1]
    if done.returncode != 0:
        sys.stderr.write(done.stdout[-6000:] + done.stderr[-2000:])
    names = subprocess.run([python, "-c", SHOWN], capture_output=True, text=True, check=True).stdout.strip()
    line = f"{version}-{which}: {last.strip('= ')}; {names}; installed in {took:.0f} s, {size:.0f} MB"
    return done.returncode == 0, line


def _version() -> str:
    return str(tomllib.loads((TOP / "pyproject.toml").read_text())["project"]["version"])


def _dependencies() -> list[str]:
    return list(tomllib.loads((TOP / "pyproject.toml").read_text())["project"]["dependencies"])


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _apart() -> dict[str, str]:
    """The tests import the package that is installed: pytest puts the top folder first on the path, not src."""
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}


def _use(folder: Path) -> None:
    """Train and predict by the command, away from the sources and with nothing but what the package itself needs."""
    bayes = folder / "bin" / "bayes"
    (folder / "weather.csv").write_text(ROWS)
    train = ["train", "weather.csv", "-t", "play", "-o", "weather.bayes"]
    for command in (train, ["predict", "weather.bayes", "weather.csv"]):
        subprocess.run([bayes, *command], cwd=folder, check=True, capture_output=True)


def main() -> None:
    cells = [f"{version}-{which}" for version in VERSIONS for which in ("lowest", "newest")]
    asked = sys.argv[1:] or cells
    if unknown := set(asked) - set(cells):
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}. Choose from: {' '.join(cells)}")
    made = wheels()
    right = True
    for cell in asked:
        version, which = cell.split("-")
        passed, line = try_cell(version, which, made)
        print(line, flush=True)
        right = right and passed
    raise SystemExit(0 if right else 1)


if __name__ == "__main__":
    main()
