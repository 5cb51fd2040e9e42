"""Writes the saved models that every later version must load: ``python -m tests.saving.golden_models`` at a release.

The files of a version are never changed again. Each folder below ``golden`` has the files of one version and
``labels.json``, with the labels of the training rows and of new rows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from clusterkit import ConsensusClustering, MinMaxModularSVC, __version__, recipe
from clusterkit.core.registry import registry
from clusterkit.testing.saved import two_groups

FOLDER = Path(__file__).parent / "golden"
"""A folder for each version."""

RECIPES = (
    "cpmmc", "elm-kmeans", "emmc", "emmc-multistart", "fuzzy-cmeans", "geoclust", "gmmc", "itersvm", "kernel-kmeans",
    "kernel-nmf", "kmeans", "lapgmm", "ncut", "sgd-lmsvc", "svc",
)  # fmt: skip
"""Recipes whose fits together leave behind most classes that a file can hold."""

ROWS = two_groups(16)
"""The training rows."""

NEW = np.array([[2.1, 1.9], [7.2, 6.8], [1.5, 2.5]])
"""New rows, none near a border."""


def fitted() -> Iterator[tuple[str, Any]]:
    """Name and fitted estimator of each file."""
    for name in RECIPES:
        k = {} if registry.get("recipe", name).clusters == "found" else {"n_clusters": 2}
        small = {"featuremap__n_hidden": 8} if name.startswith("elm") else {}
        yield name, recipe(name, random_state=0, **k, **small).fit(ROWS)
    yield "consensus", ConsensusClustering(n_members=3, random_state=0).fit(ROWS)
    classes = np.repeat(["left", "right"], 8)
    yield "min-max", MinMaxModularSVC(random_state=np.random.default_rng(0)).fit(ROWS, classes)


def labels_of(model: Any) -> dict[str, list[Any]]:
    """The labels that a model must go on giving."""
    labels = {"labels": model.labels_.tolist()} if hasattr(model, "labels_") else {}
    if hasattr(model, "predict"):
        labels |= {"rows": model.predict(ROWS).tolist(), "new": model.predict(NEW).tolist()}
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
