"""``python -m clusterkit``."""

from __future__ import annotations

from clusterkit.cli import main

main()
