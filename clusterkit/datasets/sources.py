"""Sources of data sets: the protocol, a local folder, scikit-learn."""

from __future__ import annotations

import errno
from collections.abc import Collection
from pathlib import Path
from typing import Protocol

import attrs
import numpy as np

from clusterkit.datasets.dataset import Dataset
from clusterkit.datasets.errors import DatasetCorrupt
from clusterkit.datasets.manifest import MANIFEST, ManifestEntry, read_manifest, verify
from clusterkit.datasets.readers import SUFFIXES, read_bytes


class DatasetSource(Protocol):
    """A source of data sets."""

    @property
    def where(self) -> str:
        """Short name of the source."""

    def names(self) -> Collection[str]:
        """Names of its data sets."""

    def load(self, name: str) -> Dataset:
        """Load a data set by name."""


def read_verified(content: bytes, filename: str, entry: ManifestEntry, where: str) -> Dataset:
    """Check a file against its manifest, then read it.

    Parameters
    ----------
    content : bytes
        The file. The same bytes are hashed and parsed, so that it cannot change in between.
    filename : str
        Name of the file.
    entry : ManifestEntry
        The line of the manifest.
    where : str
        Full path or address, for errors.

    Returns
    -------
    Dataset
        The data set.

    Raises
    ------
    DatasetCorrupt
        If the checksum is wrong.
    ValueError
        If the file cannot be read.
    """
    verify(content, entry, where)
    known = [f"{title}: {text}." for title, text in (("Origin", entry.source), ("Licence", entry.licence)) if text]
    return read_bytes(content, filename, name=entry.name, description=" ".join(known) or filename)


@attrs.frozen
class Folder:
    """A data folder with a manifest.

    Attributes
    ----------
    path : Path
        The folder.
    """

    path: Path

    where = "folder"

    def entries(self) -> dict[str, ManifestEntry]:
        """The manifest.

        Returns
        -------
        dict
            Entries by name.

        Raises
        ------
        FileNotFoundError
            If the folder has no manifest. A wrong path is an error even if another source has the data set, because
            the user chose the folder.
        """
        manifest = self.path / MANIFEST
        if not manifest.is_file():
            lacks = f"it has no {MANIFEST}" if self.path.is_dir() else "there is no such folder"
            reason = f"is no data folder: {lacks}. CLUSTERKIT_DATA or data_home names the folder of the data sets"
            raise FileNotFoundError(errno.ENOENT, reason, str(self.path))
        return read_manifest(manifest.read_text(encoding="utf-8"), str(manifest))

    def names(self) -> Collection[str]:
        """Names in the manifest."""
        return self.entries().keys()

    def load(self, name: str) -> Dataset:
        """Read a data set after checking the checksum of its file."""
        entry = self.entries()[name]
        for path in (self.path / f"{name}{suffix}" for suffix in SUFFIXES):
            if path.is_file():
                return read_verified(path.read_bytes(), path.name, entry, str(path))
        files = " nor ".join(f"{name}{suffix}" for suffix in SUFFIXES)
        raise DatasetCorrupt(f"{self.path / MANIFEST} lists {name!r}, but there is neither {files} beside it")


@attrs.frozen
class Bundled:
    """The data sets that come with scikit-learn."""

    where = "scikit-learn"

    def names(self) -> Collection[str]:
        """Names of these data sets in clusterkit."""
        return ("digits", "iris", "wdbc", "wine")

    def load(self, name: str) -> Dataset:
        """Load a data set from scikit-learn."""
        from sklearn import datasets

        loaders = {
            "digits": datasets.load_digits,
            "iris": datasets.load_iris,
            "wdbc": datasets.load_breast_cancer,
            "wine": datasets.load_wine,
        }
        bunch = loaders[name]()
        return Dataset(
            name=name,
            data=np.asarray(bunch.data, dtype=np.float64),
            target=np.asarray(bunch.target, dtype=np.int64),
            description=bunch.DESCR,
            feature_names=tuple(str(feature) for feature in bunch.feature_names),
        )
