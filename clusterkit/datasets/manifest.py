"""``manifest.csv``: the data sets of a folder, with the checksum of each file."""

from __future__ import annotations

import csv
import hashlib
import re

import attrs

from clusterkit.datasets.errors import DatasetCorrupt

MANIFEST = "manifest.csv"
"""Name of the table in a data folder."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""Allowed names: they become file names, here and in the cache of a mirror, so no separators and no leading dot."""


@attrs.frozen
class ManifestEntry:
    """One line of a manifest.

    Attributes
    ----------
    name : str
        Name of the data set; its file is ``<name>.csv.gz`` or ``<name>.npz``.
    sha256 : str
        SHA-256 of the file in the folder (compressed), in hexadecimal.
    source : str
        Repository, path and version of the original, in words; may be empty.
    licence : str
        Terms of the original; may be empty.
    """

    name: str
    sha256: str
    source: str = ""
    licence: str = ""


def read_manifest(text: str, where: str) -> dict[str, ManifestEntry]:
    """Parse a manifest.

    Parameters
    ----------
    text : str
        CSV with at least the columns ``name`` and ``sha256``.
    where : str
        Path or address of the manifest, for errors.

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
        entries[name] = ManifestEntry(name, checksum, describe_source(row), row.get("licence") or "")
    return entries


def describe_source(row: dict[str, str]) -> str:
    """Origin of a data set in words.

    Parameters
    ----------
    row : dict
        Line of a manifest, or of the built-in table.

    Returns
    -------
    str
        Of the form "github.com/owner/repository, path (version ...)"; empty if the line has no repository.
    """
    repository, path, commit = (row.get(f"source_{part}") or "" for part in ("repo", "path", "commit"))
    if not repository:
        return ""
    if not repository.startswith("PyPI"):
        repository = f"github.com/{repository}"
    return f"{repository}, {path}" + (f" (version {commit})" if commit else "")


def verify(content: bytes, entry: ManifestEntry, where: str) -> None:
    """Check a file against its checksum.

    Parameters
    ----------
    content : bytes
        The file in the folder (compressed).
    entry : ManifestEntry
        The line of the manifest.
    where : str
        Path of the file, for the error.

    Raises
    ------
    DatasetCorrupt
        If they differ.
    """
    actual = hashlib.sha256(content).hexdigest()
    if actual != entry.sha256:
        raise DatasetCorrupt(
            f"{where} does not match its manifest: SHA-256 expected {entry.sha256}, got {actual}; "
            "fetch the file again or correct the manifest"
        )
