"""How well a clustering agrees with known classes.

Every metric takes ``(labels_true, labels_pred)`` and sees them only through one
`~clusterkit.metrics.contingency` table. Labels may be ints, strings or bools, and every
value is a label: -1, which density methods give to noise, is one more cluster here.
"""

from __future__ import annotations

from clusterkit.metrics.information import nmi
from clusterkit.metrics.matching import clustering_accuracy, purity
from clusterkit.metrics.pairs import adjusted_rand, rand_index
from clusterkit.metrics.table import Contingency, contingency

__all__ = [
    "Contingency",
    "adjusted_rand",
    "clustering_accuracy",
    "contingency",
    "nmi",
    "purity",
    "rand_index",
]
