r"""The notation of questions, for tables and networks alike.

    P(B | J=true, M=true)                          the distribution of B, given two events
    P(colour=red, size=large | class=+)            the probability of an event
    P(B | D~(yes:0.7, no:0.3))                     virtual evidence: how likely the evidence is in each state of D
    P(B | D~0.7)                                   the same, where D is true or false
    P(B | D:=(yes:0.7, no:0.3))                    Jeffrey's rule: the new probabilities of D
    P(B | do(A=true), C=yes)                       A is set from outside, and C then observed
    colour=red _|_ size=large | class=+            are two events independent, given a third?
    colour _|_ size | class                        are two variables, given each value of a third?

    question   = query | independence
    query      = "P" "(" term {"," term} ["|" evidence {"," evidence}] ")"
    evidence   = name "=" value | name ("~" | ":=") likelihood | "do" "(" term {"," term} ")"
    likelihood = number | "(" value ":" number {"," value ":" number} ")"
    independence = term {"," term} "_|_" term {"," term} ["|" term {"," term}]
    term       = name ["=" value]

A name or a value is bare, or in double quotes with `\"`, `\\`, `\n` and `\t`. A bare name contains none of
`, | = ( ) ~ : "`; a bare value runs to the next `,`, `|` or `)`, so that `income=<=50K` and `start=12:30` need no
quotes. Spaces around either are ignored. The sign `_|_` must have spaces around it. A number is 0.7, 7/10 or 7e-1, and
is read exactly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NoReturn

from bayesbox.errors import BadOption
from bayesbox.network.query.slips import comparison, joined

SPECIAL = frozenset(',|=()~:"')  # characters that no bare name contains
ENDS_VALUE = frozenset(',|)("')  # characters that no bare value contains; an inner ( or " is a mistake
SIGN = "_|_"
ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
UNESCAPES = {character: "\\" + letter for letter, character in ESCAPES.items()}
DECIMAL = re.compile(r"(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")
RATIO = re.compile(r"[0-9]{1,1200}/[0-9]{1,1200}")  # every decimal above can be written as a ratio
QUERY = re.compile(r"P\s*\(")
DO = re.compile(r"do\s*\(")
QUOTE = "Put names and values with such a character in double quotes"


@dataclass(frozen=True)
class Term:
    """A variable, or with a value, the event that the variable has it."""

    name: str
    value: str | None = None

    def __str__(self) -> str:
        name = quoted_name(self.name)
        return name if self.value is None else f"{name}={quoted_value(self.value)}"


@dataclass(frozen=True)
class Virtual:
    """Virtual evidence: its likelihood in each state, or one number if there are two states."""

    name: str
    likelihood: Fraction | tuple[tuple[str, Fraction], ...]

    sign: ClassVar[str] = "~"

    def __str__(self) -> str:
        if isinstance(self.likelihood, Fraction):
            return f"{quoted_name(self.name)}{self.sign}{number_text(self.likelihood)}"
        states = ", ".join(f"{quoted_name(state)}:{number_text(number)}" for state, number in self.likelihood)
        return f"{quoted_name(self.name)}{self.sign}({states})"


@dataclass(frozen=True)
class Believed(Virtual):
    """Jeffrey's rule: the probabilities of the states after the update."""

    sign = ":="


Evidence = Term | Virtual


@dataclass(frozen=True)
class Query:
    """P(targets | do(actions), evidence)."""

    targets: tuple[Term, ...]
    evidence: tuple[Evidence, ...] = ()
    actions: tuple[Term, ...] = ()

    def __str__(self) -> str:
        done = f"do({_listed(self.actions)})" if self.actions else ""
        given = ", ".join(each for each in (done, _listed(self.evidence)) if each)
        return f"P({_listed(self.targets)}{f' | {given}' if given else ''})"

    @property
    def names(self) -> list[str]:
        """The distinct names in it."""
        return list(dict.fromkeys(term.name for term in (*self.targets, *self.actions, *self.evidence)))

    @property
    def is_fitted(self) -> bool:
        """Whether several nodes have new probabilities, which are fitted iteratively, so in floating point."""
        return sum(isinstance(term, Believed) for term in self.evidence) > 1

    @property
    def is_event(self) -> bool:
        """Whether every target has a value, so that the answer is one probability."""
        return all(target.value is not None for target in self.targets)


@dataclass(frozen=True)
class Independence:
    """left _|_ right | given, of events if they have values, else of variables."""

    left: tuple[Term, ...]
    right: tuple[Term, ...]
    given: tuple[Term, ...] = ()

    def __str__(self) -> str:
        return f"{_listed(self.left)} {SIGN} {_listed(self.right)}{_given(self.given)}"

    @property
    def names(self) -> list[str]:
        """The distinct names in it."""
        return list(dict.fromkeys(term.name for term in (*self.left, *self.right, *self.given)))


Question = Query | Independence


def parse(text: str) -> Question:
    """The question in a text; BadOption names the column of a syntax error.

    >>> parse("P(colour=red | class=+)").targets
    (Term(name='colour', value='red'),)
    >>> str(parse('"eye colour"=blue _|_ size|class'))
    'eye colour=blue _|_ size | class'
    >>> parse("P(B | J=)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    bayesbox.errors.BadOption: column 9 of 'P(B | J=)': expected a value, got ')'. Write a value, in ...
    """
    return _Parser(text).question()


def parse_query(text: str) -> Query:
    """A text that must be a query P(...)."""
    question = parse(text)
    if not isinstance(question, Query):
        raise BadOption("this is a question about independence, not a probability", found=text, remedy="Write P(...)")
    return question


def parse_terms(text: str) -> tuple[Term, ...]:
    """The variables or events of one side of an independence.

    >>> parse_terms("colour=red, size")
    (Term(name='colour', value='red'), Term(name='size', value=None))
    """
    return _Parser(text).only_terms()


def _listed(items: tuple[Evidence, ...]) -> str:
    return ", ".join(str(item) for item in items)


def _given(items: tuple[Evidence, ...]) -> str:
    return f" | {_listed(items)}" if items else ""


def quoted_name(text: str) -> str:
    """A name in the notation, quoted if necessary."""
    return text if _is_bare(text, SPECIAL) else _in_quotes(text)


def quoted_value(text: str) -> str:
    """A value in the notation, quoted if necessary.

    >>> quoted_value("<=50K"), quoted_value("a, b")
    ('<=50K', '"a, b"')
    """
    return text if _is_bare(text, ENDS_VALUE) else _in_quotes(text)


def _is_bare(text: str, special: frozenset[str]) -> bool:
    return bool(text) and text == text.strip() and text.isprintable() and special.isdisjoint(text)


def _in_quotes(text: str) -> str:
    return '"' + "".join(UNESCAPES.get(character, character) for character in text) + '"'


def number_text(number: Fraction) -> str:
    """A number in the notation: a decimal if that is exact, else a ratio.

    >>> number_text(Fraction(7, 10)), number_text(Fraction(1, 3))
    ('0.7', '1/3')
    """
    if number.denominator == 1 and number < 10**15:
        return str(number)
    try:
        decimal = repr(float(number))
    except OverflowError:
        decimal = "0"
    return decimal if Fraction(decimal) == number else f"{number.numerator}/{number.denominator}"


class _Parser:
    """Reads a text from left to right; `at` is the position of the next character."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise BadOption("a question must be a text, such as 'P(colour | class=+)'", found=text)
        self.text = text
        self.at = 0

    # grammar

    def question(self) -> Question:
        if self.skipped() == len(self.text):
            self.fail("the question is empty", "Write it as P(colour=red | class=+)")
        found: Question = self.query() if QUERY.match(self.text, self.at) else self.independence()
        self.end()
        return found

    def query(self) -> Query:
        self.take("P")
        self.take("(")
        targets = self.terms()
        twice = _first_twice([target.name for target in targets if target.value is None])
        if twice is not None:
            self.fail(f"`{twice}` occurs twice")
        if self.sees("~"):
            self.fail("expected `,`, `|` or `)`", "Virtual evidence must follow the |")
        evidence: list[Evidence] = []
        actions: list[Term] = []
        if self.took("|"):
            self.given(evidence, actions)
            while self.took(","):
                self.given(evidence, actions)
        if not self.took(")"):
            wanted = "`,` or `)`" if evidence or actions else "`,`, `|` or `)`"
            hint = "Write a question about independence without P( )" if self.sees_sign() else None
            self.fail(f"expected {wanted}", hint)
        return Query(targets, tuple(evidence), tuple(actions))

    def given(self, evidence: list[Evidence], actions: list[Term]) -> None:
        """A finding, or do(...)."""
        if DO.match(self.text, self.skipped()) is None:
            evidence.append(self.evidence())
            return
        self.take("do")
        self.take("(")
        start = self.at
        actions += self.terms()
        twice = _first_twice([action.name for action in actions])
        if twice is not None:
            self.fail(f"`{twice}` is set twice", at=start)
        self.take(")")

    def independence(self) -> Independence:
        left = self.terms()
        if not self.sees_sign():
            self.fail(f"expected P( ), or `{SIGN}` between spaces", "Write a probability as P(colour=red | class=+)")
        self.at += len(SIGN)
        right = self.terms()
        given = self.terms() if self.took("|") else ()
        return Independence(left, right, given)

    def only_terms(self) -> tuple[Term, ...]:
        found = self.terms()
        self.end()
        return found

    def terms(self) -> tuple[Term, ...]:
        found = [self.term()]
        while self.took(","):
            found.append(self.term())
        return tuple(found)

    def term(self) -> Term:
        name = self.name()
        if self.took("="):
            return Term(name, self.value())
        return Term(self.unless(comparison(name), name, self.at), None)

    def evidence(self) -> Evidence:
        name = self.name()
        if self.took("="):
            return Term(name, self.value())
        if self.took("~"):
            return Virtual(name, self.likelihood())
        start = self.skipped()
        if self.took(":="):
            believed = self.likelihood()
            if not isinstance(believed, Fraction) and sum(share for _, share in believed) != 1:
                self.fail("expected probabilities that sum to 1", at=start)
            return Believed(name, believed)
        self.unless(comparison(name), name, start)
        return self.fail("expected `=`, `~` or `:=`", f"Evidence needs a value: {quoted_name(name)}=...")

    def likelihood(self) -> Fraction | tuple[tuple[str, Fraction], ...]:
        start = self.skipped()
        if not self.took("("):
            number = self.number()
            if number > 1:
                self.fail("expected a number from 0 to 1", at=start)
            return number
        states = [self.state()]
        while self.took(","):
            states.append(self.state())
        twice = _first_twice([name for name, _ in states])
        if twice is not None:
            self.fail(f"the state `{twice}` is given twice", at=start)
        self.take(")")
        if not any(number for _, number in states):
            self.fail("expected a likelihood above 0 for some state", at=start)
        return tuple(states)

    def state(self) -> tuple[str, Fraction]:
        name = self.word("a state", SPECIAL)
        self.take(":")
        return name, self.number()

    def number(self) -> Fraction:
        start = self.skipped()
        found = RATIO.match(self.text, start) or DECIMAL.match(self.text, start)
        if found is None:
            self.fail("expected a non-negative number", "Write it as 0.7, 7/10 or 7e-1")
        self.at = found.end()
        try:
            return Fraction(found.group())
        except ZeroDivisionError:
            self.fail("expected a non-negative number", "The denominator must be positive", at=start)

    def name(self) -> str:
        return self.word("a name", SPECIAL)

    def value(self) -> str:
        if self.sees('"'):
            return self.quoted()
        start, found = self.at, self.word("a value", ENDS_VALUE)
        return self.unless(joined(found), found, start)

    def unless(self, slip: tuple[str, str] | None, found: str, at: int) -> str:
        return found if slip is None else self.fail(*slip, at=at)

    def word(self, what: str, special: frozenset[str]) -> str:
        start = self.skipped()
        if self.sees('"'):
            return self.quoted()
        while self.at < len(self.text) and self.text[self.at] not in special and not self.sees_sign():
            self.at += 1
        found = self.text[start : self.at].strip()
        if not found:
            self.fail(f"expected {what}", f"Write {what}, in double quotes if it is empty or contains , | = ( ) ~ :")
        if self.at < len(self.text) and self.text[self.at] in '("':
            self.fail(f"{what} without quotes continues here", QUOTE)
        return found

    def quoted(self) -> str:
        start = self.at
        self.at += 1
        found: list[str] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == '"':
                self.at += 1
                return "".join(found)
            if character == "\\":
                self.at += 1
                escaped = ESCAPES.get(self.text[self.at : self.at + 1])
                if escaped is None:
                    self.fail('expected `"`, `\\`, `n` or `t` after the backslash')
                character = escaped
            found.append(character)
            self.at += 1
        return self.fail('expected `"`: these quotes are not closed', at=start)

    # characters

    def spaces(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def skipped(self) -> int:
        """The position of the next character that is not a space."""
        self.spaces()
        return self.at

    def sees(self, mark: str) -> bool:
        self.spaces()
        return self.text.startswith(mark, self.at)

    def sees_sign(self) -> bool:
        """Whether `_|_` comes next, with spaces or an end of the text around it."""
        after = self.at + len(SIGN)
        return (
            self.text.startswith(SIGN, self.at)
            and (self.at == 0 or self.text[self.at - 1].isspace())
            and (after == len(self.text) or self.text[after].isspace())
        )

    def took(self, mark: str) -> bool:
        if not self.sees(mark):
            return False
        self.at += len(mark)
        return True

    def take(self, mark: str) -> None:
        if not self.took(mark):
            self.fail(f"expected `{mark}`")

    def end(self) -> None:
        if self.skipped() < len(self.text):
            self.fail("expected the end of the question", QUOTE if self.text[self.at] in SPECIAL else None)

    def fail(self, what: str, remedy: str | None = None, *, at: int | None = None) -> NoReturn:
        place = self.at if at is None else at
        ended = place >= len(self.text)
        raise BadOption(
            f"{what}; the text ends" if ended else what,
            where=f"column {place + 1} of {_around(self.text, place)}",
            found=None if ended else self.text[place],
            remedy=remedy,
        )


def _first_twice(names: list[str]) -> str | None:
    """The first name that is repeated in a list."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _around(text: str, place: int, width: int = 60) -> str:
    """The text, or an excerpt around a position in a long one."""
    if len(text) <= width:
        return repr(text)
    start = max(0, min(place - width // 2, len(text) - width))
    cut = text[start : start + width]
    return repr(("..." if start else "") + cut + ("..." if start + width < len(text) else ""))
