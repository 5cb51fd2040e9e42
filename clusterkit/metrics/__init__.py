"""How good a clustering is: by known classes, by other clusterings, or by the data alone.

The external metrics take ``(labels_true, labels_pred)`` and see them only through one
`~clusterkit.metrics.contingency` table; `anmi` compares a labelling with an ensemble of others; `compactness`,
`davies_bouldin` and `dbcv` take ``(X, labels)`` and no classes. Labels may be ints, strings or bools.

Noise, which density methods label -1, is what ``noise`` says: "cluster" (one more cluster), "singletons" (a cluster
for each noise sample) or "exclude" (samples left out). Only in the clustering that is judged is -1 noise: among the
true classes, some data sets have a class of that name, it is a class. Where nothing is left the value is nan.
"""

from __future__ import annotations

from clusterkit.metrics._labels import Noise
from clusterkit.metrics.density import dbcv
from clusterkit.metrics.information import anmi, nmi
from clusterkit.metrics.internal import compactness, davies_bouldin
from clusterkit.metrics.matching import clustering_accuracy, purity, purity_by_class
from clusterkit.metrics.pairs import adjusted_rand, rand_index
from clusterkit.metrics.table import Contingency, contingency

__all__ = [
    "Contingency",
    "Noise",
    "adjusted_rand",
    "anmi",
    "clustering_accuracy",
    "compactness",
    "contingency",
    "davies_bouldin",
    "dbcv",
    "nmi",
    "purity",
    "purity_by_class",
    "rand_index",
]
