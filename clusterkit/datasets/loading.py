"""Look a data set up by name in all sources, in order."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from clusterkit.datasets.dataset import Dataset
from clusterkit.datasets.errors import DatasetNotFound
from clusterkit.datasets.known import known
from clusterkit.datasets.mirror import Mirror
from clusterkit.datasets.sources import Bundled, Folder, Source
from clusterkit.datasets.variants import NAMED, find_variant


def load(name: str, *, data_home: str | os.PathLike[str] | None = None, seed: int = 0) -> Dataset:
    """Load a labelled data set.

    The first source that has it wins: the data folder, scikit-learn (digits, iris, wdbc, wine), the
    mirror at ``$CLUSTERKIT_DATA_URL``. Files of a folder or mirror are read only if they match the
    SHA-256 in its ``manifest.csv``. Fetched files stay in ``$CLUSTERKIT_CACHE`` (if unset, in the
    user's cache folder).

    Parameters
    ----------
    name : str
        One of `names`, or ``digits-a-b`` for any two digits.
    data_home : path, optional
        Data folder; if None, ``$CLUSTERKIT_DATA``.
    seed : int
        Used only by sets that are a random choice of rows (``tdt2-2651``).

    Returns
    -------
    Dataset
        Unscaled data in source row order, and its classes.

    Raises
    ------
    DatasetNotFound
        If no source has it; the message tells how to provide it.
    DatasetCorrupt
        If its file does not match the manifest.
    MirrorError
        If the mirror does not answer.
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
    # Source by source, the name itself before the whole it is part of: so a mirror is not asked, and
    # cannot fail, while something nearer has the rows.
    for source in sources:
        there = source.names()
        if name in there:
            return source.load(name)
        if variant and base in there:
            return variant.apply(source.load(base), name, seed)
    raise DatasetNotFound(_missing(name, base, sources))


def names(*, data_home: str | os.PathLike[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Names that `load` can serve now, and from where.

    Parameters
    ----------
    data_home : path, optional
        Data folder; if None, ``$CLUSTERKIT_DATA``.

    Returns
    -------
    dict
        Sorted names, each with the sources that have it ("folder", "scikit-learn", "mirror"), first
        choice first. Beyond these, ``digits-a-b`` works for any two digits.

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


def _sources(data_home: str | os.PathLike[str] | None) -> list[Source]:
    folder = data_home if data_home is not None else os.environ.get("CLUSTERKIT_DATA")
    url = os.environ.get("CLUSTERKIT_DATA_URL")
    sources: list[Source] = [Folder(Path(folder).expanduser())] if folder else []
    sources.append(Bundled())
    if url:
        sources.append(Mirror(url, _cache()))
    return sources


def _cache() -> Path:
    chosen = os.environ.get("CLUSTERKIT_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    import pooch

    return Path(pooch.os_cache("clusterkit"))


def _missing(name: str, base: str, sources: Sequence[Source]) -> str:
    """One message: what was looked for, three ways to provide it, the original, similar names."""
    asked = {source.where: source for source in sources}
    folder, mirror = asked.get("folder"), asked.get("mirror")
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
