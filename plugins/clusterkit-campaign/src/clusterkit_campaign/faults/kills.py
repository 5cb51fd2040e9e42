"""kill -9 at drawn moments: afterwards every file is whole or absent, and what can be continued is."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from clusterkit._typing import Rng
from clusterkit_campaign.data_sets import blobs
from clusterkit_campaign.faults.children import NOT_TRIED, Ended, clusterkit, forked

__all__ = ["KILLS"]

ROWS = 300
"""Rows of the table: a fit takes a few tenths of a second."""


def _table(folder: Path) -> Path:
    path = folder / "data.csv"
    X = blobs(np.random.default_rng(0), n=ROWS, d=3)
    np.savetxt(path, X, delimiter=",", header="a,b,c", comments="")
    return path


def _killed(command: Callable[[], int], rng: Rng, count: int) -> Iterator[Ended]:
    """Runs that are killed, at moments drawn from the time that an undisturbed run takes."""
    whole = forked(command)
    if whole.code:
        raise RuntimeError(f"the undisturbed run ends with {whole.code}: {whole.text[-500:]}")
    for _ in range(count):
        yield forked(command, sent=signal.SIGKILL, after=float(rng.uniform(0.0, whole.seconds)))


def _unexpected(folder: Path, expected: set[str]) -> list[str]:
    """Files that are neither expected nor hidden unfinished ones."""
    names = {path.name for path in folder.iterdir()}
    return sorted(name for name in names - expected if not name.startswith(".clusterkit-"))


def _problems_of_labels(path: Path) -> Iterator[str]:
    if path.exists() and len(path.read_text(encoding="utf-8").splitlines()) != ROWS + 1:
        yield f"{path.name} is cut short"


def fit(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """Labels are whole or absent."""
    data, labels = _table(folder), folder / "labels.csv"
    for _ in _killed(clusterkit("fit", data, "-r", "emmc", "-k", 3, "-o", labels), rng, count):
        yield from _problems_of_labels(labels)
        yield from (f"a file is left: {name}" for name in _unexpected(folder, {data.name, labels.name}))
        labels.unlink(missing_ok=True)


def save(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """A saved model is whole or absent: one that is there predicts."""
    data, model = _table(folder), folder / "model.clusterkit"
    for _ in _killed(clusterkit("fit", data, "-r", "kmeans", "-k", 3, "--save", model), rng, count):
        if model.exists():
            predicted = forked(clusterkit("predict", model, data, "-o", folder / "predicted.csv"))
            if predicted.code:
                yield f"a saved model cannot be read: {predicted.text[-300:]}"
        yield from (f"a file is left: {name}" for name in _unexpected(folder, {data.name, model.name, "predicted.csv"}))
        model.unlink(missing_ok=True)


def search(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """A search that is continued ends with the table of one that was never killed."""
    data, store, table = _table(folder), folder / "store.jsonl", folder / "table.csv"
    words = (
        "search",
        data,
        "-r",
        "kmeans",
        "--grid",
        "n_clusters=2,3,4,5,6,7",
        "--score",
        "silhouette",
        "--table",
        table,
    )
    forked(clusterkit(*words))
    expected = _without_seconds(table)
    command = clusterkit(*words, "--resume", store)
    for _ in _killed(command, rng, count):
        again = forked(command)
        if again.code:
            yield f"a killed search cannot be continued: {again.text[-300:]}"
        elif _without_seconds(table) != expected:
            yield "a continued search has another table"
        if rng.random() < 0.5:
            store.unlink(missing_ok=True)
        elif store.exists():  # the next one is killed while it goes on
            lines = store.read_bytes().splitlines(keepends=True)
            store.write_bytes(b"".join(lines[: int(rng.integers(1, len(lines) + 1))]))


def _without_seconds(table: Path) -> list[list[str]]:
    rows = [line.split(",") for line in table.read_text(encoding="utf-8").splitlines()]
    left_out = [column for column, name in enumerate(rows[0]) if "second" in name]
    return [[cell for column, cell in enumerate(row) if column not in left_out] for row in rows]


def reproduce(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """A record of a published table is whole or absent, and is continued."""
    from clusterkit.core.registry import registry

    if registry.find("command", "reproduce") is None:
        yield f"{NOT_TRIED}the distribution clusterkit-papers is not installed"
        return
    records = folder / "records"
    command = clusterkit("reproduce", "elm-table1", "--quick", "--record", records)
    if forked(command).code:
        yield f"{NOT_TRIED}the data of elm-table1 are not here"
        return
    for path in records.glob("*.json"):
        path.unlink()
    for _ in _killed(command, rng, count):
        for path in records.glob("[!.]*.json"):
            try:
                json.loads(path.read_text(encoding="utf-8"))
            except ValueError as error:
                yield f"a record is cut short: {error}"
        if rng.random() < 0.5:
            for path in records.glob("*.json"):
                path.unlink()


KILLS = {"kill fit": fit, "kill save": save, "kill search": search, "kill reproduce": reproduce}
"""The faults of this file: generators of problems."""
