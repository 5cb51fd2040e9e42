"""The files that commands write: checked before the work begins, and written whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import click

from clusterkit.cli.failures import BadInput
from clusterkit.core.whole_files import replacing, same_file

__all__ = ["STDOUT", "check", "check_ending", "text_table", "write_table"]

STDOUT = "-"
"""The path that stands for standard output, and for standard input."""

TABLES = ("", ".csv", ".txt", ".tsv", ".tab")
"""Endings of delimited text; the last two have tabs, the others commas. A file without an ending has commas."""

TABS = (".tsv", ".tab")
"""Endings of text with tabs between the cells."""


def check(outputs: Mapping[str, str | None], inputs: Iterable[str] = ()) -> None:
    """Raise `BadInput` before the work for a file that could not be written after it, or that must not be.

    Parameters
    ----------
    outputs : mapping of str to str or None
        The option to the file that it names; None if it is not used.
    inputs : iterable of str
        Files that are read. An output that is one of them, or another output, is refused, by whatever name or link.
    """
    taken = [("is read by this command", source) for source in inputs]
    for option, path in outputs.items():
        if path == STDOUT and sys.stdout is None:
            raise BadInput(f"{option} -: standard output is closed")
        if path is None or path == STDOUT:
            continue
        for what, other in taken:
            if _same(path, other):
                raise BadInput(f"{path}: {option} needs a file of its own, this one {what}")
        _check_place(path)
        taken.append((f"is that of {option}", path))


def _check_place(path: str) -> None:
    """Raise `BadInput` if no file can be written there."""
    target = Path(path)
    if target.is_dir():
        raise BadInput(f"{path} cannot be written: it is a folder")
    parent = Path(os.path.realpath(target)).parent
    if not parent.is_dir():
        raise BadInput(f"{path} cannot be written: there is no such folder")
    is_device = target.exists() and not target.is_file()
    if (target.exists() and not os.access(target, os.W_OK)) or not (is_device or os.access(parent, os.W_OK)):
        raise BadInput(f"{path} cannot be written: no permission")


def _same(path: str, other: str) -> bool:
    """Whether two names are of one file. `STDOUT` as `other` is standard input, which may come from a file."""
    try:
        if other == STDOUT:
            return os.path.samestat(os.stat(path), os.fstat(sys.stdin.fileno()))
        return same_file(path, other)
    except (OSError, ValueError, AttributeError):  # no such file, or a standard input that is none
        return False


def check_ending(path: str | None, endings: Collection[str], what: str) -> None:
    """Raise `BadInput` for a file whose ending says that it is something else."""
    if path is None or path == STDOUT:
        return
    ending = Path(path).suffix.lower()
    if ending not in endings:
        known = ", ".join(sorted(each for each in endings if each))
        raise BadInput(f"{path}: {what} can be {known}, not {ending or 'without an ending'}")


def text_table(path: str) -> str | None:
    """The ending, without ``.gz``, of a file of delimited text; None if the ending is of something else."""
    name = path.lower().removesuffix(".gz")
    ending = Path(name).suffix
    return ending if ending in TABLES else None


def write_table(path: str, rows: Iterable[Sequence[object]]) -> None:
    """Write rows as delimited text: the ending decides the delimiter and whether the file is compressed.

    Raises
    ------
    OSError
        With the path and the reason; nothing is changed then.
    """
    buffer = io.StringIO(newline="")
    tabs = text_table(path) in TABS
    csv.writer(buffer, delimiter="\t" if tabs else ",", lineterminator="\n").writerows(rows)
    if path == STDOUT:
        click.echo(buffer.getvalue(), nl=False)
        return
    content = buffer.getvalue().encode()
    with replacing(path) as part:
        part.write_bytes(gzip.compress(content) if path.lower().endswith(".gz") else content)
