"""Plots of fits; matplotlib (the extra ``plots``) is imported only when something is drawn.

Every function takes matplotlib axes or makes some, draws on them, and returns them. Each function is in the module of
the same name with an underscore; ``figure.py`` has axes, colours and legends, ``_projection.py`` the two coordinates
of a plot, ``_fitted_model.py`` the checks of fitted models, ``demo.py`` the figure of ``clusterkit demo``.

>>> from clusterkit import plots
>>> plots.__all__[:4]
['candidates', 'clusters', 'connectivity', 'consensus_matrix']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

# The modules have an underscore: importing a module without one would hide the function of the same name.
_HOME = {
    "candidates": "clusterkit.plots._candidates",
    "clusters": "clusterkit.plots._clusters",
    "connectivity": "clusterkit.plots._connectivity",
    "consensus_matrix": "clusterkit.plots._consensus_matrix",
    "contours": "clusterkit.plots._contours",
    "edsvc_curves": "clusterkit.plots._edsvc_curves",
    "number_curve": "clusterkit.plots._number_curve",
    "profile": "clusterkit.plots._profile",
    "embedding": "clusterkit.plots._embedding",
    "rank_diagram": "clusterkit.plots._rank_diagram",
    "search_curve": "clusterkit.plots._search_curve",
    "silhouette": "clusterkit.plots._silhouette",
    "sizes": "clusterkit.plots._sizes",
    "trajectories": "clusterkit.plots._trajectories",
    "width_path": "clusterkit.plots._width_path",
    "width_tree": "clusterkit.plots._width_tree",
}

__all__ = [
    "candidates",
    "clusters",
    "connectivity",
    "consensus_matrix",
    "contours",
    "edsvc_curves",
    "embedding",
    "number_curve",
    "profile",
    "rank_diagram",
    "search_curve",
    "silhouette",
    "sizes",
    "trajectories",
    "width_path",
    "width_tree",
]

if TYPE_CHECKING:
    from clusterkit.plots._candidates import candidates
    from clusterkit.plots._clusters import clusters
    from clusterkit.plots._connectivity import connectivity
    from clusterkit.plots._consensus_matrix import consensus_matrix
    from clusterkit.plots._contours import contours
    from clusterkit.plots._edsvc_curves import edsvc_curves
    from clusterkit.plots._embedding import embedding
    from clusterkit.plots._number_curve import number_curve
    from clusterkit.plots._profile import profile
    from clusterkit.plots._rank_diagram import rank_diagram
    from clusterkit.plots._search_curve import search_curve
    from clusterkit.plots._silhouette import silhouette
    from clusterkit.plots._sizes import sizes
    from clusterkit.plots._trajectories import trajectories
    from clusterkit.plots._width_path import width_path
    from clusterkit.plots._width_tree import width_tree


if not TYPE_CHECKING:  # a checker would take every misspelt name for one that exists

    def __getattr__(name: str) -> object:
        if name in _HOME:
            value = getattr(importlib.import_module(_HOME[name]), name)
            globals()[name] = value
            return value
        raise AttributeError(f"module 'clusterkit.plots' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
