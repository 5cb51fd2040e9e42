"""Finished candidates of a search in a file of JSON lines, so that a search can go on after it was ended."""

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
WHAT = {
    "data": "other data",
    "pipeline": "another pipeline",
    "seed": "another random_state",
    "judge": "another score or other options",
}


@attrs.define
class Store:
    """Candidates by digest, read from a file and appended to it one line each.

    Parameters
    ----------
    path : Path
    found : dict
        What is known about finished candidates.
    """

    path: Path
    found: dict[str, dict[str, Any]]

    @classmethod
    def open(cls, path: Path, header: Mapping[str, Any]) -> Store:
        """Read a file of the same search, or begin one.

        Raises
        ------
        InvalidData, InvalidParameter
            If the file is of another search, or is none.
        """
        lines = _lines(path)
        if not lines:
            try:
                path.write_text(json.dumps({"format": FORMAT, **header}) + "\n", encoding="utf-8")
            except OSError as error:
                raise InvalidParameter(f"search: resume={str(path)!r} cannot be written: {error.strerror}") from None
            return cls(path, {})
        for key, what in WHAT.items():
            if lines[0].get(key) != header[key]:
                kind = InvalidData if key == "data" else InvalidParameter
                raise kind(
                    f"search: resume={str(path)!r} is of {what}; give the same as then, or the name of a new file"
                )
        return cls(path, {line["candidate"]: line for line in lines[1:]})

    def get(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """What is known about a candidate, its labels unpacked."""
        line = self.found.get(digest(params))
        return None if line is None else {**line, "labels": _unpacked(line["labels"])}

    def add(self, params: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        """Keep a finished candidate."""
        line = {"candidate": digest(params), **facts, "labels": _packed(facts["labels"])}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def seed_in(path: Path) -> int | None:
    """The seed of the search a file is of; None if there is no such file."""
    lines = _lines(path)
    return int(lines[0]["seed"]) if lines else None


def _lines(path: Path) -> list[dict[str, Any]]:
    """All lines; a last one that is cut short, by a process that was killed, is taken away."""
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
