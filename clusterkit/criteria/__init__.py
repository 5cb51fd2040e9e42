"""Criteria: which of several clusterings of one data set is the best, how many clusters it has, and how sure that is.

No criterion reads classes.

- ``rules.py``: the choice among candidates (`known_number`, `unknown_number`), and numbers of clusters worth a try;
- ``terrain.py``: the spanning tree and the core distances of a data set (`Terrain`), and scores of a labelling on them;
- ``likelihood.py``: the integrated completed likelihood of a labelling, with one Gaussian a cluster;
- ``one_cluster.py``: whether data have several clusters at all, by Hartigan's dip test among others;
- ``confidence.py``: how likely a chosen clustering describes the structure, and how far clusterings agree;
- ``_criteria_jit.py``: the compiled loops of the dip and of the scores on a spanning tree.
"""
