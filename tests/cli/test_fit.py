"""`fit` and `predict` as a user runs them."""

import csv
import json
import re
import signal

import joblib
import numpy as np
import pytest

import clusterkit
from clusterkit import __version__
from clusterkit.cli import outputs
from clusterkit.estimators.saving import load_with_facts
from clusterkit.tables import read_table

KMEANS = ("--recipe", "kmeans", "-k", 3)


def labels_of(text: str) -> list[int]:
    head, *rows = text.splitlines()
    assert head == "label"
    return [int(row) for row in rows]


def groups(labels) -> bool:
    """Whether each of the three groups of ten has one label of its own."""
    parts = [set(labels[i : i + 10]) for i in (0, 10, 20)]
    return all(len(part) == 1 for part in parts) and len(set.union(*parts)) == 3


def test_summary_and_labels(run, table, tmp_path):
    out = tmp_path / "labels.csv"
    answer = run("fit", table, *KMEANS, "--drop", "id", "-o", out)
    assert answer.exit_code == 0, answer.output
    assert answer.stderr == ""
    assert "3 clusters by kmeans" in answer.stdout
    assert "columns" in answer.stdout
    assert "2 (height, width)" in answer.stdout
    assert "labels no longer change" in answer.stdout
    assert answer.stdout.count("33.3 %") == 3
    assert "\x1b" not in answer.stdout
    assert groups(labels_of(out.read_text()))


def test_json(run, table, tmp_path):
    answer = run("fit", table, *KMEANS, "--columns", "height,width", "--json", "--save", tmp_path / "m.clusterkit")
    summary = json.loads(answer.stdout)
    assert summary["rows"] == 30
    assert summary["columns"] == ["height", "width"]
    assert summary["sizes"] == {"0": 10, "1": 10, "2": 10}
    assert summary["noise"] == 0
    assert summary["converged"] is True
    assert summary["interrupted"] is False
    assert summary["model_file"].endswith("m.clusterkit")


def test_auto_is_the_default(run, table):
    summary = json.loads(run("fit", table, "-k", "2-4", "--drop", 1, "--json").stdout)
    assert summary["recipe"] == "auto"
    assert summary["sizes"] == {"0": 10, "1": 10, "2": 10}


def test_sizes_that_are_kept_nearly_equal_are_said_to_be(run, table):
    for keeper in ("transport", None):
        answer = run("fit", table, "-k", 3, "-r", "emmc", "--set", f"balancer={keeper}", "--drop", "id")
        assert answer.exit_code == 0, answer.output
        printed = " ".join(answer.stdout.split())
        line = f"sizes kept nearly equal by balancer '{keeper}'; --set balancer=None or -r auto lets them be any"
        assert (line in printed) == ("kept nearly equal" in printed) == (keeper is not None)


def test_stdin_and_settings(run, table):
    answer = run("fit", "-", *KMEANS, "--columns", "2-3", "--set", "n_init=2", "--json", stdin=table.read_text())
    assert "best of 2 starts" in json.loads(answer.stdout)["stop_reason"]


def test_formulas_in_cells_can_be_escaped(run, write, tmp_path):
    rows = [["=1+1", "-3,5", "@sum"], ["+49 30", "-", "a=b"]] * 10
    path = write("f.csv", "=x;b;c;n\n" + "\n".join(";".join([*row, str(i % 2)]) for i, row in enumerate(rows)))
    out, model = tmp_path / "out.tsv", tmp_path / "m.clusterkit"
    fit = ("fit", path, *KMEANS[:3], 2, "--columns", "n", "-o", out, "--save", model, "--with-data")
    escaped = [["'=x", "b", "c"], ["'=1+1", "-3,5", "'@sum"], ["'+49 30", "-", "a=b"]]
    for command, cells in (
        (fit, [["=x", "b", "c"], *rows[:2]]),
        ((*fit, "--escape-formulas"), escaped),
        (("predict", model, path, "-o", out, "--with-data", "--escape-formulas"), escaped),
    ):
        answer = run(*command)
        assert answer.exit_code == 0, answer.output
        with out.open(encoding="utf-8") as file:
            assert [row[:3] for row in csv.reader(file, delimiter="\t")][:3] == cells


def test_the_seed_is_that_of_the_model(run, table, tmp_path):
    run("fit", table, "-r", "kmeans", "-k", 3, "--drop", "id", "--seed", 7, "--save", tmp_path / "m.clusterkit")
    assert clusterkit.load(tmp_path / "m.clusterkit").random_state == 7


def test_model_round_trip(run, table, tmp_path):
    model, out = tmp_path / "m.clusterkit", tmp_path / "l.csv"
    run("fit", table, "-r", "emmc", "-k", 3, "--drop", "id", "--save", model, "-o", out)
    saved = load_with_facts(model)
    assert (saved.version, saved.facts) == (__version__, {"named": True, "recipe": "emmc"})
    assert isinstance(clusterkit.load(model), clusterkit.Pipeline)
    again = run("predict", model, table)  # the id is passed over, since the model does not know it
    assert again.exit_code == 0, again.output
    assert again.stdout == out.read_text()
    to_file = run("predict", model, table, "-o", tmp_path / "p.csv", "--json")
    assert json.loads(to_file.stdout)["sizes"] == {"0": 10, "1": 10, "2": 10}
    assert (tmp_path / "p.csv").read_text() == out.read_text()
    assert "30 rows labelled" in run("predict", model, table, "-o", tmp_path / "p.csv").stdout


def test_a_model_saved_in_python(run, table, tmp_path, blobs, write, error_of):
    pandas = pytest.importorskip("pandas")
    model = tmp_path / "m.clusterkit"
    named = pandas.DataFrame(blobs, columns=["height", "width"])
    fitted = clusterkit.recipe("kmeans", n_clusters=3, random_state=0).fit(named)
    fitted.save(model)
    answer = run("predict", model, table)
    assert labels_of(answer.stdout) == fitted.labels_.tolist()
    fitted.fit(blobs).save(model)
    assert run("predict", model, table, "--drop", "id").stdout == answer.stdout
    consensus = clusterkit.ConsensusClustering(n_members=2, random_state=0).fit(blobs)
    consensus.save(model)
    assert "holds a ConsensusClustering, which `clusterkit predict` does not use" in error_of(
        run("predict", model, table)
    )


def test_transductive_model_says_why(run, table, tmp_path, monkeypatch, error_of):
    from clusterkit.estimators.pipeline import Pipeline

    model = tmp_path / "m.clusterkit"
    run("fit", table, *KMEANS, "--drop", "id", "--save", model)
    monkeypatch.setattr(Pipeline, "_why_not_inductive", lambda self: "labeler 'x' labels the fitted samples only")
    message = error_of(run("predict", model, table))
    assert message.endswith("m.clusterkit cannot label new rows: labeler 'x' labels the fitted samples only")


def test_what_is_no_whole_model(run, table, write, tmp_path, error_of):
    joblib.dump([1], tmp_path / "list.joblib")
    for file in (write("m.clusterkit", "no"), tmp_path / "list.joblib", table):
        assert "is no model of `clusterkit fit --save`" in error_of(run("predict", file, table))
    assert "nowhere.clusterkit: no such file" in error_of(run("predict", "nowhere.clusterkit", table))
    model = tmp_path / "m.clusterkit"
    run("fit", table, *KMEANS, "--drop", "id", "--save", model)
    content = bytearray(model.read_bytes())
    content[-3] ^= 1
    model.write_bytes(content)
    assert "does not agree with its checksum" in error_of(run("predict", model, table))


def test_interrupt_keeps_labels(run, table, tmp_path, monkeypatch):
    monkeypatch.setattr("clusterkit.contracts.iteration.notify", lambda report: signal.raise_signal(signal.SIGINT))
    out = tmp_path / "l.csv"
    answer = run("fit", table, *KMEANS, "--drop", "id", "-o", out, "--json")
    assert answer.exit_code == 130
    assert json.loads(answer.stdout)["interrupted"] is True
    assert len(labels_of(out.read_text())) == 30


def test_interrupt_before_any_labels(run, table, monkeypatch, error_of):
    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("clusterkit.drivers.single.fit", stop)
    assert error_of(run("fit", table, *KMEANS, "--drop", "id"), 130) == "interrupted: there are no labels yet"


def test_a_range_for_a_method_that_finds_the_number(run, table):
    answer = run("fit", table, "--drop", "id", "-r", "hdbscan", "-k", "2-4")
    assert answer.exit_code == 0, answer.output
    assert "warning: the range of -k is not used: recipe hdbscan finds the number" in answer.stderr
    assert "range" not in run("fit", table, "--drop", "id", "-r", "kmeans", "-k", "2-4").stderr


def test_what_is_refused_is_one_line(run, table, monkeypatch, error_of):
    """tests/cli/test_options.py has what the functions refuse that a command calls."""
    monkeypatch.chdir(table.parent)
    for words, message in (
        (("--as-date", "hight"), "no column named 'hight'. Did you mean 'height'?"),
        (("-k", 0), "'0' is no number of clusters"),
        (("-r", "svc"), "finds the number of clusters itself"),
        (("--set", "solver.C=1"), "recipe 'auto' has no stages to change"),
        (("-o", "no/l.csv"), "no/l.csv cannot be written: there is no such folder"),
        (("-o", "l.feather"), "l.feather: labels can be"),
        (("--save", "m.csv"), "a model can be"),
        (("--plot", "out.gif"), "a picture can be"),
        (("--report", "p.pdf"), "a report can be .htm, .html, not .pdf"),
        (("--cache", "copy.npy"), "this one is read at once"),
    ):
        assert message in error_of(run("fit", "points.csv", "-k", 2, *words))
    assert "patterns are for Python: clusterkit.open(" in error_of(run("fit", "*.npy"))
    assert [path.name for path in table.parent.iterdir()] == ["points.csv"]


def test_warning_is_one_line(run, write):
    path = write("same.csv", "a,b\n" + "1,2\n" * 6)
    answer = run("fit", path, "--recipe", "kmeans", "-k", 2, "--keep", "a,b")
    assert answer.exit_code == 0
    assert answer.stderr == "warning: all 6 samples are equal: no labelling is better than another\n"


def test_fewer_clusters_than_asked_for_are_told(run, write):
    path = write("few.csv", "a,b\n" + "1,2\n3,4.5\n9,7\n" * 10)
    answer = run("fit", path, "-r", "genie", "-k", 5)
    assert "warning: 3 of the 5 clusters that were asked for have rows" in answer.stderr
    assert "clusters 3 of the 5 that were asked for have rows" in " ".join(answer.stdout.split())
    assert "that were asked for" not in run("fit", path, "-r", "genie", "-k", 3).output


def test_tables_of_labels_keep_types(write, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    pytest.importorskip("pyarrow")
    lines = [f"{i % 2 * 50 + i},{'=1+1' if i % 3 else ''},2024-01-{i + 1:02d},{i if i else ''}" for i in range(20)]
    table = read_table(write("t.csv", "a,b,since,n\n" + "\n".join(lines) + "\n"))
    for ending, read in ((".xlsx", pandas.read_excel), (".parquet", pandas.read_parquet)):
        out = str(tmp_path / f"l{ending}")
        outputs.write(out, np.arange(20) % 2)
        assert read(out)["label"].tolist() == [0, 1] * 10
        outputs.write(out, np.arange(20) % 2, table)
        frame = read(out)
        assert list(frame) == ["a", "b", "since", "n", "label"]
        assert frame["a"].tolist() == [i % 2 * 50 + i for i in range(20)]
        assert frame["b"].isna().sum() == 7
        assert set(frame["b"].dropna()) == {"=1+1"}
        assert frame["n"].isna().tolist() == [True] + [False] * 19


def test_rows_that_the_labeler_called_noise_are_told(run, write):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 0.1, (60, 2)), rng.normal(3, 0.1, (60, 2)), rng.uniform(-3, 6, (30, 2))]
    path = write("n.csv", "a,b\n" + "\n".join(f"{a},{b}" for a, b in X))
    answer = run("fit", path, "--set", 'pool=("hdbscan",)')
    number = re.search(r"labeler\.noise=(\d+)", answer.stdout)[1]
    assert f"none: {number} rows that the labeler called noise are in the nearest clusters" in answer.stdout


def test_links_and_seeds_of_files_are_kept(tmp_path, run):
    rng = np.random.default_rng(0)
    X, kind = np.repeat([[0.0, 0.0], [4.0, 0.0]], 15, axis=0) + rng.normal(size=(30, 2)), np.repeat(["b", "a"], 15)
    lines = ["x,y,kind", *(f"{x:.3f},{y:.3f},{kind[i] if i % 5 == 0 else ''}" for i, (x, y) in enumerate(X))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    (tmp_path / "links.csv").write_text("one,other,sign\n1,17,1\n2,30,-1\n")
    common = ["fit", str(tmp_path / "t.csv"), "--recipe", "kmeans", "-k", "2", "-o", str(tmp_path / "out.csv")]
    answer = run(*common, "--links", str(tmp_path / "links.csv"), "--drop", "kind")
    labels = np.loadtxt(tmp_path / "out.csv", skiprows=1, dtype=int)
    assert labels[0] == labels[16]
    assert labels[1] != labels[29]
    answer = run(*common, "--seeds", "kind", "--with-data", "--save", str(tmp_path / "model"))
    assert clusterkit.load(tmp_path / "model").names_ == {0: "a", 1: "b"}
    assert (tmp_path / "out.csv").read_text().startswith("x,y,kind,label\n")
    labels = np.loadtxt(tmp_path / "out.csv", skiprows=1, dtype=int, delimiter=",", usecols=3)
    assert (labels[:15:5] == 1).all()
    assert (labels[15::5] == 0).all()
    assert "numbers of the seeds: 0 a, 1 b" in answer.output
    (tmp_path / "links.csv").write_text("one,other,sign\n1,31,1\n")
    answer = run(*common, "--links", str(tmp_path / "links.csv"), "--drop", "kind")
    assert "names row 31; rows are counted 1..30" in answer.output
    answer = run(*common, "--seeds", "kinds")
    assert "--seeds: " in answer.output
    assert "no column named 'kinds'. Did you mean 'kind'?" in answer.output
    (tmp_path / "t.csv").write_text("x,y,kind\n" + "".join(f"{i},{i % 7},{i % 3}\n" for i in range(30)))
    assert (
        "--seeds kind: row 3 (line 4) has 2; seeds are numbers of clusters, 0..1"
        in run(*common, "--seeds", "kind").output
    )


def test_rows_are_compared_by_the_cosine_where_that_is_asked_for(run, tmp_path):
    rng = np.random.default_rng(0)
    X = (np.repeat(np.eye(3), 10, axis=0) + 0.05 * rng.normal(size=(30, 3))) * rng.uniform(0.01, 100, size=(30, 1))
    np.save(tmp_path / "rows.npy", X)
    answer = run("fit", tmp_path / "rows.npy", *KMEANS, "--metric", "cosine", "-o", "-")
    assert groups(labels_of(answer.stdout)), answer.output
    assert "left as they are" in answer.stderr  # no column is scaled by itself


def test_a_table_of_distances_is_taken_with_the_names_of_its_rows(run, write, tmp_path):
    X = np.r_[np.zeros(8), np.full(8, 5.0)] + np.linspace(0, 1, 16)
    D = abs(X[:, None] - X)
    names = [f"town {i}" for i in range(16)]
    lines = [
        ",".join(["name", *names]),
        *(",".join([name, *map(str, row)]) for name, row in zip(names, D, strict=True)),
    ]
    path = write("roads.csv", "\n".join(lines))
    common = ["--recipe", "genie", "-k", "2", "--metric", "precomputed"]
    answer = run("fit", path, *common, "--save", tmp_path / "model", "-o", "-")
    assert labels_of(answer.stdout) == [0] * 8 + [1] * 8
    assert "resolved   featuremap.matrix=distances" in answer.stderr
    assert "say the same" not in answer.stderr
    for times in ("e200", "e-200"):  # as in Python
        far = write("far.csv", "\n".join(",".join(f"{cell}{times}" for cell in row) for row in D))
        assert labels_of(run("fit", far, *common, "-o", "-").stdout) == [0] * 8 + [1] * 8
    assert labels_of(run("predict", tmp_path / "model", write("new.csv", "\n".join(lines[:3])), "-o", "-").stdout) == [
        0,
        0,
    ]
    refused = run("fit", write("part.csv", "\n".join(lines[:-1])), *common)
    assert "is to have a column of numbers for each of its 15 rows, and there are 16" in refused.stderr
    refused = run("fit", write("gap.csv", "\n".join([*lines[:-1], lines[-1].rpartition(",")[0] + ","])), *common)
    assert "column 'town 15' has a gap, and a matrix of pairs has a value for each pair" in refused.stderr
    refused = run("fit", path, "--metric", "precomputed")
    assert "Auto compares methods by coordinates" in refused.stderr


def test_latitudes_and_longitudes_are_places_unless_they_are_not_to_be(run, write):
    rng = np.random.default_rng(0)
    places = np.c_[rng.normal(-17, 1, 30), (rng.normal(180, 2, 30) + 180) % 360 - 180]
    path = write("p.csv", "lat,lon\n" + "\n".join(f"{a:.4f},{b:.4f}" for a, b in [*places, *(places * [-1, 0.1])]))
    answer = run("fit", path, *KMEANS[:-1], "2", "-o", "-")
    assert len(set(labels_of(answer.stdout)[:30])) == 1
    assert "lat and lon, as points on a sphere; --no-sphere leaves them as they are" in answer.stderr
    plain = run("fit", path, *KMEANS[:-1], "2", "-o", "-", "--no-sphere")
    assert len(set(labels_of(plain.stdout)[:30])) == 2
    by_metric = run("fit", path, *KMEANS[:-1], "2", "-o", "-", "--metric", "haversine")
    assert labels_of(by_metric.stdout) == labels_of(answer.stdout)
    assert "looks like" not in by_metric.stderr
