"""Feature maps: from raw rows to a feature space or a kernel space.

identity, minmax, zscore, pca and log_tfidf scale or project the attributes; elm computes random features; rbf gives
the Gaussian kernel; precomputed takes a matrix of distances or of a kernel; relevant keeps the columns that clusters
depend on; columns gives numbers and levels side by side, for mixtures. Each file has one map; `scaling.py` has the
scaling that minmax, zscore and elm use.

>>> from clusterkit.featuremaps import Rbf
>>> Rbf(gamma=0.5).gamma
0.5

The classes load on first use. Type checkers know them by their own modules, for example
``from clusterkit.featuremaps.rbf import Rbf``.
"""

from __future__ import annotations


def __getattr__(name: str) -> object:
    from clusterkit.contracts.registry import built_in_class

    return built_in_class("featuremap", name, __name__)


def __dir__() -> list[str]:
    from clusterkit.contracts.registry import built_in_class_names

    return built_in_class_names("featuremap")
