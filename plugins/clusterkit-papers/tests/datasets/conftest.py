"""A made-up data folder, and no variables of the user's in the way."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
from pathlib import Path

import numpy as np
import pytest

REAL_FOLDER = os.environ.get("CLUSTERKIT_DATA")

TABLES = {
    "letter": "x0,x1,label\n1,2,A\n3,4,C\n5,6,B\n7,8,A\n",
    "gaps": "x0,x1,x2,label\n,1,2.5,0\n1,,2,1\n1e-3,2,,-1\n",
}


def add(folder: Path, filename: str, content: bytes) -> None:
    """Put a file into a data folder and its manifest."""
    (folder / filename).write_bytes(content)
    name = filename.partition(".")[0]
    with (folder / "manifest.csv").open("a") as manifest:
        manifest.write(f"{name},{hashlib.sha256(content).hexdigest()},some/repository,{name}.data,abc,free\n")


def counts_as_npz() -> bytes:
    """Term counts as in the real sparse set, 3 classes of 5, 2 and 3 rows."""
    buffer = io.BytesIO()
    np.savez(
        buffer,
        data=np.arange(1, 11, dtype=np.uint16),
        indices=np.arange(10, dtype=np.uint16),
        indptr=np.arange(11, dtype=np.int32),
        shape=np.array([10, 40_000]),
        format=np.array("csr"),
        labels=np.array([1, 2, 3, 1, 1, 3, 2, 1, 3, 1], dtype=np.int16),
    )
    return buffer.getvalue()


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for name in ("", "_URL", "_SHA256", "_TRUST"):
        monkeypatch.delenv(f"CLUSTERKIT_DATA{name}", raising=False)
    monkeypatch.delenv("CLUSTERKIT_CACHE", raising=False)


@pytest.fixture
def folder(tmp_path):
    """A data folder with two tables and a sparse set."""
    path = tmp_path / "data"
    path.mkdir()
    (path / "manifest.csv").write_text("name,sha256,source_repo,source_path,source_commit,licence\n")
    for name, table in TABLES.items():
        add(path, f"{name}.csv.gz", gzip.compress(table.encode()))
    add(path, "tdt2.npz", counts_as_npz())
    return path


@pytest.fixture
def add_file(folder):
    """Put one more file into the folder."""
    return lambda filename, content: add(folder, filename, content)


@pytest.fixture
def real_folder():
    """The real data, for tests of published sizes."""
    if not REAL_FOLDER:
        pytest.skip("needs the real data sets: set CLUSTERKIT_DATA to their folder")
    return Path(REAL_FOLDER)
