"""Labelled data sets by name, from a local folder, scikit-learn or a mirror on the web.

`load` returns a data set, `names` lists the ones available now. Parts that papers use, such as ``letter-ab`` or
``digits-1-7``, are made from the whole data set by a fixed rule.

``loading.py`` searches the sources in order, ``loading.py`` has the folder and scikit-learn, ``loading.py`` the mirror
with its cache, ``manifest.py`` the checksums, ``manifest.py`` the two file formats, ``manifest.py`` the rules for
parts, ``manifest.py`` with ``sources.csv`` the sizes and origins of all data sets the papers use.
"""

from __future__ import annotations

from clusterkit.datasets.dataset import Dataset, DatasetCorrupt, DatasetNotFound, MirrorError
from clusterkit.datasets.loading import load, names

__all__ = ["Dataset", "DatasetCorrupt", "DatasetNotFound", "MirrorError", "load", "names"]
