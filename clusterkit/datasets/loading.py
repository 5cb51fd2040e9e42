"""Load a data set by name from the first source that has it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from clusterkit.datasets.dataset import Dataset
from clusterkit.datasets.errors import DatasetNotFound
from clusterkit.datasets.known import known
from clusterkit.datasets.mirror import Mirror
from clusterkit.datasets.sources import Bundled, DatasetSource, Folder
from clusterkit.datasets.variants import NAMED, find_variant


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


def check_name(name: str) -> None:
    """Raise for a data set that no source has; nothing is read. A mirror, which would have to answer, has every name.

    Parameters
    ----------
    name : str
        As for `load`.

    Raises
    ------
    DatasetNotFound
        As `load` raises it.
    """
    sources = _sources(None)
    variant = find_variant(name)
    base = variant.base if variant else name
    if not any(isinstance(source, Mirror) or {name, base} & {*source.names()} for source in sources):
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
