"""The conformance kit: what every stage must hold to, as checks that plugin authors run too.

`check_stage` runs every law that applies to a stage, `parametrize_with_laws` makes one pytest case of each law,
`check_composition` puts a whole pipeline through its paces, `check_clusters` compares the tables of a fit with its
labels, and `check_recipe_saves` saves and loads what a recipe fits.
Needs the extra ``testing`` (hypothesis, pytest).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__all__ = [
    "check_clusters",
    "check_composition",
    "check_recipe_saves",
    "check_saving",
    "check_stage",
    "laws_of",
    "pairwise_cover",
    "parametrize_with_laws",
]

# Lazily, because every pytest run of a user loads `clusterkit.testing.pytest_plugin`.
_HOME = {
    "check_clusters": "clusterkit.testing.compositions",
    "check_composition": "clusterkit.testing.compositions",
    "check_recipe_saves": "clusterkit.testing.compare",
    "check_saving": "clusterkit.testing.compare",
    "check_stage": "clusterkit.testing.conformance",
    "laws_of": "clusterkit.testing.conformance",
    "pairwise_cover": "clusterkit.testing.compositions",
    "parametrize_with_laws": "clusterkit.testing.conformance",
}

if TYPE_CHECKING:
    from clusterkit.testing.compare import check_recipe_saves, check_saving
    from clusterkit.testing.compositions import check_clusters, check_composition, pairwise_cover
    from clusterkit.testing.conformance import check_stage, laws_of, parametrize_with_laws


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'clusterkit.testing' has no attribute {name!r}")
