"""The recipe of conda, rendered for every system by the tool that builds it: python release/recipe.py

Nothing is downloaded or built: the tool reads the recipe, fills in compilers and versions, and says what it would make.
"""

from __future__ import annotations

import subprocess

from wheels import PYTHONS, TOP, environment

PLATFORMS = ("linux-64", "linux-aarch64", "osx-64", "osx-arm64")
RENDER = """
import sys
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig
python = [f"3.{minor}.*" for minor in (11, 12, 13, 14)]
chosen = VariantConfig.from_yaml(f"python: {python}\\nc_stdlib: [sysroot]\\nc_stdlib_version: ['2.28']")
for name in sys.argv[2:]:
    platform = PlatformConfig(target_platform=name, build_platform=name, host_platform=name)
    made = Stage0Recipe.from_file(sys.argv[1]).render(chosen, RenderConfig(platform=platform))
    recipes = [each.recipe.to_dict() for each in made]
    pythons = [each["build"]["string"].split("h")[0] for each in recipes]
    print(f"{name}:", *pythons, *recipes[0]["requirements"]["build"])
"""


def main() -> None:
    python = environment(PYTHONS[0])
    subprocess.run([python, "-m", "pip", "install", "-qqq", "py-rattler-build>=0.73"], check=True)
    recipe = TOP / "release" / "conda" / "recipe.yaml"
    raise SystemExit(subprocess.run([python, "-c", RENDER, recipe, *PLATFORMS], check=False).returncode)


if __name__ == "__main__":
    main()
