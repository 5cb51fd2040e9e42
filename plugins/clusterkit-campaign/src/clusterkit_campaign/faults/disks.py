"""Full disks, folders that cannot be written to or vanish: one line with path and reason, nothing half written."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from clusterkit._typing import Rng
from clusterkit_campaign.data_sets import blobs
from clusterkit_campaign.faults.children import NOT_TRIED, Ended, clusterkit, forked

__all__ = ["DISKS"]

NOBODY = 65534
"""The user that a process of root becomes, because root writes anywhere."""


def _table(folder: Path) -> Path:
    path = folder / "data.csv"
    np.savetxt(path, blobs(np.random.default_rng(0), n=120), delimiter=",", header="a,b", comments="")
    path.chmod(0o644)
    return path


def _commands(data: Path, out: Path) -> dict[Path, Callable[[], int]]:
    fit = ("fit", data, "-r", "kmeans", "-k", 3)
    grid = ("search", data, "-r", "kmeans", "--grid", "n_clusters=2,3", "--score", "silhouette")
    return {
        out / "labels.csv": clusterkit(*fit, "-o", out / "labels.csv"),
        out / "labels.npy": clusterkit(*fit, "-o", out / "labels.npy"),
        out / "model.clusterkit": clusterkit(*fit, "--save", out / "model.clusterkit"),
        out / "table.csv": clusterkit(*grid, "--table", out / "table.csv"),
        out / "store.jsonl": clusterkit(*grid, "--resume", out / "store.jsonl"),
    }


def _complaints(target: Path, ended: Ended, *, left: bool = False) -> Iterator[str]:
    """The command fails with one line about the path, and leaves nothing that is not whole."""
    if ended.code == 0:
        yield f"{target.name}: the command says that it succeeded"
    if "Traceback" in ended.text or ended.text.count("error: ") != 1 or target.name not in ended.text:
        yield f"{target.name}: no line of error about the path: {ended.text[-300:]}"
    if not left and target.exists() and target.suffix != ".jsonl":
        yield f"{target.name}: a file is left that is not whole"


def _limit_files(most: int) -> None:
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def file_size_limit(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """No file may be larger than some bytes: what a full disk looks like to a writer, where no disk can be mounted."""
    data = _table(folder)
    for target, command in _commands(data, folder).items():
        for most in (0, 1, 17, 64):
            yield from _complaints(target, forked(command, before=[partial(_limit_files, most)]))
            target.unlink(missing_ok=True)


def full_disk(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """A small file system in memory that is full, where this user may mount one."""
    data, disk = _table(folder), folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False, timeout=60).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        yield f"{NOT_TRIED}this user may not mount a small file system; the limit of file sizes stands for it"
        return
    try:
        with contextlib.suppress(OSError):
            (disk / "filler").write_bytes(bytes(2**20))
        for target, command in _commands(data, disk).items():
            yield from _complaints(target, forked(command))
    finally:
        subprocess.run(["umount", str(disk)], capture_output=True, check=False, timeout=60)


def _become_nobody() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def unwritable_folder(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """A folder in which nobody may write."""
    data, out = _table(folder), folder / "closed"
    out.mkdir()
    folder.chmod(0o755)
    out.chmod(0o555)
    for parent in folder.parents:  # a temporary folder of root is closed to others
        if os.geteuid() == 0 and not parent.stat().st_mode & 0o001:
            yield f"{NOT_TRIED}root writes anywhere, and others cannot reach the temporary folder"
            return
    for target, command in _commands(data, out).items():
        yield from _complaints(target, forked(command, before=[_become_nobody]))


def vanished_folder(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """A folder that is gone, and a working directory that is gone."""
    data, out = _table(folder), folder / "gone"
    for target, command in _commands(data, out).items():
        yield from _complaints(target, forked(command))
    out.mkdir()

    def leave() -> None:
        os.chdir(out)
        shutil.rmtree(out)

    ended = forked(clusterkit("fit", data, "-r", "kmeans", "-k", 3, "-o", folder / "labels.csv"), before=[leave])
    if ended.code:
        yield f"a working directory that is gone ends a fit that does not need it: {ended.text[-300:]}"


DISKS = {
    "limit of file sizes": file_size_limit,
    "full disk": full_disk,
    "unwritable folder": unwritable_folder,
    "vanished folder": vanished_folder,
}
"""The faults of this file: generators of problems."""
