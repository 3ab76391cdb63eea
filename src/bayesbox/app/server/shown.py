"""A file in the app, reloaded when it changes."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from bayesbox.app.chains import chain_answer, chain_spec, steps_of_texts
from bayesbox.errors import BadOption
from bayesbox.file.load import load_newest
from bayesbox.file.reader import Json
from bayesbox.sequence.hmm import HiddenMarkovModel

Stamp = tuple[tuple[int, int] | None, ...]


class ShownFile(ABC):
    """A file: its name, its views, its spec and its answers.

    `version` counts the reloads; a page with the spec of another version requests it again.
    """

    kind: ClassVar[str]

    def __init__(self, name: str, *, lesson: str | None = None, paths: Sequence[str] = ()) -> None:
        self.name = name
        self.lesson = lesson  # the lesson, for a built-in example
        self.paths = tuple(paths)
        self.version = 0
        self._stamp = stamp_of(self.paths)
        self._reading = threading.Lock()

    @property
    @abstractmethod
    def views(self) -> Sequence[str]:
        """The names of its views; the first one is shown initially."""

    @property
    def about(self) -> str:
        """A short description."""
        return self.kind

    @abstractmethod
    def spec(self) -> Json:
        """The data that its views load once."""

    @abstractmethod
    def answer(self, view: str, asked: Mapping[str, Any]) -> Json:
        """The answer of a view to a request."""

    def typed(self, types: Mapping[str, str]) -> ShownFile:
        """The file with other column types; an error if its types are fixed."""
        if types:
            raise BadOption("the types of columns can be changed for a table only", found=self.name)
        return self

    def edited_spec(self, edits: object) -> Json:  # noqa: ARG002
        """The spec after some edits; an error unless it is a network."""
        raise BadOption("only a network can be edited", found=self.name)

    def refresh(self) -> None:
        """Reload the files if they have changed."""
        with self._reading:
            stamp = stamp_of(self.paths)
            if stamp != self._stamp:
                self.reload()
                self._stamp, self.version = stamp, self.version + 1

    def watch(self, path: str) -> None:
        """Watch another file that it depends on."""
        self.paths += (path,)
        self._stamp = stamp_of(self.paths)

    def reload(self) -> None:
        """Read the files again."""
        raise NotImplementedError

    def summary(self) -> Json:
        """Its entry in the list of files."""
        return {
            "name": self.name,
            "kind": self.kind,
            "views": list(self.views),
            "lesson": self.lesson,
            "about": self.about,
            "path": self.paths[0] if self.paths and self.lesson is None else None,
        }


def stamp_of(paths: Sequence[str]) -> Stamp:
    """The modification times and sizes of files; None for a missing one."""
    found: list[tuple[int, int] | None] = []
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            found.append(None)
        else:
            found.append((status.st_mtime_ns, status.st_size))
    return tuple(found)


def name_apart(files: Sequence[ShownFile]) -> None:
    """Add to files of the same name as much of their paths as distinguishes them."""
    names = [each.name for each in files]
    for each in files:
        if names.count(each.name) == 1 or not each.paths:
            continue
        parts = Path(each.paths[0]).resolve().parts
        others = [
            Path(other.paths[0]).resolve().parts
            for other in files
            if other is not each and other.paths and other.paths[0] != each.paths[0]
        ]
        for length in range(2, len(parts) + 1):
            if not any(other[-length:] == parts[-length:] for other in others):
                break
        each.name = "/".join(parts[-length:]).replace("//", "/")
    seen: dict[str, int] = {}
    for each in files:  # the same file given twice
        seen[each.name] = seen.get(each.name, 0) + 1
        if seen[each.name] > 1:
            each.name = f"{each.name} ({seen[each.name]})"


class OpenedChain(ShownFile):
    """A hidden Markov model."""

    kind = "chain"
    views = ("chain",)

    def __init__(self, name: str, chain: HiddenMarkovModel, *, path: str | None = None, version: Any = None) -> None:
        super().__init__(name, paths=() if path is None else [path])
        self.chain, self._loaded = chain, version

    @property
    def about(self) -> str:
        return f"hidden Markov model, {len(self.chain.model_.states):,} states"

    def reload(self) -> None:
        self.chain, self._loaded = load_newest(self.paths[0], self.chain, self._loaded)

    def spec(self) -> Json:
        self.refresh()
        return chain_spec(self.chain)

    def answer(self, view: str, asked: Mapping[str, Any]) -> Json:  # noqa: ARG002
        self.refresh()
        return {"answer": chain_answer(self.chain, steps_of_texts(self.chain, asked.get("steps") or []))}


class OpenedLesson(ShownFile):
    """The lesson on Bayes' rule, computed in the page."""

    kind = "lesson"
    views = ("lesson",)

    def spec(self) -> Json:
        return {}

    def answer(self, view: str, asked: Mapping[str, Any]) -> Json:  # noqa: ARG002
        return {}
