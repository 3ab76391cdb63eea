"""A check that a text is LaTeX that compiles: a strict parser reads it, and all its commands are known."""

from __future__ import annotations

import re

from pylatexenc.latexwalker import LatexWalker

COMMANDS = {
    *("noindent", "textbf", "medskip", "begin", "end", "hline", "text", "frac", "mid", "par", "times", "left", "right"),
    *("textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar", "textquotedbl"),
    *("{", "}", "$", "&", "#", "%", "_", "[", "]", "\\", ",", "Sigma", "mu", "sum", "pi", "cdot"),
    *("alpha", "beta", "gamma", "delta", "section", "smallskip", "clearpage", "footnotesize", "fitted", "displaystyle"),
}
HEAD = (r"\documentclass", r"\usepackage{amsmath}", r"\newcommand{\fitted}")


def check_latex(source: str) -> None:
    """An AssertionError where the source would not compile with amsmath, or holds a command that is not ours."""
    LatexWalker(source, tolerant_parsing=False).get_latex_nodes()
    depth, in_math, environments = 0, "", []
    for token in re.finditer(r"\\([A-Za-z]+|.)|[{}$&#%^_~]|[^\\{}$&#%^_~]+", source, re.DOTALL):
        name = token[1]
        if name is not None:
            assert name in COMMANDS, token[0]
            if name in ("begin", "end"):
                [environment] = re.findall(r"\{(\w+)\}", source[token.end() :])[:1]
                if name == "begin":
                    environments.append(environment)
                else:
                    assert environments.pop() == environment
            if name == "[":
                assert not in_math
                in_math = "["
            if name == "]":
                assert in_math == "["
                in_math = ""
            if name in ("frac", "mid", "times", "left", "right"):
                assert in_math, token[0]
        elif token[0] == "{":
            depth += 1
        elif token[0] == "}":
            depth -= 1
            assert depth >= 0
        elif token[0] == "$":
            assert in_math in ("", "$")
            in_math = "" if in_math else "$"
        elif token[0] == "&":
            assert environments
            assert bool(in_math) == (environments[-1] == "aligned")
        elif token[0] in "^_":
            assert in_math
        else:
            assert token[0] not in "#%~"
    assert (depth, in_math, environments) == (0, "", [])


def check_document(source: str) -> None:
    """The same for a whole document: what it needs is in its head."""
    head, begun, rest = source.partition("\\begin{document}\n")
    body, ended, after = rest.partition("\n\\end{document}\n")
    assert begun
    assert ended
    assert not after
    assert all(part in head for part in HEAD)
    LatexWalker(source, tolerant_parsing=False).get_latex_nodes()
    check_latex(body.replace("section*", "section"))
