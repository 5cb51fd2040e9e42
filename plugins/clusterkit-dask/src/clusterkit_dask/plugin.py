"""Hooks through which clusterkit reads what this distribution offers: names only, so that Dask is not imported."""

from __future__ import annotations

import clusterkit

API_VERSION = 3
"""Version of the plugin interface that this module is written for."""


@clusterkit.hookimpl
def clusterkit_engines() -> dict[str, str]:
    """The engine, under the name of each package whose collections it takes."""
    return {"dask": "clusterkit_dask.engine:DaskEngine", "clusterkit_dask": "clusterkit_dask.engine:DaskEngine"}
