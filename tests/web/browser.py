"""The browser that the tests drive: one that is installed, or Debian's, or the one that npm has.

`python -m tests.web.browser` finds or fetches it and prints where it is; where none can be had it says what to type.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FETCHED = ROOT / "build" / "browser"
PACKAGE = "@sparticuz/chromium"
REMEDY = (
    "no browser for the tests of the app: type `apt-get install chromium` as root, "
    "or put chromium, chrome or chromium-headless-shell on PATH"
)
UNPACK = """
import zlib from "node:zlib";
Deno.writeFileSync(Deno.args[1], zlib.brotliDecompressSync(Deno.readFileSync(Deno.args[0])));
"""


class NoBrowser(RuntimeError):
    """There is none, and none can be fetched."""


def installed() -> str | None:
    """The browser on PATH, or the one fetched before."""
    fetched = FETCHED / "chromium"
    on_path = next((found for name in NAMES if (found := shutil.which(name))), None)
    return on_path or (str(fetched) if fetched.exists() else None)


def from_debian() -> str | None:
    """The browser of Debian, where we may install it."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return None
    quiet = ["-q", "-y", "-o", "DPkg::Lock::Timeout=300", "--no-install-recommends"]
    _tried(["apt-get", "update", "-q"])
    for name in ("chromium-headless-shell", "chromium"):
        if _tried(["apt-get", "install", *quiet, name]) and (found := installed()):
            return found
    return None


def from_npm() -> str | None:
    """The browser in npm's package, which needs neither root nor libraries of the system."""
    if not shutil.which("npm"):
        return None
    FETCHED.mkdir(parents=True, exist_ok=True)
    if not _tried(["npm", "pack", "--silent", "--pack-destination", str(FETCHED), PACKAGE]):
        return None
    archive = next(FETCHED.glob("*.tgz"))
    shutil.unpack_archive(archive, FETCHED, filter="data")
    archive.unlink()
    script, target = FETCHED / "unpack.js", FETCHED / "chromium"
    script.write_text(UNPACK)
    packed = FETCHED / "package" / "bin" / "chromium.br"
    deno = str(Path(sys.executable).with_name("deno"))
    if not _tried([deno, "run", "-q", "--allow-read", "--allow-write", str(script), str(packed), f"{target}.part"]):
        return None
    Path(f"{target}.part").chmod(0o755)
    Path(f"{target}.part").rename(target)
    shutil.rmtree(FETCHED / "package")
    return str(target)


def find() -> str:
    """Where the browser is; fetched where there is none."""
    found = installed() or from_debian() or from_npm()
    if found is None:
        raise NoBrowser(REMEDY)
    return found


def _tried(command: list[str]) -> bool:
    print(" ".join(command), file=sys.stderr)
    with open(os.devnull, "w") as nothing:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=nothing, check=False).returncode == 0


if __name__ == "__main__":
    try:
        print(find())
    except NoBrowser as error:
        sys.exit(str(error))
