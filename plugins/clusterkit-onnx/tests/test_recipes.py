"""The law of export over every recipe, those of installed plugins too: the exported model gives the labels of
`predict`, or one line says which stage has no ONNX form. The page lists those that have one.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from clusterkit_onnx import NotExportable, check_export, to_onnx

from clusterkit import recipe, recipes
from clusterkit.contracts.registry import registry
from clusterkit.errors import BrokenPlugin

pytestmark = pytest.mark.filterwarnings("ignore::clusterkit.ClusterkitWarning")

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "export-to-onnx.md"
NEW_ROWS = 10_000


def _listed() -> set[str]:
    """The recipes that the page says can be exported."""
    section = PAGE.read_text(encoding="utf-8").split("\n## What can be exported\n")[1].split("\n## ")[0]
    return set(re.findall(r"`([a-z0-9-]+)`", section.split("cannot")[0]))


@pytest.fixture(scope="module")
def data():
    """Three groups of nonnegative rows, and new rows all over their range and beyond it."""
    rng = np.random.default_rng(0)
    X = np.abs(np.concatenate([rng.normal(centre, 0.7, (30, 5)) for centre in (2.0, 4.0, 7.0)]))
    return X, rng.uniform(0.0, 12.0, (NEW_ROWS, 5))


def fitted(name, X):
    model = recipe(name, random_state=0)
    clusters = registry.get("recipe", name).clusters
    if clusters != "found":
        model.set_params(n_clusters=2 if clusters == "two" else 3)
    return model.fit(X)


@pytest.mark.parametrize("name", sorted(recipes()))
def test_an_exported_recipe_gives_the_labels_of_predict(name, data, run):
    X, new = data
    if name == "auto":  # from four columns on it may choose a mixture of the columns, which has no ONNX form
        X, new = X[:, :3], new[:, :3]
    listed = name in _listed()
    try:
        model = fitted(name, X if listed else X[::5])
    except BrokenPlugin as lacking:
        pytest.skip(str(lacking))
    if not listed:
        with pytest.raises(NotExportable, match=r"^.*(solver|labeler|featuremap) '\w+'.*$"):
            to_onnx(model)
        return
    check_export(model, new)
    assert len(np.unique(model.predict(new))) > 1, "new rows of one cluster show little"
    check_export(model, X)
    answers = run(to_onnx(model), rows=new[:500])
    if "scores" in answers and name != "auto":
        scores = answers["scores"]
        np.testing.assert_allclose(
            scores[:, 0] if scores.shape[1] == 1 else scores, model.decision_function(new[:500]), rtol=1e-6, atol=1e-9
        )


def test_the_page_lists_no_other_names():
    assert _listed() <= set(recipes())
    assert len(_listed()) >= 25


@pytest.mark.parametrize("name", ["emmc", "fuzzy-cmeans", "genie", "hdbscan", "kmeans", "mixture", "nmf", "spectral"])
@pytest.mark.parametrize("single", ["the data", "the model"])
def test_single_precision_is_close(name, single, data, run):
    X, new = data
    dtype = "float32" if single == "the model" else "float64"
    model = fitted(name, X.astype(np.float32) if single == "the data" else X)
    exported = to_onnx(model, dtype=dtype)
    labels = run(exported, rows=new.astype(dtype))["labels"]
    assert np.mean(labels != model.predict(new)) <= 0.002
