"""Finished candidates of a search in a file of JSON lines, so that an interrupted search can be continued."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from clusterkit._typing import Labels
from clusterkit.core.errors import InvalidData, InvalidParameter
from clusterkit.estimators._search_grid import digest

__all__ = ["Store", "seed_in"]

FORMAT = "clusterkit search 1"
"""Entry "format" of the first line; the number is raised when older files can no longer be read."""

DIFFERENCES = {
    "data": "other data",
    "pipeline": "another pipeline",
    "seed": "another random_state",
    "judge": "another score or other options",
}
"""Entry of the first line to the words for a file in which this entry differs."""


@attrs.define
class Store:
    """Candidates by digest, read from a file and appended to it one line each.

    Parameters
    ----------
    path : Path
    finished : dict
        Digest of a candidate to the facts about it.
    """

    path: Path
    finished: dict[str, dict[str, Any]]

    @classmethod
    def open(cls, path: Path, header: Mapping[str, Any]) -> Store:
        """Read a file of the same search, or create one.

        Raises
        ------
        InvalidData, InvalidParameter
            If the file belongs to another search, or is no file of a search.
        """
        lines = _lines(path)
        if not lines:
            try:
                path.write_text(json.dumps({"format": FORMAT, **header}) + "\n", encoding="utf-8")
            except OSError as error:
                raise InvalidParameter(f"search: resume={str(path)!r} cannot be written: {error.strerror}") from None
            return cls(path, {})
        for key, what in DIFFERENCES.items():
            if lines[0].get(key) != header[key]:
                kind = InvalidData if key == "data" else InvalidParameter
                raise kind(
                    f"search: resume={str(path)!r} is of {what}; give the same as then, or the name of a new file"
                )
        return cls(path, {line["candidate"]: line for line in lines[1:]})

    def get(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """The facts about a finished candidate, with its labels unpacked; None if it is not in the file."""
        line = self.finished.get(digest(params))
        return None if line is None else {**line, "labels": _unpacked(line["labels"])}

    def add(self, params: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        """Append a finished candidate to the file."""
        line = {"candidate": digest(params), **facts, "labels": _packed(facts["labels"])}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def seed_in(path: Path) -> int | None:
    """The seed of the search that a file belongs to; None if there is no file."""
    lines = _lines(path)
    return int(lines[0]["seed"]) if lines else None


def _lines(path: Path) -> list[dict[str, Any]]:
    """All lines; an incomplete last line, left by a killed process, is removed."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError):
        text = "unreadable"
    whole, _, rest = text.rpartition("\n")
    try:
        lines = [json.loads(line) for line in whole.splitlines()]
        if lines and lines[0]["format"] == FORMAT:
            if rest:
                path.write_text(whole + "\n", encoding="utf-8")
            return lines
    except (json.JSONDecodeError, TypeError, KeyError):
        pass
    if text:
        raise InvalidParameter(f"search: resume={str(path)!r} is not a file of a search; give the name of a new one")
    return []


def _packed(labels: Labels) -> str:
    return base64.b64encode(zlib.compress(labels.astype("<i4").tobytes())).decode()


def _unpacked(text: str) -> Labels:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<i4").astype(np.int64)
