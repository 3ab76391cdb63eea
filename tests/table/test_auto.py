"""AutoBayes: its parts against other libraries, and the whole as a model."""

import pickle
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.optimize
import scipy.stats
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.classifier.rows import LabelledRows
from bayesbox.errors import BadData, BadModelFile, BadOption, CannotForget, CannotMerge
from bayesbox.file import container
from bayesbox.file.strict_json import document, parse
from bayesbox.schema.encode import encode
from bayesbox.schema.kinds import Real
from bayesbox.source.frames import batch_of
from bayesbox.stat.calibrate import normalised
from bayesbox.stat.folds import stratified_folds
from bayesbox.table.auto.boost import BoostedTrees, boost_trees, learn_boosted
from bayesbox.table.auto.budget import Budget
from bayesbox.table.auto.counted_members import plan_counted
from bayesbox.table.auto.features import Design, sorted_order
from bayesbox.table.auto.joint_density import learn_joint_kernel, learn_joint_normals
from bayesbox.table.auto.logistic_nb import learn_logistic
from bayesbox.table.auto.members import CostInputs, plan_library
from bayesbox.table.auto.weighting import learned_powers, limited, pooled, pull


def table(rows=150, seed=0):
    """Numbers, a category, a flag and holes; the class depends on two columns together."""
    rng = np.random.default_rng(seed)
    size, age = rng.normal(size=rows), rng.normal(40, 9, rows)
    colour = rng.choice(["red", "green", "blue"], rows)
    flag = rng.random(rows) < 0.4
    score = 2 * size * np.where(colour == "red", 1, -1) + (age - 40) / 9 + flag + rng.normal(0, 0.7, rows)
    label = np.where(score > 1, "high", np.where(score < -1, "low", "middle"))
    age[:6] = np.nan
    frame = pd.DataFrame({"size": size, "age": age, "colour": colour, "flag": flag})
    frame.loc[3:8, "colour"] = None
    return frame, label


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return bb.AutoBayes(budget=2).fit(X, y)


def view_of(X):
    values = {name: np.asarray(X[name], dtype=float) for name in X.columns}
    design = Design.of(values, knots=2)
    return design.read(values, dict.fromkeys(values, Real()), len(X))


def numbers(rows=200, seed=1):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, rows)
    X = pd.DataFrame(rng.normal(size=(rows, 3)) + codes[:, None] * [1, 0.3, -0.5], columns=list("abc"))
    return view_of(X), codes


def test_weights_are_those_of_logistic_regression():
    view, codes = numbers()
    ours = learn_logistic(view, codes, 3, 2.0)
    peer = LogisticRegression(C=0.5, max_iter=2000, tol=1e-8).fit(view.features, codes)
    assert np.allclose(np.exp(ours.log_p(view)), peer.predict_proba(view.features), atol=0.01)
    assert np.allclose(normalised(ours.terms(view).sum(axis=2) + ours.weights[-1]), ours.log_p(view))


def test_joint_normals_are_normal_densities():
    view, codes = numbers()
    x = view.standard
    counts = np.bincount(codes)
    means = np.stack([x[codes == c].mean(axis=0) for c in range(3)])
    rest = x - means[codes]
    for model, share in zip(learn_joint_normals(view, codes, 3)[2:], (0.01, 0.2), strict=True):
        covariance = (1 - share) * rest.T @ rest / len(codes)
        covariance[np.diag_indices(3)] = np.square(rest).mean(axis=0) + 1e-3
        density = [scipy.stats.multivariate_normal(mean, covariance).logpdf(x) for mean in means]
        expected = normalised(np.stack(density, axis=1) + np.log((counts + 1) / (len(codes) + 3)))
        assert np.allclose(model.log_p(view), expected)


def test_kernel_answers_leave_their_own_row_out():
    view, codes = numbers(rows=60)
    kernel, answers = learn_joint_kernel(view, codes, 3)
    for row in (0, 17, 59):
        others = np.delete(np.arange(60), row)
        scale = 2 * kernel.width**2 * 3
        near = np.exp(-np.square(view.standard[others] - view.standard[row]).sum(axis=1) / scale)
        total = np.bincount(codes[others], weights=near, minlength=3)
        assert np.allclose(np.exp(answers[row]), (total + 0.01 * kernel.shares) / (total.sum() + 0.01))


def test_boosted_answers_are_those_of_folds():
    view, codes = numbers()
    fold_of_row = stratified_folds(codes, 4)
    model, answers = learn_boosted(view, codes, 3, fold_of_row, 4, rounds=60, seed=3)
    trees = model.questions.trees
    assert 1 < trees < 60
    inside, outside = np.flatnonzero(fold_of_row != 2), np.flatnonzero(fold_of_row == 2)
    again = boost_trees(view.take(inside), codes[inside], 3, rounds=trees, seed=3)
    assert np.allclose(answers[outside], again.log_p(view.take(outside)))
    whole = boost_trees(view, codes, 3, rounds=60, seed=3)
    assert np.array_equal(whole.first(trees).log_p(view), model.log_p(view))
    assert whole.first(99) is whole
    assert np.allclose(np.exp(answers).sum(axis=1), 1)
    unsure = -np.log(np.bincount(codes) / len(codes))[codes].mean()
    assert -answers[np.arange(len(codes)), codes].mean() < 0.8 * unsure


def test_boosted_trees_find_what_no_column_tells_alone(tmp_path):
    rng = np.random.default_rng(5)
    X = pd.DataFrame({f"c{place}": rng.choice(list("abcd"), 600) for place in range(4)})
    y = np.where((X["c0"].isin(["a", "b"])) ^ (X["c1"].isin(["c", "d"])), "yes", "no")
    clf = bb.AutoBayes(budget=1).fit(X[:400], y[:400])
    assert "boosted trees" in clf.report()
    assert (clf.predict(X[400:]) == y[400:]).mean() > 0.97
    clf.save(tmp_path / "b.bayes")
    loaded = bb.load(tmp_path / "b.bayes")
    assert any(isinstance(model, BoostedTrees) for model in loaded.classifier_.derived.models)
    assert np.array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    again = pickle.loads(pickle.dumps(clf))
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    members = container.unpack((tmp_path / "b.bayes").read_bytes(), name="b")
    written = parse(members["model.json"])
    place = next(n for n, each in enumerate(written["derived"]["models"]) if each["kind"] == "boosted")
    for key, value in (("values", {"shape": [1, 2]}), ("start", {"shape": [1]}), ("words_of", {"shape": [3]})):
        other = parse(members["model.json"])
        other["derived"]["models"][place][key] |= value
        (tmp_path / "c.bayes").write_bytes(container.pack({**members, "model.json": document(other)}))
        with pytest.raises(BadModelFile):
            bb.load(tmp_path / "c.bayes")


def test_powers_are_the_best_under_their_pull():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, 80)
    answers = [normalised(rng.normal(size=(80, 3)) + 2 * k * np.eye(3)[codes]) for k in (1, 0.5, 0)]
    powers = learned_powers(answers, codes)
    middle = np.array([0.4, 0.4, 0.2])

    def loss(w):
        off = w - middle
        return -pooled(answers, w)[np.arange(80), codes].sum() + 0.5 * pull(80) * off @ off

    best = scipy.optimize.minimize(loss, middle, bounds=[(0, None)] * 3, method="L-BFGS-B")
    assert loss(powers) <= best.fun + 1e-3
    assert limited(np.array([[-np.inf, 0.0]])).min() == pytest.approx(np.log(1e-6))


def test_better_than_its_parts_on_new_rows(fitted):
    X, y = table(rows=400, seed=5)
    place = {label: code for code, label in enumerate(fitted.classes_)}
    codes = np.array([place[label] for label in y])

    def loss(model):
        return -model.predict_log_proba(X)[np.arange(len(y)), codes].mean()

    own_X, own_y = table()
    assert loss(fitted) < 0.8 * loss(bb.NaiveBayes().fit(own_X, own_y))
    assert fitted.score(X, y) > 0.7
    judged = fitted.classifier_.derived.judged
    assert fitted.classifier_.derived.pooled.log_loss < min(each.log_loss for each in judged) + 0.02
    assert "combined" in fitted.report()
    assert {each.name for each in judged} >= {"trees", "weighted naive Bayes", "joint normal density", "naive Bayes"}


def test_neither_the_order_of_rows_nor_of_columns_matters(fitted):
    X, y = table()
    order = np.random.default_rng(3).permutation(len(y))
    again = bb.AutoBayes(budget=2).fit(X.iloc[order][["flag", "size", "colour", "age"]], y[order])
    assert np.allclose(again.predict_proba(X), fitted.predict_proba(X))


def test_a_file_brings_it_back(fitted, tmp_path):
    X, _ = table(seed=4)
    fitted.save(tmp_path / "a.bayes")
    again = bb.load(tmp_path / "a.bayes")
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert again.report() == fitted.report()
    again.save(tmp_path / "b.bayes")
    assert (tmp_path / "a.bayes").read_bytes() == (tmp_path / "b.bayes").read_bytes()
    assert again.get_params() == fitted.get_params()


@pytest.mark.parametrize(
    ("path", "value", "name"),
    [
        (("classes",), ["high", "low"], "`counts`"),
        (("rows",), 0, "rows"),
        (("models", 0, "kind"), "oracle", "'oracle'"),
        (("models", 0, "counts", "at"), 10**9, "`counts`"),
        (("models", 0, "counts", "shape"), [1, 3], "`counts`"),
        (("axes", 0, "scale"), 0.0, "scale"),
        (("powers", "type"), "whole", "`powers`"),
        (("axes", 0, "more"), 1, "`more`"),
    ],
)
def test_a_crafted_pool_is_refused(fitted, tmp_path, path, value, name):
    fitted.save(tmp_path / "a.bayes")
    members = container.unpack((tmp_path / "a.bayes").read_bytes(), name="a")
    written = parse(members["model.json"])
    inner = written["derived"]
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    (tmp_path / "a.bayes").write_bytes(container.pack({**members, "model.json": document(written)}))
    with refusal(BadModelFile, where="model.json", what=name):
        bb.load(tmp_path / "a.bayes")


def test_explanations_sum_to_the_answer(fitted):
    X, _ = table(seed=6)
    found = fitted.explain(X.iloc[:5])
    assert found.columns == ("age", "colour", "flag", "size")
    assert np.allclose(found.prior + found.terms.sum(axis=2), fitted.predict_log_proba(X.iloc[:5]))


def test_another_base_rate(fitted):
    X, _ = table(seed=7)
    shares = dict(zip(fitted.classes_, np.exp(fitted.class_log_prior_), strict=True))
    other = {"high": 0.2, "low": 0.5, "middle": 0.3}
    moved = fitted.with_prior(other)
    odds = fitted.predict_proba(X) * [other[label] / shares[label] for label in fitted.classes_]
    assert np.allclose(moved.predict_proba(X), odds / odds.sum(axis=1, keepdims=True))


@pytest.mark.filterwarnings("ignore::bayesbox.errors.UnseenLevels", "ignore::bayesbox.errors.MissingColumns")
def test_values_that_were_never_seen_and_columns_that_are_not_there(fitted):
    odd = pd.DataFrame({"size": [1e300, np.nan], "age": [np.nan, -1e300], "colour": ["violet", None]})
    p = fitted.predict_proba(odd)
    assert np.isfinite(p).all()
    assert np.allclose(p.sum(axis=1), 1)


def test_a_class_of_few_rows_is_never_impossible():
    X, y = table()
    y[0] = "rare"
    clf = bb.AutoBayes(budget=1).fit(X, y)
    assert clf.predict_log_proba(X).min() > -12
    few = bb.AutoBayes(budget=1).fit(pd.DataFrame({"a": [1.0, 2.0]}), ["x", "y"])
    assert np.allclose(few.predict_proba(pd.DataFrame({"a": [1.5]})).sum(), 1)
    one = bb.AutoBayes(budget=1).fit(pd.DataFrame({"a": [1.0, 2.0]}), ["x", "x"])
    assert one.predict(pd.DataFrame({"a": [1.5]})).tolist() == ["x"]


def test_a_class_that_is_declared_is_never_impossible(tmp_path):
    X, y = table()
    clf = bb.AutoBayes(budget=1, classes=["high", "low", "middle", "none"]).fit(X, y)
    plain = bb.AutoBayes(budget=1).fit(X, y)
    assert clf.classes_.tolist() == ["high", "low", "middle", "none"]
    p = clf.predict_proba(X)
    assert np.allclose(p[:, 3], 1 / (len(y) + 2))  # what one row more is worth
    assert np.allclose(p.sum(axis=1), 1)
    assert np.allclose(p[:, :3] / p[:, :3].sum(axis=1, keepdims=True), plain.predict_proba(X))
    clf.save(tmp_path / "m.bayes")
    assert np.array_equal(bb.load(tmp_path / "m.bayes").predict_proba(X), p)


def test_the_categories_of_categorical_labels_are_declared():
    X, y = table()
    declared = bb.AutoBayes(budget=1, classes=["high", "low", "middle", "none"]).fit(X, y)
    typed = pd.Series(y, dtype=pd.CategoricalDtype(["none", "low", "middle", "high"]))
    clf = bb.AutoBayes(budget=1).fit(X, typed)
    assert np.array_equal(clf.predict_proba(X), declared.predict_proba(X))
    assert "none" not in bb.AutoBayes(budget=1).fit(X, typed.cat.remove_unused_categories()).classes_


def test_folds_know_a_class_that_they_lack():
    from bayesbox.classifier.evaluate import cross_validate
    from bayesbox.classifier.registry import new_classifier
    from bayesbox.source.base import OneBatch
    from bayesbox.source.frames import batch_of

    X, y = table(rows=60)
    y[0] = "rare"
    found = cross_validate(new_classifier("auto:1", {}), OneBatch(batch_of(X.assign(label=y))), "label", folds=3)
    assert found.scored.unseen == {}
    assert found.metrics.log_loss.value < 3


def test_it_learns_once(fitted):
    X, y = table()
    assert not hasattr(fitted, "partial_fit")
    with refusal(CannotForget, what="AutoBayes"):
        fitted.forget(X, y)
    with pytest.raises(CannotMerge):
        fitted + fitted
    with refusal(CannotForget, remedy="Cross-validate"):
        fitted.leave_one_out(X, y)
    with refusal(BadOption, what="P(x)"):
        fitted.log_density(X)


def test_what_it_refuses():
    X, y = table(rows=20)
    for budget in (0, -1, float("nan"), "long"):
        with refusal(BadOption, what="budget"):
            bb.AutoBayes(budget=budget).fit(X, y)
    with refusal(BadOption, found=-1):
        bb.AutoBayes(seed=-1).fit(X, y)
    with refusal(BadData, column="counts"):
        bb.AutoBayes().fit(csr_array(np.eye(20)), y)


@pytest.mark.parametrize("unit", [1e300, 1.7e308, 1e-300, 5e-324])
def test_numbers_of_any_size_have_a_centre_and_a_scale(unit):
    whole = np.array([-1.0, -1.0, 0.0, 0.5, 1.0] * 8)
    plain, other = (Design.of({"a": whole * size}, knots=2).axes[0] for size in (1.0, unit))
    assert np.isfinite(other.cuts).all()
    assert other.scale > 0
    if unit > 1e-320:
        assert other.centre / unit == pytest.approx(plain.centre)
        assert other.scale / unit == pytest.approx(plain.scale)
        assert np.allclose(other.cuts / unit, plain.cuts)
        assert np.allclose(other.knots, plain.knots)


def test_a_unit_of_measure_changes_next_to_nothing():
    """The cells of robust numbers are fixed, so that another unit moves their borders."""
    X, y = table(rows=60)
    X = X[["size", "age"]]
    expected = bb.AutoBayes(budget=1).fit(X, y).predict_proba(X)
    for unit in (2.0**1000, 2.0**-1000):
        assert np.allclose(bb.AutoBayes(budget=1).fit(X * unit, y).predict_proba(X * unit), expected, atol=1e-3)


def test_what_a_budget_leaves_out_is_told(tmp_path):
    X, y = table(rows=60)
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 120)), columns=[f"x{place}" for place in range(120)])
    clf = bb.AutoBayes(budget=0.05).fit(wide, y)
    omitted = clf.classifier_.derived.omitted
    assert {"boosted trees", "k-dependence Bayes", "naive Bayes (column weights)"} <= set(omitted)
    assert not set(omitted) & {each.name for each in clf.classifier_.derived.judged}
    assert clf.report().endswith(f"Not tried within 0.05 s: {', '.join(omitted)}")
    assert "naive Bayes" in {each.name for each in clf.classifier_.derived.judged}
    clf.save(tmp_path / "m.bayes")
    assert bb.load(tmp_path / "m.bayes").report() == clf.report()
    assert "Not tried" not in bb.AutoBayes(budget=20).fit(X, y).report()


def test_many_patterns_of_missing_numbers_leave_the_joint_normal_out():
    draw = np.random.default_rng(0)
    X = pd.DataFrame(draw.normal(size=(60, 6)), columns=list("abcdef"))
    y = np.where(X["a"] > 0, "high", "low")
    assert bb.AutoBayes(budget=6).fit(X, y).classifier_.derived.omitted == ()
    holes = X.where(draw.random(X.shape) > 0.4)
    assert bb.AutoBayes(budget=6).fit(holes, y).classifier_.derived.omitted == ("full Bayes",)
    one = X.assign(a=X["a"].where(X["b"] > -1))  # two patterns in each class
    assert bb.AutoBayes(budget=6).fit(one, y).classifier_.derived.omitted == ()


@pytest.mark.parametrize("beside", [True, False])
def test_free_text_takes_part(tmp_path, beside):
    rng = np.random.default_rng(4)
    good = rng.random(160) < 0.5
    words = [["lovely", "quiet", "clean"], ["noisy", "dirty", "rude"]]
    common = ["the", "room", "was", "quite", "staff", "were", "and", "near", "station"]
    text = [" ".join([*rng.choice(common, 6), rng.choice(words[not g]), f"stay{n}"]) for n, g in enumerate(good)]
    X = pd.DataFrame({"review": text, "nights": rng.integers(1, 9, 160)} if beside else {"review": text})
    y = np.where(good, "good", "bad")
    clf = bb.AutoBayes(budget=1).fit(X[:120], y[:120])
    assert (clf.predict(X[120:]) == y[120:]).mean() > 0.9
    found = clf.explain(X[:2])
    assert found.columns == (("nights", "review") if beside else ("review",))
    assert np.allclose(found.prior + found.terms.sum(axis=2), clf.predict_log_proba(X[:2]))
    clf.save(tmp_path / "m.bayes")
    assert np.array_equal(bb.load(tmp_path / "m.bayes").predict_proba(X), clf.predict_proba(X))


def test_rows_are_put_in_one_order():
    rng = np.random.default_rng(0)
    for distinct in (2, 1000):  # rows that many columns do not tell apart, and rows that one does
        columns = [np.where(rng.random(200) < 0.2, np.nan, rng.integers(0, distinct, 200)) for _ in range(7)]
        values = {f"c{place}": column for place, column in enumerate(columns)}
        view = Design.of(values, knots=0).read(values, dict.fromkeys(values, Real()), 200)
        codes = rng.integers(0, 2, 200)
        assert np.array_equal(sorted_order(view, codes), np.lexsort((*columns, codes)))


def test_progress_is_reported_and_changes_nothing(tmp_path):
    X, y = table(rows=120)
    news = []
    clf = bb.AutoBayes(budget=1, progress=lambda *each: news.append(each)).fit(X, y)
    shares = [share for share, _, _ in news]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 1
    assert news[0][1] is None
    assert all(left >= 0 for _, left, _ in news[1:] if left is not None)
    judged = {each.name for each in clf.classifier_.derived.judged}
    assert judged <= {what for _, _, what in news}
    assert not [name for name in judged if "," in name]
    assert clf.digest() == bb.AutoBayes(budget=1).fit(X, y).digest()
    assert clf.classifier_.on_progress is None
    pickle.loads(pickle.dumps(clf.classifier_))
    with pytest.raises(bb.BadOption):
        bb.AutoBayes(progress="loud").fit(X, y)


def test_verbose_prints_lines(capsys):
    X, y = table(rows=60)
    bb.AutoBayes(budget=0.2, verbose=True).fit(X, y)
    bb.train(X.assign(y=y), target="y", model=bb.AutoBayes(budget=0.2, verbose=True))
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("AutoBayes   0 %: trees")]
    assert lines.count("AutoBayes 100 %: done") == 2
    bb.AutoBayes(budget=0.2).fit(X, y)
    assert not capsys.readouterr().out


def test_what_a_part_does_not_use_goes_to_the_others():
    """A table like that of a telephone company's customers: all is tried within 20 s, and an estimate of 10."""
    draw = np.random.default_rng(0)
    X = pd.DataFrame({f"c{place}": draw.choice(list("abcd"), 7043) for place in range(16)})
    view = SimpleNamespace(rows=7043, design=SimpleNamespace(axes=[1] * 19))
    size = CostInputs(7043, 19, 82, 67, 2)
    budget = Budget(20.0)
    with mock.patch("bayesbox.table.auto.members.size_of", return_value=size):
        plan_library(view, np.arange(7043) % 2, 2, seed=0, budget=budget)
    rows = [LabelledRows(batch_of(X), encode(pa.array(draw.choice(["n", "y"], 7043))))]
    kinds = dict.fromkeys(X.columns, bb.Category())
    most = max(0.15 * 20, budget.left)
    plan_counted(rows, kinds, ("n", "y"), None, budget=budget, most=most, cells=4**16, patterns=2)
    assert budget.omitted == []
    assert 5 < sum(budget.planned.values()) < 10


def test_the_terminal_shows_what_is_learned(monkeypatch, capsys):
    from bayesbox.cli.options import sources

    monkeypatch.setattr(sources, "PATIENCE", 0)
    monkeypatch.setattr(sources, "PAUSE", 0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    shown = sources.Progress()
    shown.learning(0.25, 12.4, "boosted trees")
    assert "learning boosted trees: 25%, 12 s left" in capsys.readouterr().err
