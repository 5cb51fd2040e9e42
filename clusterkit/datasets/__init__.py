"""Labelled data sets by name, from a local folder, scikit-learn or a mirror.

`load` finds a data set, `names` lists what can be found now. Parts that papers use, such as
``letter-ab`` or ``digits-1-7``, are made from the whole by a fixed rule.
"""

from __future__ import annotations

from clusterkit.datasets.dataset import Dataset
from clusterkit.datasets.errors import DatasetCorrupt, DatasetNotFound, MirrorError
from clusterkit.datasets.loading import load, names

__all__ = ["Dataset", "DatasetCorrupt", "DatasetNotFound", "MirrorError", "load", "names"]
