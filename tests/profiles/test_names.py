"""Names of clusters: proposed by rules for every fit, given by people, and kept by everything that writes them."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import clusterkit
from clusterkit import plots
from clusterkit.cli import app
from clusterkit.errors import InvalidModelFile, InvalidParameter

rng = np.random.default_rng(0)
GROUP = np.arange(90) % 3
X = pd.DataFrame(
    {"age": 25.0 * GROUP + rng.normal(size=90), "noise": rng.normal(size=90), "town": ["Ulm", "Bonn"] * 45}
)


@pytest.fixture
def model():
    return clusterkit.recipe("mixture", n_clusters=3, random_state=0).fit(X)


@pytest.mark.parametrize("name", ["auto", "kmeans", "mixture", "spectral", "hdbscan", "svc", "emmc"])
def test_every_method_has_names_from_the_columns_that_differ(name):
    number = {} if name in ("hdbscan", "svc") else {"n_clusters": 3}
    model = clusterkit.recipe(name, random_state=0, **number).fit(X if name in ("auto", "mixture") else X[["age"]])
    firsts = model.labels_[[0, 1, 2]].tolist()
    assert model.names_ == dict(zip(firsts, ("low age", "medium age", "high age"), strict=True))


def test_a_fit_without_columns_has_numbers_and_equal_proposals_have_them_behind():
    pairs = np.abs(X[["age"]].to_numpy() - X["age"].to_numpy())
    model = clusterkit.recipe("hdbscan", metric="precomputed").fit(pairs)
    assert model.names_ == {0: "cluster 0", 1: "cluster 1", 2: "cluster 2"}
    model = clusterkit.recipe("kmeans", n_clusters=2, random_state=0).fit(np.arange(8.0)[:, None])
    model.labels_ = np.arange(8) % 2
    assert model.names_ == {0: "no column stands out (0)", 1: "no column stands out (1)"}


def test_a_name_is_used_wherever_the_cluster_is_spoken_of(model):
    label = int(model.labels_[0])
    model.rename({model.labels_[0]: "young"})
    assert model.names_[label] == "young" == clusterkit.profile(model, X)[label].name
    assert clusterkit.profile(model, texts=["pie", "nut", "nut pie"] * 30)[label].name == "young"
    assert clusterkit.assign(model, X)["name"].tolist() == [model.names_[each] for each in model.labels_]
    assert clusterkit.explain(model, X[:1])[0].sentence.startswith("young, next cluster ")
    assert "young: 30" in [text.get_text() for text in plots.clusters(model, X).get_legend().get_texts()]
    for ax in (plots.sizes(model), plots.silhouette(model, X)):
        assert "young" in [text.get_text() for text in ax.get_yticklabels()]
    model.rename(lambda cluster: f"{cluster.features[0].column} {cluster.label}")
    assert model.names_ == {0: "age 0", 1: "age 1", 2: "age 2"}
    assert "age 0" not in model.fit(X).names_.values()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({7: "x"}, "there is no cluster 7; there are 0, 1, 2"),
        ({0: " "}, "the name of cluster 0 must be a text, got ' '"),
        ({0: "a", 2: "a"}, "clusters 0 and 2 would both be called 'a'"),
        (["a"], "needs names of clusters by their labels"),
    ],
)
def test_a_wrong_name_is_refused_and_changes_nothing(model, names, message):
    before = model.rename({1: "b"}).names_
    with pytest.raises(InvalidParameter, match=message):
        model.rename(names)
    assert model.names_ == before


@pytest.mark.filterwarnings("ignore:columns are in different units")
def test_names_roles_links_and_explanations_survive_a_file_and_predict_on_the_command_line(tmp_path, model):
    linked = clusterkit.recipe("kmeans", n_clusters=3, random_state=0).fit(X[["age", "noise"]], links=[(0, 3, -1)])
    assert linked.labels_[0] != linked.labels_[3]
    path, file, labels = (str(tmp_path / name) for name in ("a.clusterkit", "rows.csv", "labels.parquet"))
    for one, rows in ((model, X), (linked, X[["age", "noise"]])):
        one.rename({0: "=1+1", 2: "third"}).save(path)
        loaded = clusterkit.load(path)
        for its in ("names_", "column_roles_"):
            assert getattr(loaded, its, None) == getattr(one, its, None)
        assert clusterkit.explain(loaded, rows[:5]) == clusterkit.explain(one, rows[:5])
        np.testing.assert_array_equal(loaded.labels_, one.labels_)
        rows.to_csv(file, index=False)
        words = ["predict", path, file, "-o", labels, "--names", "--certainty", "--escape-formulas"]
        assert CliRunner().invoke(app, words).exit_code == 0
        written = pd.read_parquet(labels)
        assert [*written] == ["label", "name", "certainty", "distance"]
        assert written["name"].tolist() == [{**one.names_, 0: "'=1+1"}[label] for label in one.predict(rows)]
    assert "--names needs -o FILE" in CliRunner().invoke(app, ["fit", file, "--names"]).output


def test_a_file_with_names_of_other_clusters_is_refused(tmp_path, model):
    for names in ({5: "a"}, {0: 1}):
        model._names = names
        model.save(tmp_path / "a")
        with pytest.raises(InvalidModelFile, match="the names are not those of the clusters"):
            clusterkit.load(tmp_path / "a")
