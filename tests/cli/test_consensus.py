"""`consensus`: files with labels to one file with labels."""

from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture
def files(write):
    return [
        write("a.csv", "label\n0\n0\n0\n1\n1\n1\n"),
        write("b.csv", "x,label\n0.5,7\n0.5,7\n0.5,7\n0.5,3\n0.5,3\n0.5,3\n"),
        write("c.csv", "label\n0\n0\n1\n1\n-1\n-1\n"),
    ]


def test_labels_and_summary(run, files, tmp_path):
    answer = run("consensus", *files, "-o", tmp_path / "out.csv")
    assert answer.exit_code == 0, answer.output
    assert (tmp_path / "out.csv").read_text().split() == ["label", "0", "0", "0", "1", "1", "1"]
    assert "2 clusters by diclens of 3 labellings" in answer.stdout
    assert "mean normalised mutual information" in answer.stdout


def test_standard_output_has_labels_only(run, files):
    answer = run("consensus", *files, "--method", "voting")
    assert answer.stdout.split() == ["label", "0", "0", "0", "1", "1", "1"]
    assert "2 clusters by voting" in answer.stderr


def test_json_and_parameters(run, files, tmp_path):
    answer = run("consensus", *files, "-m", "coassociation", "-k", 2, "--set", "linkage=single", "--json",
                 "-o", tmp_path / "out.npy")  # fmt: skip
    summary = json.loads(answer.stdout)
    assert summary["parameters"] == {"linkage": "single"}
    assert summary["n_clusters"] == 2
    assert summary["members"] == [str(file) for file in files]
    assert np.load(tmp_path / "out.npy").tolist() == [0, 0, 0, 1, 1, 1]


def test_a_file_without_the_column_has_a_labeling_a_column(run, write):
    file = write("many.csv", "one,two,three\n0,1,0\n0,1,0\n1,0,0\n1,0,1\n")
    summary = json.loads(run("consensus", file, "--json", "-o", file.parent / "o.csv").stdout)
    assert [name.partition(", ")[2] for name in summary["members"]] == ["column one", "column two", "column three"]
    summary = json.loads(run("consensus", file, "--columns", "one,three", "--json", "-o", file.parent / "o.csv").stdout)
    assert len(summary["members"]) == 2


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--method", "dicles"), "no consensus named 'dicles'. Did you mean 'diclens'?"),
        (("--method", "cspa"), "consensus 'cspa' needs the number of clusters (n_clusters)"),
        (("-k", 3), "consensus 'diclens' finds the number of clusters itself"),
        (("--method", "comusa", "--set", "relaxation=-1"), "--set relaxation=-1: consensus 'comusa': relaxation must"),
    ],
)
def test_wrong_options(run, files, error_of, args, message):
    assert message in error_of(run("consensus", *files, *args))


def test_files_that_do_not_fit(run, files, write, error_of):
    short = write("short.csv", "label\n0\n1\n")
    assert f"{files[0]} has 6 labels, {short} has 2" in error_of(run("consensus", files[0], short))
    broken = write("broken.csv", "label\n0.5\n1\n")
    assert f"{broken}[0] is 0.5; labels must be whole numbers" in error_of(run("consensus", broken))
    assert "no such file" in error_of(run("consensus", "nowhere.csv"))
    assert "Missing argument 'FILES...'" in error_of(run("consensus"))
