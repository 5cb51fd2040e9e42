"""Solvers: from a space and the current labels to scores, an embedding, or a domain.

One package per family of problems; each package docstring states the problem and names the file of its mathematics.

one_class
    Balls around the data in the space of a kernel: svdd, psvdd, lmsvc, subsampled.
factorisation
    Nonnegative factorisations: nmf, convex_nmf.
means
    Class means and memberships: centroids (k-means), fuzzy_cmeans.
regression
    Regression and classification of the current labels: ridge (EMMC), svm, svr.
cutting_plane
    Maximum margin clustering by cutting planes: cpmmc, cpm3c.
max_cut
    Maximum margin clustering as a maximum cut: gmmc.
graph
    Graphs of neighbours: ncut, lapgmm.
equal_size
    Clusters of equal size: equal, geoclust.

>>> from clusterkit.solvers import Ridge
>>> Ridge(C=2.0).name
'ridge'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = [
    "Centroids",
    "ConvexNmf",
    "Cpm3c",
    "Cpmmc",
    "Equal",
    "FuzzyCMeans",
    "GeoClust",
    "Gmmc",
    "LapGmm",
    "Lmsvc",
    "Ncut",
    "Nmf",
    "Psvdd",
    "Ridge",
    "Subsampled",
    "Svdd",
    "Svm",
    "Svr",
]

_HOME = {
    "Centroids": "clusterkit.solvers.means.centroids",
    "ConvexNmf": "clusterkit.solvers.factorisation.convex_nmf",
    "Cpm3c": "clusterkit.solvers.cutting_plane.cpm3c",
    "Cpmmc": "clusterkit.solvers.cutting_plane.cpmmc",
    "Equal": "clusterkit.solvers.equal_size.equal",
    "FuzzyCMeans": "clusterkit.solvers.means.fuzzy_cmeans",
    "GeoClust": "clusterkit.solvers.equal_size.geoclust",
    "Gmmc": "clusterkit.solvers.max_cut.gmmc",
    "LapGmm": "clusterkit.solvers.graph.lapgmm",
    "Lmsvc": "clusterkit.solvers.one_class.lmsvc",
    "Ncut": "clusterkit.solvers.graph.ncut",
    "Nmf": "clusterkit.solvers.factorisation.nmf",
    "Psvdd": "clusterkit.solvers.one_class.psvdd",
    "Ridge": "clusterkit.solvers.regression.ridge",
    "Subsampled": "clusterkit.solvers.one_class.subsampled",
    "Svdd": "clusterkit.solvers.one_class.svdd",
    "Svm": "clusterkit.solvers.regression.svm",
    "Svr": "clusterkit.solvers.regression.svr",
}
"""The module of each class. Classes load on first use, so that importing the package loads none of them."""

if TYPE_CHECKING:
    from clusterkit.solvers.cutting_plane.cpm3c import Cpm3c
    from clusterkit.solvers.cutting_plane.cpmmc import Cpmmc
    from clusterkit.solvers.equal_size.equal import Equal
    from clusterkit.solvers.equal_size.geoclust import GeoClust
    from clusterkit.solvers.factorisation.convex_nmf import ConvexNmf
    from clusterkit.solvers.factorisation.nmf import Nmf
    from clusterkit.solvers.graph.lapgmm import LapGmm
    from clusterkit.solvers.graph.ncut import Ncut
    from clusterkit.solvers.max_cut.gmmc import Gmmc
    from clusterkit.solvers.means.centroids import Centroids
    from clusterkit.solvers.means.fuzzy_cmeans import FuzzyCMeans
    from clusterkit.solvers.one_class.lmsvc import Lmsvc
    from clusterkit.solvers.one_class.psvdd import Psvdd
    from clusterkit.solvers.one_class.subsampled import Subsampled
    from clusterkit.solvers.one_class.svdd import Svdd
    from clusterkit.solvers.regression.ridge import Ridge
    from clusterkit.solvers.regression.svm import Svm
    from clusterkit.solvers.regression.svr import Svr


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
