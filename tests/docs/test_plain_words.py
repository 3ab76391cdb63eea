"""The words are the field's: no text of the package or its pages uses a turn of phrase that was replaced."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATHS = (
    *(ROOT / "src" / "bayesbox").rglob("*.py"),
    *(ROOT / "src" / "bayesbox").rglob("*.js"),
    *(path for path in (ROOT / "docs").rglob("*.md") if path.name != "plain-words.md"),
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
)
REPLACED = {
    r"anew": "again, refitted, rebuilt",
    r"for the eye": "as text",
    r"taken for": "the type of a column is ...",
    r"lest": "so that ... not",
    r"reckon(s|ed|ing)?": "estimate",
    r"mend(s|ed|ing)?": "correct, fix, calibrate",
    r"tells? of the class": "is informative about the class",
    r"telling (first|column|columns)": "informative",
    r"most telling": "most informative",
    r"(with|without|have|has|their|its) (no |a )?holes?": "missing values",
    r"so many (?!different|that|times as)\w+": "this many",
    r"rows enough": "enough rows",
    r"for ever": "forever",
    r"of equal ones the first": "the first in case of a tie",
    r"goes on learning": "can be trained further",
    r"let go": "dropped",
    r"has no form": "cannot be exported",
    r"words? speaks?": "multinomial (word counts)",
    r"what was asked for": "what was requested",
    r"takes? no part": "is ignored, is not used",
    r"nobody vouches": "untrusted",
    r"rows (it|they|the model) (has|have|had) not seen": "held-out rows",
    r"rows that were not learned": "held-out rows",
    r"levels? (that (was|were) )?never seen": "unseen level",
    r"broken rows?": "malformed row",
    r"(as|is) one a (line|row|class)": "one per line",
    r"a (value|row|column|text|weight|number) a (row|class|node|column|line)": "one value per row",
    r"(nats|bits|bytes|rows|requests) a (row|second|cell|value)": "per row",
    r"as people (write|print|work|see|read)": "as text, in textbook form, the display name",
    r"all but a hair": "up to a negligible tail",
    r"tells? of": "reports, is informative about",
    r"(less|more) is better": "lower is better, higher is better",
    r"whole or not at all": "atomically",
    r"as plain data": "a plain dict, for JSON",
    r"in the order in which (they|it) (come|came|turn|turned)( up)?": "in order of appearance",
    r"one a (row|state|step|sequence|class|variable|core|column|line)": "one per row",
    r"of equal(ly good)? ones": "in case of a tie",
    r"held against": "compared with, checked against",
    r"by (itself|themselves) alone": "alone, separately",
    r"at first sight": "the first time",
    r"(which|that|it|what) is no (double|number|text|node|character)": "is not a ..., overflows",
    r"in vain": "without success, timed out",
    r"leans? on": "backs off to, uses",
    r"a slip": "a typo, an error",
    r"in force": "active",
    r"turned? round": "reversed",
    r"for who": "for those who",
    r"as ever": "as usual",
    r"by the clock": "wall time",
    r"where (it|they) (lies?|lie)": "in place",
    r"(is|are) no (tally|tallies|part|prior|classifier)": "is not a tally",
    r"heads? without end": "endless headers",
    r"cannot be told": "cannot be distinguished",
    r"behind your back": "silently",
    r"as they pass by": "during the pass",
    r"shared? out": "distribute",
    r"with no chance in it": "deterministically",
    r"takes? the place of": "replaces",
    r"passed over": "skipped, ignored",
    r"gone over": "read again, a second pass",
    r"rows' worth": "pseudo-counts, pseudo-rows",
    r"worth a (word|warning|try)": "reported",
    r"what becomes of": "how ... is handled",
    r"for want of": "since there is no",
    r"(put|take|taken|takes) (one )?out again": "subtract, remove",
    r"what is odd (in|about)": "problems of",
    r"means? nothing here": "does not apply",
    r"nothing learned yet": "unfitted, untrained",
    r"(row|rows) that (was|were|it has|they have|have been) learned": "training rows",
    r"(frame|axes|splitter|table) of (pandas|Dask|matplotlib|scikit-learn|Arrow)": "a pandas DataFrame",
}
"""What not to write, as a regular expression of whole words, and what to write instead."""
GAP = r"\s+(?:(?:#|//|\*) )?"  # between two words, at the end of a line of a comment too
BANNED = re.compile("|".join(r"\b(?:" + each.replace(" ", GAP) + r")\b" for each in REPLACED), re.IGNORECASE)


def texts_of(path: Path) -> list[tuple[int, str]]:
    """The texts of a file, each with its first line: of Python the comments and strings, of others all of it."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return [(1, source)]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [(token.start[0], token.string) for token in tokens if token.type in (tokenize.COMMENT, tokenize.STRING)]


def found_in(text: str) -> list[tuple[int, str]]:
    """The replaced phrases in a text, each with the number of lines before it."""
    plain = re.sub(r"`[^`\n]*`", lambda code: " " * len(code.group()), text)
    return [(plain.count("\n", 0, found.start()), " ".join(found.group().split())) for found in BANNED.finditer(plain)]


def test_no_replaced_phrase_is_left():
    left = [
        f"{path.relative_to(ROOT)}:{line + before}: {phrase}"
        for path in PATHS
        for line, text in texts_of(path)
        for before, phrase in found_in(text)
    ]
    assert not left, "\n".join(left)


@pytest.mark.parametrize(
    "text",
    [
        "The model is made anew.",
        "Rows\nenough to learn from.",
        "log P(x), a value a row",
        "The most telling\n# columns",
        "The share of rows with holes",
        "Mend the value",
        "The cuts are no\ntallies.",
        "Rows are counted where\nthey lie.",
        "A column is not converted behind your back",
        "The codes, one a\n# row",
        "A value that is no number",
        "Write a file whole or not at all",
        "Lines that are passed\n    # over",
        "A table leans on its parent",
        "The rows that were learned",
    ],
)
def test_a_replaced_phrase_is_found(text):
    assert found_in(text)


@pytest.mark.parametrize("text", ["`left_out` and `anew`", "renewed whole amendment", "one value per row"])
def test_other_words_are_not(text):
    assert not found_in(text)


def test_the_search_covers_docstrings_comments_messages_and_pages(tmp_path):
    file = tmp_path / "mutant.py"
    file.write_text('"""Learned anew."""\n# for the eye\nraise ValueError("mend the value")\n')
    assert [line for line, text in texts_of(file) if found_in(text)] == [1, 2, 3]
    assert {path.suffix for path in PATHS} == {".py", ".js", ".md"}
    assert len(PATHS) > 900
