"""What commands write: never over what they read, whole or not at all, and only what the ending says."""

import errno
import os
import sys
from pathlib import Path

import pytest

from clusterkit.cli import outputs
from clusterkit.cli.failures import BadInput

KMEANS = ("--recipe", "kmeans", "-k", 3, "--drop", "id")


def parts(folder):
    """What is left of files that were being written."""
    return [path.name for path in folder.iterdir() if path.name.startswith(".clusterkit-")]


@pytest.fixture
def full(monkeypatch):
    """A disk without room: nothing can be put on it for good."""

    def fail(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("clusterkit.files.os.fsync", fail)


class TestNothingIsOverwritten:
    def test_data_models_and_other_outputs_by_any_name(self, table, tmp_path, monkeypatch):
        (tmp_path / "soft.csv").symlink_to(table)
        (tmp_path / "hard.csv").hardlink_to(table)
        monkeypatch.chdir(tmp_path)
        for name in ("points.csv", "soft.csv", "hard.csv", "./points.csv", f"../{tmp_path.name}/points.csv"):
            with pytest.raises(BadInput, match="-o needs a file of its own, this one is read by this command"):
                outputs.check({"-o": name}, ["model", str(table)])
        with pytest.raises(BadInput, match="--plot needs a file of its own, this one is that of -o"):
            outputs.check({"-o": str(tmp_path / "new"), "--save": None, "--plot": "./new"})

    def test_the_file_on_standard_input(self, table, tmp_path, monkeypatch):
        with table.open() as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            with pytest.raises(BadInput, match="needs a file of its own"):
                outputs.check({"-o": str(table)}, ["-"])
            outputs.check({"-o": str(tmp_path / "other.csv")}, ["-"])

    def test_commands_ask(self, run, table, tmp_path, error_of):
        model, before = tmp_path / "m.clusterkit", table.read_bytes()
        assert run("fit", table, *KMEANS, "--save", model).exit_code == 0
        for source in (model, table):
            assert "needs a file of its own" in error_of(run("predict", model, table, "-o", source))
        for option in ("-o", "--save", "--plot"):
            assert f"{option} needs a file of its own" in error_of(run("fit", table, *KMEANS, option, table))
        assert table.read_bytes() == before


class TestWholeOrNothing:
    def test_a_full_disk_leaves_what_was_there(self, run, table, tmp_path, error_of, full):
        for option, name in (("-o", "l.csv"), ("-o", "l.npy"), ("--save", "m.clusterkit"), ("--plot", "p.png")):
            path = tmp_path / name
            path.write_bytes(b"precious")
            message = error_of(run("fit", table, *KMEANS, option, path))
            assert message == f"{path}: cannot be written: No space left on device"
            assert path.read_bytes() == b"precious"
            assert parts(tmp_path) == []

    def test_a_failure_in_between(self, run, table, tmp_path, monkeypatch):
        def fail(path, content):
            path.write_text("half")
            raise OSError("half of it written")  # as numpy raises it: without a number

        monkeypatch.setattr(Path, "write_bytes", fail)
        answer = run("fit", table, *KMEANS, "--save", tmp_path / "m.clusterkit")
        assert "m.clusterkit: cannot be written: half of it written" in answer.stderr
        assert sorted(path.name for path in tmp_path.iterdir()) == ["points.csv"]

    def test_links_devices_and_permissions(self, run, table, tmp_path):
        target, link = tmp_path / "labels.csv", tmp_path / "link.csv"
        target.write_text("old")
        target.chmod(0o640)
        link.symlink_to(target)
        assert run("fit", table, *KMEANS, "-o", link).exit_code == 0
        assert link.is_symlink()
        assert target.read_text().startswith("label")
        assert target.stat().st_mode & 0o777 == 0o640
        assert run("fit", table, *KMEANS, "-o", os.devnull).exit_code == 0
        assert not os.path.isfile(os.devnull)
