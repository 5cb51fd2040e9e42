"""Hooks by which clusterkit learns what this distribution offers; names only, so that asking costs nothing."""

from __future__ import annotations

import clusterkit

API_VERSION = 3
"""Version of the plugin interface this distribution was written for."""


@clusterkit.hookimpl
def clusterkit_commands() -> dict[str, str]:
    """Commands of the command line by name; the module is imported when help is shown or the command runs."""
    return {"explore": "clusterkit_explore.command:explore"}
