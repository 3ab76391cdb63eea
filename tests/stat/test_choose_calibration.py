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
                    more |= {"pull": 1.0} if kind in ("temperature", "dirichlet") else {}
                    made = KINDS[kind].learned(log_p[inside], codes[inside], np.ones(inside.sum()), **more)
                    applied = made.applied(applied)
                after[outside] = true_log_p(applied, codes[outside])
            found[base, kind] = after
    plain = found[PLAIN, None]
    best = max(found, key=lambda name: found[name].sum())
    gain = found[best] - plain
    clear = gain.mean() > gain.std() / np.sqrt(len(gain)) and gain.sum() > 3
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


def test_answers_that_are_all_right_are_hardly_made_surer():
    """A power without bound made the first wrong answer cost hundreds."""
    rng = np.random.default_rng(0)
    codes = (np.arange(300) % 20 == 0).astype(np.int64)
    odds = np.where(codes == 1, 1.0, -1.0) * rng.uniform(3, 9, 300)
    log_p = normalised(np.column_stack([np.zeros(300), odds]))
    assert choose({PLAIN: log_p}, codes).name == "none"
    assert KINDS["temperature"].learned(log_p, codes, np.ones(300)).power > 100
    pulled = KINDS["temperature"].learned(log_p, codes, np.ones(300), pull=1.0)
    assert 1 < pulled.power < 3


def test_the_pull_of_a_temperature_is_a_row_whose_class_is_as_stated():
    log_p, codes = answers(rows=40, sure=2.0)
    found = KINDS["temperature"].learned(log_p, codes, np.ones(40), pull=1.0).power

    def loss(power):
        log_q = normalised(power * log_p)
        return -log_q[np.arange(40), codes].sum() - (np.exp(log_p) * log_q).sum() / 40

    assert loss(found) <= min(loss(found * 1.001), loss(found / 1.001))
    assert found == KINDS["temperature"].learned(log_p, codes, np.full(40, 2.0), pull=2.0).power


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
