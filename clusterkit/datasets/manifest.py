"""``manifest.csv``: what a data folder holds, with the checksum of each file."""

from __future__ import annotations

import csv
import hashlib
import re

import attrs

from clusterkit.datasets.errors import DatasetCorrupt

#: Name of the table in a data folder.
MANIFEST = "manifest.csv"

# A name becomes a file name, here and in the cache of a mirror: no separators, no leading dot.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@attrs.frozen
class Entry:
    """One line of a manifest.

    Attributes
    ----------
    name : str
        Name of the data set; its file is ``<name>.csv.gz`` or ``<name>.npz``.
    sha256 : str
        SHA-256 of that file as it lies in the folder (compressed), in hexadecimal.
    source : str
        Repository, path and version of the original, in words; may be empty.
    licence : str
        Terms of the original; may be empty.
    """

    name: str
    sha256: str
    source: str = ""
    licence: str = ""


def read_manifest(text: str, where: str) -> dict[str, Entry]:
    """Parse a manifest.

    Parameters
    ----------
    text : str
        CSV with at least the columns ``name`` and ``sha256``.
    where : str
        Path or address, for errors.

    Returns
    -------
    dict
        Entries by name.

    Raises
    ------
    ValueError
        If a column is missing, a name could not be a file name, or a line has no checksum.
    """
    reader = csv.DictReader(text.splitlines())
    missing = {"name", "sha256"} - set(reader.fieldnames or ())
    if missing:
        raise ValueError(f"{where} has no column {' and no column '.join(sorted(missing))}")
    entries = {}
    for row in reader:
        name, checksum = row["name"], (row["sha256"] or "").strip().lower()
        if not _NAME.fullmatch(name):
            raise ValueError(f"{where}: {name!r} cannot be the name of a data set")
        if len(checksum) != 64:
            raise ValueError(f"{where}: the sha256 of {name!r} is {checksum!r}, not 64 hexadecimal digits")
        entries[name] = Entry(name, checksum, describe_source(row), row.get("licence") or "")
    return entries


def describe_source(row: dict[str, str]) -> str:
    """Say where a data set comes from originally.

    Parameters
    ----------
    row : dict
        Line of a manifest, or of the built-in table.

    Returns
    -------
    str
        As "github.com/owner/repository, path (version ...)"; empty if the line does not tell.
    """
    repository, path, commit = (row.get(f"source_{part}") or "" for part in ("repo", "path", "commit"))
    if not repository:
        return ""
    if not repository.startswith("PyPI"):
        repository = f"github.com/{repository}"
    return f"{repository}, {path}" + (f" (version {commit})" if commit else "")


def verify(content: bytes, entry: Entry, where: str) -> None:
    """Compare a file with its checksum.

    Parameters
    ----------
    content : bytes
        The file as it lies in the folder.
    entry : Entry
        Its line of the manifest.
    where : str
        Path, for the error.

    Raises
    ------
    DatasetCorrupt
        If they differ.
    """
    got = hashlib.sha256(content).hexdigest()
    if got != entry.sha256:
        raise DatasetCorrupt(
            f"{where} does not match its manifest: SHA-256 expected {entry.sha256}, got {got}; "
            "fetch the file again or correct the manifest"
        )
