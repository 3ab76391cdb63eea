"""The settings of Sphinx; `make docs` stages the pages (`stage.py`) and builds them with warnings as errors."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]  # from build/docs/source, where it is staged
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "bayesbox"
author = "the authors of bayesbox"
copyright = author
version = release = PROJECT["version"]
language = "en"

extensions = ["myst_nb"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
root_doc = "index"
nb_execution_mode = "off"  # the tests run the notebooks; the site shows what they hold
myst_heading_anchors = 4
highlight_language = "text"
nitpicky = True

html_theme = "pydata_sphinx_theme"
html_title = "bayesbox"
html_static_path = ["_static"]
html_css_files = ["live.css", "site.css"]
html_copy_source = False
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_favicon = "_static/icon.svg"
html_sidebars = {name: [] for name in ("*", "docs/*", "docs/notebooks/*")}  # pages without others below them
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navigation_depth": 3,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
