"""Drivers: which fits of a composition are made, and which of them is the answer; without scikit-learn.

A composition ``c`` of stages, the samples and the seeds give a fit by `clusterkit.fitting.fit.fit`. A driver makes one
such fit or several and returns one of them, with what it learnt about it:

- ``single.py``: one fit, on all rows or on a sample of them.
- ``auto.py``: the choice among clusterings of several families, with the number of clusters given or not
  (`AutoDriver`), the report on it, and what Ctrl-C keeps.
- ``auto_fits.py``: the pool of that choice, which are recipes with the trait `Recipe.pool`; fits of its members on all
  rows or on a sample, refits for their stability, and labels of other rows by votes.
- ``compose.py``: from the values that a user may write in a slot (a name, a dict, a stage) to a checked `Composition`.

The registered drivers are frozen attrs classes derived from `clusterkit.contracts.Driver`, like all stages. The
estimators in ``clusterkit/estimators`` add parameters, validation and attributes in the style of scikit-learn.
"""

from __future__ import annotations
