"""The lowest version of every dependency that pyproject.toml promises: python tests/lowest.py [EXTRA ...]

One requirement a line, `name==version`, for pip; the test run of `.ci/run` installs the wheel beside them.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

FLOOR = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)>=(?P<version>[0-9.]+)")


def lowest(project: dict[str, object], extras: list[str]) -> list[str]:
    """The floors of the dependencies and of some extras; an error where a dependency has none.

    >>> lowest({"dependencies": ["numpy>=1.26"], "optional-dependencies": {"sql": ["duckdb>=1.2"]}}, ["sql"])
    ['numpy==1.26', 'duckdb==1.2']
    """
    optional = project["optional-dependencies"]
    assert isinstance(optional, dict)
    given = [*project["dependencies"], *(each for extra in extras for each in optional[extra])]  # type: ignore[misc]
    found = [FLOOR.fullmatch(requirement) for requirement in given]
    if None in found:
        raise SystemExit(f"no lowest version: {given[found.index(None)]}")
    return [f"{each['name']}=={each['version']}" for each in found if each is not None]


if __name__ == "__main__":
    document = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    print("\n".join(lowest(document["project"], sys.argv[1:])))
