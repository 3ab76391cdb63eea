r"""The calculation as LaTeX: `tabular` for tables, displayed equations for lines; it needs `\usepackage{amsmath}`.

Wide equations are broken at each "=".

Ratios become fractions and powers of ten are written out. Anything that is not one of the few known forms is set as
text, so that a name in the data can neither break the document nor run a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bayesbox.explain.steps import Cell, Row, Step, parts_between

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}

NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
SUM = rf"{NUMBER}(?: [+-] {NUMBER})*"
TERM = rf"(?:\({SUM}\)|{NUMBER})"
RATIO = re.compile(rf"({TERM})/({TERM})")
POWERED = re.compile(rf"(?:[\[(](?P<base>.+)[\])]|(?P<one>{NUMBER}))\^(?P<power>{NUMBER})")
GIVEN = re.compile(r"P\((?P<event>[^|]*?)(?: \| (?P<given>[^|]*))?\)")
PRODUCT = re.compile(r"P\([^()|]*(?: \| [^()|]*)?\)(?: P\([^()|]*(?: \| [^()|]*)?\))+")
NAMED = re.compile(r"(?P<name>[a-z]+): (?P<rest>P\(.*)")
DENSITY = re.compile(rf"(?P<name>[A-Za-z][A-Za-z -]*)\((?P<value>{NUMBER}) \| (?P<rest>{NUMBER}(?:, {NUMBER})*)\)")
SUMMED = re.compile(r"sum over (?P<over>[^()]+?) of (?P<rest>.+)")
FUNCTION = re.compile(r"(?P<name>f|alpha|beta|gamma|delta)(?P<number>\d*)(?:\((?P<of>[^()|]+)\))?")
KNOWN = (re.compile(NUMBER), RATIO, POWERED, DENSITY)
WIDE = 120  # characters; in a wider row or line each "=" begins a new line
OPERATORS = {" + ": " + ", " - ": " - ", " x ": r" \times ", " * ": r" \times ", " / ": r" \,/\, "}  # loosest first


def as_latex(title: str, steps: Sequence[Step]) -> str:
    """The title and all steps."""
    parts = [rf"\noindent\textbf{{{text(title)}}}", ""]
    for part in parts_between(steps):
        tables: list[Step] = []
        for step in part:
            if step.columns:
                tables.append(step)
                continue
            parts.extend(_table(tables))
            tables = []
            parts.extend(each for row in step.rows for each in _line(row))
        parts.extend(_table(tables))
    return "\n".join(parts)


def _table(steps: Sequence[Step]) -> Iterator[str]:
    if not steps:
        return
    columns = steps[0].columns
    yield r"\par\medskip\noindent"
    yield rf"\begin{{tabular}}{{l{'l' * len(columns)}}}"
    yield " & ".join(["", *map(text, columns)]) + r" \\ \hline"
    for step in steps:
        for row in step.rows:
            wide = sum(len(str(cell)) for cell in row.cells) + len(row.name) > WIDE
            cells = [f"${_cell(cell, wide=wide)}$" if cell.parts() else "" for cell in row.cells]
            yield " & ".join([f"${formula(row.name)}$", *cells]) + r" \\"
    yield r"\end{tabular}"
    yield ""


def _line(row: Row) -> Iterator[str]:
    if not row.cells:
        yield rf"\par\noindent {text(row.name)}"
        return
    pieces = [piece for cell in row.cells for piece in _pieces(cell)]
    if len(str(row)) > WIDE:
        lines = r" \\ ".join(f"& = {piece}" for piece in pieces)
        yield rf"\[ \begin{{aligned}} {formula(row.name)} {lines} \end{{aligned}} \]"
    else:
        yield rf"\[ {' = '.join([formula(row.name), *pieces])} \]"


def _cell(cell: Cell, *, wide: bool = False) -> str:
    first, *rest = _pieces(cell)
    if not wide or not rest:
        return " = ".join([first, *rest])
    lines = "".join(rf" \\ & = {piece}" for piece in rest)
    return rf"\begin{{aligned}}[t] & {first}{lines} \end{{aligned}}"


def _pieces(cell: Cell) -> list[str]:
    return [formula(piece) for part in cell.parts() for piece in part.split(" = ")]


def formula(shown: str) -> str:
    r"""A formula in math mode; unknown forms as text.

    >>> print(formula("(0 + 1)/(5 + 3)"), formula("2.5e-07"))
    \frac{0 + 1}{5 + 3} 2.5 \times 10^{-7}
    >>> print(formula("P(car=suv_x | class)"))
    P(\text{car=suv\_x} \mid \text{class})
    >>> print(formula("sum over E, A of P(E) x f2(A)"), formula("(0.06 x 0.7 + 0.24) x 0.4"))
    \sum_{\text{E, A}} P(\text{E}) \times f_{2}(\text{A}) \left(0.06 \times 0.7 + 0.24\right) \times 0.4
    """
    if (summed := SUMMED.fullmatch(shown)) and _is_formula(summed["rest"]):
        return rf"\sum_{{\text{{{text(summed['over'])}}}}} {formula(summed['rest'])}"
    for operator, written in OPERATORS.items():
        terms = _split(shown, operator)
        if len(terms) > 1:
            return written.join(formula(term) for term in terms)
    if re.fullmatch(NUMBER, shown):
        return _number(shown)
    if ratio := RATIO.fullmatch(shown):
        return rf"\frac{{{_bare(ratio[1])}}}{{{_bare(ratio[2])}}}"
    if powered := POWERED.fullmatch(shown):
        base = powered["base"] or powered["one"]
        return rf"\left({formula(base)}\right)^{{{_number(powered['power'])}}}"
    if density := DENSITY.fullmatch(shown):
        rest = ", ".join(map(_number, density["rest"].split(", ")))
        return rf"\text{{{text(density['name'])}}}({_number(density['value'])} \mid {rest})"
    if named := NAMED.fullmatch(shown):
        return rf"\text{{{named['name']}: }}{formula(named['rest'])}"
    if PRODUCT.fullmatch(shown):
        return r" \, ".join(formula(f"P{each}") for each in re.split(r"(?:^| )P(?=\()", shown)[1:])
    if _is_function(shown) and (function := FUNCTION.fullmatch(shown)):
        name = "f" if function["name"] == "f" else rf"\{function['name']}"
        number = rf"_{{{function['number']}}}" if function["number"] else ""
        return name + number + (rf"(\text{{{text(function['of'])}}})" if function["of"] else "")
    if _is_bracketed(shown):
        return rf"\left({formula(shown[1:-1])}\right)"
    if given := _given(shown):
        behind = "" if given["given"] is None else rf" \mid \text{{{text(given['given'])}}}"
        return rf"P(\text{{{text(given['event'])}}}{behind})"
    return rf"\text{{{text(shown)}}}"


def text(shown: str) -> str:
    r"""Text escaped for LaTeX; line ends and control characters are replaced.

    >>> print(text("50% of $5_x"))
    50\% of \$5\_x
    """
    return "".join(SPECIAL.get(char, char if char.isprintable() else text(repr(char)[1:-1])) for char in shown)


def _split(shown: str, operator: str) -> list[str]:
    """The terms between operators outside brackets; the whole text if a part is not a formula."""
    terms, depth, start, place = [], 0, 0, 0
    while place < len(shown):
        depth += {"(": 1, ")": -1}.get(shown[place], 0)
        if depth == 0 and shown.startswith(operator, place):
            terms.append(shown[start:place])
            place += len(operator)
            start = place
        else:
            place += 1
    terms.append(shown[start:])
    return terms if depth == 0 and len(terms) > 1 and all(map(_is_formula, terms)) else [shown]


def _is_formula(term: str) -> bool:
    if any(form.fullmatch(term) for form in KNOWN) or _given(term) or _is_function(term) or _is_bracketed(term):
        return True
    return any(len(_split(term, operator)) > 1 for operator in OPERATORS)


def _given(term: str) -> re.Match[str] | None:
    """Whether the text is a single P(event | given), unlike P(A) x f(B)."""
    return GIVEN.fullmatch(term) if _is_enclosed(term[1:]) else None


def _is_function(term: str) -> bool:
    """Whether the text is f2(B), alpha(rain), or a factor of one number, f3."""
    found = FUNCTION.fullmatch(term)
    return found is not None and bool(found["of"] or (found["name"] == "f" and found["number"]))


def _is_bracketed(term: str) -> bool:
    return _is_enclosed(term) and _is_formula(term[1:-1])


def _is_enclosed(term: str) -> bool:
    """Whether the first bracket is closed by the last."""
    if len(term) < 3 or term[0] != "(" or term[-1] != ")":
        return False
    depth = 0
    for place, char in enumerate(term):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth == 0:
            return place == len(term) - 1
    return False


def _bare(term: str) -> str:
    inner = term[1:-1] if term.startswith("(") else term
    return re.sub(NUMBER, lambda found: _number(found[0]), inner)


def _number(shown: str) -> str:
    mantissa, _, exponent = shown.partition("e")
    if not exponent:
        return shown
    power = rf"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \times {power}"
