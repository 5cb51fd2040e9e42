"""The values of slots as stages, nested parameters, and the name of the recipe that an estimator comes from."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import ClassVar, final

import attrs
import numpy as np
import pytest
from clusterkit_min_max import MinMaxModularSVC
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import ConsensusClustering, Pipeline, recipe
from clusterkit.contracts import Tuned, Tuner
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers import compose
from clusterkit.errors import InvalidParameter, NeedsClusters, UnknownName
from clusterkit.estimators.as_partitioner import ByRecipe

X, y = make_blobs([30, 30], n_features=2, random_state=1, cluster_std=0.6)


def test_a_recipe_as_a_start_in_every_notation():
    spellings = ["nmf", {"name": "recipe", "recipe": "nmf"}, ByRecipe("nmf")]
    assert [compose.resolve("init", value) for value in spellings] == [ByRecipe("nmf")] * 3
    fits = [Pipeline(init=value, n_clusters=2, random_state=0).fit(X).labels_ for value in spellings]
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[0], fits[2])


def test_a_missing_number_of_clusters_has_an_error_of_its_own():
    with pytest.raises(NeedsClusters):
        recipe("emmc").fit(X)
    with pytest.raises(NeedsClusters):
        Pipeline(labeler="argmax").fit(X)
    assert issubclass(NeedsClusters, InvalidParameter)
    with pytest.raises(
        NeedsClusters, match=r"labeler='most_probable' solver 'mixed_mixture' chooses it; n_init: n_init = 5"
    ):
        recipe("mixture", featuremap="columns", solver="mixed_mixture").fit(X)


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (Pipeline(), "solver__C", 2.0),
        (recipe("emmc-multistart"), "solver__C", 2.0),
        (ConsensusClustering("coassociation"), "consensus__linkage", "single"),
        (ConsensusClustering(base=KMeans()), "base__n_init", 3),
        (MinMaxModularSVC(partitioner="kmeans"), "partitioner__n_init", 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_nested_parameters(model, name, value):
    model = clone(model)
    assert name in model.get_params()
    assert model.set_params(**{name: value}).get_params()[name] == value
    assert clone(model).get_params()[name] == value
    with pytest.raises((UnknownName, ValueError), match=r"no parameter|nvalid parameter"):
        model.set_params(**{f"{name}x": value})
    with pytest.raises(UnknownName, match=f"{type(model).__name__} has no parameter 'no_such'"):
        model.set_params(no_such=1)


@pytest.mark.parametrize("name", ["emmc", "emmc-auto", "svc"])
def test_the_repr_names_the_recipe(name):
    model = recipe(name)
    first, _, rest = repr(model).partition("\n")
    assert first == f"# recipe '{name}'"
    assert rest == repr(clone(model))
    assert name in model._repr_html_()


def imports_of(path: Path, root: Path) -> set[str]:
    """Modules of the package that a file imports, inside functions too; type checking apart."""
    tree = ast.parse(path.read_text())
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in hidden and node.module:
            modules.add(node.module)
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
    return modules


def test_no_import_circle_even_inside_functions():
    root = Path(clusterkit.__file__).parent
    files = {
        f"clusterkit.{folder}.{path.stem}": path
        for folder in ("drivers", "estimators")
        for path in (root / folder).glob("*.py")
    }
    arrows = {name: imports_of(path, root) & files.keys() for name, path in files.items()}
    while arrows:
        leaves = [name for name, targets in arrows.items() if not targets & arrows.keys()]
        assert leaves, f"these import each other in a circle: {sorted(arrows)}"
        for name in leaves:
            del arrows[name]


@final
@attrs.frozen
class Onlooker(Tuner):
    """Sets gamma to a number that says which data it was shown."""

    name: ClassVar[str] = "onlooker"

    def tune(self, stages, X, rng):
        featuremap = stages["featuremap"]
        assert featuremap.tunable == {"gamma"}
        return Tuned({**stages, "featuremap": featuremap.with_parameters(gamma=float(np.square(X).sum()))}, {"rows": 1})


@pytest.mark.parametrize("first", [["zscore"], [{"name": "elm", "n_hidden": 5}], ["minmax", {"name": "elm"}]])
def test_a_tuner_gets_the_last_map_of_a_chain_and_what_enters_it_in_the_fit(first):
    model = Pipeline([*first, "rbf"], "svdd", "complete_graph", tuner=Onlooker(), random_state=3).fit(X)
    space = model.space_
    assert model.resolved_["tuner"] == {"name": "onlooker", "rows": 1, "interrupted": False}
    assert model.resolved_["featuremap"]["gamma"] == float(np.square(space.coordinates(X)).sum())
    assert space.kernel.gamma == model.resolved_["featuremap"]["gamma"]


def test_the_first_maps_of_a_chain_stay_as_they_are():
    chain = compose.resolve("featuremap", ["minmax", "zscore", "rbf"])
    stages = {"featuremap": chain, "solver": "svdd", "labeler": "complete_graph", "balancer": None, "init": None}
    composition = compose.tuned(compose.compose(stages), Onlooker(), X, Seeds(0)).composition
    assert composition.featuremap.maps[:2] == chain.maps[:2]
    assert composition.featuremap.maps[2].gamma > 0
