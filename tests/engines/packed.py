"""The package shipped to a Spark cluster: as a packed environment, and, in vain, as a zip file. `make test-engines`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.export.cases import people
from tests.source.test_zip import zipped

import bayesbox as bb

TOP = Path(__file__).parents[2]
JOB = """
import json, sys
from pyspark.sql import SparkSession
import bayesbox as bb

spark = SparkSession.builder.getOrCreate()
frame = spark.read.parquet(sys.argv[1]).repartition(3)
try:
    clf = bb.train(frame, target="risk")
except bb.BayesboxError as error:
    print(json.dumps({"error": type(error).__name__, "what": error.what, "remedy": error.remedy}))
    sys.exit(0)

def package(_):
    import bayesbox
    return bayesbox.__file__

places = spark.sparkContext.parallelize([0]).map(package).collect()
answers = sorted(row.prediction for row in bb.predict(clf, frame).select("prediction").collect())
print(json.dumps({"digest": clf.book_.digest(), "places": places, "answers": answers}))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the package and what it needs, installed as by `pip install bayesbox`."""
    folder = tmp_path_factory.mktemp("environment") / "env"
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "scikit-build-core>=0.11"], check=True)
    settings = ["--config-settings=wheel.cmake=false", "--config-settings=wheel.py-api=py3"]
    subprocess.run([*install, "--no-build-isolation", *settings, str(TOP), "pandas"], check=True)
    found = subprocess.run([python, "-c", "import numpy; print(numpy.__file__)"], capture_output=True, check=True)
    installed = Path(os.fsdecode(found.stdout.strip())).parents[1] / "bayesbox"
    for core in Path(bb.__file__).parent.glob("_core*.so"):
        shutil.copy(core, installed)  # the one that is built already
    return folder


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "people.parquet"
    pq.write_table(people(600, 9), path)
    return path


def submitted(folder: Path, master: str, python: str, rows: Path, *options: str) -> dict[str, Any]:
    """What the job prints: it runs here, and its executors by that Python."""
    import pyspark

    script = folder / "job.py"
    script.write_text(JOB)
    home = Path(pyspark.__file__).parent
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m"}
    given = [option for name, value in settings.items() for option in ("--conf", f"{name}={value}")]
    command = [str(home / "bin" / "spark-submit"), "--master", master, *given, *options, str(script), str(rows)]
    names = {"PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_HOME": str(home)}
    done = subprocess.run(command, env={**os.environ, **names}, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def test_an_environment_by_archives(spark_master: str, environment: Path, rows: Path, tmp_path: Path) -> None:
    archive = tmp_path / "environment.tar.gz"
    pack = [str(Path(sys.executable).with_name("venv-pack")), "-q", "-p", str(environment), "-o", str(archive)]
    subprocess.run([*pack, "--compress-level", "1"], check=True)
    options = ["--archives", f"{archive}#environment"]
    found = submitted(tmp_path, spark_master, "./environment/bin/python", rows, *options)
    one = bb.train(rows, target="risk")
    assert found["digest"] == one.book_.digest()
    assert found["answers"] == sorted(bb.predict(one, rows)["prediction"].to_pylist())
    assert all("/environment/lib/" in place and str(environment) not in place for place in found["places"])


def test_a_zip_file_is_refused_in_words(spark_master: str, environment: Path, rows: Path, tmp_path: Path) -> None:
    archive = zipped(tmp_path, core=True)
    python = str(environment / "bin" / "python")
    found = submitted(tmp_path, spark_master, python, rows, "--py-files", str(archive))
    assert found["error"] == "SourceUnavailable"
    assert "zip file" in found["what"]
    assert "--archives" in found["remedy"]
