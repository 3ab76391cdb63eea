"""Network files: the format follows from the extension; one module per format.

.bif .xmlbif .bifxml .xml .uai .net .xdsl .json, each also followed by .gz
"""

from __future__ import annotations

import gzip
import importlib
import io
import os
import zlib
from collections.abc import Callable
from os import PathLike
from typing import Any

from bayesbox.described import Remedy, pasted
from bayesbox.errors import BadModelFile, BadOption, file_name
from bayesbox.file.atomic import replacing
from bayesbox.file.known_file import kind_of_file
from bayesbox.file.lock import WAIT, FileLock
from bayesbox.file.wrong_file import unavailable
from bayesbox.network.factor_graph import FactorModel
from bayesbox.network.graph import Graph

FORMATS = {
    ".bif": "bif",
    ".xmlbif": "xmlbif",
    ".bifxml": "xmlbif",
    ".xml": "xmlbif",
    ".uai": "uai",
    ".net": "net",
    ".xdsl": "xdsl",
    ".json": "json",
}
TABLES = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".jsonl", ".xlsx")  # often passed for a network
NOT_READ = {".dsl": "the older format of GeNIe and SMILE", ".dne": "a format of Netica", ".neta": "a format of Netica"}
HOLD_COMPACT = ("json", "xdsl", "net")  # noisy-OR and the like; in other formats their tables are written in full
MOST_BYTES = 2**30  # of a file, after decompression
MOST_INFLATION = 100  # times the size of a compressed file, beyond the first megabytes
ALWAYS_INFLATED = 64 * 2**20


def format_of(path: str | PathLike[str]) -> str | None:
    """The format of an extension; None if it is unknown.

    >>> format_of("alarm.bif.gz"), format_of("people.csv")
    ('bif', None)
    """
    name = file_name(path).lower().removesuffix(".gz")
    return FORMATS.get(os.path.splitext(name)[1])


def require_format(path: str | PathLike[str]) -> str:
    """The format of an extension, which must be that of a network file."""
    found = format_of(path)
    ending = os.path.splitext(file_name(path).lower().removesuffix(".gz"))[1]
    if ending in NOT_READ:
        raise BadOption(
            f"{ending} is {NOT_READ[ending]}, which is not supported",
            found=file_name(path),
            remedy="Save it as .xdsl or .net",
        )
    if found is None:
        _refuse_known(file_name(path))
        raise BadOption(
            "this is not a network file, by its extension",
            found=file_name(path),
            remedy=f"The extensions are {', '.join(FORMATS)}" + _instead(ending, pasted(file_name(path))),
        )
    return found


def _refuse_known(name: str) -> None:
    """Raise an error if a file is known to be of another kind, other than a table or a model, or is a folder."""
    try:
        known = kind_of_file(name)
    except FileNotFoundError:
        return
    except OSError as error:
        raise unavailable(error, name) from None
    if known is not None and known.format is None and not name.endswith(".bayes"):
        extensions = f"The extensions are {', '.join(FORMATS)}"
        raise BadOption(f"this is {known.what}, not a network file", found=name, remedy=known.remedy or extensions)


def _instead(ending: str, file: str) -> Remedy:
    """How to get a network from a file that is not one."""
    if ending == ".bayes":
        return Remedy(". Use bayesbox.load(...).to_network()", f". To print the model: bayes show {file}")
    if ending in TABLES:
        learned = f". Learn a network from a table: bayes network learn {file} -o net.json"
        return Remedy(". Learn a network from a table: bayesbox.learn_network", learned)
    return Remedy("", "")


def _module(path: str | PathLike[str]) -> Any:
    return importlib.import_module(f"bayesbox.network.formats.{require_format(path)}")


def read_model(path: str | PathLike[str], *, normalize: bool = False) -> Graph | FactorModel:
    """The network in a file; a UAI file of type MARKOV gives a factor graph."""
    module = _module(path)
    name = file_name(path)
    found: Graph | FactorModel = module.read(read_bytes(name), where=name, normalize=normalize)
    return found


def write_graph(
    graph: Graph, path: str | PathLike[str], *, learned: object = None, check: Callable[[], None] | None = None
) -> None:
    """Write a network; reading it back gives the same numbers, bit for bit. Only JSON keeps how it was learned.

    `check` is called once the file is locked: if it raises, nothing is written.
    """
    _put(graph_text(graph, require_format(path), learned=learned), path, check)


def graph_text(graph: Graph, form: str, *, learned: object = None) -> str:
    """A network as the text of a file; `form` is one of the formats.

    >>> from bayesbox.network.tables import graph_of
    >>> print(graph_text(graph_of({"rain": []}, {"rain": 0.2}), "uai"))
    BAYES
    1
    2
    1
    1 0
    <BLANKLINE>
    2
    0.2 0.8
    <BLANKLINE>
    """
    module = importlib.import_module(f"bayesbox.network.formats.{form}")
    if form not in HOLD_COMPACT:
        graph = graph.tabular
    text: str = module.write(graph) if learned is None else module.write(graph, learned)
    return text


def write_factors(model: FactorModel, path: str | PathLike[str]) -> None:
    """Write a factor graph, which only the UAI format supports."""
    if format_of(path) != "uai":
        raise BadOption(
            "a factor graph can only be written in the UAI format", found=file_name(path), remedy="Name it *.uai"
        )
    _put(_module(path).write_factors(model), path)


def _put(text: str, path: str | PathLike[str], check: Callable[[], None] | None = None) -> None:
    data = text.encode("utf-8")
    if file_name(path).lower().endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    with FileLock(path, wait=WAIT, verb="write a network"), replacing(path, check=check) as file:
        file.write(data)


def read_bytes(path: str) -> bytes:
    """The bytes of a file, decompressed if its name ends in .gz, up to the size limit of network files."""
    try:
        with open(path, "rb", buffering=0) as file:
            known = os.fstat(file.fileno()).st_size  # 0 for a pipe
            data = file.read(known + 1) if 0 < known <= MOST_BYTES else b""
            if len(data) != known or not known:  # a pipe, or a file that is being written
                with io.BufferedReader(file) as rest:
                    data += rest.read(MOST_BYTES + 1)
    except OSError as error:
        raise unavailable(error, path) from error
    if path.lower().endswith(".gz"):
        limit = min(MOST_BYTES, max(MOST_INFLATION * len(data), ALWAYS_INFLATED))
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                data = packed.read(limit + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise BadModelFile(f"this file is truncated or damaged: {error}", where=path) from error
        if len(data) > limit:
            raise BadModelFile(f"this file decompresses to more than {limit:,} bytes", where=path)
    if len(data) > MOST_BYTES:
        raise BadModelFile(f"a network file may have at most {MOST_BYTES:,} bytes", where=path)
    return data
