"""A model logged to MLflow, loaded again and served, on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import urllib.request
import warnings

import numpy as np
import pandas as pd
import pytest

import bayesbox as bb

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what MLflow itself imports
    import mlflow
    import uvicorn
    from mlflow.pyfunc import scoring_server

FRAME = pd.DataFrame({"car": ["sports", "suv", "suv", "truck"] * 5, "age": np.arange(20.0)})
LABELS = ["young", "old", "old", "old"] * 5
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())


@pytest.fixture
def clf():
    return bb.NaiveBayes().fit(FRAME, LABELS)


def test_a_model_is_logged_and_loaded(clf):
    with mlflow.start_run():
        info = bb.mlflow.log_model(clf, "cars", input_example=FRAME.head(3))
    again = bb.mlflow.load_model(info.model_uri)
    assert again.digest() == clf.digest()
    assert again.partial_fit(FRAME, LABELS).book_.n.sum() == 40
    served = mlflow.pyfunc.load_model(info.model_uri)
    found = served.predict(FRAME)
    assert found["prediction"].tolist() == clf.predict(FRAME).tolist()
    np.testing.assert_array_equal(found[["P(old)", "P(young)"]].to_numpy(), clf.predict_proba(FRAME))
    assert served.metadata.get_input_schema().input_names() == ["car", "age"]


def test_a_model_is_served(clf, tmp_path):
    bb.mlflow.save_model(clf, tmp_path / "cars", input_example=FRAME.head(3))
    assert not list(tmp_path.rglob("*.pkl"))
    app = scoring_server.init(mlflow.pyfunc.load_model(str(tmp_path / "cars")))
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        body = json.dumps({"dataframe_records": [{"car": "sports", "age": 1.0}, {"car": "suv", "age": 15.0}]})
        asked = urllib.request.Request(
            f"http://127.0.0.1:{port}/invocations", body.encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(asked, timeout=20) as answer:
            found = json.loads(answer.read())["predictions"]
    finally:
        server.should_exit = True
        thread.join(20)
    assert [row["prediction"] for row in found] == ["young", "old"]
    assert found[0]["P(young)"] == pytest.approx(clf.predict_proba([{"car": "sports", "age": 1.0}])[0, 1])


def test_documents(tmp_path):
    texts = ["cheap pills", "meeting at noon"] * 5
    clf = bb.TextClassifier().fit(texts, ["spam", "ham"] * 5)
    bb.mlflow.save_model(clf, tmp_path / "mail", input_example=pd.DataFrame({"text": texts[:2]}))
    served = mlflow.pyfunc.load_model(str(tmp_path / "mail"))
    assert served.predict(pd.DataFrame({"text": texts[:2]}))["prediction"].tolist() == ["spam", "ham"]


def test_a_folder_of_another_kind_is_refused(tmp_path):
    with pytest.raises(bb.BadModelFile):
        bb.mlflow.load_model(str(tmp_path))


def test_what_cannot_be_logged(tmp_path):
    for model in (bb.NaiveBayes(), bb.HiddenMarkovModel(2), "model.bayes"):
        with pytest.raises(bb.BadOption):
            bb.mlflow.save_model(model, tmp_path / "none")


def test_importing_the_module_does_not_import_mlflow():
    code = "import bayesbox as bb, sys; bb.mlflow.log_model; assert 'mlflow' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
