"""The links of a release, from the environment of who builds it.

The project does not know where it is kept. `CLUSTERKIT_URLS` has one `Label=address` per line or between semicolons,
for example `Source=https://...;Issues=https://...`; where it is not set, the package names no address.
"""

from __future__ import annotations

import os
import re

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Links(MetadataHookInterface):
    """Fills `[project.urls]` from `CLUSTERKIT_URLS`."""

    def update(self, metadata: dict[str, object]) -> None:
        """Add the links to `metadata`; an entry that is no `Label=https://...` ends the build with its text."""
        entries = [
            entry.strip() for entry in re.split(r"[;\n]", os.environ.get("CLUSTERKIT_URLS", "")) if entry.strip()
        ]
        links = {}
        for entry in entries:
            label, _, address = entry.partition("=")
            if not label.strip() or not re.match(r"https?://\S+$", address.strip()):
                raise ValueError(f"CLUSTERKIT_URLS: {entry!r} is no 'Label=https://...'")
            links[label.strip()] = address.strip()
        if links:
            metadata["urls"] = links
