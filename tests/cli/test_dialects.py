"""Each file is read as it says itself, whatever the file of the fit said, and the options work on every command."""

import numpy as np
import pytest

pytest.importorskip("pandas")

from clusterkit.metrics import adjusted_rand

KMEANS = ("-k", 3, "-r", "kmeans")
GROUPS = np.arange(90) % 3


@pytest.fixture
def revenues():
    rng = np.random.default_rng(3)
    return np.array([1200, 5400, 9800])[GROUPS] + 90 * rng.normal(size=90), rng.normal(size=90) + 11 * GROUPS + 9


@pytest.fixture
def english(tmp_path, revenues):
    """Points before decimals, commas between cells."""
    path = tmp_path / "english.csv"
    path.write_text("rev,share\n" + "".join(f"{a:.2f},{b:.2f}\n" for a, b in zip(*revenues, strict=True)))
    return path


@pytest.fixture
def german(tmp_path, revenues):
    """Commas before decimals, semicolons between cells, points between thousands."""
    path = tmp_path / "german.csv"
    lines = (f"{a:,.2f};{b:.2f}\n".translate(str.maketrans(",.", ".,")) for a, b in zip(*revenues, strict=True))
    path.write_text("rev;share\n" + "".join(lines))
    return path


@pytest.fixture
def whole(tmp_path, revenues):
    """German thousands without decimals: nothing in the file says that the point is between thousands."""
    path = tmp_path / "whole.csv"
    lines = (f"{a:,.0f}".replace(",", ".") + f";{b:.0f}\n" for a, b in zip(*revenues, strict=True))
    path.write_text("rev;share\n" + "".join(lines))
    return path


def fitted(run, path, *options):
    """The model of a file, and its labels."""
    model, labels = path.with_suffix(".clusterkit"), path.with_suffix(".labels.csv")
    answer = run("fit", path, *KMEANS, "--save", model, "-o", labels, *options)
    assert answer.exit_code == 0, answer.output
    return model, labels.read_text()


@pytest.mark.parametrize("options", [(), ("--decimal", ",", "--delimiter", ";")])
def test_decimal_commas_by_a_model_of_points(run, english, german, options):
    model, labels = fitted(run, english)
    answer = run("predict", model, german, *options)
    assert (answer.stderr, answer.stdout) == ("", labels)


class TestWholeThousands:
    def test_fit_and_predict(self, run, english, whole):
        model, labels = fitted(run, english)
        assert "'rev': '1." in run("fit", whole, *KMEANS).stderr
        assert "The option --decimal , " in run("predict", model, whole).stderr
        decided = run("fit", whole, *KMEANS, "--decimal", ",", "-o", "-")
        assert "'rev'" not in decided.stderr
        assert adjusted_rand(GROUPS, np.array(decided.stdout.split()[1:], dtype=int)) == 1.0
        answer = run("predict", model, whole, "--decimal", ",")
        assert (answer.stderr, answer.stdout) == ("", labels)

    def test_in_pieces(self, run, english, german, whole, monkeypatch):
        (model, labels), (of_commas, _) = fitted(run, english), fitted(run, german)
        monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "1K")
        assert "'rev': '1." in run("predict", model, whole).stderr
        assert run("predict", model, whole, "--decimal", ",").stdout == labels
        assert run("predict", of_commas, whole).stdout == labels


def test_texts_in_other_formats(run, english, whole):
    """Cells of Excel and Parquet may be texts too; the option decides how they are read."""
    import pandas

    pytest.importorskip("pyarrow")
    path = whole.with_suffix(".parquet")
    pandas.read_csv(whole, sep=";", dtype=str).to_parquet(path)
    model, labels = fitted(run, english)
    assert "The option --decimal , " in run("predict", model, path).stderr
    answer = run("predict", model, path, "--decimal", ",")
    assert (answer.stderr, answer.stdout) == ("", labels)


def test_an_option_says_what_no_cell_does(run, tmp_path):
    lines = [f"01/{1 + i % 12:02d}/2024,{i % 12 // 6 * 9 + 0.1 * i}\n" for i in range(96)]
    path = tmp_path / "months.csv"
    path.write_text("month,x\n" + "".join(lines))
    assert "'month': no day is above 12" in run("fit", path, *KMEANS).stderr
    for option, shown in (("--day-first", "2/3 is 2 March"), ("--month-first", "2/3 is February 3")):
        answer = run("fit", path, *KMEANS, option)
        assert answer.stderr == ""
        assert shown in answer.stdout


def test_labels_beside_the_data_are_no_feature(run, english, tmp_path):
    both = tmp_path / "both.csv"
    assert run("fit", english, *KMEANS, "-o", both, "--with-data").exit_code == 0
    again = run("fit", both, *KMEANS)
    assert "Left out: label (labels of clusters, by its name and values)" in again.stdout
    assert "columns    3 (rev, share, label)" in run("fit", both, *KMEANS, "--keep", "label").stdout


def test_a_model_that_is_not_there(run, english, tmp_path, error_of):
    fitted(run, english)
    message = error_of(run("predict", tmp_path / "englsh.clusterkit", english))
    assert message.endswith("englsh.clusterkit: no such file. Did you mean 'english.clusterkit'?")
    assert "there is no folder" in error_of(run("predict", tmp_path / "none" / "m.clusterkit", english))
    assert "is a folder, not a file" in error_of(run("predict", tmp_path, english))


def test_data_that_are_not_there(run, english, error_of):
    assert error_of(run("fit", english.with_name("engllish.csv"))).endswith("no such file. Did you mean 'english.csv'?")
