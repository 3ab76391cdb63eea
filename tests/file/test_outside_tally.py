"""Tallies that are written outside of the package: one registration, and a model file holds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pytest
from tests.file.save_examples import COLUMNS, LABELS, learn, resealed
from tests.refusal import refusal

from bayesbox._core import ExactArray
from bayesbox.classifier.registry import KINDS, ModelKind, register_kind
from bayesbox.errors import BadData, BadModelFile, BadOption
from bayesbox.file import arrow, container
from bayesbox.file.arrow import DOUBLE, TEXT
from bayesbox.file.faults import MemberFault
from bayesbox.file.load import from_bytes
from bayesbox.file.registry import CODECS
from bayesbox.file.save import to_bytes
from bayesbox.file.strict_json import parse
from bayesbox.rule.options import NaiveOptions
from bayesbox.table.naive.classifier import NaiveClassifier
from bayesbox.tally.base import TALLIES, quoted, register
from bayesbox.tally.book import TOGETHER, Book
from bayesbox.tally.codec.book import book_from_arrow, book_to_arrow, member_names
from bayesbox.tally.counts import Counts
from bayesbox.tally.moments import Moments


class Oldest:
    """The greatest age in each class: a tally that cannot be subtracted from."""

    form: ClassVar[str] = "oldest"
    members: ClassVar[tuple[str, ...]] = ("oldest.arrow",)
    extends: ClassVar[str | None] = None
    together: ClassVar[bool] = True

    def __init__(self, classes: tuple[str, ...], ages: Mapping[str, float]) -> None:
        self.classes = classes
        self.ages = dict(ages)

    def zero(self) -> Self:
        return type(self)(self.classes, {})

    def __add__(self, other: Oldest) -> Self:
        pairs = [*self.ages.items(), *other.ages.items()]
        ages = {label: max(age for name, age in pairs if name == label) for label, _ in pairs}
        return type(self)(tuple(sorted({*self.classes, *other.classes})), ages)

    def with_classes(self, classes: tuple[str, ...]) -> Self:
        return type(self)(classes, {label: age for label, age in self.ages.items() if label in classes})

    def is_empty(self) -> bool:
        return not self.ages

    def canonical(self) -> Iterator[bytes]:
        yield from (quoted([label, repr(self.ages[label])]) for label in sorted(self.ages))

    @classmethod
    def to_arrow(cls, tallies: Mapping[str, Any]) -> dict[str, bytes]:
        ages = sorted(tallies[TOGETHER].ages.items())
        columns = {"class": pa.array([label for label, _ in ages]), "age": pa.array([age for _, age in ages])}
        return {cls.members[0]: arrow.write(columns)}

    @classmethod
    def from_arrow(cls, tables: Mapping[str, bytes], book: Book) -> dict[str, Self]:
        table = arrow.read(tables[cls.members[0]], {"class": (TEXT,), "age": (DOUBLE,)})
        labels, ages = table["class"].to_pylist(), table["age"].to_pylist()
        if list(book.classes) != labels or not np.isfinite(ages).all():
            raise ValueError("not one age a class")
        return {TOGETHER: cls(book.classes, dict(zip(labels, ages, strict=True)))}


class AgeClassifier(NaiveClassifier):
    """Naive Bayes that counts the greatest age besides."""

    kind = "ages"

    def count(self, columns: Any, labels: Any, schema: Any, **options: Any) -> Book:
        book = super().count(columns, labels, schema, **options)
        ages: dict[str, float] = {}
        for code, age in zip(labels.codes.tolist(), np.asarray(columns["age"]).tolist(), strict=True):
            label = labels.levels[code]
            ages[label] = max(float(age), ages.get(label, -np.inf))
        oldest = Oldest(book.classes, ages)
        return Book(book.classes, book.class_counts, book.columns, label_type=book.label_type, joint=oldest)


class Visits(Counts):
    """Counts that are to be told from those of categories: only the names of its form and its table are new."""

    form: ClassVar[str] = "visits"
    members: ClassVar[tuple[str, ...]] = ("visits.arrow",)


class Sizes(Moments):
    """Moments whose table has a second one beside it."""

    form: ClassVar[str] = "sizes"
    members: ClassVar[tuple[str, ...]] = ("sizes.arrow",)
    extends: ClassVar[str | None] = Moments.form

    @classmethod
    def to_arrow(cls, tallies: Mapping[str, Any]) -> dict[str, bytes]:
        return {cls.members[0]: arrow.write({"column": pa.array(list(tallies))})}

    @classmethod
    def from_arrow(cls, tables: Mapping[str, bytes], book: Book) -> dict[str, Self]:
        names = arrow.read(tables[cls.members[0]], {"column": (TEXT,)})["column"].to_pylist()
        return {name: cls(book.classes, book[name].sums if name in book else None) for name in names}


@pytest.fixture
def registered() -> Iterator[None]:
    for tally in (Oldest, Visits, Sizes):
        register(tally)
    register_kind(ModelKind("ages", "ages", f"{__name__}:AgeClassifier", ""))
    yield
    for form in ("oldest", "visits", "sizes"):
        TALLIES.pop(form, None)
    del KINDS["ages"], CODECS["ages"]


@pytest.fixture
def saved(registered: None) -> bytes:
    return to_bytes(learn(AgeClassifier(NaiveOptions(numeric="gaussian")), COLUMNS, LABELS))


def test_a_model_with_a_tally_and_a_kind_of_others(saved: bytes) -> None:
    again = from_bytes(saved)
    assert type(again) is AgeClassifier
    assert again.book.joint.ages == {"H": 45.0, "L": 25.0}
    learn(again, {"age": [80], "car": ["suv"], "smoker": [False]}, ["L"])
    assert again.book.joint.ages == {"H": 45.0, "L": 80.0}
    members = container.unpack(saved)
    assert list(members) == ["model.json", "classes.arrow", "counts.arrow", "moments.arrow", "oldest.arrow"]
    assert parse(members["model.json"])["extension"] == "tests"
    assert to_bytes(from_bytes(saved)) == saved


def test_its_faults_are_named_by_its_table(saved: bytes) -> None:
    table = arrow.write({"class": pa.array(["H"]), "age": pa.array([1.0])})
    with pytest.raises(BadModelFile) as caught:
        from_bytes(resealed(saved, lambda members: members.update({"oldest.arrow": table})), name="m.bayes")
    assert caught.value.where == "m.bayes, oldest.arrow"
    assert caught.value.what == "not one age a class"


def test_without_its_registration(saved: bytes) -> None:
    classifier = from_bytes(saved)
    del TALLIES["oldest"]
    with pytest.raises(BadModelFile) as caught:
        from_bytes(saved, name="m.bayes")
    assert caught.value.where == "m.bayes, oldest.arrow"
    with refusal(BadData, what="oldest"):
        to_bytes(classifier)


CLASSES = ("a", "b")
ROWS = ExactArray.from_integers(np.array([3, 2]))


def book(**columns: Any) -> Book:
    return Book(CLASSES, ROWS, columns)


def visits() -> Visits:
    return Visits(CLASSES, ("x", "y"), ExactArray.from_integers(np.array([2, 1, 0, 2])))


def sums() -> Any:
    return Moments.of(CLASSES, np.array([1.0, 2.5, 4.0]), np.array([0, 0, 1], dtype=np.int32)).sums


@pytest.mark.usefixtures("registered")
def test_a_form_that_inherits_all_but_its_names() -> None:
    given = book(shop=visits(), car=Counts(CLASSES, visits().levels, visits().cells))
    tables = book_to_arrow(given)
    assert list(tables) == ["classes.arrow", "counts.arrow", "visits.arrow"]
    again = book_from_arrow(tables, "text", ("shop", "car"))
    assert [type(again[name]) for name in again] == [Visits, Counts]
    assert again == given


@pytest.mark.usefixtures("registered")
def test_a_form_that_extends_another() -> None:
    given = book(size=Sizes(CLASSES, sums()), age=Moments(CLASSES, sums()))
    tables = book_to_arrow(given)
    assert list(tables) == ["classes.arrow", "moments.arrow", "sizes.arrow"]
    again = book_from_arrow(tables, "text", ("size", "age"))
    assert [type(again[name]) for name in again] == [Sizes, Moments]
    assert again == given
    strange = tables | {"sizes.arrow": arrow.write({"column": pa.array(["weight"])})}
    with pytest.raises(MemberFault) as caught:
        book_from_arrow(strange, "text", ())
    assert caught.value.member == "sizes.arrow"
    assert "`weight`" in caught.value.reason


@pytest.mark.usefixtures("registered")
def test_a_column_has_one_tally() -> None:
    tables = book_to_arrow(book(shop=visits())) | book_to_arrow(book(shop=Moments(CLASSES, sums())))
    with pytest.raises(MemberFault) as caught:
        book_from_arrow(tables, "text", ())
    assert caught.value.member == "visits.arrow"
    assert "`shop`" in caught.value.reason


def test_two_forms_cannot_have_the_same_table() -> None:
    known = member_names()

    class Shops(Counts):
        form: ClassVar[str] = "shops"

    with refusal(BadOption, found=("counts.arrow",)):
        register(Shops)
    assert "shops" not in TALLIES
    assert member_names() == known
