"""Recipes and peers on folders of labelled sets: reading, fitting, journal, ranks, and the command."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from click.testing import CliRunner
from clusterkit_papers import benchmarking
from clusterkit_papers.benchmarking.run import Method
from clusterkit_papers.benchmarking.tables import Coded
from sklearn.datasets import make_blobs

from clusterkit.cli import app
from clusterkit.errors import ClusterkitWarning, InvalidParameter, UnknownName
from clusterkit.metrics import adjusted_rand
from clusterkit.tables import Table


def table_of(columns):
    return Table("a table", columns, tuple(columns))


def written(path, text):
    with gzip.open(path, "wt") as file:
        file.write(text)


@pytest.fixture
def folder(tmp_path):
    """A table with a row of noise, and a set in two files; three far groups each."""
    place = tmp_path / "sets"
    place.mkdir()
    for name, seed in (("table", 0), ("files", 1)):
        X, y = make_blobs(45, centers=[[0, 0], [30, 0], [0, 30]], random_state=seed)
        y = y + 1
        if name == "table":
            y[0] = -1
            rows = "\n".join(f"{a},{b},{c}" for (a, b), c in zip(X, y, strict=True))
            written(place / "table.csv.gz", f"x0,x1,label\n{rows}\n")
        else:
            y[:2] = 0
            written(place / "files.data.gz", "\n".join(f"{a} {b}" for a, b in X))
            written(place / "files.labels0.gz", "\n".join(map(str, y)))
    return place


def test_both_formats_are_read(folder):
    files, table = benchmarking.read_sets(folder)
    assert (files.name, table.name) == ("files", "table")
    assert [each.n_classes for each in (files, table)] == [3, 3]
    assert [int((~each.known).sum()) for each in (files, table)] == [2, 1]
    assert files.X.shape == table.X.shape == (45, 2)
    assert [each.name for each in benchmarking.read_sets(folder, ["table"])] == ["table"]


def test_what_cannot_be_read_is_named(folder, monkeypatch):
    with pytest.raises(InvalidParameter, match=r"no data set named 'tablet'.*'table'"):
        benchmarking.read_sets(folder, ["tablet"])
    with pytest.raises(InvalidParameter, match="at most 10 rows"):
        benchmarking.read_sets(folder, max_rows=10)
    written(folder / "files.labels0.gz", "1\n2\n")
    with pytest.raises(InvalidParameter, match=r"files\.data\.gz.*45 rows, but 2 classes"):
        benchmarking.read_sets(folder)
    monkeypatch.delenv("CLUSTERKIT_DATA", raising=False)
    with pytest.raises(InvalidParameter, match="no such folder here, and CLUSTERKIT_DATA"):
        benchmarking.folder_of("nowhere")
    monkeypatch.setenv("CLUSTERKIT_DATA", str(folder.parent))
    assert benchmarking.folder_of("sets") == folder
    with pytest.raises(UnknownName, match=r"no recipe named 'kmean'.*'kmeans'"):
        benchmarking.recipe_methods(["kmean"])


def test_methods_get_the_number_of_classes_if_they_take_one(folder):
    sets = benchmarking.read_sets(folder)
    names = ["kmeans", "svc", "itersvr"]
    cells = benchmarking.run(sets, benchmarking.recipe_methods(names))
    assert {(cell.method, cell.k_known) for cell in cells} == {("kmeans", True), ("svc", False)}
    assert all(cell.adjusted_rand == cell.asymmetric_accuracy == 1.0 for cell in cells if cell.k_known)
    assert all(cell.n_clusters == cell.n_classes == 3 for cell in cells)
    assert all(cell.seconds > 0 for cell in cells)


def test_auto_is_fitted_with_and_without_the_number(folder):
    [auto] = benchmarking.recipe_methods(["auto"])
    cells = benchmarking.run(benchmarking.read_sets(folder, ["table"]), [auto])
    assert [(cell.k_known, cell.n_clusters, cell.adjusted_rand) for cell in cells] == [(True, 3, 1.0), (False, 3, 1.0)]


def test_noise_is_clustered_but_not_judged(folder):
    [table] = benchmarking.read_sets(folder, ["table"])
    labels = np.where(table.known, table.classes, 2)
    labels[0] = 0  # the row of noise in any cluster changes nothing
    seen = []

    def fit(X, n_clusters, seed):
        seen.append((len(X), n_clusters, seed))
        return labels[: len(X)]

    [cell] = benchmarking.run([table], [Method("fixed", "here", "1", "given", fit)], seed=7)
    assert cell.adjusted_rand == 1.0
    assert seen == [(45, 3, 7), (45, 3, 7)]


def test_a_fit_that_fails_counts_as_nothing(folder):
    def fail(X, n_clusters, seed):
        raise ValueError("no labels today\nmore")

    cells = benchmarking.run(benchmarking.read_sets(folder), [Method("broken", "here", "1", "found", fail)])
    assert [(cell.adjusted_rand, cell.error) for cell in cells] == [(0.0, "ValueError: no labels today")] * 2
    page = benchmarking.as_markdown(cells, title="Broken")
    assert "- broken, table: ValueError: no labels today" in page
    assert "failed" in page


def test_a_journal_spares_finished_fits(folder, tmp_path):
    sets, calls = benchmarking.read_sets(folder), []

    def fit(X, n_clusters, seed):
        calls.append(len(X))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return np.zeros(len(X), dtype=int)

    journal, method = tmp_path / "cells.jsonl", Method("one", "here", "1", "given", fit)
    with pytest.warns(ClusterkitWarning, match="interrupted: 1 fits are kept"):
        first = benchmarking.run(sets, [method], journal=journal)
    assert len(first) == 1
    with journal.open("a") as file:
        file.write('{"data_set": "cut sh')
    both = benchmarking.run(sets, [method], journal=journal)
    assert both[0] == first[0]
    assert len(calls) == 5, "a warm-up and one fit"
    assert len(journal.read_text().splitlines()) == 2
    journal.write_text("something else\n" + journal.read_text())
    with pytest.raises(InvalidParameter, match="line 1: not the journal of a benchmark"):
        benchmarking.run(sets, [method], journal=journal)


def cell(method, data_set, value, k_known=True):
    return benchmarking.Cell(data_set, data_set, method, "here", "1", k_known, 0, 3, 3, value, value, 0.1)


def test_the_critical_differences_are_those_of_demsar():
    """Demšar (2006), section 3.2.2: 1.25 at 5 % and 1.12 at 10 %, for four methods on 14 sets."""
    rng = np.random.default_rng(0)
    cells = [cell(name, f"s{place}", rng.normal() + ord(name)) for name in "abcd" for place in range(14)]
    ranking = benchmarking.rank(cells, k_known=True)
    assert ranking.critical_difference == pytest.approx(1.25, abs=0.005)
    assert benchmarking.rank(cells, k_known=True, level=0.1).critical_difference == pytest.approx(1.12, abs=0.005)
    assert ranking.methods == ("d", "c", "b", "a")
    assert sum(ranking.ranks) == pytest.approx(10)
    assert ranking.n_sets == 14
    assert 0 < ranking.p_value < 0.05


def test_only_methods_with_all_sets_are_ranked():
    cells = [cell("a", "s", 1.0), cell("a", "t", 0.5), cell("b", "s", 0.5), cell("b", "t", 0.5), cell("c", "s", 1.0)]
    assert benchmarking.rank(cells, k_known=True).methods == ("a", "b")
    assert benchmarking.rank(cells, k_known=True).ranks == (1.25, 1.75)
    with pytest.raises(InvalidParameter, match="two methods with a value on every set, there are 0"):
        benchmarking.rank(cells, k_known=False)


def test_bars_join_what_does_not_differ():
    pytest.importorskip("matplotlib")
    from clusterkit_papers.benchmarking.diagram import groups

    ranking = benchmarking.Ranking(("a", "b", "c", "d"), (1.0, 1.5, 2.4, 4.0), (1.0,) * 4, 9, 1.0, 0.01)
    assert groups(ranking) == [(0, 1), (1, 2)]


def test_peers_are_installed_libraries(folder):
    pairs = {(peer.library, peer.name) for peer in benchmarking.peers()}
    assert ("scikit-learn", "KMeans") in pairs
    [table] = benchmarking.read_sets(folder, ["table"])
    for peer in benchmarking.peers():
        labels = peer.labels(table.X, 3 if peer.clusters == "given" else None, 0)
        assert adjusted_rand(table.classes[1:], labels[1:]) > 0.9, peer.name


def test_the_command(folder, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("CLUSTERKIT_PLUGINS", "papers")

    def invoke(*words):
        return CliRunner().invoke(app, ["benchmark", str(folder), *map(str, words)])

    page, picture, journal = tmp_path / "page.md", tmp_path / "ranks.svg", tmp_path / "cells.jsonl"
    names = ("--recipes", "kmeans,cmeans,svc", "--no-peers", "--journal", journal)
    answer = invoke(*names, "-o", page, "--plot", picture, "--note", "Constants were chosen elsewhere.")
    assert answer.exit_code == 0, answer.output
    assert "With the number of clusters given" in answer.stdout
    text = page.read_text()
    assert "Constants were chosen elsewhere." in text
    assert "| kmeans | clusterkit" in text
    assert picture.stat().st_size > 0
    cells = json.loads(invoke(*names, "--json").stdout)
    assert len(cells) == len(journal.read_text().splitlines()) == 6
    for words, message in (
        (("--recipes", "kmean"), "no recipe named 'kmean'"),
        (("-o", tmp_path / "page.docx"), "the page can be"),
        (("--plot", tmp_path / "ranks.gif"), "a picture can be .pdf, .png, .svg, not .gif"),
        (("-o", "-"), "the page needs a file"),
    ):
        refused = invoke(*words)
        assert refused.exit_code == 2
        assert message in refused.stderr


def test_tables_with_categories_and_gaps_are_fitted_as_they_are(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    rows = [f"{5 * c + rng.normal():.3f},{'ab'[c]},{'' if i % 9 == 0 else i % 4}" for i, c in enumerate(y)]
    text = "size,kind,age,label\n" + "\n".join(f"{row},{'xy'[c]}" for row, c in zip(rows, y, strict=True))
    (tmp_path / "mixed.csv").write_text(text)
    (tmp_path / "list.csv").write_text("name,rows\nmixed,60\n")  # no data set: it has no classes
    [mixed] = benchmarking.read_sets(tmp_path)
    assert mixed.X.names == ("size", "kind", "age")
    methods = benchmarking.recipe_methods(["mixture"], of_tables=True)
    methods += [peer for peer in benchmarking.peers(of_tables=True) if peer.name == "KMeans (one-hot)"]
    cells = benchmarking.run([mixed], methods)
    assert [(cell.method, cell.k_known) for cell in cells] == [
        (method.name, known) for method in methods for known in (True, False)
    ]
    assert min(cell.adjusted_rand for cell in cells if cell.k_known) > 0.9
    page = tmp_path / "page.md"
    page.write_text("# Before\n\n## Mixed\n\nold\n")
    named = tmp_path.rename(tmp_path.parent / "mixed")
    words = ["benchmark", str(named), "--recipes", "mixture", "--no-peers", "-o", str(named / "page.md"), "--append"]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 0, answer.output
    text = (named / "page.md").read_text()
    assert text.startswith("# Before\n\n## Mixed\n\n### With")
    assert "old" not in text


def test_peers_of_tables_get_standardised_numbers_and_codes():
    table = table_of(
        {
            "x": np.where(np.arange(30) % 7 == 5, np.nan, np.arange(30.0) ** 2),
            "kind": np.array(["a", "b", "a", None, "b", "a"] * 5, dtype=object),
        }
    )
    coded = Coded.of(table)
    np.testing.assert_allclose(np.nanstd(coded.numbers, axis=0), 1.0)
    assert coded.codes.max() == 2  # a gap is a level
    assert coded.features.shape == (30, 4)
    assert np.isfinite(coded.features).all()
