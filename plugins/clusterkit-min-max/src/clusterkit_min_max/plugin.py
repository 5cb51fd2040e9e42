"""Hooks by which clusterkit learns what this distribution offers; names only, so that asking costs nothing."""

from __future__ import annotations

import clusterkit

API_VERSION = 3
"""Version of the plugin interface this distribution was written for."""


@clusterkit.hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes other than stages that a saved model may contain, by their names in the file."""
    return {
        "MinMaxModularSVC": "clusterkit_min_max.svc:MinMaxModularSVC",
        "Modules": "clusterkit_min_max.modules:Modules",
    }
