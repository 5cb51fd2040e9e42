"""`search`: a table and a grid to the best parameters, their labels, and the table of all."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from clusterkit.cli.search import _split

GRID = ("--recipe", "kmeans", "--drop", "id", "--grid", "n_clusters=2,3,4")


def test_summary_and_files(run, table, tmp_path):
    answer = run("search", table, *GRID, "--score", "silhouette", "-o", tmp_path / "labels.csv", "--table",
                 tmp_path / "scores.csv", "--plot", tmp_path / "scores.png")  # fmt: skip
    assert answer.exit_code == 0, answer.output
    assert "with n_clusters=3" in answer.stdout
    assert "3 scored" in answer.stdout
    labels = (tmp_path / "labels.csv").read_text().split()
    assert labels[0] == "label"
    assert sorted(labels[1:]) == ["0"] * 10 + ["1"] * 10 + ["2"] * 10
    with (tmp_path / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["n_clusters"] for row in rows] == ["2", "3", "4"]
    assert max(rows, key=lambda row: float(row["score"]))["n_clusters"] == "3"
    assert (tmp_path / "scores.png").read_bytes().startswith(b"\x89PNG")


def test_ranked_rows_end_with_what_has_no_score(run, table):
    answer = run("search", table, "-r", "kmeans", "--drop", "id", "--grid", "n_clusters=1,3,2", "--score", "ami")
    lines = answer.stdout.splitlines()
    assert lines[-1].endswith("excluded: one cluster")
    assert lines[-3].split()[0] == "3"
    assert "2 scored, 1 excluded" in answer.stdout


def test_json_and_settings(run, table):
    words = ("search", table, *GRID, "--set", "init.trials=2", "--score", "stability", "--json")
    summary = json.loads(run(*words).stdout)
    assert summary["best_params"] == {"n_clusters": 3}
    assert summary["best_score"] == 1.0
    assert summary["sizes"] == {"0": 10, "1": 10, "2": 10}
    assert len(summary["table"]) == 3


def test_standard_output_has_the_labels_or_the_table_only(run, table):
    answer = run("search", table, *GRID, "--score", "silhouette", "-o", "-")
    assert answer.stdout.split()[0] == "label"
    assert len(answer.stdout.split()) == 31
    assert "with n_clusters=3" in answer.stderr
    answer = run("search", table, *GRID, "--score", "silhouette", "--table", "-")
    assert answer.stdout.startswith("n_clusters,score,")


def test_whole_slots_and_chains(run, table):
    answer = run("search", table, "-r", "emmc-multi", "-k", 3, "--drop", "id", "--grid", "featuremap=elm,[zscore,rbf]",
                 "--grid", "solver.df=3,6", "--score", "dbcv", "--json")  # fmt: skip
    summary = json.loads(answer.stdout)
    assert [row["featuremap"] for row in summary["table"]] == ["elm", "elm", ["zscore", "rbf"], ["zscore", "rbf"]]
    assert _split("1,(2,3),{'a': [4,5]}, b ") == ["1", "(2,3)", "{'a': [4,5]}", "b"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--grid", "n_clusters"), "--grid 'n_clusters': write SLOT.PARAMETER=VALUE,VALUE"),
        (("--grid", "n_clusters=2", "--grid", "n_clusters=3"), "--grid has 'n_clusters' twice"),
        (("--grid", "n_clusters=2,3", "-k", 2), "-k and --grid n_clusters: use one of them"),
        (("--grid", "featuremap=[zscore,elm"), "--grid: brackets do not match"),
        (("--grid", "n_cluster=2,3"), "Did you mean 'n_clusters'"),
        (("--grid", "n_clusters=2,3", "--score", "objective"), "score='objective' cannot choose n_clusters"),
        (("--grid", "n_clusters=2", "--score", "purity"), "'purity' is not one of"),
        (("--grid", "n_clusters=2", "-o", "-", "--table", "-"), "standard output (-) takes either"),
        (("--grid", "n_clusters=2", "--plot", "a.txt"), "the name of a picture ends in one of"),
        ((), "nothing to search: give values with --grid"),
    ],
)
def test_wrong_options(run, table, error_of, args, message):
    assert message in error_of(run("search", table, "-r", "kmeans", "--drop", "id", *args))


def test_interrupted(run, table, monkeypatch, error_of):
    from clusterkit.estimators import _search_run as module

    evaluate = module._evaluate

    def stop(i, *rest, **options):
        return (i, None, None) if i == at else evaluate(i, *rest, **options)

    monkeypatch.setattr(module, "_evaluate", stop)
    at = 2
    answer = run("search", table, *GRID, "--score", "silhouette")
    assert answer.exit_code == 130
    assert "2 scored, 1 not run" in answer.stdout
    at = 0
    assert "interrupted: there are no labels yet" in error_of(run("search", table, *GRID, "--score", "silhouette"), 130)


def test_a_missing_file_is_told_first(run, error_of):
    for words in ((), ("-k", 2), ("-k", "auto"), ("--grid", "x"), ("--plot", "p.xyz")):
        assert "nowhere.csv: no such file" in error_of(run("search", "nowhere.csv", *words))


def test_a_number_of_clusters_is_asked_for_with_a_range(run, table, error_of):
    message = error_of(run("search", table, "-r", "kmeans", "--drop", "id", "--grid", "n_init=1,5"))
    assert "recipe kmeans needs a number of clusters: give one with -k 3, or a range to choose in, such as" in message
    message = error_of(run("search", table, "-r", "hdbscan", "--drop", "id", "-k", "3-4"))
    assert "recipe hdbscan finds the number of clusters itself: leave -k out" in message
    answer = run("search", table, "-r", "single-linkage", "--drop", "id", "--grid", "labeler=excess_of_mass")
    assert "needs a number" not in answer.stderr


def test_a_single_candidate_has_no_confidence(run, table):
    answer = run("search", table, "-r", "kmeans", "--drop", "id", "-k", "3-3")
    assert "nan" not in answer.stdout
    assert "confidence   none: there is nothing to compare a single candidate with" in answer.stdout


def test_fits_and_scores_compare_rows_by_the_metric(run, tmp_path):
    rng = np.random.default_rng(0)
    X = (np.repeat(np.eye(3), 10, axis=0) + 0.05 * rng.normal(size=(30, 3))) * rng.uniform(0.01, 100, size=(30, 1))
    np.save(tmp_path / "rows.npy", X)
    words = ("search", tmp_path / "rows.npy", "-r", "kmeans", "-k", "2-4", "--score", "silhouette", "-o", "-")
    answer = run(*words, "--metric", "cosine")
    assert sorted(answer.stdout.split()[1:]) == ["0"] * 10 + ["1"] * 10 + ["2"] * 10
    assert "with n_clusters=3" in answer.stderr
    assert "metric must be one of" in run(*words, "--metric", "cosin").stderr
