"""Feature maps: from raw rows to a feature space or a kernel space.

identity, minmax, zscore, pca and log_tfidf scale or project the attributes; elm computes random features; rbf gives
the Gaussian kernel. Each file has one map; `_affine.py` has the scaling that minmax, zscore and elm use.

>>> from clusterkit.featuremaps import Rbf
>>> Rbf(gamma=0.5).gamma
0.5
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = [
    "Elm",
    "Identity",
    "LogTfIdf",
    "MinMax",
    "Pca",
    "Rbf",
    "ZScore",
]

_HOME = {
    "Elm": "clusterkit.featuremaps.elm",
    "Identity": "clusterkit.featuremaps.identity",
    "LogTfIdf": "clusterkit.featuremaps.log_tfidf",
    "MinMax": "clusterkit.featuremaps.minmax",
    "Pca": "clusterkit.featuremaps.pca",
    "Rbf": "clusterkit.featuremaps.rbf",
    "ZScore": "clusterkit.featuremaps.zscore",
}
"""The module of each class. Classes load on first use, so that importing the package loads none of them."""

if TYPE_CHECKING:
    from clusterkit.featuremaps.elm import Elm
    from clusterkit.featuremaps.identity import Identity
    from clusterkit.featuremaps.log_tfidf import LogTfIdf
    from clusterkit.featuremaps.minmax import MinMax
    from clusterkit.featuremaps.pca import Pca
    from clusterkit.featuremaps.rbf import Rbf
    from clusterkit.featuremaps.zscore import ZScore


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
