"""The digest of a whole model, beside that of its counts."""

import json

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.file.digest import file_digest

RNG = np.random.default_rng(3)
X = {"age": RNG.normal(size=60), "car": RNG.choice(["suv", "truck"], 60)}
Y = np.where(X["age"] > 0, "high", "low")
MODELS = [bb.NaiveBayes(), bb.NaiveBayes(smoothing="m:2"), bb.NaiveBayes(calibration="temperature"), bb.AODE()]
MODELS += [
    bb.TAN(),
    bb.FullBayes(),
    bb.AveragedNaiveBayes(),
    bb.AutoBayes(budget=0.1),
    bb.AutoBayes(budget=0.1, seed=1),
]


def test_it_tells_models_of_the_same_counts_apart(tmp_path):
    found = {}
    for number, model in enumerate(MODELS):
        clf = model.fit(X, Y)
        clf.save(tmp_path / "m.bayes", overwrite=True)
        digest = clf.digest()
        assert digest == file_digest(tmp_path / "m.bayes") == bb.load(tmp_path / "m.bayes").digest()
        assert digest == type(model)(**model.get_params()).fit(X, Y).digest()
        assert digest not in found, f"{model} has the digest of {found[digest]}"
        found[digest] = number
    assert MODELS[0].book_.digest() == MODELS[1].book_.digest() == MODELS[2].book_.digest()


def test_the_version_of_bayesbox_is_no_part_of_it(monkeypatch, tmp_path):
    clf = bb.NaiveBayes().fit(X, Y)
    before = clf.digest()
    monkeypatch.setattr(bb, "__version__", "9.9")
    clf.save(tmp_path / "m.bayes")
    assert file_digest(tmp_path / "m.bayes") == before


def test_other_models_have_one():
    optimal = bb.BayesOptimal([bb.NaiveBayes().fit(X, Y), bb.TAN().fit(X, Y)])
    assert optimal.digest() != bb.BayesOptimal(optimal.hypotheses, [2, 1]).digest()
    texts = ["kiwi sheep", "munich beer"]
    counted = bb.TextClassifier().fit(texts, ["nz", "de"])
    assert counted.digest() != bb.TextClassifier(smoothing="m:2").fit(texts, ["nz", "de"]).digest()
    seqs = [["walk", "shop", "walk"], ["shop", "shop"]]
    one, same, other = (bb.HiddenMarkovModel(states=2, seed=seed).fit(seqs).digest() for seed in (0, 0, 1))
    assert one == same != other


@pytest.mark.parametrize("model", ["naive", "auto:0.1", "text"])
def test_the_command_prints_both(model, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    rows = zip(X["age"], X["car"], Y, strict=True)
    (tmp_path / "rows.csv").write_text("age,text,y\n" + "".join(f"{a},{c},{y}\n" for a, c, y in rows))
    assert run(["train", "rows.csv", "-t", "y", "--model", model, "--json"]) == 0
    trained = json.loads(capfd.readouterr().out)
    assert run(["show", "rows.bayes", "--json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    clf = bb.load("rows.bayes")
    assert trained["model_digest"] == shown["model_digest"] == clf.digest()
    assert trained["digest"] == shown["digest"] == clf.book_.digest()
    assert run(["show", "rows.bayes"]) == 0
    assert f"model digest {clf.digest()}" in capfd.readouterr().out
