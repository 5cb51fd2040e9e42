"""What clusterkit loads to learn what this distribution offers."""

from __future__ import annotations

API_VERSION = 2
