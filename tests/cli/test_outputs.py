"""What commands write: never over what they read, whole or not at all, and only what the ending says."""

import errno
import os
import sys
from pathlib import Path

import numpy as np
import pytest

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
    @pytest.mark.parametrize("option", ["-o", "--save", "--plot"])
    def test_the_data_of_a_fit(self, run, table, option, error_of):
        before = table.read_bytes()
        assert f"{option} needs a file of its own, this one is read by this command" in error_of(
            run("fit", table, *KMEANS, option, table)
        )
        assert table.read_bytes() == before

    def test_by_another_name(self, run, table, tmp_path, error_of, monkeypatch):
        before = table.read_bytes()
        (tmp_path / "soft.csv").symlink_to(table)
        (tmp_path / "hard.csv").hardlink_to(table)
        monkeypatch.chdir(tmp_path)
        for name in ("soft.csv", "hard.csv", "./points.csv", f"../{tmp_path.name}/points.csv"):
            assert "needs a file of its own" in error_of(run("fit", table, *KMEANS, "-o", name))
        assert table.read_bytes() == before

    def test_the_file_on_standard_input(self, table, tmp_path, monkeypatch):
        from clusterkit.cli import outputs
        from clusterkit.cli.failures import BadInput

        with table.open() as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            with pytest.raises(BadInput, match="needs a file of its own"):
                outputs.check({"-o": str(table)}, ["-"])
            outputs.check({"-o": str(tmp_path / "other.csv")}, ["-"])

    @pytest.mark.parametrize(("first", "second"), [("-o", "--save"), ("-o", "--plot"), ("--save", "--plot")])
    def test_another_output(self, run, table, tmp_path, first, second, error_of):
        answer = run("fit", table, *KMEANS, first, tmp_path / "new", second, tmp_path / "." / "new")
        assert f"{second} needs a file of its own, this one is that of {first}" in error_of(answer)
        assert not (tmp_path / "new").exists()

    def test_the_other_commands(self, run, table, tmp_path, error_of):
        model = tmp_path / "m.clusterkit"
        assert run("fit", table, *KMEANS, "--save", model).exit_code == 0
        for source in (model, table):
            assert "needs a file of its own" in error_of(run("predict", model, table, "-o", source))


class TestWholeOrNothing:
    @pytest.mark.parametrize(
        ("option", "name"),
        [("-o", "l.csv"), ("-o", "l.npy"), ("--save", "m.clusterkit"), ("--plot", "p.png")],
    )
    def test_a_full_disk_leaves_what_was_there(self, run, table, tmp_path, option, name, error_of, full):
        path = tmp_path / name
        for before in (None, b"precious"):
            if before is not None:
                path.write_bytes(before)
            message = error_of(run("fit", table, *KMEANS, option, path))
            assert message == f"{path}: cannot be written: No space left on device"
            assert (path.read_bytes() if path.exists() else None) == before
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


class TestEndings:
    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (("-o", "l.xls"), "l.xls: labels can be .csv, .tsv, .txt (each also .gz), .parquet, .xlsx or .npy"),
            (("-o", "l.feather"), "l.feather: labels can be"),
            (("-o", "l.npy.gz"), "l.npy.gz: labels can be"),
            (("--save", "m.csv"), "m.csv: a model can be .clusterkit, .model, .safetensors, not .csv"),
            (("--save", "-"), "a model needs a file; standard output (-) takes labels only"),
        ],
    )
    def test_of_outputs(self, run, table, args, message, error_of, monkeypatch):
        monkeypatch.chdir(table.parent)
        assert message in error_of(run("fit", table, *KMEANS, *args))
        assert len(list(table.parent.iterdir())) == 1

    @pytest.mark.parametrize("name", ["t.docx", "t.csv.zst"])
    def test_of_inputs(self, run, table, name, error_of):
        other = table.with_name(name)
        other.write_bytes(table.read_bytes())
        message = error_of(run("fit", other, *KMEANS))
        assert f"{name}: nothing reads files that end in .{name.rpartition('.')[2]}." in message
        assert "Endings: .csv, .dat" in message


class TestUnpacking:
    def test_arrays_that_are_none(self, tmp_path):
        from clusterkit.tables import TableError, read_table

        archive = tmp_path / "a.npy"
        with archive.open("wb") as file:
            np.savez(file, a=np.zeros(3))
        header = (
            np.lib.format.magic(1, 0) + b"v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000, 2), }"
        )
        huge = tmp_path / "h.npy"
        huge.write_bytes(header.ljust(128) + b"\n")
        for path in (archive, huge):
            with pytest.raises(TableError, match="is no NPY file of numbers"):
                read_table(path)
