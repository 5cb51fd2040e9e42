"""Writes the saved models that every later version must load: ``python -m tests.saving.golden_models`` at a release.

The files of a version are never changed again. Each folder below ``golden`` has the files of one version and
``labels.json``, with the labels of the training rows and of new rows.
"""

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from clusterkit_min_max import MinMaxModularSVC

from clusterkit import ConsensusClustering, __version__, recipe
from clusterkit.contracts.registry import registry
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.tables import TableWarning
from clusterkit.testing.compare import two_groups

FOLDER = Path(__file__).parent / "golden"
"""A folder for each version."""

RECIPES = (
    "cpmmc", "elm-kmeans", "emmc", "fuzzy-cmeans", "geoclust", "gmmc", "itersvm", "kernel-kmeans",
    "kernel-nmf", "kmeans", "lapgmm", "ncut", "sgd-lmsvc", "svc",
)  # fmt: skip
"""Recipes whose fits together leave behind most classes that a file can hold."""

ROWS = two_groups(16)
"""The training rows."""

NEW = np.array([[2.1, 1.9], [7.2, 6.8], [1.5, 2.5]])
"""New rows, none near a border."""

NAN, NO_DATE = np.nan, np.datetime64("NaT", "us")

TABLE = {
    "id": np.arange(40) + 500,
    "age": np.r_[np.linspace(20.0, 30.0, 20), np.linspace(60.0, 70.0, 4), np.full(16, NAN)],
    "income": np.r_[np.linspace(20_000.0, 30_000.0, 20), np.linspace(60_000.0, 70_000.0, 20)],
    "town": np.array(["Ulm", "Bonn", "Ulm", None, "Köln"] * 8, dtype=object),
    "member": np.array(["no", "yes"] * 20, dtype=object),
    "since": np.datetime64("2015-01-01", "us") + 86_400_000_000 * np.r_[np.arange(20), 2000 + np.arange(20)],
    "price": np.array([f"1.{100 + 20 * i},50 €" for i in range(40)], dtype=object),
}
"""The training rows of a model with a preparation: a column of every kind, with gaps."""

NEW_TABLE = {
    "town": np.array(["Bonn", "Rom", None], dtype=object),
    "age": np.array([25.0, 64.0, NAN]),
    "income": np.array([22_000.0, 68_000.0, 66_000.0]),
    "member": np.array(["yes", "no", None], dtype=object),
    "since": np.array(["2015-01-09", "2020-07-01", NO_DATE], dtype="datetime64[us]"),
    "price": np.array(["1.100,00", "1.840,50 €", None], dtype=object),
    "more": np.arange(3.0),
}
"""New rows of the table, in another order of columns; a town is unknown to the fit."""


def fitted() -> Iterator[tuple[str, Any]]:
    """Name and fitted estimator of each file."""
    for name in RECIPES:
        k = {} if registry.get("recipe", name).clusters == "found" else {"n_clusters": 2}
        small = {"featuremap__n_hidden": 8} if name.startswith("elm") else {}
        yield name, recipe(name, random_state=0, **k, **small).fit(ROWS)
    prepared = recipe("kmeans", n_clusters=2, random_state=0)
    fit_prepared(prepared, TABLE)
    yield "prepared", prepared
    yield "consensus", ConsensusClustering(n_members=3, random_state=0).fit(ROWS)
    classes = np.repeat(["left", "right"], 8)
    yield "min-max", MinMaxModularSVC(random_state=np.random.default_rng(0)).fit(ROWS, classes)


def labels_of(model: Any) -> dict[str, list[Any]]:
    """The labels that a model must go on giving; of a preparation its features too, to nine digits."""
    labels = {"labels": model.labels_.tolist()} if hasattr(model, "labels_") else {}
    prepared = hasattr(model, "preparation_")
    rows, new = (TABLE, NEW_TABLE) if prepared else (ROWS, NEW)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)  # of the unknown town
        if hasattr(model, "predict"):
            labels |= {"rows": model.predict(rows).tolist(), "new": model.predict(new).tolist()}
        if prepared:
            fitted = model.preparation_
            labels |= {"features": list(fitted.features), "left_out": fitted.left_out, "scale": fitted.scale}
            labels |= {"prepared": fitted.transform(new).round(9).tolist()}
    return labels


def main() -> int:
    """Write the folder of this version."""
    folder = FOLDER / __version__.partition(".dev")[0]
    if folder.exists() and "dev" not in __version__:
        print(f"{folder} exists; what a version wrote is not written again", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    labels = {}
    for name, model in fitted():
        model.save(folder / f"{name}.clusterkit")
        labels[name] = labels_of(model)
    lines = [f'  "{name}": {json.dumps(entry)}' for name, entry in labels.items()]
    (folder / "labels.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(labels)} models in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
