"""Locks on files: one holder, and none after its end, however it came."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys

import pytest

from clusterkit import files
from clusterkit.errors import InvalidData
from clusterkit.files import HeldFiles

HOLDER = """
import sys, time
from clusterkit.files import HeldFiles
held = HeldFiles()
held.take(sys.argv[1], "the folder")
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "in-use")


def test_one_has_it_until_it_is_given_back(path):
    first, second = HeldFiles(), HeldFiles()
    first.take(path, "the folder")
    with pytest.raises(InvalidData, match=rf"the folder is in use: another .*\(process {os.getpid()} on .*Wait"):
        second.take(path, "the folder")
    copy = pickle.loads(pickle.dumps(first))
    copy.release()
    with pytest.raises(InvalidData, match="in use"):
        second.take(path, "the folder")
    first.release()
    assert not os.path.exists(path)
    second.take(path, "the folder")
    second.release()
    second.release()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill a process without notice")
def test_the_lock_of_a_killed_process_is_nobodys(path):
    with subprocess.Popen([sys.executable, "-c", HOLDER, path], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InvalidData, match=f"process {holder.pid} on "):
            HeldFiles().take(path, "the folder")
        holder.kill()
        holder.wait()
    assert os.path.exists(path), "nobody could remove it"
    held = HeldFiles()
    held.take(path, "the folder")
    held.release()
    assert not os.path.exists(path)


def test_a_file_that_its_holder_removed_in_that_moment_is_made_anew(path, monkeypatch):
    lock, removed = files._lock, []

    def removing(descriptor):
        if not removed:
            removed.append(path)
            os.unlink(path)
        lock(descriptor)

    monkeypatch.setattr(files, "_lock", removing)
    held = HeldFiles()
    held.take(path, "the folder")
    assert os.path.exists(path)
    with pytest.raises(InvalidData, match="in use"):
        HeldFiles().take(path, "the folder")
    held.release()


def test_without_locks_every_file_can_be_had(path, monkeypatch):
    def none(descriptor):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(files, "_lock", none)
    for _ in range(2):
        HeldFiles().take(path, "the folder")
