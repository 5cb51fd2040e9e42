"""Computing graphs, with an eye on workers that all wait for memory."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import dask

from clusterkit_dask.resources import client_in_use, workers_of

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["LOGGER", "computed"]

LOGGER = logging.getLogger("clusterkit.dask")
"""Log of the engine."""

LOOK_SECONDS = 10.0
"""Time between two looks at the workers; they are paused for less than that while they spill."""


def computed(*collections: object) -> tuple[object, ...]:
    """The values of `dask.compute`, with a line in the log while no worker can go on.

    Dask pauses a worker whose memory is nearly full, until it has less. What libraries take it can never spill, so that
    workers with too little memory stay paused, and the fit would wait in silence.
    """
    client = client_in_use()
    with nullcontext() if client is None else _watched(client):
        values: tuple[object, ...] = dask.compute(*collections)
    return values


@contextmanager
def _watched(client: Client) -> Iterator[None]:
    """Look at the workers from a thread until the block ends."""
    ended = threading.Event()
    watch = threading.Thread(target=_watch, args=(client, ended), name="clusterkit-paused-workers", daemon=True)
    watch.start()
    try:
        yield
    finally:
        ended.set()


def _watch(client: Client, ended: threading.Event) -> None:
    """Tell it once, when two looks one after the other see paused workers only."""
    before = ""
    while not ended.wait(LOOK_SECONDS):
        try:
            paused = _all_paused(client)
        except Exception:  # a cluster that goes away is reported by the fit itself
            return
        if paused and before and not ended.is_set():
            # a warning of Python could be lost: other threads put back the filters and the printer that they met
            LOGGER.warning(
                "the fit waits: %s. It goes on when they have less in memory; what their libraries take, some 230 MiB "
                "in each process, cannot be spilled. Give workers more memory (memory_limit=), fewer threads, or "
                "smaller partitions",
                paused,
            )
            return
        before = paused


def _all_paused(client: Client) -> str:
    """Sentence about the workers if every one of them is paused, else empty."""
    workers = workers_of(client)
    if not workers or not all(worker.paused for worker in workers):
        return ""
    fullest = max(workers, key=lambda worker: worker.used / max(1, worker.limit))
    number = "the only worker is" if len(workers) == 1 else f"all {len(workers)} workers are"
    return (
        f"{number} paused by Dask for want of memory (the fullest uses {fullest.used / 2**20:.0f} of its "
        f"{fullest.limit / 2**20:.0f} MiB)"
    )
