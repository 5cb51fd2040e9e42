"""Metadata of data sets: files with checksums, formats, sizes, origins, and the parts that papers use.

``manifest.csv`` lists the data sets of a folder, with the checksum of each file. A file has one of two formats: CSV
with a label column, or sparse npz. `known` has sizes and origins of the data sets the papers use, whether they are
available or not. A part of a data set (`DatasetVariant`) is made from the whole by a fixed rule.
"""

from __future__ import annotations

import csv
import functools
import gzip
import hashlib
import io
import re
import zlib
from importlib import resources
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import AnyArray
from clusterkit_papers.datasets.dataset import Dataset, DatasetCorrupt

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
        Text "github.com/owner/repository, path (version ...)"; empty if the line has no repository.
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


SUFFIXES = (".csv.gz", ".npz")
"""File name endings, in the order in which they are tried."""


def read_bytes(content: bytes, filename: str, *, name: str, description: str) -> Dataset:
    """Read a data set from the bytes of its file.

    Parameters
    ----------
    content : bytes
        The file.
    filename : str
        Name of the file; the ending decides the format, and errors mention the name.
    name, description : str
        Name and description of the data set.

    Returns
    -------
    Dataset
        Data and target as in the file.

    Raises
    ------
    ValueError
        If the content does not have the format.
    """
    try:
        if filename.endswith(".npz"):
            data, target = _read_npz(content)
            names = tuple(f"x{j}" for j in range(data.shape[1]))
        else:
            data, target, names = _read_csv(gzip.decompress(content).decode("utf-8"))
    except (ValueError, KeyError, EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{filename} cannot be read: {error}") from error
    return Dataset(name=name, data=data, target=target, description=description, feature_names=names)


def _read_csv(text: str) -> tuple[NDArray[np.float64], NDArray[Any], tuple[str, ...]]:
    header, *lines = text.splitlines()
    names = tuple(header.split(","))
    if names[-1] != "label":
        raise ValueError(f"the last column is {names[-1]!r}, not 'label'")
    if not lines:
        raise ValueError("there are no rows")
    parts = [line.rpartition(",") for line in lines]
    cells = [_fill_empty(features) for features, _, _ in parts]
    data = np.loadtxt(cells, dtype=np.float64, delimiter=",", comments=None, ndmin=2)
    if data.shape != (len(lines), len(names) - 1):
        raise ValueError(f"{len(lines)} rows under {len(names)} names do not make a table {data.shape}")
    return data, _as_labels([label for _, _, label in parts]), names[:-1]


def _fill_empty(line: str) -> str:
    # Only lines with empty cells are split: loadtxt refuses these, but parses all others at the speed of C.
    if ",," in line or line.startswith(",") or line.endswith(","):
        return ",".join(cell or "nan" for cell in line.split(","))
    return line


def _as_labels(labels: list[str]) -> NDArray[Any]:
    if not all(labels):
        raise ValueError(f"row {labels.index('')} has no label")
    try:
        return np.array([int(label) for label in labels], dtype=np.int64)
    except ValueError:
        return np.array(labels)


def _read_npz(content: bytes) -> tuple[Any, NDArray[Any]]:
    from scipy.sparse import csr_matrix

    with np.load(io.BytesIO(content), allow_pickle=False) as parts:
        indices, shape = parts["indices"].astype(np.int32), tuple(parts["shape"].tolist())
        data = csr_matrix((parts["data"].astype(np.float64), indices, parts["indptr"]), shape=shape)
        labels = parts["labels"]
    return data, labels.astype(np.int64) if labels.dtype.kind in "iu" else labels


@attrs.frozen
class KnownDataset:
    """Size and origin of a data set, known without its file.

    Attributes
    ----------
    name : str
        Name of the data set.
    n, d, classes : int
        Numbers of rows, attributes and classes.
    source : str
        Repository, path and version of the original.
    licence : str
        Terms of the original.
    """

    name: str
    n: int
    d: int
    classes: int
    source: str
    licence: str


@functools.cache
def known() -> dict[str, KnownDataset]:
    """The built-in table of data sets.

    Returns
    -------
    dict
        Data sets by name, in the order of the table.

    Examples
    --------
    >>> known()["letter"].n, known()["letter"].source.split(",")[0]
    (20000, 'github.com/davidgasquez/letter-recognition')
    """
    text = resources.files("clusterkit_papers.datasets").joinpath("sources.csv").read_text(encoding="utf-8")
    return {
        row["name"]: KnownDataset(
            name=row["name"],
            n=int(row["n"]),
            d=int(row["d"]),
            classes=int(row["classes"]),
            source=describe_source(row),
            licence=row["licence"],
        )
        for row in csv.DictReader(text.splitlines())
    }


@attrs.frozen
class DatasetVariant:
    """A rule that selects rows of a data set; their order stays the same.

    Attributes
    ----------
    base : str
        The whole data set.
    classes : tuple, optional
        Classes to keep; None keeps all.
    per_class : int, optional
        Most rows of a class, chosen at random; None keeps all.
    """

    base: str
    classes: tuple[int | str, ...] | None = None
    per_class: int | None = None

    def apply(self, whole: Dataset, name: str, seed: int) -> Dataset:
        """Select the rows.

        Parameters
        ----------
        whole : Dataset
            The whole data set.
        name : str
            Name of the part.
        seed : int
            Seed of the random choice, if there is one.

        Returns
        -------
        Dataset
            The part.
        """
        rows = np.arange(whole.target.size)
        rules = []
        if self.classes is not None:
            rows = rows[np.isin(whole.target, self.classes)]
            rules.append(f"classes {', '.join(map(str, self.classes))}")
        if self.per_class is not None:
            rows = rows[at_most_per_class(whole.target[rows], self.per_class, seed)]
            rules.append(f"at most {self.per_class} rows a class, chosen with seed {seed}")
        return attrs.evolve(
            whole,
            name=name,
            data=whole.data[rows],
            target=whole.target[rows],
            description=f"Part of {whole.name}: {'; '.join(rules)}. {whole.description}",
        )


NAMED = {
    "digits-0689": DatasetVariant("digits", (0, 6, 8, 9)),
    "digits-1279": DatasetVariant("digits", (1, 2, 7, 9)),
    "digits-1-7": DatasetVariant("digits", (1, 7)),
    "digits-3-9": DatasetVariant("digits", (3, 9)),
    "digits-8-9": DatasetVariant("digits", (8, 9)),
    "letter-ab": DatasetVariant("letter", ("A", "B")),
    "letter-abcd": DatasetVariant("letter", ("A", "B", "C", "D")),
    "satellite-c1-c2": DatasetVariant("satimage", (1, 2)),
    "tdt2-2651": DatasetVariant("tdt2", per_class=100),
}
"""The variants with fixed names; ``digits-a-b`` is made by `find_variant`."""


def find_variant(name: str) -> DatasetVariant | None:
    """The rule of a name.

    Parameters
    ----------
    name : str
        One of `NAMED`, or ``digits-a-b`` for two different digits.

    Returns
    -------
    DatasetVariant or None
        None if no rule has this name.

    Examples
    --------
    >>> find_variant("digits-2-7")
    DatasetVariant(base='digits', classes=(2, 7), per_class=None)
    >>> find_variant("digits-2-2") is None
    True
    """
    pair = re.fullmatch(r"digits-([0-9])-([0-9])", name)
    if pair and pair[1] != pair[2]:
        return DatasetVariant("digits", (int(pair[1]), int(pair[2])))
    return NAMED.get(name)


def at_most_per_class(target: AnyArray, most: int, seed: int) -> NDArray[np.intp]:
    """Choose rows at random until no class has more than `most`.

    Parameters
    ----------
    target : ndarray of shape (n,)
        Classes.
    most : int
        Limit per class; smaller classes stay whole.
    seed : int
        Seed of the generator, which serves the classes in sorted order.

    Returns
    -------
    ndarray of int
        Chosen rows, ascending.

    Examples
    --------
    >>> at_most_per_class(np.array([0, 0, 0, 1]), 1, seed=0).tolist()
    [2, 3]
    """
    rng = np.random.default_rng(seed)
    chosen = []
    for label in np.unique(target):
        rows = np.flatnonzero(target == label)
        chosen.append(rows if rows.size <= most else rng.choice(rows, most, replace=False))
    return np.sort(np.concatenate(chosen))
