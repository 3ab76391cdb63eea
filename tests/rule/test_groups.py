"""Categories whose levels are grouped by MODL: against counting by hand, and under the laws of every column."""

import numpy as np
import pandas as pd
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.dist.number.cuts import modl_groups
from bayesbox.file.save import to_bytes

GROUPED = {"town": bb.Category(group="modl")}


def table(rows=200, seed=1):
    """Six towns, of which three mostly have one class and three the other."""
    random = np.random.default_rng(seed)
    town = random.choice(list("abcdef"), rows)
    labels = np.where(random.random(rows) < np.where(np.isin(town, list("abc")), 0.9, 0.2), "x", "y")
    return pd.DataFrame({"town": town, "size": random.choice(["s", "l"], rows)}), labels


def expected(frame, labels, asked):
    """P(group | class) by Laplace times the share of the level in its group, for one level."""
    levels = sorted(set(frame["town"]))
    counts = np.array([[((frame["town"] == level) & (labels == c)).sum() for c in ("x", "y")] for level in levels])
    groups = modl_groups(counts)
    members = groups == groups[levels.index(asked)]
    number = groups.max() + 1
    share = counts[levels.index(asked)].sum() / counts[members].sum()
    return (counts[members].sum(axis=0) + 1) / (counts.sum(axis=0) + number) * share, number


def test_a_level_speaks_through_its_group():
    frame, labels = table()
    clf = bb.NaiveBayes(columns=GROUPED, unseen="smooth").fit(frame, labels)
    for level in "abcdef":
        p, number = expected(frame, labels, level)
        assert number < 6
        found = clf.explain([{"town": level, "size": None}]).terms[0, :, 0]
        np.testing.assert_allclose(np.exp(found), p, rtol=1e-12)
    whole = [np.exp(clf.explain([{"town": level}]).terms[0, :, 0]) for level in "abcdef"]
    np.testing.assert_allclose(np.sum(whole, axis=0), 1, rtol=1e-12)
    missing = clf.predict_proba([{"town": None, "size": "s"}])
    np.testing.assert_allclose(missing, clf.predict_proba([{"size": "s"}]))
    unseen = np.exp(clf.explain([{"town": "z"}]).terms[0, :, 0])
    n = np.array([(labels == "x").sum(), (labels == "y").sum()])
    np.testing.assert_allclose(unseen, 1 / (n + number), rtol=1e-12)


def test_groups_follow_the_rows_that_are_learned_forgotten_and_merged(tmp_path):
    frame, labels = table()
    clf = bb.NaiveBayes(columns=GROUPED).fit(frame, labels)
    parts = bb.NaiveBayes(columns=GROUPED).fit(frame[:120], labels[:120])
    rest = bb.NaiveBayes(columns=GROUPED).fit(frame[80:], labels[80:]).forget(frame[80:120], labels[80:120])
    np.testing.assert_array_equal((parts + rest).predict_proba(frame), clf.predict_proba(frame))
    clf.save(tmp_path / "m.bayes")
    again = bb.load(tmp_path / "m.bayes")
    np.testing.assert_array_equal(again.predict_proba(frame), clf.predict_proba(frame))
    assert to_bytes(again.classifier_) == to_bytes(clf.classifier_)
    assert again.partial_fit(frame, labels).classifier_.schema.kinds["town"].group == "modl"


def test_leave_one_out_keeps_the_groups():
    frame, labels = table()
    clf = bb.NaiveBayes(columns=GROUPED).fit(frame, labels)
    groups = dict(zip("abcdef", clf.classifier_.model.conditional("town").groups, strict=True))
    assert 1 < len(set(groups.values())) < 6
    coarse = frame.assign(town=frame["town"].map({level: f"group {group}" for level, group in groups.items()}))
    plain = bb.NaiveBayes().fit(coarse, labels)
    np.testing.assert_allclose(clf.leave_one_out(frame, labels), plain.leave_one_out(coarse, labels), rtol=1e-12)
    np.testing.assert_allclose(clf.predict_proba(frame), plain.predict_proba(coarse), rtol=1e-12)


def test_declared_levels_that_never_occur_have_a_count_of_zero():
    frame, labels = table()
    kinds = {"town": bb.Category([*"abcdefg"], group="modl")}
    clf = bb.NaiveBayes(columns=kinds, unseen="smooth").fit(frame, labels)
    terms = clf.explain([{"town": "g"}, {"town": "z"}]).terms[:, :, 0]
    np.testing.assert_array_equal(terms[0], terms[1])
    ignoring = bb.NaiveBayes(columns=kinds).fit(frame, labels)
    np.testing.assert_array_equal(ignoring.explain([{"town": "g"}]).terms[0, :, 0], terms[0])


def test_what_is_refused():
    frame, labels = table()
    with refusal(bb.BadOption, found="mdl"):
        bb.Category(group="mdl")
    for make in (bb.TAN, bb.AODE, bb.AveragedNaiveBayes, bb.FullBayes):
        with refusal(bb.BadOption, found="group=modl of column `town`"):
            make(columns=GROUPED).fit(frame, labels)
    with refusal(bb.BadOption, what="`town`"):
        bb.NaiveBayes(smoothing=bb.rules.PriorCounts({"a": 1}), columns=GROUPED).fit(frame, labels).predict(frame)
