"""What clusterkit loads to learn what this distribution offers; names only, so that asking costs nothing."""

from __future__ import annotations

import clusterkit

API_VERSION = 2


@clusterkit.hookimpl
def clusterkit_labelers() -> dict[str, str]:
    """Labelers by name; the class is imported when somebody asks for it."""
    return {"rows_medians": "clusterkit_example.rows_medians:RowsMedians"}
