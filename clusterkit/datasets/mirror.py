"""A data folder on a web server, with a cache of what was fetched."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import attrs

from clusterkit.datasets.dataset import Dataset
from clusterkit.datasets.errors import DatasetCorrupt, MirrorError
from clusterkit.datasets.manifest import MANIFEST, Entry, read_manifest
from clusterkit.datasets.readers import SUFFIXES
from clusterkit.datasets.sources import read_verified

_TIMEOUT_S = 30


def _without_slash(url: str) -> str:
    return url.rstrip("/")


@attrs.frozen
class Mirror:
    """A copy of a data folder behind an address.

    The manifest is fetched at every use, so that a corrected mirror is noticed; without a connection
    the last one serves. Data files are fetched once and again only if the manifest changes.

    Attributes
    ----------
    url : str
        Address of the folder, http or https.
    cache : Path
        Where fetched files stay.
    """

    url: str = attrs.field(converter=_without_slash)
    cache: Path

    where = "mirror"

    @url.validator
    def _only_web(self, _: Any, url: str) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"CLUSTERKIT_DATA_URL is {url!r}; it must start with http:// or https://")

    @property
    def folder(self) -> Path:
        """Part of the cache that belongs to this address."""
        return self.cache / hashlib.sha256(self.url.encode()).hexdigest()[:12]

    def entries(self) -> dict[str, Entry]:
        """The manifest of the mirror.

        Returns
        -------
        dict
            Entries by name.

        Raises
        ------
        MirrorError
            If there is no answer now and there never was one.
        """
        import pooch

        address, kept = f"{self.url}/{MANIFEST}", self.folder / MANIFEST
        # Own name per process: two processes may fetch at once, and the rename is atomic.
        fresh = self.folder / f"{MANIFEST}.{os.getpid()}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            pooch.HTTPDownloader(timeout=_TIMEOUT_S)(address, str(fresh), None)
            # Parsed before it is kept: a page that says "gone" must not replace a good manifest.
            entries = read_manifest(fresh.read_text(encoding="utf-8"), address)
            fresh.replace(kept)
        except OSError as error:
            if _status(error) is not None or not kept.is_file():
                raise MirrorError(f"{address} cannot be fetched: {error}") from error
            return read_manifest(kept.read_text(encoding="utf-8"), str(kept))
        finally:
            fresh.unlink(missing_ok=True)
        return entries

    def names(self) -> Collection[str]:
        """Names in the manifest."""
        return self.entries().keys()

    def load(self, name: str) -> Dataset:
        """Fetch a file, or take it from the cache, and read it."""
        entry = self.entries()[name]
        files = [f"{name}{suffix}" for suffix in SUFFIXES]
        # A file in the cache tells which ending the mirror uses; else ask for one after the other.
        for filename in sorted(files, key=lambda file: not (self.folder / file).is_file()):
            path = self._fetch(filename, entry)
            if path is not None:
                return read_verified(path.read_bytes(), filename, entry, str(path))
        raise MirrorError(f"{self.url} lists {name!r} but has neither {' nor '.join(files)}")

    def _fetch(self, filename: str, entry: Entry) -> Path | None:
        """Path of the verified file; None if the mirror has no such file."""
        import pooch

        address = f"{self.url}/{filename}"
        try:
            fetched = pooch.retrieve(
                address,
                known_hash=f"sha256:{entry.sha256}",
                fname=filename,
                path=self.folder,
                downloader=pooch.HTTPDownloader(timeout=_TIMEOUT_S),
            )
        except ValueError as error:
            raise DatasetCorrupt(f"{address} does not match its manifest: {error}") from error
        except OSError as error:
            if _status(error) == 404:
                return None
            raise MirrorError(f"{address} cannot be fetched: {error}") from error
        return Path(fetched)


def _status(error: OSError) -> int | None:
    """HTTP status, if the server did answer."""
    return getattr(getattr(error, "response", None), "status_code", None)
