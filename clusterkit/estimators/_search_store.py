"""Finished candidates of a search in a file of JSON lines, so that an interrupted search can be continued."""

from __future__ import annotations

import base64
import errno
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from clusterkit._typing import Labels
from clusterkit.core.errors import InvalidData, InvalidParameter
from clusterkit.core.file_locks import HeldFiles
from clusterkit.core.params import is_count
from clusterkit.core.whole_files import replacing
from clusterkit.estimators._search_grid import digest
from clusterkit.estimators._search_result import Candidate

__all__ = ["Store", "alone_on", "seed_in"]

FORMAT = "clusterkit search 3"
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
    def open(cls, path: Path, header: Mapping[str, Any], n: int) -> Store:
        """Read a file of the same search, or create one.

        Parameters
        ----------
        path : Path
        header : mapping
            What tells searches apart.
        n : int
            Number of samples.

        Raises
        ------
        InvalidData, InvalidParameter
            If the file belongs to another search, is no file of a search, or is damaged.
        """
        lines = _lines(path)
        if not lines:
            try:
                with replacing(path) as part:
                    part.write_text(json.dumps({"format": FORMAT, **header}) + "\n", encoding="utf-8")
            except OSError as error:
                raise InvalidParameter(f"search: resume={str(path)!r} {error.strerror}") from None
            return cls(path, {})
        for key, what in DIFFERENCES.items():
            if lines[0].get(key) != header[key]:
                kind = InvalidData if key == "data" else InvalidParameter
                raise kind(
                    f"search: resume={str(path)!r} is of {what}; give the same as then, or the name of a new file"
                )
        finished = {}
        for number, line in enumerate(lines[1:], 2):
            try:
                if line.pop("check") != _check(line):
                    raise ValueError("its check sum is that of another line")
                finished[str(line["candidate"])] = _facts(line, n)
            except (AttributeError, KeyError, TypeError, ValueError, zlib.error) as error:
                raise InvalidParameter(
                    f"search: resume={str(path)!r}: line {number} is damaged ({type(error).__name__}: {error}); remove "
                    "the line to fit its candidate again, or give the name of a new file"
                ) from None
        return cls(path, finished)

    def get(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """The facts about a finished candidate; None if it is not in the file."""
        return self.finished.get(digest(params))

    def add(self, params: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        """Append a finished candidate to the file, its whole line or nothing.

        Raises
        ------
        InvalidParameter
            If the file cannot be written, for example because the disk is full.
        """
        line = {"candidate": digest(params), **facts, "labels": _packed(facts["labels"])}
        line["check"] = _check(line)
        try:
            with self.path.open("ab", buffering=0) as file:
                end = file.tell()
                content = (json.dumps(line) + "\n").encode()
                try:
                    if file.write(content) != len(content):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                except BaseException:  # Ctrl-C too
                    file.truncate(end)
                    raise
        except OSError as error:
            raise InvalidParameter(
                f"search: resume={str(self.path)!r} cannot be written: {error.strerror}; what was finished is in it"
            ) from error


@contextmanager
def alone_on(path: Path | None) -> Iterator[None]:
    """Hold the file of a search, so that no other search fits the same candidates meanwhile.

    Raises
    ------
    InvalidData
        If another search works on it, of this process or of another.
    """
    held = HeldFiles()
    try:
        if path is not None:
            with suppress(OSError):  # a folder that cannot be written to; what is finished can be read all the same
                held.take(f"{path}.lock", f"search: resume={str(path)!r}")
        yield
    finally:
        held.release()


def seed_in(path: Path) -> int | None:
    """The seed of the search that a file belongs to; None if there is no file."""
    lines = _lines(path)
    seed = lines[0].get("seed") if lines else None
    return int(seed) if is_count(seed, at_least=0) else None


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
        first, *others = whole.split("\n")
        header = json.loads(first)
        if header["format"] == FORMAT:
            if rest:
                os.truncate(path, len((whole + "\n").encode()))
            return [header, *map(_parsed, others)]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        pass
    if text:
        raise InvalidParameter(f"search: resume={str(path)!r} is not a file of a search; give the name of a new one")
    return []


def _parsed(line: str) -> Any:
    """What a line stands for; the line itself if it is no JSON, which is refused with its number later."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


def _facts(line: Mapping[str, Any], n: int) -> dict[str, Any]:
    """The facts of a line, checked, with the labels unpacked."""
    facts = {key: value for key, value in line.items() if key != "candidate"}
    known = {field.name for field in attrs.fields(Candidate)} - {"params"}
    if facts.keys() != known:
        raise ValueError(f"entries {', '.join(sorted(known ^ facts.keys()))}")
    for name in ("score", "stability", "seconds"):
        if not isinstance(facts[name], int | float) and (name == "seconds" or facts[name] is not None):
            raise TypeError(f"{name} {facts[name]!r}")
    for name in ("n_clusters", "n_noise"):
        if not is_count(facts[name], at_least=0):
            raise TypeError(f"{name} {facts[name]!r}")
    if facts["status"] not in ("scored", "excluded") or not isinstance(facts["reason"], str):
        raise ValueError(f"status {facts['status']!r}, reason {facts['reason']!r}")
    return {**facts, "labels": _unpacked(facts["labels"], n)}


def _check(line: Mapping[str, Any]) -> int:
    """Check sum of the entries of a line, against changed digits that still are a line."""
    return zlib.crc32(json.dumps(line, sort_keys=True).encode())


def _packed(labels: Labels) -> str:
    return base64.b64encode(zlib.compress(labels.astype("<i4").tobytes())).decode()


def _unpacked(text: str, n: int) -> Labels:
    """The n labels in a text; no more is unpacked, whatever the text stands for."""
    content = zlib.decompressobj().decompress(base64.b64decode(text), 4 * n + 1)
    if len(content) != 4 * n:
        raise ValueError(f"labels of another number of samples than {n}")
    return np.frombuffer(content, dtype="<i4").astype(np.int64)
