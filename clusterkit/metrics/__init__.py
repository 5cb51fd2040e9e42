"""Quality of a clustering: against known classes, against other clusterings, or from the data alone.

The external metrics take ``(labels_true, labels_pred)`` and depend only on one
`~clusterkit.metrics.contingency` table; `anmi` compares a labelling with an ensemble of others; `compactness`,
`davies_bouldin`, `dbcv` and `disco` take ``(X, labels)`` and no classes. Labels may be ints, strings or bools.

Density methods label noise -1. The parameter ``noise`` says how a metric treats such samples: "cluster" (they form one
more cluster), "singletons" (each is a cluster) or "exclude" (they are left out). Only in the predicted clustering is -1
noise; among the true classes it is a class, because some data sets have a class of that name. If no sample is left, the
value is nan.

``table.py`` has the contingency table and the checks of labels; ``classes.py`` accuracies, purity, the Rand index,
plain and adjusted, and mutual information; ``internal.py`` compactness, the Davies-Bouldin index and, with
``_density_jit.py``, DBCV, and DISCO. Each function cites its source. This is a low layer: it imports only numerics.
"""

from __future__ import annotations

from clusterkit.metrics.classes import (
    adjusted_asymmetric_accuracy,
    adjusted_rand,
    anmi,
    clustering_accuracy,
    nmi,
    purity,
    purity_by_class,
    rand_index,
)
from clusterkit.metrics.internal import compactness, davies_bouldin, dbcv, disco
from clusterkit.metrics.table import Contingency, Noise, contingency

__all__ = [
    "Contingency",
    "Noise",
    "adjusted_asymmetric_accuracy",
    "adjusted_rand",
    "anmi",
    "clustering_accuracy",
    "compactness",
    "contingency",
    "davies_bouldin",
    "dbcv",
    "disco",
    "nmi",
    "purity",
    "purity_by_class",
    "rand_index",
]
