"""The pool of AutoBayes in the model file: numbers in two Arrow tables, described by a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bayesbox import _core
from bayesbox.file import arrow
from bayesbox.file.faults import MemberFault, within
from bayesbox.file.reader import Reader
from bayesbox.schema.arrays import AnyArray, numpy_values
from bayesbox.table.auto.boost import BoostedTrees
from bayesbox.table.auto.features import Design, Feature
from bayesbox.table.auto.forest import TreeForest
from bayesbox.table.auto.joint_density import JointKernel, JointNormal
from bayesbox.table.auto.logistic_nb import LogisticNaiveBayes

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

PREFIX = "pool-"
WHOLE, DOUBLE = f"{PREFIX}whole.arrow", f"{PREFIX}double.arrow"
FOREST = ("root", "column", "threshold", "child", "missing_left", "words", "words_of")


class Writer:
    """Writes arrays one after another; each is identified by its position, shape and type."""

    def __init__(self) -> None:
        self.parts: dict[str, list[AnyArray]] = {"whole": [], "double": []}
        self.length = {"whole": 0, "double": 0}

    def put(self, array: object) -> Json:
        array = np.asarray(array)
        kind = "double" if array.dtype.kind == "f" else "whole"
        flat = array.astype(np.float64 if kind == "double" else np.int64).ravel()
        at = self.length[kind]
        self.parts[kind].append(flat)
        self.length[kind] += len(flat)
        return {"type": kind, "at": at, "shape": list(array.shape)}

    def members(self) -> dict[str, bytes]:
        whole = np.concatenate([np.empty(0, dtype=np.int64), *self.parts["whole"]])
        double = np.concatenate([np.empty(0), *self.parts["double"]])
        return {
            WHOLE: arrow.write({"value": pa.array(whole)}),
            DOUBLE: arrow.write({"value": pa.array(double)}),
        }


class Arrays:
    """Reads such arrays from an untrusted file."""

    def __init__(self, members: dict[str, bytes]) -> None:
        self.flat = {}
        for kind, name, types in (("whole", WHOLE, arrow.WHOLE), ("double", DOUBLE, arrow.DOUBLE)):
            if name not in members:
                raise MemberFault(name, "the member is missing")
            with within(name):
                self.flat[kind] = numpy_values(arrow.read(members[name], {"value": (types,)})["value"])

    def take(self, reader: Reader, key: str, *shape: int | None, kind: str = "double") -> AnyArray:
        """The array of a key, which must have this shape; None allows any length."""
        inner = Reader(reader.take(key, dict), f"`{key}`")
        found, at, lengths = inner.take("type", str), inner.take("at", int), inner.take("shape", list)
        inner.done()
        if found != kind or len(lengths) != len(shape) or not all(type(n) is int and n >= 0 for n in lengths):
            raise ValueError(f"`{key}` is an array of another type")
        if any(want is not None and want != have for want, have in zip(shape, lengths, strict=True)):
            raise ValueError(f"`{key}` is an array of another size")
        size = 1
        for length in lengths:
            size *= length
        if at < 0 or at + size > len(self.flat[kind]):
            raise ValueError(f"`{key}` is outside its table")
        values = np.array(self.flat[kind][at : at + size]).reshape(lengths)
        if kind == "double" and not np.isfinite(values).all():
            raise ValueError(f"`{key}` contains a number that is not finite")
        return values


def _written(pool: Any) -> tuple[Json, dict[str, bytes]]:
    from bayesbox.classifier.table import TableClassifier
    from bayesbox.file.save import to_bytes

    writer = Writer()
    models, nested = [], {}
    for place, model in enumerate(pool.models):
        if isinstance(model, TableClassifier):
            name = f"{PREFIX}{place}.bayes"
            nested[name] = to_bytes(model)
            models.append({"kind": "classifier", "member": name})
        else:
            models.append(_model_to_json(model, writer))
    document = {
        "classes": list(pool.classes),
        "rows": pool.rows,
        "axes": [_axis_to_json(axis, writer) for axis in pool.design.axes],
        "models": models,
        "powers": writer.put(np.array(pool.powers)),
        "shares": writer.put(np.array(pool.shares)),
        "judged": [[each.name, each.log_loss, each.accuracy, each.power] for each in pool.judged],
        "pooled": None if pool.pooled is None else [pool.pooled.log_loss, pool.pooled.accuracy],
        "left_out": list(pool.omitted),
    }
    return document, {**writer.members(), **nested}


def derived_to_json(pool: object) -> Json:
    """The JSON of a pool for `model.json`."""
    return _written(pool)[0]


def derived_arrays(pool: object) -> dict[str, bytes]:
    """The file members with its numbers, and the models stored as separate files."""
    return _written(pool)[1]


def _axis_to_json(axis: Feature, writer: Writer) -> Json:
    return {
        "name": axis.name,
        "levels": None if axis.levels is None else list(axis.levels),
        "cuts": writer.put(axis.cuts),
        "knots": writer.put(axis.knots),
        "centre": float(axis.centre),
        "scale": float(axis.scale),
        "gaps": axis.gaps,
    }


def _model_to_json(model: object, writer: Writer) -> Json:
    if isinstance(model, TreeForest):
        arrays = {name: writer.put(array) for name, array in model.questions.arrays().items()}
        return {"kind": "forest", "weight": model.weight, "counts": writer.put(model.counts), **arrays}
    if isinstance(model, BoostedTrees):
        arrays = {name: writer.put(array) for name, array in model.questions.arrays().items()}
        return {"kind": "boosted", "values": writer.put(model.values), "start": writer.put(model.start), **arrays}
    if isinstance(model, LogisticNaiveBayes):
        return {"kind": "weighted", "weights": writer.put(model.weights)}
    if isinstance(model, JointNormal):
        return {
            "kind": "normal",
            "means": writer.put(model.means),
            "roots": writer.put(model.roots),
            "offsets": writer.put(model.offsets),
            "power": float(model.power),
        }
    assert isinstance(model, JointKernel)
    return {
        "kind": "kernel",
        "points": writer.put(model.points),
        "codes": writer.put(model.codes),
        "shares": writer.put(model.shares),
        "width": float(model.width),
    }


def derived_from_json(written: Json, members: dict[str, bytes]) -> Any:
    """The pool from a file; ValueError if it is not valid."""
    from bayesbox.table.auto.pool import Pool, TriedMember

    arrays, reader = Arrays(members), Reader(written, "the pool")
    classes, rows = reader.texts("classes"), reader.take("rows", int)
    axes = tuple(_axis_from_json(Reader(each, "a column of the pool"), arrays) for each in reader.take("axes", list))
    design = Design(axes)
    listed = reader.take("models", list)
    models, used = [], {WHOLE, DOUBLE}
    for each in listed:
        inner = Reader(each, "a model of the pool")
        models.append(_model_from_json(inner, arrays, design, len(classes), members, used))
        inner.done()
    powers = arrays.take(reader, "powers", len(models) + 1)
    shares = arrays.take(reader, "shares", len(classes))
    judged = reader.take("judged", list)
    together = reader.take("pooled", list, None)
    omitted = reader.texts("left_out")
    reader.done()
    if (
        not classes
        or len(set(classes)) < len(classes)
        or not 1 <= rows < 1 << 53
        or (powers < 0).any()
        or (shares <= 0).any()
    ):
        raise ValueError("the pool has no classes or no rows, or negative numbers")
    for name in members:
        if name not in used:
            raise MemberFault(name, "no model of the pool uses this member")
    tried = tuple(TriedMember(*_typed(each, str, float, float, float)) for each in judged)
    total = None if together is None else TriedMember(*_typed(["pool", *together, 1.0], str, float, float, float))
    weights = tuple(powers.tolist()), tuple(shares.tolist())
    return Pool(classes, design, tuple(models), *weights, rows, tried, total, omitted)


def _typed(values: object, *types: type) -> list[Any]:
    """A list of values of these types."""
    if type(values) is not list or [type(each) for each in values] != list(types):
        raise ValueError("the description of a model of the pool has another form")
    return values


def _axis_from_json(reader: Reader, arrays: Arrays) -> Feature:
    name, levels = reader.take("name", str), reader.take("levels", list, None)
    if levels is not None and not all(type(level) is str for level in levels):
        raise ValueError("a level of the pool is not a text")
    cuts, knots = arrays.take(reader, "cuts", None), arrays.take(reader, "knots", None)
    centre, scale, gaps = reader.take("centre", float), reader.take("scale", float), reader.take("gaps", bool)
    reader.done()
    if not scale > 0 or len(cuts) > 0xFFF0 or (np.diff(cuts) <= 0).any():
        raise ValueError("a column of the pool has no scale, or cut points that do not increase")
    return Feature(name, None if levels is None else tuple(levels), cuts, knots, centre, scale, gaps)


def _model_from_json(
    reader: Reader, arrays: Arrays, design: Design, classes: int, members: dict[str, bytes], used: set[str]
) -> Any:
    kind = reader.take("kind", str)
    width = sum(1 if axis.levels is None else len(axis.levels) for axis in design.axes)
    if kind == "classifier":
        from bayesbox.classifier.table import TableClassifier
        from bayesbox.file.load import CLASSIFIER, from_bytes

        name = reader.take("member", str)
        if name not in members:
            raise MemberFault(name, "the member is missing")
        used.add(name)
        found = from_bytes(members[name], name=name, holds=CLASSIFIER, inside=0)
        if not isinstance(found, TableClassifier):
            raise MemberFault(name, "it is not a classifier of tables")
        return found
    if kind == "forest":
        weight = reader.take("weight", float)
        parts = {name: arrays.take(reader, name, None, kind="whole") for name in FOREST}
        counts = arrays.take(reader, "counts", len(parts["column"]), classes, kind="whole")
        if len(parts["words_of"]) != len(design.axes) or (counts < 0).any() or not weight > 0:
            raise ValueError("the counts of a forest do not match its nodes")
        return TreeForest(_core.Forest.of(**parts), counts, weight)
    if kind == "boosted":
        parts = {name: arrays.take(reader, name, None, kind="whole") for name in FOREST}
        values = arrays.take(reader, "values", len(parts["column"]), classes)
        if len(parts["words_of"]) != len(design.axes):
            raise ValueError("the splits of the boosted trees are not on these columns")
        return BoostedTrees(_core.Forest.of(**parts), values, arrays.take(reader, "start", classes))
    if kind == "weighted":
        return LogisticNaiveBayes(arrays.take(reader, "weights", sum(axis.width for axis in design.axes) + 1, classes))
    if kind == "normal":
        roots = arrays.take(reader, "roots", None, width, width)
        if len(roots) not in (1, classes):
            raise ValueError("the covariances do not match the classes")
        means, offsets = arrays.take(reader, "means", classes, width), arrays.take(reader, "offsets", classes)
        return JointNormal(means, roots, offsets, reader.take("power", float))
    if kind == "kernel":
        points = arrays.take(reader, "points", None, width)
        codes = arrays.take(reader, "codes", len(points), kind="whole")
        shares, scale = arrays.take(reader, "shares", classes), reader.take("width", float)
        if (codes < 0).any() or (codes >= classes).any() or not scale > 0 or (shares <= 0).any():
            raise ValueError("a kernel has unknown classes, or no bandwidth")
        return JointKernel(points, codes, shares, scale)
    raise ValueError(f"unknown model {kind!r} in the pool")
