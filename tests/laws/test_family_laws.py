"""Every family of distributions that the registry knows, and one from outside the package, keeps these laws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import chisquare
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.dist.base import Distribution
from bayesbox.dist.fit import FitOptions, register
from bayesbox.dist.number.bins import Bins
from bayesbox.dist.number.cell_tree import edges_of
from bayesbox.dist.number.density import NumberDensity
from bayesbox.dist.number.robust import Robust
from bayesbox.dist.number.rounded import Rounded
from bayesbox.errors import CannotSample
from bayesbox.explain.work import bayes_box
from bayesbox.schema.families import FAMILIES, densities
from bayesbox.source.frames import batch_of
from bayesbox.tally.values import Values


@dataclass(frozen=True)
class DoubleExponential(NumberDensity):
    """exp(-|x - center| / scale) / (2 scale) by class."""

    center: np.ndarray
    scale: np.ndarray

    @classmethod
    def fit(cls, column: str, tally: Any, options: FitOptions) -> Self:
        values, counts = tally.table
        center = np.array([np.average(values, weights=each + 1e-9) for each in counts.T])
        away = np.abs(values[:, None] - center)
        scale = (away * counts).sum(axis=0) / np.maximum(counts.sum(axis=0), 1) + 0.1 * np.ptp(values)
        return cls(column, *options.presence(tally), center, scale)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        return -np.abs(values[:, None] - self.center) / self.scale - np.log(2 * self.scale)

    def parameters(self) -> dict[str, np.ndarray]:
        return {"center": self.center, "scale": self.scale}


OWN = "double-exponential"
NUMBERS = (*densities(), OWN)
COLUMNS = {
    **{name: bb.Real(name) for name in densities()},
    "table": bb.Category(),
    "grouped": bb.Category(group="modl"),
    "bernoulli": bb.Flag(),
    "poisson": bb.Count("poisson"),
    "multinomial": bb.Count(),
    "words": bb.Words(),
}


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    register(OWN)(DoubleExponential)
    yield
    del FAMILIES[OWN]


def rows_of(name: str, rows: int = 24) -> tuple[dict[str, Any], list[str]]:
    """One column for a family, some of its values missing, and another that keeps it company."""
    draw = np.random.default_rng(5)
    y = draw.integers(0, 2, rows)
    values: Any
    if name in ("table", "grouped"):
        values = [["red", "green", "blue", "teal"][min(k, 3)] for k in draw.poisson(1 + y)]
    elif name == "bernoulli":
        values = (draw.random(rows) < 0.3 + 0.4 * y).tolist()
    elif name in ("poisson", "multinomial"):
        values = draw.poisson(1 + 3 * y)
    elif name == "words":
        values = [" ".join(draw.choice(["kiwi", "sheep", "tea", "scone"], size=3)) for _ in y]
    else:
        values = np.round(draw.gamma(2 + y, 1.5), 1) + 20
        values[3] = np.nan
    return {"x": values, "other": draw.poisson(2 + y)}, [f"class {k}" for k in y]


def learned(name: str, **options: Any) -> tuple[bb.NaiveBayes, dict[str, Any], list[str]]:
    x, y = rows_of(name)
    kind = COLUMNS.get(name) or bb.Real(name)
    count = bb.Count() if name == "multinomial" else bb.Count("poisson")
    return bb.NaiveBayes(columns={"x": kind, "other": count}, **options).fit(x, y), x, y


def density_of(clf: bb.NaiveBayes) -> Distribution:
    found = clf.classifier_.model.conditional("x")
    assert found is not None
    return found


@pytest.mark.parametrize("name", FAMILIES)
def test_an_entry_says_what_its_family_needs(name: str) -> None:
    entry = FAMILIES[name]
    family = entry.load()
    assert callable(family.fit)
    if entry.of == "real":
        assert entry.needs_values == issubclass(family.tally, Values)


@pytest.mark.parametrize("name", [*COLUMNS, OWN])
def test_log_prob_is_what_a_row_is_explained_by(name: str) -> None:
    clf, x, _ = learned(name)
    family, batch = density_of(clf), batch_of(x)
    columns = clf.classifier_.columns_of(batch)
    asked = columns["x"] if len(family.columns) == 1 else columns
    terms = family.log_prob(asked)
    assert terms.shape == (24, family.classes)
    assert np.isfinite(terms).all()
    together = clf.explain(x).terms[:, :, 0] if len(family.columns) == 1 else clf.explain(x).terms.sum(axis=2)
    np.testing.assert_allclose(terms, together, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in NUMBERS if name != "gaussian:rounded"])  # the share of a cell
def test_a_density_covers_one(name: str) -> None:
    places, heights = density_of(learned(name)[0]).curve(1e-3, 60.0, 60_001)
    np.testing.assert_allclose(trapezoid(heights, places, axis=0), 1.0, rtol=1e-3)


@pytest.mark.parametrize("name", ["table", "bernoulli", "width:10", "frequency:10", "mdl", "modl", "multinomial"])
def test_the_shares_of_levels_sum_to_one(name: str) -> None:
    shares = sum(density_of(learned(name)[0]).parameters().values())
    np.testing.assert_allclose(shares, 1.0, rtol=1e-12)


@pytest.mark.parametrize("weights", [None, "learned"])
@pytest.mark.parametrize("name", [*COLUMNS, OWN])
def test_the_work_multiplies_to_the_answer(name: str, weights: str | None) -> None:
    """A model whose columns have weights showed densities raised to their weight twice."""
    clf, x, _ = learned(name, column_weights=weights)
    classifier = clf.classifier_
    for row in (0, 3):
        case = {column: values[row : row + 1] for column, values in x.items()}
        columns = classifier.columns_of(batch_of(case))
        box = bayes_box(classifier.schema, classifier.book, classifier.rules, classifier.model, columns)
        answer = clf.predict_proba(case)[0].tolist()
        assert [float(share) for share in box.posterior] == pytest.approx(answer, rel=1e-9)


KEPT = ("auto", "grouped")  # the family, or the groups, that all rows chose are kept


@pytest.mark.filterwarnings("ignore::bayesbox.errors.UnseenLevels")  # the row that is left out may have one
@pytest.mark.parametrize("missing", ["ignore", "level"])
@pytest.mark.parametrize("name", [name for name in (*COLUMNS, OWN) if name not in KEPT])
def test_a_row_left_out_is_one_never_learned(name: str, missing: str) -> None:
    clf, x, y = learned(name, missing=missing)
    found = clf.leave_one_out(x, y)
    for row in (0, 3, 11, 23):
        others = {column: [*values[:row], *values[row + 1 :]] for column, values in x.items()}
        case = {column: values[row : row + 1] for column, values in x.items()}
        refit = bb.NaiveBayes(**clf.get_params()).fit(others, [*y[:row], *y[row + 1 :]])
        np.testing.assert_allclose(found[row], refit.predict_proba(case)[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", [*COLUMNS, OWN])
def test_a_loaded_model_answers_the_same(name: str, tmp_path: Any) -> None:
    clf, x, _ = learned(name)
    clf.save(tmp_path / "m.bayes")
    again = bb.load(tmp_path / "m.bayes")
    np.testing.assert_array_equal(again.predict_proba(x), clf.predict_proba(x))
    assert again.book_.digest() == clf.book_.digest()


DRAWS = 4000
KOLMOGOROV = 1.95  # times 1 / sqrt(n): exceeded by chance once in a thousand
CHI_SQUARE = 1e-3
UNDRAWN = ("multinomial", "words")  # they do not say how many words a row has


def drawn(family: Distribution, label: int) -> np.ndarray:
    found = family.sample(np.random.default_rng(11 + label), np.full(DRAWS, label))
    assert len(found) == DRAWS
    return np.array(found)


def require_counts(seen: np.ndarray, expected: np.ndarray) -> None:
    """Counts are what is expected, by the chi-square of all that is expected five times or more."""
    often = expected >= 5
    seen, expected = np.append(seen[often], seen[~often].sum()), np.append(expected[often], expected[~often].sum())
    seen, expected = seen[expected > 0], expected[expected > 0]
    assert chisquare(seen, expected * (seen.sum() / expected.sum())).pvalue > CHI_SQUARE


@pytest.mark.parametrize("missing", ["ignore", "level"])
@pytest.mark.parametrize("name", [name for name in NUMBERS if name != "gaussian:rounded"])
def test_numbers_that_are_drawn_have_the_density(name: str, missing: str) -> None:
    """By the distance of Kolmogorov and Smirnov from the integral of the curve that is drawn of it."""
    family = density_of(learned(name, missing=missing)[0])
    low, high = (family.low, family.high) if isinstance(family, Bins) else (1e-3, 60.0)
    places, heights = family.curve(low, high, 60_001)
    cumulative = np.vstack(
        [np.zeros(2), np.cumsum((heights[1:] + heights[:-1]) / 2 * np.diff(places)[:, None], axis=0)]
    )
    for label in range(2):
        values = np.sort(drawn(family, label))
        below = np.interp(values, places, cumulative[:, label] / cumulative[-1, label])
        steps = np.arange(DRAWS + 1) / DRAWS
        distance = max(np.abs(below - steps[1:]).max(), np.abs(below - steps[:-1]).max())
        assert distance < KOLMOGOROV / np.sqrt(DRAWS)


@pytest.mark.parametrize("name", ["gaussian:rounded", "poisson", "table", "grouped", "bernoulli"])
def test_levels_that_are_drawn_have_their_probabilities(name: str) -> None:
    family = density_of(learned(name)[0])
    for label in range(2):
        values = drawn(family, label)
        distinct, seen = np.unique(values, return_counts=True)
        shares = np.exp(family.log_prob(distinct)[:, label])
        assert shares.sum() <= 1 + 1e-9
        require_counts(np.append(seen, 0), DRAWS * np.append(shares, max(1 - shares.sum(), 0)))


@pytest.mark.parametrize("name", UNDRAWN)
def test_a_family_that_cannot_be_drawn_from_says_so(name: str) -> None:
    family = density_of(learned(name)[0])
    with pytest.raises(CannotSample) as caught:
        family.sample(np.random.default_rng(0), np.zeros(3, dtype=np.int64))
    assert caught.value.family
    assert family.interval() is None


def test_every_family_is_drawn_from_or_refused() -> None:
    known = {entry.load() for entry in FAMILIES.values()} - {FAMILIES["auto"].load()}
    assert known == {type(density_of(learned(name)[0])) for name in (*COLUMNS, OWN)} | {FAMILIES["bins"].load()}


def area(family: NumberDensity, low: float, high: float) -> np.ndarray:
    places, heights = family.curve(low, high, 20_001)
    found: np.ndarray = trapezoid(heights, places, axis=0)
    return found


@pytest.mark.parametrize("probability", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("name", NUMBERS)
def test_an_interval_holds_its_probability(name: str, probability: float) -> None:
    family = density_of(learned(name)[0])
    found = family.interval(probability)
    assert found is not None
    for label in range(2):
        low, high = found.low[label], found.high[label]
        if isinstance(family, Rounded):
            first, last = family.rounding.numbers(np.array([low, high]))
            held = np.exp(family.log_density(family.rounding.place(np.arange(first, last + 1))))[:, label].sum()
            edges = np.exp(family.log_density(np.array([low, high])))[:, label].sum()
            assert probability <= held + 1e-12
            assert held - edges <= probability
            continue
        if isinstance(family, Bins):
            edges = np.unique([low, *family.cuts[(family.cuts > low) & (family.cuts < high)], high])
            held = 0.0
            for start, end in pairwise(edges):
                place = np.searchsorted(family.cuts, (start + end) / 2)
                whole = [family.low, *family.cuts, family.high][place : place + 2]
                held += np.exp(family.log_bins[place, label]) * (end - start) / (whole[1] - whole[0])
        else:
            steps = edges_of(family.starts[1:]) if isinstance(family, Robust) else np.empty(0)  # not continuous there
            inside = steps[(steps > low) & (steps < high)]
            starts, ends = [low, *inside], [*np.nextafter(inside, -np.inf), high]
            held = sum(area(family, start, end)[label] for start, end in zip(starts, ends, strict=True))
        assert held == pytest.approx(probability, rel=1e-5)


@pytest.mark.parametrize("probability", [0.5, 0.9])
@pytest.mark.parametrize("name", ["table", "grouped", "bernoulli", "mdl", "width:10"])
def test_the_likely_levels_are_enough_and_one_less_is_not(name: str, probability: float) -> None:
    family = density_of(learned(name)[0])
    shares = {level: values / sum(family.parameters().values()) for level, values in family.parameters().items()}
    likely = family.likely_levels(probability)
    assert likely is not None
    for label, levels in enumerate(likely):
        held = [shares[level][label] for level in levels]
        assert held == sorted(held, reverse=True)
        assert sum(held) >= probability - 1e-9
        assert sum(held[:-1]) < probability
    assert density_of(learned("gaussian")[0]).likely_levels() is None


@pytest.mark.parametrize("probability", [0, 1, 90, float("nan")])
def test_the_probability_of_an_interval_is_between_0_and_1(probability: float) -> None:
    for name in ("gaussian", "table"):
        family = density_of(learned(name)[0])
        for ask in (family.interval, family.likely_levels):
            with pytest.raises(bb.BadOption) as caught:
                ask(probability)
            assert repr(caught.value.found) == repr(probability)


def test_a_family_whose_terms_are_not_a_density_is_not_drawn_from() -> None:
    @dataclass(frozen=True)
    class Doubled(DoubleExponential):
        def log_density(self, values: np.ndarray) -> np.ndarray:
            return super().log_density(values) + np.log(2)

    nothing = np.zeros(1)
    family = Doubled("x", nothing, nothing, nothing, nothing + 1)
    for ask in (family.interval, lambda: family.sample(np.random.default_rng(0), np.zeros(1, dtype=np.int64))):
        with pytest.raises(CannotSample) as caught:
            ask()
        assert caught.value.family == OWN
        assert caught.value.found == pytest.approx(2)


def test_a_family_from_outside_is_shown_as_any_other() -> None:
    clf, x, _ = learned(OWN)
    assert clf.density_svg("x").count("<polyline") == 2
    assert clf.density_svg("x", ["gaussian", OWN]).count("<polyline") == 4
    ruler = next(each for each in clf.nomogram("class 1").rulers if each.column == "x")
    assert ruler.is_scale
    classifier = clf.classifier_
    columns = classifier.columns_of(batch_of({name: values[:1] for name, values in x.items()}))
    text = bayes_box(classifier.schema, classifier.book, classifier.rules, classifier.model, columns).work("").text()
    assert f"{OWN}(" in text
    with refusal(bb.BadOption, found="gausian"):
        bb.Real("gausian")
