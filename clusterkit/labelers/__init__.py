"""Labelers: from the outcome of a solver to cluster labels.

A labeler is a function of the outcome: ``label(outcome, space, task, rng) -> Labeling``, the labels of the training
samples and, if possible, a function that labels new ones. What it can read depends on the kind of outcome:

* `codecs.py` reads scores, one row per sample: ``label_i = argmin_j cost_j(f(x_i))``, with costs that belong to the
  coding of the solver's targets (signs, numbers on a line, unit vectors).
* `graphs.py` reads a domain ``{x : g(x) >= level}``: clusters are the components of a graph whose edges are segments
  inside the domain. Ben-Hur, Horn, Siegelmann, Vapnik (2001), JMLR 2.
* `basins.py` reads a domain of a Gaussian kernel sum: clusters are the basins of the maxima of g, joined inside the
  domain or over saddle points. Lee, Lee (2005, 2006), IEEE Trans. PAMI 27 and 28.
* `trees.py` reads a spanning tree: clusters are the parts that remain without some of its edges.
* `most_probable.py` reads the posteriors of a mixture that chose the number of clusters.
* `rows_kmeans.py` reads an embedding: k-means on its rows.

`_outliers.py` is shared by the labelers of domains: numbering, outliers, small components, and labels
of new samples. The mathematics of domains is in the package `clusterkit.level_sets`.

The classes load on first use. Type checkers know them by their own modules, for example
``from clusterkit.labelers.codecs import Argmax``.
"""

from __future__ import annotations


def __getattr__(name: str) -> object:
    from clusterkit.contracts.registry import built_in_class

    return built_in_class("labeler", name, __name__)


def __dir__() -> list[str]:
    from clusterkit.contracts.registry import built_in_class_names

    return built_in_class_names("labeler")
