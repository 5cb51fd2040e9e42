"""Tables as people have them: one command without a flag gives a model and labels, and `predict` repeats them."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("openpyxl")

sys.path.insert(0, str(Path(__file__).parents[1]))
from tables import messy_files

from clusterkit.metrics import adjusted_rand
from clusterkit.testing.pytest_plugin import deep

LEAST_AGREEMENT = 0.95
"""Mean adjusted Rand index with the planted clusters that is promised."""


def content(path: Path) -> np.ndarray:
    return np.loadtxt(path, skiprows=1, dtype=int)


def check(run, name, folder, writer):
    """Fit and predict; the agreement with the planted clusters."""
    path, planted = writer(folder)
    labels, model, again = folder / "labels.csv", folder / "model.clusterkit", folder / "again.csv"
    fitted = run("fit", path, "--save", model, "-o", labels)
    assert fitted.exit_code == 0, fitted.output
    # many rows are clustered by a sample, which is said
    of_sample = len(planted) > 5000 and "were clustered by a sample of" in fitted.stderr
    assert fitted.stderr == "" or of_sample or "columns of texts are not used: 'note' (free text)" in fitted.stderr
    assert " columns used (" in fitted.stdout
    predicted = run("predict", model, path, "-o", again)
    assert predicted.exit_code == 0, predicted.output
    assert predicted.stderr == ""
    assert again.read_text() == labels.read_text()
    return adjusted_rand(planted, content(labels))


def test_one_command(run, tmp_path):
    for name in ("excel", "gaps"):
        assert check(run, name, tmp_path, messy_files.FILES[name]) > 0.5


@pytest.mark.deep
def test_the_planted_clusters_are_found(run, tmp_path):
    """Here of all files, two of which every change reads."""
    agreements = [check(run, name, tmp_path, writer) for name, writer in messy_files.FILES.items()]
    assert min(agreements) > 0.5
    assert np.mean(agreements) >= LEAST_AGREEMENT


@pytest.mark.deep
@pytest.mark.skipif(not deep(), reason="a minute: with the deep profile of hypothesis only")
@pytest.mark.parametrize("name", messy_files.LARGE)
def test_large_files(run, name, tmp_path):
    assert check(run, name, tmp_path, messy_files.LARGE[name]) >= LEAST_AGREEMENT


def test_flags_change_what_was_decided(run, tmp_path):
    path, _ = messy_files.identifiers(tmp_path)
    facts = json.loads(run("fit", path, "-k", 3, "-r", "kmeans", "--json").stdout)
    assert facts["columns"] == ["a", "b", "c"]
    assert set(facts["preparation"]["left_out"]) == {"id", "key", "name", "zip", "country", "fax", "note"}
    flags = ("--as-number", "zip", "--keep", "id", "--drop", "a,b", "--scale", "minmax", "--weight", "c", 4)
    facts = json.loads(run("fit", path, "-k", 3, "-r", "kmeans", "--json", *flags).stdout)
    assert facts["columns"] == ["id", "zip", "c"]
    assert facts["preparation"]["scale"] == "minmax"
    assert facts["preparation"]["left_out"]["a"] == "as you asked"
    assert facts["preparation"]["weights"] == {"c": 4}


def test_new_rows_in_another_form(run, tmp_path, error_of):
    """Other separators, order and marks, no header, and columns that the model does not use are no hindrance."""
    path, _ = messy_files.decimal_comma(tmp_path)
    model, labels = tmp_path / "m.clusterkit", tmp_path / "labels.csv"
    assert run("fit", path, "-k", 4, "-r", "kmeans", "--save", model, "-o", labels).exit_code == 0
    import pandas

    frame = pandas.read_csv(path, sep=";", decimal=",", thousands=".")
    frame["comment"] = "new"
    frame[["comment", *reversed(frame.columns[:-1])]].to_csv(tmp_path / "english.csv", index=False)
    frame[frame.columns[:-1]].to_excel(tmp_path / "new.xlsx", index=False)
    (tmp_path / "bare.csv").write_text(path.read_text(encoding="utf-8").partition("\n")[2], encoding="utf-8")
    for name in ("english.csv", "new.xlsx", "bare.csv"):
        answer = run("predict", model, tmp_path / name)
        assert (answer.stderr, answer.stdout) == ("", labels.read_text()), name
    frame[["Umsatz", "comment"]].to_csv(tmp_path / "less.csv", index=False)
    assert "less.csv lacks 3 of the 4 columns the model was fitted on: Gewicht, Anzahl, Quote" in error_of(
        run("predict", model, tmp_path / "less.csv")
    )


def test_few_rows_with_a_comma_are_read_as_those_of_the_fit(run, tmp_path):
    """1,234 alone may be a thousand and more, or one and a bit."""
    rng = np.random.default_rng(0)
    values = np.r_[rng.normal(1.2, 0.05, 30), rng.normal(1200, 50, 30)]
    (tmp_path / "fit.csv").write_text("a;b\n" + "".join(f"{v:.4f};{v:.2f}\n".replace(".", ",") for v in values))
    (tmp_path / "one.csv").write_text("a;b\n1,234;1,234\n")
    model = tmp_path / "m.clusterkit"
    labels = run("fit", tmp_path / "fit.csv", "-k", 2, "-r", "kmeans", "--save", model, "-o", "-").stdout.split()
    assert run("predict", model, tmp_path / "one.csv").stdout.split()[1] == labels[1]


def test_names_and_cells_do_not_steer_the_terminal(run, tmp_path):
    evil = "\x1b[31mred\x1b]0;owned\x07\u202eback"
    rng = np.random.default_rng(0)
    lines = [f"{i % 2 * 9 + rng.normal():.3f},{1000 * rng.normal():.2f},{evil}{i % 2},{evil}{i}" for i in range(60)]
    path = tmp_path / "t.csv"
    path.write_text(f"{evil}a,b{evil},{evil},{evil}text\n" + "\n".join(lines) + "\n", encoding="utf-8")
    model = tmp_path / "m.clusterkit"
    other = tmp_path / "other.csv"
    other.write_text(path.read_text(encoding="utf-8").replace(f"{evil}0,", f"{evil}new,"), encoding="utf-8")
    for words in (
        ("fit", path, "-k", 2, "-r", "mixture", "--save", model),
        ("fit", path, "-k", 2, "-r", "kmeans", "--json"),
        ("predict", model, other, "-o", tmp_path / "l.csv"),
        ("fit", path, "--as-number", "nothing"),
        ("fit", path, "--as-number", 3),
        ("fit", path, "--as-category", 4),
    ):
        shown = run(*words).output
        assert shown
        assert not set(shown) & {"\x1b", "\x07", "\u202e"}, words
