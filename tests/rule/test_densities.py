"""Densities against scipy's and written-out formulas, the grid of the kernel, and what `auto` chooses."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import trapezoid
from tests.refusal import refusal, warning

import bayesbox as bb
from bayesbox.dist.fit import FitOptions, ValueTable, fitted
from bayesbox.dist.number.choose import CANDIDATES, choose, folds_of
from bayesbox.dist.number.kernel import DIRECT
from bayesbox.errors import SuspiciousData, UnknownColumn
from bayesbox.rule.smoothing import Laplace
from bayesbox.schema.families import densities


def of_values(density: str, column: str, values: np.ndarray, counts: np.ndarray) -> Any:
    return fitted(column, ValueTable(values, counts), FitOptions(Laplace(), density=density)).distribution


def counted(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, place = np.unique(x, return_inverse=True)
    counts = np.zeros((len(values), int(y.max()) + 1))
    np.add.at(counts, (place, y), 1)
    return values, counts


def sample(rows: int = 200, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, rows)
    return np.round(random.gamma(2 + y, 1.5), 2) + 0.01, y


def test_student_is_the_predictive_of_the_conjugate_prior() -> None:
    x, y = sample()
    asked = np.array([-3.0, 0.5, 2.0, 40.0])
    found = of_values("student", "x", *counted(x, y)).log_density(asked)
    m0, v0 = x.mean(), x.var()
    for label in (0, 1):
        own = x[y == label]
        n, a = len(own), own.mean()
        shape, rate = (1 + n) / 2, v0 / 2 + ((own - a) ** 2).sum() / 2 + n * (a - m0) ** 2 / (2 * (n + 1))
        scale = np.sqrt(rate * (n + 2) / (shape * (n + 1)))
        expected = stats.t.logpdf(asked, 2 * shape, (m0 + n * a) / (n + 1), scale)
        np.testing.assert_allclose(found[:, label], expected, rtol=1e-10)


def test_a_spaced_gaussian_is_no_narrower_than_a_sixth_of_the_mean_gap() -> None:
    x, y = np.array([1.0, 1.0, 1.0, 2.0, 4.0, 9.0]), np.array([0, 0, 0, 1, 1, 1])
    found = of_values("gaussian:spacing", "x", *counted(x, y))
    np.testing.assert_allclose(found.std, [(9 - 1) / 3 / 6, x[3:].std()], rtol=1e-12)
    asked = np.array([1.0, 3.0])
    expected = stats.norm.logpdf(asked[:, None], [1.0, 5.0], found.std)
    np.testing.assert_allclose(found.log_density(asked), expected, rtol=1e-12)
    clf = bb.NaiveBayes(numeric="gaussian:spacing").fit({"x": x}, y)
    np.testing.assert_allclose(clf.explain({"x": asked}).terms[:, :, 0], expected, rtol=1e-12)
    with refusal(bb.BadOption, found=0.5):
        bb.Real("gaussian:spacing", floor=0.5)


def rounded(x: list[float], y: list[int]) -> Any:
    return of_values("gaussian:rounded", "x", *counted(np.array(x), np.array(y)))


def test_a_rounded_gaussian_is_the_probability_of_a_cell() -> None:
    """The temperatures of the weather table: steps of 21 / 11, cells around the multiples of it."""
    yes, no = [83, 70, 68, 64, 69, 75, 75, 72, 81], [85, 80, 65, 72, 71]
    x, y = np.array([*yes, *no], dtype=float), np.array([0] * 9 + [1] * 5)
    found = rounded(x.tolist(), y.tolist())
    step = (85 - 64) / 11
    assert found.rounding.width == pytest.approx(step, rel=1e-15)
    asked = np.array([66.0, 64.0, 70.5, 90.0, 300.0])
    for label in (0, 1):
        own = np.rint(x[y == label] / step) * step
        middle = np.rint(asked / step) * step
        deviation = max(own.std(), step / 6)
        edges = [(middle + side * step / 2 - own.mean()) / deviation for side in (-1, 1)]
        lower, upper = map(stats.norm.logsf, edges)
        expected = lower + np.log1p(-np.exp(upper - lower))
        np.testing.assert_allclose(found.log_density(asked)[:, label], expected, rtol=1e-9)
    clf = bb.NaiveBayes(numeric="gaussian:rounded").fit({"x": x}, y)
    np.testing.assert_allclose(clf.explain({"x": asked}).terms[:, :, 0], found.log_density(asked), rtol=1e-15)
    edges = found.rounding.place(np.array([-0.5, 0.5]))
    np.testing.assert_allclose(edges, [-step / 2, step / 2])
    with refusal(bb.BadOption, found=0.5):
        bb.Real("gaussian:rounded", floor=0.5)


def test_no_class_of_one_value_is_surer_than_its_cell() -> None:
    """Three deviations of the floor are within half a cell: 99.73 %, whatever the unit."""
    for unit in (1.0, 1e-320, 5e-324, 3e307):
        found = rounded([2 * unit, 2 * unit, 2 * unit, unit, 4 * unit], [0, 0, 0, 1, 1])
        assert np.exp(found.log_density(np.array([2 * unit]))[0, 0]) == pytest.approx(0.9973002039367398, rel=1e-12)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-300, 300), st.integers(0, 2)), min_size=2, max_size=20),
    st.integers(-1000, 900),
    st.floats(0.01, 3.0),
)
def test_the_unit_of_a_rounded_gaussian_does_not_matter(rows: Any, power: int, factor: float) -> None:
    values = np.array([value for value, _ in rows]) * factor
    classes = np.array([label for _, label in rows])
    table, counts = counted(values, classes)
    one = of_values("gaussian:rounded", "x", table, counts)
    scaled = of_values("gaussian:rounded", "x", np.ldexp(table, power), counts)
    if len(table) < 2:
        assert one is scaled is None
        return
    asked = np.array([-4000.0, *table, 0.3, 77.7, 1e5])
    expected = one.log_density(asked)
    np.testing.assert_array_equal(scaled.log_density(np.ldexp(asked, power)), expected)
    assert np.isfinite(expected).all()
    assert (expected < 0).all()


def test_two_values_never_share_a_cell() -> None:
    for pair in ([3.0, 5.0], [1.5, 2.5], [-5.0, -3.0], [0.3, 0.5], [-1.7e308, 1.7e308], [0.0, 5e-324], [1e300, 2e300]):
        found = rounded([pair[0], pair[0], pair[1]], [0, 0, 1])
        np.testing.assert_array_equal(np.argmax(found.log_density(np.array(pair)), axis=1), [0, 1])


def test_a_class_without_values_has_the_cells_of_the_column() -> None:
    x, y = np.array([1.0, 2.0, 5.0, np.nan, np.nan]), np.array(list("aabcc"))
    clf = bb.NaiveBayes(numeric="gaussian:rounded").fit({"x": x}, y)
    terms = clf.explain({"x": np.array([1.0, 3.0])}).terms[:, :, 0]
    whole = of_values("gaussian:rounded", "x", x[:3], np.ones((3, 1))).log_density(np.array([1.0, 3.0]))
    np.testing.assert_array_equal(terms[:, 2], whole[:, 0])
    with warning(SuspiciousData, reason="constant", columns=("x",)):
        same = bb.NaiveBayes(numeric="gaussian:rounded").fit({"x": np.full(5, 3.0)}, y)
    np.testing.assert_allclose(same.predict_proba({"x": np.array([8.0])}), [[0.4, 0.2, 0.4]])


def test_values_between_and_beyond_the_known_ones() -> None:
    """The table of known cells and the cells worked out on the way give the same terms."""
    x, y = sample()
    clf = bb.NaiveBayes(numeric="gaussian:rounded").fit({"x": x}, y)
    density = clf.classifier_.model.conditional("x")
    asked = np.array([-1e6, -3.0, 0.0, x.min(), 1.2345, np.nan, x.max(), 40.0, 1e9, 1e200])
    terms = clf.explain({"x": asked}).terms[:, :, 0]
    there = ~np.isnan(asked)
    np.testing.assert_array_equal(terms[there], density.log_density(asked[there]))
    assert not terms[5].any()  # missing
    assert not terms[9].any()  # no double tells how far: left out
    assert (terms[:5] < 0).all()
    assert (np.diff(terms[[6, 7, 8]], axis=0) < 0).all()


def test_rounded_gaussians_are_written_and_refused_by_name() -> None:
    x, y = sample()
    clf = bb.NaiveBayes(numeric="gaussian:rounded").fit({"x": x}, np.array(["no", "yes"])[y])
    assert "gaussian:rounded" in clf.density_svg("x")
    with refusal(bb.errors.CannotExport, what="`x`"):
        clf.to_sql()
    with refusal(bb.BadOption, found="Rounded"):
        bb.AveragedNaiveBayes(numeric="gaussian:rounded").fit({"x": x}, y).predict({"x": x})


def test_lognormal_is_scipys() -> None:
    x, y = sample()
    found = of_values("lognormal", "x", *counted(x, y)).log_density(np.array([0.1, 3.0, 60.0]))
    for label in (0, 1):
        logs = np.log(x[y == label])
        expected = stats.lognorm.logpdf([0.1, 3.0, 60.0], logs.std(), scale=np.exp(logs.mean()))
        np.testing.assert_allclose(found[:, label], expected, rtol=1e-10)


def test_kernel_is_the_sum_of_its_curves() -> None:
    x, y = sample()
    values, counts = counted(x, y)
    asked = np.array([-2.0, 0.5, 2.345, 30.0])
    found = of_values("kernel", "x", values, counts).log_density(asked)
    gap = (values[-1] - values[0]) / (len(values) - 1)
    for label in (0, 1):
        own = x[y == label]
        width = np.sqrt((own.max() - own.min()) ** 2 / len(own) + gap**2 / 12)
        terms = stats.norm.logpdf(asked[:, None], own[None, :], width)
        expected = np.logaddexp.reduce(terms, axis=1) - np.log(len(own))
        np.testing.assert_allclose(found[:, label], expected, rtol=1e-10)


def test_the_kernels_grid_is_near_the_sum() -> None:
    random = np.random.default_rng(2)
    y = random.integers(0, 2, 9000)
    x = np.where(y == 0, random.normal(size=9000), random.exponential(size=9000))
    density = of_values("kernel", "x", *counted(x, y))
    assert all(len(curves.values) > DIRECT for curves in density.curves)
    asked = np.concatenate([np.linspace(-1.5, 1.5, 501), [-30.0, 25.0]])  # in the midst, and beyond the grid
    found, exact = density.log_density(asked), density.exact_log_density(asked)
    np.testing.assert_array_equal(found[-2:], exact[-2:])
    within = exact[:-2] > -8
    assert np.abs(found[:-2] - exact[:-2])[within].max() < 1e-5


@pytest.mark.parametrize("method", ["gaussian", "student", "lognormal", "kernel"])
def test_densities_integrate_to_one(method: str) -> None:
    x, y = sample()
    density = of_values(method, "x", *counted(x, y))
    grid = np.linspace(-400, 400, 400_001)
    clf = bb.NaiveBayes(numeric=method).fit({"x": x}, y)
    terms = clf.explain({"x": grid}).terms[:, :, 0]
    mass = trapezoid(np.where(terms == 0, 0.0, np.exp(terms)), grid, axis=0)
    np.testing.assert_allclose(mass, 1.0, atol=2e-3)
    assert density is not None


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 7), min_size=2, max_size=2), min_size=1, max_size=20).map(np.array))
def test_folds_are_a_division_of_the_rows(counts: np.ndarray) -> None:
    parts = folds_of(counts.astype(float))
    np.testing.assert_array_equal(sum(parts), counts)
    for part in parts:
        assert (part >= 0).all()
    sizes = np.array([part.sum(axis=0) for part in parts])
    assert (sizes.max(axis=0) - sizes.min(axis=0) <= len(counts) * 7 // 5 + 1).all()
    weighted = folds_of(counts * 0.3)
    np.testing.assert_allclose(sum(weighted), counts * 0.3)
    swapped = folds_of(counts[:, ::-1].astype(float))
    for part, other in zip(parts, swapped, strict=True):
        np.testing.assert_array_equal(part, other[:, ::-1])


def test_auto_finds_the_shape() -> None:
    random = np.random.default_rng(3)
    y = random.integers(0, 2, 2000)
    shapes = {
        "gaussian": random.normal(y * 1.5, 1.0),
        "lognormal": np.exp(random.normal(y * 0.7, 0.8)),
        "step": random.uniform(0, 1, 2000) * 0.5 + 0.5 * (y ^ (random.random(2000) < 0.1)),
        "humps": np.where(
            y == 0, random.normal(0, 0.4, 2000), random.choice([-2.0, 2.0], 2000) + random.normal(0, 0.4, 2000)
        ),
    }
    found = {name: choose(*counted(x, y), FitOptions(Laplace())) for name, x in shapes.items()}
    assert all(set(choice.losses) == set(CANDIDATES) for choice in found.values())
    for name in ("gaussian", "lognormal"):  # where it is the truth, none is better but by chance
        assert found[name].losses[name] < min(found[name].losses.values()) + 0.003
    assert found["lognormal"].losses["gaussian"] > found["lognormal"].losses["lognormal"] + 0.01
    assert found["step"].density in ("mdl", "modl")
    assert found["humps"].losses["kernel"] < found["humps"].losses["gaussian"] - 0.01
    for name, choice in found.items():
        assert choice.losses[choice.density] == min(choice.losses.values()), name


def test_pictures() -> None:
    x, y = sample()
    clf = bb.NaiveBayes(numeric="mdl").fit({"a<b": x}, np.array(["no", "yes"])[y])
    names = ["gaussian", "kernel", "mdl", "auto"]
    root = ElementTree.fromstring(clf.density_svg("a<b", names))
    curves = [each for each in root.iter() if each.tag.endswith("polyline")]
    assert len(curves) == len(names) * 2
    assert len(ElementTree.fromstring(clf.density_svg("a<b"))) > 3
    moments = bb.NaiveBayes().fit({"x": x, "c": np.where(x > 2, "u", "v")}, y)
    ElementTree.fromstring(moments.density_svg("x", ["gaussian", "student"]))
    with refusal(bb.BadOption, what="`x`"):
        moments.density_svg("x", ["kernel"])
    with refusal(bb.BadOption, what="`c`"):
        moments.density_svg("c")
    with pytest.raises(UnknownColumn):
        moments.density_svg("y")


@pytest.mark.filterwarnings("ignore::bayesbox.DataWarning")
@pytest.mark.parametrize("numeric", densities())
@pytest.mark.parametrize("steps", [[0, 0, 1, 1, 0, 1], [0, 1, 2, 3, 4, 5], [0, 0, 1, 0, 0, 0], [1, 2, 4, 8, 16, 9]])
def test_the_least_numbers_there_are(numeric, steps):
    x = {"x": [5e-324 * step for step in steps]}
    clf = bb.NaiveBayes(numeric=numeric, columns={"x": "real"}).fit(x, list("ababab"))
    for p in (clf.predict_proba(x), clf.predict_proba({"x": [1e-300, 1.0]}), clf.leave_one_out(x, list("ababab"))):
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("floor", [1e-4, 0.0])
def test_a_class_without_spread_is_drawn_as_a_spike(floor):
    """It was a flat line at 0, or made one of the others."""
    x = [5.0] * 6 + [1.0, 2.0, 4.0, 6.0, 8.0, 9.0]
    clf = bb.NaiveBayes(numeric="gaussian", columns={"x": bb.Real("gaussian", floor=floor)})
    clf.fit({"x": x}, ["same"] * 6 + ["spread"] * 6)
    root = ElementTree.fromstring(clf.density_svg("x"))
    svg = "{http://www.w3.org/2000/svg}"
    spikes = [each for each in root.iter(f"{svg}line") if each.get("stroke-width")]
    assert len(spikes) == 1
    assert spikes[0].get("x1") == spikes[0].get("x2")
    (curve,) = root.iter(f"{svg}polyline")
    heights = [float(point.split(",")[1]) for point in curve.get("points").split()]
    assert min(heights) == float(spikes[0].get("y2"))  # the other class has the whole height
