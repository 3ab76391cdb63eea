"""The Open Inference Protocol, version 2: requests with a tensor for each column, null for a missing value."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from bayesbox import __version__
from bayesbox.errors import BadData
from bayesbox.serve.http.problems import Problem
from bayesbox.serve.models.base import Json, ServiceModel
from bayesbox.serve.models.rows import BadRowOf

Value = str | int | float | bool | None
PLATFORM = "bayesbox"
NULL_NOTE = "null in the data of a tensor is a missing value; a tensor that is not sent is missing in every row"
DATATYPES: dict[str, tuple[type, ...]] = {
    "BOOL": (bool, int, str),
    "BYTES": (str, int, float, bool),
    "FP64": (float, int, str, bool),
    "FP32": (float, int, str, bool),
    "FP16": (float, int, str, bool),
    **{f"{sign}INT{bits}": (int, float, bool) for sign in ("", "U") for bits in (8, 16, 32, 64)},
}

LENIENT = ("BYTES", "FP64", "FP32", "FP16")  # any JSON value; the model converts it


class InputTensor(msgspec.Struct):
    """An input tensor: one column."""

    name: str
    shape: list[int]
    datatype: str
    data: list[Value | list[Value]]
    parameters: dict[str, Value] | None = None


class OutputWanted(msgspec.Struct):
    """A requested output."""

    name: str
    parameters: dict[str, Value] | None = None


class InferRequest(msgspec.Struct):
    """The body of infer."""

    inputs: list[InputTensor]
    id: str | None = None
    parameters: dict[str, Value] | None = None
    outputs: list[OutputWanted] | None = None


def server_metadata() -> Json:
    """The metadata of the server."""
    return {"name": PLATFORM, "version": __version__, "extensions": ["bayesbox_null", "bayesbox_v1"]}


def model_metadata(model: ServiceModel) -> Json:
    """The tensors of a model."""
    inputs, outputs = model.tensors()
    return {
        "name": model.name,
        "versions": [model.digest],
        "platform": PLATFORM,
        "inputs": inputs,
        "outputs": outputs,
        "parameters": {"null": NULL_NOTE},
    }


def columns_of(request: InferRequest, model: ServiceModel) -> tuple[dict[str, list[Any]], int]:
    """The columns of a request, and their number of rows."""
    known = model.input_names()
    columns: dict[str, list[Any]] = {}
    rows: int | None = None
    for place, tensor in enumerate(request.inputs):
        values = _values(tensor, place)
        if tensor.name not in known:
            raise _refused(place, "name", f"the model has no input `{tensor.name}`", tensor.name)
        if tensor.name in columns:
            raise _refused(place, "name", f"the input `{tensor.name}` is given twice", tensor.name)
        if rows is not None and len(values) != rows:
            what = f"inputs differ in length: `{tensor.name}` has {len(values)} rows, the one before {rows}"
            raise _refused(place, "shape", what, tensor.name)
        rows = len(values)
        columns[tensor.name] = values
    if rows is None:
        raise Problem(422, "inputs must not be empty", errors=[_about("#/inputs", "inputs", None, "empty")])
    return columns, rows


def _values(tensor: InputTensor, place: int) -> list[Any]:
    values: list[Any] = tensor.data
    if values and isinstance(values[0], list):
        values = [each for row in values for each in (row if isinstance(row, list) else [row])]
    if not tensor.shape or any(size < 0 for size in tensor.shape) or math.prod(tensor.shape[1:]) not in (0, 1):
        raise _refused(place, "shape", "the shape must be [rows] or [rows, 1]", tensor.name)
    if math.prod(tensor.shape) != len(values):
        what = f"the shape {tensor.shape} does not fit {len(values)} values"
        raise _refused(place, "shape", what, tensor.name)
    types = DATATYPES.get(tensor.datatype)
    if types is None:
        raise _refused(place, "datatype", f"unknown datatype {tensor.datatype!r}", tensor.name)
    if tensor.datatype not in LENIENT and not set(map(type, values)) <= {*types, type(None)}:
        row = next(row for row, value in enumerate(values) if value is not None and not isinstance(value, types))
        what = f"`{tensor.name}` is {tensor.datatype} and holds {values[row]!r}"
        raise BadRowOf(BadData(what), row, field=tensor.name)
    return values


def _refused(place: int, part: str, what: str, name: str) -> Problem:
    return Problem(422, what, kind="wrong-tensor", errors=[_about(f"#/inputs/{place}/{part}", name, None, what)])


def _about(pointer: str, field: str, row: int | None, what: str) -> Json:
    return {"detail": what, "pointer": pointer, "field": field, "row": row}


def chosen(outputs: list[Json], wanted: list[OutputWanted] | None) -> list[Json]:
    """The requested outputs; all if none is named."""
    if not wanted:
        return outputs
    by_name = {each["name"]: each for each in outputs}
    found = []
    for place, each in enumerate(wanted):
        if each.name not in by_name:
            what = f"the model has no output `{each.name}`"
            about = _about(f"#/outputs/{place}/name", each.name, None, what)
            raise Problem(422, what, kind="wrong-tensor", errors=[about])
        found.append(by_name[each.name])
    return found
