"""A small model of every kind, made by public names alone, with questions to ask it.

`python -m tests.files.examples FOLDER` saves each of them with its answers and its digest, as the version that is
installed gives them. A release adds its own folder, named by its minor version:

    python -m tests.files.examples tests/files/0.2

What earlier ones saved is never written again. A kind of model, or an option of the file, that is new gets an example
here before the release; `test_earlier_versions.py` then loads the files of every version.
"""

from __future__ import annotations

import datetime
import json
import math
import pathlib
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

import bayesbox as bb

ROWS = 60
ODD: dict[str, Any] = {"outlook": "hail", "wet": None, "heat": 1e3, "wind": -2.0, "visits": 0, "note": "", "zip": "9"}


def _steps(seed: int, count: int) -> list[int]:
    """The same numbers on every machine: a linear congruential generator."""
    state, found = seed, []
    for _ in range(count):
        state = (1103515245 * state + 12345) % 2**31
        found.append(state >> 16)
    return found


def table(seed: int = 1) -> tuple[dict[str, list[Any]], list[str]]:
    """Mixed columns with missing values, and classes that depend on them."""
    draws = [_steps(seed * 10 + place, ROWS) for place in range(7)]
    outlook = [("sunny", "rainy", "overcast", None)[n % 17 % 4] for n in draws[0]]
    wet = [None if n % 11 == 0 else n % 3 == 0 for n in draws[1]]
    heat = [None if n % 13 == 0 else (n % 400) / 8 - 10 for n in draws[2]]
    wind = [round(math.exp((n % 100) / 25), 2) for n in draws[3]]
    visits = [n % 5 for n in draws[4]]
    zips = [str(10 + n % 4) for n in draws[5]]
    label = [
        ("yes", "no", "maybe")[(visits[i] + (wet[i] is True) + (outlook[i] == "sunny") + (draws[6][i] % 4 == 0)) % 3]
        for i in range(ROWS)
    ]
    return {"outlook": outlook, "wet": wet, "heat": heat, "wind": wind, "visits": visits, "zip": zips}, label


def notes() -> tuple[list[str], list[str]]:
    """Short documents of two classes."""
    words = ["kiwi", "sheep", "bird", "munich", "beer", "hills", "Oktoberfest!", "naïve", "don't"]
    draws = _steps(5, 240)
    texts = [" ".join(words[n % (6 + i % 4)] for n in draws[6 * i : 6 * i + 2 + i % 5]) for i in range(40)]
    return texts, ["NZ" if "kiwi" in text or "sheep" in text else "DE" for text in texts]


def _asked() -> dict[str, list[Any]]:
    columns, _ = table(2)
    return {name: [*values[:8], ODD[name]] for name, values in columns.items()}


def _of(estimator: Any, columns: dict[str, list[Any]] | None = None, **fit: Any) -> Any:
    own, labels = table()
    return estimator.fit(own if columns is None else columns, labels, **fit)


def _weighted() -> Any:
    columns, labels = table()
    days = [datetime.date(2024, 2, 27 + len(label) % 3) for label in labels]
    model = bb.NaiveBayes(
        numeric="gaussian",
        smoothing=bb.rules.MEstimate(2, {"sunny": 0.25, "rainy": 0.5, "overcast": 0.25}),
        prior_smoothing="lidstone:0.5",
        missing="level",
        unseen="ignore",
        columns={
            "outlook": bb.Category(["sunny", "rainy", "overcast", "snow"]),
            "heat": bb.Real("gaussian", floor=0),
            "wet": "flag",
            "zip": "ignore",
        },
    )
    del columns["visits"]
    return model.fit(columns, days, sample_weight=[0.25 + (n % 7) / 3 for n in _steps(9, ROWS)])


def _counts() -> Any:
    matrix = scipy.sparse.csr_matrix(np.array([[0, 2, 0, 1], [3, 0, 0, 0], [0, 0, 0, 5], [1, 1, 0, 0]]))
    return bb.NaiveBayes(numeric="gaussian").fit(matrix, ["spam", "ham", "spam", "ham"])


def _one_hot() -> Any:
    columns, labels = table()
    flags = {f"zip_{code}": [int(value == code) for value in columns["zip"]] for code in ("10", "11", "12", "13")}
    return bb.NaiveBayes(numeric="gaussian", one_hot={"zip": list(flags)}).fit({"wet": columns["wet"], **flags}, labels)


def _free_text() -> Any:
    texts, labels = notes()
    columns = {"note": texts, "size": [len(text) / 2 for text in texts]}
    kinds = {"note": bb.Words(phrases=(1, 2)), "size": bb.Real("kernel")}
    return bb.NaiveBayes(numeric="gaussian", columns=kinds).fit(columns, labels)


def _densities() -> Any:
    columns, labels = table()
    kinds = {"heat": bb.Real("student"), "wind": bb.Real("lognormal"), "visits": bb.Count(), "zip": bb.Real("mdl")}
    columns["zip"] = [float(code) for code in columns["zip"]]
    columns["copy"] = columns["wind"]
    columns["half"] = columns["heat"]
    kinds |= {"copy": bb.Real("frequency:4"), "half": bb.Real("gaussian:rounded")}
    return bb.NaiveBayes(numeric="gaussian", columns=kinds).fit(columns, labels)


def _optimal() -> Any:
    columns, labels = table()
    naive = bb.NaiveBayes(numeric="gaussian").fit(columns, labels)
    hypotheses = [naive, bb.TAN().fit(columns, labels), bb.AODE().fit(columns, labels)]
    return bb.BayesOptimal(hypotheses, weights=[0.5, 0.3, 0.2])


def _text(**options: Any) -> Any:
    texts, labels = notes()
    return bb.TextClassifier(**options).fit(texts, labels)


def _sequence(kind: str) -> Any:
    symbols = ["walk", "shop", "clean", None]
    draws = _steps(3, 90)
    first = [symbols[n % 7 % 4] for n in draws[:50]]
    second = [symbols[n % 5 % 3] for n in draws[50:]]
    if kind == "counted":
        states = [["rain" if n % 3 else "dry" for n in draws[:50]], ["rain" if n % 4 else "dry" for n in draws[50:]]]
        return bb.HiddenMarkovModel().fit([first, second], states)
    if kind == "numbers":
        return bb.HiddenMarkovModel(states=2, iterations=20).fit([[(n % 50) / 4 for n in draws]])
    return bb.HiddenMarkovModel(states=2, iterations=20).fit([first, second])


def _network() -> Any:
    columns, labels = table()
    rows = {name: columns[name] for name in ("outlook", "wet", "zip")} | {"play": labels}
    whole = [i for i in range(ROWS) if all(values[i] is not None for values in rows.values())]
    known = {name: [str(values[i]) for i in whole] for name, values in rows.items()}
    return bb.learn_network(known, score="bic", required=[("play", "wet")])


def _dates() -> Any:
    columns, labels = table()
    return bb.NaiveBayes().fit({"day": _days(columns["visits"]), "wind": columns["wind"]}, labels)


def _days(visits: list[int]) -> list[datetime.date]:
    return [datetime.date(2024, 2, 20) + datetime.timedelta(days=3 * n) for n in visits]


def _many() -> Any:
    """So many classes and levels that most cells are empty, which are held as the others alone."""
    places = range(1100)
    return bb.NaiveBayes().fit({"zip": [f"z{i}" for i in places]}, [f"c{i % 1000}" for i in places])


def _noisy() -> Any:
    fever = bb.NoisyOr({"cold": 0.4, "flu": 0.8}, leak=0.01)
    return bb.BayesianNetwork({"fever": ["cold", "flu"]}, {"cold": 0.1, "flu": 0.05, "fever": fever})


TABLES: dict[str, Callable[[], Any]] = {
    "naive": lambda: _of(bb.NaiveBayes(numeric="gaussian")),
    "naive-weighted": _weighted,
    "naive-counts": _counts,
    "naive-one-hot": _one_hot,
    "naive-free-text": _free_text,
    "naive-densities": _densities,
    "naive-kernel": lambda: _of(bb.NaiveBayes(numeric="kernel", calibration="temperature")),
    "naive-selected": lambda: _of(bb.NaiveBayes(numeric="gaussian", select="mi", column_weights="learned")),
    "naive-auto": lambda: _of(bb.NaiveBayes(numeric="auto")),
    "naive-given": lambda: bb.NaiveBayes.from_tables(
        prior={10: 0.4, 2: 0.6},
        tables={
            "outlook": {10: {"sunny": 0.95, "rainy": 0.05}, 2: {"sunny": 0.0, "rainy": 1.0}},
            "zip": {10: {"10": 1.0, "11": 0.0, "12": 0.0}, 2: {"10": 0.3, "11": 0.7, "12": 0.0}},
        },
    ),
    "naive-robust": lambda: _of(bb.NaiveBayes()),
    "naive-isotonic": lambda: _of(bb.NaiveBayes(calibration="isotonic")),
    "naive-dirichlet": lambda: _of(bb.NaiveBayes(calibration="dirichlet")),
    "naive-dates": _dates,
    "naive-many": _many,
    "averaged": lambda: _of(bb.AveragedNaiveBayes()),
    "aode": lambda: _of(bb.AODE()),
    "tan": lambda: _of(bb.TAN()),
    "tan-bic": lambda: _of(bb.TAN(score="bic", smoothing="m:2")),
    "kdb": lambda: _of(bb.KDB(2)),
    "kdb-auto": lambda: _of(bb.KDB("auto")),
    "full": lambda: _of(bb.FullBayes(), {name: table()[0][name] for name in ("outlook", "heat", "wind")}),
    "full-shrunk": lambda: _of(bb.FullBayes(shrink="loo"), {name: table()[0][name] for name in ("heat", "wind")}),
    "optimal": _optimal,
    "auto": lambda: _of(bb.AutoBayes()),
}

TEXTS: dict[str, Callable[[], Any]] = {
    "text": _text,
    "text-binary": lambda: _text(occurrence="binary", stop_words=["beer"], smoothing="lidstone:0.1"),
    "text-complement": lambda: _text(occurrence="complement", phrases=(1, 2), once=True),
    "text-table": lambda: _text(occurrence="table", top=5),
    "text-position": lambda: _text(occurrence="position"),
    "text-auto": lambda: _text(occurrence="auto", calibration="temperature", characters=(2, 3)),
    "text-limit": lambda: _text(limit=4, prior={"NZ": 0.25, "DE": 0.75}),
}

NETWORKS: dict[str, Callable[[], Any]] = {"network": _network, "network-noisy": _noisy}

CHAINS = {f"hmm-{kind}": (lambda kind=kind: _sequence(kind)) for kind in ("counted", "numbers", "learned")}


def made(name: str) -> Any:
    """An example by its name."""
    return {**TABLES, **TEXTS, **CHAINS, **NETWORKS}[name]()


def questions(name: str) -> Any:
    """What is asked of an example."""
    if name in TEXTS:
        return [*notes()[0][:10], "kiwi kiwi munich", "", "nobody knows these"]
    if name in CHAINS:
        return [1.5, 7.25, None, 3.0] if name == "hmm-numbers" else ["walk", "shop", None, "clean", "walk"]
    if name == "naive-counts":
        return np.array([[1, 0, 0, 2], [0, 0, 0, 0], [0, 4, 1, 0]])
    asked = _asked()
    if name == "naive-free-text":
        texts = questions("text")
        return {"note": texts, "size": [len(text) / 2 for text in texts]}
    if name == "naive-one-hot":
        flags = {f"zip_{code}": [int(value == code) for value in asked["zip"]] for code in ("10", "11", "12", "13")}
        return {"wet": asked["wet"][:8], **{flag: values[:8] for flag, values in flags.items()}}
    if name == "naive-dates":
        return {"day": _days([*asked["visits"][:8], 90]), "wind": asked["wind"]}
    if name == "naive-many":
        return {"zip": ["z0", "z1001"]}
    if name == "naive-densities":
        zips = [float(code) for code in asked["zip"]]
        return asked | {"zip": zips, "copy": asked["wind"], "half": asked["heat"]}
    return asked


def answers(name: str, model: Any) -> Any:
    """What a model answers to its questions, as lists of numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that no class allows are among the questions
        if name in NETWORKS:
            found = model.posteriors({"fever": "true"} if name == "network-noisy" else {"wet": "True"})
            return {node: dict(found[node]) for node in sorted(found)}
        return np.asarray(model.predict_proba(questions(name))).tolist()


def digest(name: str, model: Any) -> str:
    """The digest of what a model counted; of a model of several hypotheses, those of each."""
    if name == "optimal":
        return " ".join(each.book_.digest() for each in model.hypotheses)
    return str(model.book_.digest())


def main(folder: str) -> None:
    """Save every example into a folder, with its answers."""
    into = pathlib.Path(folder)
    into.mkdir(parents=True)
    found: dict[str, Any] = {}
    for name, make in {**TABLES, **TEXTS, **CHAINS}.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make()
            model.save(into / f"{name}.bayes")
        found[name] = {"digest": digest(name, model), "answers": answers(name, model)}
    for name, make in NETWORKS.items():
        network = make()
        network.write(into / f"{name}.json")
        found[name] = {"digest": "", "answers": answers(name, network)}
    (into / "answers.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
