"""Dask as an engine of clusterkit: fits to dask arrays, dask frames and Parquet folders.

    recipe("kmeans", n_clusters=10).fit(dask_array)       # the engine follows from the type of the samples
    recipe("kmeans", n_clusters=10).fit(clusterkit_dask.open("folder/*.parquet"))

A pass over the rows is a graph of few large tasks, built anew each time: the sums of a unit of some groups of 2^18
rows, and a tree that adds them in the one order of `clusterkit.samples.sums`. Nothing is scattered, no task is bound to
a worker and no worker talks to all others, so that a worker that dies costs the reads of its units and changes no bit.

- ``engine.py``: the engine that the registry finds. ``plugin.py``: the hooks that clusterkit reads.
- ``pieces.py``: what a collection of Dask is, as pieces of known type and columns. ``rows.py``: pieces and files as
  rows in units of whole groups.
- ``tasks.py``: what runs on the workers.
- ``resources.py``: threads and memory of the scheduler, and whether rows are kept in its memory.
- ``opening.py``: files that the workers read themselves.
"""

from typing import TYPE_CHECKING

__all__ = ["open"]

if TYPE_CHECKING:
    from clusterkit_dask.opening import open
else:  # on first use: clusterkit imports this package to read its hooks, for which Dask is not needed

    def __getattr__(name: str) -> object:
        if name in __all__:
            from clusterkit_dask import opening

            return opening.open
        raise AttributeError(f"module 'clusterkit_dask' has no attribute {name!r}")
