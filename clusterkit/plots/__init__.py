"""Plots of fits; matplotlib (the extra ``plots``) is imported only when something is drawn.

Every function takes matplotlib axes or makes some, draws on them, and returns them.

- ``_clusters.py``: samples, sizes and silhouettes;
- ``_domains.py``: the border of a domain;
- ``_searches.py``: scores of searches, and of numbers of clusters;
- ``_tables.py``: heat maps of profiles, roles of columns, rank diagrams, consensus matrices;
- ``figure.py``: axes, colours, legends, the two coordinates of a plot, and the checks of fitted models;

>>> from clusterkit import plots
>>> plots.__all__[:4]
['clusters', 'consensus_matrix', 'contours', 'number_curve']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

# The modules have an underscore: importing a module without one would hide the function of the same name.
_HOME = {
    "clusters": "clusterkit.plots._clusters",
    "consensus_matrix": "clusterkit.plots._tables",
    "contours": "clusterkit.plots._domains",
    "number_curve": "clusterkit.plots._searches",
    "profile": "clusterkit.plots._tables",
    "roles": "clusterkit.plots._tables",
    "search_curve": "clusterkit.plots._searches",
    "silhouette": "clusterkit.plots._clusters",
    "sizes": "clusterkit.plots._clusters",
}

__all__ = [
    "clusters",
    "consensus_matrix",
    "contours",
    "number_curve",
    "profile",
    "roles",
    "search_curve",
    "silhouette",
    "sizes",
]

if TYPE_CHECKING:
    from clusterkit.plots._clusters import clusters, silhouette, sizes
    from clusterkit.plots._domains import contours
    from clusterkit.plots._searches import number_curve, search_curve
    from clusterkit.plots._tables import consensus_matrix, profile, roles


if not TYPE_CHECKING:  # a checker would take every misspelt name for one that exists

    def __getattr__(name: str) -> object:
        if name in _HOME:
            value = getattr(importlib.import_module(_HOME[name]), name)
            globals()[name] = value
            return value
        raise AttributeError(f"module 'clusterkit.plots' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
