"""Complete documents of exercises: printable HTML, and self-contained LaTeX."""

from __future__ import annotations

import re
from html import escape

EQUATION = re.compile(r"^\\\[ (.*) \\\]$", re.MULTILINE)  # displayed, on its own line

STYLE = """
.bayes-sheet { --line: #ccc; font: 16px/1.5 system-ui, sans-serif; }
.bayes-sheet h2 { font-size: 1.2em; margin: 0 0 .6em; }
.bayes-sheet table { border-collapse: collapse; margin: .8em 0; }
.bayes-sheet caption { text-align: left; padding-bottom: .3em; white-space: nowrap; }
.bayes-sheet > section > table th, .bayes-sheet > section > table td { border-bottom: 1px solid var(--line);
  padding: .2em 1.2em .2em 0; text-align: left !important; font-variant-numeric: tabular-nums; }
.bayes-sheet .formula { font-family: Georgia, serif; font-style: italic; white-space: nowrap; }
.bayes-sheet .question { border-left: 3px solid #4477aa; padding-left: .8em; }
.bayes-sheet figure { margin: .8em 0; }
.bayes-sheet figure svg { max-width: 100%; height: auto; background: #fff; }
.bayes-sheet section { margin-bottom: 3em; }
@media (prefers-color-scheme: dark) { .bayes-sheet { --line: #555; } }
@media print {
  .bayes-sheet section { break-after: page; }
  .bayes-sheet section:last-child { break-after: auto; }
  .bayes-sheet table, .bayes-sheet figure { break-inside: avoid; }
}
""".strip()

PAGE_STYLE = """
:root { color-scheme: light dark; }
body { margin: 2em auto; max-width: 60em; padding: 0 1em; background: #fff; color: #111; }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #e8e8e8; } }
@media print { :root { color-scheme: light; } body { margin: 0; max-width: none; background: #fff; color: #000; } }
@page { margin: 2cm; }
""".strip()

LATEX_HEAD = r"""\documentclass[11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{amsmath}
\usepackage{graphicx}
\usepackage[margin=2cm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\emergencystretch}{4em}
\renewcommand{\arraystretch}{1.3}
\pagestyle{empty}
\newcommand{\fitted}[1]{\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}}
\begin{document}
"""


def html_fragment(*sections: str) -> str:
    """Sections with their style, as an HTML fragment."""
    return "\n".join(
        [
            f'<div class="bayes-sheet">\n<style>\n{STYLE}\n</style>',
            *(f"<section>\n{each}\n</section>" for each in sections),
            "</div>",
        ]
    )


def html_page(title: str, *sections: str) -> str:
    """A whole page; each section is printed on separate sheets."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{PAGE_STYLE}\n</style>\n</head>\n"
        f"<body>\n{html_fragment(*sections)}\n</body>\n</html>\n"
    )


def fitted_to_page(latex: str) -> str:
    r"""A calculation with tables and equations scaled down to the width of the page.

    >>> print(fitted_to_page(r"\[ x = 1 \]"))
    \par\medskip\noindent\fitted{$\displaystyle x = 1$}\par\medskip
    """
    wide = EQUATION.sub(r"\\par\\medskip\\noindent\\fitted{$\\displaystyle \1$}\\par\\medskip", latex)
    wide = wide.replace(r"\begin{tabular}", r"\fitted{\begin{tabular}")
    return wide.replace(r"\end{tabular}", r"\end{tabular}}")


def latex_document(*sections: str) -> str:
    """A complete document, one or more pages per section."""
    return LATEX_HEAD + "\n\\clearpage\n".join(sections) + "\n\\end{document}\n"
