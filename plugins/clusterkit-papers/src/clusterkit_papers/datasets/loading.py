"""Loads a data set by name from the first source that has it.

The sources are a local folder (`Folder`), scikit-learn (`Bundled`), and a data folder on a web server with a cache of
fetched files (`Mirror`).
"""

from __future__ import annotations

import difflib
import errno
import hashlib
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Protocol

import attrs
import numpy as np

from clusterkit_papers.datasets.dataset import Dataset, DatasetCorrupt, DatasetNotFound, MirrorError
from clusterkit_papers.datasets.manifest import (
    MANIFEST,
    NAMED,
    SUFFIXES,
    ManifestEntry,
    find_variant,
    known,
    read_bytes,
    read_manifest,
    verify,
)


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
            If the mirror does not answer and no manifest is cached, or if neither `checksum` nor `trusted` is set: an
            attacker who can change the files could also change the checksums in the manifest.
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


def load(name: str, *, data_home: str | os.PathLike[str] | None = None, seed: int = 0) -> Dataset:
    """Load a labelled data set.

    Sources are searched in this order: the data folder, scikit-learn (digits, iris, wdbc, wine), the mirror at
    ``$CLUSTERKIT_DATA_URL``, whose manifest must have the SHA-256 in ``$CLUSTERKIT_DATA_SHA256`` unless
    ``$CLUSTERKIT_DATA_TRUST`` is 1. Files of a folder or mirror are read only if they match the SHA-256 in its
    ``manifest.csv``. Fetched files stay in ``$CLUSTERKIT_CACHE`` (if unset, in the cache folder of the user).

    Parameters
    ----------
    name : str
        One of `names`, or ``digits-a-b`` for any two digits.
    data_home : path, optional
        Data folder; if None, ``$CLUSTERKIT_DATA``.
    seed : int
        Used only by data sets that are a random choice of rows (``tdt2-2651``).

    Returns
    -------
    Dataset
        Unscaled data in the row order of the source, and its classes.

    Raises
    ------
    DatasetNotFound
        If no source has it; the message says how to provide it.
    DatasetCorrupt
        If its file does not match the manifest.
    MirrorError
        If the mirror does not answer, or nothing vouches for its manifest.
    FileNotFoundError
        If the data folder has no manifest.

    Examples
    --------
    >>> load("digits-1-7")
    Dataset('digits-1-7', 361 x 64, 2 classes)
    """
    sources = _sources(data_home)
    variant = find_variant(name)
    base = variant.base if variant else name
    # In each source the name itself comes before the whole data set that contains it. So the mirror is not used, and
    # cannot fail, if a nearer source has the rows.
    for source in sources:
        available = source.names()
        if name in available:
            return source.load(name)
        if variant and base in available:
            return variant.apply(source.load(base), name, seed)
    raise DatasetNotFound(_missing(name, base, sources))


def names(*, data_home: str | os.PathLike[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Names that `load` accepts now, and their sources.

    Parameters
    ----------
    data_home : path, optional
        Data folder; if None, ``$CLUSTERKIT_DATA``.

    Returns
    -------
    dict
        Sorted names, each with the sources that have it ("folder", "scikit-learn", "mirror") in the order of `load`.
        Besides these, ``digits-a-b`` works for any two digits.

    Raises
    ------
    MirrorError
        If the mirror does not answer.
    FileNotFoundError
        If the data folder has no manifest.

    Examples
    --------
    >>> "scikit-learn" in names()["digits-8-9"]
    True
    """
    places: dict[str, tuple[str, ...]] = {}
    for source in _sources(data_home):
        for name in source.names():
            places[name] = (*places.get(name, ()), source.where)
    derived = {name: places[variant.base] for name, variant in NAMED.items() if variant.base in places}
    return dict(sorted((derived | places).items()))


def _sources(data_home: str | os.PathLike[str] | None) -> list[DatasetSource]:
    folder = data_home if data_home is not None else os.environ.get("CLUSTERKIT_DATA")
    url = os.environ.get("CLUSTERKIT_DATA_URL")
    sources: list[DatasetSource] = [Folder(Path(folder).expanduser())] if folder else []
    sources.append(Bundled())
    if url:
        checksum, trust = os.environ.get("CLUSTERKIT_DATA_SHA256"), os.environ.get("CLUSTERKIT_DATA_TRUST", "")
        sources.append(Mirror(url, _cache(), checksum or None, trust.strip().lower() in ("1", "true", "yes")))
    return sources


def _cache() -> Path:
    chosen = os.environ.get("CLUSTERKIT_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    import pooch

    return Path(pooch.os_cache("clusterkit"))


def _missing(name: str, base: str, sources: Sequence[DatasetSource]) -> str:
    """The error message: the name, three ways to provide the data set, its original, similar names."""
    by_place = {source.where: source for source in sources}
    folder, mirror = by_place.get("folder"), by_place.get("mirror")
    at_folder = f"{folder.path} lacks it" if isinstance(folder, Folder) else "not set"
    at_mirror = f"{mirror.url} lacks it" if isinstance(mirror, Mirror) else "not set"
    what = f"data set {name!r}" + ("" if name == base else f" (rows of {base!r})")
    lines = [f"{what} is not available."]
    origin = known().get(base)
    if origin is None:
        candidates = {*known(), *NAMED}.union(*(source.names() for source in sources))
        close = difflib.get_close_matches(name, sorted(candidates), n=3)
        lines[0] += f" Did you mean {' or '.join(map(repr, close))}?" if close else " No known one has this name."
    lines += [
        "Ways to provide data sets:",
        f"  1. a folder with manifest.csv and {base}.csv.gz (or .npz): $CLUSTERKIT_DATA or data_home ({at_folder})",
        f"  2. scikit-learn, which has {', '.join(Bundled().names())} (and parts of digits)",
        f"  3. a web address with a copy of such a folder: $CLUSTERKIT_DATA_URL ({at_mirror})",
    ]
    if origin is not None:
        size = f"{origin.n} x {origin.d}, {origin.classes} classes"
        lines.append(f"Original of {base!r} ({size}): {origin.source}. Licence: {origin.licence}.")
    return "\n".join(lines)
