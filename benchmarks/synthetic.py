"""The tables that are measured: 20 columns, 3 classes, from a fixed seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

COLUMNS = 20
CLASSES = 3
LEVELS = 10
CENSUS_LEVELS = (8, 16, 7, 14, 6, 5, 2, 40)  # of its categories
CENSUS_NUMBERS = 6
WORDS = ("amber", "blue", "crimson", "dun", "emerald", "fawn", "gold", "hazel", "ivory", "jade")


def labels(rows: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).choice(CLASSES, size=rows, p=[0.5, 0.3, 0.2])


def reals(y: np.ndarray, columns: int = COLUMNS, seed: int = 2) -> np.ndarray:
    """Normal values around a mean of the class and the column, row-major."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(CLASSES, columns)) * 0.5
    X = rng.normal(size=(len(y), columns))
    X += means[y]
    return X


def codes(y: np.ndarray, columns: int = COLUMNS, levels: int = LEVELS, seed: int = 3) -> np.ndarray:
    """Codes 0 .. levels - 1, drawn from a distribution of the class and the column, row-major."""
    rng = np.random.default_rng(seed)
    X = np.empty((len(y), columns), dtype=np.int64)
    for column in range(columns):
        share = rng.dirichlet(np.full(levels, 3.0), size=CLASSES).cumsum(axis=1)
        X[:, column] = np.minimum((rng.random(len(y))[:, None] > share[y]).sum(axis=1), levels - 1)
    return X


def flags(y: np.ndarray, columns: int = COLUMNS, seed: int = 4) -> np.ndarray:
    """Zeros and ones as bytes, row-major."""
    rng = np.random.default_rng(seed)
    share = rng.uniform(0.2, 0.8, size=(CLASSES, columns))
    return (rng.random((len(y), columns)) < share[y]).astype(np.uint8)


def names(count: int, prefix: str) -> list[str]:
    return [f"{prefix}{index}" for index in range(count)]


def number_columns(X: np.ndarray, prefix: str = "x") -> dict[str, pa.Array]:
    """Each column by itself, contiguous, as Arrow."""
    return {name: pa.array(np.ascontiguousarray(X[:, index])) for index, name in enumerate(names(X.shape[1], prefix))}


def dictionary_columns(X: np.ndarray, prefix: str = "c") -> dict[str, pa.Array]:
    """Each column of codes as an Arrow dictionary with byte indices."""
    texts = pa.array([f"level{code}" for code in range(int(X.max()) + 1)])
    return {
        name: pa.DictionaryArray.from_arrays(pa.array(X[:, index].astype(np.int8)), texts)
        for index, name in enumerate(names(X.shape[1], prefix))
    }


def frame_with_strings(y: np.ndarray, *, holes: float, seed: int = 5) -> pd.DataFrame:
    """Ten columns of numbers and ten of strings, a share of each missing."""
    rng = np.random.default_rng(seed)
    numbers, coded = reals(y, 10), codes(y, 10)
    words = np.array(WORDS, dtype=object)
    columns: dict[str, Any] = {}
    for index in range(10):
        column = numbers[:, index].copy()
        column[rng.random(len(y)) < holes] = np.nan
        columns[f"x{index}"] = column
    for index in range(10):
        texts = words[coded[:, index]]
        texts[rng.random(len(y)) < holes] = None
        columns[f"c{index}"] = texts
    return pd.DataFrame(columns)


def census(rows: int, seed: int = 0) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows with the columns of the adult census: 8 categories, 6 numbers, 2 classes."""
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 2, rows)
    columns: dict[str, list[Any]] = {}
    for place, levels in enumerate(CENSUS_LEVELS):
        codes = (draw.gamma(1.0 + y, levels / 6) + 0.3 * y).astype(int) % levels
        columns[f"category {place}"] = [f"level {code}" for code in codes]
    for place in range(CENSUS_NUMBERS):
        columns[f"number {place}"] = np.round(draw.normal(40 + 3 * y, 12), 1).tolist()
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)], [
        ">50K" if k else "<=50K" for k in y
    ]
