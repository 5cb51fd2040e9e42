"""A data folder on a web server, with a cache of fetched files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import attrs

from clusterkit.datasets.dataset import Dataset
from clusterkit.datasets.errors import DatasetCorrupt, MirrorError
from clusterkit.datasets.manifest import MANIFEST, ManifestEntry, read_manifest
from clusterkit.datasets.readers import SUFFIXES
from clusterkit.datasets.sources import read_verified

_TIMEOUT_S = 30
"""Seconds to wait for an answer of the mirror."""


def _without_slash(url: str) -> str:
    return url.rstrip("/")


@attrs.frozen
class Mirror:
    """A copy of a data folder at a web address.

    The manifest is fetched at every use, so that a corrected mirror is noticed; without a connection the manifest
    fetched last is used. A data file is fetched once, and again only if its checksum in the manifest changes.

    Attributes
    ----------
    url : str
        Address of the folder, http or https.
    cache : Path
        Folder of the fetched files.
    checksum : str or None
        SHA-256 of the manifest, from another place than the mirror.
    trusted : bool
        Whether the manifest is believed without such a checksum.
    """

    url: str = attrs.field(converter=_without_slash)
    cache: Path
    checksum: str | None = None
    trusted: bool = False

    where = "mirror"

    @url.validator
    def _only_web(self, _: Any, url: str) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"CLUSTERKIT_DATA_URL is {url!r}; it must start with http:// or https://")

    @property
    def folder(self) -> Path:
        """Folder of the cache for this address."""
        return self.cache / hashlib.sha256(self.url.encode()).hexdigest()[:12]

    def entries(self) -> dict[str, ManifestEntry]:
        """The manifest of the mirror.

        Returns
        -------
        dict
            Entries by name.

        Raises
        ------
        MirrorError
            If the mirror does not answer and no manifest was fetched before, or nothing vouches for the manifest: who
            can change the files can change the checksums in it too.
        """
        self._check_trust()
        import pooch

        address, cached = f"{self.url}/{MANIFEST}", self.folder / MANIFEST
        # One file name per process: two processes may fetch at once, and the rename is atomic.
        fresh = self.folder / f"{MANIFEST}.{os.getpid()}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            pooch.HTTPDownloader(timeout=_TIMEOUT_S)(address, str(fresh), None)
            # Parsed before it replaces the cached one: an error page must not replace a good manifest.
            entries = self._verified(fresh, address)
            fresh.replace(cached)
        except OSError as error:
            if _status(error) is not None or not cached.is_file():
                raise MirrorError(f"{address} cannot be fetched: {error}") from error
            return self._verified(cached, str(cached))
        finally:
            fresh.unlink(missing_ok=True)
        return entries

    def _check_trust(self) -> None:
        """Refuse a mirror that the user has not vouched for in one way or the other."""
        if self.checksum is not None or self.trusted:
            return
        plain = " by plain http, which anybody on the way can change," if self.url.startswith("http:") else ""
        raise MirrorError(
            f"{self.url} is read{plain} without a checksum from another place. Set CLUSTERKIT_DATA_SHA256 to the "
            f"SHA-256 of its {MANIFEST}, or CLUSTERKIT_DATA_TRUST=1 to believe whatever the mirror sends"
        )

    def _verified(self, path: Path, where: str) -> dict[str, ManifestEntry]:
        """The entries of a manifest that has the checksum."""
        content = path.read_bytes()
        actual = hashlib.sha256(content).hexdigest()
        if self.checksum is not None and actual != self.checksum.strip().lower():
            raise DatasetCorrupt(
                f"{where} does not match CLUSTERKIT_DATA_SHA256: expected {self.checksum}, got {actual}"
            )
        try:
            return read_manifest(content.decode("utf-8"), where)
        except ValueError as error:
            raise DatasetCorrupt(str(error)) from error

    def names(self) -> Collection[str]:
        """Names in the manifest."""
        return self.entries().keys()

    def load(self, name: str) -> Dataset:
        """Read a data set from the cache, fetching its file first if needed."""
        entry = self.entries()[name]
        files = [f"{name}{suffix}" for suffix in SUFFIXES]
        # A file in the cache shows which ending the mirror uses; otherwise try one after the other.
        for filename in sorted(files, key=lambda file: not (self.folder / file).is_file()):
            path = self._fetch(filename, entry)
            if path is not None:
                return read_verified(path.read_bytes(), filename, entry, str(path))
        raise MirrorError(f"{self.url} lists {name!r} but has neither {' nor '.join(files)}")

    def _fetch(self, filename: str, entry: ManifestEntry) -> Path | None:
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
    """HTTP status; None if the server did not answer."""
    return getattr(getattr(error, "response", None), "status_code", None)
