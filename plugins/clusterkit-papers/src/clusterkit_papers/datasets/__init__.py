"""Labelled data sets by name, from a local folder, scikit-learn or a mirror on the web.

`load` returns a data set, `names` lists the ones available now. Parts that papers use, such as ``letter-ab`` or
``digits-1-7``, are made from the whole data set by a fixed rule.

- ``dataset.py``: `Dataset`, one data set in memory, and the errors of loading;
- ``loading.py``: the sources (folder, scikit-learn, mirror with its cache), searched in order;
- ``manifest.py``: checksums, the two file formats, the rules for parts, and with ``sources.csv`` the sizes and origins
  of all data sets the papers use.
"""

from __future__ import annotations

from clusterkit_papers.datasets.dataset import Dataset, DatasetCorrupt, DatasetNotFound, MirrorError
from clusterkit_papers.datasets.loading import load, names

__all__ = ["Dataset", "DatasetCorrupt", "DatasetNotFound", "MirrorError", "load", "names"]
