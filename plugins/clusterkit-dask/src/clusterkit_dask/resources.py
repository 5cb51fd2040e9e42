"""Resources of the scheduler in use: its threads, its memory, and whether the rows of a fit are kept in memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, final

import attrs
import dask
from dask.base import get_scheduler

from clusterkit.errors import InvalidParameter
from clusterkit.samples import memory

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["PERSIST", "Worker", "client_in_use", "keeps", "threads", "workers_of"]

PERSIST = "clusterkit.persist"
"""The setting of Dask that says whether a fit keeps its rows in memory: True, False or "auto", the default."""

SHARE = 2
"""With "auto" rows are kept in memory if they take at most this fraction, 1 / 2, of it: Dask spills from 60 % on, and
the blocks of features need room too."""


@final
@attrs.frozen
class Worker:
    """State of a worker, as the scheduler knows it now.

    Parameters
    ----------
    paused : bool
        Whether it starts no task until it has less in memory.
    used, limit : int
        Bytes of its process, and those that it may have; 0 without a limit.
    """

    paused: bool
    used: int
    limit: int


def threads() -> int:
    """Threads of all workers, or of Dask's own pool."""
    client = client_in_use()
    if client is not None:
        return max(1, sum(client.ncores().values()))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(dask.config.get("num_workers", None) or cores))


def keeps(n_bytes: int) -> bool:
    """Whether rows of so many bytes are kept in memory between the passes of a fit.

    Raises
    ------
    InvalidParameter
        If the setting is something else than True, False or "auto".
    """
    setting: object = dask.config.get(PERSIST, "auto")
    if isinstance(setting, bool):
        return setting
    if setting != "auto":
        raise InvalidParameter(f"the setting {PERSIST} must be True, False or 'auto', got {setting!r}")
    return n_bytes <= _memory() // SHARE


def _memory() -> int:
    """Bytes of all workers together, or of this machine as far as clusterkit uses it."""
    client = client_in_use()
    if client is None:
        return 2 * memory.cap()  # the cap is half of what there is
    # a worker without a limit may use what its machine has; machines are taken to be alike
    return sum(worker.limit or 2 * memory.cap() for worker in workers_of(client))


def client_in_use() -> Client | None:
    """The client whose cluster computes, None if Dask computes in this process."""
    scheduler: object = get_scheduler()
    return getattr(scheduler, "__self__", None)


def workers_of(client: Client) -> list[Worker]:
    """All workers of a cluster."""
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"]
    except TypeError:  # older clients have no such argument and tell of all workers
        workers = client.scheduler_info()["workers"]
    return [
        Worker(
            worker.get("status") == "paused",
            int(worker.get("metrics", {}).get("memory", 0)),
            int(worker.get("memory_limit") or 0),
        )
        for worker in workers.values()
    ]
