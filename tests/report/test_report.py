"""The report: it says what was found, in one harmless file of limited size, whatever the table."""

from __future__ import annotations

import csv
import html
import re
from html.parser import HTMLParser

import attrs
import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris, make_blobs

pytest.importorskip("jinja2", reason="the report needs the extra 'report'")
pytest.importorskip("matplotlib", reason="the report needs the extra 'report'")

import clusterkit
from clusterkit.cli import app
from clusterkit.errors import ClusterkitWarning, InvalidData
from clusterkit.report import make_report, sentences
from clusterkit.report import page as page_module
from clusterkit.report.analysis import OddRow, odd_rows
from clusterkit.report.page import page as render
from clusterkit.report.sentences import plain
from clusterkit.tables import Preparation

MOST_BYTES = 2_000_000
SCRIPT, IMAGE, ESCAPE = "<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "\x1b[31mred\x1b[0m"
MATHS, TEMPLATE, TURNED = "$\\frac{$", "{{ 7 * 7 }}{% raw %}", "\u202egnp.exe"


class Reader(HTMLParser):
    """Collects the elements, the attributes and the texts of a page."""

    VOID = frozenset({"meta", "br", "img", "link", "input"})

    def __init__(self, page: str):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if not self.open or self.open[-1] != "style":
            self.texts.append(text)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def self_contained(page: str) -> Reader:
    """The page, after a check that it loads and runs nothing."""
    reader = Reader(page)
    assert reader.open == []
    assert not {"script", "iframe", "object", "embed", "link", "base", "form"} & set(reader.tags)
    for name, value in reader.attributes:
        assert not name.startswith("on"), (name, value)
        if name in ("href", "src", "xlink:href"):
            assert value.startswith(("#", "data:image/png;base64,")), (name, value)
    assert re.findall(r"url\((?!#)|@import", page) == []
    assert len(page.encode()) <= MOST_BYTES
    return reader


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    columns = dict(zip(data.feature_names, data.data.T, strict=True))
    return make_report(columns, n_clusters=3, methods=["kmeans", "genie"], command="clusterkit report iris.csv")


@pytest.fixture
def without_pictures(monkeypatch):
    """Texts alone, since pictures take most of the time of a page."""
    monkeypatch.setattr(page_module, "pictures", lambda analysis: dict.fromkeys(("map", "profile", "roles"), ""))


class TestContents:
    def test_every_section_is_there(self, iris):
        reader = self_contained(iris[0])
        ids = {value for name, value in reader.attributes if name == "id"}
        assert {"verdict", "data", "clusters", "map", "methods", "rows", "repeat", "caveats", "terms"} <= ids
        assert "clusterkit report iris.csv" in reader.text
        assert "genie: single linkage that avoids uneven sizes" in reader.text
        assert "genie: Genie" not in reader.text

    def test_numbers_of_the_page_are_those_of_the_analysis(self, iris):
        page, analysis = iris
        text = Reader(page).text
        assert "The 150 rows were divided into 3 clusters, as asked for" in text
        for cluster in analysis.clusters.clusters:
            assert f"Cluster {cluster.label}: {cluster.name}" in text
            assert f"{cluster.size} rows" in text
            assert cluster.rule.text in text
        for label, rows in analysis.examples.items():
            assert (analysis.labels[rows] == label).all()
        assert [method.name for method in analysis.comparison.methods] == ["chosen", "kmeans", "genie"]
        means = np.array([analysis.X[analysis.labels == label].mean(axis=0) for label in range(3)])
        apart = np.linalg.norm(means[:, None] - means, axis=2)
        np.fill_diagonal(apart, np.inf)
        assert re.findall("nearest other cluster is ([0-9])", text) == [*map(str, apart.argmin(axis=1))]
        farthest = analysis.outliers[0]
        assert f'<td class="n">{farthest.row + 1}</td><td class="n">{farthest.label}</td><td class="n">× ' in page

    def test_the_chosen_method_has_one_row_and_every_term_is_explained(self, iris):
        page, analysis = iris
        text = Reader(page).text
        assert page.count("(chosen)</td>") == 1
        assert f"Mean silhouette {analysis.comparison.methods[0].silhouette:.2f}" in text
        assert "The confidence is how likely it is" in text
        assert "the dip test" in text
        assert "the tree test" in text
        assert "No cell is missing; 2 rows are equal to another row" in text
        assert "samples, no noise" not in text
        assert "lift" not in text
        for cluster in analysis.clusters.clusters:
            for feature in cluster.features:
                p = feature.closeness if feature.position == "medium" else feature.contrast
                assert feature.strength == pytest.approx(0.0 if feature.position == "same" else 2 * abs(p - 0.5))
                assert f'{p:.2f}{" (nearer)" if feature.position == "medium" else ""}</td><td class="n">' in page
            strengths = [feature.strength for feature in cluster.features]
            assert strengths == sorted(strengths, reverse=True)

    def test_the_same_table_gives_the_same_page(self, iris):
        data = load_iris()
        columns = dict(zip(data.feature_names, data.data.T, strict=True))
        again, _ = make_report(columns, n_clusters=3, methods=["kmeans", "genie"], command="clusterkit report iris.csv")
        seconds = re.compile(r'<td class="n">\d+\.\d</td></tr>')
        assert seconds.sub("", again) == seconds.sub("", iris[0])

    def test_names_of_parts_of_pictures_are_unique(self, iris):
        ids = [value for name, value in Reader(iris[0]).attributes if name == "id"]
        defined = set(ids)
        links = [value for name, value in Reader(iris[0]).attributes if name in ("href", "xlink:href")]
        used = {value[1:] for value in links if value.startswith("#")}
        assert used <= defined
        pictures = [value for value in ids if value.endswith("figure_1")]
        assert len(pictures) == len(set(pictures)) > 3

    @pytest.mark.usefixtures("without_pictures")
    def test_data_without_clusters_are_called_doubtful(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 3))
        page, analysis = make_report({f"x{j}": X[:, j] for j in range(3)}, methods=["kmeans", "genie"])
        assert analysis.model.perhaps_one_cluster_
        assert "This is doubtful: tests see no sign of more than one cluster" in Reader(page).text

    def test_equal_rows_are_one_group(self):
        page, _ = make_report({"a": np.r_[np.ones(40), 2.0], "b": np.ones(41)}, methods=["kmeans"])
        self_contained(page)

    @pytest.mark.usefixtures("without_pictures")
    def test_one_cluster_is_compared_with_nothing(self):
        X = np.random.default_rng(0).normal(size=(60, 2))
        page, analysis = make_report({"a": X[:, 0], "b": X[:, 1]}, n_clusters=1)
        text = Reader(page).text
        assert "The 60 rows were left in one group, as asked for: nothing was divided." in text
        assert "no way of dividing" not in text
        assert "Cluster 0: all rows" in text
        for words in ("What distinguishes it", "No short rule", "inside", "may be accidents", "kmeans"):
            assert words not in text
        assert [method.name for method in analysis.comparison.methods] == ["chosen", "hdbscan"]

    @pytest.mark.usefixtures("without_pictures")
    def test_a_page_without_caveats_has_no_such_heading(self, iris):
        page, _ = make_report({"a": np.array([0.0, 9.0]), "b": np.array([1.0, 5.0])})
        assert "Caveats" not in Reader(page).text
        assert Reader(iris[0]).text.count("Caveats") == 2  # the heading, and the link to it

    @pytest.mark.usefixtures("without_pictures")
    def test_the_chosen_clustering_has_a_stability_at_a_given_number(self):
        X, _ = make_blobs([50, 50], centers=[[0, 0], [9, 9]], random_state=0)
        _, analysis = make_report({"a": X[:, 0], "b": X[:, 1]}, n_clusters=2, methods=["kmeans", "genie"])
        assert page_module._stability(analysis.comparison.methods[0], 0, analysis) == 1.0

    @pytest.mark.usefixtures("without_pictures")
    def test_every_row_by_itself_is_no_clear_structure(self):
        X = np.random.default_rng(0).normal(size=(30, 2))
        page, _ = make_report({"a": X[:, 0], "b": X[:, 1]}, n_clusters=30, methods=["kmeans"])
        text = Reader(page).text
        assert "30 clusters, as asked for, of 1 row each" in text
        assert "every row is a cluster by itself, so that nothing was grouped" in text
        assert "This structure is" not in text

    @pytest.mark.usefixtures("without_pictures")
    def test_methods_with_a_number_of_their_own_say_so(self):
        X, _ = make_blobs([50, 50], centers=[[0, 0], [9, 9]], random_state=0)
        page, _ = make_report({"a": X[:, 0], "b": X[:, 1]}, n_clusters=3, methods=["kmeans", "hdbscan"])
        text = Reader(page).text
        assert "hdbscan 2 (its own; 3 asked for)" in text
        assert "into 3 clusters, as asked for," in text

    @pytest.mark.usefixtures("without_pictures")
    def test_cells_of_a_year_a_time_and_a_share_that_is_none(self):
        columns = {
            "year": 2000 + 30 * (np.arange(40) % 2) + np.arange(40) // 2 % 5,
            "hour": np.array([f"{9 + 8 * (i % 2)}:{i:02d}" for i in range(40)]),
            "gap": np.where(np.arange(40) % 2, np.nan, np.arange(40.0)),
        }
        page, _ = make_report(columns, n_clusters=2, methods=["kmeans"])
        text = Reader(page).text
        assert "2,0" not in text
        assert re.search(r"hour (low|high) (9:19|17:20) ", text)
        assert "below 1 %" not in text


def test_odd_rows_are_between_clusters_or_far_out(monkeypatch):
    X, y = make_blobs([60, 60], centers=[[0, 0], [10, 0]], cluster_std=0.7, random_state=0)
    X = np.vstack([X, [[5.0, 0.0]], [[0.0, 30.0]]])
    labels = np.r_[y, 0, 0]
    borders, outliers = odd_rows(X, labels, 3, np.random.default_rng(0))
    assert (borders[0].row, borders[0].other) == (120, 1)
    assert outliers[0].row == 121
    monkeypatch.setattr("clusterkit.report.analysis.MOST_ROWS", 60)
    for of_a_sample in odd_rows(X, labels, 9, np.random.default_rng(0)):
        assert [one.label for one in of_a_sample] == [labels[one.row] for one in of_a_sample]


class TestHostileTables:
    @pytest.fixture
    def file(self, tmp_path):
        rng = np.random.default_rng(0)
        path = tmp_path / "a&b<i>.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            rows = csv.writer(stream)
            rows.writerow([SCRIPT, IMAGE, ESCAPE, MATHS, TEMPLATE, TURNED])
            for i in range(150):
                k = i % 3
                words = [SCRIPT, IMAGE, TEMPLATE]
                rows.writerow(
                    [f"{rng.normal() + 8 * k:.3f}", words[k], f"{rng.normal():.3f}", f"{rng.normal() - 6 * k:.2f}",
                     ("javascript:alert(3)", ESCAPE)[i % 2], f"{rng.normal() + 5 * (k == 1):.3f}"]
                )  # fmt: skip
        return path

    def test_names_and_cells_come_out_harmless(self, file, tmp_path):
        page = tmp_path / "page.html"
        done = CliRunner().invoke(app, ["report", str(file), "-o", str(page), "--methods", "kmeans,genie"])
        assert done.exit_code == 0, done.output
        assert "\x1b" not in done.output
        text = page.read_text(encoding="utf-8")
        reader = self_contained(text)
        assert "img" not in reader.tags
        assert "i" not in reader.tags
        for control in ("\x1b", "\u202e"):
            assert control not in text
        assert SCRIPT in reader.text
        assert TEMPLATE in reader.text

    def test_names_and_levels_in_pictures_are_those_of_the_table(self):
        rng = np.random.default_rng(0)
        low = np.repeat([True, False], 20)
        a, b, c = '#000000 id="a"', 'href="#b" url(#c)', "$\\frac{$"
        levels = np.where(low, "#222222; font: 'a'", "#ffffff #cccccc")
        columns = {name: rng.normal(size=40) + 9.0 * low for name in (a, b)}
        two, three = (
            [text for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL) for text in Reader(svg).texts]
            for page, _ in (
                make_report(its, n_clusters=2, methods=["kmeans"]) for its in (columns, columns | {c: levels})
            )
        )
        assert [two.count(name) for name in (a, b)] == [
            3,
            3,
        ]  # an axis of the map, a row of the profile, a bar of the roles
        assert {a, b, *(f"{c}: {level}" for level in levels)} <= set(three)

    @pytest.mark.parametrize("name", ["\ud800", "a\x0b\x00", "\ufffe", "$\\frac{$ and $"])
    def test_a_name_that_no_page_can_have(self, name):
        rng = np.random.default_rng(0)
        columns = {name: rng.normal(size=30) + 9.0 * np.repeat([0, 1], 15), "b": rng.normal(size=30)}
        self_contained(make_report(columns, n_clusters=2, methods=["kmeans"])[0])

    def test_control_characters_are_written_out(self):
        assert plain(ESCAPE) == "\\x1b[31mred\\x1b[0m"
        assert plain(TURNED).startswith("\\u202e")


def test_an_array_is_a_table_without_names():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + 9.0 * np.repeat([[0.0, 0.0], [0.0, 1.0]], 30, axis=0)
    page, analysis = make_report(X, methods=["kmeans"])
    self_contained(page)
    assert sorted(cluster.name for cluster in analysis.clusters.clusters) == ["high x2", "low x2"]


@pytest.mark.usefixtures("without_pictures")
def test_long_names_of_columns_are_shortened_in_names_of_clusters(tmp_path):
    rng = np.random.default_rng(0)
    values = [f"{value:.3f}" for value in rng.normal(size=60) + 9.0 * np.repeat([0.0, 1.0], 30)]
    file = tmp_path / "long.csv"
    file.write_text("\n".join(["L" * 500, *values]))
    done = CliRunner().invoke(
        app, ["report", str(file), "-o", str(tmp_path / "p.html"), "-k", "2", "--methods", "kmeans"]
    )
    assert done.exit_code == 0, done.output
    assert "LL…LL" in done.output
    assert "L" * 61 not in done.output


class TestSize:
    @pytest.mark.parametrize(("n", "d", "k"), [(300, 20, 4), pytest.param(6000, 40, 40, marks=pytest.mark.deep)])
    def test_many_rows_columns_and_clusters_stay_below_the_limit(self, n, d, k):
        rng = np.random.default_rng(0)
        labels = rng.integers(k, size=n)
        X = rng.normal(size=(n, d)) + 12 * rng.normal(size=(k, d))[labels]
        names = [f"a rather long name of a column, number {j}, of which there are many" for j in range(d)]
        columns = {name: X[:, j] for j, name in enumerate(names)}
        page, _ = make_report(columns, n_clusters=k, methods=["kmeans"])
        self_contained(page)


class TestCommand:
    @pytest.mark.usefixtures("without_pictures")
    def test_what_is_cut_is_counted(self, iris):
        rng = np.random.default_rng(0)
        X, y = make_blobs(120, 20, centers=2, random_state=0)
        names = [f"note {j}" for j in range(25)]
        table = {f"x{j}": X[:, j] for j in range(20)} | {
            name: np.array([f"note {rng.random()}" for _ in y]) for name in names
        }
        page, analysis = make_report(table, n_clusters=2, methods=["kmeans"])
        text = Reader(page).text
        assert len(analysis.preparation.used) == 20
        assert text.count("And 12 more columns, which tell it less") == 2
        assert text.count("show the 8 columns that tell the clusters apart most; there are 12 more columns") == 2
        assert "And 5 more columns: in Python, model.preparation_.left_out has all of them" in text
        assert "more column" not in Reader(iris[0]).text

    @pytest.mark.usefixtures("without_pictures")
    def test_levels_that_are_cut_are_counted(self):
        _, y = make_blobs(120, 2, centers=3, random_state=0)
        towns = np.array([f"town {label}{i % 4}" for i, label in enumerate(y)])
        page, _ = make_report({"x": y + np.linspace(0, 0.5, 120), "town": towns}, n_clusters=3, methods=["kmeans"])
        assert Reader(page).text.count("And 5 more levels, which tell it less") == 3

    def test_a_wrong_ending_and_an_unknown_method_are_refused_first(self, tmp_path):
        file = tmp_path / "a.csv"
        file.write_text("x,y\n1,2\n3,4\n")
        wrong = CliRunner().invoke(app, ["report", str(file), "-o", str(tmp_path / "a.pdf")])
        assert "a report can be .htm, .html" in wrong.output
        unknown = CliRunner().invoke(app, ["report", str(file), "-o", str(tmp_path / "a.html"), "-r", "kmean"])
        assert unknown.exit_code == 2
        assert "kmeans" in unknown.output
        assert not (tmp_path / "a.html").exists()


@pytest.fixture(scope="module")
def with_gaps():
    """The report on three groups, and twenty rows whose visits are missing."""
    rng = np.random.default_rng(0)
    of_group = np.repeat([0, 1, 2, 3], [60, 60, 60, 20])
    columns = {name: rng.normal(size=200) + 9 * (of_group % 3 == j) for j, name in enumerate(("age", "income"))}
    columns["weight"] = rng.normal(size=200) + 40 * (of_group == 3)
    columns["visits"] = np.where(of_group == 3, np.nan, rng.normal(13, 1, 200))
    return make_report(columns, n_clusters=4, methods=["kmeans"])


class TestGaps:
    def test_a_column_without_values_in_a_cluster_is_told(self, with_gaps):
        page, analysis = with_gaps
        [cluster] = [one for one in analysis.clusters.clusters if one.size == 20]
        part = page[page.index(f'id="cluster-{cluster.label}"') :]
        row = re.search(r'<tr><td class="word">visits</td>(.*?)</tr>', part)
        assert "no values" in row[1]
        assert row[1].count("–</td>") == 5

    def test_a_cluster_of_gaps_is_doubted(self, with_gaps):
        page, analysis = with_gaps
        [cluster] = [one.label for one in analysis.clusters.clusters if one.size == 20]
        doubt = (
            f"Cluster {cluster} holds the rows whose 'visits' is missing: it may come from the gaps, not from a group; "
            "compare with -k 3, or with --drop visits."
        )
        assert analysis.doubts.sentences == (doubt,)
        assert sentences.main_sentences(analysis)[1] == doubt
        assert sentences.caveats(analysis)[0] == doubt
        assert Reader(page).text.count(doubt) == 2

    def test_the_summary_of_a_fit_doubts_it_too(self, tmp_path):
        lines = ["a,b,visits"]
        rng = np.random.default_rng(0)
        for i, (a, b) in enumerate(rng.normal(size=(90, 2)) + 60 * np.repeat(np.eye(3)[:, :2], 30, axis=0)):
            lines.append(f"{a},{b},{'' if i >= 60 else rng.normal()}")
        path = tmp_path / "t.csv"
        path.write_text("\n".join(lines))
        printed = CliRunner().invoke(app, ["fit", str(path), "-k", "3", "-r", "kmeans"], env={"COLUMNS": "400"}).output
        assert "holds the rows whose 'visits' is missing" in printed
        assert "compare with -k 2, or with --drop visits." in printed

    @pytest.mark.usefixtures("without_pictures")
    def test_gaps_everywhere_make_no_cluster(self):
        rng = np.random.default_rng(0)
        of_group = np.repeat([0, 1], 60)
        columns = {"a": rng.normal(size=120) + 9 * of_group, "b": np.where(rng.random(120) < 0.9, np.nan, of_group)}
        _, analysis = make_report(columns, n_clusters=2, methods=["kmeans"])
        assert analysis.doubts.sentences == ()


class TestRowsToLookAt:
    @pytest.mark.usefixtures("without_pictures")
    def test_no_row_stands_for_a_cluster_and_is_far_from_it(self):
        rng = np.random.default_rng(1)
        X = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 12, 0.1 * rng.normal(size=(13, 2))])
        X[80:, 0] += 40.0
        X[92] += 3.0  # so far from the rest of its cluster that it would be picked to stand for it, too
        _, analysis = make_report({"a": X[:, 0], "b": X[:, 1]}, n_clusters=3, methods=["kmeans"])
        assert 92 in {one.row for one in analysis.outliers}
        assert sorted(one.size for one in analysis.clusters.clusters) == [13, 40, 40]
        typical = {row for rows in analysis.examples.values() for row in rows.tolist()}
        assert all(len(rows) for rows in analysis.examples.values())
        assert not typical & {one.row for one in analysis.outliers}

    @pytest.mark.usefixtures("without_pictures")
    @pytest.mark.parametrize(("value", "shown"), [(2.49, "2.4"), (2.5, "2.5"), (2.56, "2.5")])
    def test_no_row_below_the_limit_is_shown_with_it(self, iris, value, shown):
        analysis = attrs.evolve(iris[1], outliers=(OddRow(0, int(iris[1].labels[0]), -1, value),))
        text = Reader(render(analysis, command="", fingerprint="", made="")).text
        assert f"× {shown} " in text
        assert ("No row is an outlier (× 2.5 or more)" in text) == (value < 2.5)


def test_columns_of_a_table_have_their_roles_in_the_report():
    rng = np.random.default_rng(0)
    y, site = np.arange(120) % 3, rng.integers(2, size=120)
    X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[y] + rng.standard_normal((120, 2)) + 8.0 * site[:, None]
    table = {"size": X[:, 0], "mass": X[:, 1], "site": np.array(["north", "south"])[site], "day": rng.normal(size=120)}
    page, analysis = make_report(table, n_clusters=3, methods=["mixture"])
    text = Reader(page).text
    assert "What each column says of the clusters by itself" in text
    by_groups = clusterkit.profile(y, table)
    assert sentences.of_roles(by_groups) == (
        "Covariate columns shift the numbers alike in all clusters, so that their values are no clusters: site.",
        "Irrelevant columns say nothing of the clusters beyond the other columns: day.",
    )
    mixture = analysis.comparison["mixture"]
    assert np.isfinite([mixture.evidence, mixture.stability, mixture.seconds]).all()


@pytest.mark.usefixtures("without_pictures")
def test_left_out_names_and_classes_stand_beside_the_clusters():
    rng = np.random.default_rng(3)
    group = np.repeat([0, 1, 2], 30)
    table = {
        "country": np.array([f"Land{i:02d}" for i in range(90)]),
        "group": np.array(["rich", "middle", "poor"])[group],
        "income": np.array([40.0, 12.0, 1.5])[group] + rng.normal(size=90),
        "children": np.array([1.5, 3.0, 5.0])[group] + 0.2 * rng.normal(size=90),
    }
    page, analysis = make_report(table, preparation=Preparation(drop=("group",)))
    assert analysis.clusters.left_out.keys() >= {"country"}
    assert ">Land" in page
    assert "the column group, which was left out" in page
    # what the statistics mean is said once, at the end
    assert page.count("95 % bootstrap interval") == 1 < page.index('id="terms"') < page.index("95 % bootstrap interval")


@pytest.mark.usefixtures("without_pictures")
def test_a_fitted_model_has_its_own_page():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal((0, 0), 0.3, (40, 2)), rng.normal((3, 3), 0.3, (40, 2))])
    model = clusterkit.recipe("kmeans", n_clusters=2, random_state=0).fit(X)
    text, _ = make_report(X, model=model, methods=["genie"])
    assert "2 clusters, as asked for, of 40 and 40 rows, found by the method kmeans" in text
    assert "only Auto estimates it" in text
    with pytest.raises(InvalidData, match="79 rows and the model was fitted to 80"):
        make_report(X[1:], model=model)


class TestInANotebook:
    def test_a_fitted_auto_shows_the_answer_of_its_report(self):
        rng = np.random.default_rng(0)
        group = np.arange(90) % 3
        table = {"size": rng.normal(size=90) + 9 * group, "day": rng.integers(0, 400, 90).astype("datetime64[D]")}
        table["colour"] = np.array([SCRIPT, "red", "blue"])[group]
        model = clusterkit.Auto(random_state=0)
        assert "<svg" not in model._repr_html_()
        shown = model.fit(table).rename({0: IMAGE})._repr_mimebundle_()["text/html"]
        texts = [*sentences.main_sentences(make_report(table, model=model)[1]), *model.names_.values()]
        assert "3 clusters of 30, 30 and 30 rows" in texts[0]
        for text in texts:
            assert f">{html.escape(text)}<" in shown
        assert "Parameters</summary>" in shown.partition("<svg")[2]

    def test_an_outlier_is_the_row_of_the_table_and_equal_rows_have_no_map(self):
        X = np.random.default_rng(0).normal(size=(61, 2))
        X[6] = 90.0
        model = clusterkit.Auto(random_state=0)
        assert "Cluster 1 is row 7 alone" in model.fit(X)._repr_html_()
        with pytest.warns(ClusterkitWarning, match="all 61 samples are equal"):
            assert "The model stores no rows of the table" in model.fit(X * 0)._repr_html_()
