"""The public `Joint`: probabilities and independence in a table, without a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.classifier.train import source_of
from bayesbox.errors import BadData, BadOption, UnknownColumn
from bayesbox.network.joint.independence import Verdict, verdict
from bayesbox.network.joint.model import JointCounts, common_type, require_column
from bayesbox.network.joint.query import Answer, answer
from bayesbox.network.query.notation import Independence, Query, parse, parse_query, parse_terms
from bayesbox.network.query.probability_table import ProbabilityTable
from bayesbox.schema.columns import as_numbers
from bayesbox.schema.encode import MISSING, Encoded, encode
from bayesbox.schema.flags import FLAG_LEVELS, flag_codes
from bayesbox.schema.infer import kind_of
from bayesbox.schema.kinds import NOT_DECLARED, Kind, kinds_by_key
from bayesbox.schema.levels import label_type_of
from bayesbox.source.base import Batch, Source
from bayesbox.tally.base import digest_of
from bayesbox.tally.count import checked_weights
from bayesbox.tally.family import Family

if TYPE_CHECKING:
    from bayesbox.explain.steps import Work

Given = str | Sequence[str] | None


class Joint:
    """The empirical joint distribution of the columns of a table: no smoothing, no model.

    `data` is a frame, a table, a list of dicts, or the name of a file; `weight` names a column of weights: a
    row counts as this many rows. The levels of a numeric column are its distinct values. `columns` declares kinds: a
    `Category` is read as text, and may have levels that do not occur; `na` adds values that mean missing in a file.

    >>> shapes = Joint({"colour": ["red", "red", "blue"], "size": ["large", "small", "small"]})
    >>> shapes.query("P(colour=red)"), shapes.fraction("P(colour=red | size=small)")
    (0.6666666666666666, Fraction(1, 2))
    >>> shapes.query("P(colour | size=small)")
    P(colour | size=small)
      blue  1/2  0.5
      red   1/2  0.5
    >>> shapes.independent("colour=red", "size=large")
    not independent: P(colour=red, size=large) = 1/3, P(colour=red) P(size=large) = 2/3 x 1/3 = 2/9
    """

    def __init__(
        self,
        data: Any,
        weight: str | None = None,
        *,
        columns: Mapping[Any, object] | None = None,
        na: Sequence[str] = (),
    ) -> None:
        kinds = {str(name): kind for name, kind in kinds_by_key(columns).items()}
        source = source_of(data, declared=kinds, weight=weight, na=na, bad_rows="error", format=None)
        self.table = count_table(source, weight=weight, kinds=kinds)

    @classmethod
    def of(cls, table: JointCounts) -> Joint:
        """A joint distribution from existing counts."""
        joint = cls.__new__(cls)
        joint.table = table
        return joint

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.table.columns

    @property
    def n(self) -> int | float:
        """The number of rows, or the sum of the weights."""
        total = self.table.n
        return int(total) if total.denominator == 1 else float(total)

    def levels(self, column: str) -> list[str]:
        """The levels of a column.

        Parameters
        ----------
        column : str

        Returns
        -------
        list of str
        """
        return self.table.levels(column)

    def query(self, text: str) -> float | ProbabilityTable:
        """The answer to P(...): a float if every target has a value, else a table of probabilities.

        Parameters
        ----------
        text : str, a question such as "P(rain=yes | grass=wet)"

        Returns
        -------
        float, or ProbabilityTable
        """
        value = self.ask(text).value
        return float(value) if isinstance(value, Fraction) else value

    def fraction(self, text: str) -> Fraction:
        """The probability of an event, exactly.

        Parameters
        ----------
        text : str, a question such as "P(rain=yes | grass=wet)"

        Returns
        -------
        Fraction
        """
        value = self.ask(text).value
        if isinstance(value, ProbabilityTable):
            raise BadOption(
                "a fraction needs an event: every target must have a value",
                found=text,
                remedy="Give each target a value, or use query(...).fractions",
            )
        return value

    def odds(self, text: str) -> float:
        """The odds p / (1 - p) of an event; infinite if it is certain.

        Parameters
        ----------
        text : str, a question such as "P(rain=yes | grass=wet)"

        Returns
        -------
        float
        """
        p = self.fraction(text)
        return math.inf if p == 1 else float(p / (1 - p))

    def ask(self, text: str | Query) -> Answer:
        """The answer with the number of rows behind it: `.value`, `.counted`, `.given`, `.left_out`.

        Parameters
        ----------
        text : str, a question such as "P(rain=yes | grass=wet)"

        Returns
        -------
        Answer
        """
        return answer(self.table, text if isinstance(text, Query) else parse_query(text))

    def independent(self, left: str, right: str | None = None, given: Given = None) -> Verdict:
        """Whether two events or two variables are independent, given others.

        The answer is true or false by the equality P(a, b | c) = P(a | c) P(b | c) of fractions, for every value in the
        case of variables; `.chi_square` and `.g` test whether the difference may be due to chance. The first text may
        be the whole question: "colour=red _|_ size=large | class=+".

        Parameters
        ----------
        left : str, an event or a variable such as "colour=red", or the whole question
        right : str or None (default), the other event or variable
        given : str, list of str, or None (default), what is known

        Returns
        -------
        Verdict, true or false; `.chi_square`, `.g`
        """
        if right is not None:
            texts = [] if given is None else [given] if isinstance(given, str) else list(given)
            terms = tuple(term for text in texts for term in parse_terms(text))
            return verdict(self.table, Independence(parse_terms(left), parse_terms(right), terms))
        question = parse(left)
        if given is not None or not isinstance(question, Independence):
            raise BadOption("independence needs two sides", found=left, remedy="Pass both, or one text with _|_")
        return verdict(self.table, question)

    def work(self, text: str) -> Work:
        """The calculation of P(...), or of independence, as text, HTML and LaTeX.

        Parameters
        ----------
        text : str, a question such as "P(rain=yes | grass=wet)"

        Returns
        -------
        the work, which prints as text and shows as HTML in a notebook; `.html()`, `.latex()`, `.to_dict()`

        Examples
        --------
        >>> print(Joint({"colour": ["red", "red", "blue"]}).work("P(colour=red)"))
        P(colour=red)
        rows = 3
        P(colour=red) = 2/3 = 0.6666667
        """
        question = parse(text)
        if isinstance(question, Independence):
            return verdict(self.table, question).work()
        return self.ask(question).work()

    def __add__(self, other: Joint) -> Joint:
        return Joint.of(self.table + other.table) if isinstance(other, Joint) else NotImplemented

    def __sub__(self, other: Joint) -> Joint:
        return Joint.of(self.table - other.table) if isinstance(other, Joint) else NotImplemented

    def digest(self) -> str:
        """SHA-256 of the counts, in hex: equal for the same multiset of rows.

        Returns
        -------
        str, 64 hexadecimal digits
        """
        return digest_of(self.table.family.canonical())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Joint):
            return NotImplemented
        return self.table.family == other.table.family

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Joint({', '.join(self.columns)}; n={self.n:,})"


def count_table(
    source: Source,
    *,
    weight: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    only: Sequence[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> JointCounts:
    """The joint counts of the columns of a source (or `only` some of them), counted batch by batch."""
    kinds = kinds or {}
    types: dict[str, str] = {}

    def families() -> Iterator[Family]:
        for batch in source.batches():
            wanted = _wanted(batch, kinds, weight, only, where=source.name)
            encoded = {
                name: _encoded(batch[name], name, kinds.get(name, NOT_DECLARED), where=source.name) for name in wanted
            }
            for name, column in encoded.items():
                if column.values:
                    kind = label_type_of(list({type(value): value for value in column.values}.values()))
                    types[name] = common_type(types.get(name, kind), kind)
            codes = [column.codes for column in encoded.values()]
            levels = [column.levels for column in encoded.values()]
            yield Family.of(wanted, codes, levels, _weights(batch, weight), rows=batch.rows)
            if progress is not None:
                progress(batch.rows)

    family = Family.total(families())
    domains = {name: kind.levels for name, kind in kinds.items() if kind.levels is not None}
    types |= dict.fromkeys(domains, "text")
    if family is None:
        raise BadData("the data have no rows", where=source.name)
    return JointCounts(family, types, domains, source.name)


def _wanted(
    batch: Batch, kinds: Mapping[str, Kind], weight: str | None, only: Sequence[str] | None, *, where: str
) -> list[str]:
    """The columns to count."""
    for name in (*kinds, *([] if weight is None else [weight])):
        if name not in batch.names:
            raise UnknownColumn(name, available=batch.names, where=where)
    for name in only or ():
        require_column(name, batch.names, where=where)
    if only is not None:
        return list(dict.fromkeys(only))
    return [name for name in batch.names if name != weight and kinds.get(name, NOT_DECLARED).is_used]


def _weights(batch: Batch, weight: str | None) -> ExactArray | None:
    if weight is None:
        return None
    numbers = np.asarray(as_numbers(batch[weight], name=weight), dtype=np.float64)
    weights = checked_weights(numbers, batch.rows)
    assert weights is not None
    return ExactArray.from_doubles(weights)


def _encoded(column: object, name: str, kind: Kind, *, where: str) -> Encoded:
    """A column as codes, by its declared kind if there is one."""
    column = kind.read(column, name=name, where=where)
    kind_of(column, name=name)  # an error that names the column if it has no levels
    if kind.is_number:
        return encode(as_numbers(column, name=name, where=where))
    found = encode(column)
    if not kind.is_flag:
        return found
    flags = flag_codes(found.levels, lambda: found.codes, name=name, where=where)
    distinct = list(dict.fromkeys(flags))  # those that occur
    place = np.array([*(distinct.index(flag) for flag in flags), MISSING], dtype=np.int32)
    return Encoded(place[found.codes], [FLAG_LEVELS[flag] for flag in distinct], [bool(flag) for flag in distinct])
