"""Several threads at one model: no batch is lost, and what is asked meanwhile is answered by one model or the other."""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.classifier.one_writer import writing

THREADS, BATCHES, ROWS = 4, 10, 20


@pytest.fixture(autouse=True)
def _switch_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run(work: Callable[[int], None], threads: int = THREADS) -> None:
    """Work in several threads at once; the first error of any."""
    errors: list[BaseException] = []

    def guarded(thread: int) -> None:
        try:
            work(thread)
        except BaseException as error:
            errors.append(error)

    started = [threading.Thread(target=guarded, args=(thread,)) for thread in range(threads)]
    for each in started:
        each.start()
    for each in started:
        each.join()
    if errors:
        raise errors[0]


def batch(seed: int) -> tuple[Any, list[str]]:
    rng = np.random.default_rng(seed)
    cars = rng.choice(["suv", "van", "sports"], ROWS).tolist()
    return {"car": cars, "age": rng.normal(40, 10, ROWS).tolist()}, rng.choice(["young", "old"], ROWS).tolist()


def documents(seed: int) -> tuple[list[str], list[str]]:
    rows, labels = batch(seed)
    return [f"a {car} of {age:.0f}" for car, age in zip(rows["car"], rows["age"], strict=True)], labels


def chains(seed: int) -> tuple[list[str], list[str]]:
    rows, labels = batch(seed)
    return rows["car"], labels


MODELS = {
    "table": (bb.NaiveBayes, batch, lambda model: model.book_),
    "text": (bb.TextClassifier, documents, lambda model: model.book_),
    "chain": (bb.HiddenMarkovModel, chains, lambda model: model.book_),
}


@pytest.mark.parametrize("name", MODELS)
def test_no_batch_is_lost(name: str) -> None:
    make, given, book = MODELS[name]
    together, one_by_one = make(), make()

    def learn(thread: int) -> None:
        for number in range(BATCHES):
            together.partial_fit(*given(thread * BATCHES + number))
            if number % 3 == 2:
                together.forget(*given(thread * BATCHES + number))

    run(learn)
    for seed in range(THREADS * BATCHES):
        if seed % BATCHES % 3 != 2:
            one_by_one.partial_fit(*given(seed))
    assert book(together) == book(one_by_one)


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_those_of_one_model_or_the_other(name: str) -> None:
    make, given, _ = MODELS[name]
    model, more = make().partial_fit(*given(0)), given(1)
    asked = given(2)[0]
    before = model.predict_proba(asked)
    after = make().partial_fit(*given(0)).partial_fit(*more).predict_proba(asked)
    over = threading.Event()

    def work(thread: int) -> None:
        if thread == 0:
            try:
                for _ in range(15):
                    model.partial_fit(*more)
                    model.forget(*more)
            finally:
                over.set()
            return
        while not over.is_set():
            found = model.predict_proba(asked)
            assert any(np.array_equal(found, expected) for expected in (before, after))

    run(work, 3)


def test_a_decision_is_made_by_the_classes_of_one_moment() -> None:
    rows, labels = batch(0)
    model = bb.NaiveBayes().fit(rows, labels)
    over = threading.Event()

    def work(thread: int) -> None:
        if thread == 0:
            try:
                for number in range(20):
                    model.partial_fit(rows, [f"new{number:02d}"] * ROWS)
            finally:
                over.set()
            return
        while not over.is_set():
            assert len(model.decide(rows)) == ROWS

    run(work, 3)


def test_the_lock_is_neither_pickled_nor_inherited() -> None:
    rows, labels = batch(0)
    model = bb.NaiveBayes().fit(rows, labels)
    with writing(model):
        again = pickle.loads(pickle.dumps(model))
        child = os.fork()
        if child == 0:  # the thread that holds the lock is not here
            code = 1
            try:
                held = threading.Thread(target=lambda: model.partial_fit(rows, labels), daemon=True)
                held.start()
                held.join(20)
                code = 2 if held.is_alive() else 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert again.partial_fit(rows, labels).book_.n.sum() == 2 * ROWS
