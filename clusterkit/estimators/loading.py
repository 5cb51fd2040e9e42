"""Fitted estimators to and from files of data."""

from __future__ import annotations

import os
from typing import cast

from clusterkit.estimators.base import FittedAttributes
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.ensemble import ConsensusClustering
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.estimators.saving import load_with_facts


def load(path: str | os.PathLike[str]) -> Pipeline | Driven | ConsensusClustering:
    """The fitted estimator in a file that its method `save`, or ``clusterkit fit --save``, wrote.

    Nothing in the file is executed: it holds arrays, numbers and texts, and the registered names of classes. For these
    names modules of clusterkit and of installed plugins are imported, as for a recipe of the same stages. Every value
    is checked by its class.

    Parameters
    ----------
    path : path

    Returns
    -------
    estimator
        Estimator of the class that was saved, with the same parameters and fitted attributes.

    Raises
    ------
    InvalidModelFile
        A ValueError: if the file is no saved model, was damaged, is of a newer version, or needs a plugin that is not
        installed. Names the file and what is wrong. Models that joblib or pickle wrote are refused too.
    OSError
        If the file cannot be read.

    Examples
    --------
    See `Pipeline.save`.
    """
    return cast("Pipeline | Driven | ConsensusClustering", load_with_facts(path).estimator)


def save(model: FittedAttributes, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, for `load`.

    Parameters
    ----------
    model : estimator
    path : path

    Raises
    ------
    NotFittedError, NotSavable
        See `Pipeline.save`, which this calls.
    """
    model.save(path)
