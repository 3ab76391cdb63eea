"""The choice among calibrations, against refits by hand and on made answers."""

import numpy as np
import pytest
from tests.stat.test_calibrate import answers

from bayesbox.stat.calibrate import KINDS, floored, normalised
from bayesbox.stat.choose_calibration import PLAIN, choose, fold_of_rows, judged_as_it_is, learned


def true_log_p(log_p, codes):
    return floored(log_p)[np.arange(len(codes)), codes]


def by_hand(bases, codes):
    """Every candidate by refits without each fold, and the best of them by the rule."""
    folds = fold_of_rows(codes)
    found = {}
    for base, log_p in bases.items():
        kinds = [None, *KINDS] if base == PLAIN else [None, "temperature", "shares"]
        for kind in kinds:
            after = np.empty(len(codes))
            for number in np.unique(folds):
                inside, outside = folds != number, folds == number
                applied = log_p[outside]
                if kind is not None:
                    more = {"steps": 40, "decrease": 1e-6} if kind == "dirichlet" else {}
                    made = KINDS[kind].learned(log_p[inside], codes[inside], np.ones(inside.sum()), **more)
                    applied = made.applied(applied)
                after[outside] = true_log_p(applied, codes[outside])
            found[base, kind] = after
    plain = found[PLAIN, None]
    best = max(found, key=lambda name: found[name].sum())
    gain = found[best] - plain
    clear = gain.mean() > gain.std() / np.sqrt(len(gain))
    return (best if clear else (PLAIN, None)), {name: -own.mean() for name, own in found.items()}


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("sure", [0.5, 1.0, 3.0])
def test_the_choice_is_the_one_of_refits(classes, sure):
    log_p, codes = answers(rows=150, classes=classes, sure=sure, seed=classes)
    noise = np.random.default_rng(9).normal(size=log_p.shape)
    bases = {PLAIN: log_p, "column weights": normalised(0.5 * log_p + 0.3 * noise)}
    found = choose(bases, codes)
    expected, losses = by_hand(bases, codes)
    assert (found.base, found.kind) == expected
    assert found.before == pytest.approx(losses[PLAIN, None])
    assert found.after == pytest.approx(losses[expected])
    assert sorted(found.losses.values()) == pytest.approx(sorted(losses.values()))


def test_nothing_is_chosen_of_few_rows_or_one_class():
    log_p, codes = answers(rows=49)
    assert choose({PLAIN: log_p}, codes) is None
    assert choose({PLAIN: np.zeros((60, 1))}, np.zeros(60, dtype=np.int64)) is None


def test_good_answers_stay_as_they_are():
    log_p, codes = answers(rows=300, sure=1.0, seed=4)
    found = choose({PLAIN: log_p}, codes)
    assert (found.name, found.before, found.rows) == ("none", found.after, 300)
    assert learned(found, log_p, codes) is None


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sure", [0.3, 1.0, 2.0, 6.0])
def test_never_worse_than_none_by_more_than_a_standard_error(seed, sure):
    log_p, codes = answers(rows=460, sure=sure, seed=seed)
    inside, outside = slice(0, 60 + 20 * seed), slice(260, 460)
    found = choose({PLAIN: log_p[inside]}, codes[inside])
    made = learned(found, log_p[inside], codes[inside])
    if made is None:
        return
    gain = true_log_p(made.applied(log_p[outside]), codes[outside]) - true_log_p(log_p[outside], codes[outside])
    assert gain.mean() > -gain.std() / np.sqrt(len(gain))


def test_answers_that_know_nothing_become_the_class_shares():
    rng = np.random.default_rng(0)
    log_p = normalised(rng.normal(size=(400, 3)) * 5)
    codes = rng.choice(3, size=400, p=[0.2, 0.7, 0.1])
    found = choose({PLAIN: log_p}, codes)
    assert found.after < found.baseline.log_loss + 0.02
    assert found.before > found.baseline.log_loss + 1


def test_weights_are_repetitions():
    log_p, codes = answers(rows=300)
    even = choose({PLAIN: log_p}, codes, np.full(300, 7.0))
    plain = choose({PLAIN: log_p}, codes)
    assert (even.base, even.kind) == (plain.base, plain.kind)
    assert even.before == pytest.approx(plain.before)


def test_the_baseline_is_the_most_frequent_class():
    log_p, codes = answers(rows=200)
    base = judged_as_it_is(log_p, codes).baseline
    counts = np.bincount(codes)
    assert base.answer == counts.argmax()
    assert base.accuracy == counts.max() / 200
    assert base.log_loss == pytest.approx(-(counts / 200 * np.log(counts / 200)).sum())


def test_many_classes_take_no_map_of_many_numbers():
    log_p, codes = answers(rows=1000, classes=20)
    assert set(choose({PLAIN: log_p}, codes).losses) == {"none", "temperature", "shares"}
