"""The module that clusterkit imports to learn what this distribution provides: names only, so that it imports fast."""

from __future__ import annotations

import clusterkit

API_VERSION = 3
"""Version of the plugin interface for which this module was written."""


@clusterkit.hookimpl
def clusterkit_labelers() -> dict[str, str]:
    """Labelers by name; the class is imported when its name is first used."""
    return {"rows_medians": "clusterkit_example.rows_medians:RowsMedians"}


@clusterkit.hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes that a fitted model stores beside the stage itself, by their names in a model file."""
    return {"NearestMedian": "clusterkit_example.rows_medians:NearestMedian"}
